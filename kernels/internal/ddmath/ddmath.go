// Package ddmath computes some functions of two arguments to about 98 bits in double-double arithmetic. For searches it is
// thousands of times faster than package bigmath, which should confirm the found cases.
package ddmath

import "math"

// Value is the unevaluated sum High + Low, with |Low| at most half an ulp of High.
type Value struct{ High, Low float64 }

func sum(a, b float64) Value {
	s := a + b
	c := s - a
	return Value{s, (a - (s - c)) + (b - c)}
}

func product(a, b float64) Value {
	p := float64(a * b)
	return Value{p, math.FMA(a, b, -p)}
}

func (x Value) add(y Value) Value {
	s := sum(x.High, y.High)
	t := sum(x.Low, y.Low)
	s = sum(s.High, s.Low+t.High)
	return sum(s.High, s.Low+t.Low)
}

func (x Value) neg() Value { return Value{-x.High, -x.Low} }

func (x Value) mul(y Value) Value {
	p := product(x.High, y.High)
	return sum(p.High, p.Low+(math.FMA(x.High, y.Low, float64(x.Low*y.High))))
}

func (x Value) div(y Value) Value {
	q := x.High / y.High
	r := x.add(y.mul(Value{q, 0}).neg())
	q2 := r.High / y.High
	r = r.add(y.mul(Value{q2, 0}).neg())
	return sum(q, q2).add(Value{r.High / y.High, 0})
}

func (x Value) scale(n int) Value { return Value{math.Ldexp(x.High, n), math.Ldexp(x.Low, n)} }

var (
	ln2    = Value{0.6931471805599453, 2.3190468138462996e-17}
	halfPi = Value{1.5707963267948966, 6.123233995736766e-17}
	// ln2Rest and halfPiRest are the remainders beyond the double words.
	ln2Rest    = 5.707708438416212e-34
	halfPiRest = -1.4973849048591833e-33
)

// expm1 returns eʳ − 1 for small |r|, by halving the argument.
func expm1(r Value) Value {
	const halvings = 8
	r = r.scale(-halvings)
	s, term := r, r
	for k := 2.0; k < 14; k++ {
		term = term.mul(r).div(Value{k, 0})
		s = s.add(term)
	}
	for range halvings { // (1 + s)² − 1
		s = s.scale(1).add(s.mul(s))
	}
	return s
}

// exp returns eˣ as a double word in [0.7, 1.42] and the exponent of a power of two, by which it is multiplied.
func exp(x Value) (Value, int) {
	n := math.Round(x.High / ln2.High)
	r := x.add(product(n, ln2.High).neg()).add(product(n, ln2.Low).neg()).add(Value{-n * ln2Rest, 0})
	return Value{1, 0}.add(expm1(r)), int(n)
}

// log returns the natural logarithm of a float64 by Newton's method.
func log(x float64) Value {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	l := Value{math.Log1p(m - 1), 0}
	for range 2 { // l += 2·(m − eˡ)/(m + eˡ)
		em := expm1(l)
		d := Value{m - 1, 0}.add(em.neg())
		l = l.add(d.scale(1).div(Value{m, 0}.add(em).add(Value{1, 0})))
	}
	n := float64(e)
	return product(n, ln2.High).add(product(n, ln2.Low)).add(Value{n * ln2Rest, 0}).add(l)
}

// Pow returns xʸ for x > 0, as a double word and the exponent of a power of two, by which it is multiplied.
func Pow(x, y float64) (Value, int) { return exp(log(x).mul(Value{y, 0})) }

// Hypot returns the length of (x, y), for arguments whose squares are in range.
func Hypot(x, y float64) Value {
	s := product(x, x).add(product(y, y))
	r := Value{math.Sqrt(s.High), 0}
	for range 2 {
		r = r.add(s.add(r.mul(r).neg()).div(r.scale(1)))
	}
	return r
}

// Atan2 returns the angle of the point (x, y), for arguments whose products are in range. It corrects an approximation by
// the angle between it and the point.
func Atan2(y, x float64) Value {
	t := Value{math.Atan2(y, x), 0}
	for range 2 {
		s, c := sincos(t)
		a, b := Value{y, 0}, Value{x, 0}
		t = t.add(a.mul(c).add(b.mul(s).neg()).div(b.mul(c).add(a.mul(s))))
	}
	return t
}

// sincos returns sine and cosine of an angle up to π.
func sincos(t Value) (sin, cos Value) {
	n := math.Round(t.High / halfPi.High)
	r := t.add(product(n, halfPi.High).neg()).add(product(n, halfPi.Low).neg()).add(Value{-n * halfPiRest, 0})
	series := func(term Value, k float64) Value {
		s, square := term, r.mul(r)
		for ; k < 32; k += 2 {
			term = term.mul(square).div(Value{k * (k + 1), 0}).neg()
			s = s.add(term)
		}
		return s
	}
	sin, cos = series(r, 2), series(Value{1, 0}, 1)
	for range (int(n) + 4) % 4 {
		sin, cos = cos, sin.neg()
	}
	return sin, cos
}

// Error returns the absolute difference of got and v·2ⁿ in units in the last place of float64.
func Error(got float64, v Value, n int) float64 {
	_, e := math.Frexp(v.High)
	if v.High == math.Ldexp(0.5, e) && v.Low < 0 {
		e--
	}
	unit := max(e+n-53, -1074)
	// got − v·2ⁿ in units of 2^unit, with both parts scaled close to 1 first.
	g := math.Ldexp(got, -unit)
	if math.IsInf(g, 0) || e+n > 1024 {
		g = math.Ldexp(math.Ldexp(got, -600), 600-unit)
	}
	return math.Abs((g - math.Ldexp(v.High, n-unit)) - math.Ldexp(v.Low, n-unit))
}
