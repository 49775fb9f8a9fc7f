package isel

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// widen emits conversions of 32-bit elements to n registers of 64-bit elements.
func (l *Lowerer) widen(v []vcode.Reg, op amd64.Op, n int) []vcode.Reg {
	out := vcode.NewVecs(l.Func, n)
	for i, d := range out {
		s := vcode.Part(v, i/2)
		if e := l.Regs[s].Elem; i%2 == 0 || e == 4 || e == 8 {
			l.Def(op, d.Z(), s.Y())
			continue
		}
		h := l.NewVec()
		l.Def(amd64.VEXTRACTI64X4, h.Y(), s.Z(), vcode.Imm(1))
		l.Def(op, d.Z(), h.Y())
	}
	return out
}

// narrow emits conversions of 64-bit elements to half as many registers of 32-bit elements.
func (l *Lowerer) narrow(v []vcode.Reg, op amd64.Op, uniform bool) []vcode.Reg {
	lower := func(r vcode.Reg) vcode.Reg {
		d := l.NewVec()
		l.Def(op, d.Y(), r.Z())
		return d
	}
	n := max(len(v)/2, 1)
	if uniform {
		n = 1
	}
	out := vcode.NewVecs(l.Func, n)
	for i, d := range out {
		lo := lower(vcode.Part(v, 2*i))
		hi := lo
		if len(v) > 1 {
			hi = lower(vcode.Part(v, 2*i+1))
		}
		l.Def(amd64.VINSERTI64X4, d.Z(), lo.Z(), hi.Y(), vcode.Imm(1))
	}
	return out
}

// map1 returns a new register for each register of a list.
func (l *Lowerer) map1(v []vcode.Reg, make func(d, a vcode.Reg)) []vcode.Reg {
	out := vcode.NewVecs(l.Func, len(v))
	for i, d := range out {
		make(d, v[i])
	}
	return out
}

// convert emits Convert, Sat and Wrap.
func (l *Lowerer) convert(in *ir.Instr) []vcode.Reg {
	arg, r := in.Args[0], in.Result()
	from, to := arg.Type, r.Type
	if from == ir.Bool {
		return l.fromBool(in)
	}
	v := l.Vector(arg)
	uniform := l.IsUniform(r)
	n := l.NumVectors(r)
	if !uniform && len(v) == 1 { // broadcast in any case
		full := make([]vcode.Reg, l.VectorsOf(from))
		for i := range full {
			full[i] = v[0]
		}
		v = full
	}
	switch {
	case from.IsFloat() && to.IsFloat():
		return l.floatToFloat(v, from, to, n, uniform)
	case to.IsFloat():
		return l.intToFloat(v, from, to, n, uniform)
	case from.IsFloat() && in.Op == ir.Sat:
		return l.saturate(v, from, to, n, uniform)
	case from.IsFloat():
		return l.wrapFloat(v, from, to, n, uniform)
	case to.Size() == from.Size():
		return v
	case to.Size() == 8 && from.IsSigned():
		return l.widen(v, amd64.VPMOVSXDQ, n)
	case to.Size() == 8:
		return l.widen(v, amd64.VPMOVZXDQ, n)
	}
	return l.narrow(v, amd64.VPMOVQD, uniform)
}

// fromBool emits the conversion of a condition to the number 1 or 0.
func (l *Lowerer) fromBool(in *ir.Instr) []vcode.Reg {
	to := in.Type()
	e := to.Size()
	one := uint64(1)
	if to.IsFloat() {
		one = ir.FloatBits(to, 1)
	}
	c := l.Constant(one, e)
	var masks []vcode.Reg
	if l.IsUniform(in.Result()) {
		masks = []vcode.Reg{l.maskOf(l.General(in.Args[0]))}
	} else {
		masks = l.condition(in.Args[0], nil)
	}
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	for i, d := range out {
		m := l.PartMask(masks, i, e)
		l.Def(Sized(e, amd64.VMOVDQA32, amd64.VMOVDQA64), d.Z(), c.Z()).Zeroed(m)
	}
	return out
}

func (l *Lowerer) floatToFloat(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	switch {
	case from == to:
		return v
	case to == ir.F64:
		return l.widen(v, amd64.VCVTPS2PD, n)
	}
	return l.narrow(v, amd64.VCVTPD2PS, uniform)
}

func (l *Lowerer) intToFloat(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	switch {
	case from.Size() == 4 && to == ir.F32:
		op := amd64.VCVTUDQ2PS
		if from.IsSigned() {
			op = amd64.VCVTDQ2PS
		}
		return l.map1(v, func(d, a vcode.Reg) { l.Def(op, d.Z(), a.Z()).Folds(1, 4) })
	case from.Size() == 4:
		if from.IsSigned() {
			return l.widen(v, amd64.VCVTDQ2PD, n)
		}
		return l.widen(v, amd64.VCVTUDQ2PD, n)
	case to == ir.F64:
		op := amd64.VCVTUQQ2PD
		if from.IsSigned() {
			op = amd64.VCVTQQ2PD
		}
		return l.map1(v, func(d, a vcode.Reg) { l.Def(op, d.Z(), a.Z()).Folds(1, 8) })
	case from.IsSigned():
		return l.narrow(v, amd64.VCVTQQ2PS, uniform)
	}
	return l.narrow(v, amd64.VCVTUQQ2PS, uniform)
}

