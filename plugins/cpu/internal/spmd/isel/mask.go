package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// FirstLanes returns the masks of the first n lanes.
func (l *Lowerer) FirstLanes(n vcode.Reg) []vcode.Reg {
	v := l.Splat(n, ir.I32)
	out := l.NewMasks(l.GangRegs)
	for i, d := range out {
		l.Def(amd64.VPCMPD, d.K(), v.Z(), l.LaneOffsets(i, 1).Z(), vcode.Cmp(amd64.CmpGT)).Folds(2, 0)
	}
	return out
}

// half returns the mask of register i of 64-bit elements.
func (l *Lowerer) half(mask []vcode.Reg, i int) vcode.Reg {
	if mask == nil {
		return 0
	}
	m := vcode.Part(mask, i/2)
	if l.Target.HasMasks && i%2 == 0 {
		return m
	}
	d := l.NewMask()
	switch {
	case l.Target.HasMasks:
		l.Def(amd64.KSHIFTRW, d.K(), m.K(), vcode.Imm(int64(l.Target.Lanes/2)))
	case i%2 == 0:
		l.Def(amd64.VPMOVSXDQ, d.Z(), m.Y())
	default:
		h := l.NewVec()
		l.Def(amd64.VEXTRACTI64X4, h.Y(), m.Z(), vcode.Imm(1))
		l.Def(amd64.VPMOVSXDQ, d.Z(), h.Y())
	}
	return d
}

// join joins two masks of 64-bit elements to one mask.
func (l *Lowerer) join(d, lo, hi vcode.Reg) {
	if l.Target.HasMasks {
		l.Def(amd64.KUNPCKBW, d.K(), hi.K(), lo.K())
		return
	}
	t := l.NewVec()
	l.Def(amd64.VSHUFPS, t.Z(), lo.Z(), hi.Z(), vcode.Imm(0x88))
	l.Def(amd64.VPERMQ, d.Z(), t.Z(), vcode.Imm(0xd8))
}

// maskOfScalar emits a mask of all lanes or none, for a general purpose register that is −1 or 0.
func (l *Lowerer) maskOfScalar(m, r vcode.Reg) {
	if l.Target.HasMasks {
		l.Def(amd64.KMOVW, m.K(), r.G4())
	} else {
		l.Def(amd64.VPBROADCASTD, m.Z(), r.G4())
	}
}

// scatterRow makes a contiguous memory operand scattered, for lanes that must not access adjacent elements.
func (l *Lowerer) scatterRow(p *MemRef) {
	p.access, p.Scale = scattered, 1
	p.Offs = vcode.NewVecs(l.Func, l.GangRegs)
	for i := range p.Offs {
		p.Offs[i] = l.LaneOffsets(i, p.Size)
	}
}
