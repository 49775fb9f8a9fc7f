package spmd

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// coalesce gives a value that is computed only to be copied to a variable, as the next value of a loop's parameter is,
// the variable's register from the start. Between the first mention of the value and the copy there must be straight
// code that does not mention the variable, but for the first instruction, which may read it. A variable that lives across
// a barrier is in memory: what is computed there in several instructions keeps its own register.
func (f *fn) coalesce() {
	at := f.allMentions()
	cold := f.coldLabels()
	var barriers []int32
	for i := range f.insts {
		if f.insts[i].kind == kindBarrier {
			barriers = append(barriers, int32(i))
		}
	}
	rename := renaming(f.room.regs.make(len(f.regs)))
	for j := range f.insts {
		in := &f.insts[j]
		if in.kind != kindOp || !in.moves() {
			continue
		}
		p, v := in.a[0].reg, in.a[1].reg
		if p == v || f.regs[v].elem != 0 || f.regs[p].elem != 0 || f.regs[v].shared != f.regs[p].shared ||
			f.regs[v].class != f.regs[p].class || rename[v] != 0 || rename[p] != 0 {
			continue
		}
		if len(at[v]) > 2 && between(barriers, at[p][0], at[p][len(at[p])-1]) {
			continue
		}
		first, last := at[v][0], at[v][len(at[v])-1]
		if int(last) != j || !f.sets(int(first), v, rename) || between(at[p], first, int32(j)) || !f.straight(int(first), j, cold) {
			continue
		}
		rename[v] = p
		at[p] = f.merge(at[p], at[v])
	}
	f.takeOver(at, rename)
	to := func(r *vr) { *r = rename.resolve(*r) }
	for i := range f.insts {
		in := &f.insts[i]
		f.rename(in, to)
		if in.kind == kindOp && in.moves() && in.a[0].reg == in.a[1].reg {
			in.kind, in.n, in.mask = kindNone, 0, 0
		}
	}
}

// allMentions lists for each register the instructions that mention it, in order.
func (f *fn) allMentions() [][]int32 {
	mentions := f.room.regs.make(3 * len(f.insts))[:0] // of all instructions, one after the other
	ends := f.room.ints.make(len(f.insts))
	counts := f.room.ints.make(len(f.regs))
	for i := range f.insts {
		begin := len(mentions)
		mentions = f.mentions(&f.insts[i], mentions)
		for _, r := range mentions[begin:] {
			counts[r]++
		}
		ends[i] = int32(len(mentions))
	}
	at, all := f.room.lists.make(len(f.regs)), f.room.ints.make(len(mentions))
	for r, n := range counts {
		at[r], all = all[:0:n], all[n:]
	}
	begin := int32(0)
	for i, end := range ends {
		for _, r := range mentions[begin:end] {
			if n := len(at[r]); n == 0 || at[r][n-1] != int32(i) {
				at[r] = append(at[r], int32(i))
			}
		}
		begin = end
	}
	return at
}

// coldLabels finds the labels in cold code.
func (f *fn) coldLabels() []bool {
	cold := f.room.flags.make(f.asm.NumLabels() + 1)
	depth := 0
	for i := range f.insts {
		switch in := &f.insts[i]; in.kind {
		case kindColdBegin:
			depth++
		case kindColdEnd:
			depth--
		case kindLabel:
			if depth > 0 {
				cold[in.x] = true
			}
		}
	}
	return cold
}

// renaming has for each register the one that takes its place, or 0.
type renaming []vr

func (to renaming) resolve(r vr) vr {
	for to[r] != 0 {
		r = to[r]
	}
	return r
}