// saturate emits a conversion of floats to integers that clamps to the range of the integer. NaN becomes 0.
func (l *Lowerer) saturate(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	e := from.Size()
	if !to.IsSigned() {
		// Negative numbers and NaN become zero. Above the range, the instructions return the maximum.
		zero := l.Constant(0, e)
		v = l.map1(v, func(d, a vcode.Reg) { l.Op2(Sized(e, amd64.VMAXPS, amd64.VMAXPD), d, a, zero, e) })
		switch {
		case e == 4 && to == ir.U32:
			return l.map1(v, func(d, a vcode.Reg) { l.Def(amd64.VCVTTPS2UDQ, d.Z(), a.Z()).Folds(1, 4) })
		case to == ir.U32:
			return l.narrow(v, amd64.VCVTTPD2UDQ, uniform)
		case e == 4:
			return l.widen(v, amd64.VCVTTPS2UQQ, n)
		}
		return l.map1(v, func(d, a vcode.Reg) { l.Def(amd64.VCVTTPD2UQQ, d.Z(), a.Z()).Folds(1, 8) })
	}
	// Out of range, the instructions return the minimum, which is wrong above the range and for NaN.
	fix := func(d, a vcode.Reg, e, size int) {
		over, odd := l.NewMask(), l.NewMask()
		limit := l.Constant(ir.FloatBits(floatOf(e), math.Ldexp(1, 8*size-1)), e)
		l.Def(Sized(e, amd64.VCMPPS, amd64.VCMPPD), over.K(), a.Z(), limit.Z(), vcode.Cmp(amd64.CmpOrderedGE)).Folds(2, e)
		l.unordered(odd, a, a, e)
		l.Def(Sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), d.Z(), l.Constant(1<<(8*size-1)-1, size).Z()).Folds(2, size).Mask = over
		l.Def(Sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), d.Z(), l.Constant(0, size).Z()).Folds(2, size).Mask = odd
	}
	switch {
	case e == 4 && to == ir.I32:
		return l.map1(v, func(d, a vcode.Reg) {
			l.Def(amd64.VCVTTPS2DQ, d.Z(), a.Z()).Folds(1, 4)
			fix(d, a, 4, 4)
		})
	case e == 4:
		v = l.widen(v, amd64.VCVTPS2PD, n)
		fallthrough
	case to == ir.I64:
		return l.map1(v, func(d, a vcode.Reg) {
			l.Def(amd64.VCVTTPD2QQ, d.Z(), a.Z()).Folds(1, 8)
			fix(d, a, 8, 8)
		})
	}
	wide := l.map1(v, func(d, a vcode.Reg) {
		l.Def(amd64.VCVTTPD2QQ, d.Z(), a.Z()).Folds(1, 8)
		fix(d, a, 8, 8)
	})
	return l.narrow(wide, amd64.VPMOVSQD, uniform)
}

func floatOf(size int) ir.Type {
	if size == 8 {
		return ir.F64
	}
	return ir.F32
}

