package spmd

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// splitAtLoops gives loops without barriers registers of their own for what they only read of what lives across barriers,
// which is in memory else for its whole life.
func (f *fn) splitAtLoops() {
	f.lives()
	var barriers []int32
	for i := range f.insts {
		if f.insts[i].kind == kindBarrier {
			barriers = append(barriers, int32(2*i))
		}
	}
	crosses := make([]bool, len(f.regs))
	for r := range f.regs {
		v := &f.regs[r]
		for _, at := range barriers {
			crosses[r] = crosses[r] || v.elem == 0 && v.start >= 0 && v.start <= at && at <= v.end
		}
		v.start, v.end, v.loop, v.weight, v.hint = -1, 0, 0, 0, 0
	}
	if len(barriers) == 0 {
		return
	}
	old := f.insts
	f.insts = make([]inst, 0, len(old)+len(old)/8)
	for i := 0; i < len(old); i++ {
		end := 0
		if old[i].kind == kindLoopBegin {
			end = loopWithoutBarrier(old, i)
		}
		if end == 0 {
			f.add(old[i])
			continue
		}
		f.splitLoop(old[i:end+1], crosses)
		i = end
	}
}

// loopWithoutBarrier gives the position of the end of the loop that begins at i, or 0 if there is a barrier in it.
func loopWithoutBarrier(insts []inst, i int) int {
	for depth := 0; ; i++ {
		switch insts[i].kind {
		case kindBarrier:
			return 0
		case kindLoopBegin:
			depth++
		case kindLoopEnd:
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// splitLoop adds a loop, and before it copies of those of the registers that it reads and does not write.
func (f *fn) splitLoop(loop []inst, crosses []bool) {
	written := map[vr]bool{}
	var read []vr
	for i := range loop {
		in := &loop[i]
		switch in.kind {
		case kindOp:
			if in.mode != modeUse && in.a[0].kind == argReg {
				written[in.a[0].reg] = true
			}
		case kindTrap:
			for _, r := range f.traps[in.x].defs {
				written[r] = true
			}
		case kindDeclare:
			written[vr(in.x)] = true
		}
		f.mentions(in, func(r vr) {
			if crosses[r] {
				read = append(read, r)
			}
		})
	}
	own := map[vr]vr{}
	for _, r := range read {
		if written[r] || own[r] != 0 {
			continue
		}
		c := f.newReg(f.regs[r].class)
		own[r] = c
		switch {
		case f.regs[r].class == classGPR:
			f.def(amd64.MOV, g8(c), g8(r))
		case f.regs[r].class == classMask:
			f.def(amd64.KMOVW, k(c), k(r))
		case f.t.masks:
			f.def(amd64.VMOVDQA64, z(c), z(r)).folds(1, 0)
		default:
			f.def(amd64.VMOVDQA, y(c), y(r)).folds(1, 0)
		}
	}
	for i := range loop {
		if loop[i].kind == kindTrap {
			f.traps[loop[i].x].unshare()
		}
		f.rename(&loop[i], func(r *vr) {
			if c := own[*r]; c != 0 {
				*r = c
			}
		})
		f.add(loop[i])
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
		to(&t.x)
		for _, list := range append([][]vr{t.uses, t.defs, t.mask, t.results}, t.args...) {
			for n := range list {
				to(&list[n])
			}
		}
		return
	}
	to(&in.mask)
	for n := range in.a[:in.n] {
		to(&in.a[n].reg)
		to(&in.a[n].mem.base)
		to(&in.a[n].mem.index)
	}
}
