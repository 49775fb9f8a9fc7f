package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// computeBool emits an operation whose result is a condition.
func (l *lowerer) computeBool(in *ir.Instr) {
	r := in.Result()
	compare := in.Op >= ir.Eq && in.Op <= ir.Le && in.Args[0].Type != ir.Bool
	if compare && l.uses[r.ID].onlyIf && l.uses[r.ID].count == 1 {
		l.vals[r.ID] = value{compare: in}
		return
	}
	switch {
	case l.uniform(r) && compare:
		l.set(r, value{g: l.truth(in)})
	case l.uniform(r):
		l.set(r, value{g: l.scalarBool(in)})
	case compare:
		l.set(r, value{masks: l.compareMasks(in, nil)})
	default:
		l.set(r, value{masks: l.boolMasks(in)})
	}
}

// scalarBool emits an operation on uniform conditions.
func (l *lowerer) scalarBool(in *ir.Instr) vr {
	d := l.gpr()
	a := l.general(in.Args[0])
	binaryOp := func(op amd64.Op, not bool) {
		b := l.general(in.Args[1])
		l.def(amd64.MOV, g8(d), g8(a))
		l.mod(op, g4(d), g4(b))
		if not {
			l.mod(amd64.XOR, g4(d), imm(1))
		}
	}
	switch in.Op {
	case ir.Not:
		l.def(amd64.MOV, g8(d), g8(a))
		l.mod(amd64.XOR, g4(d), imm(1))
	case ir.And:
		binaryOp(amd64.AND, false)
	case ir.Or:
		binaryOp(amd64.OR, false)
	case ir.Xor, ir.Ne:
		binaryOp(amd64.XOR, false)
	case ir.Eq:
		binaryOp(amd64.XOR, true)
	case ir.Select:
		yes, no := l.general(in.Args[1]), l.general(in.Args[2])
		l.def(amd64.MOV, g8(d), g8(no))
		l.use(amd64.TEST, g4(a), g4(a))
		l.mod(amd64.CMOVNE, g8(d), g8(yes))
	case ir.Convert:
		return a
	default:
		l.refuse("%v of bool", in.Op)
	}
	return d
}

// boolMasks emits an operation on conditions that differ between lanes.
func (l *lowerer) boolMasks(in *ir.Instr) []vr {
	out := l.masks(l.w)
	args := make([][]vr, len(in.Args))
	for i, a := range in.Args {
		args[i] = l.condition(a, nil)
	}
	for i, d := range out {
		a := args[0][i]
		switch in.Op {
		case ir.Not:
			l.def(amd64.KNOTW, k(d), k(a))
		case ir.And:
			l.def(amd64.KANDW, k(d), k(a), k(args[1][i]))
		case ir.Or:
			l.def(amd64.KORW, k(d), k(a), k(args[1][i]))
		case ir.Xor, ir.Ne:
			l.def(amd64.KXORW, k(d), k(a), k(args[1][i]))
		case ir.Eq:
			l.def(amd64.KXNORW, k(d), k(a), k(args[1][i]))
		case ir.Select:
			yes, no := l.mask(), l.mask()
			l.def(amd64.KANDW, k(yes), k(a), k(args[1][i]))
			l.def(amd64.KANDNW, k(no), k(a), k(args[2][i]))
			l.def(amd64.KORW, k(d), k(yes), k(no))
		case ir.Convert:
			l.def(amd64.KMOVW, k(d), k(a))
		default:
			l.refuse("%v of bool", in.Op)
		}
	}
	return out
}

// condition gives the masks of a condition, for the lanes of a mask alone if that is not nil.
func (l *lowerer) condition(v *ir.Value, under []vr) []vr {
	if in := v.Def; in != nil && in.Op == ir.Const || l.uniform(v) {
		m := l.maskOf(l.general(v))
		out := make([]vr, l.w)
		for i := range out {
			out[i] = m
		}
		return l.and(out, under)
	}
	val := &l.vals[v.ID]
	if val.compare != nil {
		return l.compareMasks(val.compare, under)
	}
	return l.and(val.masks, under)
}

func (l *lowerer) and(a, b []vr) []vr {
	if b == nil {
		return a
	}
	out := l.masks(len(a))
	for i, d := range out {
		l.def(amd64.KANDW, k(d), k(a[i]), k(b[i]))
	}
	return out
}

// comparison is the operation and the predicate that compare vectors.
func comparison(op ir.Op, t ir.Type) (amd64.Op, int64) {
	pred := map[ir.Op]int64{ir.Eq: 0, ir.Lt: 1, ir.Le: 2, ir.Ne: 4}[op]
	ops := byType{amd64.VPCMPD, amd64.VPCMPUD, amd64.VPCMPQ, amd64.VPCMPUQ, amd64.VCMPPS, amd64.VCMPPD}
	return ops.of(t), pred
}

