package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// TrapHere emits a trap of the current gang. It sets the position, the end and the lanes of the gang, and the registers that the trap
// reads and writes.
func (l *Active) TrapHere(t vcode.Trap) {
	t.X, t.End, t.Lanes = l.Item.X, l.End, l.Lanes()
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
func (l *Active) trapOut(t vcode.Trap) {
	l.TrapHere(t)
	l.Jump(amd64.JMP, l.End)
}

// byTrap emits an operation that Go computes lane by lane.
func (l *Active) byTrap(in *ir.Instr) []vcode.Reg {
	args, types := l.Operands(in.Args)
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	l.TrapHere(vcode.Trap{Kind: vcode.TrapEval, In: in, Args: args, Types: types, Mask: l.Cur, Results: out, Uniform: l.IsUniform(in.Result())})
	return out
}

// checkDivisor emits a fault for lanes with a zero divisor, and returns nil. In unchecked code it returns the masks of these lanes
// instead. If the divisor is proved not to be zero, it emits nothing and returns nil.
func (l *Active) checkDivisor(in *ir.Instr, divisor []vcode.Reg) []vcode.Reg {
	if in.Proved&ir.ProvedDivisor != 0 {
		return nil
	}
	e := in.Type().Size()
	n := l.GangRegs
	if len(divisor) == 1 {
		n = 1
	}
	zeros := l.NewMasks(n)
	for i, d := range zeros {
		var m vcode.Reg
		if n == l.GangRegs && l.Cur != nil && !l.Options.Unchecked { // a zero uniform divisor is a fault of all active lanes
			m = l.Cur[i]
		}
		if e == 4 {
			l.Def(amd64.VPTESTNMD, d.K(), divisor[i].Z(), divisor[i].Z()).Mask = m
			continue
		}
		lo, hi := l.NewMask(), l.NewMask()
		l.Def(amd64.VPTESTNMQ, lo.K(), vcode.Part(divisor, 2*i).Z(), vcode.Part(divisor, 2*i).Z())
		l.Def(amd64.VPTESTNMQ, hi.K(), vcode.Part(divisor, 2*i+1).Z(), vcode.Part(divisor, 2*i+1).Z())
		l.Join(d, lo, hi)
		if m != 0 {
			l.Def(amd64.KANDW, d.K(), d.K(), m.K())
		}
	}
	if l.Options.Unchecked {
		return zeros
	}
	bad := l.NewLabel()
	l.BranchSome(zeros, bad)
	all := zeros
	l.Cold(func() {
		l.Bind(bad)
		if n < l.GangRegs { // uniform
			all = l.Cur
		}
		l.trapOut(vcode.Trap{Kind: vcode.TrapZero, In: in, Mask: all})
	})
	return nil
}

// Service emits a Print, Assert, Call or Clock.
func (l *Active) Service(in *ir.Instr) {
	switch in.Op {
	case ir.Print:
		args, types := l.Operands(in.Args)
		l.TrapHere(vcode.Trap{Kind: vcode.TrapPrint, In: in, Args: args, Types: types, Mask: l.Cur})
	case ir.Call:
		args, types := l.Operands(in.Args)
		var val values.Value
		if r := in.Result(); r != nil {
			val = l.Variable(r)
		}
		l.TrapHere(vcode.Trap{Kind: vcode.TrapCall, In: in, Args: args, Types: types, Mask: l.Cur, Results: val.Regs()})
		if r := in.Result(); r != nil {
			l.Set(r, val)
		}
	case ir.Clock:
		val := l.Variable(in.Result())
		l.TrapHere(vcode.Trap{Kind: vcode.TrapClock, In: in, Mask: l.Cur, Results: val.Regs()})
		l.Set(in.Result(), val)
	case ir.Assert:
		l.assert(in)
	}
}

// assert emits an Assert, or nothing in unchecked code.
func (l *Active) assert(in *ir.Instr) {
	if l.Options.Unchecked {
		return
	}
	ok := l.Condition(in.Args[0], nil)
	bad := l.NewMasks(l.GangRegs)
	for i, d := range bad {
		if l.Cur == nil {
			l.Def(amd64.KNOTW, d.K(), ok[i].K())
		} else {
			l.Def(amd64.KANDNW, d.K(), ok[i].K(), l.Cur[i].K())
		}
	}
	args, types := l.Operands(in.Args[1:])
	slow := l.NewLabel()
	l.BranchSome(bad, slow)
	l.Cold(func() {
		l.Bind(slow)
		l.trapOut(vcode.Trap{Kind: vcode.TrapAssert, In: in, Args: args, Types: types, Mask: bad})
	})
}
