// Package bigmath computes elementary functions to hundreds of bits by simple series. It is the reference for the device
// library's f64 functions. Arguments are finite and in the function's domain.
package bigmath

import (
	"math"
	"math/big"
)

// Prec is the precision in bits of all results; the last few bits are wrong. It leaves over 100 correct bits after
// cancellation to 2^-200, and for trigonometric arguments of any size.
const Prec = 640

// reducePrec is the precision for subtracting multiples of π/2 from arguments up to 2^1024.
const reducePrec = 1024 + Prec

func num(x float64) *big.Float             { return new(big.Float).SetPrec(Prec).SetFloat64(x) }
func zero() *big.Float                     { return new(big.Float).SetPrec(Prec) }
func add(x, y *big.Float) *big.Float       { return zero().Add(x, y) }
func sub(x, y *big.Float) *big.Float       { return zero().Sub(x, y) }
func mul(x, y *big.Float) *big.Float       { return zero().Mul(x, y) }
func div(x, y *big.Float) *big.Float       { return zero().Quo(x, y) }
func scale(x *big.Float, n int) *big.Float { return zero().SetMantExp(x, n) }

// small reports whether a term is negligible relative to a sum.
func small(term, sum *big.Float) bool {
	return term.Sign() == 0 || sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-Prec-8
}

// Constants has π and ln 2; the functions are its methods.
type Constants struct {
	pi, ln2 *big.Float
}

// New returns the computed constants.
func New() *Constants {
	// Machin: π/4 = 4·atan(1/5) − atan(1/239); ln 2 = 2·atanh(1/3).
	inverse := func(n int64, sign int) *big.Float {
		x := new(big.Float).SetPrec(reducePrec+64).Quo(big.NewFloat(1), new(big.Float).SetPrec(reducePrec+64).SetInt64(n))
		square := new(big.Float).Mul(x, x)
		sum, power := new(big.Float).Copy(x), new(big.Float).Copy(x)
		for k := int64(3); power.MantExp(nil) > -reducePrec-64; k += 2 {
			power.Mul(power, square)
			term := new(big.Float).SetPrec(reducePrec+64).Quo(power, new(big.Float).SetInt64(k))
			if sign < 0 && k%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
		}
		return sum
	}
	quarter := inverse(5, -1)
	quarter.SetMantExp(quarter, 2).Sub(quarter, inverse(239, -1))
	third := inverse(3, 1)
	return &Constants{pi: quarter.SetMantExp(quarter, 2), ln2: zero().SetMantExp(third, 1)}
}

