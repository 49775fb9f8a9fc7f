package vcode

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// Liveness has the control flow graph of a function and the live registers at the start of each basic block. It tracks only
// the registers that the caller names, and numbers them from 0; a set is a list of words.
//
// The graph is that of one gang: after a barrier the gang continues with the next instruction.
type Liveness struct {
	F      *Func
	Insts  []Inst
	Asked  []Reg   // tracked registers, by number
	Words  int     // words of a set
	Blocks []Block // basic blocks, in the order of the code
	Labels LabelPositions
	List   []Reg // reused for the registers of an instruction

	number []int32  // by register: 1 + its number, 0 if it is not tracked
	block  []int32  // by instruction: its block
	live   []uint64 // memory for the result of LiveAt
}

// Block is a basic block: the instructions from First to before End.
type Block struct {
	First, End int32
	Next       [2]int32 // the successors
	NumNext    int
	In         []uint64 // registers live at the start of the block
	uses       []uint64 // registers that the block reads before it overwrites them
	defs       []uint64 // registers that the block overwrites completely or declares
}

// Successors returns the successors of the block.
func (b *Block) Successors() []int32 { return b.Next[:b.NumNext] }

func (b *Block) addSuccessor(n int32) {
	b.Next[b.NumNext] = n
	b.NumNext++
}

// NumberOf returns the number of a register. ok is false if it is not tracked.
func (g *Liveness) NumberOf(r Reg) (k int32, ok bool) { return g.number[r] - 1, g.number[r] > 0 }

// LabelPositions has the position of each label, plus 1, or 0 for a label that is not bound.
type LabelPositions []int32

// Of returns the position of a label, and whether the label is bound.
func (p LabelPositions) Of(label int64) (at int32, ok bool) { return p[label] - 1, p[label] > 0 }

// FindLabels returns the positions of labels.
func (f *Func) FindLabels() LabelPositions {
	p := LabelPositions(f.Scratch.Ints.Make(f.Asm.NumLabels() + 1))
	for i := range f.Insts {
		if in := &f.Insts[i]; in.Kind == KindLabel {
			p[in.Label()] = int32(i) + 1
		}
	}
	return p
}

// FindLiveness computes the control flow graph, and the liveness of the asked registers. At a barrier a gang jumps to advance.
// At fresh, unless it is 0, all gangs have ended and no register is live.
func (f *Func) FindLiveness(advance, fresh amd64.Label, asked []Reg) *Liveness {
	g := &Liveness{
		F: f, Insts: f.Insts, Asked: asked, number: f.Scratch.Ints.Make(len(f.Regs)), Words: (len(asked) + 63) / 64,
		block: f.Scratch.Ints.Make(len(f.Insts)), Blocks: f.Scratch.blocks[:0], Labels: f.FindLabels(),
	}
	g.live = f.Scratch.Words.Make(g.Words)
	for i, r := range asked {
		g.number[r] = int32(i) + 1
	}
	g.splitBlocks()
	g.connectBlocks(advance, fresh)
	f.Scratch.blocks = g.Blocks
	g.solve()
	return g
}

// splitBlocks finds the basic blocks. A block ends after a jump, before a label, and around cold code.
func (g *Liveness) splitBlocks() {
	begins := true
	for i := range g.Insts {
		in := &g.Insts[i]
		if begins || in.Kind == KindLabel || in.Kind == KindColdBegin {
			if n := len(g.Blocks); n > 0 {
				g.Blocks[n-1].End = int32(i)
			}
			sets := g.F.Scratch.Words.Make(3 * g.Words)
			g.Blocks = append(g.Blocks, Block{First: int32(i), In: sets[:g.Words], uses: sets[g.Words : 2*g.Words], defs: sets[2*g.Words:]})
		}
		jump, _ := in.Jumps()
		begins = jump || in.Kind == KindColdBegin || in.Kind == KindColdEnd
		g.block[i] = int32(len(g.Blocks) - 1)
	}
	if n := len(g.Blocks); n > 0 {
		g.Blocks[n-1].End = int32(len(g.Insts))
	}
}

