package lower

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// arith lowers an arithmetic operation to leaves.
func (e *emitter) arith(in *ir.Instr, args []*ir.Value) *ir.Value {
	x, t := args[0], args[0].Type
	to := in.Type()
	switch in.Op {
	case ir.Neg:
		if t.IsInt() {
			return e.sub(e.zero(t), x)
		}
	case ir.Abs:
		switch {
		case t.IsSigned():
			return e.sel(e.lt(x, e.zero(t)), e.sub(e.zero(t), x), x)
		case t.IsInt():
			return x
		}
	case ir.Sqrt, ir.Div:
		switch {
		case t.IsInt():
			return e.divide(in, x, args[1])
		case t == ir.F32 && !e.target.Has(in.Op.String(), t):
			wide := []*ir.Value{e.convert(ir.F64, x)} // with 53 ≥ 2·24+2 bits, rounding twice equals rounding once
			if in.Op == ir.Div {
				wide = append(wide, e.convert(ir.F64, args[1]))
			}
			return e.convert(ir.F32, e.Op(in.Op, ir.F64, wide...))
		}
	case ir.Rem:
		if t.IsInt() {
			return e.divide(in, x, args[1])
		}
		if !e.target.Has("rem", t) {
			return e.remainder(x, args[1])
		}
	case ir.Round:
		if !e.target.Has("round", t) {
			f := e.Op(ir.Floor, t, x)
			up := e.le(e.float(t, 0.5), e.sub(x, f))
			return e.copySign(e.sel(up, e.add(f, e.float(t, 1)), f), x)
		}
	case ir.Ctz:
		if !e.target.Has("ctz", t) {
			width := 8 * t.Size()
			n := e.sub(e.i32(width-1), e.clz(e.and(x, e.sub(e.zero(t), x))))
			return e.sel(e.eq(x, e.zero(t)), e.i32(width), n)
		}
	case ir.Min, ir.Max:
		return e.extreme(in.Op, x, args[1])
	case ir.MulHi:
		if !e.target.Has("mulhi", t) {
			return e.mulHi(x, args[1])
		}
	case ir.Shl, ir.Shr:
		return e.Op(in.Op, t, x, e.and(args[1], e.int(args[1].Type, int64(8*t.Size()-1))))
	case ir.Convert:
		return e.convert(to, x)
	case ir.Wrap:
		if t.IsFloat() {
			return e.wrapFloat(to, x)
		}
		return e.wrap(to, x)
	case ir.Sat:
		return e.saturate(to, x)
	case ir.Bitcast:
		switch {
		case t.IsFloat() && to.IsInt():
			return e.sel(e.ne(x, x), e.konst(to, ir.FloatBits(t, math.NaN())), e.cast(to, x))
		default:
			return e.cast(to, x)
		}
	case ir.Quant:
		return e.quant(in.Elem, x)
	}
	return e.Op(in.Op, to, args...)
}

// copySign returns the float x with the sign of the float of.
func (e *emitter) copySign(x, of *ir.Value) *ir.Value {
	t := bitsType(x.Type)
	sign := e.konst(t, 1<<(8*t.Size()-1))
	return e.cast(x.Type, e.or(e.and(e.cast(t, x), e.konst(t, 1<<(8*t.Size()-1)-1)), e.and(e.cast(t, of), sign)))
}

// extreme lowers Min or Max.
func (e *emitter) extreme(op ir.Op, x, y *ir.Value) *ir.Value {
	t := x.Type
	if e.target.Has(op.String(), t) {
		return e.bin(op, x, y)
	}
	lesser := e.lt(x, y)
	if op == ir.Max {
		lesser = e.lt(y, x)
	}
	if t.IsInt() {
		return e.sel(lesser, x, y)
	}
	// Equal operands differ at most in the sign of zero. The selection takes a NaN y, and compiles to one instruction of processors.
	b, zero, neutral := bitsType(t), ir.Or, int64(0)
	if op == ir.Max {
		zero, neutral = ir.And, -1
	}
	equal := e.sel(e.eq(x, y), e.cast(b, x), e.int(b, neutral))
	r := e.cast(t, e.bin(zero, e.cast(b, e.sel(lesser, x, y)), equal))
	return e.sel(e.ne(x, x), x, r)
}

// divide lowers Div or Rem of integers: the result is 0 for divisor 0, and the minimum divided by −1 wraps.
func (e *emitter) divide(in *ir.Instr, x, y *ir.Value) *ir.Value {
	t := x.Type
	if e.target.Has(in.Op.String()+".any", t) {
		return e.bin(in.Op, x, y)
	}
	if d := y.Def; d != nil && d.Op == ir.Const && d.Bits != 0 && (!t.IsSigned() || d.Bits != ir.IntBits(t, -1)) {
		return e.bin(in.Op, x, y)
	}
	zero := e.eq(y, e.zero(t))
	if !t.IsSigned() {
		q := e.bin(in.Op, x, e.sel(zero, e.int(t, 1), y))
		if in.Op == ir.Rem {
			return q // a zero divisor was replaced by 1, so the remainder is 0
		}
		return e.sel(zero, e.zero(t), q)
	}
	minus := e.eq(y, e.int(t, -1))
	q := e.bin(in.Op, x, e.sel(e.or(zero, minus), e.int(t, 1), y))
	if in.Op == ir.Rem {
		return q
	}
	return e.sel(zero, e.zero(t), e.sel(minus, e.sub(e.zero(t), x), q))
}

