package values

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

var scalarOps = later.Value[map[ir.Op]amd64.Op]{Make: func() map[ir.Op]amd64.Op {
	return map[ir.Op]amd64.Op{ir.Add: amd64.ADD, ir.Sub: amd64.SUB, ir.Mul: amd64.IMUL, ir.And: amd64.AND,
		ir.Or: amd64.OR, ir.Xor: amd64.XOR}
}}

// scalar emits an operation on uniform integers in general purpose registers, and returns the register of the result. It returns
// false if an operand is a float or there is no code for the operation.
func (l *Lowering) scalar(in *ir.Instr) (vcode.Reg, bool) {
	t := in.Type()
	size := t.Size()
	for _, a := range in.Args {
		if a.Type.IsFloat() {
			return 0, false
		}
	}
	d := l.NewGPR()
	copyTo := func(a vcode.Reg) { l.Def(amd64.MOV, d.G8(), a.G8()) }
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor:
		x, y := in.Args[0], in.Args[1]
		if _, ok := plan.SmallConst(x); ok && lanes.Commutes(in.Op) {
			x, y = y, x
		}
		a := l.General(x)
		if c, ok := plan.SmallConst(y); ok {
			if in.Op == ir.Mul {
				l.Def(amd64.IMUL, d.G(size), a.G(size), vcode.Imm(c))
				return d, true
			}
			copyTo(a)
			l.Mod(scalarOps.Get()[in.Op], d.G(size), vcode.Imm(c))
			return d, true
		}
		b := l.General(y)
		copyTo(a)
		l.Mod(scalarOps.Get()[in.Op], d.G(size), b.G(size))
	case ir.Neg, ir.Not:
		copyTo(l.General(in.Args[0]))
		op := amd64.NEG
		if in.Op == ir.Not {
			op = amd64.NOT
		}
		l.Mod(op, d.G(size))
	case ir.Shl, ir.Shr:
		a := l.General(in.Args[0])
		ops := [3]amd64.Op{amd64.SHL, amd64.SHR, amd64.SAR}
		vars := [3]amd64.Op{amd64.SHLX, amd64.SHRX, amd64.SARX}
		i := 0
		if in.Op == ir.Shr {
			i = 1
			if t.IsSigned() {
				i = 2
			}
		}
		if c, ok := plan.SmallConst(in.Args[1]); ok {
			copyTo(a)
			if c &= int64(8*size - 1); c != 0 {
				l.Mod(ops[i], d.G(size), vcode.Imm(c))
			}
			return d, true
		}
		l.Def(vars[i], d.G(size), a.G(size), l.General(in.Args[1]).G(size))
	case ir.Min, ir.Max:
		a, b := l.General(in.Args[0]), l.General(in.Args[1])
		copyTo(a)
		l.Use(amd64.CMP, b.G(size), a.G(size))
		op := amd64.CMOVL
		switch {
		case in.Op == ir.Max && t.IsSigned():
			op = amd64.CMOVG
		case in.Op == ir.Max:
			op = amd64.CMOVA
		case !t.IsSigned():
			op = amd64.CMOVB
		}
		l.Mod(op, d.G(size), b.G(size))
	case ir.Select:
		c, yes, no := l.General(in.Args[0]), l.General(in.Args[1]), l.General(in.Args[2])
		copyTo(no)
		l.Use(amd64.TEST, c.G4(), c.G4())
		l.Mod(amd64.CMOVNE, d.G8(), yes.G8())
	case ir.Bitcast:
		return l.General(in.Args[0]), true
	case ir.Convert, ir.Wrap:
		from := in.Args[0].Type
		a := l.General(in.Args[0])
		switch {
		case size == 8 && from == ir.I32:
			l.Def(amd64.MOVSXD, d.G8(), a.G4())
		case size <= from.Size() && from != ir.Bool:
			return a, true
		default:
			l.Def(amd64.MOV, d.G4(), a.G4()) // writing 32 bits clears the upper half
		}
	default:
		return 0, false
	}
	return d, true
}
