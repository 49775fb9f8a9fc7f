package kernlang

import (
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// num is a number of the reference, independent of its representation. Integers are exact; floats are rounded to their type.
type num struct {
	t ir.Type // a value type; Void for a literal
	i *big.Int
	f float64
}

func intNum(t ir.Type, i *big.Int) num  { return num{t: t, i: i} }
func floatNum(t ir.Type, f float64) num { return num{t: t, f: roundTo(t, f)} }
func boolNum(b bool) num {
	if b {
		return intNum(ir.Bool, big.NewInt(1))
	}
	return intNum(ir.Bool, new(big.Int))
}

func wide(t ir.Type) bool { return t == ir.I64 || t == ir.U64 }

// roundTo rounds to the nearest number of a float type, ties to even.
func roundTo(t ir.Type, x float64) float64 {
	digits, least, most := 53, -1022, 1023
	switch t {
	case ir.F32:
		digits, least, most = 24, -126, 127
	case ir.F16:
		digits, least, most = 11, -14, 15
	case ir.BF16:
		digits, least, most = 8, -126, 127
	}
	if x == 0 || math.IsInf(x, 0) || x != x {
		return x
	}
	_, e := math.Frexp(x) // |x| is in [2^(e-1), 2^e)
	ulp := max(e-1, least) - (digits - 1)
	if t == ir.F64 {
		return x
	}
	r := math.Ldexp(math.RoundToEven(math.Ldexp(x, -ulp)), ulp)
	if math.Abs(r) >= math.Ldexp(1, most+1) {
		return math.Copysign(math.Inf(1), x)
	}
	return r
}

// wrap returns an integer modulo 2^bits in the range of an integer type.
func wrap(t ir.Type, i *big.Int) *big.Int {
	bits := uint(8 * t.Size())
	r := new(big.Int).And(i, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1)))
	if t.IsSigned() && r.Bit(int(bits-1)) == 1 {
		r.Sub(r, new(big.Int).Lsh(big.NewInt(1), bits))
	}
	return r
}

// truncated returns a float truncated to an integer; 0 for NaN and infinities.
func truncated(f float64) *big.Int {
	if f != f || math.IsInf(f, 0) {
		return new(big.Int)
	}
	i, _ := big.NewFloat(f).Int(nil)
	return i
}

// float returns a number as a float of this type, rounded once.
func (x num) float(t ir.Type) float64 {
	if x.i == nil {
		return roundTo(t, x.f)
	}
	prec := map[ir.Type]uint{ir.F16: 11, ir.BF16: 8, ir.F32: 24, ir.F64: 53}[t]
	f, _ := new(big.Float).SetPrec(prec).SetMode(big.ToNearestEven).SetInt(x.i).Float64()
	return roundTo(t, f) // infinity beyond the range of t
}

// to converts like mixed operands, joins and stores: integers wrap, floats become integers modulo 2^bits.
func (x num) to(t ir.Type) num {
	switch {
	case t == ir.Bool:
		return boolNum(x.truth())
	case t.IsFloat():
		return floatNum(t, x.float(t))
	case x.i == nil:
		return intNum(t, wrap(t, truncated(x.f)))
	}
	return intNum(t, wrap(t, x.i))
}

func (x num) truth() bool {
	if x.i != nil {
		return x.i.Sign() != 0
	}
	return x.f != 0 && x.f == x.f
}

