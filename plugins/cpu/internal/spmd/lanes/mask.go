package lanes

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// FirstLanes returns the masks of the first n lanes.
func (g *Gang) FirstLanes(n vcode.Reg) []vcode.Reg {
	v := g.Splat(n, ir.I32)
	out := g.NewMasks(g.Registers)
	for i, d := range out {
		g.Def(amd64.VPCMPD, d.K(), v.Z(), g.LaneOffsets(i, 1).Z(), vcode.Cmp(amd64.CmpGT)).Folds(2, 0)
	}
	return out
}

// PartMask returns the mask of register i of elements of size bytes, or 0 if mask is nil.
func (g *Gang) PartMask(mask []vcode.Reg, i, size int) vcode.Reg {
	if mask == nil {
		return 0
	}
	if size == 8 {
		return g.Half(mask, i)
	}
	return vcode.Part(mask, i)
}

// Half returns the mask of register i of 64-bit elements, from the masks of the gang's 32-bit elements. It returns 0 if mask is nil.
func (g *Gang) Half(mask []vcode.Reg, i int) vcode.Reg {
	if mask == nil {
		return 0
	}
	m := vcode.Part(mask, i/2)
	if g.Target.HasMasks && i%2 == 0 {
		return m
	}
	d := g.NewMask()
	switch {
	case g.Target.HasMasks:
		g.Def(amd64.KSHIFTRW, d.K(), m.K(), vcode.Imm(int64(g.Target.Lanes/2)))
	case i%2 == 0:
		g.Def(amd64.VPMOVSXDQ, d.Z(), m.Y())
	default:
		h := g.NewVec()
		g.Def(amd64.VEXTRACTI64X4, h.Y(), m.Z(), vcode.Imm(1))
		g.Def(amd64.VPMOVSXDQ, d.Z(), h.Y())
	}
	return d
}

// Join emits the join of two masks of 64-bit elements, lo and hi, to the mask d of 32-bit elements.
func (g *Gang) Join(d, lo, hi vcode.Reg) {
	if g.Target.HasMasks {
		g.Def(amd64.KUNPCKBW, d.K(), hi.K(), lo.K())
		return
	}
	t := g.NewVec()
	g.Def(amd64.VSHUFPS, t.Z(), lo.Z(), hi.Z(), vcode.Imm(0x88))
	g.Def(amd64.VPERMQ, d.Z(), t.Z(), vcode.Imm(0xd8))
}

// MaskOf returns a mask with all lanes or none, for a condition of 0 or 1 in a general purpose register.
func (g *Gang) MaskOf(cond vcode.Reg) vcode.Reg {
	r, m := g.NewGPR(), g.NewMask()
	g.Def(amd64.MOV, r.G4(), cond.G4())
	g.Mod(amd64.NEG, r.G4())
	g.maskOfScalar(m, r)
	return m
}

// maskOfScalar emits a mask of all lanes or none, for a general purpose register that is −1 or 0.
func (g *Gang) maskOfScalar(m, r vcode.Reg) {
	if g.Target.HasMasks {
		g.Def(amd64.KMOVW, m.K(), r.G4())
	} else {
		g.Def(amd64.VPBROADCASTD, m.Z(), r.G4())
	}
}

// Full sets all bits of a mask.
func (g *Gang) Full(m vcode.Reg) { g.Def(amd64.KXNORW, m.K(), m.K(), m.K()) }

// CopyMask returns a new variable with a copy of a mask, or with all lanes if m is nil.
func (g *Gang) CopyMask(m []vcode.Reg) []vcode.Reg {
	out := g.NewMasks(g.Registers)
	for i := range out {
		if m == nil {
			g.Full(out[i])
		} else {
			g.Def(amd64.KMOVW, out[i].K(), m[i].K())
		}
	}
	return out
}

// Spoilt returns a copy of a mask for a gather or scatter, which clears its mask. The copy has all lanes if mask is 0.
func (g *Gang) Spoilt(mask vcode.Reg) vcode.Reg {
	m := g.NewMask()
	if mask == 0 {
		g.Full(m)
	} else {
		g.Def(amd64.KMOVW, m.K(), mask.K())
	}
	return m
}

// And returns the lanes that two masks share; b may be nil, which is all lanes.
func (g *Gang) And(a, b []vcode.Reg) []vcode.Reg {
	if b == nil {
		return a
	}
	out := g.NewMasks(len(a))
	for i, d := range out {
		g.Def(amd64.KANDW, d.K(), a[i].K(), b[i].K())
	}
	return out
}

// Within returns the lanes of under (nil: all) in which the mask m equals set. The masks are new registers, those of into, or m itself.
func (g *Gang) Within(m []vcode.Reg, set bool, under, into []vcode.Reg) []vcode.Reg {
	switch {
	case set && under == nil && into == nil:
		return m
	case set && under == nil:
		return g.Combine(amd64.KANDW, m, m, into)
	case set:
		return g.Combine(amd64.KANDW, m, under, into)
	case under == nil:
		out := g.or(into)
		for i, d := range out {
			g.Def(amd64.KNOTW, d.K(), m[i].K())
		}
		return out
	}
	return g.Combine(amd64.KANDNW, m, under, into)
}

// or returns into, or new registers if into is nil.
func (g *Gang) or(into []vcode.Reg) []vcode.Reg {
	if into == nil {
		return g.NewMasks(g.Registers)
	}
	return into
}

// Combine emits an operation on two masks. It returns the result, in the registers of into, or in new ones if into is nil.
func (g *Gang) Combine(op amd64.Op, a, b, into []vcode.Reg) []vcode.Reg {
	out := g.or(into)
	for i, d := range out {
		g.Def(op, d.K(), a[i].K(), b[i].K())
	}
	return out
}

// Remove emits the removal of the lanes lost from the mask in the variable from. If lost is nil, it removes all lanes.
func (g *Gang) Remove(from, lost []vcode.Reg) {
	for i := range from {
		if lost == nil {
			g.Def(amd64.KXORW, from[i].K(), from[i].K(), from[i].K())
		} else {
			g.Def(amd64.KANDNW, from[i].K(), lost[i].K(), from[i].K())
		}
	}
}

// BranchEmpty emits a jump that is taken if no lane is active in a mask. It emits nothing for the nil mask, which has all lanes.
func (g *Gang) BranchEmpty(m []vcode.Reg, to amd64.Label) {
	if m == nil {
		return
	}
	some := g.NewLabel()
	for i := 0; i < len(m); i += 2 {
		j := min(i+1, len(m)-1)
		g.Use(amd64.KORTESTW, m[i].K(), m[j].K())
		if j == len(m)-1 {
			g.Jump(amd64.JE, to)
		} else {
			g.Jump(amd64.JNE, some)
		}
	}
	g.Bind(some)
}

// BranchSome emits a jump that is taken if a lane is active in a mask, which must not be nil.
func (g *Gang) BranchSome(m []vcode.Reg, to amd64.Label) {
	for i := 0; i < len(m); i += 2 {
		g.Use(amd64.KORTESTW, m[i].K(), m[min(i+1, len(m)-1)].K())
		g.Jump(amd64.JNE, to)
	}
}

// SameMask reports whether two masks are the same variable. It returns false if one of them is empty.
func SameMask(a, b []vcode.Reg) bool { return len(a) > 0 && len(b) > 0 && a[0] == b[0] }
