package values

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// ValueOf returns the registers from which a is copied to the variable of v. If v is uniform and a is not, the copy is never
// executed, and the registers hold zero.
func (l *Lowering) ValueOf(a, v *ir.Value) Value {
	switch {
	case l.IsUniform(v) && !l.IsUniform(a) && v.Type.IsFloat(): // unreachable: the value is undefined, so zero is valid
		return Value{Vec: []vcode.Reg{l.Constant(0, v.Type.Size())}}
	case l.IsUniform(v) && !l.IsUniform(a):
		r := l.NewGPR()
		l.MoveImm(r, 0, v.Type)
		return Value{G: r}
	case l.IsUniform(v) && !v.Type.IsFloat():
		return Value{G: l.General(a)}
	case v.Type == ir.Bool:
		return Value{Masks: l.Condition(a, nil)}
	}
	return Value{Vec: l.Vector(a)}
}

// AssignAll emits parallel copies of from to the variables of the values vs, for the lanes of a mask (nil: all). Copies to uniform
// variables ignore the mask.
func (l *Lowering) AssignAll(to, from []Value, vs []*ir.Value, mask []vcode.Reg) {
	targets := map[vcode.Reg]int{}
	for i := range to {
		for _, r := range to[i].Regs() {
			targets[r] = i
		}
	}
	for i := range from {
		l.saveSources(from, i, targets)
	}
	for i := range to {
		m := mask
		if l.IsUniform(vs[i]) {
			m = nil // uniform floats are copied without a mask
		}
		l.assign(to[i], from[i], m)
	}
}

// saveSources emits copies of the registers of from[i] that another assignment overwrites, and replaces them in from[i]. targets has
// the number of the assignment by the register that it overwrites.
func (l *Lowering) saveSources(from []Value, i int, targets map[vcode.Reg]int) {
	v := &from[i]
	if v.G != 0 {
		if j, ok := targets[v.G]; ok && j != i {
			r := l.NewGPR()
			l.Def(amd64.MOV, r.G8(), v.G.G8())
			v.G = r
		}
	}
	save := func(list []vcode.Reg, op amd64.Op, c vcode.Class, operand func(vcode.Reg) vcode.Arg) []vcode.Reg {
		var out []vcode.Reg
		for n, r := range list {
			if j, ok := targets[r]; ok && j != i {
				if out == nil {
					out = append([]vcode.Reg(nil), list...)
				}
				out[n] = l.NewReg(c)
				l.Def(op, operand(out[n]), operand(r))
			}
		}
		if out == nil {
			return list
		}
		return out
	}
	v.Vec = save(v.Vec, amd64.VMOVDQA64, vcode.ClassVec, vcode.Reg.Z)
	v.Masks = save(v.Masks, amd64.KMOVW, vcode.ClassMask, vcode.Reg.K)
}

// assign emits a copy to a variable for the lanes of a mask.
func (l *Lowering) assign(to, from Value, mask []vcode.Reg) {
	switch {
	case to.G != 0:
		if to.G != from.G {
			l.Def(amd64.MOV, to.G.G8(), from.G.G8())
		}
	case to.Masks != nil:
		for i, d := range to.Masks {
			s := from.Masks[i]
			switch {
			case d == s:
			case mask == nil:
				l.Def(amd64.KMOVW, d.K(), s.K())
			default:
				keep, take := l.NewMask(), l.NewMask()
				l.Def(amd64.KANDNW, keep.K(), mask[i].K(), d.K())
				l.Def(amd64.KANDW, take.K(), mask[i].K(), s.K())
				l.Def(amd64.KORW, d.K(), keep.K(), take.K())
			}
		}
	default:
		wide := len(to.Vec) > l.GangRegs
		for i, d := range to.Vec {
			s := vcode.Part(from.Vec, i)
			if d == s {
				continue
			}
			switch {
			case mask == nil:
				l.Def(amd64.VMOVDQA64, d.Z(), s.Z()).Folds(1, 0)
			case wide:
				m := l.Half(mask, i)
				l.Def(amd64.VMOVDQA64, d.Z(), s.Z()).Under(m).Folds(1, 0)
			default:
				l.Def(amd64.VMOVDQA32, d.Z(), s.Z()).Under(mask[i]).Folds(1, 0)
			}
		}
	}
}

// Stored returns the vectors from which v is stored as elements of type t. Elements smaller than 32 bits in memory have 32 bits in the
// vectors.
func (l *Lowering) Stored(t ir.Type, v *ir.Value) []vcode.Reg {
	switch t {
	case ir.Bool:
		one := l.Constant(1, 4)
		masks := l.Condition(v, nil)
		out := vcode.NewVecs(l.Func, l.GangRegs)
		for i, d := range out {
			l.Def(amd64.VMOVDQA32, d.Z(), one.Z()).Zeroed(masks[i])
		}
		return out
	case ir.F16:
		return l.canonical(v)
	case ir.BF16:
		canonical := l.Nans.Canonical(v)
		return l.Map(l.Vector(v), func(d, a vcode.Reg) { l.Def(amd64.VPSRLD, d.Z(), l.Brain(a, canonical).Z(), vcode.Imm(16)) })
	}
	return l.Vector(v)
}

// Operands returns the registers and types of a trap's operands. A uniform integer or condition is in a general purpose register, a
// varying condition in masks, and other operands in vectors.
func (l *Lowering) Operands(args []*ir.Value) (regs [][]vcode.Reg, types []ir.Type) {
	for _, a := range args {
		types = append(types, a.Type)
		switch {
		case l.IsUniform(a) && !a.Type.IsFloat():
			regs = append(regs, []vcode.Reg{l.General(a)})
		case a.Type == ir.Bool:
			regs = append(regs, l.Condition(a, nil))
		default:
			regs = append(regs, l.Vector(a))
		}
	}
	return regs, types
}