// compareMasks emits a comparison of vectors, whose result has lanes of a mask alone if that is not nil.
func (l *lowerer) compareMasks(in *ir.Instr, under []vr) []vr {
	t := in.Args[0].Type
	op, pred := comparison(in.Op, t)
	a, b := l.vector(in.Args[0]), l.vector(in.Args[1])
	out := l.masks(l.w)
	for i, d := range out {
		var m vr
		if under != nil {
			m = under[i]
		}
		if t.Size() == 4 {
			l.compareReg(op, pred, d, part(a, i), part(b, i), 4, m)
			continue
		}
		lo, hi := l.mask(), l.mask()
		l.compareReg(op, pred, lo, part(a, 2*i), part(b, 2*i), 8, 0)
		l.compareReg(op, pred, hi, part(a, 2*i+1), part(b, 2*i+1), 8, 0)
		l.join(d, lo, hi)
		if m != 0 {
			l.def(amd64.KANDW, k(d), k(d), k(m))
		}
	}
	return out
}

func (l *lowerer) compareReg(op amd64.Op, pred int64, d, a, b vr, elem int, under vr) {
	if l.regs[a].elem != 0 && l.regs[b].elem == 0 && (pred == 0 || pred == 4) {
		a, b = b, a
	}
	l.def(op, k(d), z(a), z(b), imm(pred)).folds(2, elem).mask = under
}

// conditions of jumps and of setcc, and their opposites, by sign.
type jumps struct{ yes, no, set amd64.Op }

func jumpOf(op ir.Op, t ir.Type) jumps {
	switch {
	case op == ir.Eq:
		return jumps{amd64.JE, amd64.JNE, amd64.SETE}
	case op == ir.Ne:
		return jumps{amd64.JNE, amd64.JE, amd64.SETNE}
	case op == ir.Lt && t.IsSigned():
		return jumps{amd64.JL, amd64.JGE, amd64.SETL}
	case op == ir.Lt:
		return jumps{amd64.JB, amd64.JAE, amd64.SETB}
	case t.IsSigned():
		return jumps{amd64.JLE, amd64.JG, amd64.SETLE}
	}
	return jumps{amd64.JBE, amd64.JA, amd64.SETBE}
}

// flags emits a comparison of uniform integers.
func (l *lowerer) flags(in *ir.Instr) jumps {
	t := in.Args[0].Type
	a := l.general(in.Args[0])
	if c, ok := smallConst(in.Args[1]); ok {
		l.use(amd64.CMP, g(a, t.Size()), imm(c))
	} else {
		l.use(amd64.CMP, g(a, t.Size()), g(l.general(in.Args[1]), t.Size()))
	}
	return jumpOf(in.Op, t)
}

// smallConst gives a constant integer that fits an immediate.
func smallConst(v *ir.Value) (int64, bool) {
	if v.Def == nil || v.Def.Op != ir.Const || v.Type.IsFloat() {
		return 0, false
	}
	n := int64(v.Def.Bits)
	if v.Type.Size() == 4 {
		n = int64(int32(n))
	}
	return n, n == int64(int32(n))
}

// uniformMask emits a comparison of uniform floats into a mask of all lanes or none.
func (l *lowerer) uniformMask(in *ir.Instr) vr {
	t := in.Args[0].Type
	op, pred := comparison(in.Op, t)
	m := l.mask()
	l.compareReg(op, pred, m, l.vector(in.Args[0])[0], l.vector(in.Args[1])[0], t.Size(), 0)
	return m
}

// truth emits a uniform comparison into a general register.
func (l *lowerer) truth(in *ir.Instr) vr {
	d := l.gpr()
	if in.Args[0].Type.IsFloat() {
		m := l.uniformMask(in)
		l.def(amd64.KMOVW, g4(d), k(m))
		l.mod(amd64.AND, g4(d), imm(1))
		return d
	}
	j := l.flags(in)
	l.def(j.set, g(d, 1))
	l.def(amd64.MOVZX, g4(d), g(d, 1))
	return d
}

// branch goes to a label if a uniform condition is as said.
func (l *lowerer) branch(v *ir.Value, to amd64.Label, when bool) {
	pick := func(yes, no amd64.Op) amd64.Op {
		if when {
			return yes
		}
		return no
	}
	if in := v.Def; in != nil && in.Op == ir.Const {
		if (in.Bits != 0) == when {
			l.jump(amd64.JMP, to)
		}
		return
	}
	if in := l.vals[v.ID].compare; in != nil {
		if in.Args[0].Type.IsFloat() {
			m := l.uniformMask(in)
			l.use(amd64.KORTESTW, k(m), k(m))
			l.jump(pick(amd64.JNE, amd64.JE), to)
			return
		}
		j := l.flags(in)
		l.jump(pick(j.yes, j.no), to)
		return
	}
	g := l.general(v)
	l.use(amd64.TEST, g4(g), g4(g))
	l.jump(pick(amd64.JNE, amd64.JE), to)
}
