package memory

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Offsets in the scratch part of a frame, in vectors.
const (
	scratchOffsets = 0
	scratchValues  = 1 // two vectors
	scratchOthers  = 3 // two vectors
	scratchOld     = 5 // two vectors
)

func (l *Memory) scratchMem(vector int) vcode.Mem {
	return vcode.Mem{Fixed: abi.Frame, Disp: int32(l.Layout.Scratch + l.Target.Bytes()*vector)}
}

// indexed returns the memory operand of element j of a vector in the scratch part of a frame. Elements have size bytes.
func (l *Memory) indexed(vector int, j vcode.Reg, size int) vcode.Mem {
	m := l.scratchMem(vector)
	m.Index, m.IndexSize, m.Scale, m.Size = j, 8, uint8(size), uint8(size)
	return m
}

// lanesOf emits a loop over the active lanes of register i. body emits the code for lane j of this register, whose element is at to.
func (l *Memory) lanesOf(p *MemRef, i int, body func(j vcode.Reg, to vcode.Mem)) {
	bits, j := l.NewGPR(), l.NewGPR()
	done, top := l.NewLabel(), l.NewLabel()
	if p.access == scattered {
		l.Use(amd64.VMOVUPS, l.scratchMem(scratchOffsets).At(), vcode.Part(p.Offs, i).Z())
	}
	first := l.NewGPR()
	l.Def(amd64.LEA, first.G8(), p.Uni.At())
	side := i * l.Target.Lanes * p.Size
	if p.below != 0 {
		for range i {
			l.Mod(amd64.ADD, first.G8(), p.below.G8())
		}
		side = 0
	}
	if p.mask == nil {
		l.Def(amd64.MOV, bits.G4(), vcode.Imm(1<<l.Target.Lanes-1))
	} else {
		l.Def(amd64.KMOVW, bits.G4(), p.mask[i].K())
		l.Use(amd64.TEST, bits.G4(), bits.G4())
		l.Jump(amd64.JE, done)
	}
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Def(amd64.TZCNT, j.G4(), bits.G4())
	m := vcode.Mem{Base: first}
	switch p.access {
	case contiguous:
		m.Index, m.IndexSize, m.Scale, m.Disp = j, 8, uint8(p.Size), int32(side)
	case scattered:
		o := l.NewGPR()
		l.Def(amd64.MOV, o.G4(), l.indexed(scratchOffsets, j, 4).At())
		m.Index, m.IndexSize, m.Scale = o, 8, p.Scale
	}
	a := l.NewGPR()
	l.Def(amd64.LEA, a.G8(), m.At())
	body(j, vcode.Mem{Base: a, Size: uint8(p.Size)})
	l.Mod(amd64.BLSR, bits.G4(), bits.G4())
	l.Jump(amd64.JNE, top)
	l.Mark(vcode.KindLoopEnd)
	l.Bind(done)
}

// storeEach emits stores lane by lane.
func (l *Memory) storeEach(p *MemRef, src []vcode.Reg) {
	for i := range l.GangRegs {
		if p.Size == 8 {
			l.Use(amd64.VMOVUPS, l.scratchMem(scratchValues).At(), vcode.Part(src, 2*i).Z())
			l.Use(amd64.VMOVUPS, l.scratchMem(scratchValues+1).At(), vcode.Part(src, 2*i+1).Z())
			l.lanesOf(p, i, func(j vcode.Reg, to vcode.Mem) {
				v := l.NewGPR()
				l.Def(amd64.MOV, v.G8(), l.indexed(scratchValues, j, 8).At())
				l.Use(amd64.MOV, to.At(), v.G8())
			})
			continue
		}
		s := vcode.Part(src, i)
		if p.Scalar == ir.F16 {
			h, w := l.NewVec(), l.NewVec()
			l.Def(amd64.VCVTPS2PH, h.Y(), s.Z(), vcode.Imm(0))
			l.Def(amd64.VPMOVZXWD, w.Z(), h.Y())
			s = w
		}
		l.Use(amd64.VMOVUPS, l.scratchMem(scratchValues).At(), s.Z())
		l.lanesOf(p, i, func(j vcode.Reg, to vcode.Mem) {
			v := l.NewGPR()
			l.Def(amd64.MOV, v.G4(), l.indexed(scratchValues, j, 4).At())
			l.Use(amd64.MOV, to.At(), v.G(p.Size))
		})
	}
}

