package opt

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// DCE eliminates dead code: instructions without effect whose results are unused, and dead results and carried values
// of structured instructions. It removes a dead loop only if the loop is known to be finite. DCE reports whether it changed the
// kernel.
func DCE(k *ir.Kernel, _ *Facts) bool {
	s := &dce{Structure: analysis.StructureOf(k), around: map[*ir.Instr]bool{}, values: analysis.NewValues[bool](k)}
	s.roots(k.Body, nil)
	for len(s.work) > 0 {
		v := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		s.follow(v)
	}
	s.block(k.Body)
	return s.changed
}

type dce struct {
	*analysis.Structure
	around  map[*ir.Instr]bool    // live structured instructions
	values  analysis.Values[bool] // live values
	work    []*ir.Value           // live values whose definitions are not yet visited
	changed bool
}

// roots marks the instructions of a block, and of the blocks nested in it, that have effects. parent is the enclosing structured
// instruction.
func (s *dce) roots(b *ir.Block, parent *ir.Instr) {
	if b == nil {
		return
	}
	for _, in := range b.Instrs {
		if s.isRoot(in) {
			s.keep(in, parent)
		}
		s.roots(in.Then, in)
		s.roots(in.Else, in)
	}
}

func (s *dce) isRoot(in *ir.Instr) bool {
	switch in.Op {
	case ir.Store, ir.Atomic, ir.Zero, ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Print, ir.Return, ir.Unreachable, ir.Fence, ir.Pause:
		return true
	case ir.Lib:
		return len(in.Arrays) > 0
	case ir.Loop:
		return !s.Finite(in)
	}
	return analysis.MayFault(in)
}

// keep marks the operands of a live instruction, and the enclosing structured instructions with their conditions and jumps.
func (s *dce) keep(in, parent *ir.Instr) {
	if in.Then != nil {
		parent = in
	} else if in.Op != ir.Break && in.Op != ir.Continue && in.Op != ir.Yield { // an operand of a jump is live only if what it is passed to is
		for _, a := range in.Args {
			s.use(a)
		}
	}
	for ; parent != nil && !s.around[parent]; parent = s.Parent[parent] {
		s.around[parent] = true
		if parent.Op == ir.If {
			s.use(parent.Args[0])
			continue
		}
		if parent.Op == ir.Region && parent.Fn != "" { // an extension keeps its form
			for _, v := range parent.Args {
				s.use(v)
			}
			for _, v := range parent.Results {
				s.use(v)
			}
		}
		// The initial values of a loop are live if the parameters are.
		for _, jump := range s.Breaks[parent] {
			s.keep(jump, s.Parent[jump])
		}
		for _, jump := range s.Continues[parent] {
			s.keep(jump, s.Parent[jump])
		}
	}
}

// lives reports whether an instruction is live.
func (s *dce) lives(in *ir.Instr) bool {
	switch {
	case in.Then != nil:
		return s.around[in]
	case in.Op.IsTerminator() || s.isRoot(in):
		return true
	}
	return slices.ContainsFunc(in.Results, func(r *ir.Value) bool { return s.values.At(r) })
}

func (s *dce) use(v *ir.Value) {
	if !s.values.At(v) {
		s.values.Set(v, true)
		s.work = append(s.work, v)
	}
}

// follow marks what defines a live value: its instruction, and the operands that yields, jumps and loops pass to it.
func (s *dce) follow(v *ir.Value) {
	in := v.Def
	if in == nil {
		if c := s.LoopOf[v]; c.Loop != nil {
			s.use(c.Loop.Args[c.I])
			for _, jump := range s.Continues[c.Loop] {
				s.use(jump.Args[c.I])
			}
		}
		return
	}
	s.keep(in, s.Home.At(v))
	if in.Then == nil {
		return
	}
	for i, r := range in.Results {
		if r != v {
			continue
		}
		for _, end := range s.Ends(in) {
			s.use(end.Args[i])
		}
	}
}

// block removes dead instructions and keeps the terminator.
func (s *dce) block(b *ir.Block) {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		if !s.lives(in) {
			s.changed = true
			continue
		}
		kept = append(kept, in)
		if in.Then == nil {
			continue
		}
		s.edges(in)
		s.block(in.Then)
		if in.Else != nil {
			s.block(in.Else)
		}
	}
	clear(b.Instrs[len(kept):])
	b.Instrs = kept
}

// edges removes the dead results and carried values of a structured instruction.
func (s *dce) edges(in *ir.Instr) {
	alive := s.alive(in.Results)
	for _, end := range s.Ends(in) {
		end.Args = filter(end.Args, alive)
	}
	in.Results = filter(in.Results, alive)
	if in.Op != ir.Loop {
		return
	}
	alive = s.alive(in.Then.Params)
	for _, jump := range s.Continues[in] {
		jump.Args = filter(jump.Args, alive)
	}
	in.Args = filter(in.Args, alive)
	in.Then.Params = filter(in.Then.Params, alive)
}

func (s *dce) alive(vs []*ir.Value) []bool {
	alive := make([]bool, len(vs))
	for i, v := range vs {
		alive[i] = s.values.At(v)
		s.changed = s.changed || !alive[i]
	}
	return alive
}

func filter(vs []*ir.Value, keep []bool) []*ir.Value {
	kept := vs[:0]
	for i, v := range vs {
		if keep[i] {
			kept = append(kept, v)
		}
	}
	return kept
}
