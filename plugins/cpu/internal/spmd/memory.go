package spmd

import (
	"encoding/binary"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// spread says how the lanes of an access lie in memory.
type spread uint8

const (
	together spread = iota // all at one place
	inRow                  // one after the other
	apart                  // at offsets in vectors
)

// place is where an access goes.
type place struct {
	spread spread
	uni    mem  // the part that is the same for all lanes
	offs   []vr // apart: offsets of 32 bits, by register
	scale  uint8
	mask   []vr // the lanes that take part; nil if all do
	scalar ir.Type
	size   int
	inside vr // together and without faults: 1 if the place is in bounds
}

// term is an index of an access.
type term struct {
	v      *ir.Value
	stride int64 // bytes
	inner  int   // trailing extents that multiply it
}

// gang is the number of lanes.
func (l *lowerer) gang() int { return lanes * l.w }

func (l *lowerer) buffer(a *ir.Array) int { return l.layout.buffers + bufSize*a.ID }

// place works out where an access goes and checks it.
func (l *lowerer) place(in *ir.Instr) place {
	r := in.Resolve()
	p := place{scalar: r.Scalar, size: r.Scalar.Size(), mask: l.cur, scale: 1}
	private := in.Array.Space == ir.Private
	var fixed, moving []term
	allSame := true
	for i := range r.Strides {
		v := in.Args[i]
		allSame = allSame && l.uniform(v)
	}
	for i := range r.Strides {
		v := in.Args[i]
		t := term{v, int64(r.Strides[i]), r.Inner[i]}
		if l.uniform(v) {
			fixed = append(fixed, t)
		} else {
			moving = append(moving, t)
		}
		if in.Proved>>i&1 == 0 {
			l.checkIndex(in, i, r.Extents[i], &p, allSame)
		}
	}
	disp := int64(r.Offset)
	switch in.Array.Space {
	case ir.Private:
		disp = (disp+int64(l.layout.private[in.Array.ID]))*int64(l.gang()) + frameHead
		p.uni.fixed = regFrame
	default:
		p.uni.base = l.base(in.Array)
	}
	unit := int64(1)
	if private {
		unit = int64(l.gang())
	}
	switch {
	case len(moving) == 0 && !private:
		p.spread = together
	case len(moving) == 0:
		p.spread = inRow
	case !private && l.consecutive(moving, p.size):
		p.spread = inRow
		fixed = append(fixed, moving...)
		moving = nil
	default:
		p.spread = apart
	}
	l.sumFixed(in.Array, &p.uni, fixed, unit, &disp)
	if int64(int32(disp)) != disp {
		l.refuse("an array of %d bytes in each item", disp)
	}
	p.uni.disp = int32(disp)
	if p.spread == apart {
		l.sumMoving(in.Array, &p, moving, private)
	}
	return p
}

// consecutive reports whether the lanes of an access lie one after the other.
func (l *lowerer) consecutive(terms []term, size int) bool {
	step := int64(0)
	for _, t := range terms {
		s, ok := l.affine.Strides(t.v)
		if !ok || t.inner != 0 || !l.hasShadow(t.v, 0) {
			return false
		}
		step += int64(s[0]) * t.stride
	}
	return step == int64(size)
}

// maxShadow bounds how deep the arithmetic of an index is followed.
const maxShadow = 12

// hasShadow reports whether the value of lane 0 can be computed in general registers.
func (l *lowerer) hasShadow(v *ir.Value, depth int) bool {
	if l.uniform(v) {
		return v.Type.IsInt()
	}
	in := v.Def
	if in == nil || depth > maxShadow {
		return false
	}
	switch in.Op {
	case ir.Item:
		return (in.Item == ir.GlobalID || in.Item == ir.LocalID) && in.Axis == 0
	case ir.Add, ir.Sub:
		return l.hasShadow(in.Args[0], depth+1) && l.hasShadow(in.Args[1], depth+1)
	case ir.Neg:
		return l.hasShadow(in.Args[0], depth+1)
	case ir.Mul:
		return l.hasShadow(in.Args[0], depth+1) && l.hasShadow(in.Args[1], depth+1)
	case ir.Shl:
		_, ok := smallConst(in.Args[1])
		return ok && l.hasShadow(in.Args[0], depth+1)
	case ir.Wrap, ir.Bitcast:
		return in.Args[0].Type.IsInt() && in.Args[0].Type.Size() == 4 && l.hasShadow(in.Args[0], depth+1)
	}
	return false
}

// shadow gives the value of lane 0, of 32 bits.
func (l *lowerer) shadow(v *ir.Value) vr {
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
	var d vr
	if in.Op == ir.Item {
		d = l.item.x
		if in.Item == ir.LocalID {
			d = l.item.local
		}
	} else {
		d = l.gpr()
		a := l.shadow(in.Args[0])
		switch in.Op {
		case ir.Neg:
			l.def(amd64.MOV, g8(d), g8(a))
			l.mod(amd64.NEG, g4(d))
		case ir.Shl:
			c, _ := smallConst(in.Args[1])
			l.def(amd64.MOV, g8(d), g8(a))
			l.mod(amd64.SHL, g4(d), imm(c&31))
		default:
			op := scalarOps[in.Op]
			if c, ok := smallConst(in.Args[1]); ok && in.Op != ir.Mul {
				l.def(amd64.MOV, g8(d), g8(a))
				l.mod(op, g4(d), imm(c))
			} else {
				b := l.shadow(in.Args[1])
				l.def(amd64.MOV, g8(d), g8(a))
				l.mod(op, g4(d), g4(b))
			}
		}
	}
	l.vals[v.ID].shadow = d
	l.undo = append(l.undo, func() { l.vals[v.ID].shadow = 0 })
	return d
}

// maxPeel bounds the constants that go from an index into the address. No extent comes so near to 2^31 that the sum
// could wrap where the index does not: launches with such extents are left to the interpreter.
const maxPeel = 1 << 16

// sumFixed adds the terms that are the same for all lanes, or those of lane 0, to an address.
func (l *lowerer) sumFixed(a *ir.Array, m *mem, terms []term, unit int64, disp *int64) {
	var sum vr
	for _, t := range terms {
		v, stride := t.v, t.stride*unit
		if t.inner == 0 {
			if c, ok := smallConst(v); ok && c > -maxPeel && c < maxPeel {
				*disp += c * stride
				continue
			}
			for v.Def != nil && (v.Def.Op == ir.Add || v.Def.Op == ir.Sub) && v.Type.Size() == 4 {
				c, ok := smallConst(v.Def.Args[1])
				if !ok || c <= -maxPeel || c >= maxPeel || !l.hasShadow(v.Def.Args[0], 0) {
					break
				}
				if v.Def.Op == ir.Sub {
					c = -c
				}
				*disp += c * stride
				v = v.Def.Args[0]
			}
		}
		r := l.wideIndex(l.shadow(v), v.Type)
		if t.inner == 0 && m.index == 0 && (stride == 1 || stride == 2 || stride == 4 || stride == 8) {
			m.index, m.indexSize, m.scale = r, 8, uint8(stride)
			continue
		}
		if t.inner != 0 {
			p := l.pitch(a, t.inner)
			s := l.gpr()
			l.def(amd64.MOV, g8(s), g8(r))
			l.mod(amd64.IMUL, g8(s), g8(p))
			r = s
		}
		if stride != 1 {
			s := l.gpr()
			l.def(amd64.IMUL, g8(s), g8(r), imm(stride))
			r = s
		}
		if sum == 0 {
			sum = r
		} else {
			s := l.gpr()
			l.def(amd64.LEA, g8(s), at(mem{base: sum, index: r, indexSize: 8, scale: 1}))
			sum = s
		}
	}
	switch {
	case sum == 0:
	case m.index == 0:
		m.index, m.indexSize, m.scale = sum, 8, 1
	default:
		s := l.gpr()
		l.def(amd64.LEA, g8(s), at(mem{base: m.base, fixed: m.fixed, index: sum, indexSize: 8, scale: 1}))
		m.base, m.fixed = s, 0
	}
}

// wideIndex extends an index to 64 bits. Indices in bounds are not negative; that of lane 0 may be, if it takes no part.
func (l *lowerer) wideIndex(r vr, t ir.Type) vr {
	if t.Size() == 8 {
		return r
	}
	if d, ok := l.wide[r]; ok {
		return d
	}
	d := l.gpr()
	l.def(amd64.MOVSXD, g8(d), g4(r))
	l.wide[r] = d
	l.undo = append(l.undo, func() { delete(l.wide, r) })
	return d
}

// sumMoving adds the terms that differ between lanes.
func (l *lowerer) sumMoving(a *ir.Array, p *place, terms []term, private bool) {
	l.small = true
	if len(terms) == 1 && terms[0].inner == 0 && !private {
		switch s := terms[0].stride; s {
		case 1, 2, 4, 8:
			p.offs, p.scale = l.narrowIndex(terms[0].v), uint8(s)
			return
		}
	}
	for _, t := range terms {
		idx := l.narrowIndex(t.v)
		stride := t.stride
		if private {
			stride *= int64(l.gang())
		}
		factor := l.constant(uint64(stride), 4)
		if t.inner != 0 {
			pitch := l.splat(l.pitch(a, t.inner), ir.I32)
			d := l.vec()
			l.op2(amd64.VPMULLD, d, pitch, factor, 4)
			factor = d
		}
		offs := newRegs(l.fn, l.w)
		for i, d := range offs {
			l.op2(amd64.VPMULLD, d, part(idx, i), factor, 4)
			if p.offs != nil {
				l.op2(amd64.VPADDD, d, d, p.offs[i], 4)
			}
		}
		p.offs = offs
	}
	if private {
		for i, o := range p.offs {
			d := l.vec()
			l.op2(amd64.VPADDD, d, o, l.laneOffsets(i, p.size), 4)
			p.offs[i] = d
		}
	}
}

// narrowIndex gives an index in 32 bits; in bounds it fits.
func (l *lowerer) narrowIndex(v *ir.Value) []vr {
	idx := l.vector(v)
	if v.Type.Size() == 8 {
		return l.narrow(idx, amd64.VPMOVQD, l.uniform(v))
	}
	return idx
}

// laneOffsets is the vector of the numbers of the lanes of register i times a size.
func (l *lowerer) laneOffsets(i, size int) vr {
	var data [64]byte
	for j := range lanes {
		binary.LittleEndian.PutUint32(data[4*j:], uint32((lanes*i+j)*size))
	}
	return l.pattern(data[:])
}

// flat turns the part of an address that is the same for all lanes into a base and a displacement, as an address with a
// vector of offsets needs it.
func (l *lowerer) flat(m mem) mem {
	if m.index == 0 {
		return m
	}
	d := l.gpr()
	l.def(amd64.LEA, g8(d), at(m))
	return mem{base: d}
}

// checkIndex checks an index of an access that is not proved to be in bounds.
func (l *lowerer) checkIndex(in *ir.Instr, axis, extent int, p *place, allSame bool) {
	v := in.Args[axis]
	if !l.uniform(v) {
		l.checkLanes(in, axis, extent, p)
		return
	}
	if l.options.Unchecked && (!allSame || in.Array.Space == ir.Private) {
		l.checkLanes(in, axis, extent, p)
		return
	}
	r := l.general(v)
	size := v.Type.Size()
	flat := extent == ir.Flat && in.Array.Rank > 1
	if flat && size == 4 {
		d := l.gpr()
		if v.Type.IsSigned() {
			l.def(amd64.MOVSXD, g8(d), g4(r))
		} else {
			l.def(amd64.MOV, g4(d), g4(r))
		}
		r, size = d, 8
	}
	if extent >= 0 {
		l.use(amd64.CMP, g(r, size), imm(int64(extent)))
	} else {
		l.use(amd64.CMP, g(r, size), at(l.extentMem(in.Array, extent, size)))
	}
	if l.options.Unchecked {
		b := l.gpr()
		l.def(amd64.SETB, g(b, 1))
		l.def(amd64.MOVZX, g4(b), g(b, 1))
		if p.inside != 0 {
			l.mod(amd64.AND, g4(b), g4(p.inside))
		}
		p.inside = b
		return
	}
	bad := l.label()
	l.jump(amd64.JAE, bad)
	l.cold(func() {
		l.bind(bad)
		l.fault(in, axis, []vr{r}, l.cur)
	})
}

// extentMem is where an extent of a buffer is.
func (l *lowerer) extentMem(a *ir.Array, extent, size int) mem {
	if extent == ir.Flat {
		if a.Rank == 1 {
			return ctxMem(l.buffer(a)+bufDims, size)
		}
		return ctxMem(l.buffer(a)+bufTotal, size)
	}
	return ctxMem(l.buffer(a)+bufDims+8*(-1-extent), size)
}

// checkLanes compares the indices of all lanes with an extent.
func (l *lowerer) checkLanes(in *ir.Instr, axis, extent int, p *place) {
	v := in.Args[axis]
	e := v.Type.Size()
	idx := l.vector(v)
	var limit vr
	if extent >= 0 {
		limit = l.constant(uint64(extent), e)
	} else {
		limit = l.limit(in.Array, extent, e)
	}
	bad := l.masks(l.w)
	for i, d := range bad {
		var m vr
		if p.mask != nil {
			m = p.mask[i]
		}
		if e == 4 {
			l.def(amd64.VPCMPUD, k(d), z(part(idx, i)), z(limit), imm(5)).folds(2, 4).mask = m
			continue
		}
		lo, hi := l.mask(), l.mask()
		l.def(amd64.VPCMPUQ, k(lo), z(part(idx, 2*i)), z(limit), imm(5)).folds(2, 8)
		l.def(amd64.VPCMPUQ, k(hi), z(part(idx, 2*i+1)), z(limit), imm(5)).folds(2, 8)
		l.def(amd64.KUNPCKBW, k(d), k(hi), k(lo))
		if m != 0 {
			l.def(amd64.KANDW, k(d), k(d), k(m))
		}
	}
	if l.options.Unchecked {
		out := l.masks(l.w)
		for i, d := range out {
			if p.mask == nil {
				l.def(amd64.KNOTW, k(d), k(bad[i]))
			} else {
				l.def(amd64.KANDNW, k(d), k(bad[i]), k(p.mask[i]))
			}
		}
		p.mask = out
		return
	}
	slow := l.label()
	l.branchSome(bad, slow)
	l.cold(func() {
		l.bind(slow)
		l.fault(in, axis, idx, bad)
	})
}

// limit gives the vector of an extent of a buffer.
func (l *lowerer) limit(a *ir.Array, extent, size int) vr {
	d := l.vec()
	if extent == ir.Flat && a.Rank > 1 {
		l.small = true // the number of elements fits 32 bits
	}
	l.def(sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), z(d), at(l.extentMem(a, extent, size)))
	return d
}

