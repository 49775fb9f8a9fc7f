package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// Group operations are computed by the code itself where all gangs take part and their lanes are the items of the group
// one after the other (see [Worker.together]). Elsewhere Go does it.

// The bits of ctxTogether: what the code may compute for groups of this size.
const (
	togetherAll      = 1 << iota // reductions
	togetherSegments             // what is done in segments of 32 items
	togetherColumns              // what gangs load in columns
)

// inCode reports whether a group operation has code, and for groups of what kind.
func (l *lowerer) inCode(in *ir.Instr) (kind int, ok bool) {
	switch in.Op {
	case ir.Reduce:
		return togetherAll, in.Type() != ir.Bool && l.uniform(in.Result())
	case ir.Scan, ir.Subgroup:
		return togetherSegments, true
	}
	return 0, false
}

// combinerOf is the combining operation of a reduction or scan.
func combinerOf(in *ir.Instr) combiner {
	c := combiner{t: in.Args[0].Type, op: ir.Add}
	switch {
	case in.Op == ir.Subgroup && in.Subgroup == ir.SubgroupMin, in.Op != ir.Subgroup && in.Combine == ir.CombineMin:
		c.op = ir.Min
	case in.Op == ir.Subgroup && in.Subgroup == ir.SubgroupMax, in.Op != ir.Subgroup && in.Combine == ir.CombineMax:
		c.op = ir.Max
	}
	return c
}

// absent is what lanes that take no part give to a group operation.
func absent(in *ir.Instr) uint64 {
	if in.Op == ir.Subgroup {
		switch in.Subgroup {
		case ir.SubgroupAll:
			return 1
		case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax, ir.SubgroupScanAdd:
		default:
			return 0
		}
	}
	return combinerOf(in).identity()
}

// given gives the vectors of the first operand of a group operation, of a condition 1 or 0, with what absent lanes give
// in lanes that take no part.
func (l *lowerer) given(in *ir.Instr) []vr {
	a := in.Args[0]
	var regs []vr
	if a.Type == ir.Bool {
		regs = l.stored(ir.Bool, a)
	} else {
		regs = l.vector(a)
	}
	if l.cur == nil || in.Op == ir.Uniform {
		return regs
	}
	size := max(a.Type.Size(), 4)
	none := l.constant(absent(in), size)
	out := newRegs(l.fn, l.vectorsOf(a.Type))
	for i, d := range out {
		m := l.partMask(l.cur, i, size)
		l.def(sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), z(d), z(none), z(part(regs, i))).mask = m
	}
	return out
}

// computeGroups emits the code for the group operations of the kernel, after which control goes to dispatch. It is run
// between gangs: what it keeps in memory must not lie in the frame of one.
func (l *lowerer) computeGroups(dispatch amd64.Label) {
	any := false
	for _, in := range l.groups {
		_, ok := l.inCode(in)
		any = any || ok
	}
	if !any {
		return
	}
	l.fn.shared = true
	slow := l.label()
	n := l.gpr()
	l.def(amd64.MOV, g8(n), at(ctxMem(ctxAlive, 8)))
	l.use(amd64.CMP, g8(n), at(ctxMem(ctxGangs, 8)))
	l.jump(amd64.JNE, slow)
	for i, in := range l.groups {
		kind, ok := l.inCode(in)
		if !ok {
			continue
		}
		other := l.label()
		l.use(amd64.CMP, at(ctxMem(ctxPending, 4)), imm(int64(i+1)))
		l.jump(amd64.JNE, other)
		l.use(amd64.TEST, at(ctxMem(ctxTogether, 4)), imm(int64(kind)))
		l.jump(amd64.JE, slow)
		switch in.Op {
		case ir.Reduce:
			l.reduceGroup(in)
		case ir.Scan:
			l.scanGroup(in)
		default:
			l.subgroups(in)
		}
		l.use(amd64.MOV, at(ctxMem(ctxPending, 4)), imm(0))
		l.jump(amd64.JMP, dispatch)
		l.bind(other)
	}
	l.bind(slow)
	l.fn.shared = false
}

