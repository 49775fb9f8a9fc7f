package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

type trapKind uint8

const (
	trapBounds trapKind = iota // args[0] is the index
	trapZero                   // an integer division by zero
	trapAssert                 // args are those of the instruction but the first
	trapEval                   // computes results
	trapPrint
	trapCall
	trapGroup // all gangs have come to a group operation
)

// trap is a place where the code returns to Go.
type trap struct {
	kind    trapKind
	in      *ir.Instr
	axis    int
	args    [][]vr // uniform integers in general registers, others in vectors or masks
	types   []ir.Type
	mask    []vr // lanes; nil if all
	lanes   int  // of the gang
	results []vr
	uniform bool // the result is one vector of equal elements
	x       vr   // position of lane 0
	end     amd64.Label

	uses, defs []vr
}

// unshare gives the trap lists of its own: it may have them in common with others.
func (t *trap) unshare() {
	n := len(t.uses) + len(t.defs) + len(t.mask) + len(t.results)
	for _, list := range t.args {
		n += len(list)
	}
	room := make([]vr, 0, n)
	own := func(list []vr) []vr {
		if list == nil {
			return nil
		}
		n := len(room)
		room = append(room, list...)
		return room[n:len(room):len(room)]
	}
	t.uses, t.defs, t.mask, t.results = own(t.uses), own(t.defs), own(t.mask), own(t.results)
	t.args = slices.Clone(t.args)
	for i := range t.args {
		t.args[i] = own(t.args[i])
	}
}

// rename replaces the registers in the operands that the host looks up; uses and defs have them, too.
func (t *trap) rename(to func(*vr)) {
	all := func(list []vr) {
		for n := range list {
			to(&list[n])
		}
	}
	if t.x != 0 {
		to(&t.x)
	}
	all(t.mask)
	all(t.results)
	for _, list := range t.args {
		all(list)
	}
}

// trapHere emits a trap.
func (l *lowerer) trapHere(t trap) {
	t.x, t.end, t.lanes = l.item.x, l.end, l.gang()
	if t.x != 0 {
		t.uses = append(t.uses, t.x)
	}
	for _, a := range t.args {
		t.uses = append(t.uses, a...)
	}
	t.uses = append(t.uses, t.mask...)
	t.defs = t.results
	l.traps = append(l.traps, t)
	l.add(inst{kind: kindTrap, x: int32(len(l.traps) - 1), fold: -1})
}

// trapOut emits a trap after which the gang ends.
func (l *lowerer) trapOut(t trap) {
	l.trapHere(t)
	l.jump(amd64.JMP, l.end)
}

// operands gives values as traps take them.
func (l *lowerer) operands(args []*ir.Value) (regs [][]vr, types []ir.Type) {
	for _, a := range args {
		types = append(types, a.Type)
		switch {
		case l.uniform(a) && !a.Type.IsFloat():
			regs = append(regs, []vr{l.general(a)})
		case a.Type == ir.Bool:
			regs = append(regs, l.condition(a, nil))
		default:
			regs = append(regs, l.vector(a))
		}
	}
	return regs, types
}

// byTrap emits an operation that Go computes lane by lane.
func (l *lowerer) byTrap(in *ir.Instr) []vr {
	args, types := l.operands(in.Args)
	out := newRegs(l.fn, l.count(in.Result()))
	l.trapHere(trap{kind: trapEval, in: in, args: args, types: types, mask: l.cur, results: out, uniform: l.uniform(in.Result())})
	return out
}

// checkDivisor makes lanes whose divisor is zero fault; with faults off it gives their masks.
func (l *lowerer) checkDivisor(in *ir.Instr, divisor []vr) []vr {
	if in.Proved&ir.ProvedDivisor != 0 {
		return nil
	}
	e := in.Type().Size()
	n := l.w
	if len(divisor) == 1 {
		n = 1
	}
	zeros := l.masks(n)
	for i, d := range zeros {
		var m vr
		if n == l.w && l.cur != nil && !l.options.Unchecked { // one that all lanes have concerns any of them
			m = l.cur[i]
		}
		if e == 4 {
			l.def(amd64.VPTESTNMD, k(d), z(divisor[i]), z(divisor[i])).mask = m
			continue
		}
		lo, hi := l.mask(), l.mask()
		l.def(amd64.VPTESTNMQ, k(lo), z(part(divisor, 2*i)), z(part(divisor, 2*i)))
		l.def(amd64.VPTESTNMQ, k(hi), z(part(divisor, 2*i+1)), z(part(divisor, 2*i+1)))
		l.join(d, lo, hi)
		if m != 0 {
			l.def(amd64.KANDW, k(d), k(d), k(m))
		}
	}
	if l.options.Unchecked {
		return zeros
	}
	bad := l.label()
	l.branchSome(zeros, bad)
	all := zeros
	l.cold(func() {
		l.bind(bad)
		if n < l.w { // the same in all lanes
			all = l.cur
		}
		l.trapOut(trap{kind: trapZero, in: in, mask: all})
	})
	return nil
}

// service emits a Print, Assert or Call.
func (l *lowerer) service(in *ir.Instr) {
	switch in.Op {
	case ir.Print:
		args, types := l.operands(in.Args)
		l.trapHere(trap{kind: trapPrint, in: in, args: args, types: types, mask: l.cur})
	case ir.Call:
		args, types := l.operands(in.Args)
		var val value
		if r := in.Result(); r != nil {
			val = l.variable(r)
		}
		l.trapHere(trap{kind: trapCall, in: in, args: args, types: types, mask: l.cur, results: val.regs()})
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
	bad := l.masks(l.w)
	for i, d := range bad {
		if l.cur == nil {
			l.def(amd64.KNOTW, k(d), k(ok[i]))
		} else {
			l.def(amd64.KANDNW, k(d), k(ok[i]), k(l.cur[i]))
		}
	}
	args, types := l.operands(in.Args[1:])
	slow := l.label()
	l.branchSome(bad, slow)
	l.cold(func() {
		l.bind(slow)
		l.trapOut(trap{kind: trapAssert, in: in, args: args, types: types, mask: bad})
	})
}
