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
		_, to := g.numberOf(in.a[0].reg)
		_, from := g.numberOf(in.a[1].reg)
		if to && from && g.f.regs[in.a[0].reg].class == g.f.regs[in.a[1].reg].class {
			copies = append(copies, in)
		}
	}
	if len(copies) == 0 {
		return
	}
	conflicts := g.conflicts(len(asked))
	same := renaming(g.f.room.regs.make(len(g.f.regs)))
	for _, in := range copies {
		d, s := same.resolve(in.a[0].reg), same.resolve(in.a[1].reg)
		to, _ := g.numberOf(d)
		from, _ := g.numberOf(s)
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
	merged := map[vr]bool{}
	for _, in := range copies {
		if r := in.a[0].reg; same.resolve(r) == same.resolve(in.a[1].reg) {
			merged[same.resolve(r)] = true
		}
	}
	rename := func(r *vr) { *r = same.resolve(*r) }
	for i := range g.insts {
		in := &g.insts[i]
		g.f.rename(in, rename)
		switch {
		case in.kind == kindDeclare && merged[vr(in.x)]:
			in.kind = kindNone // the other's value may be in use
		case in.kind == kindOp && in.moves() && in.a[0].reg == in.a[1].reg:
			in.kind, in.n = kindNone, 0
		}
	}
}

// conflicts finds for each of n registers those that need another place: one is written while the other is in use. A copy
// of the other is the same value.
func (g *flow) conflicts(n int) [][]uint64 {
	all, sets := g.f.room.words.make((n+1)*g.words), make([][]uint64, n)
	for i := range sets {
		sets[i] = all[i*g.words : (i+1)*g.words]
	}
	live := all[n*g.words:]
	var reads, writes []int32
	collect := func(from []vr, to []int32) []int32 {
		for _, r := range from {
			if k, ok := g.numberOf(r); ok {
				to = append(to, k)
			}
		}
		return to
	}
	for i := range g.blocks {
		b := &g.blocks[i]
		clear(live)
		for _, m := range b.next[:b.to] {
			for w, x := range g.blocks[m].in {
				live[w] |= x
			}
		}
		for at := b.end - 1; at >= b.first; at-- {
			in := &g.insts[at]
			g.list = g.f.readBy(in, g.list[:0])
			reads = collect(g.list, reads[:0])
			g.list = g.f.writtenBy(in, g.list[:0])
			writes = collect(g.list, writes[:0])
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
			g.list = g.f.setBy(in, g.list[:0])
			for _, r := range g.list {
				if k, ok := g.numberOf(r); ok {
					remove(live, k)
				}
			}
			for _, r := range reads {
				add(live, r)
			}
		}
	}
	return sets
}

// has reports whether a set has a number, add and remove put it there and take it away.
func has(set []uint64, k int32) bool { return set[k/64]>>(k%64)&1 != 0 }

func add(set []uint64, k int32) { set[k/64] |= 1 << (k % 64) }

func remove(set []uint64, k int32) { set[k/64] &^= 1 << (k % 64) }
