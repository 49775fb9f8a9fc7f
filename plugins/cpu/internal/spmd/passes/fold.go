package passes

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// FoldLoads replaces a source register by a memory operand if a load of the whole vector is its only other mention. The code
// between the load and its use must be straight, store nothing, and keep the address. If sink is set, loads that cannot fold
// move down to their use, so that fewer registers are live at once.
func FoldLoads(f *vcode.Func, sink bool) {
	at := f.AllMentions()
	var pending []int32 // the loads that may still move
	var moved [][2]int32
	find := func(r vcode.Reg) int {
		for n, i := range pending {
			if f.Insts[i].Args[0].Reg == r {
				return n
			}
		}
		return -1
	}
	drop := func(n int) { pending = append(pending[:n], pending[n+1:]...) }
	for j := range f.Insts {
		in := &f.Insts[j]
		switch in.Kind {
		case vcode.KindOp:
		case vcode.KindComment, vcode.KindNone:
			continue
		default:
			pending = pending[:0]
			continue
		}
		if once := in.LoadsWhole() && len(at[in.Args[0].Reg]) == 2; (once || sink && loadsVector(in)) && f.Regs[in.Args[0].Reg].Elem == 0 {
			if n := find(in.Args[0].Reg); n >= 0 {
				drop(n) // the load cannot move past this write
			}
			pending = append(pending, int32(j))
			continue
		}
		if len(pending) == 0 {
			continue
		}
		if in.Fold > 0 && in.Mask == 0 && !in.HasMem() {
			foldInto(f, in, at, find, drop, &pending)
		}
		for _, r := range [...]vcode.Reg{in.Mask, in.Mem.Base, in.Mem.Index} {
			if n := find(r); r != 0 && n >= 0 {
				drop(n) // the load cannot move past this use
			}
		}
		if sink {
			for i := range in.Args[:in.N] {
				if in.Args[i].Kind == vcode.ArgReg {
					if n := find(in.Args[i].Reg); n >= 0 {
						moved = append(moved, [2]int32{pending[n], int32(j)})
						drop(n)
					}
				}
			}
		}
		if jump, _ := in.Jumps(); jump { // the target may use registers with several mentions
			pending = slices.DeleteFunc(pending, func(i int32) bool { return len(at[f.Insts[i].Args[0].Reg]) != 2 })
		}
		switch first := &in.Args[0]; {
		case in.N == 0: // a fence or a hint, after which memory may have changed
			pending = pending[:0]
		case first.Kind == vcode.ArgMem && !onlyReads(in.Op), first.Kind == vcode.ArgPhys && in.Mode != vcode.ModeUse:
			pending = pending[:0]
		case in.Mode != vcode.ModeUse:
			for n := len(pending) - 1; n >= 0; n-- {
				if m := &f.Insts[pending[n]].Mem; m.Base == first.Reg || m.Index == first.Reg {
					drop(n)
				}
			}
		}
	}
	sinkLoads(f, moved)
}

// foldInto replaces the last source of in by the memory operand of its pending load, and drops the load. If the other source is
// loaded, a commutative operation swaps its sources. It does nothing if no load can fold.
func foldInto(f *vcode.Func, in *vcode.Inst, at [][]int32, find func(vcode.Reg) int, drop func(int), pending *[]int32) {
	last := &in.Args[in.Fold]
	if last.Kind != vcode.ArgReg {
		return
	}
	n := find(last.Reg)
	if other := &in.Args[1]; n < 0 && in.Commutes() && other.Kind == vcode.ArgReg {
		if n = find(other.Reg); n >= 0 {
			*last, *other = *other, *last
		}
	}
	if n < 0 || in.Mentioned(last.Reg) > 1 {
		return
	}
	load := &f.Insts[(*pending)[n]]
	if !load.LoadsWhole() || len(at[last.Reg]) != 2 || load.Args[0].Size != last.Size {
		return
	}
	in.Mem, in.Fold = load.Mem, -1
	*last = vcode.Ref{Kind: vcode.ArgMem}
	load.Kind, load.N = vcode.KindNone, 0
	drop(n)
}

// loadsVector reports whether an instruction only loads a whole vector, or broadcasts an element of memory.
func loadsVector(in *vcode.Inst) bool {
	if in.Op == amd64.VBROADCASTSS || in.Op == amd64.VBROADCASTSD {
		return in.Mode == vcode.ModeDef && in.Mask == 0 && in.N == 2 && in.Args[0].Kind == vcode.ArgReg && in.Args[1].Kind == vcode.ArgMem
	}
	return in.LoadsWhole()
}

// onlyReads reports whether an operation with a first operand in memory is known to leave that memory unchanged. It returns false for
// operations that it does not know, such as PREFETCHW.
func onlyReads(op amd64.Op) bool {
	return op == amd64.CMP || op == amd64.TEST || op == amd64.PREFETCHT0 || op == amd64.PREFETCHNTA
}

// sinkLoads moves instructions. moved has pairs of positions: of an instruction, and of the later one before which it moves.
// The pairs are sorted by the latter.
func sinkLoads(f *vcode.Func, moved [][2]int32) {
	if len(moved) == 0 {
		return
	}
	gone := f.Scratch.Flags.Make(len(f.Insts))
	for _, m := range moved {
		gone[m[0]] = true
	}
	for i, in := range f.Rewrite() {
		for len(moved) > 0 && int(moved[0][1]) == i {
			load := f.Spare[moved[0][0]]
			f.Insts = append(f.Insts, load)
			moved = moved[1:]
		}
		if !gone[i] {
			f.Insts = append(f.Insts, in)
		}
	}
}