// Exp returns eˣ for |x| < 2^20.
func (c *Constants) Exp(x *big.Float) *big.Float {
	q, _ := div(x, c.ln2).Float64()
	n := int(math.Round(q))
	r := sub(x, mul(c.ln2, num(float64(n))))
	const halvings = 24
	r = scale(r, -halvings)
	sum, term := num(1), num(1)
	for k := 1.0; ; k++ {
		term = div(mul(term, r), num(k))
		if small(term, sum) {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return scale(sum, n)
}

// Expm1 returns eˣ − 1.
func (c *Constants) Expm1(x *big.Float) *big.Float {
	if x.MantExp(nil) > -20 {
		return sub(c.Exp(x), num(1))
	}
	sum, term := zero(), num(1)
	for k := 1.0; ; k++ {
		term = div(mul(term, x), num(k))
		if small(term, sum) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// Log returns the natural logarithm of x > 0.
func (c *Constants) Log(x *big.Float) *big.Float {
	m := zero()
	e := x.MantExp(m)
	if f, _ := m.Float64(); f < math.Sqrt2/2 {
		m, e = scale(m, 1), e-1
	}
	// log m = 2·atanh((m − 1)/(m + 1)), after three square roots.
	n := 1
	for range 3 {
		if d := sub(m, num(1)); d.Sign() != 0 && d.MantExp(nil) < -8 {
			break
		}
		m, n = zero().Sqrt(m), n+1
	}
	s := div(sub(m, num(1)), add(m, num(1)))
	return add(scale(c.atanhSeries(s, 1), n), mul(c.ln2, num(float64(e))))
}

// Log1p returns log(1 + x).
func (c *Constants) Log1p(x *big.Float) *big.Float {
	if x.MantExp(nil) > -8 {
		return c.Log(add(num(1), x))
	}
	return scale(c.atanhSeries(div(x, add(num(2), x)), 1), 1)
}

// atanhSeries returns x + s·x³/3 + x⁵/5 + s·x⁷/7 + …, for a sign s. The sum is the inverse hyperbolic tangent for 1, and the arc
// tangent for −1.
func (c *Constants) atanhSeries(x *big.Float, sign float64) *big.Float {
	square := mul(mul(x, x), num(sign))
	sum, power := zero().Set(x), zero().Set(x)
	for k := 3.0; ; k += 2 {
		power.Mul(power, square)
		term := div(power, num(k))
		if small(term, sum) {
			return sum
		}
		sum.Add(sum, term)
	}
}

// SinCos returns sine and cosine.
func (c *Constants) SinCos(x *big.Float) (sin, cos *big.Float) {
	half := new(big.Float).SetMantExp(c.pi, -1)
	q := new(big.Float).SetPrec(reducePrec).Quo(x, half)
	n, _ := q.Add(q, big.NewFloat(math.Copysign(0.5, float64(x.Sign())))).Int(nil)
	r := new(big.Float).SetPrec(2 * reducePrec).SetInt(n)
	r.Mul(r, half)
	r.Sub(new(big.Float).SetPrec(2*reducePrec).Set(x), r)
	z := zero().Set(r)
	square := mul(z, z)
	s, k := zero(), zero()
	for term, i := num(1), 1.0; ; i += 2 {
		if small(term, k) {
			break
		}
		k.Add(k, term)
		odd := div(mul(term, z), num(i))
		s.Add(s, odd)
		term = div(mul(term, square), num(-i*(i+1)))
	}
	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 0:
		return s, k
	case 1:
		return k, s.Neg(s)
	case 2:
		return s.Neg(s), k.Neg(k)
	}
	return k.Neg(k), s
}

// Atan returns the arc tangent.
func (c *Constants) Atan(x *big.Float) *big.Float {
	if x.MantExp(nil) > 1 {
		r := sub(scale(zero().Set(c.pi), -1), c.Atan(div(num(1), zero().Abs(x))))
		if x.Sign() < 0 {
			r.Neg(r)
		}
		return r
	}
	n := 0
	for ; n < 8 && x.MantExp(nil) > -6; n++ {
		x = div(x, add(num(1), zero().Sqrt(add(num(1), mul(x, x)))))
	}
	return scale(c.atanhSeries(x, -1), n)
}

// Atan2 returns the angle of the point (x, y), neither of which is 0.
func (c *Constants) Atan2(y, x *big.Float) *big.Float {
	r := c.Atan(div(y, x))
	if x.Sign() < 0 {
		if y.Sign() < 0 {
			return sub(r, zero().Set(c.pi))
		}
		return add(r, zero().Set(c.pi))
	}
	return r
}

// Asin returns the arc sine for |x| < 1.
func (c *Constants) Asin(x *big.Float) *big.Float {
	return c.Atan(div(x, zero().Sqrt(mul(sub(num(1), x), add(num(1), x)))))
}

// Acos returns the arc cosine for |x| < 1.
func (c *Constants) Acos(x *big.Float) *big.Float {
	return scale(c.Atan(zero().Sqrt(div(sub(num(1), x), add(num(1), x)))), 1)
}

// Sinh returns the hyperbolic sine.
func (c *Constants) Sinh(x *big.Float) *big.Float {
	e := c.Expm1(zero().Abs(x))
	r := scale(add(e, div(e, add(e, num(1)))), -1)
	if x.Sign() < 0 {
		r.Neg(r)
	}
	return r
}

// Cosh returns the hyperbolic cosine.
func (c *Constants) Cosh(x *big.Float) *big.Float {
	e := c.Exp(x)
	return scale(add(e, div(num(1), e)), -1)
}

// Tanh returns the hyperbolic tangent.
func (c *Constants) Tanh(x *big.Float) *big.Float {
	d := c.Expm1(scale(x, 1))
	return div(d, add(d, num(2)))
}

// Asinh returns the inverse hyperbolic sine.
func (c *Constants) Asinh(x *big.Float) *big.Float {
	a := zero().Abs(x)
	z := mul(a, a)
	r := c.Log1p(add(a, div(z, add(num(1), zero().Sqrt(add(num(1), z))))))
	if x.Sign() < 0 {
		r.Neg(r)
	}
	return r
}

// Acosh returns the inverse hyperbolic cosine for x > 1.
func (c *Constants) Acosh(x *big.Float) *big.Float {
	t := sub(x, num(1))
	return c.Log1p(add(t, zero().Sqrt(mul(t, add(t, num(2))))))
}

// Atanh returns the inverse hyperbolic tangent for |x| < 1.
func (c *Constants) Atanh(x *big.Float) *big.Float {
	return scale(c.Log1p(div(scale(x, 1), sub(num(1), x))), -1)
}

// Cbrt returns the cube root of x ≠ 0.
func (c *Constants) Cbrt(x *big.Float) *big.Float {
	a := zero().Abs(x)
	r := c.Exp(div(c.Log(a), num(3)))
	if x.Sign() < 0 {
		r.Neg(r)
	}
	return r
}

// Rsqrt returns 1/√x for x > 0.
func (c *Constants) Rsqrt(x *big.Float) *big.Float { return div(num(1), zero().Sqrt(x)) }

// Hypot returns √(x² + y²).
func (c *Constants) Hypot(x, y *big.Float) *big.Float { return zero().Sqrt(add(mul(x, x), mul(y, y))) }

// Pow returns x to the y, for x > 0 and a result in the range of Exp.
func (c *Constants) Pow(x, y *big.Float) *big.Float { return c.Exp(mul(y, c.Log(x))) }

// Exp2 returns 2ˣ.
func (c *Constants) Exp2(x *big.Float) *big.Float { return c.Exp(mul(x, c.ln2)) }

// Log2 returns the logarithm to base 2.
func (c *Constants) Log2(x *big.Float) *big.Float { return div(c.Log(x), c.ln2) }

// Log10 returns the logarithm to base 10.
func (c *Constants) Log10(x *big.Float) *big.Float { return div(c.Log(x), c.Log(num(10))) }

// Erf returns the error function.
func (c *Constants) Erf(x *big.Float) *big.Float {
	if f, _ := x.Float64(); math.Abs(f) > 12 {
		return num(math.Copysign(1, f)) // less than 2^-200 off
	}
	square := mul(x, x)
	sum, power := zero().Set(x), zero().Set(x)
	for n := 1.0; ; n++ {
		power = div(mul(power, square), num(-n))
		term := div(power, num(2*n+1))
		if small(term, sum) {
			break
		}
		sum.Add(sum, term)
	}
	return div(scale(sum, 1), zero().Sqrt(zero().Set(c.pi)))
}
