package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Which registers hold the parameters and the results of loops.

// shareResults lets a loop that all lanes leave together, and at one place only, give those results that are its parameters
// in their registers.
func (l *lowerer) shareResults(s *scope) {
	var exits []*ir.Instr
	s.in.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Break && in.Target == s.in {
			exits = append(exits, in)
		}
	})
	if s.diverges || len(exits) != 1 {
		return
	}
	for i, a := range exits[0].Args {
		j := slices.Index(s.in.Then.Params, a)
		if j >= 0 && l.uniform(a) == l.uniform(s.in.Results[i]) {
			s.results[i] = s.params[j]
		}
	}
}

// keepUniform gives parameters of a divergent loop that are the same for all lanes registers of their own for the next
// iteration: lanes that go on to it must not change what the others still have to read in this one.
func (l *lowerer) keepUniform(s *scope) {
	for i, p := range s.in.Then.Params {
		if !l.uniform(p) {
			continue
		}
		s.next[i] = l.variable(p)
		for _, r := range s.next[i].regs() {
			l.add(inst{kind: kindDeclare, x: int32(r), fold: -1})
		}
	}
}
