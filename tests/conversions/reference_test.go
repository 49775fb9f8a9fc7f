package conversions

import (
	"math/big"
	"math/rand/v2"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// number is an exact number, an infinity or NaN. sign distinguishes zeros.
type number struct {
	r        *big.Rat // nil for infinities and NaN
	nan, neg bool
}

// format describes a binary floating-point type.
type format struct{ precision, least, width int } // least: exponent of the smallest normal number

var formats = map[ir.Type]format{ir.F16: {11, -14, 16}, ir.BF16: {8, -126, 16}, ir.F32: {24, -126, 32}, ir.F64: {53, -1022, 64}}

func power(e int) *big.Rat {
	p := new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e)))
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// decode returns the number with these bits.
func decode(t ir.Type, bits uint64) number {
	f, ok := formats[t]
	if !ok {
		n := new(big.Int).SetUint64(bits)
		if width := 8 * t.Size(); t.IsSigned() && bits>>(width-1)&1 == 1 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(width)))
		}
		if t == ir.I8 || t == ir.I16 { // IsSigned may tell only of value types
			if width := 8 * t.Size(); n.Bit(width-1) == 1 && n.Sign() > 0 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(width)))
			}
		}
		return number{r: new(big.Rat).SetInt(n), neg: n.Sign() < 0}
	}
	mantissa := f.precision - 1
	m := bits & (1<<mantissa - 1)
	top := uint64(1)<<(f.width-f.precision) - 1
	e := bits >> mantissa & top
	x := number{neg: bits>>(f.width-1)&1 == 1}
	switch {
	case e == top && m != 0:
		return number{nan: true}
	case e == top:
		return x
	case e > 0:
		m |= 1 << mantissa
		e--
	}
	x.r = new(big.Rat).Mul(new(big.Rat).SetInt(new(big.Int).SetUint64(m)), power(f.least-mantissa+int(e)))
	if x.neg {
		x.r.Neg(x.r)
	}
	return x
}

// nan returns the canonical NaN.
func (f format) nan() uint64 {
	return (uint64(1)<<(f.width-f.precision+1) - 1) << (f.precision - 2)
}

// round returns the bits of the number of a float type that is nearest to x, ties to even.
func round(t ir.Type, x number) uint64 {
	f := formats[t]
	if x.nan {
		return f.nan()
	}
	sign := uint64(0)
	if x.neg {
		sign = 1 << (f.width - 1)
	}
	infinite := (uint64(1)<<(f.width-f.precision) - 1) << (f.precision - 1)
	if x.r == nil {
		return sign | infinite
	}
	r := new(big.Rat).Abs(x.r)
	if r.Sign() == 0 {
		return sign
	}
	e := r.Num().BitLen() - r.Denom().BitLen()
	if r.Cmp(power(e)) < 0 {
		e--
	}
	e = max(e, f.least)
	r.Quo(r, power(e-f.precision+1))
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(r.Denom()); c > 0 || c == 0 && n.Bit(0) == 1 {
		n.Add(n, big.NewInt(1))
	}
	bits := n.Uint64() + uint64(e-f.least)<<(f.precision-1) // a carry increments the exponent
	return sign | min(bits, infinite)
}

// limits returns the least and the greatest integer of a type.
func limits(t ir.Type) (least, most *big.Int) {
	width := uint(8 * t.Size())
	least, most = new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
	if t == ir.I8 || t == ir.I16 || t == ir.I32 || t == ir.I64 {
		most.Rsh(most, 1)
		least.Neg(most)
	}
	return least, most.Sub(most, big.NewInt(1))
}

func low(t ir.Type, n *big.Int) uint64 {
	mask := new(big.Int).Lsh(big.NewInt(1), uint(8*t.Size()))
	return new(big.Int).And(n, mask.Sub(mask, big.NewInt(1))).Uint64()
}

// truncated returns x without its fraction.
func truncated(x number) *big.Int { return new(big.Int).Quo(x.r.Num(), x.r.Denom()) }