// fault emits the report of a fault and the end of the gang.
func (l *lowerer) fault(in *ir.Instr, axis int, index, bad []vr) {
	t := trap{in: in, kind: trapBounds, axis: axis, args: [][]vr{index}, mask: bad}
	l.trapOut(t)
}

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
	perReg := lanes * p.size
	if r.Type.Size() == 8 {
		perReg = 64
	}
	for i, d := range out {
		m := l.partMask(p.mask, i, r.Type.Size())
		if p.spread == inRow {
			a := p.uni
			a.disp += int32(i * perReg)
			l.loadRow(p.scalar, d, a, m)
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

// store emits a Store.
func (l *lowerer) store(in *ir.Instr) {
	p := l.place(in)
	v := in.Args[len(in.Args)-1]
	if p.spread == together {
		l.storeOne(in, p, v)
		return
	}
	src := l.stored(p.scalar, v)
	l.storeLanes(&p, src)
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
	case ir.BF16:
		return l.map1(l.vector(v), func(d, a vr) { l.def(amd64.VPSRLD, z(d), z(l.brain(a)), imm(16)) })
	}
	return l.vector(v)
}

func (l *lowerer) storeLanes(p *place, src []vr) {
	n := l.w
	if p.size == 8 {
		n = 2 * l.w
	}
	if p.spread == apart && p.size < 4 {
		l.storeEach(p, src)
		return
	}
	perReg := lanes * p.size
	if p.size == 8 {
		perReg = 64
	}
	for i := range n {
		m := l.partMask(p.mask, i, p.size)
		s := part(src, i)
		if p.spread == inRow {
			a := p.uni
			a.disp += int32(i * perReg)
			l.storeRow(p.scalar, a, s, m)
			continue
		}
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

// zero emits a Zero.
func (l *lowerer) zero(in *ir.Instr) {
	a := in.Array
	zero := l.constant(0, 4)
	from := l.layout.private[a.ID] * l.gang()
	if l.cur == nil || len(l.scopes) == 0 {
		// All lanes, or lanes that the others do not look at.
		n := a.Bytes() * l.gang()
		l.clear(mem{fixed: regFrame, disp: int32(frameHead + from)}, n, zero)
		return
	}
	each := func(t ir.Type, offset int) {
		p := place{spread: inRow, scalar: t, size: t.Size(), mask: l.cur, uni: mem{fixed: regFrame,
			disp: int32(frameHead + from + offset*l.gang())}}
		l.storeLanes(&p, []vr{l.constant(0, max(t.Size(), 4))})
	}
	var walk func(e ir.Elem, dims []int, offset int)
	walk = func(e ir.Elem, dims []int, offset int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		for i := range n {
			at := offset + i*e.Size()
			if e.Record == nil {
				each(e.Scalar, at)
				continue
			}
			for j := range e.Record.Fields {
				f := &e.Record.Fields[j]
				walk(f.Elem, f.Dims, at+f.Offset)
			}
		}
	}
	if a.Bytes() > 4096 {
		l.refuse("clearing an array of %d bytes for some lanes", a.Bytes())
	}
	walk(a.Elem, a.Dims, 0)
}

// clear sets memory to zero: n bytes, a multiple of the lanes.
func (l *lowerer) clear(m mem, n int, zero vr) {
	if n <= 1024 {
		for off := 0; off < n; off += 16 {
			a := m
			a.disp += int32(off)
			switch left := n - off; {
			case left >= 64:
				l.use(amd64.VMOVUPS, at(a), z(zero))
				off += 48
			case left >= 32:
				l.use(amd64.VMOVUPS, at(a), y(zero))
				off += 16
			default:
				l.use(amd64.VMOVUPS, at(a), x(zero))
			}
		}
		return
	}
	i := l.gpr()
	top := l.label()
	whole := n / 64 * 64
	l.def(amd64.MOV, g4(i), imm(0))
	l.mark(kindLoopBegin)
	l.bind(top)
	a := m
	a.index, a.indexSize, a.scale = i, 8, 1
	l.use(amd64.VMOVUPS, at(a), z(zero))
	l.mod(amd64.ADD, g8(i), imm(64))
	l.use(amd64.CMP, g8(i), imm(int64(whole)))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
	m.disp += int32(whole)
	if n > whole {
		l.clear(m, n-whole, zero)
	}
}
