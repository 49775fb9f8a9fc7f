package vcode

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// Liveness is how control goes through a function, as one gang sees it: at a barrier it goes on right after it. It finds where
// registers are live, of those that are asked for.
type Liveness struct {
	F      *Func
	Insts  []Inst
	Asked  []Reg
	number []int32 // see numberOf
	Words  int     // of a set of them, by number from 0
	block  []int32 // of each instruction
	Blocks []Block
	Labels LabelPositions
	live   []uint64 // see liveAt
	List   []Reg    // of an instruction; kept for the next one
}

type Block struct {
	First, End int32
	Next       [2]int32 // where control goes on, as many as to says
	To         int
	In         []uint64 // live where it begins
	reads      []uint64 // before they are set
	sets       []uint64
}

func (b *Block) goes(to int32) {
	b.Next[b.To] = to
	b.To++
}

// NumberOf gives the number of a register, and whether it was asked for.
func (g *Liveness) NumberOf(r Reg) (k int32, ok bool) { return g.number[r] - 1, g.number[r] > 0 }

// LabelPositions has for each label 1 more than the position where it is bound, 0 if it is not.
type LabelPositions []int32

func (p LabelPositions) Of(label int64) (at int32, ok bool) { return p[label] - 1, p[label] > 0 }

// FindLabels finds where labels are bound.
func (f *Func) FindLabels() LabelPositions {
	p := LabelPositions(f.Scratch.Ints.Make(f.Asm.NumLabels() + 1))
	for i := range f.Insts {
		if in := &f.Insts[i]; in.Kind == KindLabel {
			p[in.X] = int32(i) + 1
		}
	}
	return p
}

// FindLiveness analyses a function whose gangs wait by jumping to advance. No gang is left where control goes to fresh.
func (f *Func) FindLiveness(advance, fresh amd64.Label, asked []Reg) *Liveness {
	g := &Liveness{
		F: f, Insts: f.Insts, Asked: asked, number: f.Scratch.Ints.Make(len(f.Regs)), Words: (len(asked) + 63) / 64,
		block: f.Scratch.Ints.Make(len(f.Insts)), Blocks: f.Scratch.blocks[:0], Labels: f.FindLabels(),
	}
	g.live = f.Scratch.Words.Make(g.Words)
	for i, r := range asked {
		g.number[r] = int32(i) + 1
	}
	g.findBlocks(advance, fresh)
	f.Scratch.blocks = g.Blocks
	g.solve()
	return g
}

// Jumps reports whether an instruction jumps to a label, and whether it always does.
func (in *Inst) Jumps() (jump, always bool) {
	if in.Kind != KindOp || in.N == 0 || in.Args[0].Kind != ArgLabel {
		return false, false
	}
	return in.Op == amd64.JMP || in.Op >= amd64.JO && in.Op <= amd64.JG, in.Op == amd64.JMP
}

func (g *Liveness) findBlocks(advance, fresh amd64.Label) {
	insts := g.Insts
	outer := g.F.Scratch.Ints.Make(len(insts)) // where code that stands elsewhere begins, the position behind its end
	depth, begin := 0, 0
	for i := range insts {
		switch insts[i].Kind {
		case KindColdBegin:
			if depth++; depth == 1 {
				begin = i
			}
		case KindColdEnd:
			if depth--; depth == 0 {
				outer[begin] = int32(i) + 1
			}
		}
	}
	begins := true
	for i := range insts {
		in := &insts[i]
		if begins || in.Kind == KindLabel || in.Kind == KindColdBegin {
			if n := len(g.Blocks); n > 0 {
				g.Blocks[n-1].End = int32(i)
			}
			sets := g.F.Scratch.Words.Make(3 * g.Words)
			g.Blocks = append(g.Blocks, Block{First: int32(i), In: sets[:g.Words], reads: sets[g.Words : 2*g.Words], sets: sets[2*g.Words:]})
		}
		jump, _ := in.Jumps()
		begins = jump || in.Kind == KindColdBegin || in.Kind == KindColdEnd
		g.block[i] = int32(len(g.Blocks) - 1)
	}
	if len(g.Blocks) == 0 {
		return
	}
	g.Blocks[len(g.Blocks)-1].End = int32(len(insts))
	for n := range g.Blocks {
		b := &g.Blocks[n]
		last := &insts[b.End-1]
		jump, always := last.Jumps()
		waits := jump && last.Imm == int64(advance)
		if jump && !waits && last.Imm != int64(fresh) {
			if to, ok := g.Labels.Of(last.Imm); ok {
				b.goes(g.block[to])
			}
		}
		switch after := outer[b.End-1]; {
		case after > 0:
			if int(after) < len(insts) {
				b.goes(g.block[after])
			}
		case always && !(waits && b.End >= 2 && insts[b.End-2].Kind == KindBarrier), last.Kind == KindColdEnd:
		case int(b.End) < len(insts):
			b.goes(int32(n + 1))
		}
	}
}

func (g *Liveness) solve() {
	for n := range g.Blocks {
		b := &g.Blocks[n]
		for i := b.First; i < b.End; i++ {
			in := &g.Insts[i]
			g.List = g.F.ReadBy(in, g.List[:0])
			for _, r := range g.List {
				if k, ok := g.NumberOf(r); ok && !HasBit(b.sets, k) {
					SetBit(b.reads, k)
				}
			}
			g.List = g.F.SetBy(in, g.List[:0])
			for _, r := range g.List {
				if k, ok := g.NumberOf(r); ok {
					SetBit(b.sets, k)
				}
			}
		}
		copy(b.In, b.reads)
	}
	for again := true; again; {
		again = false
		for n := len(g.Blocks) - 1; n >= 0; n-- {
			b := &g.Blocks[n]
			for _, m := range b.Next[:b.To] {
				for w, x := range g.Blocks[m].In {
					if more := x &^ b.sets[w] &^ b.In[w]; more != 0 {
						b.In[w] |= more
						again = true
					}
				}
			}
		}
	}
}

// LiveAt gives the set of the registers that are live before the instruction at a position, valid until it is asked again.
func (g *Liveness) LiveAt(i int32) []uint64 {
	clear(g.live)
	if int(i) >= len(g.block) {
		return g.live
	}
	b := &g.Blocks[g.block[i]]
	if i == b.First {
		return b.In
	}
	for _, m := range b.Next[:b.To] {
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
