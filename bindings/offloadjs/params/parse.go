package params

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Parse converts a text to the value of an element type or of "string", such as "1.5" to a number for "f32". ok is false if it is
// no such value. The value's range is not checked.
func Parse(typ, text string) (value any, ok bool) {
	switch typ {
	case "string":
		return text, true
	case "bool":
		b, err := strconv.ParseBool(text)
		return b, err == nil
	case "f16", "bf16", "f32", "f64":
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && !strings.ContainsAny(text, "xX_") // decimal, as integers are
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, "eE.") && !strings.ContainsAny(text, "xX_") && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f), true // such as 1e3
	}
	if len(text) > 32 { // more than any integer type has
		return nil, false
	}
	n, ok := new(big.Int).SetString(text, 10)
	if ok && n.IsInt64() {
		return n.Int64(), true
	}
	return n, ok
}
