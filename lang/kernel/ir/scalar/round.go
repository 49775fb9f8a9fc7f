package scalar

import (
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Round returns the bits of x rounded once to a floating-point element type, to nearest, ties to even, canonical for NaN.
func Round(t ir.Type, x float64) uint64 {
	if t == ir.F16 || t == ir.BF16 {
		return Store(t, uint64(math.Float32bits(odd32(x))))
	}
	return ir.FloatBits(t, x)
}

// RoundInt returns the bits of an integer rounded once to a floating-point element type, to nearest, ties to even.
func RoundInt(t ir.Type, n *big.Int) uint64 {
	if t == ir.F64 {
		x, _ := new(big.Float).SetInt(n).Float64()
		return math.Float64bits(x)
	}
	return Round(t, odd64(n))
}

// odd32 converts x to float32 and rounds to odd: of the two neighbours of an inexact x it returns the one whose last bit is 1.
// The result rounds to fewer bits as x does.
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
