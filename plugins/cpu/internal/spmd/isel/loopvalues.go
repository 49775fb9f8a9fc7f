package isel

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// This file chooses the registers of loop parameters and results, and emits results that are counters.

// shareResults makes results of a loop share the registers of its parameters, if the loop has a single exit and is uniform. These are
// the results to which the exit assigns a parameter.
func (l *Lowerer) shareResults(s *Scope) {
	exits := analysis.ExitsOf(s.In)
	if s.diverges || len(exits) != 1 {
		return
	}
	for i, a := range exits[0].Args {
		j := slices.Index(s.In.Then.Params, a)
		if j >= 0 && l.IsUniform(a) == l.IsUniform(s.In.Results[i]) {
			s.results[i] = s.Params[j]
		}
	}
}

// countResults finds the results of a divergent loop that are counters: each exit assigns the same uniform parameter, which grows by
// a constant. It emits their initial values; args has those of the parameters. The registers grow under the mask of the lanes that
// continue, so a lane that leaves keeps its result.
func (l *Lowerer) countResults(s *Scope, args []values.Value) {
	exits, next := analysis.ExitsOf(s.In), s.In.Then.Terminator()
	s.steps = make([]vcode.Reg, len(s.results))
	for i, r := range s.In.Results {
		if len(exits) == 0 || r.Type.Size() != 4 || r.Type == ir.Bool || l.IsUniform(r) {
			continue
		}
		p := exits[0].Args[i]
		j := slices.Index(s.In.Then.Params, p)
		same := func(in *ir.Instr) bool { return in.Args[i] == p }
		if j < 0 || !l.IsUniform(p) || len(s.Params[j].Regs()) != 1 || slices.ContainsFunc(exits, func(in *ir.Instr) bool { return !same(in) }) {
			continue
		}
		step, ok := analysis.ConstantStep(next.Args[j].Def, p)
		if !ok {
			continue
		}
		first := args[j].Vec
		switch {
		case first != nil:
		case s.from.Values == nil:
			first = l.Vector(s.In.Args[j])
		default:
			first = []vcode.Reg{l.Splat(args[j].G, r.Type)}
		}
		for _, d := range s.results[i].Vec {
			l.Def(amd64.VMOVDQA64, d.Z(), vcode.Part(first, 0).Z()).Folds(1, 0)
		}
		s.steps[i] = l.Constant(step, 4)
	}
}

// countOn emits the increments of the results that are counters.
func (l *Lowerer) countOn(s *Scope) {
	for i, step := range s.steps {
		if step == 0 {
			continue
		}
		op := amd64.VPADDD
		if s.In.Results[i].Type.IsFloat() {
			op = amd64.VADDPS
		}
		for n, d := range s.results[i].Vec {
			in := l.Def(op, d.Z(), d.Z(), step.Z()).Folds(2, 4)
			if l.Cur != nil {
				in.Under(l.Cur[n])
			}
		}
	}
}

// keepUniform allocates registers for the next values of the uniform parameters of a divergent loop. Lanes that continue
// must not overwrite the values that other lanes still read in this iteration.
func (l *Lowerer) keepUniform(s *Scope) {
	for i, p := range s.In.Then.Params {
		if !l.IsUniform(p) {
			continue
		}
		s.Next[i] = l.Variable(p)
		for _, r := range s.Next[i].Regs() {
			l.Declare(r)
		}
	}
}
