package grid

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// counterOf returns the counter of an interleaved loop, or nil if no test of a single value covers several iterations.
func (l *Builder) counterOf(r *values.Interleaved) *values.Counter {
	test := r.Exit.Args[0].Def
	if r.Turns < 2 || !analysis.FallsThrough(r.Exit.Then) || test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return nil
	}
	v := test.Args[0]
	i := slices.Index(r.Loop.Then.Params, v)
	if i < 0 || r.Params.Lane0s[i] == 0 || !l.before(r.Loop, test.Args[1]) && !readsExtent(test) {
		return nil
	}
	s, affine := l.Affine.Strides(v)
	next := r.Loop.Then.Terminator().Args[i].Def
	if !affine || s[0] < 0 || int64(s[0]) > vcode.MaxPeel || next == nil || next.Op != ir.Add || next.Args[0] != v {
		return nil
	}
	step := next.Args[1]
	if c, ok := plan.SmallConst(step); !l.before(r.Loop, step) || ok && (c < 0 || c > maxStep) {
		return nil
	}
	return &values.Counter{Param: i, Test: test, Step: step}
}

// maxStep is the maximum constant step of a counter. With larger steps, the sum of a round may not fit in a displacement.
const maxStep = 1 << 24

// before reports whether a value is uniform and available before a loop.
func (l *Builder) before(loop *ir.Instr, v *ir.Value) bool {
	_, small := plan.SmallConst(v)
	return small || l.IsUniform(v) && l.Uses[v.ID].Loop != loop
}

// readsExtent reports whether a condition tests that a value is less than an extent.
func readsExtent(test *ir.Instr) bool {
	in := test.Args[1].Def
	return test.Op == ir.Lt && in != nil && in.Op == ir.Extent
}

// testRound emits a test of the loop's condition, and of the indices that are the counter, for all iterations of a round. It jumps to
// fail unless all hold. first is the lane-0 counter of the gang, or the greatest one of the gangs that share the test, zero-extended.
// The test computes with 64 bits, in which negative counters and steps are large numbers, so their rounds fail.
func (l *Builder) testRound(r *values.Interleaved, c *values.Counter, first vcode.Reg, fail amd64.Label) {
	v, bound := c.Test.Args[0], c.Test.Args[1]
	s, _ := l.Affine.Strides(v)
	span, times := s[0]*int32(l.Lanes()-1), int64(r.Turns-1)
	last := l.NewGPR()
	if n, ok := plan.SmallConst(c.Step); ok {
		l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: first, Disp: span + int32(n*times)}.At())
	} else {
		step, far := l.NewGPR(), l.NewGPR()
		l.Def(amd64.MOV, step.G4(), l.General(c.Step).G4())
		l.Def(amd64.IMUL, far.G8(), step.G8(), vcode.Imm(times))
		l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: first, Index: far, IndexSize: 8, Scale: 1, Disp: span}.At())
	}
	in, extent := bound.Def, readsExtent(c.Test)
	switch n, small := plan.SmallConst(bound); {
	case extent:
		l.Use(amd64.CMP, last.G8(), l.ExtentMem(in.Array, -1-in.Axis, 8).At())
	case small:
		l.Use(amd64.CMP, last.G8(), vcode.Imm(n))
	default:
		l.Use(amd64.CMP, last.G8(), l.WideIndex(l.General(bound), ir.I32).G8())
	}
	if c.Test.Op == ir.Lt {
		l.Jump(amd64.JGE, fail)
	} else {
		l.Jump(amd64.JG, fail)
	}
	if l.Options.Unchecked {
		return
	}
	if extent {
		l.Passed(memory.CheckKey{Value: v.ID, Array: in.Array.ID, Extent: -1 - in.Axis})
	}
	for _, in := range r.Loop.Then.Instrs {
		if in.Op != ir.Load && in.Op != ir.Store || l.Cur != nil {
			continue
		}
		extents := in.Resolve().Extents
		for i, e := range extents {
			if in.Args[i] != v || in.Proved>>i&1 != 0 || l.Passed(memory.CheckKey{Value: v.ID, Array: in.Array.ID, Extent: e}) {
				continue
			}
			if e >= 0 {
				l.Use(amd64.CMP, last.G8(), vcode.Imm(int64(e)))
			} else {
				l.Use(amd64.CMP, last.G8(), l.ExtentMem(in.Array, e, 8).At())
			}
			l.Jump(amd64.JGE, fail)
		}
	}
}
