package params

import (
	"math/big"
	"strconv"
)

// Parse returns the value of a type, an element type or "string", that a text has, such as the number that "1.5" has for "f32". ok is
// false if it has none. The value's range is not checked.
func Parse(typ, text string) (value any, ok bool) {
	switch typ {
	case "string":
		return text, true
	case "bool":
		b, err := strconv.ParseBool(text)
		return b, err == nil
	case "f16", "bf16", "f32", "f64":
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
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
