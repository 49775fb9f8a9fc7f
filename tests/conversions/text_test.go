package conversions

import (
	"math"
	"strconv"
)

// literal returns a number as a literal of scripts, with a sign if it is negative.
func literal(bits uint64) string {
	return strconv.FormatFloat(math.Float64frombits(bits), 'e', -1, 64)
}

func goFloat32(bits uint64) uint64 {
	return uint64(math.Float32bits(float32(math.Float64frombits(bits))))
}
