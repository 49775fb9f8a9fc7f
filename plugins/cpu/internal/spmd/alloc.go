package spmd

import (
	"math"
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// The machine registers that are given out. The others: rbp has the context, r15 the gang's frame, rsp the stack, rax
// is named by some instructions, and those of scratch* hold what lives in memory while one instruction needs it; they
// are given out, too, as far as no instruction needs them.
var (
	allocGPR  = []int8{3, 6, 7, 8, 9, 10, 12, 13, 14}
	allocMask = []int8{1, 2, 3, 4, 5}
)

var (
	scratchGPR  = [...]amd64.Reg{amd64.RCX, amd64.RDX, amd64.R11}
	scratchMask = [...]int{7, 6}
)

const (
	regContext = amd64.RBP
	regFrame   = amd64.R15
)

// fewRegs is how many registers of a class are given out besides, where tests want few.
const fewRegs = 1

// span is a loop by positions.
type span struct{ begin, end, parent int32 }

// allocate gives every virtual register a machine register or a place in memory for its whole life.
func (f *fn) allocate() (frame, shared int32) {
	f.lives()
	order := f.byStart()
	f.crossings(order)
	for c := range numClasses {
		f.assign(c, order)
	}
	return f.place(order)
}

// byStart lists the registers that are in use, in the order of their beginnings.
func (f *fn) byStart() []vr {
	first := f.room.ints.make(2*len(f.insts) + 2) // of the registers that begin at a position: where in the list
	for r := 1; r < len(f.regs); r++ {
		v := &f.regs[r]
		if v.start < 0 {
			continue
		}
		if v.elem != 0 {
			v.start = 0
		}
		first[v.start+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	list := f.room.regs.make(int(first[len(first)-1]))
	for r := 1; r < len(f.regs); r++ {
		if at := f.regs[r].start; at >= 0 {
			list[first[at]] = vr(r)
			first[at]++
		}
	}
	return list
}

// assign gives the registers of a class machine registers, keeping as few back for values in memory as will do.
func (f *fn) assign(c class, order []vr) {
	regs := f.room.regs.make(len(order))[:0]
	for _, r := range order {
		if f.regs[r].class == c {
			regs = append(regs, r)
		}
	}
	most := len(f.bank(c, 0)) - len(f.bank(c, math.MaxInt))
	for kept := range most + 1 {
		s := scan{free: f.bank(c, kept), active: f.room.regs.make(maxBank)[:0]}
		slices.Reverse(s.free)
		for _, r := range regs {
			v := &f.regs[r]
			v.phys = -1
			if v.slot != mustSpill {
				s.take(f, r)
			}
		}
		inMemory := func(r vr) bool { return f.regs[r].phys < 0 }
		if kept == most || !slices.ContainsFunc(regs, inMemory) || f.scratchNeeds(c) <= kept {
			return
		}
	}
}

// maxBank is how many machine registers of a class there are.
const maxBank = 32

// bank lists the machine registers that are given out when so many are kept back, those that are best first.
func (f *fn) bank(c class, kept int) []int8 {
	list := make([]int8, 0, maxBank)
	given := func(n int) int {
		if f.few {
			return fewRegs
		}
		return n
	}
	switch c {
	case classVec:
		for i := range given(f.t.vectors) {
			list = append(list, int8(i))
		}
		for i := range scratchVectorRegs - min(kept, scratchVectorRegs) {
			list = append(list, int8(f.t.vectors+i))
		}
	case classMask:
		list = append(list, allocMask[:given(len(allocMask))]...)
		for _, n := range scratchMask[min(kept, len(scratchMask)):] {
			list = append(list, int8(n))
		}
	case classGPR:
		list = append(list, allocGPR[:given(len(allocGPR))]...)
		for _, r := range scratchGPR[min(kept, len(scratchGPR)):] {
			list = append(list, int8(r.Num()))
		}
	}
	return list
}

// scratchNeeds is how many scratch registers of a class an instruction needs at most: the writer takes them as counted
// here. Only those that mention a register in memory need any.
func (f *fn) scratchNeeds(c class) int {
	most := 0
	for i := range f.insts {
		in := &f.insts[i]
		if in.kind != kindOp {
			continue
		}
		for _, r := range [...]vr{in.mask, in.mem.base, in.mem.index, in.a[0].reg, in.a[1].reg, in.a[2].reg, in.a[3].reg} {
			if r != 0 && f.regs[r].class == c && f.regs[r].phys < 0 {
				most = max(most, f.scratchOf(in, c))
				break
			}
		}
	}
	return most
}

func (f *fn) scratchOf(in *inst, c class) int {
	inMemory := func(r vr) bool { return r != 0 && f.regs[r].class == c && f.regs[r].phys < 0 }
	n := 0
	need := func(r vr) {
		if inMemory(r) {
			n++
		}
	}
	if in.moves() && (inMemory(in.a[0].reg) != inMemory(in.a[1].reg)) {
		return 0
	}
	memory := false
	for j := range in.a[:in.n] {
		memory = memory || in.a[j].kind == argMem
	}
	for j := range in.a[:in.n] {
		a := &in.a[j]
		switch {
		case a.kind == argMem:
			need(in.mem.base)
			need(in.mem.index)
		case a.kind == argReg && j > 0:
			v := &f.regs[a.reg]
			if int(in.fold) == j && !memory && v.phys < 0 && (v.elem == 0 || v.elem == 64 || v.elem == in.elem) {
				memory = true
				continue
			}
			need(a.reg)
		}
	}
	need(in.mask)
	if in.n > 0 && in.a[0].kind == argReg && inMemory(in.a[0].reg) && (in.mode != modeDef || in.early || n == 0) {
		n++
	}
	return n
}

// mustSpill marks a register that lives across a barrier.
const mustSpill = -2

// barriers lists the positions of barriers.
func (f *fn) barriers() (list []int32) {
	for i := range f.insts {
		if f.insts[i].kind == kindBarrier {
			list = append(list, int32(2*i))
		}
	}
	return list
}

// crossings finds the registers of gangs that live across a barrier.
func (f *fn) crossings(order []vr) {
	barriers := f.barriers()
	if len(barriers) == 0 {
		return
	}
	for _, r := range order {
		v := &f.regs[r]
		if v.shared {
			continue // gangs that run between do not change it
		}
		i, _ := slices.BinarySearch(barriers, v.start)
		if i < len(barriers) && barriers[i] <= v.end {
			v.slot = mustSpill
		}
	}
}

// lives finds where each register is in use: from its first to its last mention, and to the end of a loop that it is
// mentioned in and does not begin in.
func (f *fn) lives() {
	loops := []span{{0, int32(2 * len(f.insts)), -1}}
	current := int32(0)
	for i := range f.insts {
		switch f.insts[i].kind {
		case kindLoopBegin:
			loops = append(loops, span{int32(2 * i), 0, current})
			f.insts[i].x = int32(len(loops) - 1)
			current = int32(len(loops) - 1)
		case kindLoopEnd:
			loops[current].end = int32(2 * i)
			current = loops[current].parent
		}
	}
	current = 0
	weight := float32(1)
	cold := false
	touch := func(r vr, at int32) {
		if r == 0 {
			return
		}
		v := &f.regs[r]
		if v.start < 0 {
			v.start, v.end, v.loop = at, at, current
			if v.elem != 0 {
				v.loop, v.start = 0, 0
			}
		}
		v.end = max(v.end, at)
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
			current = in.x
			weight *= 10
		case kindLoopEnd:
			current = loops[current].parent
			weight /= 10
		case kindColdBegin:
			cold = true
		case kindColdEnd:
			cold = false
		case kindDeclare:
			touch(vr(in.x), int32(2*i))
		case kindTrap:
			t := &f.traps[in.x]
			for _, r := range t.uses {
				touch(r, int32(2*i))
			}
			for _, r := range t.defs {
				touch(r, int32(2*i))
				touch(r, int32(2*i+1))
			}
		case kindOp:
			touch(in.mask, int32(2*i))
			for j := range in.a[:in.n] {
				a := &in.a[j]
				switch a.kind {
				case argReg:
					if j > 0 || in.mode != modeDef {
						touch(a.reg, int32(2*i))
					}
				case argMem:
					touch(in.mem.base, int32(2*i))
					touch(in.mem.index, int32(2*i))
				}
			}
			if in.moves() {
				f.regs[in.a[0].reg].hint = in.a[1].reg
			}
			if in.mode != modeUse && in.a[0].kind == argReg {
				at := int32(2*i + 1)
				if in.early {
					at--
				}
				touch(in.a[0].reg, at)
				touch(in.a[0].reg, int32(2*i+1))
			}
		}
	}
}

// scan is the linear scan of one class.
type scan struct {
	free   []int8
	active []vr
}

func (s *scan) take(f *fn, r vr) {
	v := &f.regs[r]
	kept := s.active[:0]
	for _, o := range s.active {
		if f.regs[o].end < v.start {
			s.free = append(s.free, f.regs[o].phys)
		} else {
			kept = append(kept, o)
		}
	}
	s.active = kept
	if n := len(s.free); n > 0 {
		if v.hint != 0 {
			for i, p := range s.free {
				if p == f.regs[v.hint].phys {
					s.free[i], s.free[n-1] = s.free[n-1], p
				}
			}
		}
		v.phys = s.free[n-1]
		s.free = s.free[:n-1]
		s.active = append(s.active, r)
		return
	}
	worst, cost := -1, density(v)
	for i, o := range s.active {
		if d := density(&f.regs[o]); d < cost {
			worst, cost = i, d
		}
	}
	if worst < 0 {
		return // stays in memory itself
	}
	o := &f.regs[s.active[worst]]
	v.phys, o.phys = o.phys, -1
	s.active[worst] = r
}

// density is how much it costs to keep the register in memory, for the room that it takes.
func density(v *vreg) float32 {
	d := v.weight / float32(v.end-v.start+2)
	if v.elem != 0 {
		d *= 0.4 // it costs a load, which instructions can do on the way
	}
	return d
}

// place gives registers that live in memory their places: in the gang's frame, or in the part that gangs share. What lives
// across a barrier shares no place with what does not: while a gang waits, the code that chooses the next one has its own
// values in that gang's frame, wherever it stands.
func (f *fn) place(order []vr) (frame, shared int32) {
	type used struct {
		slot, end int32
	}
	var active [3][numClasses][]used
	var size [2]int32
	for _, r := range order {
		v := &f.regs[r]
		if v.phys >= 0 || v.elem != 0 {
			continue
		}
		area, kind := 0, 0
		switch {
		case v.shared:
			area, kind = 1, 1
		case v.slot == mustSpill:
			kind = 2
		}
		bytes := int32(8)
		if v.class == classVec {
			bytes = int32(f.t.bytes())
		}
		list := active[kind][v.class]
		v.slot = -1
		for i := range list {
			if list[i].end < v.start {
				v.slot = list[i].slot
				list[i].end = v.end
				break
			}
		}
		if v.slot < 0 {
			if v.class == classVec {
				size[area] = (size[area] + 63) &^ 63
			}
			v.slot = size[area]
			size[area] += bytes
			active[kind][v.class] = append(list, used{v.slot, v.end})
		}
	}
	return (size[0] + 63) &^ 63, min((size[1]+63)&^63, math.MaxInt32)
}
