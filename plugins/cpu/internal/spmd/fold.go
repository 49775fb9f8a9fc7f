package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// commutative are the operations whose sources may change places, so that the one that is loaded comes last.
var commutative = map[amd64.Op]bool{
	amd64.VADDPS: true, amd64.VADDPD: true, amd64.VMULPS: true, amd64.VMULPD: true, amd64.VPADDD: true, amd64.VPADDQ: true,
	amd64.VPMULLD: true, amd64.VPAND: true, amd64.VPOR: true, amd64.VPXOR: true, amd64.VPANDD: true, amd64.VPORD: true,
	amd64.VPXORD: true,
}

// foldLoads makes whole vectors that are loaded for one instruction operands of that instruction, where its last source
// may be memory. Between the load and its use there must be straight code that stores nothing and leaves the address as it
// is. With sink set, loads that cannot be operands move to their use: then fewer registers live at once.
func (f *fn) foldLoads(sink bool) {
	at := f.allMentions()
	var pending []int32 // loads that may move
	var moved [][2]int32
	find := func(r vr) int {
		for n, i := range pending {
			if f.insts[i].a[0].reg == r {
				return n
			}
		}
		return -1
	}
	drop := func(n int) { pending = append(pending[:n], pending[n+1:]...) }
	for j := range f.insts {
		in := &f.insts[j]
		switch in.kind {
		case kindOp:
		case kindComment, kindNone:
			continue
		default:
			pending = pending[:0]
			continue
		}
		if in.loadsWhole() && f.regs[in.a[0].reg].elem == 0 && len(at[in.a[0].reg]) == 2 {
			pending = append(pending, int32(j))
			continue
		}
		if len(pending) == 0 {
			continue
		}
		if in.fold > 0 && in.mask == 0 && !in.reads() {
			f.foldInto(in, find, drop, &pending)
		}
		if sink {
			for i := range in.a[:in.n] {
				if in.a[i].kind == argReg {
					if n := find(in.a[i].reg); n >= 0 {
						moved = append(moved, [2]int32{pending[n], int32(j)})
						drop(n)
					}
				}
			}
		}
		switch first := &in.a[0]; {
		case in.n == 0:
		case first.kind == argMem && in.op != amd64.CMP && in.op != amd64.TEST, first.kind == argPhys && in.mode != modeUse:
			pending = pending[:0]
		case in.mode != modeUse:
			for n := len(pending) - 1; n >= 0; n-- {
				if m := &f.insts[pending[n]].mem; m.base == first.reg || m.index == first.reg {
					drop(n)
				}
			}
		}
	}
	f.moveDown(moved)
}

// foldInto makes the load of the last source, or of the other one where they may change places, that source.
func (f *fn) foldInto(in *inst, find func(vr) int, drop func(int), pending *[]int32) {
	last := &in.a[in.fold]
	if last.kind != argReg {
		return
	}
	n := find(last.reg)
	if other := &in.a[1]; n < 0 && in.fold == 2 && in.n == 3 && commutative[in.op] && other.kind == argReg {
		if n = find(other.reg); n >= 0 {
			*last, *other = *other, *last
		}
	}
	if n < 0 || in.mentioned(last.reg) > 1 {
		return
	}
	load := &f.insts[(*pending)[n]]
	if load.a[0].size != last.size {
		return
	}
	in.mem, in.fold = load.mem, -1
	*last = ref{kind: argMem}
	load.kind, load.n = kindNone, 0
	drop(n)
}

// loadsWhole reports whether the instruction loads a whole vector and does nothing else.
func (in *inst) loadsWhole() bool {
	return (in.op == amd64.VMOVUPS || in.op == amd64.VMOVUPD) && in.mode == modeDef && in.mask == 0 && in.n == 2 &&
		in.a[0].kind == argReg && in.a[1].kind == argMem
}

// mentioned returns how many operands of the instruction are a register.
func (in *inst) mentioned(r vr) int {
	n := 0
	for i := range in.a[:in.n] {
		if in.a[i].kind == argReg && in.a[i].reg == r {
			n++
		}
	}
	return n
}

// reads reports whether an operand of the instruction is an address.
func (in *inst) reads() bool {
	for i := range in.a[:in.n] {
		if in.a[i].kind == argMem {
			return true
		}
	}
	return false
}

// moveDown moves instructions, each before a later one; the list is in the order of the later ones.
func (f *fn) moveDown(moved [][2]int32) {
	if len(moved) == 0 {
		return
	}
	gone := f.room.flags.make(len(f.insts))
	for _, m := range moved {
		gone[m[0]] = true
	}
	for i, in := range f.rewrite() {
		for len(moved) > 0 && int(moved[0][1]) == i {
			load := f.spare[moved[0][0]]
			f.insts = append(f.insts, load)
			moved = moved[1:]
		}
		if !gone[i] {
			f.insts = append(f.insts, in)
		}
	}
}
