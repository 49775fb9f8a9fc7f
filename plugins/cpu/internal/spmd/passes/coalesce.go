package passes

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Coalesce computes a value directly in the register of the variable to which it is copied, such as the next value of a loop
// parameter. The code from the first mention of the value to the copy must be straight. Between them, nothing may mention the
// variable; the first mention of the value may read it. A variable that is live across a barrier is spilled, so a value with
// more than two mentions keeps its own register. takeOver then coalesces values with operands that die.
func Coalesce(f *vcode.Func) {
	at := f.AllMentions()
	cold := coldLabels(f)
	var barriers []int32
	for i := range f.Insts {
		if f.Insts[i].Kind == vcode.KindBarrier {
			barriers = append(barriers, int32(i))
		}
	}
	rename := renaming(f.Scratch.Regs.Make(len(f.Regs)))
	for j := range f.Insts {
		in := &f.Insts[j]
		if in.Kind != vcode.KindOp || !in.Moves() {
			continue
		}
		p, v := in.Args[0].Reg, in.Args[1].Reg
		if p == v || f.Regs[v].Elem != 0 || f.Regs[p].Elem != 0 || f.Regs[v].Shared != f.Regs[p].Shared ||
			f.Regs[v].Class != f.Regs[p].Class || rename[v] != 0 || rename[p] != 0 {
			continue
		}
		if len(at[v]) > 2 && between(barriers, at[p][0], at[p][len(at[p])-1]) {
			continue
		}
		first, last := at[v][0], at[v][len(at[v])-1]
		if int(last) != j || !sets(f, int(first), v, rename) || between(at[p], first, int32(j)) || !straight(f, int(first), j, cold) {
			continue
		}
		rename[v] = p
		at[p] = merge(f, at[p], at[v])
	}
	takeOver(f, at, rename, barriers)
	to := func(r *vcode.Reg) { *r = rename.resolve(*r) }
	for i := range f.Insts {
		in := &f.Insts[i]
		f.Rename(in, to)
		if in.Kind == vcode.KindOp && in.Moves() && in.Args[0].Reg == in.Args[1].Reg {
			in.Kind, in.N, in.Mask = vcode.KindNone, 0, 0
		}
	}
}

// coldLabels returns, for each label, whether it is in cold code.
func coldLabels(f *vcode.Func) []bool {
	cold := f.Scratch.Flags.Make(f.Asm.NumLabels() + 1)
	depth := 0
	for i := range f.Insts {
		switch in := &f.Insts[i]; in.Kind {
		case vcode.KindColdBegin:
			depth++
		case vcode.KindColdEnd:
			depth--
		case vcode.KindLabel:
			if depth > 0 {
				cold[in.Label()] = true
			}
		}
	}
	return cold
}

// renaming maps each register to its replacement, or 0.
type renaming []vcode.Reg

// resolve returns the last replacement of a register, or the register itself if it has none.
func (to renaming) resolve(r vcode.Reg) vcode.Reg {
	for to[r] != 0 {
		r = to[r]
	}
	return r
}

// takeOver computes a value in the register of a variable that dies at the value's definition. The variable's next write must
// not come before the last mention of the value, and must be in the same basic block. at has the mentions of each register, in
// order. A register that is live across a barrier stays spilled, so it is not reused for values with more than two mentions.
func takeOver(f *vcode.Func, at [][]int32, rename renaming, barriers []int32) {
	piece := f.Scratch.Ints.Make(len(f.Insts)) // by instruction: the number of its basic block
	n := int32(0)
	for i := range f.Insts {
		in := &f.Insts[i]
		if in.Kind != vcode.KindOp && in.Kind != vcode.KindNone && in.Kind != vcode.KindComment && in.Kind != vcode.KindDeclare {
			n++
		}
		piece[i] = n
		if in.Kind == vcode.KindOp && in.Op.IsJump() {
			n++
		}
	}
	for i := range f.Insts {
		in := &f.Insts[i]
		if in.Kind != vcode.KindOp || in.Mode != vcode.ModeDef || in.Args[0].Kind != vcode.ArgReg || in.Early {
			continue
		}
		v := in.Args[0].Reg
		if rename[v] != 0 || len(at[v]) == 0 || at[v][0] != int32(i) || f.Regs[v].Elem != 0 || !sets(f, i, v, rename) {
			continue
		}
		last := at[v][len(at[v])-1]
		for j := 1; j < int(in.N) && in.Args[0].Reg != 0 && piece[last] == piece[i]; j++ {
			if in.Args[j].Kind != vcode.ArgReg {
				continue
			}
			p := rename.resolve(in.Args[j].Reg)
			if p == v || f.Regs[p].Elem != 0 || f.Regs[p].Class != f.Regs[v].Class || f.Regs[p].Shared != f.Regs[v].Shared {
				continue
			}
			if len(at[v]) > 2 && between(barriers, at[p][0], at[p][len(at[p])-1]) {
				continue
			}
			next, _ := slices.BinarySearch(at[p], int32(i)+1)
			if next == len(at[p]) || last > at[p][next] || piece[at[p][next]] != piece[i] || !sets(f, int(at[p][next]), p, rename) {
				continue
			}
			rename[v] = p
			at[p] = merge(f, at[p], at[v])
			break
		}
	}
}

// sets reports whether an instruction writes a register without reading it, after renaming.
func sets(f *vcode.Func, i int, r vcode.Reg, rename renaming) bool {
	in := &f.Insts[i]
	if in.Kind != vcode.KindOp || in.Mode != vcode.ModeDef || in.Args[0].Kind != vcode.ArgReg || rename.resolve(in.Args[0].Reg) != r || in.Early {
		return false
	}
	read := false
	f.Operands(in, func(s *vcode.Reg, as vcode.Role) { read = read || as == vcode.RoleUse && rename.resolve(*s) == r })
	return !read
}

// straight reports whether control passes from i to j without other entries or exits. Jumps to cold code do not count: that code
// ends the gang, or comes back at a label.
func straight(f *vcode.Func, i, j int, cold []bool) bool {
	depth := 0
	for ; i < j; i++ {
		in := &f.Insts[i]
		switch in.Kind {
		case vcode.KindColdBegin:
			depth++
		case vcode.KindColdEnd:
			depth--
		case vcode.KindLabel, vcode.KindLoopBegin, vcode.KindLoopEnd, vcode.KindBarrier:
			if depth == 0 {
				return false
			}
		case vcode.KindTrap:
			if depth == 0 {
				return false
			}
		case vcode.KindOp:
			if depth > 0 {
				continue
			}
			if in.Op.IsJump() {
				if in.Args[0].Kind != vcode.ArgLabel || !cold[in.Imm] {
					return false
				}
			}
		}
	}
	return depth == 0
}

// between reports whether at, which is sorted, has a position after first and before second.
func between(at []int32, first, second int32) bool {
	i, _ := slices.BinarySearch(at, first+1)
	return i < len(at) && at[i] < second
}

// merge returns the sorted list of the elements of two sorted lists.
func merge(f *vcode.Func, a, b []int32) []int32 {
	out := f.Scratch.Ints.Make(len(a) + len(b))
	for i := range out {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
	return out
}
