package regalloc

import (
	"math"
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// General purpose and mask registers that are always allocated. rbp, rsp, r15 and rax are reserved; see package abi. Scratch
// registers hold spilled values during one instruction; those that no instruction needs are allocated, too.
var (
	allocGPR  = []int8{3, 6, 7, 8, 9, 10, 12, 13, 14}
	allocMask = []int8{1, 2, 3, 4, 5}
)

var (
	ScratchGPR  = [...]amd64.Reg{amd64.RCX, amd64.RDX, amd64.R11}
	ScratchMask = [...]int{7, 6}
)

// fewRegs is the number of always allocated registers per class in tests of spilling.
const fewRegs = 1

// Allocation assigns each virtual register a machine register or a spill slot, for its whole live range.
type Allocation struct {
	Phys        []int8  // by register: the machine register, −1 if it is spilled or unused
	Slot        []int32 // by register: the offset of the spill slot, −1 if it has none; spilled constants are in the pool
	FrameBytes  int32   // size of spill slots in a gang's frame
	SharedBytes int32   // size of spill slots in the context
}

// state is the state of a linear scan.
type state struct {
	*vcode.Func
	*Allocation
	live  []vcode.LiveRange
	order []vcode.Reg // the registers in use, by the start of their live ranges
	cross []bool      // by register: it is live across a barrier, and must be spilled
}

// Allocate assigns a machine register or a spill slot to each virtual register.
//
// It is a linear scan over live ranges without holes, separate for each register class. When no machine register is free, it
// spills the range with the lowest use density: mentions, weighted by loop depth, divided by length. Registers of gangs that are
// live across a barrier are always spilled, because other gangs run in between.
//
// Intermediate values of spilled vectors then get new registers in f, and the scan runs again, at most three times. That may spill
// other vectors.
func Allocate(f *vcode.Func) *Allocation {
	a := scanAll(f)
	for rounds := 0; rounds < 3 && a.splitWebs(); rounds++ {
		a = scanAll(f)
	}
	a.placeSpills()
	return a.Allocation
}

// scanAll runs the linear scans of all classes.
func scanAll(f *vcode.Func) *state {
	out := &Allocation{Phys: make([]int8, len(f.Regs)), Slot: make([]int32, len(f.Regs))}
	for r := range out.Phys {
		out.Phys[r], out.Slot[r] = -1, -1
	}
	a := &state{Func: f, Allocation: out, live: f.LiveRanges(), cross: f.Scratch.Flags.Make(len(f.Regs))}
	a.order = a.byStart()
	a.findCrossing()
	for c := range vcode.NumClasses {
		a.assign(c)
	}
	return a
}

// byStart returns the registers in use, sorted by the start of their live ranges.
func (a *state) byStart() []vcode.Reg {
	first := a.Scratch.Ints.Make(2*len(a.Insts) + 2) // by position: the index in the list of the ranges that start there
	for r := 1; r < len(a.Regs); r++ {
		if at := a.live[r].Start; at >= 0 {
			first[at+1]++
		}
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	list := a.Scratch.Regs.Make(int(first[len(first)-1]))
	for r := 1; r < len(a.Regs); r++ {
		if at := a.live[r].Start; at >= 0 {
			list[first[at]] = vcode.Reg(r)
			first[at]++
		}
	}
	return list
}

// findCrossing finds the registers of gangs that are live across a barrier. Shared registers do not cross, since other gangs
// do not change them.
func (a *state) findCrossing() {
	barriers := a.Barriers()
	if len(barriers) == 0 {
		return
	}
	for _, r := range a.order {
		live := &a.live[r]
		i, _ := slices.BinarySearch(barriers, live.Start)
		a.cross[r] = !a.Regs[r].Shared && i < len(barriers) && barriers[i] <= live.End
	}
}

// assign assigns machine registers of a class. It reserves the minimum number of scratch registers for its spills.
func (a *state) assign(c vcode.Class) {
	regs := a.Scratch.Regs.Make(len(a.order))[:0]
	for _, r := range a.order {
		if a.Regs[r].Class == c {
			regs = append(regs, r)
		}
	}
	most := len(a.bank(c, 0)) - len(a.bank(c, math.MaxInt))
	for kept := range most + 1 {
		s := scan{free: a.bank(c, kept), active: a.Scratch.Regs.Make(maxBank)[:0]}
		slices.Reverse(s.free)
		for _, r := range regs {
			a.Phys[r] = -1
			if !a.cross[r] && !a.Regs[r].Spill {
				s.take(a, r)
			}
		}
		spilled := func(r vcode.Reg) bool { return a.Phys[r] < 0 }
		if !slices.ContainsFunc(regs, spilled) {
			return
		}
		a.swapSpilled(c)
		if kept == most || a.scratchNeeds(c) <= kept {
			return
		}
	}
}

// maxBank is the number of machine registers of the largest class.
const maxBank = 32

// bank returns the machine registers of a class that are allocated if kept scratch registers are reserved, the preferred
// first.
func (a *state) bank(c vcode.Class, kept int) []int8 {
	list := make([]int8, 0, maxBank)
	limit := func(n int) int {
		if a.FewRegs {
			return fewRegs
		}
		return n
	}
	switch c {
	case vcode.ClassVec:
		for i := range limit(a.Target.Vectors) {
			list = append(list, int8(i))
		}
		for i := range vcode.ScratchVectors - min(kept, vcode.ScratchVectors) {
			list = append(list, int8(a.Target.Vectors+i))
		}
	case vcode.ClassMask:
		list = append(list, allocMask[:limit(len(allocMask))]...)
		for _, n := range ScratchMask[min(kept, len(ScratchMask)):] {
			list = append(list, int8(n))
		}
	case vcode.ClassGPR:
		list = append(list, allocGPR[:limit(len(allocGPR))]...)
		for _, r := range ScratchGPR[min(kept, len(ScratchGPR)):] {
			list = append(list, int8(r.Num()))
		}
	}
	return list
}

// scratchNeeds returns the maximum number of scratch registers of a class that one instruction needs. It must agree with
// package emit.
func (a *state) scratchNeeds(c vcode.Class) int {
	most := 0
	for i := range a.Insts {
		in := &a.Insts[i]
		if in.Kind != vcode.KindOp {
			continue
		}
		spilled := false
		a.Operands(in, func(r *vcode.Reg, _ vcode.Role) { spilled = spilled || a.spilled(*r, c) })
		if spilled {
			most = max(most, a.scratchOf(in, c))
		}
	}
	return most
}

// spilled reports whether a register is in this class and spilled.
func (a *state) spilled(r vcode.Reg, c vcode.Class) bool {
	return r != 0 && a.Regs[r].Class == c && a.Phys[r] < 0
}

// swapSpilled swaps the sources of commutative instructions so that a spilled one is a memory operand.
func (a *state) swapSpilled(c vcode.Class) {
	for i := range a.Insts {
		in := &a.Insts[i]
		if in.Kind != vcode.KindOp || !in.Commutes() || in.HasMem() {
			continue
		}
		x, y := &in.Args[1], &in.Args[2]
		if x.Kind != vcode.ArgReg || y.Kind != vcode.ArgReg || !a.spilled(x.Reg, c) || a.spilled(y.Reg, c) {
			continue
		}
		if v := &a.Regs[x.Reg]; v.Elem == 0 || v.Elem == 64 || v.Elem == in.Elem {
			*x, *y = *y, *x
		}
	}
}

// scratchOf returns the number of scratch registers of a class that an instruction needs.
func (a *state) scratchOf(in *vcode.Inst, c vcode.Class) int {
	n := 0
	need := func(r vcode.Reg) {
		if a.spilled(r, c) {
			n++
		}
	}
	if in.Moves() && (a.spilled(in.Args[0].Reg, c) != a.spilled(in.Args[1].Reg, c)) {
		return 0
	}
	memory := false
	for j := range in.Args[:in.N] {
		memory = memory || in.Args[j].Kind == vcode.ArgMem
	}
	for j := range in.Args[:in.N] {
		o := &in.Args[j]
		switch {
		case o.Kind == vcode.ArgMem:
			need(in.Mem.Base)
			need(in.Mem.Index)
		case o.Kind == vcode.ArgReg && j > 0:
			v := &a.Regs[o.Reg]
			if int(in.Fold) == j && !memory && a.Phys[o.Reg] < 0 && (v.Elem == 0 || v.Elem == 64 || v.Elem == in.Elem) {
				memory = true
				continue
			}
			need(o.Reg)
		}
	}
	need(in.Mask)
	if in.N > 0 && in.Args[0].Kind == vcode.ArgReg && a.spilled(in.Args[0].Reg, c) && (in.Mode != vcode.ModeDef || in.Early || n == 0) {
		n++
	}
	return n
}

// scan is the linear scan of one class.
type scan struct {
	free   []int8
	active []vcode.Reg
}

// take assigns a machine register to r. It first frees the registers of ended ranges. It prefers the machine register from which r
// is copied. If none is free, it spills the range with the lowest density, which may be r.
func (s *scan) take(a *state, r vcode.Reg) {
	live := &a.live[r]
	kept := s.active[:0]
	for _, o := range s.active {
		if a.live[o].End < live.Start {
			s.free = append(s.free, a.Phys[o])
		} else {
			kept = append(kept, o)
		}
	}
	s.active = kept
	if n := len(s.free); n > 0 {
		if live.Hint != 0 {
			for i, p := range s.free {
				if p == a.Phys[live.Hint] {
					s.free[i], s.free[n-1] = s.free[n-1], p
				}
			}
		}
		a.Phys[r] = s.free[n-1]
		s.free = s.free[:n-1]
		s.active = append(s.active, r)
		return
	}
	worst, cost := -1, a.density(r)
	for i, o := range s.active {
		if d := a.density(o); d < cost {
			worst, cost = i, d
		}
	}
	if worst < 0 {
		return // r itself is spilled
	}
	o := s.active[worst]
	a.Phys[r], a.Phys[o] = a.Phys[o], -1
	s.active[worst] = r
}

// density returns the cost of spilling a live range divided by its length.
func (a *state) density(r vcode.Reg) float32 {
	live := &a.live[r]
	d := live.Weight / float32(live.End-live.Start+2)
	if a.Regs[r].Elem != 0 {
		d *= 0.4 // a constant costs only a load, which an instruction may fold
	}
	return d
}

// placeSpills assigns spill slots: in the gang's frame, or in the context for shared registers. Registers that are live across a
// barrier come first, so that rounds touch few lines of a frame. They share no slots with the other registers: while a gang waits,
// the code that selects the next gang spills to the waiting gang's frame.
func (a *state) placeSpills() {
	type used struct {
		slot, end int32
	}
	var active [3][vcode.NumClasses][]used
	var size [2]int32
	align := int32(a.Target.Bytes())
	var crossing, others []vcode.Reg
	for _, r := range a.order {
		switch {
		case a.Phys[r] >= 0 || a.Regs[r].Elem != 0:
		case a.cross[r] && !a.Regs[r].Shared:
			crossing = append(crossing, r)
		default:
			others = append(others, r)
		}
	}
	for _, r := range append(crossing, others...) {
		v := &a.Regs[r]
		area, kind := 0, 0
		switch {
		case v.Shared:
			area, kind = 1, 1
		case a.cross[r]:
			kind = 2
		}
		bytes := int32(8)
		if v.Class == vcode.ClassVec {
			bytes = align
		}
		list := active[kind][v.Class]
		slot := int32(-1)
		for i := range list {
			if list[i].end < a.live[r].Start {
				slot = list[i].slot
				list[i].end = a.live[r].End
				break
			}
		}
		if slot < 0 {
			if v.Class == vcode.ClassVec {
				size[area] = (size[area] + align - 1) &^ (align - 1)
			}
			slot = size[area]
			size[area] += bytes
			active[kind][v.Class] = append(list, used{slot, a.live[r].End})
		}
		a.Slot[r] = slot
	}
	a.FrameBytes, a.SharedBytes = (size[0]+63)&^63, min((size[1]+63)&^63, math.MaxInt32)
}
