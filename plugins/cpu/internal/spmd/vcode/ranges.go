package vcode

// LiveRange is the range of positions in which a register is live, without holes. Instruction i reads at position 2i and
// writes at 2i+1.
type LiveRange struct {
	Start, End int32   // Start is −1 if the register is not mentioned
	Weight     float32 // 1 for each read and 2 for each write, weighted by loop depth; a hundredth in cold code
	Hint       Reg     // a register from which it is copied
}

// loopRange is the range of positions of a loop.
type loopRange struct{ begin, end, parent int32 }

// LiveRanges computes the live range of each register. It lasts from the first to the last mention. It extends to the end of
// each loop that mentions the register and begins after the first mention. Constants are live from the entry on.
func (f *Func) LiveRanges() []LiveRange {
	ranges := f.Scratch.ranges.Make(len(f.Regs))
	for r := range ranges {
		ranges[r].Start = -1
	}
	loops, loopAt := f.loopRanges()
	current := int32(0)
	weight := float32(1)
	cold := false
	touch := func(r Reg, at int32) {
		v := &ranges[r]
		if v.Start < 0 {
			v.Start, v.End = at, at
			if f.Regs[r].Elem != 0 {
				v.Start = 0 // constants are loaded at the entry
			}
		}
		v.Start, v.End = min(v.Start, at), max(v.End, at)
		for l := current; l > 0 && loops[l].begin > v.Start; l = loops[l].parent {
			v.End = max(v.End, loops[l].end)
		}
		if cold {
			v.Weight += weight * 0.01
		} else {
			v.Weight += weight
		}
	}
	for i := range f.Insts {
		in := &f.Insts[i]
		switch in.Kind {
		case KindLoopBegin:
			current = loopAt[i]
			weight *= 10
		case KindLoopEnd:
			current = loops[current].parent
			weight /= 10
		case KindColdBegin:
			cold = true
		case KindColdEnd:
			cold = false
		}
		before, after := int32(2*i), int32(2*i+1)
		f.Operands(in, func(r *Reg, as Role) {
			if as == RoleUse || as == RoleMod || as == RoleDeclare {
				touch(*r, before)
			}
			if as == RoleUse || as == RoleDeclare {
				return
			}
			if in.Early || in.Kind == KindTrap {
				touch(*r, before)
			} else {
				touch(*r, after)
			}
			touch(*r, after)
		})
		if in.Kind == KindOp && in.Moves() {
			ranges[in.Args[0].Reg].Hint = in.Args[1].Reg
		}
	}
	return ranges
}

// loopRanges returns the loops, with the whole function as loop 0. loopAt has, for each instruction that begins a loop, the
// loop's number.
func (f *Func) loopRanges() (loops []loopRange, loopAt []int32) {
	loops = []loopRange{{0, int32(2 * len(f.Insts)), -1}}
	loopAt = f.Scratch.Ints.Make(len(f.Insts))
	current := int32(0)
	for i := range f.Insts {
		switch f.Insts[i].Kind {
		case KindLoopBegin:
			loops = append(loops, loopRange{int32(2 * i), 0, current})
			current = int32(len(loops) - 1)
			loopAt[i] = current
		case KindLoopEnd:
			loops[current].end = int32(2 * i)
			current = loops[current].parent
		}
	}
	return loops, loopAt
}

// Barriers returns the positions of barriers in the numbering of live ranges.
func (f *Func) Barriers() (list []int32) {
	for i := range f.Insts {
		if f.Insts[i].Kind == KindBarrier {
			list = append(list, int32(2*i))
		}
	}
	return list
}
