package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// valueOf gives an operand in the form that a variable of value v has.
func (l *lowerer) valueOf(a, v *ir.Value) value {
	switch {
	case l.uniform(v) && !l.uniform(a) && v.Type.IsFloat(): // control cannot come here, where nothing is said of values
		return value{vec: []vr{l.constant(0, v.Type.Size())}}
	case l.uniform(v) && !l.uniform(a):
		r := l.gpr()
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
func (l *lowerer) assignAll(to, from []value, vs []*ir.Value, mask []vr) {
	targets := map[vr]int{}
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
func (l *lowerer) saveSources(from []value, i int, targets map[vr]int) {
	v := &from[i]
	if v.g != 0 {
		if j, ok := targets[v.g]; ok && j != i {
			r := l.gpr()
			l.def(amd64.MOV, g8(r), g8(v.g))
			v.g = r
		}
	}
	save := func(list []vr, op amd64.Op, c class, operand func(vr) arg) []vr {
		var out []vr
		for n, r := range list {
			if j, ok := targets[r]; ok && j != i {
				if out == nil {
					out = append([]vr(nil), list...)
				}
				out[n] = l.newReg(c)
				l.def(op, operand(out[n]), operand(r))
			}
		}
		if out == nil {
			return list
		}
		return out
	}
	v.vec = save(v.vec, amd64.VMOVDQA64, classVec, z)
	v.masks = save(v.masks, amd64.KMOVW, classMask, k)
}

func (v *value) regs() []vr {
	if v.g != 0 {
		return []vr{v.g}
	}
	if v.masks != nil {
		return v.masks
	}
	return v.vec
}

// assign sets a variable for the lanes of a mask.
func (l *lowerer) assign(to, from value, mask []vr) {
	switch {
	case to.g != 0:
		if to.g != from.g {
			l.def(amd64.MOV, g8(to.g), g8(from.g))
		}
	case to.masks != nil:
		for i, d := range to.masks {
			s := from.masks[i]
			switch {
			case d == s:
			case mask == nil:
				l.def(amd64.KMOVW, k(d), k(s))
			default:
				keep, take := l.mask(), l.mask()
				l.def(amd64.KANDNW, k(keep), k(mask[i]), k(d))
				l.def(amd64.KANDW, k(take), k(mask[i]), k(s))
				l.def(amd64.KORW, k(d), k(keep), k(take))
			}
		}
	default:
		wide := len(to.vec) > l.w
		for i, d := range to.vec {
			s := part(from.vec, i)
			if d == s {
				continue
			}
			switch {
			case mask == nil:
				l.def(amd64.VMOVDQA64, z(d), z(s)).folds(1, 0)
			case wide:
				m := l.half(mask, i)
				l.def(amd64.VMOVDQA64, z(d), z(s)).under(m).folds(1, 0)
			default:
				l.def(amd64.VMOVDQA32, z(d), z(s)).under(mask[i]).folds(1, 0)
			}
		}
	}
}
