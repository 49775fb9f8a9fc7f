package values

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// LanesFrom expands a lane-0 value with strides s to the vectors of the gang.
func (l *Lowering) LanesFrom(r vcode.Reg, s analysis.Strides) []vcode.Reg {
	first := l.Splat(r, ir.I32)
	out := vcode.NewVecs(l.Func, l.GangRegs)
	for i, d := range out {
		l.Op2(amd64.VPADDD, d, first, l.ItemOffsets(i, s), 0)
	}
	return out
}

// HasLane0 reports whether the lane-0 value of v is in a register or can be computed there. depth is the depth of v in an index
// expression, 0 for the index itself; see [plan.MaxDepth].
func (l *Lowering) HasLane0(v *ir.Value, depth int) bool {
	return l.ComputesLane0(v, depth, func(v *ir.Value) bool { return l.Vals[v.ID].Lane0 != 0 })
}

// Lane0 returns the register with the lane-0 value of a value for which HasLane0 is true. It emits the computation if there is no such
// register yet.
func (l *Lowering) Lane0(v *ir.Value) vcode.Reg {
	if l.IsUniform(v) {
		return l.General(v)
	}
	if r := l.Vals[v.ID].Lane0; r != 0 {
		return r
	}
	in := v.Def
	if in.Op == ir.Wrap || in.Op == ir.Bitcast {
		return l.Lane0(in.Args[0])
	}
	var d vcode.Reg
	if in.Op == ir.Item {
		switch {
		case in.Item == ir.LocalID && in.Axis == 1:
			d = l.Item.Row
		case in.Item == ir.LocalID:
			d = l.Item.Local
		case in.Axis == 1:
			d = l.Item.Y
		default:
			d = l.Item.X
		}
	} else {
		d = l.NewGPR()
		a := l.Lane0(in.Args[0])
		switch in.Op {
		case ir.Neg:
			l.Def(amd64.MOV, d.G8(), a.G8())
			l.Mod(amd64.NEG, d.G4())
		case ir.Shl:
			c, _ := plan.SmallConst(in.Args[1])
			l.Def(amd64.MOV, d.G8(), a.G8())
			l.Mod(amd64.SHL, d.G4(), vcode.Imm(c&31))
		default:
			op := scalarOps.Get()[in.Op]
			if c, ok := plan.SmallConst(in.Args[1]); ok && in.Op != ir.Mul {
				l.Def(amd64.MOV, d.G8(), a.G8())
				l.Mod(op, d.G4(), vcode.Imm(c))
			} else {
				b := l.Lane0(in.Args[1])
				l.Def(amd64.MOV, d.G8(), a.G8())
				l.Mod(op, d.G4(), b.G4())
			}
		}
	}
	l.Vals[v.ID].Lane0 = d
	l.Undo = append(l.Undo, func() { l.Vals[v.ID].Lane0 = 0 })
	return d
}

// FromLane0 returns the vectors of an affine value, expanded from its lane-0 value.
func (l *Lowering) FromLane0(v *ir.Value, r vcode.Reg) []vcode.Reg {
	s, _ := l.Affine.Strides(v)
	return l.LanesFrom(r, s)
}

// Followed allocates registers for the lane-0 values of affine loop parameters, and records them in l.Vals. It returns them by
// index, 0 for parameters without one. They are valid because all active lanes have run the same number of iterations. first has the
// initial values that are in registers, and may be nil.
func (l *Lowering) Followed(loop *ir.Instr, first []vcode.Reg) []vcode.Reg {
	params, last := loop.Then.Params, loop.Then.Terminator()
	list := make([]vcode.Reg, len(params))
	some := false
	for i, p := range params {
		l.Vals[p.ID].Lane0 = 0
		if _, affine := l.Affine.Strides(p); affine && !l.IsUniform(p) && (first != nil && first[i] != 0 || l.HasLane0(loop.Args[i], 0)) {
			list[i], some = l.NewGPR(), true
			l.Vals[p.ID].Lane0 = list[i]
		}
	}
	for again := some; again; { // the next value of a parameter may depend on another parameter
		again = false
		for i, p := range params {
			if list[i] != 0 && !l.HasLane0(last.Args[i], 0) {
				list[i], l.Vals[p.ID].Lane0, again = 0, 0, true
			}
		}
	}
	return list
}
