package analysis

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// IntRange returns the minimum and maximum of an integer type. It returns false for U64, whose maximum does not fit in int64,
// and for types other than integers.
func IntRange(t ir.Type) (lo, hi int64, ok bool) {
	switch t {
	case ir.I8:
		return math.MinInt8, math.MaxInt8, true
	case ir.U8:
		return 0, math.MaxUint8, true
	case ir.I16:
		return math.MinInt16, math.MaxInt16, true
	case ir.U16:
		return 0, math.MaxUint16, true
	case ir.I32:
		return math.MinInt32, math.MaxInt32, true
	case ir.U32:
		return 0, math.MaxUint32, true
	case ir.I64:
		return math.MinInt64, math.MaxInt64, true
	}
	return 0, 0, false
}