// Atomic emits an Atomic, which lanes execute one after the other.
func (l *Memory) Atomic(in *ir.Instr) {
	p := l.memRefOf(in)
	if p.inside != 0 { // unchecked code: lanes out of bounds become inactive
		inside := l.MaskOf(p.inside)
		all := make([]vcode.Reg, l.GangRegs)
		for i := range all {
			all[i] = inside
		}
		p.mask = l.And(all, p.mask)
	}
	e := p.Size
	var operands, others []vcode.Reg
	if n := in.NumIndices(); len(in.Args) > n {
		operands = l.Vector(in.Args[n])
		if len(in.Args) > n+1 {
			others = l.Vector(in.Args[n+1])
		}
	}
	r := in.Result()
	used := r != nil && l.Uses[r.ID].Count > 0
	var old []vcode.Reg
	regs := e / 4 // vectors of one register of lanes
	keep := func(vector int, v []vcode.Reg, i int) {
		for h := range regs {
			m := l.scratchMem(vector + h)
			l.Use(amd64.VMOVUPS, m.At(), vcode.Part(v, i*regs+h).Z())
		}
	}
	straight := !used && l.byLanes(in, p)
	same := operands != nil && l.IsUniform(in.Args[in.NumIndices()]) // allLanes reads such a value from a register
	for i := range l.GangRegs {
		if operands != nil && !(straight && same) {
			keep(scratchValues, operands, i)
		}
		if others != nil {
			keep(scratchOthers, others, i)
		}
		if used && l.Options.Unchecked {
			keep(scratchOld, []vcode.Reg{l.Constant(0, 4)}, i)
		}
		if straight && p.mask == nil {
			l.allLanes(in, p, i)
			continue
		}
		done := l.NewLabel()
		if straight {
			some := l.NewLabel()
			if l.Target.HasMasks {
				l.Use(amd64.KORTESTW, p.mask[i].K(), p.mask[i].K())
				l.Jump(amd64.JAE, some) // the carry flag is set if all bits are
			} else {
				bits := l.NewGPR()
				l.Def(amd64.KMOVW, bits.G4(), p.mask[i].K())
				l.Use(amd64.CMP, bits.G4(), vcode.Imm(1<<l.Target.Lanes-1))
				l.Jump(amd64.JNE, some)
			}
			l.allLanes(in, p, i)
			l.Jump(amd64.JMP, done)
			l.Bind(some)
			if same {
				keep(scratchValues, operands, i)
			}
		}
		l.lanesOf(&p, i, func(j vcode.Reg, to vcode.Mem) {
			v := l.NewGPR()
			if operands != nil {
				l.Def(amd64.MOV, v.G(e), l.indexed(scratchValues, j, e).At())
			}
			o := l.update(in, to, v, j, used)
			if used {
				l.Use(amd64.MOV, l.indexed(scratchOld, j, e).At(), o.G(e))
			}
		})
		l.Bind(done)
		if used {
			for h := range regs {
				d := l.NewVec()
				l.Def(amd64.VMOVUPS, d.Z(), l.scratchMem(scratchOld+h).At())
				old = append(old, d)
			}
		}
	}
	if used {
		l.Set(r, values.Value{Vec: old})
	}
}

// byLanes reports whether the updates of a register can be emitted as straight-line code for the case that all its lanes are
// active.
func (l *Memory) byLanes(in *ir.Instr, p MemRef) bool {
	_, simple := simpleAtomics.Get()[in.Atomic]
	return simple && in.Array.Space == ir.Shared && p.access == scattered && p.Scalar.IsInt() && p.Size == 4
}

