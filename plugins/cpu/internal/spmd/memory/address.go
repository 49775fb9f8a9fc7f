package memory

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// access is the access pattern of the lanes.
type access uint8

const (
	broadcast  access = iota // all lanes access one element
	contiguous               // lanes of a row access adjacent elements, or the same element if MemRef.perRow is set
	scattered                // each lane has an offset
)

// MemRef is the memory operand of an access.
type MemRef struct {
	array   *ir.Array // nil for memory of the context, and while a private array is cleared
	access  access
	Uni     vcode.Mem   // the uniform part of the address
	Offs    []vcode.Reg // scattered: the offsets of 32 bits, by register
	Scale   uint8       // scattered: the factor of the offsets
	mask    []vcode.Reg // the active lanes; nil if all are active
	Scalar  ir.Type
	Size    int
	inside  vcode.Reg // broadcast in unchecked code: 1 if the index is in bounds
	below   vcode.Reg // contiguous, in a 2-D gang: holds the distance in bytes between rows; 0 if the registers are adjacent
	perRow  bool      // a load of a 2-D gang: the lanes of a row load the same element
	oneRow  bool      // a load of a 2-D gang: all rows load the same elements
	fetched bool      // a store with prefetched lines
}

// term is an index of an access as a summand of its address.
type term struct {
	v      *ir.Value
	stride int64 // bytes
	inner  int   // the number of last extents of the array that multiply it
	sure   bool  // all lanes are active, and the index is proved to be in bounds
}

// Buffer returns the offset in the context of the description of a buffer.
func (l *Addresses) Buffer(a *ir.Array) int { return l.Layout.Buffers + abi.BufSize*a.ID }

