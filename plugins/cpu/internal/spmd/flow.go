package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// flow is how control goes through a function, as one gang sees it: at a barrier it goes on right after it. It finds where
// registers are live, of those that are asked for.
type flow struct {
	f      *fn
	insts  []inst
	asked  []vr
	number []int32 // see numberOf
	words  int     // of a set of them, by number from 0
	block  []int32 // of each instruction
	blocks []flowBlock
	labels labelPlaces
	live   []uint64 // see liveAt
	list   []vr     // of an instruction; kept for the next one
}

type flowBlock struct {
	first, end int32
	next       [2]int32 // where control goes on, as many as to says
	to         int
	in         []uint64 // live where it begins
	reads      []uint64 // before they are set
	sets       []uint64
}

func (b *flowBlock) goes(to int32) {
	b.next[b.to] = to
	b.to++
}

// numberOf gives the number of a register, and whether it was asked for.
func (g *flow) numberOf(r vr) (k int32, ok bool) { return g.number[r] - 1, g.number[r] > 0 }

// labelPlaces has for each label 1 more than the position where it is bound, 0 if it is not.
type labelPlaces []int32

func (p labelPlaces) of(label int64) (at int32, ok bool) { return p[label] - 1, p[label] > 0 }

// findLabels finds where labels are bound.
func (f *fn) findLabels() labelPlaces {
	p := labelPlaces(f.room.ints.make(f.asm.NumLabels() + 1))
	for i := range f.insts {
		if in := &f.insts[i]; in.kind == kindLabel {
			p[in.x] = int32(i) + 1
		}
	}
	return p
}

// findFlow analyses a function whose gangs wait by jumping to advance. No gang is left where control goes to fresh.
func (f *fn) findFlow(advance, fresh amd64.Label, asked []vr) *flow {
	g := &flow{
		f: f, insts: f.insts, asked: asked, number: f.room.ints.make(len(f.regs)), words: (len(asked) + 63) / 64,
		block: f.room.ints.make(len(f.insts)), blocks: f.room.blocks[:0], labels: f.findLabels(),
	}
	g.live = f.room.words.make(g.words)
	for i, r := range asked {
		g.number[r] = int32(i) + 1
	}
	g.findBlocks(advance, fresh)
	f.room.blocks = g.blocks
	g.solve()
	return g
}

// jumps reports whether an instruction jumps to a label, and whether it always does.
func (in *inst) jumps() (jump, always bool) {
	if in.kind != kindOp || in.n == 0 || in.a[0].kind != argLabel {
		return false, false
	}
	return in.op == amd64.JMP || in.op >= amd64.JO && in.op <= amd64.JG, in.op == amd64.JMP
}

func (g *flow) findBlocks(advance, fresh amd64.Label) {
	insts := g.insts
	outer := g.f.room.ints.make(len(insts)) // where code that stands elsewhere begins, the position behind its end
	depth, begin := 0, 0
	for i := range insts {
		switch insts[i].kind {
		case kindColdBegin:
			if depth++; depth == 1 {
				begin = i
			}
		case kindColdEnd:
			if depth--; depth == 0 {
				outer[begin] = int32(i) + 1
			}
		}
	}
	begins := true
	for i := range insts {
		in := &insts[i]
		if begins || in.kind == kindLabel || in.kind == kindColdBegin {
			if n := len(g.blocks); n > 0 {
				g.blocks[n-1].end = int32(i)
			}
			sets := g.f.room.words.make(3 * g.words)
			g.blocks = append(g.blocks, flowBlock{first: int32(i), in: sets[:g.words], reads: sets[g.words : 2*g.words], sets: sets[2*g.words:]})
		}
		jump, _ := in.jumps()
		begins = jump || in.kind == kindColdBegin || in.kind == kindColdEnd
		g.block[i] = int32(len(g.blocks) - 1)
	}
	if len(g.blocks) == 0 {
		return
	}
	g.blocks[len(g.blocks)-1].end = int32(len(insts))
	for n := range g.blocks {
		b := &g.blocks[n]
		last := &insts[b.end-1]
		jump, always := last.jumps()
		waits := jump && last.imm == int64(advance)
		if jump && !waits && last.imm != int64(fresh) {
			if to, ok := g.labels.of(last.imm); ok {
				b.goes(g.block[to])
			}
		}
		switch after := outer[b.end-1]; {
		case after > 0:
			if int(after) < len(insts) {
				b.goes(g.block[after])
			}
		case always && !(waits && b.end >= 2 && insts[b.end-2].kind == kindBarrier), last.kind == kindColdEnd:
		case int(b.end) < len(insts):
			b.goes(int32(n + 1))
		}
	}
}

func (g *flow) solve() {
	for n := range g.blocks {
		b := &g.blocks[n]
		for i := b.first; i < b.end; i++ {
			in := &g.insts[i]
			g.list = g.f.readBy(in, g.list[:0])
			for _, r := range g.list {
				if k, ok := g.numberOf(r); ok && !has(b.sets, k) {
					add(b.reads, k)
				}
			}
			g.list = g.f.setBy(in, g.list[:0])
			for _, r := range g.list {
				if k, ok := g.numberOf(r); ok {
					add(b.sets, k)
				}
			}
		}
		copy(b.in, b.reads)
	}
	for again := true; again; {
		again = false
		for n := len(g.blocks) - 1; n >= 0; n-- {
			b := &g.blocks[n]
			for _, m := range b.next[:b.to] {
				for w, x := range g.blocks[m].in {
					if more := x &^ b.sets[w] &^ b.in[w]; more != 0 {
						b.in[w] |= more
						again = true
					}
				}
			}
		}
	}
}

// liveAt gives the set of the registers that are live before the instruction at a position, valid until it is asked again.
func (g *flow) liveAt(i int32) []uint64 {
	clear(g.live)
	if int(i) >= len(g.block) {
		return g.live
	}
	b := &g.blocks[g.block[i]]
	if i == b.first {
		return b.in
	}
	for _, m := range b.next[:b.to] {
		for w, x := range g.blocks[m].in {
			g.live[w] |= x
		}
	}
	for at := b.end - 1; at >= i; at-- {
		in := &g.insts[at]
		g.list = g.f.setBy(in, g.list[:0])
		for _, r := range g.list {
			if k, ok := g.numberOf(r); ok {
				remove(g.live, k)
			}
		}
		g.list = g.f.readBy(in, g.list[:0])
		for _, r := range g.list {
			if k, ok := g.numberOf(r); ok {
				add(g.live, k)
			}
		}
	}
	return g.live
}
