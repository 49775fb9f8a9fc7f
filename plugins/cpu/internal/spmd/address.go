package spmd

import (
	"encoding/binary"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
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
	uni     vcode.Mem   // the part that is the same for all lanes
	offs    []vcode.Reg // apart: offsets of 32 bits, by register
	scale   uint8
	mask    []vcode.Reg // the lanes that take part; nil if all do
	scalar  ir.Type
	size    int
	inside  vcode.Reg // together and without faults: 1 if the place is in bounds
	below   vcode.Reg // inRow: how many bytes each row of a stacked gang lies behind the one above; 0 if registers follow each other
	perRow  bool      // inRow, of a load in a stacked gang: the lanes of a row load the same element
	oneRow  bool      // inRow, of a load in a stacked gang: all rows load the same elements
	fetched bool      // of a store: the lines have been fetched
}

// term is an index of an access.
type term struct {
	v      *ir.Value
	stride int64 // bytes
	inner  int   // trailing extents that multiply it
	sure   bool  // all lanes take part, and it is proved to be in bounds
}

// gang is the number of lanes.
func (l *analysis) gang() int { return l.options.target.Lanes * l.w }

func (l *lowerer) buffer(a *ir.Array) int { return l.layout.Buffers + abi.BufSize*a.ID }

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
		disp = (disp+int64(l.layout.Private[in.Array.ID]))*int64(l.gang()) + abi.FrameHead
		p.uni.Fixed = abi.Frame
	default:
		p.uni.Base = l.base(in.Array)
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
		p.oneRow = in.Op == ir.Load && p.mask == nil && l.options.stacked && l.sameOn(moving, 1)
		if l.options.stacked && !p.oneRow {
			p.below = l.rowDistance(in.Array, moving)
		}
		fixed = append(fixed, moving...)
		moving = nil
	case in.Op == ir.Load && p.mask == nil && p.size >= 4 && !private && l.options.stacked && l.sameOn(moving, 0) && l.rowsApart(moving, p.size):
		p.spread, p.perRow = inRow, true
		p.below = l.rowDistance(in.Array, moving)
		fixed = append(fixed, moving...)
		moving = nil
	default:
		p.spread = apart
	}
	l.sumFixed(in.Array, &p.uni, fixed, unit, &disp)
	if int64(int32(disp)) != disp {
		l.refuse("an array of %d bytes in each item", disp)
	}
	p.uni.Disp = int32(disp)
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

// sameOn reports whether the indices of an access are the same for the lanes of a gang that differ on an axis only, and are
// known in lane 0.
func (l *lowerer) sameOn(terms []term, axis int) bool {
	for _, t := range terms {
		if s, ok := l.affine.Strides(t.v); !ok || s[axis] != 0 || !l.hasShadow(t.v, 0) {
			return false
		}
	}
	return true
}

// sumFixed adds the terms that are the same for all lanes, or those of lane 0, to an address.
func (l *lowerer) sumFixed(a *ir.Array, m *vcode.Mem, terms []term, unit int64, disp *int64) {
	var rest []part64
	for _, t := range terms {
		p := part64{stride: t.stride * unit, inner: t.inner}
		v := t.v
		if t.inner == 0 {
			if c, ok := smallConst(v); ok && c > -vcode.MaxPeel && c < vcode.MaxPeel {
				*disp += c * p.stride
				continue
			}
			peeled := int64(0)
			for v.Def != nil && (v.Def.Op == ir.Add || v.Def.Op == ir.Sub) && v.Type.Size() == 4 {
				c, ok := smallConst(v.Def.Args[1])
				if v.Def.Op == ir.Sub {
					c = -c
				}
				if !ok || peeled+c <= -vcode.MaxPeel || peeled+c >= vcode.MaxPeel || !l.hasShadow(v.Def.Args[0], 0) {
					break
				}
				peeled += c
				v = v.Def.Args[0]
			}
			*disp += peeled * p.stride
		}
		p.r = l.wideIndex(l.shadow(v), v.Type)
		if in := &l.Insts[len(l.Insts)-1]; t.sure && in.Op == amd64.MOVSXD && in.Args[0].Reg == p.r {
			in.Steady = true
		}
		if t.inner == 0 && m.Index == 0 && (p.stride == 1 || p.stride == 2 || p.stride == 4 || p.stride == 8) {
			m.Index, m.IndexSize, m.Scale = p.r, 8, uint8(p.stride)
			continue
		}
		rest = append(rest, p)
	}
	if len(rest) > 0 {
		m.Base, m.Fixed = l.rowOf(a, m, rest), 0
	}
}