// takeOver gives a value the register of a variable that the instruction which computes it is the last one to read, up to
// where the variable is set again: all of it within straight code. at has the mentions of each register, in order.
func (f *fn) takeOver(at [][]int32, rename renaming) {
	piece := f.room.ints.make(len(f.insts)) // equal in straight code
	n := int32(0)
	for i := range f.insts {
		in := &f.insts[i]
		if in.kind != kindOp && in.kind != kindNone && in.kind != kindComment && in.kind != kindDeclare {
			n++
		}
		piece[i] = n
		if in.kind == kindOp && (in.op >= amd64.JO && in.op <= amd64.JG || in.op == amd64.JMP) {
			n++
		}
	}
	for i := range f.insts {
		in := &f.insts[i]
		if in.kind != kindOp || in.mode != modeDef || in.a[0].kind != argReg || in.early {
			continue
		}
		v := in.a[0].reg
		if rename[v] != 0 || len(at[v]) == 0 || at[v][0] != int32(i) || f.regs[v].elem != 0 || !f.sets(i, v, rename) {
			continue
		}
		last := at[v][len(at[v])-1]
		for j := 1; j < int(in.n) && in.a[0].reg != 0 && piece[last] == piece[i]; j++ {
			if in.a[j].kind != argReg {
				continue
			}
			p := rename.resolve(in.a[j].reg)
			if p == v || f.regs[p].elem != 0 || f.regs[p].class != f.regs[v].class || f.regs[p].shared != f.regs[v].shared {
				continue
			}
			next, _ := slices.BinarySearch(at[p], int32(i)+1)
			if next == len(at[p]) || last > at[p][next] || piece[at[p][next]] != piece[i] || !f.sets(int(at[p][next]), p, rename) {
				continue
			}
			rename[v] = p
			at[p] = f.merge(at[p], at[v])
			break
		}
	}
}

// sets reports whether an instruction sets the register and reads no more of it, with registers renamed.
func (f *fn) sets(i int, r vr, rename renaming) bool {
	in := &f.insts[i]
	if in.kind != kindOp || in.mode != modeDef || in.a[0].kind != argReg || rename.resolve(in.a[0].reg) != r || in.early {
		return false
	}
	read := false
	f.operands(in, func(s *vr, as role) { read = read || as == roleUse && rename.resolve(*s) == r })
	return !read
}

// straight reports whether control goes from i to j without other ways in or out, but for ends of the gang.
func (f *fn) straight(i, j int, cold []bool) bool {
	depth := 0
	for ; i < j; i++ {
		in := &f.insts[i]
		switch in.kind {
		case kindColdBegin:
			depth++
		case kindColdEnd:
			depth--
		case kindLabel, kindLoopBegin, kindLoopEnd, kindBarrier:
			if depth == 0 {
				return false
			}
		case kindTrap:
			if depth == 0 {
				return false
			}
		case kindOp:
			if depth > 0 {
				continue
			}
			if in.op >= amd64.JO && in.op <= amd64.JG || in.op == amd64.JMP {
				if in.a[0].kind != argLabel || !cold[in.imm] {
					return false
				}
			}
		}
	}
	return depth == 0
}

// between reports whether there is a position after the first and before the second.
func between(at []int32, first, second int32) bool {
	i, _ := slices.BinarySearch(at, first+1)
	return i < len(at) && at[i] < second
}

// merge puts two lists in order together.
func (f *fn) merge(a, b []int32) []int32 {
	out := f.room.ints.make(len(a) + len(b))
	for i := range out {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
	return out
}

// turnJumps makes one jump of a conditional one over an unconditional one.
func (f *fn) turnJumps() {
	var last [2]*inst // that do something, the later one first
	for i := range f.insts {
		in := &f.insts[i]
		switch in.kind {
		case kindComment, kindDeclare, kindNone:
			continue
		case kindLabel:
			to, over := last[0], last[1]
			if to == nil || over == nil || to.kind != kindOp || over.kind != kindOp || to.op != amd64.JMP || to.a[0].kind != argLabel ||
				over.op < amd64.JO || over.op > amd64.JG || over.imm != int64(in.x) {
				break
			}
			over.op = amd64.JO + ((over.op - amd64.JO) ^ 1) // conditions and their opposites are neighbours
			over.imm = to.imm
			to.kind, to.n = kindNone, 0
		}
		last = [2]*inst{in, last[0]}
	}
}
