package spmd

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// splitAtBarriers gives the pieces of code between barriers registers of their own for what lives across barriers, which is
// in memory else for its whole life: a piece loads what it reads where it begins, and stores what it has changed where
// it is left. That is done for what a piece mentions more often than it costs. advance is where gangs that wait jump to,
// start where they begin, and fresh where no gang is left.
func (f *fn) splitAtBarriers(advance, start, fresh amd64.Label) {
	crossing := f.crossBarriers()
	if len(crossing) == 0 {
		return
	}
	s := splitter{f: f, flow: f.findFlow(advance, fresh, crossing), uses: make([]use, len(crossing))}
	s.flow.mergeCopied(crossing)
	s.findSources()
	begin, _ := s.flow.labels.of(int64(start))
	old := f.rewrite()
	s.insts = old
	for at := int32(0); int(at) < len(old); {
		end := at
		if at > begin && s.mayBegin(at) {
			end = s.pieceFrom(at)
		}
		if end == at {
			f.add(old[at])
			at++
			continue
		}
		s.piece(at, end)
		at = end
	}
	f.coalesce() // what is in registers now
}

// crossBarriers lists the registers of gangs that live across a barrier.
func (f *fn) crossBarriers() (list []vr) {
	barriers := f.barriers()
	if len(barriers) == 0 {
		return nil
	}
	for r, live := range f.liveRanges() {
		v := &f.regs[r]
		i, _ := slices.BinarySearch(barriers, live.start)
		if live.start >= 0 && v.elem == 0 && !v.shared && i < len(barriers) && barriers[i] <= live.end {
			list = append(list, vr(r))
		}
	}
	return list
}

// splitter finds pieces of code that are entered only where they begin and have no barrier in them.
type splitter struct {
	f       *fn
	flow    *flow
	insts   []inst
	sources []source // by label
	list    []vr     // that an instruction mentions; kept for the next one

	// Of the present piece:
	uses   []use   // by the registers' numbers in the flow
	order  []int32 // the numbers of those that it mentions
	stores []pieceStore
}

// source says between which positions the jumps to a label are; end is 0 if there are none.
type source struct{ first, end int32 }

func (s *splitter) findSources() {
	s.sources = make([]source, s.f.asm.NumLabels()+1)
	for i := range s.f.insts {
		in := &s.f.insts[i]
		if jump, _ := in.jumps(); !jump {
			continue
		}
		from := &s.sources[in.imm]
		if from.end == 0 {
			from.first = int32(i)
		}
		from.end = int32(i) + 1
	}
}

// mayBegin reports whether a piece may begin at an instruction.
func (s *splitter) mayBegin(i int32) bool {
	switch in := &s.insts[i]; in.kind {
	case kindOp:
		return !in.changesFrame()
	case kindTrap, kindLoopBegin, kindColdBegin:
		return true
	}
	return false
}

// changesFrame reports whether an instruction goes from a gang's frame to another's.
func (in *inst) changesFrame() bool {
	return in.mode != modeUse && in.n > 0 && in.a[0].kind == argPhys && in.a[0].phys == regFrame
}

// pieceFrom gives the end of the piece that begins at a position.
func (s *splitter) pieceFrom(begin int32) int32 {
	end := s.balanced(begin, int32(len(s.insts)))
	for again := true; again; {
		again = false
		for i := begin; i < end; i++ {
			if s.insts[i].kind != kindLabel {
				continue
			}
			if from := s.sources[s.insts[i].x]; from.end > 0 && (from.first < begin || from.end > end) {
				end, again = s.balanced(begin, i), true
				break
			}
		}
	}
	return end
}

// balanced gives the last end of a piece before a limit at which neither a loop nor code that stands elsewhere is open.
func (s *splitter) balanced(begin, limit int32) int32 {
	depth, end := 0, begin
	for i := begin; i < limit; i++ {
		switch in := &s.insts[i]; in.kind {
		case kindBarrier:
			return end
		case kindLoopBegin, kindColdBegin:
			depth++
		case kindLoopEnd, kindColdEnd:
			if depth--; depth < 0 {
				return end
			}
		case kindOp:
			if in.changesFrame() {
				return end
			}
		}
		if depth == 0 {
			end = i + 1
		}
	}
	return end
}

// use is what a piece does with a register.
type use struct {
	mentioned bool
	written   bool
	weight    float32 // of its mentions
	cost      float32 // of loads and stores
	first     int32   // the first place that writes it; the piece's begin if code that stands elsewhere does
	own       vr      // the piece's own register for it; 0 if it has none
	stores    []int32
}

// pieceStore is a place before which a piece must store a register.
type pieceStore struct{ at, number int32 }