// eachSegment goes through what gangs have left in their frames in segments of 32 items, of which several gangs have one, or
// a gang has one or more: visit gets all of those.
func (l *lowerer) eachSegment(visit func(list []segment)) {
	lanes := l.gang()
	gangs, segments := 1, 1
	if lanes < subgroupSize {
		gangs = subgroupSize / lanes
	} else {
		segments = lanes / subgroupSize
	}
	frames := make([]vr, gangs)
	size, top := l.gpr(), l.label()
	l.def(amd64.MOV, g8(size), at(ctxMem(ctxFrameSize, 8)))
	for i := range frames {
		frames[i] = l.gpr()
		if i == 0 {
			l.def(amd64.MOV, g8(frames[i]), at(ctxMem(ctxFrame, 8)))
		} else {
			l.def(amd64.LEA, g8(frames[i]), at(mem{base: frames[i-1], index: size, indexSize: 8, scale: 1}))
		}
	}
	l.mark(kindLoopBegin)
	l.bind(top)
	var list []segment
	for n := range segments {
		list = append(list, segment{l, frames, subgroupSize * n})
	}
	visit(list)
	for i, f := range frames {
		if i == 0 {
			l.def(amd64.LEA, g8(f), at(mem{base: frames[gangs-1], index: size, indexSize: 8, scale: 1}))
		} else {
			l.def(amd64.LEA, g8(f), at(mem{base: frames[i-1], index: size, indexSize: 8, scale: 1}))
		}
	}
	l.use(amd64.CMP, g8(frames[0]), at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
}

// segment is 32 items of a group whose gangs wait.
type segment struct {
	l      *lowerer
	frames []vr // of the gangs that have them
	first  int  // the lane of the first one
}

// place is where vector i of the segment's values of operand n lies in frames.
func (s *segment) place(n, i, size int) mem {
	at := s.first*size + i*s.l.t.bytes()
	perGang := s.l.gang() * size
	return mem{base: s.frames[at/perGang], disp: int32(groupValue(&s.l.layout, n) + at%perGang)}
}

// load loads the segment's values of operand n.
func (s *segment) load(n, size int) []vr {
	out := newRegs(s.l.fn, s.l.vectorsOfSegment(size))
	for i, d := range out {
		s.l.def(amd64.VMOVUPS, z(d), at(s.place(n, i, size)))
	}
	return out
}

// store stores results.
func (s *segment) store(regs []vr, size int) {
	for i, v := range regs {
		s.l.use(amd64.VMOVUPS, at(s.place(0, i, size)), z(v))
	}
}

// vectorsOfSegment is how many vectors the values of 32 items take.
func (l *lowerer) vectorsOfSegment(size int) int { return subgroupSize * size / l.t.bytes() }

// shifted gives the vector of the elements so many bytes below those of v, where those of before come before v's.
func (l *lowerer) shifted(before, v vr, bytes int) vr {
	d := l.vec()
	if l.t.masks {
		l.def(amd64.VALIGND, z(d), z(v), z(before), imm(int64(l.t.lanes-bytes/4))).folds(2, 4)
		return d
	}
	m := l.vec()
	l.def(amd64.VPERM2I128, z(m), z(before), z(v), imm(0x21))
	if bytes == 16 {
		return m
	}
	l.def(amd64.VPALIGNR, z(d), z(v), z(m), imm(int64(16-bytes)))
	return d
}

// swapped gives a vector whose halves of each so many bytes, in pairs, have changed places.
func (l *lowerer) swapped(v vr, bytes int) vr {
	d := l.vec()
	switch {
	case bytes == 4:
		l.def(amd64.VPSHUFD, z(d), z(v), imm(0xb1))
	case bytes == 8:
		l.def(amd64.VPSHUFD, z(d), z(v), imm(0x4e))
	case !l.t.masks:
		l.def(amd64.VPERM2I128, z(d), z(v), z(v), imm(1))
	case bytes == 16:
		l.def(amd64.VSHUFI64X2, z(d), z(v), z(v), imm(0xb1))
	default:
		l.def(amd64.VSHUFI64X2, z(d), z(v), z(v), imm(0x4e))
	}
	return d
}