func truth(x number) uint64 {
	if x.nan || x.r != nil && x.r.Sign() == 0 {
		return 0
	}
	return 1
}

// stored returns the bits of an element after a store: integers modulo their width.
func stored(t ir.Type, x number) uint64 {
	switch {
	case t == ir.Bool:
		return truth(x)
	case t.IsFloat():
		return round(t, x)
	case x.r == nil:
		return 0
	}
	return low(t, truncated(x))
}

// converted returns the bits of the value of i32(x) and the like: floats saturate. f16 and bf16 are values of f32.
func converted(from, t ir.Type, x number) uint64 {
	switch {
	case t == ir.F16 || t == ir.BF16:
		return round(ir.F32, decode(t, round(t, x)))
	case !from.IsFloat() || t == ir.Bool || t.IsFloat():
		return stored(t, x)
	case x.nan:
		return 0
	}
	least, most := limits(t)
	var n *big.Int
	switch {
	case x.r == nil && x.neg:
		n = least
	case x.r == nil:
		n = most
	default:
		n = truncated(x)
	}
	if n.Cmp(least) < 0 {
		n = least
	}
	if n.Cmp(most) > 0 {
		n = most
	}
	return low(t, n)
}

var elements = []ir.Type{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64, ir.F16, ir.BF16, ir.F32, ir.F64}

// near returns a number close to one at which conversions of a type change: halfway between two floats, or a limit of integers.
func near(rng *rand.Rand, from ir.Type) number {
	to := []ir.Type{ir.F16, ir.BF16, ir.F32}[rng.IntN(3)]
	f := formats[to]
	var r *big.Rat
	switch rng.IntN(6) {
	case 0: // a limit
		r = new(big.Rat).Mul(power(rng.IntN(66)), big.NewRat([]int64{1, 1, 3, 5}[rng.IntN(4)], 2))
	case 1: // of any size, subnormal or almost infinite
		bits := rng.Uint64() & (1<<(f.width-1) - 1)
		x, next := decode(to, bits), decode(to, bits+1)
		if x.r == nil {
			return x
		}
		if next.r == nil {
			next.r = power(map[ir.Type]int{ir.F16: 16, ir.BF16: 128, ir.F32: 128}[to])
		}
		r = new(big.Rat).Add(x.r, next.r)
		r.Mul(r, big.NewRat(1, 2))
	default: // (2m + 1)·2^(e-p), where m has p bits
		m := int64(1)<<(f.precision-1) + rng.Int64N(1<<(f.precision-1))
		e := 8 + rng.IntN(56)
		if from.IsFloat() {
			e = rng.IntN(31) - 15
		}
		r = new(big.Rat).Mul(new(big.Rat).SetInt64(2*m+1), power(e-f.precision))
	}
	small := new(big.Rat).Mul(r, power(-f.precision-rng.IntN(54)))
	if !from.IsFloat() && rng.IntN(2) == 0 {
		small.SetInt64(1)
	}
	switch rng.IntN(3) {
	case 0:
		r.Add(r, small)
	case 1:
		r.Sub(r, small)
	}
	x := number{r: r, neg: rng.IntN(2) == 0}
	if x.neg {
		r.Neg(r)
	}
	return x
}

// element returns the bits of a random element, never of a NaN that is not canonical.
func element(rng *rand.Rand, t ir.Type) uint64 {
	bits := rng.Uint64() & (1<<(8*t.Size()) - 1)
	switch {
	case t == ir.Bool:
		return bits & 1
	case rng.IntN(5) == 0:
		if rng.IntN(2) == 0 && t.Size() > 1 { // small numbers of every size
			bits >>= rng.IntN(8 * t.Size())
		}
	default:
		bits = stored(t, near(rng, t))
	}
	if t.IsFloat() && decode(t, bits).nan {
		return formats[t].nan()
	}
	return bits
}
