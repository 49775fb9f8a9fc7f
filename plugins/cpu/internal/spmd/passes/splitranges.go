package passes

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// SplitRanges splits live ranges that cross barriers, which are otherwise spilled for their whole life. Each region of code
// between barriers has separate registers for them: it loads live values at its entry, and stores changed ones at its exits.
// A region splits a register only if its mentions outweigh these loads and stores.
//
// Waiting gangs jump to advance, and gangs start at start. At fresh, unless it is 0, all gangs have ended.
func SplitRanges(f *vcode.Func, advance, start, fresh amd64.Label) {
	crossing := crossBarriers(f)
	if len(crossing) == 0 {
		return
	}
	s := splitter{f: f, flow: f.FindLiveness(advance, fresh, crossing), uses: make([]use, len(crossing))}
	s.undeclared = mergeCopied(s.flow, crossing)
	s.findSources()
	begin, _ := s.flow.Labels.Of(int64(start))
	old := f.Rewrite()
	s.insts = old
	for at := int32(0); int(at) < len(old); {
		end := at
		if at > begin && s.mayBegin(at) {
			end = s.pieceFrom(at, int32(len(old)))
			if loop := s.firstLoop(at, end); loop < end {
				end = s.pieceFrom(at, loop)
			}
		}
		if end == at {
			f.Add(old[at])
			at++
			continue
		}
		s.piece(at, end)
		at = end
	}
	Coalesce(f) // coalesces the copies to new registers
}

// crossBarriers returns the registers of gangs that are live across a barrier. There are none in code without barriers.
func crossBarriers(f *vcode.Func) (list []vcode.Reg) {
	barriers := f.Barriers()
	if len(barriers) == 0 {
		return nil
	}
	for r, live := range f.LiveRanges() {
		v := &f.Regs[r]
		i, _ := slices.BinarySearch(barriers, live.Start)
		if live.Start >= 0 && v.Elem == 0 && !v.Shared && i < len(barriers) && barriers[i] <= live.End {
			list = append(list, vcode.Reg(r))
		}
	}
	return list
}

// splitter divides a function into regions: code with a single entry and no barrier.
type splitter struct {
	f       *vcode.Func
	flow    *vcode.Liveness
	insts   []vcode.Inst
	sources []source    // by label: the jumps to it
	list    []vcode.Reg // reused for the registers of an instruction

	undeclared map[vcode.Reg]bool // registers without their declarations, see mergeCopied

	// Of the current region:
	uses   []use   // by the register's number in the liveness
	order  []int32 // the numbers of the registers that it mentions
	stores []pieceStore
}

// source is the range of positions of the jumps to a label; end is 0 if there are none.
type source struct{ first, end int32 }

// findSources finds the jumps to each label.
func (s *splitter) findSources() {
	s.sources = make([]source, s.f.Asm.NumLabels()+1)
	for i := range s.f.Insts {
		in := &s.f.Insts[i]
		if jump, _ := in.Jumps(); !jump {
			continue
		}
		from := &s.sources[in.Imm]
		if from.end == 0 {
			from.first = int32(i)
		}
		from.end = int32(i) + 1
	}
}

// mayBegin reports whether a region may start at an instruction.
func (s *splitter) mayBegin(i int32) bool {
	switch in := &s.insts[i]; in.Kind {
	case vcode.KindOp:
		return !in.ChangesFrame()
	case vcode.KindTrap, vcode.KindLoopBegin, vcode.KindColdBegin:
		return true
	}
	return false
}

// pieceFrom returns the end of the region that starts at position begin. The end is at most limit; it is begin if no region
// starts there.
func (s *splitter) pieceFrom(begin, limit int32) int32 {
	end := s.balanced(begin, limit)
	for again := true; again; {
		again = false
		for i := begin; i < end; i++ {
			if s.insts[i].Kind != vcode.KindLabel {
				continue
			}
			if from := s.sources[s.insts[i].Label()]; from.end > 0 && (from.first < begin || from.end > end) {
				end, again = s.balanced(begin, i), true
				break
			}
		}
	}
	return end
}

