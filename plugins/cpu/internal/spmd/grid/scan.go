package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// scanVectors emits an inclusive scan of at most 32 elements by Hillis and Steele. Each element is combined with its predecessor at
// distance s, for s = 1, 2 … 16. The neutral value replaces missing predecessors in the same vector.
func (l *Builder) scanVectors(c scalar.Combiner, regs []vcode.Reg) []vcode.Reg {
	size, bytes := c.Type.Size(), l.Target.Bytes()
	neutral := l.Constant(c.Neutral(), size)
	for s := size; s < abi.SubgroupSize*size; s *= 2 { // in bytes
		next := vcode.NewVecs(l.Func, len(regs))
		for i, d := range next {
			var before vcode.Reg
			switch {
			case s < bytes && i == 0:
				before = l.Shifted(neutral, regs[0], s)
			case s < bytes:
				before = l.Shifted(regs[i-1], regs[i], s)
			case i < s/bytes:
				next[i] = regs[i]
				continue
			default:
				before = regs[i-s/bytes]
			}
			l.Binary(c.Op, c.Type, d, before, regs[i])
		}
		regs = next
	}
	return regs
}

// scanGroup emits a scan of the group: of segments of 32 items, then of their totals, which are combined with the following
// segments. The totals are in the context, after a neutral element.
func (l *Builder) scanGroup(in *ir.Instr) {
	c := scalar.CombinerOf(in)
	size, bytes := c.Type.Size(), l.Target.Bytes()
	total := l.NewGPR()
	totals := func(i int) vcode.Mem { return vcode.CtxMem(abi.CtxTotals+i, 0) }
	l.Def(amd64.LEA, total.G8(), totals(0).At())
	l.Use(amd64.VMOVUPS, totals(-bytes).At(), l.Constant(c.Neutral(), size).Z())
	l.eachSegment(func(list []segment) {
		for _, s := range list {
			regs := l.scanVectors(c, s.load(0, size))
			s.store(regs, size)
			last := s.place(0, len(regs)-1, size)
			last.Disp += int32(bytes - size)
			last.Size = uint8(size)
			r := l.NewGPR()
			l.Def(amd64.MOV, r.G(size), last.At())
			l.Use(amd64.MOV, vcode.Mem{Base: total, Size: uint8(size)}.At(), r.G(size))
			l.Mod(amd64.ADD, total.G8(), vcode.Imm(int64(size)))
		}
	})

	regs := vcode.NewVecs(l.Func, l.SegmentVectors(size))
	for i, d := range regs {
		l.Def(amd64.VMOVUPS, d.Z(), totals(bytes*i).At())
	}
	for i, v := range l.scanVectors(c, regs) {
		l.Use(amd64.VMOVUPS, totals(bytes*i).At(), v.Z())
	}

	carry := l.NewVec() // exclusive scan: the last vector of the preceding segment's results
	l.Def(amd64.LEA, total.G8(), totals(-size).At())
	if in.Exclusive {
		l.Def(amd64.VMOVDQA64, carry.Z(), l.Constant(c.Identity(), size).Z())
	}
	l.eachSegment(func(list []segment) {
		for _, s := range list {
			before := l.NewVec()
			l.Def(lanes.Sized(size, amd64.VPBROADCASTD, amd64.VPBROADCASTQ), before.Z(), vcode.Mem{Base: total, Size: uint8(size)}.At())
			l.Mod(amd64.ADD, total.G8(), vcode.Imm(int64(size)))
			l.addBefore(in, &s, before, carry)
		}
	})
}

// addBefore emits the combination of a segment's scan with before, the total of the preceding segments. In an exclusive scan, each
// result moves to the next item; carry passes the last vector of results on to the next segment.
func (l *Builder) addBefore(in *ir.Instr, s *segment, before, carry vcode.Reg) {
	c := scalar.CombinerOf(in)
	size := c.Type.Size()
	regs := s.load(0, size)
	out := vcode.NewVecs(l.Func, len(regs))
	for i, d := range out {
		l.Binary(c.Op, c.Type, d, before, regs[i])
	}
	if !in.Exclusive {
		s.store(out, size)
		return
	}
	moved := make([]vcode.Reg, len(out))
	for i := range moved {
		last := carry
		if i > 0 {
			last = out[i-1]
		}
		moved[i] = l.Shifted(last, out[i], size)
	}
	s.store(moved, size)
	l.Def(amd64.VMOVDQA64, carry.Z(), out[len(out)-1].Z())
}
