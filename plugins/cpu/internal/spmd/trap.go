package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// trapHere emits a trap.
func (l *lowerer) trapHere(t vcode.Trap) {
	t.X, t.End, t.Lanes = l.item.x, l.end, l.gang()
	if t.X != 0 {
		t.Uses = append(t.Uses, t.X)
	}
	for _, a := range t.Args {
		t.Uses = append(t.Uses, a...)
	}
	t.Uses = append(t.Uses, t.Mask...)
	t.Defs = t.Results
	l.Trap(t)
}

// trapOut emits a trap after which the gang ends.
func (l *lowerer) trapOut(t vcode.Trap) {
	l.trapHere(t)
	l.Jump(amd64.JMP, l.end)
}

// operands gives values as traps take them.
func (l *lowerer) operands(args []*ir.Value) (regs [][]vcode.Reg, types []ir.Type) {
	for _, a := range args {
		types = append(types, a.Type)
		switch {
		case l.uniform(a) && !a.Type.IsFloat():
			regs = append(regs, []vcode.Reg{l.general(a)})
		case a.Type == ir.Bool:
			regs = append(regs, l.condition(a, nil))
		default:
			regs = append(regs, l.vector(a))
		}
	}
	return regs, types
}

// byTrap emits an operation that Go computes lane by lane.
func (l *lowerer) byTrap(in *ir.Instr) []vcode.Reg {
	args, types := l.operands(in.Args)
	out := vcode.NewVecs(l.Func, l.count(in.Result()))
	l.trapHere(vcode.Trap{Kind: vcode.TrapEval, In: in, Args: args, Types: types, Mask: l.cur, Results: out, Uniform: l.uniform(in.Result())})
	return out
}

// checkDivisor makes lanes whose divisor is zero fault; with faults off it gives their masks.
func (l *lowerer) checkDivisor(in *ir.Instr, divisor []vcode.Reg) []vcode.Reg {
	if in.Proved&ir.ProvedDivisor != 0 {
		return nil
	}
	e := in.Type().Size()
	n := l.w
	if len(divisor) == 1 {
		n = 1
	}
	zeros := l.NewMasks(n)
	for i, d := range zeros {
		var m vcode.Reg
		if n == l.w && l.cur != nil && !l.options.Unchecked { // one that all lanes have concerns any of them
			m = l.cur[i]
		}
		if e == 4 {
			l.Def(amd64.VPTESTNMD, d.K(), divisor[i].Z(), divisor[i].Z()).Mask = m
			continue
		}
		lo, hi := l.NewMask(), l.NewMask()
		l.Def(amd64.VPTESTNMQ, lo.K(), vcode.Part(divisor, 2*i).Z(), vcode.Part(divisor, 2*i).Z())
		l.Def(amd64.VPTESTNMQ, hi.K(), vcode.Part(divisor, 2*i+1).Z(), vcode.Part(divisor, 2*i+1).Z())
		l.join(d, lo, hi)
		if m != 0 {
			l.Def(amd64.KANDW, d.K(), d.K(), m.K())
		}
	}
	if l.options.Unchecked {
		return zeros
	}
	bad := l.NewLabel()
	l.branchSome(zeros, bad)
	all := zeros
	l.Cold(func() {
		l.Bind(bad)
		if n < l.w { // the same in all lanes
			all = l.cur
		}
		l.trapOut(vcode.Trap{Kind: vcode.TrapZero, In: in, Mask: all})
	})
	return nil
}

// service emits a Print, Assert or Call.
func (l *lowerer) service(in *ir.Instr) {
	switch in.Op {
	case ir.Print:
		args, types := l.operands(in.Args)
		l.trapHere(vcode.Trap{Kind: vcode.TrapPrint, In: in, Args: args, Types: types, Mask: l.cur})
	case ir.Call:
		args, types := l.operands(in.Args)
		var val value
		if r := in.Result(); r != nil {
			val = l.variable(r)
		}
		l.trapHere(vcode.Trap{Kind: vcode.TrapCall, In: in, Args: args, Types: types, Mask: l.cur, Results: val.regs()})
		if r := in.Result(); r != nil {
			l.set(r, val)
		}
	case ir.Assert:
		l.assert(in)
	}
}

// assert emits an Assert.
func (l *lowerer) assert(in *ir.Instr) {
	if l.options.Unchecked {
		return
	}
	ok := l.condition(in.Args[0], nil)
	bad := l.NewMasks(l.w)
	for i, d := range bad {
		if l.cur == nil {
			l.Def(amd64.KNOTW, d.K(), ok[i].K())
		} else {
			l.Def(amd64.KANDNW, d.K(), ok[i].K(), l.cur[i].K())
		}
	}
	args, types := l.operands(in.Args[1:])
	slow := l.NewLabel()
	l.branchSome(bad, slow)
	l.Cold(func() {
		l.Bind(slow)
		l.trapOut(vcode.Trap{Kind: vcode.TrapAssert, In: in, Args: args, Types: types, Mask: bad})
	})
}
