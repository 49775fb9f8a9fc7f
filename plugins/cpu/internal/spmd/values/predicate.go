package values

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// computeBool emits an operation whose result is a condition. A comparison of numbers, or a varying And, Or or Not, that is only tested is
// recorded and emitted at its use.
func (l *Lowering) computeBool(in *ir.Instr) {
	r := in.Result()
	compare := in.Op.IsCompare() && in.Args[0].Type != ir.Bool
	logic := in.Op == ir.And || in.Op == ir.Or || in.Op == ir.Not
	if (compare || logic && !l.IsUniform(r)) && l.IsTested(r) {
		l.Vals[r.ID] = Value{Test: in}
		return
	}
	switch {
	case l.IsUniform(r) && compare:
		l.Set(r, Value{G: l.truth(in)})
	case l.IsUniform(r):
		l.Set(r, Value{G: l.scalarBool(in)})
	case compare:
		l.Set(r, Value{Masks: l.compareMasks(in, true, nil, nil)})
	default:
		l.Set(r, Value{Masks: l.boolMasks(in)})
	}
}

// scalarBool emits an operation on uniform conditions.
func (l *Lowering) scalarBool(in *ir.Instr) vcode.Reg {
	d := l.NewGPR()
	a := l.General(in.Args[0])
	binaryOp := func(op amd64.Op, not bool) {
		b := l.General(in.Args[1])
		l.Def(amd64.MOV, d.G8(), a.G8())
		l.Mod(op, d.G4(), b.G4())
		if not {
			l.Mod(amd64.XOR, d.G4(), vcode.Imm(1))
		}
	}
	switch in.Op {
	case ir.Not:
		l.Def(amd64.MOV, d.G8(), a.G8())
		l.Mod(amd64.XOR, d.G4(), vcode.Imm(1))
	case ir.And:
		binaryOp(amd64.AND, false)
	case ir.Or:
		binaryOp(amd64.OR, false)
	case ir.Xor, ir.Ne:
		binaryOp(amd64.XOR, false)
	case ir.Eq:
		binaryOp(amd64.XOR, true)
	case ir.Select:
		yes, no := l.General(in.Args[1]), l.General(in.Args[2])
		l.Def(amd64.MOV, d.G8(), no.G8())
		l.Use(amd64.TEST, a.G4(), a.G4())
		l.Mod(amd64.CMOVNE, d.G8(), yes.G8())
	case ir.Convert:
		return a
	default:
		panic(fmt.Sprintf("values: plan.Supported accepts %v of bool, which has no lowering", in.Op))
	}
	return d
}

// boolMasks emits an operation on varying conditions.
func (l *Lowering) boolMasks(in *ir.Instr) []vcode.Reg {
	out := l.NewMasks(l.GangRegs)
	args := make([][]vcode.Reg, len(in.Args))
	for i, a := range in.Args {
		args[i] = l.Condition(a, nil)
	}
	for i, d := range out {
		a := args[0][i]
		switch in.Op {
		case ir.Not:
			l.Def(amd64.KNOTW, d.K(), a.K())
		case ir.And:
			l.Def(amd64.KANDW, d.K(), a.K(), args[1][i].K())
		case ir.Or:
			l.Def(amd64.KORW, d.K(), a.K(), args[1][i].K())
		case ir.Xor, ir.Ne:
			l.Def(amd64.KXORW, d.K(), a.K(), args[1][i].K())
		case ir.Eq:
			l.Def(amd64.KXNORW, d.K(), a.K(), args[1][i].K())
		case ir.Select:
			yes, no := l.NewMask(), l.NewMask()
			l.Def(amd64.KANDW, yes.K(), a.K(), args[1][i].K())
			l.Def(amd64.KANDNW, no.K(), a.K(), args[2][i].K())
			l.Def(amd64.KORW, d.K(), yes.K(), no.K())
		case ir.Convert:
			l.Def(amd64.KMOVW, d.K(), a.K())
		default:
			panic(fmt.Sprintf("values: plan.Supported accepts %v of bool, which has no lowering", in.Op))
		}
	}
	return out
}

// Condition returns the masks of a condition, limited to the lanes of under unless it is nil.
func (l *Lowering) Condition(v *ir.Value, under []vcode.Reg) []vcode.Reg {
	return l.Outcome(v, true, under, nil)
}

// Outcome returns the lanes of under (nil: all) in which v == want. The masks are those of into. If into is nil, they are new registers,
// or those that hold v.
func (l *Lowering) Outcome(v *ir.Value, want bool, under, into []vcode.Reg) []vcode.Reg {
	if in := v.Def; in != nil && in.Op == ir.Const || l.IsUniform(v) {
		m := l.MaskOf(l.General(v))
		all := make([]vcode.Reg, l.GangRegs)
		for i := range all {
			all[i] = m
		}
		return l.Within(all, want, under, into)
	}
	in := l.Vals[v.ID].Test
	switch {
	case in == nil:
		return l.Within(l.Vals[v.ID].Masks, want, under, into)
	case in.Op == ir.Not:
		return l.Outcome(in.Args[0], !want, under, into)
	case in.Op == ir.And && want, in.Op == ir.Or && !want: // a conjunction: the second term is limited to the lanes of the first
		first := l.Outcome(in.Args[0], want, under, into)
		return l.Outcome(in.Args[1], want, first, into)
	case in.Op == ir.And || in.Op == ir.Or:
		a, b := l.Outcome(in.Args[0], want, under, nil), l.Outcome(in.Args[1], want, under, nil)
		return l.Combine(amd64.KORW, a, b, into)
	}
	return l.compareMasks(in, want, under, into)
}