// connectBlocks computes the successors of blocks. Control skips cold code, which is entered by jumps.
func (g *Liveness) connectBlocks(advance, fresh amd64.Label) {
	after := g.coldEnds()
	for n := range g.Blocks {
		b := &g.Blocks[n]
		last := &g.Insts[b.End-1]
		jump, always := last.Jumps()
		waits := jump && last.Imm == int64(advance)
		if jump && !waits && last.Imm != int64(fresh) {
			if to, ok := g.Labels.Of(last.Imm); ok {
				b.addSuccessor(g.block[to])
			}
		}
		switch next := after[b.End-1]; {
		case next > 0:
			if int(next) < len(g.Insts) {
				b.addSuccessor(g.block[next])
			}
		case always && !(waits && b.End >= 2 && g.Insts[b.End-2].Kind == KindBarrier), last.Kind == KindColdEnd:
		case int(b.End) < len(g.Insts):
			b.addSuccessor(int32(n + 1))
		}
	}
}

// coldEnds maps each instruction that begins outermost cold code to the position after its end, others to 0.
func (g *Liveness) coldEnds() []int32 {
	ends := g.F.Scratch.Ints.Make(len(g.Insts))
	depth, begin := 0, 0
	for i := range g.Insts {
		switch g.Insts[i].Kind {
		case KindColdBegin:
			if depth++; depth == 1 {
				begin = i
			}
		case KindColdEnd:
			if depth--; depth == 0 {
				ends[begin] = int32(i) + 1
			}
		}
	}
	return ends
}

// solve computes the live registers at the start of blocks by fixed-point iteration.
func (g *Liveness) solve() {
	for n := range g.Blocks {
		b := &g.Blocks[n]
		for i := b.First; i < b.End; i++ {
			in := &g.Insts[i]
			g.List = g.F.ReadBy(in, g.List[:0])
			for _, r := range g.List {
				if k, ok := g.NumberOf(r); ok && !HasBit(b.defs, k) {
					SetBit(b.uses, k)
				}
			}
			g.List = g.F.SetBy(in, g.List[:0])
			for _, r := range g.List {
				if k, ok := g.NumberOf(r); ok {
					SetBit(b.defs, k)
				}
			}
		}
		copy(b.In, b.uses)
	}
	for again := true; again; {
		again = false
		for n := len(g.Blocks) - 1; n >= 0; n-- {
			b := &g.Blocks[n]
			for _, m := range b.Successors() {
				for w, x := range g.Blocks[m].In {
					if more := x &^ b.defs[w] &^ b.In[w]; more != 0 {
						b.In[w] |= more
						again = true
					}
				}
			}
		}
	}
}

// LiveAt returns the set of tracked registers that are live before the instruction at a position. The set is empty at the end
// of the function. It is valid until the next call, and callers must not change it.
func (g *Liveness) LiveAt(i int32) []uint64 {
	clear(g.live)
	if int(i) >= len(g.block) {
		return g.live
	}
	b := &g.Blocks[g.block[i]]
	if i == b.First {
		return b.In
	}
	for _, m := range b.Successors() {
		for w, x := range g.Blocks[m].In {
			g.live[w] |= x
		}
	}
	for at := b.End - 1; at >= i; at-- {
		in := &g.Insts[at]
		g.List = g.F.SetBy(in, g.List[:0])
		for _, r := range g.List {
			if k, ok := g.NumberOf(r); ok {
				ClearBit(g.live, k)
			}
		}
		g.List = g.F.ReadBy(in, g.List[:0])
		for _, r := range g.List {
			if k, ok := g.NumberOf(r); ok {
				SetBit(g.live, k)
			}
		}
	}
	return g.live
}
