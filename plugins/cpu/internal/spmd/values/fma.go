package values

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// fmaForms are the forms of fused multiply-adds of 32-bit and of 64-bit floats. The key reports whether the product and whether the
// addend are negated. The result of form 213 overwrites a factor, that of form 231 the addend.
var fmaForms = later.Value[map[[2]bool]struct{ overFactor, overAddend [2]amd64.Op }]{Make: func() map[[2]bool]struct{ overFactor, overAddend [2]amd64.Op } {
	return map[[2]bool]struct{ overFactor, overAddend [2]amd64.Op }{
		{false, false}: {[2]amd64.Op{amd64.VFMADD213PS, amd64.VFMADD213PD}, [2]amd64.Op{amd64.VFMADD231PS, amd64.VFMADD231PD}},
		{false, true}:  {[2]amd64.Op{amd64.VFMSUB213PS, amd64.VFMSUB213PD}, [2]amd64.Op{amd64.VFMSUB231PS, amd64.VFMSUB231PD}},
		{true, false}:  {[2]amd64.Op{amd64.VFNMADD213PS, amd64.VFNMADD213PD}, [2]amd64.Op{amd64.VFNMADD231PS, amd64.VFNMADD231PD}},
		{true, true}:   {[2]amd64.Op{amd64.VFNMSUB213PS, amd64.VFNMSUB213PD}, [2]amd64.Op{amd64.VFNMSUB231PS, amd64.VFNMSUB231PD}},
	}
}}

// negation returns the operand of v and true if v is a negation that only fused multiply-adds use: their forms can negate.
// Otherwise it returns v and false.
func (l *Lowering) negation(v *ir.Value) (*ir.Value, bool) {
	if in := v.Def; in != nil && in.Op == ir.Neg && v.Type.IsFloat() && l.Uses[v.ID].OnlyFMA {
		return in.Args[0], true
	}
	return v, false
}

// multiplyAdd emits an FMA.
func (l *Lowering) multiplyAdd(in *ir.Instr) []vcode.Reg {
	t := in.Type()
	e := t.Size()
	x, negX := l.negation(in.Args[0])
	y, negY := l.negation(in.Args[1])
	added, negAdded := l.negation(in.Args[2])
	form := fmaForms.Get()[[2]bool{negX != negY, negAdded}]
	// The result overwrites an operand: preferably one whose register it should share, or one that dies here.
	cost := func(v, arg *ir.Value) int {
		switch {
		case l.follows(in.Result(), v):
			return 0
		case l.dies(v, arg, in):
			return 1
		}
		return 2
	}
	cx, cy, ca := cost(x, in.Args[0]), cost(y, in.Args[1]), cost(added, in.Args[2])
	if l.accumulates(in) {
		ca = 0
	}
	args := [3][]vcode.Reg{l.Vector(x), l.Vector(y), l.Vector(added)}
	if cy < cx {
		args[0], args[1] = args[1], args[0]
	}
	over, copied := ca < min(cx, cy), min(cx, cy) == 2
	out := vcode.NewVecs(l.Func, l.NumVectors(in.Result()))
	for i, d := range out {
		a, b, c := vcode.Part(args[0], i), vcode.Part(args[1], i), vcode.Part(args[2], i)
		isConstant := func(r vcode.Reg) bool { return l.Regs[r].Elem != 0 }
		first := copied && isConstant(c) && (isConstant(a) || isConstant(b))
		if isConstant(a) != first {
			a, b = b, a // constants can be memory operands as the addend or as the copied operand
		}
		if over && l.Regs[c].Elem == 0 {
			l.Def(amd64.VMOVDQA64, d.Z(), c.Z()).Folds(1, 0)
			l.Mod(form.overAddend[e/8], d.Z(), a.Z(), b.Z()).Folds(2, e)
			continue
		}
		l.Def(amd64.VMOVDQA64, d.Z(), a.Z()).Folds(1, 0)
		l.Mod(form.overFactor[e/8], d.Z(), b.Z(), c.Z()).Folds(2, e)
	}
	return out
}

// follows reports whether v is a next value of the loop parameter p.
func (l *Lowering) follows(v, p *ir.Value) bool {
	for _, in := range l.Carried[v.ID] {
		for i, a := range in.Args {
			if a == v && in.Target.Then.Params[i] == p {
				return true
			}
		}
	}
	return false
}

// accumulates reports whether an FMA is part of a chain that adds to a loop parameter. The whole chain uses the parameter's
// register.
func (l *Lowering) accumulates(in *ir.Instr) bool {
	first, by := in.Args[2], in
	for first.Def != nil && first.Def.Op == ir.FMA && l.Uses[first.ID].Count == 1 {
		first, by = first.Def.Args[2], first.Def
	}
	if first.Def != nil || l.Uses[first.ID].By != by {
		return false
	}
	last := in
	for u := &l.Uses[last.Result().ID]; u.Count == 1 && u.By.Op == ir.FMA && u.By.Args[2] == last.Result(); u = &l.Uses[last.Result().ID] {
		last = u.By
	}
	return l.follows(last.Result(), first)
}

// dies estimates whether v is varying and is not used after in. in is an instruction, and arg its operand: v or its negation.
func (l *Lowering) dies(v, arg *ir.Value, in *ir.Instr) bool {
	if l.IsUniform(v) || l.Uses[arg.ID].By != in {
		return false
	}
	return !l.Uses[v.ID].Repeats && (v == arg || l.Uses[v.ID].By == arg.Def)
}