// wrapFloat emits a conversion of floats modulo the range of the integer. NaN and infinities become 0.
func (l *Lowerer) wrapFloat(v []vcode.Reg, from, to ir.Type, n int, uniform bool) []vcode.Reg {
	wide := v
	if from == ir.F32 {
		m := 2 * len(v)
		if uniform {
			m = 1
		}
		wide = l.widen(v, amd64.VCVTPS2PD, m)
	}
	if from == ir.F32 && to.Size() == 4 {
		// Beyond 2^63 the low 32 bits are 0, as in the result of the instruction.
		wide = l.map1(wide, func(d, a vcode.Reg) { l.Def(amd64.VCVTTPD2QQ, d.Z(), a.Z()).Folds(1, 8) })
		return l.narrow(wide, amd64.VPMOVQD, uniform)
	}
	c := func(x float64) vcode.Reg { return l.Constant(ir.FloatBits(ir.F64, x), 8) }
	wide = l.map1(wide, func(d, a vcode.Reg) {
		// Subtract multiples of 2^64, then once more for a result within ±2^63. All steps are exact.
		q, rest := l.NewVec(), l.NewVec()
		l.Op2(amd64.VMULPD, q, a, c(math.Ldexp(1, -64)), 8)
		l.Def(amd64.VRNDSCALEPD, q.Z(), q.Z(), vcode.Imm(11))
		l.Def(amd64.VMOVDQA64, rest.Z(), a.Z())
		l.Mod(amd64.VFNMADD231PD, rest.Z(), q.Z(), c(math.Ldexp(1, 64)).Z()).Folds(2, 8)
		over, under, finite := l.NewMask(), l.NewMask(), l.NewMask()
		l.Def(amd64.VCMPPD, over.K(), rest.Z(), c(math.Ldexp(1, 63)).Z(), vcode.Cmp(amd64.CmpOrderedGE)).Folds(2, 8)
		l.Def(amd64.VCMPPD, under.K(), rest.Z(), c(-math.Ldexp(1, 63)).Z(), vcode.Cmp(amd64.CmpLT)).Folds(2, 8)
		l.Def(amd64.VSUBPD, rest.Z(), rest.Z(), c(math.Ldexp(1, 64)).Z()).Folds(2, 8).Under(over)
		l.Def(amd64.VADDPD, rest.Z(), rest.Z(), c(math.Ldexp(1, 64)).Z()).Folds(2, 8).Under(under)
		size := l.NewVec()
		l.Op2(amd64.VPANDQ, size, a, l.Constant(math.MaxInt64, 8), 8)
		l.Def(amd64.VCMPPD, finite.K(), size.Z(), c(math.Inf(1)).Z(), vcode.Cmp(amd64.CmpLT)).Folds(2, 8)
		l.Def(amd64.VCVTTPD2QQ, d.Z(), rest.Z()).Zeroed(finite)
	})
	if to.Size() == 8 {
		return wide
	}
	return l.narrow(wide, amd64.VPMOVQD, uniform)
}

// quantize emits floats rounded to values of a narrower type. canonical means that each NaN is the canonical one.
func (l *Lowerer) quantize(t ir.Type, d, a vcode.Reg, canonical bool) {
	if t == ir.F16 {
		h := l.NewVec()
		if !canonical {
			c := l.NewVec()
			l.canonicalize(c, a, 4, false)
			a = c
		}
		l.Def(amd64.VCVTPS2PH, h.Y(), a.Z(), vcode.Imm(0))
		l.Def(amd64.VCVTPH2PS, d.Z(), h.Y())
		return
	}
	b := l.brain(a, canonical)
	l.Op2(amd64.VPANDD, d, b, l.Constant(0xffff0000, 4), 4)
}

// brain emits floats rounded to bfloat16, which is then the upper half of each element. Rounding changes NaNs other than
// the canonical one arbitrarily.
func (l *Lowerer) brain(a vcode.Reg, canonical bool) vcode.Reg {
	t, d := l.NewVec(), l.NewVec()
	l.Def(amd64.VPSRLD, t.Z(), a.Z(), vcode.Imm(16))
	l.Op2(amd64.VPANDD, t, t, l.Constant(1, 4), 4)
	l.Op2(amd64.VPADDD, d, a, t, 4)
	l.Op2(amd64.VPADDD, d, d, l.Constant(0x7fff, 4), 4)
	if canonical {
		return d
	}
	odd := l.NewMask()
	l.unordered(odd, a, a, 4)
	l.Def(amd64.VPBLENDMD, d.Z(), d.Z(), l.Constant(uint64(ir.NaN32), 4).Z()).Folds(2, 4).Mask = odd
	return d
}

// divide emits quotients and remainders of integers.
func (l *Lowerer) divide(in *ir.Instr) []vcode.Reg {
	t := in.Type()
	divisor := l.Vector(in.Args[1])
	zeros := l.checkDivisor(in, divisor)
	if t.Size() == 8 {
		return l.byTrap(in)
	}
	// Quotients of doubles truncate to the exact quotient. The quotient of the minimum and −1 wraps.
	widen, back := amd64.VCVTUDQ2PD, amd64.VCVTTPD2UDQ
	if t.IsSigned() {
		widen, back = amd64.VCVTDQ2PD, amd64.VCVTTPD2DQ
	}
	n := l.NumVectors(in.Result())
	m := 2 * n
	if n == 1 && l.IsUniform(in.Result()) {
		m = 1
	}
	a := l.Vector(in.Args[0])
	wa, wb := l.widen(a, widen, m), l.widen(divisor, widen, m)
	q := vcode.NewVecs(l.Func, m)
	for i, d := range q {
		l.Op2(amd64.VDIVPD, d, wa[i], wb[i], 8)
	}
	out := l.narrow(q, back, m == 1)
	for i, d := range out {
		if in.Op == ir.Rem {
			p := l.NewVec()
			l.Op2(amd64.VPMULLD, p, d, vcode.Part(divisor, i), 4)
			l.Op2(amd64.VPSUBD, d, vcode.Part(a, i), p, 4)
		}
		if zeros != nil {
			l.Def(amd64.VPBLENDMD, d.Z(), d.Z(), l.Constant(0, 4).Z()).Folds(2, 4).Mask = vcode.Part(zeros, i)
		}
	}
	return out
}