// part64 is a term of an address: a register times a stride and perhaps a pitch.
type part64 struct {
	r      vcode.Reg
	stride int64
	inner  int
}

// rowOf gives the register of an address's base and terms, which other accesses in the block may have made already.
func (l *lowerer) rowOf(a *ir.Array, m *vcode.Mem, terms []part64) vcode.Reg {
	l.key = binary.AppendUvarint(l.key[:0], uint64(a.ID))
	for _, t := range terms {
		l.key = binary.AppendVarint(binary.AppendUvarint(binary.AppendUvarint(l.key, uint64(t.r)), uint64(t.inner)), t.stride)
	}
	if r, ok := l.rows[string(l.key)]; ok {
		return r
	}
	key := string(l.key)
	at0 := vcode.Mem{Base: m.Base, Fixed: m.Fixed, IndexSize: 8}
	var sum vcode.Reg
	for _, t := range terms {
		r := t.r
		if t.inner != 0 {
			s := l.NewGPR()
			l.Def(amd64.MOV, s.G8(), r.G8())
			l.Mod(amd64.IMUL, s.G8(), l.pitch(a, t.inner).G8())
			r = s
		}
		if t.stride != 1 && (len(terms) > 1 || t.stride != 2 && t.stride != 4 && t.stride != 8) {
			s := l.NewGPR()
			l.Def(amd64.IMUL, s.G8(), r.G8(), vcode.Imm(t.stride))
			r, t.stride = s, 1
		}
		at0.Scale = uint8(t.stride)
		if sum == 0 {
			sum = r
			continue
		}
		s := l.NewGPR()
		l.Def(amd64.LEA, s.G8(), vcode.Mem{Base: sum, Index: r, IndexSize: 8, Scale: 1}.At())
		sum = s
	}
	at0.Index = sum
	d := l.NewGPR()
	l.Def(amd64.LEA, d.G8(), at0.At())
	l.rows[key] = d
	l.undo = append(l.undo, func() { delete(l.rows, key) })
	return d
}

// wideIndex extends an index to 64 bits. Indices in bounds are not negative; that of lane 0 may be, if it takes no part.
func (l *lowerer) wideIndex(r vcode.Reg, t ir.Type) vcode.Reg {
	if t.Size() == 8 {
		return r
	}
	l.small = l.small || !t.IsSigned() // an index of 2^31 or more would lead before the buffer
	if d, ok := l.wide[r]; ok {
		return d
	}
	d := l.NewGPR()
	l.Def(amd64.MOVSXD, d.G8(), r.G4())
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
		factor := l.Constant(uint64(stride), 4)
		if t.inner != 0 {
			pitch := l.splat(l.pitch(a, t.inner), ir.I32)
			d := l.NewVec()
			l.op2(amd64.VPMULLD, d, pitch, factor, 4)
			factor = d
		}
		offs := vcode.NewVecs(l.Func, l.w)
		for i, d := range offs {
			l.op2(amd64.VPMULLD, d, vcode.Part(idx, i), factor, 4)
			if p.offs != nil {
				l.op2(amd64.VPADDD, d, d, p.offs[i], 4)
			}
		}
		p.offs = offs
	}
	if private {
		for i, o := range p.offs {
			d := l.NewVec()
			l.op2(amd64.VPADDD, d, o, l.laneOffsets(i, p.size), 4)
			p.offs[i] = d
		}
	}
}

// narrowIndex gives an index in 32 bits; in bounds it fits.
func (l *lowerer) narrowIndex(v *ir.Value) []vcode.Reg {
	idx := l.vector(v)
	if v.Type.Size() == 8 {
		return l.narrow(idx, amd64.VPMOVQD, l.uniform(v))
	}
	return idx
}

// laneOffsets is the vector of the numbers of the lanes of register i times a size.
func (l *lowerer) laneOffsets(i, size int) vcode.Reg {
	data := make([]byte, 0, 64)
	for j := range l.Target.Lanes {
		data = binary.LittleEndian.AppendUint32(data, uint32((l.Target.Lanes*i+j)*size))
	}
	return l.Pattern(data)
}

// flat turns the part of an address that is the same for all lanes into a base and a displacement, as an address with a
// vector of offsets needs it.
func (l *lowerer) flat(m vcode.Mem) vcode.Mem {
	if m.Index == 0 {
		return m
	}
	d := l.NewGPR()
	l.Def(amd64.LEA, d.G8(), m.At())
	return vcode.Mem{Base: d}
}