// converted converts like i32(x): integers wrap, floats saturate.
func (x num) converted(t ir.Type) num {
	if x.i != nil {
		return intNum(t, wrap(t, x.i))
	}
	bits := uint(8 * t.Size())
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if t.IsSigned() {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	high.Sub(high, big.NewInt(1))
	i := truncated(x.f)
	if math.IsInf(x.f, 1) || i.Cmp(high) > 0 {
		i = high
	}
	if math.IsInf(x.f, -1) || i.Cmp(low) < 0 {
		i = low
	}
	return intNum(t, i)
}

// bits returns the bits of a number of a storage type in memory.
func (x num) bits(t ir.Type) uint64 {
	switch t {
	case ir.F32, ir.F64:
		return ir.FloatBits(t, x.f)
	case ir.F16:
		return shortFloat(x.f, 10, 15)
	case ir.BF16:
		return shortFloat(x.f, 7, 127)
	}
	return wrapBits(x.i)
}

func wrapBits(i *big.Int) uint64 {
	return new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// shortFloat encodes a number that is representable in a 16-bit format.
func shortFloat(x float64, fraction, bias int) uint64 {
	sign := uint64(0)
	if math.Signbit(x) {
		sign = 1 << 15
	}
	top := uint64(2*bias+1) << fraction
	switch {
	case x != x:
		return top | 1<<(fraction-1)
	case math.IsInf(x, 0):
		return sign | top
	case x == 0:
		return sign
	}
	_, e := math.Frexp(x)
	e = max(e-1, 1-bias)
	m := uint64(math.Ldexp(math.Abs(x), fraction-e))
	if m < 1<<fraction { // subnormal
		return sign | m
	}
	return sign | uint64(e+bias)<<fraction | m&(1<<fraction-1)
}

// fromBits returns the number of a storage type with these bits.
func fromBits(t ir.Type, b uint64) num {
	switch t {
	case ir.F32:
		return floatNum(ir.F32, float64(math.Float32frombits(uint32(b))))
	case ir.F64:
		return floatNum(ir.F64, math.Float64frombits(b))
	case ir.F16:
		return floatNum(ir.F32, longFloat(b, 10, 15))
	case ir.BF16:
		return floatNum(ir.F32, longFloat(b, 7, 127))
	}
	return intNum(t.Value(), wrap(storedAs(t), new(big.Int).SetUint64(b)))
}

func storedAs(t ir.Type) ir.Type {
	if t == ir.Bool {
		return ir.U8
	}
	return t
}

func longFloat(b uint64, fraction, bias int) float64 {
	m, e := b&(1<<fraction-1), int(b>>fraction)&(2*bias+1)
	x := math.Ldexp(float64(m), 1-bias-fraction)
	switch {
	case e == 2*bias+1 && m != 0:
		return math.NaN()
	case e == 2*bias+1:
		x = math.Inf(1)
	case e > 0:
		x = math.Ldexp(float64(m|1<<fraction), e-bias-fraction)
	}
	if b>>15 != 0 {
		x = -x
	}
	return x
}

// order compares two numbers by mathematical value; NaNs are unordered.
func order(x, y num) (cmp int, ordered bool) {
	a, ok := x.exact()
	b, ok2 := y.exact()
	if !ok || !ok2 {
		return 0, false
	}
	return a.Cmp(b), true
}

func (x num) exact() (*big.Float, bool) {
	if x.i != nil {
		return new(big.Float).SetPrec(128).SetInt(x.i), true
	}
	if x.f != x.f {
		return nil, false
	}
	return new(big.Float).SetPrec(128).SetFloat64(x.f), true
}

// arithmetic computes + - * / % of two numbers of one type other than bool. ok is false for an integer division by zero.
func arithmetic(op string, x, y num) (r num, ok bool) {
	if x.i == nil {
		f := 0.0
		switch op {
		case "+":
			f = x.f + y.f
		case "-":
			f = x.f - y.f
		case "*":
			f = x.f * y.f
		case "/":
			f = x.f / y.f
		case "%":
			f = math.Mod(x.f, y.f)
		}
		return floatNum(x.t, f), true
	}
	i := new(big.Int)
	switch op {
	case "+":
		i.Add(x.i, y.i)
	case "-":
		i.Sub(x.i, y.i)
	case "*":
		i.Mul(x.i, y.i)
	case "/", "%":
		if y.i.Sign() == 0 {
			return intNum(x.t, i), false
		}
		if op == "/" {
			i.Quo(x.i, y.i)
		} else {
			i.Rem(x.i, y.i)
		}
	}
	return intNum(x.t, wrap(x.t, i)), true
}

// fused returns x·y + z of floats of one type, rounded once.
func fused(x, y, z num) num {
	if p := x.f * y.f; p != p || math.IsInf(x.f, 0) || math.IsInf(y.f, 0) {
		return floatNum(x.t, p+z.f)
	}
	if z.f != z.f || math.IsInf(z.f, 0) {
		return z
	}
	const prec = 4400 // enough for every sum of f64 products to be exact
	p := new(big.Float).SetPrec(prec).SetFloat64(x.f)
	p.Mul(p, new(big.Float).SetPrec(prec).SetFloat64(y.f))
	p.Add(p, new(big.Float).SetPrec(prec).SetFloat64(z.f))
	if p.Sign() == 0 {
		return floatNum(x.t, x.f*y.f+z.f)
	}
	if x.t == ir.F32 {
		f, _ := p.Float32()
		return num{t: ir.F32, f: float64(f)}
	}
	f, _ := p.Float64()
	return num{t: ir.F64, f: f}
}

// arithmeticType returns the type in which an operator computes two value types. ok is false if a 64-bit integer is combined
// with another type.
func arithmeticType(a, b ir.Type) (t ir.Type, ok bool) {
	if a == ir.Bool {
		a = ir.I32
	}
	if b == ir.Bool {
		b = ir.I32
	}
	switch {
	case a == b:
		return a, true
	case wide(a) || wide(b):
		return ir.Void, false
	case a == ir.F64 || b == ir.F64:
		return ir.F64, true
	case a == ir.F32 || b == ir.F32:
		return ir.F32, true
	}
	return ir.U32, true
}

// joinType returns the join of two value types.
func joinType(a, b ir.Type) (t ir.Type, ok bool) {
	if a == b {
		return a, true
	}
	if wide(a) || wide(b) {
		return ir.Void, false
	}
	return arithmeticType(a, b)
}

func mixedSigns(a, b ir.Type) bool {
	small := func(t ir.Type) bool { return t == ir.I32 || t == ir.Bool }
	return small(a) && b == ir.U32 || a == ir.U32 && small(b)
}
