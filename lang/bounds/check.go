package bounds

import (
	"math"
	"time"

	"github.com/orepl/orepl/lang/diag"
)

// Check returns an error for a negative limit, and for one of 2⁶³ or more, such as a converted negative number.
func Check(callTime time.Duration, callDepth int, memory, iterations, deviceMemory, launches uint64) error {
	switch {
	case callTime < 0:
		return wrong("Time", callTime)
	case callDepth < 0:
		return wrong("CallDepth", callDepth)
	}
	for _, limit := range []struct {
		name  string
		value uint64
	}{{"Memory", memory}, {"Iterations", iterations}, {"DeviceMemory", deviceMemory}, {"Launches", launches}} {
		if limit.value > math.MaxInt64 {
			return wrong(limit.name, limit.value)
		}
	}
	return nil
}

func wrong(name string, value any) error {
	return diag.New("invalid-argument", "the limit %s is %v", name, value).
		WithHint("give a positive number below 2⁶³, or 0 for the default")
}
