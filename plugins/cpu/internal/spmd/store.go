package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// store emits a Store.
func (l *lowerer) store(in *ir.Instr) {
	p := l.place(in)
	v := in.Args[len(in.Args)-1]
	if p.spread == together {
		l.storeOne(in, p, v)
		return
	}
	src := l.stored(p.scalar, v)
	p.fetched = l.fetched[in]
	if !l.storeTile(in, &p, src) {
		l.storeLanes(&p, src)
	}
}

// stored gives the vectors to store, of 32-bit elements where those in memory are smaller.
func (l *lowerer) stored(t ir.Type, v *ir.Value) []vcode.Reg {
	switch t {
	case ir.Bool:
		one := l.Constant(1, 4)
		masks := l.condition(v, nil)
		out := vcode.NewVecs(l.Func, l.w)
		for i, d := range out {
			l.Def(amd64.VMOVDQA32, d.Z(), one.Z()).Zeroed(masks[i])
		}
		return out
	case ir.F16:
		return l.canonical(v)
	case ir.BF16:
		canonical := l.nans.Canonical(v)
		return l.map1(l.vector(v), func(d, a vcode.Reg) { l.Def(amd64.VPSRLD, d.Z(), l.brain(a, canonical).Z(), vcode.Imm(16)) })
	}
	return l.vector(v)
}

func (l *lowerer) storeLanes(p *place, src []vcode.Reg) {
	n := l.w
	if p.size == 8 {
		n = 2 * l.w
	}
	if p.spread == apart && (p.size < 4 || !l.Target.HasMasks) || p.mask != nil && p.size < 4 && !l.Target.HasMasks {
		l.storeEach(p, src)
		return
	}
	if p.spread == inRow {
		if !l.wholeRows(p, src, n) {
			l.storeRows(p, src, n)
		}
		return
	}
	for i := range n {
		m := l.partMask(p.mask, i, p.size)
		s := vcode.Part(src, i)
		a := l.flat(p.uni)
		km := l.spoilt(m)
		if p.size == 8 {
			a.Index, a.IndexSize, a.Scale = l.halfOffsets(p.offs, i), 32, p.scale
			l.Use(amd64.VPSCATTERDQ, a.At(), s.Z()).Mask = km
		} else {
			a.Index, a.IndexSize, a.Scale = vcode.Part(p.offs, i), 64, p.scale
			l.Use(amd64.VPSCATTERDD, a.At(), s.Z()).Mask = km
		}
	}
}

// storeRows stores vectors one after the other.
func (l *lowerer) storeRows(p *place, src []vcode.Reg, n int) {
	for i, a := range l.registersOf(p, n) {
		l.storeRow(p.scalar, a, vcode.Part(src, i), l.partMask(p.mask, i, p.size))
	}
}

// storeRow stores consecutive elements.
func (l *lowerer) storeRow(t ir.Type, m vcode.Mem, s, mask vcode.Reg) {
	switch t {
	case ir.Bool, ir.U8, ir.I8:
		m.Size = 16
		l.Use(amd64.VPMOVDB, m.At(), s.Z()).Mask = mask
	case ir.U16, ir.I16, ir.BF16:
		m.Size = 32
		l.Use(amd64.VPMOVDW, m.At(), s.Z()).Mask = mask
	case ir.F16:
		m.Size = 32
		l.Use(amd64.VCVTPS2PH, m.At(), s.Z(), vcode.Imm(0)).Mask = mask
	case ir.I64, ir.U64, ir.F64:
		l.Use(amd64.VMOVUPD, m.At(), s.Z()).Mask = mask
	default:
		l.Use(amd64.VMOVUPS, m.At(), s.Z()).Mask = mask
	}
}

// storeOne stores to one place: what all lanes have, or what one of them has.
func (l *lowerer) storeOne(in *ir.Instr, p place, v *ir.Value) {
	var src []vcode.Reg
	var whole vcode.Reg
	switch {
	case !l.uniform(v) || p.size < 4 && v.Type.IsFloat():
		src = l.stored(p.scalar, v)
	case v.Type.IsFloat():
		whole = l.vector(v)[0]
	default:
		whole = l.general(v)
	}
	skip := l.NewLabel()
	if p.inside != 0 {
		l.Use(amd64.TEST, p.inside.G4(), p.inside.G4())
		l.Jump(amd64.JE, skip)
	}
	m := p.uni
	m.Size = uint8(p.size)
	switch {
	case src != nil: // some lane's
		p.spread, p.uni = apart, l.flat(p.uni)
		p.offs = []vcode.Reg{l.Constant(0, 4)}
		l.storeLanes(&p, src)
	case v.Type == ir.F32:
		l.Use(amd64.VMOVSS, m.At(), whole.X())
	case v.Type == ir.F64:
		l.Use(amd64.VMOVSD, m.At(), whole.X())
	default:
		l.Use(amd64.MOV, m.At(), whole.G(p.size))
	}
	l.Bind(skip)
}
