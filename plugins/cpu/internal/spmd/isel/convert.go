package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

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
	return l.Convert(v, from, to, in.Op == ir.Sat, n, uniform)
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
		masks = []vcode.Reg{l.MaskOf(l.General(in.Args[0]))}
	} else {
		masks = l.condition(in.Args[0], nil)
	}
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	for i, d := range out {
		m := l.PartMask(masks, i, e)
		l.Def(lanes.Sized(e, amd64.VMOVDQA32, amd64.VMOVDQA64), d.Z(), c.Z()).Zeroed(m)
	}
	return out
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
	wa, wb := l.Widen(a, widen, m), l.Widen(divisor, widen, m)
	q := vcode.NewVecs(l.Func, m)
	for i, d := range q {
		l.Op2(amd64.VDIVPD, d, wa[i], wb[i], 8)
	}
	out := l.Narrow(q, back, m == 1)
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
