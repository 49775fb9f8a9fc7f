package spmd

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// widen makes n registers of 64-bit elements from registers of 32-bit ones.
func (l *lowerer) widen(v []vr, op amd64.Op, n int) []vr {
	out := newRegs(l.fn, n)
	for i, d := range out {
		s := part(v, i/2)
		if e := l.regs[s].elem; i%2 == 0 || e == 4 || e == 8 {
			l.def(op, z(d), y(s))
			continue
		}
		h := l.vec()
		l.def(amd64.VEXTRACTI64X4, y(h), z(s), imm(1))
		l.def(op, z(d), y(h))
	}
	return out
}

// narrow makes registers of 32-bit elements from twice as many of 64-bit ones.
func (l *lowerer) narrow(v []vr, op amd64.Op, uniform bool) []vr {
	lower := func(r vr) vr {
		d := l.vec()
		l.def(op, y(d), z(r))
		return d
	}
	n := max(len(v)/2, 1)
	if uniform {
		n = 1
	}
	out := newRegs(l.fn, n)
	for i, d := range out {
		lo := lower(part(v, 2*i))
		hi := lo
		if len(v) > 1 {
			hi = lower(part(v, 2*i+1))
		}
		l.def(amd64.VINSERTI64X4, z(d), z(lo), y(hi), imm(1))
	}
	return out
}

// map1 makes a register from each of some.
func (l *lowerer) map1(v []vr, make func(d, a vr)) []vr {
	out := newRegs(l.fn, len(v))
	for i, d := range out {
		make(d, v[i])
	}
	return out
}

