package scalar

import (
	"math"
	"math/big"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Round returns the bits of x rounded once to a floating-point element type, to nearest, ties to even, canonical for NaN.
func Round(t ir.Type, x float64) uint64 {
	if t == ir.F16 || t == ir.BF16 {
		return Store(t, uint64(math.Float32bits(odd32(x))))
	}
	return ir.FloatBits(t, x)
}

// Shortest returns the number with the fewest decimal digits that rounds to the bits of a floating-point element. Integers of f16
// and bf16 of magnitudes below 2²⁴ keep all digits.
func Shortest(t ir.Type, bits uint64) float64 {
	var x float64
	switch t {
	case ir.F64:
		return f64(bits)
	case ir.F32:
		x, _ = strconv.ParseFloat(strconv.FormatFloat(float64(f32(bits)), 'g', -1, 32), 64) // cannot fail
		return x
	}
	x = value(t, bits)
	if x == math.Trunc(x) && math.Abs(x) < 1<<24 || x != x {
		return x
	}
	for digits := range 8 {
		short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits, 64), 64)
		if err == nil && Round(t, short) == bits {
			return short
		}
	}
	return x
}

// Towards rounds x and end to a floating-point element type. It returns the number of the type next to x on the way to end, or end
// if both are equal. Neither may be NaN.
func Towards(t ir.Type, x, end float64) float64 {
	bits, last := Round(t, x), value(t, Round(t, end))
	switch v := value(t, bits); {
	case v == last:
		return last
	case v == 0 && last < 0:
		bits = Round(t, math.Copysign(0, -1)) + 1
	case v == 0:
		bits = 1
	case (v > 0) == (v > last): // to a smaller magnitude
		bits--
	default:
		bits++
	}
	return value(t, bits)
}

// value returns the number of which a floating-point element has the bits.
func value(t ir.Type, bits uint64) float64 {
	if t == ir.F64 {
		return f64(bits)
	}
	return float64(f32(Load(t, bits)))
}

// RoundInt returns the bits of an integer rounded once to a floating-point element type, to nearest, ties to even.
func RoundInt(t ir.Type, n *big.Int) uint64 {
	if t == ir.F64 {
		x, _ := new(big.Float).SetInt(n).Float64()
		return math.Float64bits(x)
	}
	return Round(t, odd64(n))
}

// odd32 converts x to float32 and rounds to odd. Of the two neighbours of an inexact x it returns the one whose last bit is 1. The
// result rounds to fewer bits as x does.
func odd32(x float64) float32 {
	y := float32(x)
	z := float64(y)
	if x == z || x != x {
		return y
	}
	b := math.Float32bits(y)
	if math.Abs(z) > math.Abs(x) {
		b--
	}
	return math.Float32frombits(b | 1)
}

// odd64 converts n to float64, rounding to odd.
func odd64(n *big.Int) float64 {
	z := new(big.Float).SetPrec(53).SetMode(big.ToZero).SetInt(n)
	x, _ := z.Float64()
	if z.Acc() == big.Exact || math.IsInf(x, 0) {
		return x
	}
	return math.Float64frombits(math.Float64bits(x) | 1)
}
