package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// scanVectors emits an inclusive scan of 32 elements by Hillis and Steele: each with the one s before it, for s = 1, 2 … 16.
// Those that have none before them are combined with what changes nothing.
func (l *lowerer) scanVectors(c combiner, regs []vr) []vr {
	size, bytes := c.t.Size(), l.t.bytes()
	neutral := l.constant(c.neutral(), size)
	for s := size; s < subgroupSize*size; s *= 2 { // in bytes
		next := newRegs(l.fn, len(regs))
		for i, d := range next {
			var before vr
			switch {
			case s < bytes && i == 0:
				before = l.shifted(neutral, regs[0], s)
			case s < bytes:
				before = l.shifted(regs[i-1], regs[i], s)
			case i < s/bytes:
				next[i] = regs[i]
				continue
			default:
				before = regs[i-s/bytes]
			}
			l.combineVectors(c.op, c.t, d, before, regs[i])
		}
		regs = next
	}
	return regs
}

// scanGroup emits a scan of the group: segments of 32 items, then their totals, which are combined with the segments that
// follow. The totals lie in the context, after an element that changes nothing.
func (l *lowerer) scanGroup(in *ir.Instr) {
	c := combinerOf(in)
	size, bytes := c.t.Size(), l.t.bytes()
	total := l.gpr()
	totals := func(i int) mem { return ctxMem(ctxTotals+i, 0) }
	l.def(amd64.LEA, g8(total), at(totals(0)))
	l.use(amd64.VMOVUPS, at(totals(-bytes)), z(l.constant(c.neutral(), size)))
	l.eachSegment(func(list []segment) {
		for _, s := range list {
			regs := l.scanVectors(c, s.load(0, size))
			s.store(regs, size)
			last := s.place(0, len(regs)-1, size)
			last.disp += int32(bytes - size)
			last.size = uint8(size)
			r := l.gpr()
			l.def(amd64.MOV, g(r, size), at(last))
			l.use(amd64.MOV, at(mem{base: total, size: uint8(size)}), g(r, size))
			l.mod(amd64.ADD, g8(total), imm(int64(size)))
		}
	})

	regs := newRegs(l.fn, l.vectorsOfSegment(size))
	for i, d := range regs {
		l.def(amd64.VMOVUPS, z(d), at(totals(bytes*i)))
	}
	for i, v := range l.scanVectors(c, regs) {
		l.use(amd64.VMOVUPS, at(totals(bytes*i)), z(v))
	}

	carry := l.vec() // the last results, of which the first of an exclusive scan is one
	l.def(amd64.LEA, g8(total), at(totals(-size)))
	if in.Exclusive {
		l.def(amd64.VMOVDQA64, z(carry), z(l.constant(c.identity(), size)))
	}
	l.eachSegment(func(list []segment) {
		for _, s := range list {
			before := l.vec()
			l.def(sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), z(before), at(mem{base: total, size: uint8(size)}))
			l.mod(amd64.ADD, g8(total), imm(int64(size)))
			l.addBefore(in, &s, before, carry)
		}
	})
}

// addBefore emits what makes results of a segment's own scan, given the total of those before it. In an exclusive scan each
// result goes to the next item, and the last ones stay in carry.
func (l *lowerer) addBefore(in *ir.Instr, s *segment, before, carry vr) {
	c := combinerOf(in)
	size := c.t.Size()
	regs := s.load(0, size)
	out := newRegs(l.fn, len(regs))
	for i, d := range out {
		l.combineVectors(c.op, c.t, d, before, regs[i])
	}
	if !in.Exclusive {
		s.store(out, size)
		return
	}
	moved := make([]vr, len(out))
	for i := range moved {
		last := carry
		if i > 0 {
			last = out[i-1]
		}
		moved[i] = l.shifted(last, out[i], size)
	}
	s.store(moved, size)
	l.def(amd64.VMOVDQA64, z(carry), z(out[len(out)-1]))
}
