package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// valueOf gives an operand in the form that a variable of value v has.
func (l *lowerer) valueOf(a, v *ir.Value) value {
	switch {
	case l.uniform(v) && !l.uniform(a) && v.Type.IsFloat(): // control cannot come here, where nothing is said of values
		return value{vec: []vcode.Reg{l.Constant(0, v.Type.Size())}}
	case l.uniform(v) && !l.uniform(a):
		r := l.NewGPR()
		l.moveImm(r, 0, v.Type)
		return value{g: r}
	case l.uniform(v) && !v.Type.IsFloat():
		return value{g: l.general(a)}
	case v.Type == ir.Bool:
		return value{masks: l.condition(a, nil)}
	}
	return value{vec: l.vector(a)}
}

// assignAll assigns values to variables all at once, for the lanes of a mask.
func (l *lowerer) assignAll(to, from []value, vs []*ir.Value, mask []vcode.Reg) {
	targets := map[vcode.Reg]int{}
	for i := range to {
		for _, r := range to[i].regs() {
			targets[r] = i
		}
	}
	for i := range from {
		l.saveSources(from, i, targets)
	}
	for i := range to {
		m := mask
		if l.uniform(vs[i]) {
			m = nil // its one register is not of lanes
		}
		l.assign(to[i], from[i], m)
	}
}

// saveSources copies the registers of a source that another assignment overwrites.
func (l *lowerer) saveSources(from []value, i int, targets map[vcode.Reg]int) {
	v := &from[i]
	if v.g != 0 {
		if j, ok := targets[v.g]; ok && j != i {
			r := l.NewGPR()
			l.Def(amd64.MOV, r.G8(), v.g.G8())
			v.g = r
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
	v.vec = save(v.vec, amd64.VMOVDQA64, vcode.ClassVec, vcode.Reg.Z)
	v.masks = save(v.masks, amd64.KMOVW, vcode.ClassMask, vcode.Reg.K)
}

func (v *value) regs() []vcode.Reg {
	if v.g != 0 {
		return []vcode.Reg{v.g}
	}
	if v.masks != nil {
		return v.masks
	}
	return v.vec
}

// assign sets a variable for the lanes of a mask.
func (l *lowerer) assign(to, from value, mask []vcode.Reg) {
	switch {
	case to.g != 0:
		if to.g != from.g {
			l.Def(amd64.MOV, to.g.G8(), from.g.G8())
		}
	case to.masks != nil:
		for i, d := range to.masks {
			s := from.masks[i]
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
		wide := len(to.vec) > l.w
		for i, d := range to.vec {
			s := vcode.Part(from.vec, i)
			if d == s {
				continue
			}
			switch {
			case mask == nil:
				l.Def(amd64.VMOVDQA64, d.Z(), s.Z()).Folds(1, 0)
			case wide:
				m := l.half(mask, i)
				l.Def(amd64.VMOVDQA64, d.Z(), s.Z()).Under(m).Folds(1, 0)
			default:
				l.Def(amd64.VMOVDQA32, d.Z(), s.Z()).Under(mask[i]).Folds(1, 0)
			}
		}
	}
}
