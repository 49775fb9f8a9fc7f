package scalar

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
)

func f32(b uint64) float32 { return math.Float32frombits(uint32(b)) }
func f64(b uint64) float64 { return math.Float64frombits(b) }

// widen returns the value of a float's bits.
func widen(t ir.Type, b uint64) float64 {
	if t == ir.F32 {
		return float64(f32(b))
	}
	return f64(b)
}

// narrow returns the bits of x rounded to t, canonical if NaN.
func narrow(t ir.Type, x float64) uint64 {
	if t == ir.F32 {
		return canonical(t, uint64(math.Float32bits(float32(x))))
	}
	return canonical(t, math.Float64bits(x))
}

// canonical replaces the bits of a NaN by the canonical ones.
func canonical(t ir.Type, b uint64) uint64 {
	switch {
	case t == ir.F32 && f32(b) != f32(b):
		return ir.NaN32
	case t == ir.F64 && f64(b) != f64(b):
		return ir.NaN64
	}
	return b
}

func float(op ir.Op, t ir.Type, a []uint64) (uint64, bool) {
	// A float64 operation on float32 operands, rounded once more to float32, is correctly rounded. This holds for + − × ÷ and
	// square root, since 53 ≥ 2·24+2.
	x := widen(t, a[0])
	switch op {
	case ir.Neg:
		return narrow(t, -x), true
	case ir.Abs:
		return narrow(t, math.Abs(x)), true
	case ir.Sqrt:
		return narrow(t, math.Sqrt(x)), true
	case ir.Floor:
		return narrow(t, math.Floor(x)), true
	case ir.Ceil:
		return narrow(t, math.Ceil(x)), true
	case ir.Trunc:
		return narrow(t, math.Trunc(x)), true
	case ir.Round:
		return narrow(t, round(x)), true
	case ir.Rint:
		return narrow(t, math.RoundToEven(x)), true
	}
	if len(a) < 2 {
		return 0, false
	}
	y := widen(t, a[1])
	switch op {
	case ir.Add:
		return narrow(t, x+y), true
	case ir.Sub:
		return narrow(t, x-y), true
	case ir.Mul:
		return narrow(t, float64(x*y)), true
	case ir.Div:
		return narrow(t, x/y), true
	case ir.Rem:
		return narrow(t, Fmod(x, y)), true
	case ir.Min:
		return narrow(t, least(x, y)), true
	case ir.Max:
		return narrow(t, -least(-x, -y)), true
	case ir.FMA:
		if len(a) == 3 {
			if t == ir.F32 {
				return canonical(t, uint64(math.Float32bits(FMA32(f32(a[0]), f32(a[1]), f32(a[2]))))), true
			}
			return narrow(t, math.FMA(x, y, f64(a[2]))), true
		}
	}
	return 0, false
}

// least implements JavaScript's Math.min: NaN propagates and −0 < +0.
func least(x, y float64) float64 {
	switch {
	case x != x || y != y:
		return math.NaN()
	case x == y && math.Signbit(x):
		return x
	case x < y:
		return x
	}
	return y
}

// round implements JavaScript's Math.round: to the nearest integer, ties up, keeping the sign of zero.
func round(x float64) float64 {
	r := math.Floor(x)
	if x-r >= 0.5 {
		r++
	}
	return math.Copysign(r, x)
}

// FMA32 returns a·b + c rounded once to float32. The product is exact in float64. The sum is rounded to odd, which makes the
// second rounding correct.
func FMA32(a, b, c float32) float32 {
	p, z := float64(float64(a)*float64(b)), float64(c)
	s := p + z
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// exact error of the sum (Knuth's two-sum)
	zz := s - p
	lost := (p - (s - zz)) + (z - zz)
	if u := math.Float64bits(s); lost != 0 && u&1 == 0 {
		if (lost < 0) == math.Signbit(s) {
			u++
		} else {
			u--
		}
		s = math.Float64frombits(u)
	}
	return float32(s)
}

// Fmod returns the exact remainder of x/y with the sign of x, by long division of the significands. It returns NaN if x is infinite, y is
// 0 or either is NaN.
func Fmod(x, y float64) float64 {
	if x != x || y != y || math.IsInf(x, 0) || y == 0 {
		return math.NaN()
	}
	if math.Abs(x) < math.Abs(y) {
		return x
	}
	mx, ex := significand(x)
	my, ey := significand(y)
	mx %= my
	for n := ex - ey; n > 0 && mx != 0; {
		k := min(n, 11) // mx is below 2^53
		mx = mx << k % my
		n -= k
	}
	// mx < my < 2^53 and the result is a multiple of y's ulp, so it is exact.
	return math.Copysign(compose(mx, ey), x)
}

// significand returns m and e with |x| = m·2^e, for a finite x. m is below 2^53 and, unless x is 0 or subnormal, at least 2^52.
func significand(x float64) (m uint64, e int) {
	b := math.Float64bits(x)
	m, e = b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0 {
		return m, -1074
	}
	return m | 1<<52, e - 1075
}

// compose returns m·2^e, which must be exact; m is below 2^53 and e at least −1074.
func compose(m uint64, e int) float64 {
	if m == 0 {
		return 0
	}
	shift := min(53-bits.Len64(m), e+1074)
	m <<= shift
	e -= shift
	if m < 1<<52 {
		return math.Float64frombits(m) // subnormal: e is −1074
	}
	return math.Float64frombits(uint64(e+1075)<<52 | m&(1<<52-1))
}
