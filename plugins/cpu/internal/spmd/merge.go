package spmd

import "slices"

// mergeCopied gives registers that are copied from one to the other a register together, of those that were asked for, where
// neither is written while the other is in use: as a sum is that a loop between two barriers takes over from the loop around
// it and gives back to it.
func (g *flow) mergeCopied(asked []vr) {
	var copies []*inst
	for i := range g.insts {
		in := &g.insts[i]
		if in.kind != kindOp || !in.moves() {
			continue
		}
		_, to := g.number[in.a[0].reg]
		_, from := g.number[in.a[1].reg]
		if to && from && g.f.regs[in.a[0].reg].class == g.f.regs[in.a[1].reg].class {
			copies = append(copies, in)
		}
	}
	if len(copies) == 0 {
		return
	}
	conflicts := g.conflicts(len(asked))
	same := make(renaming, len(g.f.regs))
	for _, in := range copies {
		d, s := same.resolve(in.a[0].reg), same.resolve(in.a[1].reg)
		to, from := g.number[d], g.number[s]
		if d == s || has(conflicts[to], from) {
			continue
		}
		same[s] = d
		for r, c := range conflicts {
			if has(conflicts[from], int32(r)) {
				add(conflicts[to], int32(r))
			}
			if has(c, from) {
				add(c, to)
			}
		}
		for n := range g.blocks {
			if b := &g.blocks[n]; has(b.in, from) {
				add(b.in, to)
			}
		}
	}
	rename := func(r *vr) { *r = same.resolve(*r) }
	for i := range g.insts {
		in := &g.insts[i]
		g.f.rename(in, rename)
		if in.kind == kindOp && in.moves() && in.a[0].reg == in.a[1].reg {
			in.kind, in.n = kindNone, 0
		}
	}
}

// conflicts finds for each of n registers those that need another place: one is written while the other is in use. A copy
// of the other is the same value.
func (g *flow) conflicts(n int) [][]uint64 {
	all, sets := make([]uint64, (n+1)*g.words), make([][]uint64, n)
	for i := range sets {
		sets[i] = all[i*g.words : (i+1)*g.words]
	}
	live := all[n*g.words:]
	var reads, writes []int32
	collect := func(to *[]int32) func(vr) {
		return func(r vr) {
			if k, ok := g.number[r]; ok {
				*to = append(*to, k)
			}
		}
	}
	reading, writing := collect(&reads), collect(&writes)
	for i := range g.blocks {
		b := &g.blocks[i]
		clear(live)
		for _, m := range b.next {
			for w, x := range g.blocks[m].in {
				live[w] |= x
			}
		}
		for at := b.end - 1; at >= b.first; at-- {
			in := &g.insts[at]
			reads, writes = reads[:0], writes[:0]
			g.f.read(in, reading)
			g.f.written(in, writing)
			// What Go does for a trap reads of one lane after it has written of another.
			if in.early || in.kind == kindTrap {
				for _, r := range reads {
					add(live, r)
				}
			}
			for _, r := range writes {
				for k := range int32(n) {
					if k != r && has(live, k) && !(in.kind == kindOp && in.moves() && slices.Contains(reads, k)) {
						add(sets[r], k)
						add(sets[k], r)
					}
				}
			}
			g.f.set(in, func(r vr) {
				if k, ok := g.number[r]; ok {
					live[k/64] &^= 1 << (k % 64)
				}
			})
			for _, r := range reads {
				add(live, r)
			}
		}
	}
	return sets
}

func has(set []uint64, k int32) bool { return set[k/64]>>(k%64)&1 != 0 }

func add(set []uint64, k int32) { set[k/64] |= 1 << (k % 64) }
