package spmd

import (
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// partMask gives the mask of register i of 64-bit elements, or none.
func (l *lowerer) partMask(mask []vr, i, size int) vr {
	if mask == nil {
		return 0
	}
	if size == 8 {
		return l.half(mask, i)
	}
	return part(mask, i)
}

// load emits a Load.
func (l *lowerer) load(in *ir.Instr) {
	if l.loadColumn(in) {
		return
	}
	p := l.place(in)
	r := in.Result()
	if p.spread == together {
		l.loadOne(in, p)
		return
	}
	n := l.regsOf(r.Type)
	if r.Type == ir.Bool {
		n = l.w
	}
	out := newRegs(l.fn, n)
	if p.spread == inRow && p.mask != nil && p.size < 4 && !l.t.masks {
		l.scatterRow(&p)
	}
	perReg := l.perReg(p.size)
	if p.spread == inRow && p.below == 0 && l.uses[r.ID].loop == nil { // what a loop loads next lies elsewhere
		l.prefetchRow(&p, n*perReg)
	}
	if p.spread == inRow && p.below == 0 {
		l.prefetchLoop(in, &p, n*perReg)
	}
	var rows []mem
	if p.spread == inRow {
		rows = l.registersOf(&p, n)
	}
	for i, d := range out {
		m := l.partMask(p.mask, i, r.Type.Size())
		if p.spread == inRow {
			l.loadRow(p.scalar, d, rows[i], m)
		} else {
			l.gather(&p, i, d, m)
		}
	}
	if r.Type != ir.Bool {
		l.set(r, value{vec: out})
		return
	}
	masks := l.masks(l.w)
	for i, d := range masks {
		l.def(amd64.VPTESTMD, k(d), z(out[i]), z(out[i]))
	}
	l.set(r, value{masks: masks})
}

// loadRow loads consecutive elements.
func (l *lowerer) loadRow(t ir.Type, d vr, m mem, mask vr) {
	op := amd64.VMOVUPS
	switch t {
	case ir.Bool, ir.U8:
		op, m.size = amd64.VPMOVZXBD, 16
	case ir.I8:
		op, m.size = amd64.VPMOVSXBD, 16
	case ir.U16, ir.BF16:
		op, m.size = amd64.VPMOVZXWD, 32
	case ir.I16:
		op, m.size = amd64.VPMOVSXWD, 32
	case ir.F16:
		op, m.size = amd64.VCVTPH2PS, 32
	case ir.I64, ir.U64, ir.F64:
		op = amd64.VMOVUPD
	}
	l.def(op, z(d), at(m)).zeroed(mask)
	if t == ir.BF16 {
		l.def(amd64.VPSLLD, z(d), z(d), imm(16))
	}
}

// spoilt gives a mask register for a gather or scatter, which spoils it.
func (l *lowerer) spoilt(mask vr) vr {
	m := l.mask()
	if mask == 0 {
		l.full(m)
	} else {
		l.def(amd64.KMOVW, k(m), k(mask))
	}
	return m
}

// gather loads elements from different places.
func (l *lowerer) gather(p *place, i int, d vr, mask vr) {
	uni := l.flat(p.uni)
	l.def(amd64.VPXORD, z(d), z(d), z(d))
	m := l.spoilt(mask)
	if p.size == 8 {
		offs := l.halfOffsets(p.offs, i)
		uni.index, uni.indexSize, uni.scale = offs, 32, p.scale
		l.gatherOp(amd64.VPGATHERDQ, d, uni, m)
		return
	}
	offs := part(p.offs, i)
	if p.size == 4 {
		uni.index, uni.indexSize, uni.scale = offs, 64, p.scale
		l.gatherOp(amd64.VPGATHERDD, d, uni, m)
		return
	}
	// Smaller elements are taken out of the aligned words around them, which lie in the same page.
	first, base, bytes := l.gpr(), l.gpr(), l.vec()
	l.def(amd64.LEA, g8(first), at(uni))
	l.def(amd64.MOV, g8(base), g8(first))
	l.mod(amd64.AND, g8(base), imm(-4))
	l.mod(amd64.AND, g4(first), imm(3))
	start := l.splat(first, ir.I32)
	if p.scale > 1 {
		l.def(amd64.VPSLLD, z(bytes), z(offs), imm(int64(bits.TrailingZeros8(p.scale))))
		l.op2(amd64.VPADDD, bytes, bytes, start, 4)
	} else {
		l.op2(amd64.VPADDD, bytes, offs, start, 4)
	}
	word, count := l.vec(), l.vec()
	l.op2(amd64.VPANDD, word, bytes, l.constant(^uint64(3), 4), 4)
	l.op2(amd64.VPANDD, count, bytes, l.constant(3, 4), 4)
	l.def(amd64.VPSLLD, z(count), z(count), imm(3))
	raw := l.vec()
	l.def(amd64.VPXORD, z(raw), z(raw), z(raw))
	l.gatherOp(amd64.VPGATHERDD, raw, mem{base: base, index: word, indexSize: 64, scale: 1}, m)
	l.op2(amd64.VPSRLVD, raw, raw, count, 4)
	up := int64(32 - 8*p.size)
	switch p.scalar {
	case ir.BF16:
		l.def(amd64.VPSLLD, z(d), z(raw), imm(16))
	case ir.F16:
		h := l.vec()
		l.def(amd64.VPMOVDW, y(h), z(raw))
		l.def(amd64.VCVTPH2PS, z(d), y(h))
	default:
		l.def(amd64.VPSLLD, z(raw), z(raw), imm(up))
		op := amd64.VPSRLD
		if p.scalar == ir.I8 || p.scalar == ir.I16 {
			op = amd64.VPSRAD
		}
		l.def(op, z(d), z(raw), imm(up))
	}
}

func (l *lowerer) gatherOp(op amd64.Op, d vr, m mem, mask vr) {
	in := l.mod(op, z(d), at(m))
	in.mask, in.early = mask, true
}

// halfOffsets gives the 8 offsets of register i of 64-bit elements.
func (l *lowerer) halfOffsets(offs []vr, i int) vr {
	o := part(offs, i/2)
	if i%2 == 0 {
		return o
	}
	d := l.vec()
	l.def(amd64.VEXTRACTI64X4, y(d), z(o), imm(1))
	return d
}

// loadOne loads one element for all lanes.
func (l *lowerer) loadOne(in *ir.Instr, p place) {
	r := in.Result()
	m := p.uni
	if p.inside != 0 {
		a, zero := l.gpr(), l.gpr()
		l.def(amd64.LEA, g8(a), at(m))
		l.def(amd64.LEA, g8(zero), at(ctxMem(ctxZero, 8)))
		l.use(amd64.TEST, g4(p.inside), g4(p.inside))
		l.mod(amd64.CMOVE, g8(a), g8(zero))
		m = mem{base: a}
	}
	switch p.scalar {
	case ir.F32, ir.F64, ir.F16, ir.BF16:
		d := l.vec()
		switch p.scalar {
		case ir.F32:
			l.def(amd64.VBROADCASTSS, z(d), at(m))
		case ir.F64:
			l.def(amd64.VBROADCASTSD, z(d), at(m))
		case ir.F16:
			h := l.vec()
			l.def(amd64.VPBROADCASTW, y(h), at(m))
			l.def(amd64.VCVTPH2PS, z(d), y(h))
		default:
			l.def(amd64.VPBROADCASTW, z(d), at(m))
			l.def(amd64.VPSLLD, z(d), z(d), imm(16))
		}
		l.setLoaded(r, value{vec: []vr{d}})
		return
	}
	d := l.gpr()
	m.size = uint8(p.size)
	switch p.scalar {
	case ir.Bool:
		l.use(amd64.CMP, at(m), imm(0))
		l.def(amd64.SETNE, g(d, 1))
		l.def(amd64.MOVZX, g4(d), g(d, 1))
	case ir.U8, ir.U16:
		l.def(amd64.MOVZX, g4(d), at(m))
	case ir.I8, ir.I16:
		l.def(amd64.MOVSX, g4(d), at(m))
	default:
		l.def(amd64.MOV, g(d, p.size), at(m))
	}
	l.setLoaded(r, value{g: d})
}

// setLoaded records a loaded element, whose place is the same for all lanes, where the analysis may not say so of the
// value.
func (l *lowerer) setLoaded(r *ir.Value, v value) {
	if l.uniform(r) {
		l.set(r, v)
		return
	}
	if r.Type == ir.Bool {
		m := l.maskOf(v.g)
		masks := make([]vr, l.w)
		for i := range masks {
			masks[i] = m
		}
		l.set(r, value{masks: masks})
		return
	}
	if v.vec == nil {
		v.vec = []vr{l.splat(v.g, r.Type)}
	}
	full := make([]vr, l.regsOf(r.Type))
	for i := range full {
		full[i] = v.vec[0]
	}
	l.vals[r.ID] = value{vec: full}
}
