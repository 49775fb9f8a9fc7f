package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// The forms of fused multiply-adds, by the signs of the product and of what is added. Form 213 puts the result over a
// factor, form 231 over what is added.
var fmaForms = map[[2]bool][2]byType{
	{false, false}: {{f32: amd64.VFMADD213PS, f64: amd64.VFMADD213PD}, {f32: amd64.VFMADD231PS, f64: amd64.VFMADD231PD}},
	{false, true}:  {{f32: amd64.VFMSUB213PS, f64: amd64.VFMSUB213PD}, {f32: amd64.VFMSUB231PS, f64: amd64.VFMSUB231PD}},
	{true, false}:  {{f32: amd64.VFNMADD213PS, f64: amd64.VFNMADD213PD}, {f32: amd64.VFNMADD231PS, f64: amd64.VFNMADD231PD}},
	{true, true}:   {{f32: amd64.VFNMSUB213PS, f64: amd64.VFNMSUB213PD}, {f32: amd64.VFNMSUB231PS, f64: amd64.VFNMSUB231PD}},
}

// negation gives the operand of a negation that only fused multiply-adds use: they have forms that negate.
func (l *lowerer) negation(v *ir.Value) (*ir.Value, bool) {
	if in := v.Def; in != nil && in.Op == ir.Neg && v.Type.IsFloat() && l.uses[v.ID].onlyFMA {
		return in.Args[0], true
	}
	return v, false
}

// multiplyAdd emits an FMA.
func (l *lowerer) multiplyAdd(in *ir.Instr) []vr {
	t := in.Type()
	e := t.Size()
	x, negX := l.negation(in.Args[0])
	y, negY := l.negation(in.Args[1])
	added, negAdded := l.negation(in.Args[2])
	form := fmaForms[[2]bool{negX != negY, negAdded}]
	over := l.accumulates(in, added)
	args := [3][]vr{l.vector(x), l.vector(y), l.vector(added)}
	out := newRegs(l.fn, l.count(in.Result()))
	for i, d := range out {
		a, b, c := part(args[0], i), part(args[1], i), part(args[2], i)
		if l.regs[a].elem != 0 {
			a, b = b, a // constants can come from memory
		}
		if over && l.regs[c].elem == 0 {
			l.def(amd64.VMOVDQA64, z(d), z(c)).folds(1, 0)
			l.mod(form[1].of(t), z(d), z(a), z(b)).folds(2, e)
			continue
		}
		if l.dies(y, in) && !l.dies(x, in) && l.regs[b].elem == 0 {
			a, b = b, a
		}
		l.def(amd64.VMOVDQA64, z(d), z(a)).folds(1, 0)
		l.mod(form[0].of(t), z(d), z(b), z(c)).folds(2, e)
	}
	return out
}

// accumulates reports whether the result is best put over what is added: it is the next value of the same parameter of
// a loop, or what is added is not needed any more and the factors are.
func (l *lowerer) accumulates(in *ir.Instr, added *ir.Value) bool {
	r := in.Result()
	if added.Def == nil {
		for _, by := range l.carried[r.ID] {
			for i, a := range by.Args {
				if a == r && by.Target.Then.Params[i] == added {
					return true
				}
			}
		}
	}
	return l.dies(added, in) && !l.dies(in.Args[0], in) && !l.dies(in.Args[1], in)
}

// dies reports whether an instruction is the only one that uses a value.
func (l *lowerer) dies(v *ir.Value, in *ir.Instr) bool {
	return l.uses[v.ID].count == 1 && l.uses[v.ID].by == in && v.Def != nil && !l.uniform(v)
}
