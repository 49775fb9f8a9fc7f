package spmd

import (
	"encoding/binary"

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
	array   *ir.Array // nil for a private one that is cleared
	spread  spread
	uni     mem  // the part that is the same for all lanes
	offs    []vr // apart: offsets of 32 bits, by register
	scale   uint8
	mask    []vr // the lanes that take part; nil if all do
	scalar  ir.Type
	size    int
	inside  vr   // together and without faults: 1 if the place is in bounds
	below   vr   // inRow: how many bytes each row of a stacked gang lies behind the one above; 0 if registers follow each other
	fetched bool // of a store: the lines have been fetched
}

// term is an index of an access.
type term struct {
	v      *ir.Value
	stride int64 // bytes
	inner  int   // trailing extents that multiply it
	sure   bool  // all lanes take part, and it is proved to be in bounds
}

// gang is the number of lanes.
func (l *lowerer) gang() int { return l.t.lanes * l.w }

func (l *lowerer) buffer(a *ir.Array) int { return l.layout.buffers + bufSize*a.ID }

// place works out where an access goes and checks it.
func (l *lowerer) place(in *ir.Instr) place {
	r := in.Resolve()
	p := place{array: in.Array, scalar: r.Scalar, size: r.Scalar.Size(), mask: l.cur, scale: 1}
	private := in.Array.Space == ir.Private
	var fixed, moving []term
	allSame := true
	for i := range r.Strides {
		v := in.Args[i]
		allSame = allSame && l.uniform(v)
	}
	for i := range r.Strides {
		v := in.Args[i]
		t := term{v, int64(r.Strides[i]), r.Inner[i], l.cur == nil && in.Proved>>i&1 != 0}
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
		if l.options.stacked {
			p.below = l.rowDistance(in.Array, moving)
		}
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

// consecutive reports whether the lanes of an access lie one after the other, in the rows of a stacked gang.
func (l *lowerer) consecutive(terms []term, size int) bool {
	if l.options.stacked && !l.rowsApart(terms, size) {
		return false
	}
	step := int64(0)
	for _, t := range terms {
		s, ok := l.affine.Strides(t.v)
		if !ok || t.inner != 0 && s[0] != 0 || !l.hasShadow(t.v, 0) {
			return false
		}
		if t.inner == 0 {
			step += int64(s[0]) * t.stride
		}
	}
	return step == int64(size)
}

// maxPeel bounds what constants go from an index into the address, in sum. No extent comes so near to 2^31 that the index
// without them could wrap where the index does not: launches with such extents are left to the interpreter.
const maxPeel = 1 << 16

// sumFixed adds the terms that are the same for all lanes, or those of lane 0, to an address.
func (l *lowerer) sumFixed(a *ir.Array, m *mem, terms []term, unit int64, disp *int64) {
	var rest []part64
	for _, t := range terms {
		p := part64{stride: t.stride * unit, inner: t.inner}
		v := t.v
		if t.inner == 0 {
			if c, ok := smallConst(v); ok && c > -maxPeel && c < maxPeel {
				*disp += c * p.stride
				continue
			}
			peeled := int64(0)
			for v.Def != nil && (v.Def.Op == ir.Add || v.Def.Op == ir.Sub) && v.Type.Size() == 4 {
				c, ok := smallConst(v.Def.Args[1])
				if v.Def.Op == ir.Sub {
					c = -c
				}
				if !ok || peeled+c <= -maxPeel || peeled+c >= maxPeel || !l.hasShadow(v.Def.Args[0], 0) {
					break
				}
				peeled += c
				v = v.Def.Args[0]
			}
			*disp += peeled * p.stride
		}
		p.r = l.wideIndex(l.shadow(v), v.Type)
		if in := &l.insts[len(l.insts)-1]; t.sure && in.op == amd64.MOVSXD && in.a[0].reg == p.r {
			in.steady = true
		}
		if t.inner == 0 && m.index == 0 && (p.stride == 1 || p.stride == 2 || p.stride == 4 || p.stride == 8) {
			m.index, m.indexSize, m.scale = p.r, 8, uint8(p.stride)
			continue
		}
		rest = append(rest, p)
	}
	if len(rest) > 0 {
		m.base, m.fixed = l.rowOf(a, m, rest), 0
	}
}

// part64 is a term of an address: a register times a stride and perhaps a pitch.
type part64 struct {
	r      vr
	stride int64
	inner  int
}

// rowOf gives the register of an address's base and terms, which other accesses in the block may have made already.
func (l *lowerer) rowOf(a *ir.Array, m *mem, terms []part64) vr {
	l.key = binary.AppendUvarint(l.key[:0], uint64(a.ID))
	for _, t := range terms {
		l.key = binary.AppendVarint(binary.AppendUvarint(binary.AppendUvarint(l.key, uint64(t.r)), uint64(t.inner)), t.stride)
	}
	if r, ok := l.rows[string(l.key)]; ok {
		return r
	}
	key := string(l.key)
	at0 := mem{base: m.base, fixed: m.fixed, indexSize: 8}
	var sum vr
	for _, t := range terms {
		r := t.r
		if t.inner != 0 {
			s := l.gpr()
			l.def(amd64.MOV, g8(s), g8(r))
			l.mod(amd64.IMUL, g8(s), g8(l.pitch(a, t.inner)))
			r = s
		}
		if t.stride != 1 && (len(terms) > 1 || t.stride != 2 && t.stride != 4 && t.stride != 8) {
			s := l.gpr()
			l.def(amd64.IMUL, g8(s), g8(r), imm(t.stride))
			r, t.stride = s, 1
		}
		at0.scale = uint8(t.stride)
		if sum == 0 {
			sum = r
			continue
		}
		s := l.gpr()
		l.def(amd64.LEA, g8(s), at(mem{base: sum, index: r, indexSize: 8, scale: 1}))
		sum = s
	}
	at0.index = sum
	d := l.gpr()
	l.def(amd64.LEA, g8(d), at(at0))
	l.rows[key] = d
	l.undo = append(l.undo, func() { delete(l.rows, key) })
	return d
}

// wideIndex extends an index to 64 bits. Indices in bounds are not negative; that of lane 0 may be, if it takes no part.
func (l *lowerer) wideIndex(r vr, t ir.Type) vr {
	if t.Size() == 8 {
		return r
	}
	l.small = l.small || !t.IsSigned() // an index of 2^31 or more would lead before the buffer
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
	data := make([]byte, 0, 64)
	for j := range l.t.lanes {
		data = binary.LittleEndian.AppendUint32(data, uint32((l.t.lanes*i+j)*size))
	}
	return l.pattern(data)
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