// memRefOf returns the memory operand of an access, and emits the checks of its indices.
func (l *Addresses) memRefOf(in *ir.Instr) MemRef {
	r := in.Resolve()
	p := MemRef{array: in.Array, Scalar: r.Scalar, Size: r.Scalar.Size(), mask: l.Cur, Scale: 1}
	private := in.Array.Space == ir.Private
	var fixed, moving []term
	allSame := true
	for i := range r.Strides {
		v := in.Args[i]
		allSame = allSame && l.IsUniform(v)
	}
	for i := range r.Strides {
		v := in.Args[i]
		t := term{v, int64(r.Strides[i]), r.Inner[i], l.Cur == nil && in.Proved>>i&1 != 0}
		if l.IsUniform(v) {
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
		disp = (disp+int64(l.Layout.Private[in.Array.ID]))*int64(l.Lanes()) + abi.FrameHead
		p.Uni.Fixed = abi.Frame
	default:
		p.Uni.Base = l.base(in.Array)
	}
	unit := int64(1)
	if private {
		unit = int64(l.Lanes())
	}
	switch {
	case len(moving) == 0 && !private:
		p.access = broadcast
	case len(moving) == 0:
		p.access = contiguous
	case !private && l.consecutive(moving, p.Size):
		p.access = contiguous
		p.oneRow = in.Op == ir.Load && p.mask == nil && l.Spec.Is2D() && l.sameOn(moving, 1)
		if l.Spec.Is2D() && !p.oneRow {
			p.below = l.rowDistance(in.Array, moving)
		}
		fixed = append(fixed, moving...)
		moving = nil
	case in.Op == ir.Load && p.mask == nil && p.Size >= 4 && !private && l.Spec.Is2D() && l.sameOn(moving, 0) && l.rowsApart(moving, p.Size):
		p.access, p.perRow = contiguous, true
		p.below = l.rowDistance(in.Array, moving)
		fixed = append(fixed, moving...)
		moving = nil
	default:
		p.access = scattered
	}
	l.sumFixed(in.Array, &p.Uni, fixed, unit, &disp)
	l.setDisp(&p.Uni, disp, 0)
	if p.access == scattered {
		l.sumMoving(in.Array, &p, moving, private)
	}
	return p
}

// consecutive reports whether the lanes of an access, or of each row in a 2-D gang, access adjacent elements of size bytes. It
// returns false if an index is not affine or has no lane-0 value.
func (l *Addresses) consecutive(terms []term, size int) bool {
	if l.Spec.Is2D() && !l.rowsApart(terms, size) {
		return false
	}
	step := int64(0)
	for _, t := range terms {
		s, ok := l.Affine.Strides(t.v)
		if !ok || t.inner != 0 && s[0] != 0 || !l.HasLane0(t.v, 0) {
			return false
		}
		if t.inner == 0 {
			step += int64(s[0]) * t.stride
		}
	}
	return step == int64(size)
}

// sameOn reports whether the indices of an access are equal for all lanes that differ only on the axis. It returns false if an
// index is not affine or has no lane-0 value.
func (l *Addresses) sameOn(terms []term, axis int) bool {
	for _, t := range terms {
		if s, ok := l.Affine.Strides(t.v); !ok || s[axis] != 0 || !l.HasLane0(t.v, 0) {
			return false
		}
	}
	return true
}

// sumFixed adds terms to the address m: uniform ones, or the lane-0 values of varying ones. It multiplies strides by unit, and adds
// small constants to disp instead.
func (l *Addresses) sumFixed(a *ir.Array, m *vcode.Mem, terms []term, unit int64, disp *int64) {
	var rest []part64
	for _, t := range terms {
		p := part64{stride: t.stride * unit, inner: t.inner}
		v := t.v
		if t.inner == 0 {
			if c, ok := plan.SmallConst(v); ok && c > -vcode.MaxPeel && c < vcode.MaxPeel {
				*disp += c * p.stride
				continue
			}
			peeled := int64(0)
			for v.Def != nil && (v.Def.Op == ir.Add || v.Def.Op == ir.Sub) && v.Type.Size() == 4 {
				c, ok := plan.SmallConst(v.Def.Args[1])
				if v.Def.Op == ir.Sub {
					c = -c
				}
				if !ok || peeled+c <= -vcode.MaxPeel || peeled+c >= vcode.MaxPeel || !l.HasLane0(v.Def.Args[0], 0) {
					break
				}
				peeled += c
				v = v.Def.Args[0]
			}
			*disp += peeled * p.stride
		}
		p.r = l.WideIndex(l.Lane0(v), v.Type)
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

// part64 is a summand of an address: a register times a stride in bytes, times the product of the array's last inner extents.
type part64 struct {
	r      vcode.Reg
	stride int64
	inner  int
}

// maxRowTerms is the maximum number of terms of a shared address base. Bases with more terms are computed for each access.
const maxRowTerms = 6

// rowKey identifies a shared address base by its array and terms.
type rowKey struct {
	array int
	terms [maxRowTerms]part64
}

// rowOf returns a register with the sum of an array's base and the terms of an address. Accesses in the same block share it.
func (l *Addresses) rowOf(a *ir.Array, m *vcode.Mem, terms []part64) vcode.Reg {
	if len(terms) > maxRowTerms {
		return l.sumRow(a, m, terms)
	}
	key := rowKey{array: a.ID}
	copy(key.terms[:], terms)
	if r, ok := l.rows[key]; ok {
		return r
	}
	r := l.sumRow(a, m, terms)
	l.rows[key] = r
	l.Undo = append(l.Undo, func() { delete(l.rows, key) })
	return r
}

// sumRow emits the sum of an array's base and the terms of an address.
func (l *Addresses) sumRow(a *ir.Array, m *vcode.Mem, terms []part64) vcode.Reg {
	base := vcode.Mem{Base: m.Base, Fixed: m.Fixed, IndexSize: 8}
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
		base.Scale = uint8(t.stride)
		if sum == 0 {
			sum = r
			continue
		}
		s := l.NewGPR()
		l.Def(amd64.LEA, s.G8(), vcode.Mem{Base: sum, Index: r, IndexSize: 8, Scale: 1}.At())
		sum = s
	}
	base.Index = sum
	d := l.NewGPR()
	l.Def(amd64.LEA, d.G8(), base.At())
	return d
}

// WideIndex returns a register with the index r of type t in 64 bits. It sign-extends an index of 32 bits: indices in bounds are not
// negative, but the index of an inactive lane 0 may be.
func (l *Addresses) WideIndex(r vcode.Reg, t ir.Type) vcode.Reg {
	if t.Size() == 8 {
		return r
	}
	l.Small = l.Small || !t.IsSigned() // an index of 2^31 or more would be negative
	if d, ok := l.Wide[r]; ok {
		return d
	}
	d := l.NewGPR()
	l.Def(amd64.MOVSXD, d.G8(), r.G4())
	l.Wide[r] = d
	l.Undo = append(l.Undo, func() { delete(l.Wide, r) })
	return d
}

// sumMoving emits the offsets of a scattered access from the terms that vary between lanes. It sets p.Offs and p.Scale.
func (l *Addresses) sumMoving(a *ir.Array, p *MemRef, terms []term, private bool) {
	l.Small = true
	if len(terms) == 1 && terms[0].inner == 0 && !private {
		switch s := terms[0].stride; s {
		case 1, 2, 4, 8:
			p.Offs, p.Scale = l.narrowIndex(terms[0].v), uint8(s)
			return
		}
	}
	for _, t := range terms {
		idx := l.narrowIndex(t.v)
		stride := t.stride
		if private {
			stride *= int64(l.Lanes())
		}
		factor := l.Constant(uint64(stride), 4)
		if t.inner != 0 {
			pitch := l.Splat(l.pitch(a, t.inner), ir.I32)
			d := l.NewVec()
			l.Op2(amd64.VPMULLD, d, pitch, factor, 4)
			factor = d
		}
		offs := vcode.NewVecs(l.Func, l.GangRegs)
		for i, d := range offs {
			l.Op2(amd64.VPMULLD, d, vcode.Part(idx, i), factor, 4)
			if p.Offs != nil {
				l.Op2(amd64.VPADDD, d, d, p.Offs[i], 4)
			}
		}
		p.Offs = offs
	}
	if private {
		for i, o := range p.Offs {
			d := l.NewVec()
			l.Op2(amd64.VPADDD, d, o, l.LaneOffsets(i, p.Size), 4)
			p.Offs[i] = d
		}
	}
}

// narrowIndex returns an index as vectors of 32-bit elements, which hold all indices in bounds.
func (l *Addresses) narrowIndex(v *ir.Value) []vcode.Reg {
	idx := l.Vector(v)
	if v.Type.Size() == 8 {
		return l.Narrow(idx, amd64.VPMOVQD, l.IsUniform(v))
	}
	return idx
}

func (l *Addresses) base(a *ir.Array) vcode.Reg { return l.Bases[a.ID] }

func (l *Addresses) pitch(a *ir.Array, inner int) vcode.Reg { return l.Pitches[PitchKey{a.ID, inner}] }

// setDisp sets the displacement of an address. If disp or disp+span exceeds 32 bits, disp is added to the base instead. That
// occurs for constant indices far out of bounds, whose check fails, and in buffers of 2 GiB or more.
func (l *Addresses) setDisp(m *vcode.Mem, disp, span int64) {
	if last := disp + span; int64(int32(disp)) == disp && int64(int32(last)) == last {
		m.Disp = int32(disp)
		return
	}
	base := l.NewGPR()
	l.Def(amd64.MOV, base.G8(), vcode.Imm(disp))
	switch {
	case m.Fixed != 0:
		l.Mod(amd64.ADD, base.G8(), vcode.Phys(m.Fixed))
	case m.Base != 0:
		l.Mod(amd64.ADD, base.G8(), m.Base.G8())
	}
	m.Base, m.Fixed, m.Disp = base, 0, 0
}

// scatterRow makes a contiguous memory operand scattered, for accesses that have no instruction for adjacent lanes under a mask.
func (l *Addresses) scatterRow(p *MemRef) {
	p.access, p.Scale = scattered, 1
	p.Offs = vcode.NewVecs(l.Func, l.GangRegs)
	for i := range p.Offs {
		p.Offs[i] = l.LaneOffsets(i, p.Size)
	}
}
