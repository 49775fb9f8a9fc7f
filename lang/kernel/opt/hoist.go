package opt

import "github.com/orepl/orepl/lang/kernel/ir"

// Hoist moves what gives the same value in every iteration out of loops: pure instructions that each iteration runs,
// and loads that cannot fault before the loop either and whose memory the loop does not write. Constants move from
// anywhere in the loop.
func Hoist(k *ir.Kernel, facts *Facts) bool {
	p := newProver(k, facts)
	p.block(k.Body)
	h := &hoister{s: p.s, movable: p.movable, m: &merger{effects: map[*ir.Instr]effect{}}}
	for _, in := range k.Body.Instrs {
		h.m.gather(in)
	}
	h.block(k.Body)
	if h.changed {
		Prove(k, facts) // marks belong to where instructions stand
	}
	return h.changed
}

type hoister struct {
	s       *structure
	movable map[*ir.Instr]map[*ir.Instr]bool
	m       *merger // for what loops write
	changed bool
}

// block moves instructions of the loops in the block to before them, the innermost loops first.
func (h *hoister) block(b *ir.Block) {
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

// empty appends what can leave the loop from one of its blocks to the instructions before it.
func (h *hoister) empty(before []*ir.Instr, loop *ir.Instr, b *ir.Block, always bool) []*ir.Instr {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		if h.leaves(loop, in, always) {
			before = append(before, in)
			h.s.parent[in] = h.s.parent[loop]
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

func (h *hoister) leaves(loop, in *ir.Instr, always bool) bool {
	switch {
	case in.Op == ir.Const || in.Op == ir.Item || in.Op == ir.Extent:
		return true
	case !always:
		return false
	case in.Op == ir.Load:
		if !h.movable[loop][in] || h.written(loop, in.Array) {
			return false
		}
	case (in.Op == ir.Div || in.Op == ir.Rem) && in.Args[0].Type.IsInt():
		if !speculable(in) && !h.movable[loop][in] {
			return false
		}
	case !speculable(in):
		return false
	}
	for _, a := range in.Args {
		if !h.s.invariant(a, loop) {
			return false
		}
	}
	return true
}

// written reports whether the loop may change what a load of the array gives.
func (h *hoister) written(loop *ir.Instr, a *ir.Array) bool {
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