// convert emits Convert, Sat and Wrap.
func (l *lowerer) convert(in *ir.Instr) []vr {
	arg, r := in.Args[0], in.Result()
	from, to := arg.Type, r.Type
	if from == ir.Bool {
		return l.fromBool(in)
	}
	v := l.vector(arg)
	uniform := l.uniform(r)
	n := l.count(r)
	if !uniform && len(v) == 1 { // spread over the lanes anyhow
		full := make([]vr, l.regsOf(from))
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

// fromBool makes numbers of conditions: 1 where they are true.
func (l *lowerer) fromBool(in *ir.Instr) []vr {
	to := in.Type()
	e := to.Size()
	one := uint64(1)
	if to.IsFloat() {
		one = ir.FloatBits(to, 1)
	}
	c := l.constant(one, e)
	var masks []vr
	if l.uniform(in.Result()) {
		masks = []vr{l.maskOf(l.general(in.Args[0]))}
	} else {
		masks = l.condition(in.Args[0], nil)
	}
	out := newRegs(l.fn, l.count(in.Result()))
	for i, d := range out {
		m := l.partMask(masks, i, e)
		l.def(sized(e, amd64.VMOVDQA32, amd64.VMOVDQA64), z(d), z(c)).zeroed(m)
	}
	return out
}

func (l *lowerer) floatToFloat(v []vr, from, to ir.Type, n int, uniform bool) []vr {
	switch {
	case from == to:
		return v
	case to == ir.F64:
		return l.widen(v, amd64.VCVTPS2PD, n)
	}
	return l.narrow(v, amd64.VCVTPD2PS, uniform)
}

func (l *lowerer) intToFloat(v []vr, from, to ir.Type, n int, uniform bool) []vr {
	switch {
	case from.Size() == 4 && to == ir.F32:
		op := amd64.VCVTUDQ2PS
		if from.IsSigned() {
			op = amd64.VCVTDQ2PS
		}
		return l.map1(v, func(d, a vr) { l.def(op, z(d), z(a)).folds(1, 4) })
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
		return l.map1(v, func(d, a vr) { l.def(op, z(d), z(a)).folds(1, 8) })
	case from.IsSigned():
		return l.narrow(v, amd64.VCVTQQ2PS, uniform)
	}
	return l.narrow(v, amd64.VCVTUQQ2PS, uniform)
}

// saturate emits a conversion of floats that keeps to the range of the integer; NaN gives 0.
func (l *lowerer) saturate(v []vr, from, to ir.Type, n int, uniform bool) []vr {
	e := from.Size()
	if !to.IsSigned() {
		// Below zero, and NaN, to zero; the instructions give the greatest number beyond the range.
		zero := l.constant(0, e)
		v = l.map1(v, func(d, a vr) { l.op2(sized(e, amd64.VMAXPS, amd64.VMAXPD), d, a, zero, e) })
		switch {
		case e == 4 && to == ir.U32:
			return l.map1(v, func(d, a vr) { l.def(amd64.VCVTTPS2UDQ, z(d), z(a)).folds(1, 4) })
		case to == ir.U32:
			return l.narrow(v, amd64.VCVTTPD2UDQ, uniform)
		case e == 4:
			return l.widen(v, amd64.VCVTTPS2UQQ, n)
		}
		return l.map1(v, func(d, a vr) { l.def(amd64.VCVTTPD2UQQ, z(d), z(a)).folds(1, 8) })
	}
	// Beyond the range the instructions give the least number: right it above, and for NaN.
	fix := func(d, a vr, e, size int) {
		over, odd := l.mask(), l.mask()
		limit := l.constant(ir.FloatBits(floatOf(e), math.Ldexp(1, 8*size-1)), e)
		l.def(sized(e, amd64.VCMPPS, amd64.VCMPPD), k(over), z(a), z(limit), imm(13)).folds(2, e)
		l.unordered(odd, a, a, e)
		l.def(sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), z(d), z(d), z(l.constant(1<<(8*size-1)-1, size))).folds(2, size).mask = over
		l.def(sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), z(d), z(d), z(l.constant(0, size))).folds(2, size).mask = odd
	}
	switch {
	case e == 4 && to == ir.I32:
		return l.map1(v, func(d, a vr) {
			l.def(amd64.VCVTTPS2DQ, z(d), z(a)).folds(1, 4)
			fix(d, a, 4, 4)
		})
	case e == 4:
		v = l.widen(v, amd64.VCVTPS2PD, n)
		fallthrough
	case to == ir.I64:
		return l.map1(v, func(d, a vr) {
			l.def(amd64.VCVTTPD2QQ, z(d), z(a)).folds(1, 8)
			fix(d, a, 8, 8)
		})
	}
	wide := l.map1(v, func(d, a vr) {
		l.def(amd64.VCVTTPD2QQ, z(d), z(a)).folds(1, 8)
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

// wrapFloat emits a conversion of floats modulo the range of the integer; NaN and infinities give 0.
func (l *lowerer) wrapFloat(v []vr, from, to ir.Type, n int, uniform bool) []vr {
	wide := v
	if from == ir.F32 {
		m := 2 * len(v)
		if uniform {
			m = 1
		}
		wide = l.widen(v, amd64.VCVTPS2PD, m)
	}
	if from == ir.F32 && to.Size() == 4 {
		// Beyond 2^63 all of the low 32 bits are 0, as in what the instruction gives.
		wide = l.map1(wide, func(d, a vr) { l.def(amd64.VCVTTPD2QQ, z(d), z(a)).folds(1, 8) })
		return l.narrow(wide, amd64.VPMOVQD, uniform)
	}
	c := func(x float64) vr { return l.constant(ir.FloatBits(ir.F64, x), 8) }
	wide = l.map1(wide, func(d, a vr) {
		// Less whole multiples of 2^64, and once more so that it is within ±2^63: all exact.
		q, rest := l.vec(), l.vec()
		l.op2(amd64.VMULPD, q, a, c(math.Ldexp(1, -64)), 8)
		l.def(amd64.VRNDSCALEPD, z(q), z(q), imm(11))
		l.def(amd64.VMOVDQA64, z(rest), z(a))
		l.mod(amd64.VFNMADD231PD, z(rest), z(q), z(c(math.Ldexp(1, 64)))).folds(2, 8)
		over, under, finite := l.mask(), l.mask(), l.mask()
		l.def(amd64.VCMPPD, k(over), z(rest), z(c(math.Ldexp(1, 63))), imm(13)).folds(2, 8)
		l.def(amd64.VCMPPD, k(under), z(rest), z(c(-math.Ldexp(1, 63))), imm(1)).folds(2, 8)
		l.def(amd64.VSUBPD, z(rest), z(rest), z(c(math.Ldexp(1, 64)))).folds(2, 8).under(over)
		l.def(amd64.VADDPD, z(rest), z(rest), z(c(math.Ldexp(1, 64)))).folds(2, 8).under(under)
		size := l.vec()
		l.op2(amd64.VPANDQ, size, a, l.constant(math.MaxInt64, 8), 8)
		l.def(amd64.VCMPPD, k(finite), z(size), z(c(math.Inf(1))), imm(1)).folds(2, 8)
		l.def(amd64.VCVTTPD2QQ, z(d), z(rest)).zeroed(finite)
	})
	if to.Size() == 8 {
		return wide
	}
	return l.narrow(wide, amd64.VPMOVQD, uniform)
}

// quantize emits floats rounded to values of a narrower type; canonical says that no NaN has other bits than the canonical
// one.
func (l *lowerer) quantize(t ir.Type, d, a vr, canonical bool) {
	if t == ir.F16 {
		h := l.vec()
		if !canonical {
			c := l.vec()
			l.canonicalize(c, a, 4, false)
			a = c
		}
		l.def(amd64.VCVTPS2PH, y(h), z(a), imm(0))
		l.def(amd64.VCVTPH2PS, z(d), y(h))
		return
	}
	b := l.brain(a, canonical)
	l.op2(amd64.VPANDD, d, b, l.constant(0xffff0000, 4), 4)
}

// brain rounds floats to bfloat16, which is then the upper half of each element. Rounding changes other NaNs than the
// canonical one to anything.
func (l *lowerer) brain(a vr, canonical bool) vr {
	t, d := l.vec(), l.vec()
	l.def(amd64.VPSRLD, z(t), z(a), imm(16))
	l.op2(amd64.VPANDD, t, t, l.constant(1, 4), 4)
	l.op2(amd64.VPADDD, d, a, t, 4)
	l.op2(amd64.VPADDD, d, d, l.constant(0x7fff, 4), 4)
	if canonical {
		return d
	}
	odd := l.mask()
	l.unordered(odd, a, a, 4)
	l.def(amd64.VPBLENDMD, z(d), z(d), z(l.constant(uint64(ir.NaN32), 4))).folds(2, 4).mask = odd
	return d
}

// divide emits quotients and remainders of integers.
func (l *lowerer) divide(in *ir.Instr) []vr {
	t := in.Type()
	divisor := l.vector(in.Args[1])
	zeros := l.checkDivisor(in, divisor)
	if t.Size() == 8 {
		return l.byTrap(in)
	}
	// The quotient of doubles truncates to the right one; of the least number by −1 it wraps.
	widen, back := amd64.VCVTUDQ2PD, amd64.VCVTTPD2UDQ
	if t.IsSigned() {
		widen, back = amd64.VCVTDQ2PD, amd64.VCVTTPD2DQ
	}
	n := l.count(in.Result())
	m := 2 * n
	if n == 1 && l.uniform(in.Result()) {
		m = 1
	}
	a := l.vector(in.Args[0])
	wa, wb := l.widen(a, widen, m), l.widen(divisor, widen, m)
	q := newRegs(l.fn, m)
	for i, d := range q {
		l.op2(amd64.VDIVPD, d, wa[i], wb[i], 8)
	}
	out := l.narrow(q, back, m == 1)
	for i, d := range out {
		if in.Op == ir.Rem {
			p := l.vec()
			l.op2(amd64.VPMULLD, p, d, part(divisor, i), 4)
			l.op2(amd64.VPSUBD, d, part(a, i), p, 4)
		}
		if zeros != nil {
			l.def(amd64.VPBLENDMD, z(d), z(d), z(l.constant(0, 4))).folds(2, 4).mask = part(zeros, i)
		}
	}
	return out
}
