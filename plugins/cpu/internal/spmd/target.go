package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// target is a vector unit: what the lowering, the allocation and the host side of traps need to know of it. The lowering
// speaks the instructions of AVX-512 on vectors of any length; a target that lacks some expands them.
type target struct {
	name     string
	features amd64.Features
	lanes    int // elements of 32 bits in a vector
	vectors  int // registers that are given out; those for scratch come after them
	spare    int // vectors more that loops may have, as what lies in memory costs less than to wait for results
	// masks says that conditions of lanes live in mask registers. Elsewhere they are vectors with all bits of a lane set
	// or none; those of 64-bit elements then differ from those of 32-bit ones, see half and join.
	masks          bool
	wholeConstants bool // constants lie in the pool as whole vectors, as instructions cannot broadcast them
}

// scratchVectorRegs is how many vectors hold what lives in memory while one instruction needs it.
const scratchVectorRegs = 3

// bytes is the size of a vector.
func (t *target) bytes() int { return 4 * t.lanes }

var avx512 = target{name: "avx512", features: amd64.ForAVX512, lanes: 16, vectors: 32 - scratchVectorRegs, masks: true}

// least is what every target needs.
const least = amd64.ForAVX2

// targetOf gives the best target for a machine, nil if there is none.
func targetOf(features amd64.Features) *target {
	switch {
	case avx512.features&^features == 0:
		return &avx512
	case avx2.features&^features == 0:
		return &avx2
	}
	return nil
}

// perReg is how many bytes in memory the elements of one register take.
func (l *lowerer) perReg(size int) int {
	if size == 8 {
		return l.t.bytes()
	}
	return l.t.lanes * size
}

// half gives the mask of the lanes of register i of a value of 64-bit elements.
func (l *lowerer) half(mask []vr, i int) vr {
	if mask == nil {
		return 0
	}
	m := part(mask, i/2)
	if l.t.masks && i%2 == 0 {
		return m
	}
	d := l.mask()
	switch {
	case l.t.masks:
		l.def(amd64.KSHIFTRW, k(d), k(m), imm(int64(l.t.lanes/2)))
	case i%2 == 0:
		l.def(amd64.VPMOVSXDQ, z(d), y(m))
	default:
		h := l.vec()
		l.def(amd64.VEXTRACTI64X4, y(h), z(m), imm(1))
		l.def(amd64.VPMOVSXDQ, z(d), y(h))
	}
	return d
}

// join makes a mask of those of its halves, which are of 64-bit elements.
func (l *lowerer) join(d, lo, hi vr) {
	if l.t.masks {
		l.def(amd64.KUNPCKBW, k(d), k(hi), k(lo))
		return
	}
	t := l.vec()
	l.def(amd64.VSHUFPS, z(t), z(lo), z(hi), imm(0x88))
	l.def(amd64.VPERMQ, z(d), z(t), imm(0xd8))
}

// spread makes a mask of all lanes or none from a general register that is −1 or 0.
func (l *lowerer) spread(m, r vr) {
	if l.t.masks {
		l.def(amd64.KMOVW, k(m), g4(r))
	} else {
		l.def(amd64.VPBROADCASTD, z(m), g4(r))
	}
}

// scatterRow turns a place in a row into one with offsets, for lanes that must not touch what lies beside them.
func (l *lowerer) scatterRow(p *place) {
	p.spread, p.scale = apart, 1
	p.offs = newRegs(l.fn, l.w)
	for i := range p.offs {
		p.offs[i] = l.laneOffsets(i, p.size)
	}
}