// piece adds a piece, with registers of its own for what lives across barriers.
func (s *splitter) piece(begin, end int32) {
	s.mentioned(begin, end)
	s.findStores(begin, end)
	s.chooseOwn(begin)
	own := func(r *vr) {
		if k, ok := s.flow.numberOf(*r); ok && s.uses[k].own != 0 {
			*r = s.uses[k].own
		}
	}
	for i := begin; i < end; i++ {
		s.storeBefore(i)
		in := s.f.add(s.insts[i])
		if in.kind == kindTrap {
			s.f.traps[in.x].unshare()
		}
		s.f.rename(in, own)
	}
	s.storeBefore(end)
	for _, k := range s.order {
		s.uses[k] = use{stores: s.uses[k].stores[:0]}
	}
	s.order = s.order[:0]
}

// chooseOwn gives registers to what is worth one, and loads them.
func (s *splitter) chooseOwn(begin int32) {
	live := s.flow.liveAt(begin)
	for _, k := range s.order {
		u, r := &s.uses[k], s.flow.asked[k]
		load := has(live, k)
		if load {
			u.cost++
		}
		if u.weight <= u.cost {
			continue
		}
		u.own = s.f.newReg(s.f.regs[r].class)
		if load {
			s.f.copyReg(u.own, r)
		}
		for _, at := range u.stores {
			s.stores = append(s.stores, pieceStore{at, k})
		}
	}
	slices.SortStableFunc(s.stores, func(a, b pieceStore) int { return int(a.at - b.at) })
	slices.Reverse(s.stores)
}

// storeBefore stores what must be stored before a position.
func (s *splitter) storeBefore(at int32) {
	for n := len(s.stores); n > 0 && s.stores[n-1].at == at; n-- {
		k := s.stores[n-1].number
		s.f.copyReg(s.flow.asked[k], s.uses[k].own)
		s.stores = s.stores[:n-1]
	}
}

// mentioned finds what a piece does with registers that live across barriers.
func (s *splitter) mentioned(begin, end int32) {
	weight, cold := float32(1), 0
	for i := begin; i < end; i++ {
		in := &s.insts[i]
		switch in.kind {
		case kindLoopBegin:
			weight *= loopWeight
		case kindLoopEnd:
			weight /= loopWeight
		case kindColdBegin:
			cold++
		case kindColdEnd:
			cold--
		}
		s.list = s.f.mentions(in, s.list[:0])
		for _, r := range s.list {
			k, ok := s.flow.numberOf(r)
			if !ok {
				continue
			}
			u := &s.uses[k]
			if !u.mentioned {
				u.mentioned, u.first = true, end
				s.order = append(s.order, k)
			}
			switch {
			case cold > 0:
			case in.mode == modeMod && in.a[0].reg == r:
				u.weight += 2 * weight
			default:
				u.weight += weight
			}
		}
		s.list = s.f.writtenBy(in, s.list[:0])
		for _, r := range s.list {
			k, ok := s.flow.numberOf(r)
			if !ok {
				continue
			}
			u := &s.uses[k]
			u.written = true
			if cold > 0 {
				u.first = begin
			}
			u.first = min(u.first, i)
		}
	}
}

// findStores finds where a piece must have stored what it changed: before the jumps out of it, and at its end.
func (s *splitter) findStores(begin, end int32) {
	weight, cold := float32(1), 0
	last := false // does not go on to the next instruction
	for i := begin; i < end; i++ {
		in := &s.insts[i]
		switch in.kind {
		case kindLoopBegin:
			weight *= loopWeight
		case kindLoopEnd:
			weight /= loopWeight
		case kindColdBegin:
			cold++
		case kindColdEnd:
			cold--
		}
		jump, always := in.jumps()
		if cold == 0 && (in.kind == kindOp || in.kind == kindTrap || in.kind == kindLabel) {
			last = always
		}
		if !jump {
			continue
		}
		to, ok := s.flow.labels.of(in.imm)
		if !ok || to >= begin && to < end {
			continue
		}
		live := s.flow.liveAt(to)
		for _, k := range s.order {
			if u := &s.uses[k]; u.written && (u.first < i || weight > 1) && has(live, k) {
				u.stores = append(u.stores, i)
				u.cost += weight
			}
		}
	}
	if last {
		return
	}
	live := s.flow.liveAt(end)
	for _, k := range s.order {
		if u := &s.uses[k]; u.written && has(live, k) {
			u.stores = append(u.stores, end)
			u.cost++
		}
	}
}

// loopWeight is how often a loop is taken to go round.
const loopWeight = 10

// copyReg copies a register.
func (f *fn) copyReg(to, from vr) {
	switch {
	case f.regs[from].class == classGPR:
		f.def(amd64.MOV, g8(to), g8(from))
	case f.regs[from].class == classMask:
		f.def(amd64.KMOVW, k(to), k(from))
	case f.t.masks:
		f.def(amd64.VMOVDQA64, z(to), z(from)).folds(1, 0)
	default:
		f.def(amd64.VMOVDQA, y(to), y(from)).folds(1, 0)
	}
}