// allLanes emits the updates of register i for the case that all its lanes are active. Each lane loads its offset, and its
// value if the values vary.
func (l *Memory) allLanes(in *ir.Instr, p MemRef, i int) {
	var same vcode.Reg
	if v := in.Args[in.NumIndices()]; l.IsUniform(v) {
		same = l.General(v)
	}
	to := l.Flat(p.Uni)
	to.IndexSize, to.Scale, to.Size = 8, p.Scale, 4
	if index := l.indexFromMemory(in, i, p.Scale); index != nil && same != 0 {
		for j := range l.Target.Lanes {
			to.Index = index(j)
			l.Use(simpleAtomics.Get()[in.Atomic], to.At(), same.G4())
		}
		return
	}
	lo, hi := l.scratchMem(scratchOffsets), l.scratchMem(scratchOffsets)
	if l.Target.Bytes() == 32 {
		l.Use(amd64.VMOVUPS, lo.At(), vcode.Part(p.Offs, i).Z())
	} else { // by halves: store forwarding from the upper half of a whole vector is slow
		hi.Disp += 32
		hi.Size = 32
		l.Use(amd64.VMOVUPS, lo.At(), vcode.Part(p.Offs, i).Y())
		l.Use(amd64.VEXTRACTI64X4, hi.At(), vcode.Part(p.Offs, i).Z(), vcode.Imm(1))
	}
	lane := func(vector, j int) vcode.Mem {
		m := l.scratchMem(vector)
		m.Disp += int32(4 * j)
		m.Size = 4
		return m
	}
	for j := range l.Target.Lanes {
		to.Index = l.NewGPR()
		l.Def(amd64.MOV, to.Index.G4(), lane(scratchOffsets, j).At())
		v := same
		if v == 0 {
			v = l.NewGPR()
			l.Def(amd64.MOV, v.G4(), lane(scratchValues, j).At())
		}
		l.Use(simpleAtomics.Get()[in.Atomic], to.At(), v.G4())
	}
}

var simpleAtomics = later.Value[map[ir.AtomicKind]amd64.Op]{Make: func() map[ir.AtomicKind]amd64.Op {
	return map[ir.AtomicKind]amd64.Op{ir.AtomicAdd: amd64.ADD, ir.AtomicSub: amd64.SUB, ir.AtomicAnd: amd64.AND,
		ir.AtomicOr: amd64.OR, ir.AtomicXor: amd64.XOR}
}}

// update emits the atomic operation of one lane on the element at to. v has the operand, which the code may change, and j the
// number of the lane in its register. The result is a register with the old value, which may be 0 if the value is not used.
func (l *Memory) update(in *ir.Instr, to vcode.Mem, v, j vcode.Reg, used bool) vcode.Reg {
	e := int(to.Size)
	t := in.Accessed()
	op, isSimple := simpleAtomics.Get()[in.Atomic]
	others := in.Array.Space == ir.Global // other threads access it; shared memory belongs to one thread
	switch {
	case in.Atomic == ir.AtomicLoad:
		d := l.NewGPR()
		l.Def(amd64.MOV, d.G(e), to.At())
		return d
	case in.Atomic == ir.AtomicStore || in.Atomic == ir.AtomicExchange:
		// XCHG with memory is always locked.
		l.swap(amd64.XCHG, to, v, e)
		return v
	case in.Atomic == ir.AtomicCompareExchange:
		next := l.NewGPR()
		l.Def(amd64.MOV, next.G(e), l.indexed(scratchOthers, j, e).At())
		l.Def(amd64.MOV, vcode.Phys(amd64.RAX.As(e)), v.G(e))
		l.Use(amd64.CMPXCHG, to.At(), next.G(e)).Lock = others
	case t.IsInt() && isSimple && !used:
		l.Use(op, to.At(), v.G(e)).Lock = others
		return 0
	case t.IsInt() && (in.Atomic == ir.AtomicAdd || in.Atomic == ir.AtomicSub):
		if in.Atomic == ir.AtomicSub {
			l.Mod(amd64.NEG, v.G(e))
		}
		l.swap(amd64.XADD, to, v, e).Lock = others
		return v
	default:
		l.retry(in, t, to, v, op)
	}
	if !used {
		return 0
	}
	d := l.NewGPR()
	l.Def(amd64.MOV, d.G(e), vcode.Phys(amd64.RAX.As(e)))
	return d
}

// swap emits XCHG or XADD, by which v receives the old value of memory. The result is the instruction, valid until the next one is
// added.
func (l *Memory) swap(op amd64.Op, to vcode.Mem, v vcode.Reg, e int) *vcode.Inst {
	// The instruction also writes its second operand, which must be a machine register.
	l.Def(amd64.MOV, vcode.Phys(amd64.RAX.As(e)), v.G(e))
	l.Use(op, to.At(), vcode.Phys(amd64.RAX.As(e)))
	i := len(l.Insts) - 1
	l.Def(amd64.MOV, v.G(e), vcode.Phys(amd64.RAX.As(e)))
	return &l.Insts[i]
}

