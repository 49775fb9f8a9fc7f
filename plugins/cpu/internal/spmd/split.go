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
	s := splitter{f: f, flow: f.findFlow(advance, fresh, crossing)}
	s.flow.mergeCopied(crossing)
	s.findSources()
	begin := s.flow.labels[int64(start)]
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
	f.lives()
	for r := range f.regs {
		v := &f.regs[r]
		i, _ := slices.BinarySearch(barriers, v.start)
		if v.start >= 0 && v.elem == 0 && !v.shared && i < len(barriers) && barriers[i] <= v.end {
			list = append(list, vr(r))
		}
		v.start, v.end, v.loop, v.weight, v.hint = -1, 0, 0, 0, 0
	}
	return list
}

// splitter finds pieces of code that are entered only where they begin and have no barrier in them.
type splitter struct {
	f       *fn
	flow    *flow
	insts   []inst
	sources map[int64]span // the first and the last jump to each label
	list    []vr           // that an instruction mentions; kept for the next one
}

func (s *splitter) findSources() {
	s.sources = map[int64]span{}
	for i := range s.f.insts {
		in := &s.f.insts[i]
		if jump, _ := in.jumps(); !jump {
			continue
		}
		from, ok := s.sources[in.a[0].imm]
		if !ok {
			from.begin = int32(i)
		}
		from.end = int32(i)
		s.sources[in.a[0].imm] = from
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
			if from, ok := s.sources[int64(s.insts[i].x)]; ok && (from.begin < begin || from.end >= end) {
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
	weight  float32 // of its mentions
	cost    float32 // of loads and stores
	load    bool
	written bool
	first   int32 // the first place that writes it; the piece's begin if code that stands elsewhere does
	stores  []int32
}

// piece adds a piece, with registers of its own for what lives across barriers.
func (s *splitter) piece(begin, end int32) {
	uses, order := s.mentioned(begin, end)
	s.findStores(begin, end, uses, order)
	own := map[vr]vr{}
	before := map[int32][]vr{} // what to store
	for _, r := range order {
		u := uses[r]
		if u.load = s.flow.liveAt(begin, r); u.load {
			u.cost++
		}
		if u.weight <= u.cost {
			continue
		}
		c := s.f.newReg(s.f.regs[r].class)
		own[r] = c
		if u.load {
			s.f.copyReg(c, r)
		}
		for _, at := range u.stores {
			before[at] = append(before[at], r)
		}
	}
	for i := begin; i < end; i++ {
		for _, r := range before[i] {
			s.f.copyReg(r, own[r])
		}
		in := s.insts[i]
		if in.kind == kindTrap {
			s.f.traps[in.x].unshare()
		}
		s.f.rename(&in, func(r *vr) {
			if c := own[*r]; c != 0 {
				*r = c
			}
		})
		s.f.add(in)
	}
	for _, r := range before[end] {
		s.f.copyReg(r, own[r])
	}
}

// mentioned finds what a piece does with registers that live across barriers.
func (s *splitter) mentioned(begin, end int32) (uses map[vr]*use, order []vr) {
	uses = map[vr]*use{}
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
			if _, ok := s.flow.number[r]; !ok {
				continue
			}
			u := uses[r]
			if u == nil {
				u = &use{first: end}
				uses[r] = u
				order = append(order, r)
			}
			switch {
			case cold > 0:
			case in.mode == modeMod && in.a[0].reg == r:
				u.weight += 2 * weight
			default:
				u.weight += weight
			}
		}
		s.f.written(in, func(r vr) {
			if u := uses[r]; u != nil {
				u.written = true
				if cold > 0 {
					u.first = begin
				}
				u.first = min(u.first, i)
			}
		})
	}
	return uses, order
}

// findStores finds where a piece must have stored what it changed: before the jumps out of it, and at its end.
func (s *splitter) findStores(begin, end int32, uses map[vr]*use, order []vr) {
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
		to, ok := s.flow.labels[in.a[0].imm]
		if !ok || to >= begin && to < end {
			continue
		}
		for _, r := range order {
			if u := uses[r]; u.written && (u.first < i || weight > 1) && s.flow.liveAt(to, r) {
				u.stores = append(u.stores, i)
				u.cost += weight
			}
		}
	}
	for _, r := range order {
		if u := uses[r]; u.written && !last && s.flow.liveAt(end, r) {
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

// unshare gives the trap lists of its own: it may have them in common with others.
func (t *trap) unshare() {
	t.uses, t.defs, t.mask, t.results = slices.Clone(t.uses), slices.Clone(t.defs), slices.Clone(t.mask), slices.Clone(t.results)
	t.args = slices.Clone(t.args)
	for i := range t.args {
		t.args[i] = slices.Clone(t.args[i])
	}
}

// rename lets a function change the registers of an instruction.
func (f *fn) rename(in *inst, to func(*vr)) {
	if in.kind == kindTrap {
		t := &f.traps[in.x]
		all := func(list []vr) {
			for n := range list {
				to(&list[n])
			}
		}
		to(&t.x)
		all(t.uses)
		all(t.defs)
		all(t.mask)
		all(t.results)
		for _, list := range t.args {
			all(list)
		}
		return
	}
	if in.kind == kindDeclare {
		r := vr(in.x)
		to(&r)
		in.x = int32(r)
		return
	}
	to(&in.mask)
	for n := range in.a[:in.n] {
		switch a := &in.a[n]; a.kind {
		case argReg:
			to(&a.reg)
		case argMem:
			to(&a.mem.base)
			to(&a.mem.index)
		}
	}
}
