package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// A loop over a counter runs several iterations of a gang in a round. One test of the last counter of the last iteration
// then replaces the tests of each: those of the loop's condition, and those of indices that are the counter. Fewer
// instructions for each line that is loaded let a core have more lines under way. Where the test fails, the same round
// runs with all tests.

// counter is the parameter that the condition of a loop in rounds compares.
type counter struct {
	param int // its number among the parameters
	test  *ir.Instr
	step  *ir.Value
	first vcode.Reg // the counter of the first item in the present round, extended by zeros
}

// counterOf returns the counter of a loop in rounds; nil if no single test covers several iterations.
func (l *builder) counterOf(r *rounds) *counter {
	test := r.exit.Args[0].Def
	if r.turns < 2 || !stays(r.exit.Then) || test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return nil
	}
	v := test.Args[0]
	i := slices.Index(r.loop.Then.Params, v)
	if i < 0 || r.params.shadows[i] == 0 || !l.before(r.loop, test.Args[1]) && !readsExtent(test) {
		return nil
	}
	s, affine := l.affine.Strides(v)
	next := r.loop.Then.Terminator().Args[i].Def
	if !affine || s[0] < 0 || int64(s[0]) > vcode.MaxPeel || next == nil || next.Op != ir.Add || next.Args[0] != v {
		return nil
	}
	step := next.Args[1]
	if c, ok := smallConst(step); !l.before(r.loop, step) || ok && (c < 0 || c > maxStep) {
		return nil
	}
	return &counter{param: i, test: test, step: step}
}

// maxStep bounds constant steps, so that those of a round fit an address.
const maxStep = 1 << 24

// before reports whether a value is uniform, and a constant or defined before a loop.
func (l *builder) before(loop *ir.Instr, v *ir.Value) bool {
	_, small := smallConst(v)
	return small || l.uniform(v) && l.uses[v.ID].loop != loop
}

// readsExtent reports whether a condition is that something is less than an extent.
func readsExtent(test *ir.Instr) bool {
	in := test.Args[1].Def
	return test.Op == ir.Lt && in != nil && in.Op == ir.Extent
}

// testRound emits the test of a whole round, which jumps to fail. It computes with 64 bits, to which a negative counter or
// step is extended as a large number: such rounds fail.
func (l *builder) testRound(r *rounds, c *counter, fail amd64.Label) {
	v, bound := c.test.Args[0], c.test.Args[1]
	s, _ := l.affine.Strides(v)
	span, times := s[0]*int32(l.gang()-1), int64(r.turns-1)
	last := l.NewGPR()
	c.first = l.NewGPR()
	l.Def(amd64.MOV, c.first.G4(), r.params.shadows[c.param].G4())
	if n, ok := smallConst(c.step); ok {
		l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: c.first, Disp: span + int32(n*times)}.At())
	} else {
		step, far := l.NewGPR(), l.NewGPR()
		l.Def(amd64.MOV, step.G4(), l.general(c.step).G4())
		l.Def(amd64.IMUL, far.G8(), step.G8(), vcode.Imm(times))
		l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: c.first, Index: far, IndexSize: 8, Scale: 1, Disp: span}.At())
	}
	in, extent := bound.Def, readsExtent(c.test)
	switch n, small := smallConst(bound); {
	case extent:
		l.Use(amd64.CMP, last.G8(), l.extentMem(in.Array, -1-in.Axis, 8).At())
	case small:
		l.Use(amd64.CMP, last.G8(), vcode.Imm(n))
	default:
		l.Use(amd64.CMP, last.G8(), l.wideIndex(l.general(bound), ir.I32).G8())
	}
	if c.test.Op == ir.Lt {
		l.Jump(amd64.JGE, fail)
	} else {
		l.Jump(amd64.JG, fail)
	}
	if l.options.Unchecked {
		return
	}
	if extent {
		l.passed(checkKey{v.ID, in.Array.ID, -1 - in.Axis})
	}
	for _, in := range r.loop.Then.Instrs {
		if in.Op != ir.Load && in.Op != ir.Store || l.cur != nil {
			continue
		}
		extents := in.Resolve().Extents
		for i, e := range extents {
			if in.Args[i] != v || in.Proved>>i&1 != 0 || l.passed(checkKey{v.ID, in.Array.ID, e}) {
				continue
			}
			if e >= 0 {
				l.Use(amd64.CMP, last.G8(), vcode.Imm(int64(e)))
			} else {
				l.Use(amd64.CMP, last.G8(), l.extentMem(in.Array, e, 8).At())
			}
			l.Jump(amd64.JGE, fail)
		}
	}
}
