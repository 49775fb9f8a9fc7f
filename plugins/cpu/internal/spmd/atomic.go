package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Places in the scratch part of a frame, in vectors.
const (
	scratchOffsets = 0
	scratchValues  = 1 // two
	scratchOthers  = 3 // two
	scratchOld     = 5 // two
	scratchVectors = 7
)

func (l *lowerer) scratchMem(vector int) mem {
	return mem{fixed: regFrame, disp: int32(l.layout.scratch + l.t.bytes()*vector)}
}

// indexed is an element of a vector in the scratch part.
func (l *lowerer) indexed(vector int, j vr, size int) mem {
	m := l.scratchMem(vector)
	m.index, m.indexSize, m.scale, m.size = j, 8, uint8(size), uint8(size)
	return m
}

// lanesOf emits a loop over the active lanes of one register: body gets the number of the lane and the lane's address.
func (l *lowerer) lanesOf(p *place, i int, body func(j vr, to mem)) {
	bits, j := l.gpr(), l.gpr()
	done, top := l.label(), l.label()
	if p.spread == apart {
		l.use(amd64.VMOVUPS, at(l.scratchMem(scratchOffsets)), z(part(p.offs, i)))
	}
	first := l.gpr()
	l.def(amd64.LEA, g8(first), at(p.uni))
	side := i * l.t.lanes * p.size
	if p.below != 0 {
		for range i {
			l.mod(amd64.ADD, g8(first), g8(p.below))
		}
		side = 0
	}
	if p.mask == nil {
		l.def(amd64.MOV, g4(bits), imm(1<<l.t.lanes-1))
	} else {
		l.def(amd64.KMOVW, g4(bits), k(p.mask[i]))
		l.use(amd64.TEST, g4(bits), g4(bits))
		l.jump(amd64.JE, done)
	}
	l.mark(kindLoopBegin)
	l.bind(top)
	l.def(amd64.TZCNT, g4(j), g4(bits))
	m := mem{base: first}
	switch p.spread {
	case inRow:
		m.index, m.indexSize, m.scale, m.disp = j, 8, uint8(p.size), int32(side)
	case apart:
		o := l.gpr()
		l.def(amd64.MOV, g4(o), at(l.indexed(scratchOffsets, j, 4)))
		m.index, m.indexSize, m.scale = o, 8, p.scale
	}
	a := l.gpr()
	l.def(amd64.LEA, g8(a), at(m))
	body(j, mem{base: a, size: uint8(p.size)})
	l.mod(amd64.BLSR, g4(bits), g4(bits))
	l.jump(amd64.JNE, top)
	l.mark(kindLoopEnd)
	l.bind(done)
}

// storeEach stores elements lane by lane.
func (l *lowerer) storeEach(p *place, src []vr) {
	for i := range l.w {
		if p.size == 8 {
			l.use(amd64.VMOVUPS, at(l.scratchMem(scratchValues)), z(part(src, 2*i)))
			l.use(amd64.VMOVUPS, at(l.scratchMem(scratchValues+1)), z(part(src, 2*i+1)))
			l.lanesOf(p, i, func(j vr, to mem) {
				v := l.gpr()
				l.def(amd64.MOV, g8(v), at(l.indexed(scratchValues, j, 8)))
				l.use(amd64.MOV, at(to), g8(v))
			})
			continue
		}
		s := part(src, i)
		if p.scalar == ir.F16 {
			h, w := l.vec(), l.vec()
			l.def(amd64.VCVTPS2PH, y(h), z(s), imm(0))
			l.def(amd64.VPMOVZXWD, z(w), y(h))
			s = w
		}
		l.use(amd64.VMOVUPS, at(l.scratchMem(scratchValues)), z(s))
		l.lanesOf(p, i, func(j vr, to mem) {
			v := l.gpr()
			l.def(amd64.MOV, g4(v), at(l.indexed(scratchValues, j, 4)))
			l.use(amd64.MOV, at(to), g(v, p.size))
		})
	}
}

