package passes

import (
	"slices"

	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// mergeCopied coalesces tracked registers that are copied to each other and whose live ranges do not interfere. asked has the
// tracked registers. An example is an accumulator of a loop between two barriers, which is initialized from that of the
// enclosing loop. mergeCopied returns the registers whose declarations it removed, since the merged register may have a value
// there.
func mergeCopied(g *vcode.Liveness, asked []vcode.Reg) (undeclared map[vcode.Reg]bool) {
	var copies []*vcode.Inst
	for i := range g.Insts {
		in := &g.Insts[i]
		if in.Kind != vcode.KindOp || !in.Moves() {
			continue
		}
		_, to := g.NumberOf(in.Args[0].Reg)
		_, from := g.NumberOf(in.Args[1].Reg)
		if to && from && g.F.Regs[in.Args[0].Reg].Class == g.F.Regs[in.Args[1].Reg].Class {
			copies = append(copies, in)
		}
	}
	if len(copies) == 0 {
		return nil
	}
	conflicts := conflicts(g, len(asked))
	same := renaming(g.F.Scratch.Regs.Make(len(g.F.Regs)))
	for _, in := range copies {
		d, s := same.resolve(in.Args[0].Reg), same.resolve(in.Args[1].Reg)
		to, _ := g.NumberOf(d)
		from, _ := g.NumberOf(s)
		if d == s || vcode.HasBit(conflicts[to], from) {
			continue
		}
		same[s] = d
		for r, c := range conflicts {
			if vcode.HasBit(conflicts[from], int32(r)) {
				vcode.SetBit(conflicts[to], int32(r))
			}
			if vcode.HasBit(c, from) {
				vcode.SetBit(c, to)
			}
		}
		for n := range g.Blocks {
			if b := &g.Blocks[n]; vcode.HasBit(b.In, from) {
				vcode.SetBit(b.In, to)
			}
		}
	}
	merged := map[vcode.Reg]bool{}
	for _, in := range copies {
		if r := in.Args[0].Reg; same.resolve(r) == same.resolve(in.Args[1].Reg) {
			merged[same.resolve(r)] = true
		}
	}
	undeclared = map[vcode.Reg]bool{}
	rename := func(r *vcode.Reg) { *r = same.resolve(*r) }
	for i := range g.Insts {
		in := &g.Insts[i]
		g.F.Rename(in, rename)
		switch {
		case in.Kind == vcode.KindDeclare && merged[in.Declared()]:
			undeclared[in.Declared()] = true
			in.Kind = vcode.KindNone
		case in.Kind == vcode.KindOp && in.Moves() && in.Args[0].Reg == in.Args[1].Reg:
			in.Kind, in.N = vcode.KindNone, 0
		}
	}
	return undeclared
}

// conflicts returns, for each of the n tracked registers, the set of those that interfere with it. Two registers interfere if
// one is written while the other is live, except by a copy of the other.
func conflicts(g *vcode.Liveness, n int) [][]uint64 {
	all, sets := g.F.Scratch.Words.Make((n+1)*g.Words), make([][]uint64, n)
	for i := range sets {
		sets[i] = all[i*g.Words : (i+1)*g.Words]
	}
	live := all[n*g.Words:]
	var reads, writes []int32
	collect := func(from []vcode.Reg, to []int32) []int32 {
		for _, r := range from {
			if k, ok := g.NumberOf(r); ok {
				to = append(to, k)
			}
		}
		return to
	}
	for i := range g.Blocks {
		b := &g.Blocks[i]
		clear(live)
		for _, m := range b.Successors() {
			for w, x := range g.Blocks[m].In {
				live[w] |= x
			}
		}
		for at := b.End - 1; at >= b.First; at-- {
			in := &g.Insts[at]
			g.List = g.F.ReadBy(in, g.List[:0])
			reads = collect(g.List, reads[:0])
			g.List = g.F.WrittenBy(in, g.List[:0])
			writes = collect(g.List, writes[:0])
			// A trap service writes results of one lane before it reads operands of another.
			if in.Early || in.Kind == vcode.KindTrap {
				for _, r := range reads {
					vcode.SetBit(live, r)
				}
			}
			for _, r := range writes {
				for k := range int32(n) {
					if k != r && vcode.HasBit(live, k) && !(in.Kind == vcode.KindOp && in.Moves() && slices.Contains(reads, k)) {
						vcode.SetBit(sets[r], k)
						vcode.SetBit(sets[k], r)
					}
				}
			}
			g.List = g.F.SetBy(in, g.List[:0])
			for _, r := range g.List {
				if k, ok := g.NumberOf(r); ok {
					vcode.ClearBit(live, k)
				}
			}
			for _, r := range reads {
				vcode.SetBit(live, r)
			}
		}
	}
	return sets
}
