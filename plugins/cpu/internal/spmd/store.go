package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
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
func (l *lowerer) stored(t ir.Type, v *ir.Value) []vr {
	switch t {
	case ir.Bool:
		one := l.constant(1, 4)
		masks := l.condition(v, nil)
		out := newRegs(l.fn, l.w)
		for i, d := range out {
			l.def(amd64.VMOVDQA32, z(d), z(one)).zeroed(masks[i])
		}
		return out
	case ir.F16:
		return l.canonical(v)
	case ir.BF16:
		canonical := l.nans.Canonical(v)
		return l.map1(l.vector(v), func(d, a vr) { l.def(amd64.VPSRLD, z(d), z(l.brain(a, canonical)), imm(16)) })
	}
	return l.vector(v)
}

func (l *lowerer) storeLanes(p *place, src []vr) {
	n := l.w
	if p.size == 8 {
		n = 2 * l.w
	}
	if p.spread == apart && (p.size < 4 || !l.t.masks) || p.mask != nil && p.size < 4 && !l.t.masks {
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
		s := part(src, i)
		a := l.flat(p.uni)
		km := l.spoilt(m)
		if p.size == 8 {
			a.index, a.indexSize, a.scale = l.halfOffsets(p.offs, i), 32, p.scale
			l.use(amd64.VPSCATTERDQ, at(a), z(s)).mask = km
		} else {
			a.index, a.indexSize, a.scale = part(p.offs, i), 64, p.scale
			l.use(amd64.VPSCATTERDD, at(a), z(s)).mask = km
		}
	}
}

// storeRows stores vectors one after the other.
func (l *lowerer) storeRows(p *place, src []vr, n int) {
	for i, a := range l.registersOf(p, n) {
		l.storeRow(p.scalar, a, part(src, i), l.partMask(p.mask, i, p.size))
	}
}

// storeRow stores consecutive elements.
func (l *lowerer) storeRow(t ir.Type, m mem, s, mask vr) {
	switch t {
	case ir.Bool, ir.U8, ir.I8:
		m.size = 16
		l.use(amd64.VPMOVDB, at(m), z(s)).mask = mask
	case ir.U16, ir.I16, ir.BF16:
		m.size = 32
		l.use(amd64.VPMOVDW, at(m), z(s)).mask = mask
	case ir.F16:
		m.size = 32
		l.use(amd64.VCVTPS2PH, at(m), z(s), imm(0)).mask = mask
	case ir.I64, ir.U64, ir.F64:
		l.use(amd64.VMOVUPD, at(m), z(s)).mask = mask
	default:
		l.use(amd64.VMOVUPS, at(m), z(s)).mask = mask
	}
}

// storeOne stores to one place: what all lanes have, or what one of them has.
func (l *lowerer) storeOne(in *ir.Instr, p place, v *ir.Value) {
	var src []vr
	var whole vr
	switch {
	case !l.uniform(v) || p.size < 4 && v.Type.IsFloat():
		src = l.stored(p.scalar, v)
	case v.Type.IsFloat():
		whole = l.vector(v)[0]
	default:
		whole = l.general(v)
	}
	skip := l.label()
	if p.inside != 0 {
		l.use(amd64.TEST, g4(p.inside), g4(p.inside))
		l.jump(amd64.JE, skip)
	}
	m := p.uni
	m.size = uint8(p.size)
	switch {
	case src != nil: // some lane's
		p.spread, p.uni = apart, l.flat(p.uni)
		p.offs = []vr{l.constant(0, 4)}
		l.storeLanes(&p, src)
	case v.Type == ir.F32:
		l.use(amd64.VMOVSS, at(m), x(whole))
	case v.Type == ir.F64:
		l.use(amd64.VMOVSD, at(m), x(whole))
	default:
		l.use(amd64.MOV, at(m), g(whole, p.size))
	}
	l.bind(skip)
}
