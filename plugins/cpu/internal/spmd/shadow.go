package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// The shadow of a value that differs between lanes is what it is in lane 0, in a general register: where a row begins.

// maxShadow bounds how deep the arithmetic of an index is followed.
const maxShadow = 12

// hasShadow reports whether the value of lane 0 is in a general register, or can be computed there.
func (l *lowerer) hasShadow(v *ir.Value, depth int) bool {
	return l.computesLane0(v, depth, func(v *ir.Value) bool { return l.vals[v.ID].shadow != 0 })
}

// computesLane0 reports whether the value of lane 0 can be computed in general purpose registers. known reports which
// values are there already; it may be nil.
func (l *analysis) computesLane0(v *ir.Value, depth int, known func(v *ir.Value) bool) bool {
	if l.uniform(v) {
		return v.Type.IsInt()
	}
	if known != nil && known(v) {
		return true
	}
	in := v.Def
	if in == nil || depth > maxShadow {
		return false
	}
	all := func() bool {
		return !slices.ContainsFunc(in.Args, func(a *ir.Value) bool { return !l.computesLane0(a, depth+1, known) })
	}
	switch in.Op {
	case ir.Item:
		return (in.Item == ir.GlobalID || in.Item == ir.LocalID) && (in.Axis == 0 || l.options.stacked)
	case ir.Add, ir.Sub, ir.Neg, ir.Mul:
		return all()
	case ir.Shl:
		_, ok := smallConst(in.Args[1])
		return ok && l.computesLane0(in.Args[0], depth+1, known)
	case ir.Wrap, ir.Bitcast:
		return in.Args[0].Type.IsInt() && in.Args[0].Type.Size() == 4 && all()
	}
	return false
}

// shadow gives the value of lane 0, of 32 bits.
func (l *lowerer) shadow(v *ir.Value) vcode.Reg {
	if l.uniform(v) {
		return l.general(v)
	}
	if r := l.vals[v.ID].shadow; r != 0 {
		return r
	}
	in := v.Def
	if in.Op == ir.Wrap || in.Op == ir.Bitcast {
		return l.shadow(in.Args[0])
	}
	var d vcode.Reg
	if in.Op == ir.Item {
		switch {
		case in.Item == ir.LocalID:
			d = l.item.local
		case in.Axis == 1:
			d = l.item.y
		default:
			d = l.item.x
		}
	} else {
		d = l.NewGPR()
		a := l.shadow(in.Args[0])
		switch in.Op {
		case ir.Neg:
			l.Def(amd64.MOV, d.G8(), a.G8())
			l.Mod(amd64.NEG, d.G4())
		case ir.Shl:
			c, _ := smallConst(in.Args[1])
			l.Def(amd64.MOV, d.G8(), a.G8())
			l.Mod(amd64.SHL, d.G4(), vcode.Imm(c&31))
		default:
			op := scalarOps[in.Op]
			if c, ok := smallConst(in.Args[1]); ok && in.Op != ir.Mul {
				l.Def(amd64.MOV, d.G8(), a.G8())
				l.Mod(op, d.G4(), vcode.Imm(c))
			} else {
				b := l.shadow(in.Args[1])
				l.Def(amd64.MOV, d.G8(), a.G8())
				l.Mod(op, d.G4(), b.G4())
			}
		}
	}
	l.vals[v.ID].shadow = d
	l.undo = append(l.undo, func() { l.vals[v.ID].shadow = 0 })
	return d
}

// fromShadow gives the vectors of an affine value by what lane 0 has.
func (l *lowerer) fromShadow(v *ir.Value, r vcode.Reg) []vcode.Reg {
	s, _ := l.affine.Strides(v)
	return l.lanesFrom(r, s)
}

// beginShadows sets the first values of a loop's parameters in lane 0.
func (l *lowerer) beginShadows(s *scope) {
	s.shadows = l.followed(s.in, s.from.shadows)
	for i, r := range s.shadows {
		switch {
		case r == 0:
		case s.from.shadows != nil && s.from.shadows[i] != 0:
			l.Def(amd64.MOV, r.G8(), s.from.shadows[i].G8())
		default:
			l.Def(amd64.MOV, r.G8(), l.shadow(s.in.Args[i]).G8())
		}
	}
}

// followed gives registers for the parameters of a loop that differ between lanes and whose values in lane 0 general
// registers can have from iteration to iteration. The lanes that go round have all gone round equally often. The first
// values may be in registers.
func (l *lowerer) followed(loop *ir.Instr, first []vcode.Reg) []vcode.Reg {
	params, last := loop.Then.Params, loop.Then.Terminator()
	shadows := make([]vcode.Reg, len(params))
	some := false
	for i, p := range params {
		l.vals[p.ID].shadow = 0
		if _, affine := l.affine.Strides(p); affine && !l.uniform(p) && (first != nil && first[i] != 0 || l.hasShadow(loop.Args[i], 0)) {
			shadows[i], some = l.NewGPR(), true
			l.vals[p.ID].shadow = shadows[i]
		}
	}
	for again := some; again; { // the next value of one may come from another one
		again = false
		for i, p := range params {
			if shadows[i] != 0 && !l.hasShadow(last.Args[i], 0) {
				shadows[i], l.vals[p.ID].shadow, again = 0, 0, true
			}
		}
	}
	return shadows
}

// nextShadows sets the values in lane 0 that a loop goes on with.
func (l *lowerer) nextShadows(s *scope, in *ir.Instr) {
	next := make([]vcode.Reg, len(s.shadows))
	for i, r := range s.shadows {
		if r != 0 {
			next[i] = l.NewGPR()
			l.Def(amd64.MOV, next[i].G8(), l.shadow(in.Args[i]).G8())
		}
	}
	for i, r := range s.shadows {
		if r != 0 {
			l.Def(amd64.MOV, r.G8(), next[i].G8())
		}
	}
}