// firstLoop returns the end of the first loop of a region with several loops. With fewer loops it returns the
// end of the region. It also does so if loops and cold code mention no more vectors than there are registers.
func (s *splitter) firstLoop(begin, end int32) int32 {
	first, loops, depth := end, 0, 0
	vectors := map[int32]bool{}
	for i := begin; i < end; i++ {
		in := &s.insts[i]
		switch in.Kind {
		case vcode.KindLoopBegin, vcode.KindColdBegin:
			depth++
		case vcode.KindColdEnd:
			depth--
		case vcode.KindLoopEnd:
			if depth--; depth > 0 {
				continue
			}
			if loops++; loops == 1 {
				first = i + 1
				for first < end && s.insts[first].Kind == vcode.KindLabel { // the jump out of the loop stays in the region
					first++
				}
			}
		}
		if depth == 0 {
			continue
		}
		s.list = s.f.Mentions(in, s.list[:0])
		for _, r := range s.list {
			if k, ok := s.flow.NumberOf(r); ok && s.f.Regs[r].Class == vcode.ClassVec {
				vectors[k] = true
			}
		}
	}
	if loops < 2 || len(vectors) <= s.f.Target.Vectors {
		return end
	}
	return first
}

// balanced returns the last position up to a limit that is outside of all loops and cold code started in the region. It stops
// at a barrier, at a change of the frame, and where a loop or cold code ends that began earlier.
func (s *splitter) balanced(begin, limit int32) int32 {
	depth, end := 0, begin
	for i := begin; i < limit; i++ {
		switch in := &s.insts[i]; in.Kind {
		case vcode.KindBarrier:
			return end
		case vcode.KindLoopBegin, vcode.KindColdBegin:
			depth++
		case vcode.KindLoopEnd, vcode.KindColdEnd:
			if depth--; depth < 0 {
				return end
			}
		case vcode.KindOp:
			if in.ChangesFrame() {
				return end
			}
		}
		if depth == 0 {
			end = i + 1
		}
	}
	return end
}

// use is a region's use of a register.
type use struct {
	mentioned bool
	written   bool
	weight    float32   // weight of its mentions, by loop depth
	cost      float32   // cost of the additional loads and stores
	first     int32     // the first position that writes it; the region's start if cold code writes it
	own       vcode.Reg // the region's register for it; 0 if there is none
	stores    []int32   // positions before which the region must store it
}

// pieceStore is a position, at, before which a region must store the register with this number in the liveness.
type pieceStore struct{ at, number int32 }

// piece emits the code of a region with its separate registers.
func (s *splitter) piece(begin, end int32) {
	s.mentioned(begin, end)
	s.findStores(begin, end)
	s.chooseOwn(begin)
	own := func(r *vcode.Reg) {
		if k, ok := s.flow.NumberOf(*r); ok && s.uses[k].own != 0 {
			*r = s.uses[k].own
		}
	}
	for i := begin; i < end; i++ {
		s.storeBefore(i)
		in := s.f.Add(s.insts[i])
		if in.Kind == vcode.KindTrap {
			s.f.Traps[in.Trap()].Unshare()
		}
		s.f.Rename(in, own)
	}
	s.storeBefore(end)
	for _, k := range s.order {
		s.uses[k] = use{stores: s.uses[k].stores[:0]}
	}
	s.order = s.order[:0]
}

