package opt

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// LICM moves loop-invariant code out of loops: pure instructions, integer divisions and loads that are in no If of the loop. It
// moves divisions and loads only if they cannot fault before the loop, and loads only if the loop does not write their memory.
// It moves all constants, and all reads of extents and coordinates, also those in an If. It reports whether it changed the kernel.
func LICM(k *ir.Kernel, facts *Facts) bool {
	h := &licm{s: analysis.StructureOf(k), m: &cse{effects: map[*ir.Instr]effect{}}}
	for _, in := range k.Body.Instrs {
		h.m.gather(in)
	}
	if asks, any := h.asks(k.Body, nil); !any {
		return false
	} else if asks {
		p := newProver(k, facts)
		p.movable = map[*ir.Instr]map[*ir.Instr]bool{}
		p.block(k.Body)
		h.movable = p.movable
	}
	h.block(k.Body)
	if h.changed {
		Prove(k, facts) // proofs depend on the positions of instructions
	}
	return h.changed
}

type licm struct {
	s       *analysis.Structure
	movable map[*ir.Instr]map[*ir.Instr]bool
	m       *cse // for the writes of loops
	changed bool
}

// asks reports whether moving instructions out of a block's loops may depend on proofs, and whether the block has loops. loop
// is the enclosing loop, or nil.
func (h *licm) asks(b *ir.Block, loop *ir.Instr) (asks, loops bool) {
	if b == nil {
		return false, false
	}
	for _, in := range b.Instrs {
		switch in.Op {
		case ir.Load:
			asks = asks || loop != nil && !h.written(loop, in.Array) && h.mayBeInvariant(in.Args, loop, maxOperands)
		case ir.Div, ir.Rem:
			asks = asks || loop != nil && !analysis.IsSpeculable(in) && h.mayBeInvariant(in.Args, loop, maxOperands)
		case ir.Region, ir.If, ir.Loop:
			inside := loop
			if in.Op == ir.Loop {
				inside, loops = in, true
			}
			for _, inner := range []*ir.Block{in.Then, in.Else} {
				a, l := h.asks(inner, inside)
				asks, loops = asks || a, loops || l
			}
		}
	}
	return asks, loops
}

// mayBeInvariant reports whether all values of vs may be invariant after all possible moves. It assumes so of operands that are more
// than depth operations away.
func (h *licm) mayBeInvariant(vs []*ir.Value, loop *ir.Instr, depth int) bool {
	for _, v := range vs {
		if depth == 0 || h.s.Invariant(v, loop) {
			continue
		}
		if v.Def == nil || v.Def.Op != ir.Load && !v.Def.IsPure() && analysis.Checks(v.Def) == 0 || !h.mayBeInvariant(v.Def.Args, loop, depth-1) {
			return false
		}
	}
	return true
}

// block moves the instructions that can leave the block's loops before the loops, innermost loops first.
func (h *licm) block(b *ir.Block) {
	kept := make([]*ir.Instr, 0, len(b.Instrs))
	for _, in := range b.Instrs {
		if in.Then != nil {
			h.block(in.Then)
		}
		if in.Else != nil {
			h.block(in.Else)
		}
		if in.Op == ir.Loop {
			kept = h.empty(kept, in, in.Then, true)
		}
		kept = append(kept, in)
	}
	b.Instrs = kept
}

// empty removes the instructions that can leave the loop from b, and returns before with these instructions appended. always
// means that b is in no If of the loop.
func (h *licm) empty(before []*ir.Instr, loop *ir.Instr, b *ir.Block, always bool) []*ir.Instr {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		if h.leaves(loop, in, always) {
			before = append(before, in)
			for _, r := range in.Results {
				h.s.Home.Set(r, h.s.Parent[loop])
			}
			h.changed = true
			continue
		}
		kept = append(kept, in)
		switch in.Op {
		case ir.Region:
			before = h.empty(before, loop, in.Then, always)
		case ir.If:
			before = h.empty(before, loop, in.Then, false)
			before = h.empty(before, loop, in.Else, false)
		}
	}
	clear(b.Instrs[len(kept):])
	b.Instrs = kept
	return before
}

// leaves reports whether an instruction can move out of a loop. always means that it is in no If of the loop. Without always, only
// constants, coordinates and extents can.
func (h *licm) leaves(loop, in *ir.Instr, always bool) bool {
	switch {
	case in.Op == ir.Const || in.Op == ir.Item || in.Op == ir.Extent:
		return true
	case !always:
		return false
	case in.Op == ir.Load:
		if h.written(loop, in.Array) || !h.movable[loop][in] {
			return false
		}
	case (in.Op == ir.Div || in.Op == ir.Rem) && in.Args[0].Type.IsInt():
		if !analysis.IsSpeculable(in) && !h.movable[loop][in] {
			return false
		}
	case !analysis.IsSpeculable(in):
		return false
	}
	for _, a := range in.Args {
		if !h.s.Invariant(a, loop) {
			return false
		}
	}
	return true
}

// written reports whether the loop may write an element that a load of the array reads.
func (h *licm) written(loop *ir.Instr, a *ir.Array) bool {
	e := h.m.effects[loop]
	switch a.Space {
	case ir.Global:
		return e.global
	case ir.Shared:
		return e.shared
	case ir.Private:
		return e.private[a]
	}
	return false
}
