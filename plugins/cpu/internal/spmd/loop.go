package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Which registers hold the parameters and the results of loops, and how often a loop asks whether any lane is left.

// shareResults lets a loop that all lanes leave together, and at one place only, give those results that are its parameters
// in their registers.
func (l *lowerer) shareResults(s *scope) {
	exits := exitsOf(s.in)
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

// exitsOf lists the breaks of a loop.
func exitsOf(loop *ir.Instr) (exits []*ir.Instr) {
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Break && in.Target == loop {
			exits = append(exits, in)
		}
	})
	return exits
}

// countResults finds the results of a divergent loop that are one of its counters: a parameter that is the same for all
// lanes and grows by a constant. Their registers begin with its first value and count along under the mask of the lanes
// that go on, so that lanes have theirs when they leave.
func (l *lowerer) countResults(s *scope, args []value) {
	exits, next := exitsOf(s.in), s.in.Then.Terminator()
	s.steps = make([]vcode.Reg, len(s.results))
	for i, r := range s.in.Results {
		if len(exits) == 0 || r.Type.Size() != 4 || r.Type == ir.Bool || l.uniform(r) {
			continue
		}
		p := exits[0].Args[i]
		j := slices.Index(s.in.Then.Params, p)
		same := func(in *ir.Instr) bool { return in.Args[i] == p }
		if j < 0 || !l.uniform(p) || len(s.params[j].regs()) != 1 || slices.ContainsFunc(exits, func(in *ir.Instr) bool { return !same(in) }) {
			continue
		}
		step, ok := constantStep(next.Args[j].Def, p)
		if !ok {
			continue
		}
		first := args[j].vec
		switch {
		case first != nil:
		case s.from.values == nil:
			first = l.vector(s.in.Args[j])
		default:
			first = []vcode.Reg{l.splat(args[j].g, r.Type)}
		}
		for _, d := range s.results[i].vec {
			l.Def(amd64.VMOVDQA64, d.Z(), vcode.Part(first, 0).Z()).Folds(1, 0)
		}
		s.steps[i] = l.Constant(step, 4)
	}
}

// constantStep gives the bits of the constant that an instruction adds to a value.
func constantStep(in *ir.Instr, v *ir.Value) (uint64, bool) {
	if in == nil || in.Op != ir.Add {
		return 0, false
	}
	for i, a := range in.Args {
		if c := in.Args[1-i].Def; a == v && c != nil && c.Op == ir.Const {
			return c.Bits, true
		}
	}
	return 0, false
}

// countOn brings the results that count along to the next iteration.
func (l *lowerer) countOn(s *scope) {
	for i, step := range s.steps {
		if step == 0 {
			continue
		}
		op := amd64.VPADDD
		if s.in.Results[i].Type.IsFloat() {
			op = amd64.VADDPS
		}
		for n, d := range s.results[i].vec {
			in := l.Def(op, d.Z(), d.Z(), step.Z()).Folds(2, 4)
			if l.cur != nil {
				in.Under(l.cur[n])
			}
		}
	}
}

// maxTwice is the number of instructions of a loop's body up to which it asks in every other iteration only.
const maxTwice = 24

// mayOverrun reports whether the lanes of a divergent loop may go through its body once more after all have left, which
// then does nothing: it is short, all of it is arithmetic that cannot fail, and lanes leave it as [lowerer.exit] has it.
func (l *analysis) mayOverrun(loop *ir.Instr) bool {
	exits, n := 0, 0
	var pure func(b *ir.Block) bool
	pure = func(b *ir.Block) bool {
		for _, in := range b.Instrs[:len(b.Instrs)-1] {
			n++
			switch {
			case in.Op == ir.If && leaves(in):
				exits++
				if !pure(in.Then) || !pure(in.Else) {
					return false
				}
			case in.Op >= ir.Math || !in.IsPure() || in.Op == ir.Rem || in.Op == ir.MulHi:
				return false
			}
		}
		return true
	}
	return pure(loop.Then) && exits > 0 && n <= maxTwice
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
			l.Declare(r)
		}
	}
}