// atomic emits an Atomic: lanes take their turn.
func (l *lowerer) atomic(in *ir.Instr) {
	p := l.place(in)
	if p.inside != 0 { // without faults: no lane takes part if the place is out of bounds
		inside := l.maskOf(p.inside)
		all := make([]vr, l.w)
		for i := range all {
			all[i] = inside
		}
		p.mask = l.and(all, p.mask)
	}
	e := p.size
	var values, others []vr
	if n := in.NumIndices(); len(in.Args) > n {
		values = l.vector(in.Args[n])
		if len(in.Args) > n+1 {
			others = l.vector(in.Args[n+1])
		}
	}
	r := in.Result()
	used := r != nil && l.uses[r.ID].count > 0
	var old []vr
	regs := e / 4 // vectors of one register of lanes
	keep := func(vector int, v []vr, i int) {
		for h := range regs {
			m := l.scratchMem(vector + h)
			l.use(amd64.VMOVUPS, at(m), z(part(v, i*regs+h)))
		}
	}
	straight := !used && l.byLanes(in, p)
	same := values != nil && l.uniform(in.Args[in.NumIndices()]) // allLanes needs no vector of them
	for i := range l.w {
		if values != nil && !(straight && same) {
			keep(scratchValues, values, i)
		}
		if others != nil {
			keep(scratchOthers, others, i)
		}
		if used && l.options.Unchecked {
			keep(scratchOld, []vr{l.constant(0, 4)}, i)
		}
		if straight && p.mask == nil {
			l.allLanes(in, p, i)
			continue
		}
		done := l.label()
		if straight {
			some := l.label()
			l.use(amd64.KORTESTW, k(p.mask[i]), k(p.mask[i]))
			l.jump(amd64.JAE, some) // the carry says that all bits are set
			l.allLanes(in, p, i)
			l.jump(amd64.JMP, done)
			l.bind(some)
			if same {
				keep(scratchValues, values, i)
			}
		}
		l.lanesOf(&p, i, func(j vr, to mem) {
			v := l.gpr()
			if values != nil {
				l.def(amd64.MOV, g(v, e), at(l.indexed(scratchValues, j, e)))
			}
			o := l.update(in, to, v, j, used)
			if used {
				l.use(amd64.MOV, at(l.indexed(scratchOld, j, e)), g(o, e))
			}
		})
		l.bind(done)
		if used {
			for h := range regs {
				d := l.vec()
				l.def(amd64.VMOVUPS, z(d), at(l.scratchMem(scratchOld+h)))
				old = append(old, d)
			}
		}
	}
	if used {
		l.set(r, value{vec: old})
	}
}

// byLanes reports whether all lanes of a register may update shared memory one after the other in straight code.
func (l *lowerer) byLanes(in *ir.Instr, p place) bool {
	_, simple := simpleAtomics[in.Atomic]
	return simple && in.Array.Space == ir.Shared && p.spread == apart && p.scalar.IsInt() && p.size == 4 && (l.t.masks || p.mask == nil)
}

// allLanes emits the updates of register i for when all of its lanes take part. Each does no more than to fetch its offset,
// and its value if they differ, and to update.
func (l *lowerer) allLanes(in *ir.Instr, p place, i int) {
	var same vr
	if v := in.Args[in.NumIndices()]; l.uniform(v) {
		same = l.general(v)
	}
	to := l.flat(p.uni)
	to.indexSize, to.scale, to.size = 8, p.scale, 4
	if index := l.indexFromMemory(in, i, p.scale); index != nil && same != 0 {
		for j := range l.t.lanes {
			to.index = index(j)
			l.use(simpleAtomics[in.Atomic], at(to), g4(same))
		}
		return
	}
	lo, hi := l.scratchMem(scratchOffsets), l.scratchMem(scratchOffsets)
	if l.t.bytes() == 32 {
		l.use(amd64.VMOVUPS, at(lo), z(part(p.offs, i)))
	} else { // in halves: what is stored whole is late to be loaded from the upper one
		hi.disp += 32
		hi.size = 32
		l.use(amd64.VMOVUPS, at(lo), y(part(p.offs, i)))
		l.use(amd64.VEXTRACTI64X4, at(hi), z(part(p.offs, i)), imm(1))
	}
	lane := func(vector, j int) mem {
		m := l.scratchMem(vector)
		m.disp += int32(4 * j)
		m.size = 4
		return m
	}
	for j := range l.t.lanes {
		to.index = l.gpr()
		l.def(amd64.MOV, g4(to.index), at(lane(scratchOffsets, j)))
		v := same
		if v == 0 {
			v = l.gpr()
			l.def(amd64.MOV, g4(v), at(lane(scratchValues, j)))
		}
		l.use(simpleAtomics[in.Atomic], at(to), g4(v))
	}
}