// compareMasks emits a comparison of vectors, and returns the lanes of under (nil: all) in which its result equals holds. The
// masks are those of into, or new ones if into is nil.
func (l *Lowering) compareMasks(in *ir.Instr, holds bool, under, into []vcode.Reg) []vcode.Reg {
	a, b := l.Vector(in.Args[0]), l.Vector(in.Args[1])
	return l.Compare(in.Op, in.Args[0].Type, a, b, holds, under, into)
}

// jumps has the jumps for a true and for a false comparison, and its setcc.
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

// mirrored returns the jumps of a comparison with exchanged operands.
func mirrored(op ir.Op, t ir.Type) jumps {
	if op == ir.Eq || op == ir.Ne {
		return jumpOf(op, t)
	}
	signed := map[ir.Op]jumps{ir.Lt: {amd64.JG, amd64.JLE, amd64.SETG}, ir.Le: {amd64.JGE, amd64.JL, amd64.SETGE}}
	unsigned := map[ir.Op]jumps{ir.Lt: {amd64.JA, amd64.JBE, amd64.SETA}, ir.Le: {amd64.JAE, amd64.JB, amd64.SETAE}}
	if t.IsSigned() {
		return signed[op]
	}
	return unsigned[op]
}

// flags emits a comparison of uniform integers and returns its jumps.
func (l *Lowering) flags(in *ir.Instr) jumps {
	t := in.Args[0].Type
	if c, ok := plan.SmallConst(in.Args[0]); ok { // an immediate must be the second operand
		l.Use(amd64.CMP, l.General(in.Args[1]).G(t.Size()), vcode.Imm(c))
		return mirrored(in.Op, t)
	}
	a := l.General(in.Args[0])
	if c, ok := plan.SmallConst(in.Args[1]); ok {
		l.Use(amd64.CMP, a.G(t.Size()), vcode.Imm(c))
	} else {
		l.Use(amd64.CMP, a.G(t.Size()), l.General(in.Args[1]).G(t.Size()))
	}
	return jumpOf(in.Op, t)
}

// uniformMask emits a comparison of uniform floats and returns a mask of all lanes or none.
func (l *Lowering) uniformMask(in *ir.Instr) vcode.Reg {
	t := in.Args[0].Type
	op, pred := lanes.Comparison(in.Op, t)
	m := l.NewMask()
	l.CompareReg(op, pred, m, l.Vector(in.Args[0])[0], l.Vector(in.Args[1])[0], t.Size(), 0)
	return m
}

// truth emits a uniform comparison and returns its result in a general purpose register.
func (l *Lowering) truth(in *ir.Instr) vcode.Reg {
	d := l.NewGPR()
	if in.Args[0].Type.IsFloat() {
		m := l.uniformMask(in)
		l.Def(amd64.KMOVW, d.G4(), m.K())
		l.Mod(amd64.AND, d.G4(), vcode.Imm(1))
		return d
	}
	j := l.flags(in)
	l.Def(j.set, d.G(1))
	l.Def(amd64.MOVZX, d.G4(), d.G(1))
	return d
}

// Branch emits a jump that is taken if a uniform condition equals when.
func (l *Lowering) Branch(v *ir.Value, to amd64.Label, when bool) {
	pick := func(yes, no amd64.Op) amd64.Op {
		if when {
			return yes
		}
		return no
	}
	if in := v.Def; in != nil && in.Op == ir.Const {
		if (in.Bits != 0) == when {
			l.Jump(amd64.JMP, to)
		}
		return
	}
	if in := l.Vals[v.ID].Test; in != nil {
		if in.Args[0].Type.IsFloat() {
			m := l.uniformMask(in)
			l.Use(amd64.KORTESTW, m.K(), m.K())
			l.Jump(pick(amd64.JNE, amd64.JE), to)
			return
		}
		j := l.flags(in)
		l.Jump(pick(j.yes, j.no), to)
		return
	}
	g := l.General(v)
	l.Use(amd64.TEST, g.G4(), g.G4())
	l.Jump(pick(amd64.JNE, amd64.JE), to)
}

// Split separates the condition v == want into its uniform and its varying terms, all of which must hold. Only a conjunction that must
// be true has several terms. A condition that must be false is a single varying term, even if it is uniform.
func (l *Lowering) Split(v *ir.Value, want bool) (same, varying []*ir.Value) {
	if want {
		if in := l.Vals[v.ID].Test; in != nil && in.Op == ir.And && !l.IsUniform(v) {
			for _, a := range in.Args {
				s, w := l.Split(a, true)
				same, varying = append(same, s...), append(varying, w...)
			}
			return same, varying
		}
	}
	if l.IsUniform(v) && want {
		return []*ir.Value{v}, nil
	}
	return nil, []*ir.Value{v}
}