func (e *emitter) mulHi(x, y *ir.Value) *ir.Value {
	t := x.Type
	if t.Size() == 4 {
		wide := ir.U64
		if t.IsSigned() {
			wide = ir.I64
		}
		return e.wrap(t, e.shr(e.mul(e.convert(wide, x), e.convert(wide, y)), 32))
	}
	// four products of halves
	a, b := e.wrap(ir.U64, x), e.wrap(ir.U64, y)
	low := e.konst(ir.U64, math.MaxUint32)
	a0, a1, b0, b1 := e.and(a, low), e.shr(a, 32), e.and(b, low), e.shr(b, 32)
	p := e.add(e.mul(a1, b0), e.shr(e.mul(a0, b0), 32))
	q := e.add(e.mul(a0, b1), e.and(p, low))
	hi := e.add(e.add(e.mul(a1, b1), e.shr(p, 32)), e.shr(q, 32))
	if t.IsSigned() {
		hi = e.sub(hi, e.sel(e.lt(x, e.zero(t)), b, e.zero(ir.U64)))
		hi = e.sub(hi, e.sel(e.lt(y, e.zero(t)), a, e.zero(ir.U64)))
	}
	return e.wrap(t, hi)
}

// format is the binary format of a float type.
type format struct {
	bits     ir.Type
	mantissa int // explicit bits
	bias     int
}

func formatOf(t ir.Type) format {
	if t == ir.F32 {
		return format{ir.U32, 23, 127}
	}
	return format{ir.U64, 52, 1023}
}

// remainder lowers Rem of floats. It shifts the dividend's significand left as far as 64 bits permit and reduces it modulo the
// divisor's significand. It repeats this until both exponents are equal.
func (e *emitter) remainder(x, y *ir.Value) *ir.Value {
	t, f := x.Type, formatOf(x.Type)
	u := func(n uint64) *ir.Value { return e.konst(ir.U64, n) }
	bits := func(v *ir.Value) *ir.Value { // bits of the absolute value
		return e.convert(ir.U64, e.and(e.cast(f.bits, v), e.konst(f.bits, 1<<(8*f.bits.Size()-1)-1)))
	}
	a, b := bits(x), bits(y)
	inf := u(uint64(2*f.bias+1) << f.mantissa)
	nan := e.or(e.le(inf, a), e.or(e.eq(b, u(0)), e.lt(inf, b)))
	small := e.lt(a, b)
	work := e.not(e.or(nan, small))
	r := e.choose(work, func() []*ir.Value {
		ex, mx := e.unpack(f, a)
		ey, my := e.unpack(f, b)
		room := e.i32(63 - f.mantissa)
		rest := e.loop([]ir.Type{ir.U64}, []*ir.Value{e.sub(ex, ey), e.bin(ir.Rem, mx, my)}, func(l *ir.Instr, p []*ir.Value) {
			left, m := p[0], p[1]
			e.leave(e.le(left, e.i32(0)), ir.Break, l, m)
			n := e.sel(e.lt(left, room), left, room)
			e.jump(ir.Continue, l, e.sub(left, n), e.bin(ir.Rem, e.bin(ir.Shl, m, n), my))
		})[0]
		return []*ir.Value{e.pack(f, ey, rest)}
	}, func() []*ir.Value { return []*ir.Value{u(0)} })[0]
	v := e.copySign(e.cast(t, e.wrap(f.bits, r)), x)
	return e.sel(nan, e.float(t, math.NaN()), e.sel(small, x, v))
}

// unpack returns the biased exponent and the significand of a finite positive number. The significand's highest bit is
// f.mantissa.
func (e *emitter) unpack(f format, bits *ir.Value) (exp, m *ir.Value) {
	exp = e.wrap(ir.I32, e.shr(bits, f.mantissa))
	normal := e.lt(e.i32(0), exp)
	m = e.or(e.and(bits, e.konst(ir.U64, 1<<f.mantissa-1)), e.sel(normal, e.konst(ir.U64, 1<<f.mantissa), e.zero(ir.U64)))
	lead := e.sub(e.clz(m), e.i32(63-f.mantissa))
	return e.sub(e.sel(normal, exp, e.i32(1)), lead), e.bin(ir.Shl, m, lead)
}

// pack returns the bits of m·2^(exp − bias − mantissa), which must be exact; m has no bit above f.mantissa.
func (e *emitter) pack(f format, exp, m *ir.Value) *ir.Value {
	none := e.eq(m, e.zero(ir.U64))
	lead := e.sel(none, e.i32(0), e.sub(e.clz(m), e.i32(63-f.mantissa)))
	top := e.sub(exp, lead)
	normal := e.lt(e.i32(0), top)
	big := e.add(e.bin(ir.Shl, m, lead), e.bin(ir.Shl, e.convert(ir.U64, e.sel(normal, e.sub(top, e.i32(1)), e.i32(0))), e.i32(f.mantissa)))
	up := e.sub(exp, e.i32(1))
	left := e.le(e.i32(0), up)
	count := e.sel(normal, e.i32(0), e.sel(left, up, e.sub(e.i32(0), up)))
	subnormal := e.sel(left, e.bin(ir.Shl, m, count), e.bin(ir.Shr, m, count))
	return e.sel(none, e.zero(ir.U64), e.sel(normal, big, subnormal))
}
