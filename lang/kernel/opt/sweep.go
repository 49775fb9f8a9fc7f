package opt

import "github.com/orepl/orepl/lang/kernel/ir"

// Sweep removes what has no effect: instructions whose results nobody uses, results and carried values of structured
// instructions likewise, and whole loops, if they are sure to end.
func Sweep(k *ir.Kernel, _ *Facts) bool {
	s := &sweeper{structure: structureOf(k), instrs: map[*ir.Instr]bool{}, values: map[*ir.Value]bool{}}
	k.Body.Walk(func(in *ir.Instr) {
		if s.isRoot(in) {
			s.keep(in)
		}
	})
	for len(s.work) > 0 {
		v := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		s.follow(v)
	}
	s.block(k.Body)
	return s.changed
}

type sweeper struct {
	*structure
	instrs  map[*ir.Instr]bool // live
	values  map[*ir.Value]bool // live
	work    []*ir.Value        // live, their definitions not yet followed
	changed bool
}

func (s *sweeper) isRoot(in *ir.Instr) bool {
	switch in.Op {
	case ir.Store, ir.Atomic, ir.Zero, ir.Barrier, ir.Reduce, ir.Scan, ir.Subgroup, ir.Print, ir.Return, ir.Unreachable:
		return true
	case ir.Loop:
		return !s.finite(in)
	}
	return mayFault(in)
}

// keep marks an instruction live, with all that it needs.
func (s *sweeper) keep(in *ir.Instr) {
	for ; in != nil && !s.instrs[in]; in = s.parent[in] {
		s.instrs[in] = true
		switch in.Op {
		case ir.Region, ir.Loop: // the initial values of a loop live if the parameters do
			for _, jump := range s.breaks[in] {
				s.keep(jump)
			}
			for _, jump := range s.continues[in] {
				s.keep(jump)
			}
		case ir.Break, ir.Continue, ir.Yield:
			// Their operands live if what they give does.
		default:
			for _, a := range in.Args {
				s.use(a)
			}
		}
	}
}

func (s *sweeper) use(v *ir.Value) {
	if !s.values[v] {
		s.values[v] = true
		s.work = append(s.work, v)
	}
}

// follow marks what a live value comes from.
func (s *sweeper) follow(v *ir.Value) {
	in := v.Def
	if in == nil {
		if c, ok := s.loopOf[v]; ok {
			s.use(c.loop.Args[c.i])
			for _, jump := range s.continues[c.loop] {
				s.use(jump.Args[c.i])
			}
		}
		return
	}
	s.keep(in)
	if in.Then == nil {
		return
	}
	for i, r := range in.Results {
		if r != v {
			continue
		}
		for _, jump := range s.breaks[in] {
			s.use(jump.Args[i])
		}
		for _, b := range []*ir.Block{in.Then, in.Else} {
			if b != nil && in.Op != ir.Loop && endsIn(b, ir.Yield) {
				s.use(b.Terminator().Args[i])
			}
		}
	}
}

// block drops what is not live. Terminators stay.
func (s *sweeper) block(b *ir.Block) {
	kept := b.Instrs[:0]
	for _, in := range b.Instrs {
		if !s.instrs[in] && !in.Op.IsTerminator() {
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

// edges drops the dead results and carried values of a structured instruction.
func (s *sweeper) edges(in *ir.Instr) {
	alive := s.alive(in.Results)
	for _, jump := range s.breaks[in] {
		jump.Args = filter(jump.Args, alive)
	}
	for _, b := range []*ir.Block{in.Then, in.Else} {
		if b != nil && in.Op != ir.Loop && endsIn(b, ir.Yield) {
			b.Terminator().Args = filter(b.Terminator().Args, alive)
		}
	}
	in.Results = filter(in.Results, alive)
	if in.Op != ir.Loop {
		return
	}
	alive = s.alive(in.Then.Params)
	for _, jump := range s.continues[in] {
		jump.Args = filter(jump.Args, alive)
	}
	in.Args = filter(in.Args, alive)
	in.Then.Params = filter(in.Then.Params, alive)
}

func (s *sweeper) alive(vs []*ir.Value) []bool {
	alive := make([]bool, len(vs))
	for i, v := range vs {
		alive[i] = s.values[v]
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
