package spmd

import (
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// perReg is how many bytes in memory the elements of one register take.
func (l *analysis) perReg(size int) int {
	if size == 8 {
		return l.options.target.Bytes()
	}
	return l.options.target.Lanes * size
}

// half gives the mask of the lanes of register i of a value of 64-bit elements.
func (l *lowerer) half(mask []vcode.Reg, i int) vcode.Reg {
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

// join makes a mask of those of its halves, which are of 64-bit elements.
func (l *lowerer) join(d, lo, hi vcode.Reg) {
	if l.Target.HasMasks {
		l.Def(amd64.KUNPCKBW, d.K(), hi.K(), lo.K())
		return
	}
	t := l.NewVec()
	l.Def(amd64.VSHUFPS, t.Z(), lo.Z(), hi.Z(), vcode.Imm(0x88))
	l.Def(amd64.VPERMQ, d.Z(), t.Z(), vcode.Imm(0xd8))
}

// spread makes a mask of all lanes or none from a general register that is −1 or 0.
func (l *lowerer) spread(m, r vcode.Reg) {
	if l.Target.HasMasks {
		l.Def(amd64.KMOVW, m.K(), r.G4())
	} else {
		l.Def(amd64.VPBROADCASTD, m.Z(), r.G4())
	}
}

// scatterRow turns a place in a row into one with offsets, for lanes that must not touch what lies beside them.
func (l *lowerer) scatterRow(p *place) {
	p.spread, p.scale = apart, 1
	p.offs = vcode.NewVecs(l.Func, l.w)
	for i := range p.offs {
		p.offs[i] = l.laneOffsets(i, p.size)
	}
}
