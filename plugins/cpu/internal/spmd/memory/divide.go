package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Evaluate emits an operation on values, with the checks or the trap that it needs.
func (l *Active) Evaluate(in *ir.Instr) {
	switch {
	case !values.NeedsTrap(in):
		l.Compute(in, l.Cur)
	case in.Type().IsInt() && in.Op != ir.MulHi:
		l.SetVectors(in.Result(), l.divide(in))
	default:
		l.SetVectors(in.Result(), l.byTrap(in))
	}
}

// divide emits quotients and remainders of integers, after the check of the divisor. Those of 64 bits are computed by a trap.
// Constant divisors take the same path: package opt has replaced only divisions by one, and those of unsigned integers by
// powers of two.
func (l *Active) divide(in *ir.Instr) []vcode.Reg {
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