// chooseOwn creates registers for the profitable uses, emits the loads of those that are live at begin, and collects the stores.
func (s *splitter) chooseOwn(begin int32) {
	live := s.flow.LiveAt(begin)
	for _, k := range s.order {
		u, r := &s.uses[k], s.flow.Asked[k]
		load := vcode.HasBit(live, k)
		if load {
			u.cost++
		}
		if u.weight <= u.cost {
			continue
		}
		u.own = s.f.NewReg(s.f.Regs[r].Class)
		switch {
		case load:
			s.f.CopyReg(u.own, r)
		case s.undeclared[r]: // its first write may be masked or in a loop
			s.f.Declare(u.own)
		}
		for _, at := range u.stores {
			s.stores = append(s.stores, pieceStore{at, k})
		}
	}
	slices.SortStableFunc(s.stores, func(a, b pieceStore) int { return int(a.at - b.at) })
	slices.Reverse(s.stores)
}

// storeBefore adds the stores that are due before a position.
func (s *splitter) storeBefore(at int32) {
	for n := len(s.stores); n > 0 && s.stores[n-1].at == at; n-- {
		k := s.stores[n-1].number
		s.f.CopyReg(s.flow.Asked[k], s.uses[k].own)
		s.stores = s.stores[:n-1]
	}
}

// nesting is how an instruction is nested in loops and in code that seldom runs.
type nesting struct {
	weight float32 // [loopWeight] to the power of the number of loops
	cold   int     // number of cold parts around the instruction
}

// enter updates the nesting at an instruction of this kind.
func (n *nesting) enter(kind vcode.Kind) {
	switch kind {
	case vcode.KindLoopBegin:
		n.weight *= loopWeight
	case vcode.KindLoopEnd:
		n.weight /= loopWeight
	case vcode.KindColdBegin:
		n.cold++
	case vcode.KindColdEnd:
		n.cold--
	}
}

// mentioned records the uses of registers in a region.
func (s *splitter) mentioned(begin, end int32) {
	nest := nesting{weight: 1}
	for i := begin; i < end; i++ {
		in := &s.insts[i]
		nest.enter(in.Kind)
		s.list = s.f.Mentions(in, s.list[:0])
		for _, r := range s.list {
			k, ok := s.flow.NumberOf(r)
			if !ok {
				continue
			}
			u := &s.uses[k]
			if !u.mentioned {
				u.mentioned, u.first = true, end
				s.order = append(s.order, k)
			}
			switch {
			case nest.cold > 0:
			case in.Mode == vcode.ModeMod && in.Args[0].Reg == r:
				u.weight += 2 * nest.weight
			default:
				u.weight += nest.weight
			}
		}
		s.list = s.f.WrittenBy(in, s.list[:0])
		for _, r := range s.list {
			k, ok := s.flow.NumberOf(r)
			if !ok {
				continue
			}
			u := &s.uses[k]
			u.written = true
			if nest.cold > 0 {
				u.first = begin
			}
			u.first = min(u.first, i)
		}
	}
}

// findStores finds the positions at which a region must store changed registers: before the jumps that leave it, and at its
// end. It adds them to the uses of these registers, with their cost.
func (s *splitter) findStores(begin, end int32) {
	nest := nesting{weight: 1}
	last := false // whether control does not reach the next instruction
	for i := begin; i < end; i++ {
		in := &s.insts[i]
		nest.enter(in.Kind)
		jump, always := in.Jumps()
		if nest.cold == 0 && (in.Kind == vcode.KindOp || in.Kind == vcode.KindTrap || in.Kind == vcode.KindLabel) {
			last = always
		}
		if !jump {
			continue
		}
		to, ok := s.flow.Labels.Of(in.Imm)
		if !ok || to >= begin && to < end {
			continue
		}
		live := s.flow.LiveAt(to)
		for _, k := range s.order {
			if u := &s.uses[k]; u.written && (u.first < i || nest.weight > 1) && vcode.HasBit(live, k) {
				u.stores = append(u.stores, i)
				u.cost += nest.weight
			}
		}
	}
	if last {
		return
	}
	live := s.flow.LiveAt(end)
	for _, k := range s.order {
		if u := &s.uses[k]; u.written && vcode.HasBit(live, k) {
			u.stores = append(u.stores, end)
			u.cost++
		}
	}
}

// loopWeight is the assumed number of iterations of a loop.
const loopWeight = 10