var simpleAtomics = map[ir.AtomicKind]amd64.Op{ir.AtomicAdd: amd64.ADD, ir.AtomicSub: amd64.SUB, ir.AtomicAnd: amd64.AND,
	ir.AtomicOr: amd64.OR, ir.AtomicXor: amd64.XOR}

// update emits the atomic operation of one lane and gives the old value, if it is used.
func (l *lowerer) update(in *ir.Instr, to mem, v, j vr, used bool) vr {
	e := int(to.size)
	t := in.Accessed()
	op, isSimple := simpleAtomics[in.Atomic]
	others := in.Array.Space == ir.Global // other threads may see it: a group is run by one
	switch {
	case in.Atomic == ir.AtomicLoad:
		d := l.gpr()
		l.def(amd64.MOV, g(d, e), at(to))
		return d
	case in.Atomic == ir.AtomicStore || in.Atomic == ir.AtomicExchange:
		// Exchanges need no prefix.
		l.swap(amd64.XCHG, to, v, e)
		return v
	case in.Atomic == ir.AtomicCompareExchange:
		next := l.gpr()
		l.def(amd64.MOV, g(next, e), at(l.indexed(scratchOthers, j, e)))
		l.def(amd64.MOV, physical(amd64.RAX.As(e)), g(v, e))
		l.use(amd64.CMPXCHG, at(to), g(next, e)).lock = others
	case t.IsInt() && isSimple && !used:
		l.use(op, at(to), g(v, e)).lock = others
		return 0
	case t.IsInt() && (in.Atomic == ir.AtomicAdd || in.Atomic == ir.AtomicSub):
		if in.Atomic == ir.AtomicSub {
			l.mod(amd64.NEG, g(v, e))
		}
		l.swap(amd64.XADD, to, v, e).lock = others
		return v
	default:
		l.retry(in, t, to, v, op)
	}
	if !used {
		return 0
	}
	d := l.gpr()
	l.def(amd64.MOV, g(d, e), physical(amd64.RAX.As(e)))
	return d
}

// swap emits an instruction that exchanges a register with memory.
func (l *lowerer) swap(op amd64.Op, to mem, v vr, e int) *inst {
	// The register is the second operand, which is written too: it is kept in a machine register of its own.
	l.def(amd64.MOV, physical(amd64.RAX.As(e)), g(v, e))
	l.use(op, at(to), physical(amd64.RAX.As(e)))
	i := len(l.insts) - 1
	l.def(amd64.MOV, g(v, e), physical(amd64.RAX.As(e)))
	return &l.insts[i]
}

// retry emits a loop that computes the new value from the old until nobody else has changed it in between.
func (l *lowerer) retry(in *ir.Instr, t ir.Type, to mem, v vr, op amd64.Op) {
	others := in.Array.Space == ir.Global
	e := int(to.size)
	again := l.label()
	rax := amd64.RAX.As(e)
	next := l.gpr()
	l.def(amd64.MOV, physical(rax), at(to))
	l.mark(kindLoopBegin)
	l.bind(again)
	switch {
	case t.IsFloat():
		a, b, d := l.vec(), l.vec(), l.vec()
		move := sized(e, amd64.VMOVD, amd64.VMOVQ)
		l.def(move, x(a), physical(rax))
		l.def(move, x(b), g(v, e))
		switch in.Atomic {
		case ir.AtomicAdd:
			l.op2(sized(e, amd64.VADDPS, amd64.VADDPD), d, a, b, e)
		case ir.AtomicSub:
			l.op2(sized(e, amd64.VSUBPS, amd64.VSUBPD), d, a, b, e)
		case ir.AtomicMin:
			l.minMax(ir.Min, e, d, a, b)
		default:
			l.minMax(ir.Max, e, d, a, b)
		}
		c := l.vec()
		l.canonicalize(c, d, e, false)
		d = c
		l.def(move, g(next, e), x(d))
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
		l.def(amd64.MOV, g8(next), g8(v))
		l.use(amd64.CMP, physical(rax), g(v, e))
		l.mod(less, g(next, e), physical(rax))
	default:
		l.def(amd64.MOV, g(next, e), physical(rax))
		l.mod(op, g(next, e), g(v, e))
	}
	l.use(amd64.CMPXCHG, at(to), g(next, e)).lock = others
	l.jump(amd64.JNE, again)
	l.mark(kindLoopEnd)
}
