package spmd

// liveRange is where a register is in use. Positions count twice: an instruction reads at 2i and writes at 2i+1.
type liveRange struct {
	start, end int32 // start is −1 if the register is not in use
	loop       int32 // the innermost loop around the first mention
	weight     float32
	hint       vr // a register that it is copied from
}

// loopRange is where a loop begins and ends.
type loopRange struct{ begin, end, parent int32 }

// liveRanges computes the live range of each register: from the first to the last mention, extended to the end of each
// loop that mentions the register and begins after it.
func (f *fn) liveRanges() []liveRange {
	ranges := f.room.ranges.make(len(f.regs))
	for r := range ranges {
		ranges[r].start = -1
	}
	loops, loopAt := f.loopRanges()
	current := int32(0)
	weight := float32(1)
	cold := false
	touch := func(r vr, at int32) {
		v := &ranges[r]
		if v.start < 0 {
			v.start, v.end, v.loop = at, at, current
			if f.regs[r].elem != 0 {
				v.loop, v.start = 0, 0
			}
		}
		v.start, v.end = min(v.start, at), max(v.end, at)
		for l := current; l > 0 && loops[l].begin > v.start; l = loops[l].parent {
			v.end = max(v.end, loops[l].end)
		}
		if cold {
			v.weight += weight * 0.01
		} else {
			v.weight += weight
		}
	}
	for i := range f.insts {
		in := &f.insts[i]
		switch in.kind {
		case kindLoopBegin:
			current = loopAt[i]
			weight *= 10
		case kindLoopEnd:
			current = loops[current].parent
			weight /= 10
		case kindColdBegin:
			cold = true
		case kindColdEnd:
			cold = false
		}
		at, result := int32(2*i), int32(2*i+1)
		f.operands(in, func(r *vr, as role) {
			if as == roleUse || as == roleMod || as == roleDeclare {
				touch(*r, at)
			}
			if as == roleUse || as == roleDeclare {
				return
			}
			if in.early || in.kind == kindTrap {
				touch(*r, at)
			} else {
				touch(*r, result)
			}
			touch(*r, result) // a definition weighs twice
		})
		if in.kind == kindOp && in.moves() {
			ranges[in.a[0].reg].hint = in.a[1].reg
		}
	}
	return ranges
}

// loopRanges returns the loops, the whole function as loop 0, and the number of the loop that begins at an instruction.
func (f *fn) loopRanges() (loops []loopRange, loopAt []int32) {
	loops = []loopRange{{0, int32(2 * len(f.insts)), -1}}
	loopAt = f.room.ints.make(len(f.insts))
	current := int32(0)
	for i := range f.insts {
		switch f.insts[i].kind {
		case kindLoopBegin:
			loops = append(loops, loopRange{int32(2 * i), 0, current})
			current = int32(len(loops) - 1)
			loopAt[i] = current
		case kindLoopEnd:
			loops[current].end = int32(2 * i)
			current = loops[current].parent
		}
	}
	return loops, loopAt
}

// barriers returns the positions of barriers, as live ranges count them.
func (f *fn) barriers() (list []int32) {
	for i := range f.insts {
		if f.insts[i].kind == kindBarrier {
			list = append(list, int32(2*i))
		}
	}
	return list
}
