package lower

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// limits returns the minimum of an integer type and the power of two above its maximum.
func limits(t ir.Type) (least, beyond float64) {
	beyond = math.Ldexp(1, 8*t.Size())
	if t.IsSigned() {
		beyond /= 2
		return -beyond, beyond
	}
	return 0, beyond
}

// saturate lowers Sat.
func (e *emitter) saturate(to ir.Type, x *ir.Value) *ir.Value {
	t := x.Type
	if e.target.Has("sat.any", t) {
		return e.Op(ir.Sat, to, x)
	}
	least, beyond := limits(to)
	most := uint64(1)<<(8*to.Size()-1)<<1 - 1
	lowest := uint64(0)
	if to.IsSigned() {
		most >>= 1
		lowest = most + 1
	}
	fits := e.and(e.le(e.float(t, least), x), e.lt(x, e.float(t, beyond)))
	v := e.Op(ir.Sat, to, e.sel(fits, x, e.zero(t)))
	edge := e.sel(e.lt(x, e.float(t, least)), e.konst(to, lowest), e.sel(e.le(e.float(t, beyond), x), e.konst(to, most), e.zero(to)))
	return e.sel(fits, v, edge)
}

// wrapFloat lowers Wrap of a float: the truncated value modulo 2ⁿ, for an integer type of n bits. NaN and infinities become 0.
func (e *emitter) wrapFloat(to ir.Type, x *ir.Value) *ir.Value {
	t, f := x.Type, formatOf(x.Type)
	fits := e.lt(e.Op(ir.Abs, t, x), e.float(t, 1<<63))
	small := e.wrap(ir.U64, e.Op(ir.Sat, ir.I64, e.sel(fits, x, e.zero(t))))
	// From 2^63 on the value is the shifted significand. The exponent of NaN and infinities shifts out all bits.
	bits := e.convert(ir.U64, e.cast(f.bits, x))
	mask := uint64(2*f.bias + 1)
	n := e.sub(e.wrap(ir.I32, e.and(e.shr(bits, f.mantissa), e.konst(ir.U64, mask))), e.i32(f.bias+f.mantissa))
	m := e.or(e.and(bits, e.konst(ir.U64, 1<<f.mantissa-1)), e.konst(ir.U64, 1<<f.mantissa))
	some := e.and(e.le(e.i32(0), n), e.lt(n, e.i32(64)))
	big := e.sel(some, e.bin(ir.Shl, m, e.sel(some, n, e.i32(0))), e.zero(ir.U64))
	big = e.sel(e.lt(x, e.zero(t)), e.sub(e.zero(ir.U64), big), big)
	return e.wrap(to, e.sel(fits, small, big))
}

// quant rounds a float to a value of an element type. Every NaN becomes the canonical one.
func (e *emitter) quant(elem ir.Type, x *ir.Value) *ir.Value {
	switch {
	case elem.Size() > 2:
		return e.sel(e.ne(x, x), e.float(x.Type, math.NaN()), x)
	case e.target.Has("quant."+elem.String(), ir.F32):
		return e.Emit(&ir.Instr{Op: ir.Quant, Elem: elem, Args: []*ir.Value{x}}, ir.F32)
	case elem == ir.F16:
		return e.fromHalf(e.toHalf(x))
	}
	return e.fromBrain(e.toBrain(x))
}

// roundOff drops the n low bits and rounds to nearest, ties to even.
func (e *emitter) roundOff(b, n *ir.Value) *ir.Value {
	one := e.int(ir.U32, 1)
	half := e.sub(e.bin(ir.Shl, one, e.sub(n, e.i32(1))), one)
	return e.bin(ir.Shr, e.add(e.add(b, half), e.and(e.bin(ir.Shr, b, n), one)), n)
}

// toHalf rounds an f32 to f16 and returns its bits as u32.
func (e *emitter) toHalf(x *ir.Value) *ir.Value {
	u := func(n uint64) *ir.Value { return e.konst(ir.U32, n) }
	b := e.cast(ir.U32, x)
	sign := e.and(e.shr(b, 16), u(0x8000))
	a := e.and(b, u(0x7fffffff))
	normal := e.roundOff(e.sub(a, u((127-15)<<23)), e.i32(13))
	n := e.sub(e.i32(126), e.wrap(ir.I32, e.shr(a, 23)))
	tiny := e.and(e.lt(u(0x33000000), a), e.lt(a, u(0x38800000))) // above half of the minimum subnormal, below the minimum normal
	subnormal := e.roundOff(e.or(e.and(a, u(0x7fffff)), u(0x800000)), e.sel(tiny, n, e.i32(14)))
	r := e.sel(tiny, subnormal, e.sel(e.le(u(0x38800000), a), normal, u(0)))
	r = e.or(sign, e.sel(e.le(u(0x477ff000), a), u(0x7c00), r))
	return e.sel(e.ne(x, x), u(0x7e00), r)
}

// fromHalf converts the bits of an f16, in the low half of a u32, to f32. Every NaN becomes the canonical one.
func (e *emitter) fromHalf(h *ir.Value) *ir.Value {
	u := func(n uint64) *ir.Value { return e.konst(ir.U32, n) }
	sign := e.bin(ir.Shl, e.and(h, u(0x8000)), e.i32(16))
	a := e.and(h, u(0x7fff))
	tiny := e.cast(ir.U32, e.mul(e.convert(ir.F32, e.and(h, u(0x3ff))), e.float(ir.F32, 0x1p-24)))
	normal := e.add(e.shl(a, 13), u((127-15)<<23))
	r := e.sel(e.lt(a, u(0x400)), tiny, e.sel(e.lt(a, u(0x7c00)), normal, u(0x7f800000)))
	r = e.sel(e.lt(u(0x7c00), a), u(ir.NaN32), e.or(sign, r))
	return e.cast(ir.F32, r)
}

func (e *emitter) toBrain(x *ir.Value) *ir.Value {
	b := e.cast(ir.U32, x)
	return e.sel(e.ne(x, x), e.konst(ir.U32, ir.NaN32>>16), e.roundOff(b, e.i32(16)))
}

func (e *emitter) fromBrain(b *ir.Value) *ir.Value { return e.cast(ir.F32, e.shl(b, 16)) }

// loadElem loads an element of a storage type and converts it to its value type.
func (e *emitter) loadElem(t ir.Type, a *ir.Array, at *ir.Value) *ir.Value {
	switch {
	case t == ir.Bool:
		return e.ne(e.load(ir.U8, a, at), e.i32(0))
	case t.IsFloat() && t.Size() == 2 && !e.target.Has("load", t):
		bits := e.wrap(ir.U32, e.load(ir.U16, a, at))
		if t == ir.F16 {
			return e.fromHalf(bits)
		}
		return e.fromBrain(bits)
	}
	return e.load(t, a, at)
}

// storeElem converts a value to a storage type and stores it.
func (e *emitter) storeElem(t ir.Type, a *ir.Array, at, x *ir.Value) {
	switch {
	case t == ir.Bool:
		e.store(ir.U8, a, at, e.wrap(ir.I32, x))
	case t.IsFloat() && t.Size() == 2 && !e.target.Has("store", t):
		bits := e.toBrain
		if t == ir.F16 {
			bits = e.toHalf
		}
		e.store(ir.U16, a, at, e.wrap(ir.I32, bits(x)))
	default:
		e.store(t, a, at, x)
	}
}
