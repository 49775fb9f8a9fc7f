package scalar

import (
	"math/big"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Integers returns the least and the greatest value of an integer type.
func Integers(t ir.Type) (least, greatest *big.Int) {
	width := uint(8 * t.Size())
	if t.IsSigned() {
		width--
	}
	greatest = new(big.Int).Lsh(big.NewInt(1), width)
	if t.IsSigned() {
		least = new(big.Int).Neg(greatest)
	} else {
		least = new(big.Int)
	}
	return least, greatest.Sub(greatest, big.NewInt(1))
}

// IntegerBits returns the bits of an integer that i64 or u64 holds.
func IntegerBits(x float64) uint64 {
	if x >= 1<<63 {
		return uint64(x)
	}
	return uint64(int64(x))
}
