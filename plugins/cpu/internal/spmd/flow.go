package spmd

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// flow is how control goes through a function, as one gang sees it: at a barrier it goes on right after it. It finds where
// registers are live, of those that are asked for.
type flow struct {
	f      *fn
	insts  []inst
	number map[vr]int32 // of the registers asked for
	words  int          // of a set of them
	block  []int32      // of each instruction
	blocks []flowBlock
	labels map[int64]int32 // positions
}

type flowBlock struct {
	first, end int32
	next       []int32
	in         []uint64 // live where it begins
	reads      []uint64 // before they are set
	sets       []uint64
}

// findFlow analyses a function whose gangs wait by jumping to advance. No gang is left where control goes to fresh.
func (f *fn) findFlow(advance, fresh amd64.Label, asked []vr) *flow {
	g := &flow{f: f, insts: f.insts, number: map[vr]int32{}, words: (len(asked) + 63) / 64, block: make([]int32, len(f.insts)), labels: map[int64]int32{}}
	for i, r := range asked {
		g.number[r] = int32(i)
	}
	g.findBlocks(advance, fresh)
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
	outer := make(map[int32]int32) // from the begin of code that stands elsewhere to behind its end
	depth, begin := 0, int32(0)
	for i := range insts {
		switch insts[i].kind {
		case kindLabel:
			g.labels[int64(insts[i].x)] = int32(i)
		case kindColdBegin:
			if depth++; depth == 1 {
				begin = int32(i)
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
			sets := make([]uint64, 3*g.words)
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
		waits := jump && last.a[0].imm == int64(advance)
		if to, ok := g.labels[last.a[0].imm]; jump && ok && !waits && last.a[0].imm != int64(fresh) {
			b.next = append(b.next, g.block[to])
		}
		switch after, elsewhere := outer[b.end-1]; {
		case elsewhere:
			if int(after) < len(insts) {
				b.next = append(b.next, g.block[after])
			}
		case always && !(waits && b.end >= 2 && insts[b.end-2].kind == kindBarrier), last.kind == kindColdEnd:
		case int(b.end) < len(insts):
			b.next = append(b.next, int32(n+1))
		}
	}
}

// set, written and read visit the registers that an instruction sets entirely, those that it changes, and those that it
// reads.
func (f *fn) set(in *inst, visit func(vr)) {
	switch in.kind {
	case kindDeclare:
		visit(vr(in.x))
	case kindTrap:
		for _, r := range f.traps[in.x].defs {
			visit(r)
		}
	case kindOp:
		if in.mode == modeDef && in.a[0].kind == argReg && (in.mask == 0 || in.zero) {
			visit(in.a[0].reg)
		}
	}
}

func (f *fn) written(in *inst, visit func(vr)) {
	switch {
	case in.kind == kindTrap:
		for _, r := range f.traps[in.x].defs {
			visit(r)
		}
	case in.kind == kindOp && in.mode != modeUse && in.a[0].kind == argReg:
		visit(in.a[0].reg)
	}
}

func (f *fn) read(in *inst, visit func(vr)) {
	see := func(r vr) {
		if r != 0 {
			visit(r)
		}
	}
	switch in.kind {
	case kindTrap:
		for _, r := range f.traps[in.x].uses {
			see(r)
		}
	case kindOp:
		see(in.mask)
		for j := range in.a[:in.n] {
			a := &in.a[j]
			if j > 0 || in.mode != modeDef || in.mask != 0 && !in.zero {
				see(a.reg)
			}
			see(a.mem.base)
			see(a.mem.index)
		}
	}
}

func (g *flow) solve() {
	for n := range g.blocks {
		b := &g.blocks[n]
		for i := b.first; i < b.end; i++ {
			in := &g.insts[i]
			g.f.read(in, func(r vr) {
				if k, ok := g.number[r]; ok && b.sets[k/64]>>(k%64)&1 == 0 {
					b.reads[k/64] |= 1 << (k % 64)
				}
			})
			g.f.set(in, func(r vr) {
				if k, ok := g.number[r]; ok {
					b.sets[k/64] |= 1 << (k % 64)
				}
			})
		}
		copy(b.in, b.reads)
	}
	for again := true; again; {
		again = false
		for n := len(g.blocks) - 1; n >= 0; n-- {
			b := &g.blocks[n]
			for _, m := range b.next {
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

// liveAt reports whether a register is live before the instruction at a position.
func (g *flow) liveAt(i int32, r vr) bool {
	k, ok := g.number[r]
	if !ok || int(i) >= len(g.block) {
		return false
	}
	b := &g.blocks[g.block[i]]
	live := false
	for _, m := range b.next {
		live = live || g.blocks[m].in[k/64]>>(k%64)&1 != 0
	}
	for at := b.end - 1; at >= i; at-- {
		in := &g.insts[at]
		g.f.set(in, func(s vr) { live = live && s != r })
		g.f.read(in, func(s vr) { live = live || s == r })
	}
	return live
}
