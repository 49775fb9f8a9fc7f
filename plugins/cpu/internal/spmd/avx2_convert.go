package spmd

import (
	"math"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// conversion emits the conversions that AVX2 lacks, and reports whether the instruction is of those.
func (e *expander) conversion(in *inst) bool {
	d, a := in.a[0].reg, in.a[1].reg
	switch in.op {
	case amd64.VCVTUDQ2PS:
		e.floatOfU32(d, a)
	case amd64.VCVTUDQ2PD:
		w := e.vec()
		e.def(amd64.VPMOVZXDQ, y(w), x(a))
		e.op(amd64.VSUBPD, d, e.temp(amd64.VPOR, w, e.bits64(0x1p52)), e.bits64(0x1p52))
	case amd64.VCVTQQ2PD, amd64.VCVTUQQ2PD:
		e.doubleOf(d, a, in.op == amd64.VCVTQQ2PD)
	case amd64.VCVTQQ2PS, amd64.VCVTUQQ2PS:
		e.floatOf64(d, a, in.op == amd64.VCVTQQ2PS)
	case amd64.VCVTTPS2UDQ:
		e.u32OfFloat(d, a)
	case amd64.VCVTTPD2UDQ:
		// At most the greatest number, the fraction cut off, in the low bits of 2^52 and more.
		v := e.temp(amd64.VMINPD, a, e.bits64(math.MaxUint32))
		e.pack(d, e.temp(amd64.VADDPD, e.truncated(v), e.bits64(0x1p52)))
	case amd64.VCVTTPS2UQQ:
		w := e.vec()
		e.def(amd64.VCVTPS2PD, y(w), x(a))
		e.intOfDouble(d, w, false)
	case amd64.VCVTTPD2UQQ, amd64.VCVTTPD2QQ:
		e.intOfDouble(d, a, in.op == amd64.VCVTTPD2QQ)
	case amd64.VPMOVQD:
		e.pack(d, a)
	case amd64.VPMOVSQD:
		least, most := e.constant(0xffffffff80000000, 8), e.constant(math.MaxInt32, 8)
		v, w := e.vec(), e.vec()
		e.blend(v, a, most, e.temp(amd64.VPCMPGTQ, a, most))
		e.blend(w, v, least, e.temp(amd64.VPCMPGTQ, least, v))
		e.pack(d, w)
	case amd64.VPMOVDW, amd64.VPMOVDB:
		e.narrow1(in)
	default:
		return false
	}
	return true
}

// bits64 is the constant of a float of 64 bits.
func (e *expander) bits64(x float64) vr { return e.constant(math.Float64bits(x), 8) }

func (e *expander) bits32(x float32) vr { return e.constant(uint64(math.Float32bits(x)), 4) }

// truncated cuts off the fractions of floats of 64 bits.
func (e *expander) truncated(a vr) vr { return e.rounded(a, 11) }

func (e *expander) rounded(a vr, how int64) vr {
	t := e.vec()
	e.def(amd64.VROUNDPD, y(t), y(a), imm(how)).folds(1, 0)
	return t
}

// compared gives the lanes in which floats of 64 bits compare by a predicate.
func (e *expander) compared(op amd64.Op, a, b vr, pred int64) vr {
	t := e.vec()
	e.def(op, y(t), y(a), y(b), imm(pred)).folds(2, 0)
	return t
}

// pack puts the low halves of elements of 64 bits together in half a vector.
func (e *expander) pack(d, a vr) {
	h := e.vec()
	e.def(amd64.VEXTRACTI128, x(h), y(a), imm(1))
	e.def(amd64.VSHUFPS, x(d), x(a), x(h), imm(0x88))
}

// floatOfU32 converts the halves of 16 bits exactly, as the low bits of floats of known exponent, and adds them: only
// that rounds.
func (e *expander) floatOfU32(d, a vr) {
	low, high := e.vec(), e.vec()
	e.def(amd64.VPBLENDW, y(low), y(a), y(e.bits32(0x1p23)), imm(0xaa)).folds(2, 0)
	e.def(amd64.VPBLENDW, y(high), y(e.shifted(amd64.VPSRLD, a, 16)), y(e.bits32(0x1p39)), imm(0xaa)).folds(2, 0)
	e.op(amd64.VADDPS, d, e.temp(amd64.VSUBPS, high, e.bits32(0x1p39+0x1p23)), low)
}

// doubleOf does the same with halves of 32 bits for floats of 64 bits.
func (e *expander) doubleOf(d, a vr, signed bool) {
	high, low := e.shifted(amd64.VPSRLQ, a, 32), e.vec()
	base, less := uint64(0x4530000000000000), uint64(0x4530000000100000) // 2^84, and 2^84 + 2^52
	if signed {                                                          // 2^63 more
		base, less = base|1<<31, less|1<<31
	}
	high = e.temp(amd64.VPXOR, high, e.constant(base, 8))
	e.def(amd64.VPBLENDD, y(low), y(e.bits64(0x1p52)), y(a), imm(0x55)).folds(2, 0)
	e.op(amd64.VADDPD, d, e.temp(amd64.VSUBPD, high, e.constant(less, 8)), low)
}

// floatOf64 goes by way of floats of 64 bits. What those cannot hold has its low bits made one, which says only that
// there is a rest, so that the second rounding is the only one.
func (e *expander) floatOf64(d, a vr, signed bool) {
	const low = 1<<11 - 1
	shifted := a
	if signed {
		shifted = e.temp(amd64.VPADDQ, a, e.constant(1<<52, 8))
	}
	exact := e.temp(amd64.VPCMPEQQ, e.shifted(amd64.VPSRLQ, shifted, 53), e.constant(0, 4))
	mask := e.constant(low, 8)
	rest := e.temp(amd64.VPAND, e.temp(amd64.VPADDQ, e.temp(amd64.VPAND, a, mask), mask), e.constant(low+1, 8))
	sticky := e.temp(amd64.VPOR, e.temp(amd64.VPANDN, mask, a), rest)
	v, w := e.vec(), e.vec()
	e.blend(v, sticky, a, exact)
	e.doubleOf(w, v, signed)
	e.def(amd64.VCVTPD2PS, x(d), y(w))
}

// u32OfFloat converts floats from 2^31 on less that, and gives all bits from 2^32 on.
func (e *expander) u32OfFloat(d, a vr) {
	half := e.bits32(0x1p31)
	big := e.compared(amd64.VCMPPS, a, half, 13)
	n := e.vec()
	e.def(amd64.VCVTTPS2DQ, y(n), y(e.temp(amd64.VSUBPS, a, e.temp(amd64.VPAND, big, half))))
	n = e.temp(amd64.VPXOR, n, e.shifted(amd64.VPSLLD, big, 31))
	e.op(amd64.VPOR, d, n, e.compared(amd64.VCMPPS, a, e.bits32(0x1p32), 5))
}

// intOfDouble cuts the fraction off and takes the halves of 32 bits apart, each exact in the low bits of a float. Beyond
// the range it gives what the instructions do: the least number, or all bits without signs.
func (e *expander) intOfDouble(d, a vr, signed bool) {
	v := e.truncated(a)
	high := e.rounded(e.temp(amd64.VMULPD, v, e.bits64(0x1p-32)), 9)
	low := e.vec()
	e.def(amd64.VMOVDQA, y(low), y(v))
	e.mod(amd64.VFNMADD231PD, y(low), y(high), y(e.bits64(0x1p32))).folds(2, 0)
	low = e.temp(amd64.VADDPD, low, e.bits64(0x1p52))
	above := e.bits64(0x1p52)
	if signed {
		above = e.bits64(0x1.8p52)
	}
	high = e.shifted(amd64.VPSLLQ, e.temp(amd64.VADDPD, high, above), 32)
	n := e.vec()
	e.def(amd64.VPBLENDD, y(n), y(high), y(low), imm(0x55)).folds(2, 0)
	if !signed {
		e.op(amd64.VPOR, d, n, e.compared(amd64.VCMPPD, a, e.bits64(0x1p64), 5))
		return
	}
	inside := e.temp(amd64.VPAND, e.compared(amd64.VCMPPD, a, e.bits64(0x1p63), 1), e.compared(amd64.VCMPPD, a, e.bits64(-0x1p63), 13))
	e.blend(d, e.constant(1<<63, 8), n, inside)
}

// narrow1 emits the low bytes or words of elements of 32 bits, close together in a register or in memory.
func (e *expander) narrow1(in *inst) {
	size := 2
	if in.op == amd64.VPMOVDB {
		size = 1
	}
	order := make([]byte, 32)
	for i := range order {
		order[i] = 0x80 // zero
		if n := i % 16; n < 4*size {
			order[i] = byte(n/size*4 + n%size)
		}
	}
	t := e.temp(amd64.VPSHUFB, in.a[1].reg, e.pattern(order))
	to := &in.a[0]
	switch {
	case size == 2 && to.kind == argReg:
		e.def(amd64.VPERMQ, y(to.reg), y(t), imm(0x08))
	case size == 2:
		w := e.vec()
		e.def(amd64.VPERMQ, y(w), y(t), imm(0x08))
		e.use(amd64.VMOVUPS, in.arg(0), x(w))
	case to.kind == argMem:
		h, w := e.vec(), e.vec()
		e.def(amd64.VEXTRACTI128, x(h), y(t), imm(1))
		e.def(amd64.VPUNPCKLDQ, x(w), x(t), x(h))
		e.use(amd64.VMOVQ, in.arg(0), x(w))
	default:
		e.refuseOp(in)
	}
}