// retry emits a compare-and-swap loop that computes the new value from the old one. It leaves the old value in RAX.
func (l *Memory) retry(in *ir.Instr, t ir.Type, to vcode.Mem, v vcode.Reg, op amd64.Op) {
	others := in.Array.Space == ir.Global
	e := int(to.Size)
	again := l.NewLabel()
	rax := amd64.RAX.As(e)
	next := l.NewGPR()
	l.Def(amd64.MOV, vcode.Phys(rax), to.At())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(again)
	switch {
	case t.IsFloat():
		a, b, d := l.NewVec(), l.NewVec(), l.NewVec()
		move := lanes.Sized(e, amd64.VMOVD, amd64.VMOVQ)
		l.Def(move, a.X(), vcode.Phys(rax))
		l.Def(move, b.X(), v.G(e))
		switch in.Atomic {
		case ir.AtomicAdd:
			l.Op2(lanes.Sized(e, amd64.VADDPS, amd64.VADDPD), d, a, b, e)
		case ir.AtomicSub:
			l.Op2(lanes.Sized(e, amd64.VSUBPS, amd64.VSUBPD), d, a, b, e)
		case ir.AtomicMin:
			l.Binary(ir.Min, t, d, a, b)
		default:
			l.Binary(ir.Max, t, d, a, b)
		}
		c := l.NewVec()
		l.Canonicalize(c, d, e, false)
		d = c
		l.Def(move, next.G(e), d.X())
	case in.Atomic == ir.AtomicMin || in.Atomic == ir.AtomicMax:
		less := amd64.CMOVL
		switch {
		case in.Atomic == ir.AtomicMax && t.IsSigned():
			less = amd64.CMOVG
		case in.Atomic == ir.AtomicMax:
			less = amd64.CMOVA
		case !t.IsSigned():
			less = amd64.CMOVB
		}
		l.Def(amd64.MOV, next.G8(), v.G8())
		l.Use(amd64.CMP, vcode.Phys(rax), v.G(e))
		l.Mod(less, next.G(e), vcode.Phys(rax))
	default:
		l.Def(amd64.MOV, next.G(e), vcode.Phys(rax))
		l.Mod(op, next.G(e), v.G(e))
	}
	l.Use(amd64.CMPXCHG, to.At(), next.G(e)).Lock = others
	l.Jump(amd64.JNE, again)
	l.Mark(vcode.KindLoopEnd)
}

// indexFromMemory returns a function that emits the index of a lane of register i. It returns nil except in histograms, where
// the index is some bits of an element that is loaded just before. Each lane then loads its element itself, which is faster
// than extracting it from a vector. The mask of bits bounds the index even if memory has changed.
//
// scale is the scale factor of addresses. The result is nil unless scale is the distance of two elements in bytes.
func (l *Memory) indexFromMemory(in *ir.Instr, i int, scale uint8) func(lane int) vcode.Reg {
	v := in.Args[0].Def
	if l.Cur != nil || l.Options.Unchecked || l.Spec.Is2D() || in.NumIndices() != 1 || in.Proved&1 == 0 || v == nil || v.Op != ir.And {
		return nil
	}
	if in.Resolve().Strides[0] != int(scale) {
		return nil // addresses need scaled offsets
	}
	bits, ok := plan.SmallConst(v.Args[1])
	load := v.Args[0].Def
	if !ok || bits < 0 || load == nil || load.Op != ir.Load || load.Array.Space != ir.Global || !l.justBefore(load, in) {
		return nil
	}
	if r := load.Resolve(); r.Scalar != ir.I32 && r.Scalar != ir.U32 || analysis.Stride(l.Affine, load, 0) != 4 {
		return nil
	}
	p := l.memRefOf(load)
	if p.access != contiguous || p.mask != nil {
		return nil
	}
	row := l.registersOf(&p, l.GangRegs)[i]
	return func(lane int) vcode.Reg {
		m, d := row, l.NewGPR()
		m.Disp += int32(4 * lane)
		switch bits {
		case 0xff:
			m.Size = 1
			l.Def(amd64.MOVZX, d.G4(), m.At())
		case 0xffff:
			m.Size = 2
			l.Def(amd64.MOVZX, d.G4(), m.At())
		default:
			m.Size = 4
			l.Def(amd64.MOV, d.G4(), m.At())
			l.Mod(amd64.AND, d.G4(), vcode.Imm(bits))
		}
		return d
	}
}

// justBefore reports whether a load precedes an instruction in the current block, with only loads and pure instructions between
// them.
func (l *Memory) justBefore(load, in *ir.Instr) bool {
	found := false
	for _, x := range l.InBlock.Instrs {
		switch {
		case x == load:
			found = true
		case x == in:
			return found
		case x.Op != ir.Load && !x.IsPure():
			found = false
		}
	}
	return false
}
