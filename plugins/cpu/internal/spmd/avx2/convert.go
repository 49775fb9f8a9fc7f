package avx2

import (
	"math"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// conversion expands conversions that AVX2 lacks. It returns false for other instructions.
func (e *expander) conversion(in *vcode.Inst) bool {
	d, a := in.Args[0].Reg, in.Args[1].Reg
	switch in.Op {
	case amd64.VCVTUDQ2PS:
		e.floatOfU32(d, a)
	case amd64.VCVTUDQ2PD:
		w := e.NewVec()
		e.Def(amd64.VPMOVZXDQ, w.Y(), a.X())
		e.op(amd64.VSUBPD, d, e.temp(amd64.VPOR, w, e.bits64(0x1p52)), e.bits64(0x1p52))
	case amd64.VCVTQQ2PD, amd64.VCVTUQQ2PD:
		e.doubleOf(d, a, in.Op == amd64.VCVTQQ2PD)
	case amd64.VCVTQQ2PS, amd64.VCVTUQQ2PS:
		e.floatOf64(d, a, in.Op == amd64.VCVTQQ2PS)
	case amd64.VCVTTPS2UDQ:
		e.u32OfFloat(d, a)
	case amd64.VCVTTPD2UDQ:
		// Adding 2^52 leaves the truncated number, clamped to the maximum, in the low bits.
		v := e.temp(amd64.VMINPD, a, e.bits64(math.MaxUint32))
		e.pack(d, e.temp(amd64.VADDPD, e.truncated(v), e.bits64(0x1p52)))
	case amd64.VCVTTPS2UQQ:
		w := e.NewVec()
		e.Def(amd64.VCVTPS2PD, w.Y(), a.X())
		e.intOfDouble(d, w, false)
	case amd64.VCVTTPD2UQQ, amd64.VCVTTPD2QQ:
		e.intOfDouble(d, a, in.Op == amd64.VCVTTPD2QQ)
	case amd64.VPMOVQD:
		e.pack(d, a)
	case amd64.VPMOVSQD:
		least, most := e.Constant(0xffffffff80000000, 8), e.Constant(math.MaxInt32, 8)
		v, w := e.NewVec(), e.NewVec()
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

// bits64 returns the constant of a 64-bit float.
func (e *expander) bits64(x float64) vcode.Reg { return e.Constant(math.Float64bits(x), 8) }

// bits32 returns the constant of a 32-bit float.
func (e *expander) bits32(x float32) vcode.Reg { return e.Constant(uint64(math.Float32bits(x)), 4) }

// truncated returns 64-bit floats without their fractions.
func (e *expander) truncated(a vcode.Reg) vcode.Reg { return e.rounded(a, 11) }

// rounded returns 64-bit floats rounded to integers by a mode of VROUNDPD.
func (e *expander) rounded(a vcode.Reg, how int64) vcode.Reg {
	t := e.NewVec()
	e.Def(amd64.VROUNDPD, t.Y(), a.Y(), vcode.Imm(how)).Folds(1, 0)
	return t
}

// compared returns the lanes in which a comparison of floats, VCMPPS or VCMPPD, holds for a predicate.
func (e *expander) compared(op amd64.Op, a, b vcode.Reg, p amd64.Predicate) vcode.Reg {
	t := e.NewVec()
	e.Def(op, t.Y(), a.Y(), b.Y(), vcode.Cmp(p)).Folds(2, 0)
	return t
}

// pack moves the low halves of the 64-bit elements of a to the lower half of d.
func (e *expander) pack(d, a vcode.Reg) {
	h := e.NewVec()
	e.Def(amd64.VEXTRACTI128, h.X(), a.Y(), vcode.Imm(1))
	e.Def(amd64.VSHUFPS, d.X(), a.X(), h.X(), vcode.Imm(0x88))
}

// floatOfU32 converts unsigned 32-bit integers to 32-bit floats. It converts their 16-bit halves exactly, as the low bits of floats
// with a fixed exponent, and adds them. Only the addition rounds.
func (e *expander) floatOfU32(d, a vcode.Reg) {
	low, high := e.NewVec(), e.NewVec()
	e.Def(amd64.VPBLENDW, low.Y(), a.Y(), e.bits32(0x1p23).Y(), vcode.Imm(0xaa)).Folds(2, 0)
	e.Def(amd64.VPBLENDW, high.Y(), e.shifted(amd64.VPSRLD, a, 16).Y(), e.bits32(0x1p39).Y(), vcode.Imm(0xaa)).Folds(2, 0)
	e.op(amd64.VADDPS, d, e.temp(amd64.VSUBPS, high, e.bits32(0x1p39+0x1p23)), low)
}

// doubleOf converts 64-bit integers to 64-bit floats like floatOfU32, by 32-bit halves.
func (e *expander) doubleOf(d, a vcode.Reg, signed bool) {
	high, low := e.shifted(amd64.VPSRLQ, a, 32), e.NewVec()
	base, less := uint64(0x4530000000000000), uint64(0x4530000000100000) // 2^84, and 2^84 + 2^52
	if signed {                                                          // plus 2^63
		base, less = base|1<<31, less|1<<31
	}
	high = e.temp(amd64.VPXOR, high, e.Constant(base, 8))
	e.Def(amd64.VPBLENDD, low.Y(), e.bits64(0x1p52).Y(), a.Y(), vcode.Imm(0x55)).Folds(2, 0)
	e.op(amd64.VADDPD, d, e.temp(amd64.VSUBPD, high, e.Constant(less, 8)), low)
}

// floatOf64 converts 64-bit integers to 32-bit floats by way of 64-bit floats. It sets the lowest bit of inexact
// values (round to odd), so that only the second conversion rounds.
func (e *expander) floatOf64(d, a vcode.Reg, signed bool) {
	const low = 1<<11 - 1
	shifted := a
	if signed {
		shifted = e.temp(amd64.VPADDQ, a, e.Constant(1<<52, 8))
	}
	exact := e.temp(amd64.VPCMPEQQ, e.shifted(amd64.VPSRLQ, shifted, 53), e.Constant(0, 4))
	mask := e.Constant(low, 8)
	rest := e.temp(amd64.VPAND, e.temp(amd64.VPADDQ, e.temp(amd64.VPAND, a, mask), mask), e.Constant(low+1, 8))
	sticky := e.temp(amd64.VPOR, e.temp(amd64.VPANDN, mask, a), rest)
	v, w := e.NewVec(), e.NewVec()
	e.blend(v, sticky, a, exact)
	e.doubleOf(w, v, signed)
	e.Def(amd64.VCVTPD2PS, d.X(), w.Y())
}

// u32OfFloat converts floats, which must not be negative, to unsigned integers. It subtracts 2^31 from floats of 2^31 and more, and
// returns all ones from 2^32 on.
func (e *expander) u32OfFloat(d, a vcode.Reg) {
	half := e.bits32(0x1p31)
	big := e.compared(amd64.VCMPPS, a, half, amd64.CmpOrderedGE)
	n := e.NewVec()
	e.Def(amd64.VCVTTPS2DQ, n.Y(), e.temp(amd64.VSUBPS, a, e.temp(amd64.VPAND, big, half)).Y())
	n = e.temp(amd64.VPXOR, n, e.shifted(amd64.VPSLLD, big, 31))
	e.op(amd64.VPOR, d, n, e.compared(amd64.VCMPPS, a, e.bits32(0x1p32), amd64.CmpNotLT))
}

// intOfDouble truncates 64-bit floats and extracts the 32-bit halves, each exact in the low bits of a float. Out of range it
// returns the results of the AVX-512 instructions: the minimum signed integer, or all ones for unsigned ones. To become unsigned,
// floats must not be negative.
func (e *expander) intOfDouble(d, a vcode.Reg, signed bool) {
	v := e.truncated(a)
	high := e.rounded(e.temp(amd64.VMULPD, v, e.bits64(0x1p-32)), 9)
	low := e.NewVec()
	e.Def(amd64.VMOVDQA, low.Y(), v.Y())
	e.Mod(amd64.VFNMADD231PD, low.Y(), high.Y(), e.bits64(0x1p32).Y()).Folds(2, 0)
	low = e.temp(amd64.VADDPD, low, e.bits64(0x1p52))
	above := e.bits64(0x1p52)
	if signed {
		above = e.bits64(0x1.8p52)
	}
	high = e.shifted(amd64.VPSLLQ, e.temp(amd64.VADDPD, high, above), 32)
	n := e.NewVec()
	e.Def(amd64.VPBLENDD, n.Y(), high.Y(), low.Y(), vcode.Imm(0x55)).Folds(2, 0)
	if !signed {
		e.op(amd64.VPOR, d, n, e.compared(amd64.VCMPPD, a, e.bits64(0x1p64), amd64.CmpNotLT))
		return
	}
	inside := e.temp(amd64.VPAND, e.compared(amd64.VCMPPD, a, e.bits64(0x1p63), amd64.CmpLT), e.compared(amd64.VCMPPD, a, e.bits64(-0x1p63), amd64.CmpOrderedGE))
	e.blend(d, e.Constant(1<<63, 8), n, inside)
}

// narrow1 expands the truncation of 32-bit elements to packed words, in a register or in memory, or to packed bytes in memory.
func (e *expander) narrow1(in *vcode.Inst) {
	size := 2
	if in.Op == amd64.VPMOVDB {
		size = 1
	}
	order := make([]byte, 32)
	for i := range order {
		order[i] = 0x80 // zero
		if n := i % 16; n < 4*size {
			order[i] = byte(n/size*4 + n%size)
		}
	}
	t := e.temp(amd64.VPSHUFB, in.Args[1].Reg, e.Pattern(order))
	to := &in.Args[0]
	switch {
	case size == 2 && to.Kind == vcode.ArgReg:
		e.Def(amd64.VPERMQ, to.Reg.Y(), t.Y(), vcode.Imm(0x08))
	case size == 2:
		w := e.NewVec()
		e.Def(amd64.VPERMQ, w.Y(), t.Y(), vcode.Imm(0x08))
		e.Use(amd64.VMOVUPS, in.Arg(0), w.X())
	case to.Kind == vcode.ArgMem:
		h, w := e.NewVec(), e.NewVec()
		e.Def(amd64.VEXTRACTI128, h.X(), t.Y(), vcode.Imm(1))
		e.Def(amd64.VPUNPCKLDQ, w.X(), t.X(), h.X())
		e.Use(amd64.VMOVQ, in.Arg(0), w.X())
	default:
		e.refuseOp(in)
	}
}
