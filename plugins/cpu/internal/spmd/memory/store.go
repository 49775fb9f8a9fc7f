package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Store emits a Store with the checks of its indices.
func (l *Memory) Store(in *ir.Instr) {
	p := l.memRefOf(in)
	v := in.Args[len(in.Args)-1]
	if p.access == broadcast {
		l.storeOne(in, p, v)
		return
	}
	if l.storeNarrow(v, &p) {
		return
	}
	src := l.Stored(p.Scalar, v)
	p.fetched = l.fetched[in]
	if !l.storeTile(in, &p, src) {
		l.storeLanes(&p, src)
	}
}

func (l *Memory) storeLanes(p *MemRef, src []vcode.Reg) {
	n := l.GangRegs
	if p.Size == 8 {
		n = 2 * l.GangRegs
	}
	if p.access == scattered && (p.Size < 4 || !l.Target.HasMasks) || p.mask != nil && p.Size < 4 && !l.Target.HasMasks {
		l.storeEach(p, src)
		return
	}
	if p.access == contiguous {
		if !l.wholeRows(p, src, n) {
			l.storeRows(p, src, n)
		}
		return
	}
	for i := range n {
		m := l.PartMask(p.mask, i, p.Size)
		s := vcode.Part(src, i)
		a := l.Flat(p.Uni)
		km := l.Spoilt(m)
		if p.Size == 8 {
			a.Index, a.IndexSize, a.Scale = l.HalfOffsets(p.Offs, i), 32, p.Scale
			l.Use(amd64.VPSCATTERDQ, a.At(), s.Z()).Mask = km
		} else {
			a.Index, a.IndexSize, a.Scale = vcode.Part(p.Offs, i), 64, p.Scale
			l.Use(amd64.VPSCATTERDD, a.At(), s.Z()).Mask = km
		}
	}
}

// storeRows emits contiguous stores of several vectors.
func (l *Memory) storeRows(p *MemRef, src []vcode.Reg, n int) {
	for i, a := range l.registersOf(p, n) {
		l.StoreRow(p.Scalar, a, vcode.Part(src, i), l.PartMask(p.mask, i, p.Size))
	}
}

// storeOne emits a store to a single element: of the uniform value, or of an active lane's value. In unchecked code, an access out of
// bounds stores nothing.
func (l *Memory) storeOne(in *ir.Instr, p MemRef, v *ir.Value) {
	var src []vcode.Reg
	var whole vcode.Reg
	switch {
	case !l.IsUniform(v) || p.Size < 4 && v.Type.IsFloat():
		src = l.Stored(p.Scalar, v)
	case v.Type.IsFloat():
		whole = l.Vector(v)[0]
	default:
		whole = l.General(v)
	}
	skip := l.NewLabel()
	if p.inside != 0 {
		l.Use(amd64.TEST, p.inside.G4(), p.inside.G4())
		l.Jump(amd64.JE, skip)
	}
	m := p.Uni
	m.Size = uint8(p.Size)
	switch {
	case src != nil: // the value of an arbitrary active lane
		p.access, p.Uni = scattered, l.Flat(p.Uni)
		p.Offs = []vcode.Reg{l.Constant(0, 4)}
		l.storeLanes(&p, src)
	case v.Type == ir.F32:
		l.Use(amd64.VMOVSS, m.At(), whole.X())
	case v.Type == ir.F64:
		l.Use(amd64.VMOVSD, m.At(), whole.X())
	default:
		l.Use(amd64.MOV, m.At(), whole.G(p.Size))
	}
	if at := in.Args[0].Def; src == nil && in.Array.Space == ir.Global && at != nil && at.Op == ir.Load && at.Array.Space == ir.Shared {
		l.fetchAfter(m)
	}
	l.Bind(skip)
}
