package lower

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// worthMeeting is the minimum number of operations of a loop body for each varying loop parameter. A barrier stores and loads
// these parameters. A load at one index for all items of a row, but not of the group, becomes a gather and counts as
// gatherCost. A loop with one such parameter and a load at consecutive indices, such as a sum, always profits: without the barrier
// it loads at a stride.
const (
	worthMeeting = 4
	gatherCost   = -2
)

// findLockstep returns the Ifs of simple loops after which the items of a group meet in every iteration. A processor's driver
// runs the items between two barriers as one loop, which its compiler vectorizes. Without the barrier, the innermost loop is
// that of the kernel, one item at a time.
//
// Simple loops are in the body of a kernel without group operations, and all items leave them in the same iteration by their
// only If. They load at uniform or consecutive indices and do not store. No item of the launch is absent or may end early.
// Inner loops are left alone: with them, a loop over tiles of a matrix product took six times as long on PoCL 3.1.
func (l *lowering) findLockstep() map[*ir.Instr]bool {
	if l.meets || !l.allSurvive() || returnsEarly(l.from.Body) {
		return nil
	}
	var affine *analysis.Affine
	found := map[*ir.Instr]bool{}
	for _, in := range l.from.Body.Instrs {
		if in.Op != ir.Loop || l.uniform.Diverges(in) || !l.uniform.Together(in) {
			continue
		}
		if affine == nil {
			affine = analysis.FindAffine(l.from, l.uniform)
		}
		if exit := l.simpleExit(in, affine); exit != nil {
			found[exit] = true
		}
	}
	return found
}

// returnsEarly reports whether a kernel returns elsewhere than at its end.
func returnsEarly(body *ir.Block) (early bool) {
	body.Walk(func(in *ir.Instr) { early = early || in.Op == ir.Return && in != body.Terminator() })
	return early
}

// simpleExit returns the If by which the items leave a simple loop. It returns nil if the loop is not simple, or has too little
// work for a barrier.
func (l *lowering) simpleExit(loop *ir.Instr, affine *analysis.Affine) (exit *ir.Instr) {
	work, carried, along := 0, 0, false
	for _, p := range loop.Then.Params {
		if l.uniform.Value(p) == ir.Varying {
			carried++
		}
	}
	for _, in := range loop.Then.Instrs {
		switch {
		case in.Op == ir.Const || in.Op == ir.Extent || in.Op == ir.Continue:
		case in.Op == ir.If && exit == nil && analysis.LeavesLoop(in) && len(in.Results) == 0:
			exit = in
		case in.Then != nil || in.Op.IsTerminator():
			return nil
		case in.Op == ir.Load && in.Array.Space == ir.Global:
			stride, ok := rowStride(in, affine)
			if !ok {
				return nil
			}
			along = along || stride == 1
			if stride == 0 && slices.ContainsFunc(in.Args, func(v *ir.Value) bool { return l.uniform.Value(v) == ir.Varying }) {
				work += gatherCost
			} else {
				work++
			}
		case in.Array != nil || len(in.Results) != 1:
			return nil
		case l.uniform.Value(in.Result()) == ir.Varying:
			work++
		}
	}
	if carried == 1 && along || carried > 0 && work >= worthMeeting*carried {
		return exit
	}
	return nil
}

// rowStride returns 0 for a load at one index for all items of a row, and 1 for a load of consecutive elements. It returns
// false for other loads.
func rowStride(in *ir.Instr, affine *analysis.Affine) (stride int, ok bool) {
	r := in.Resolve()
	for i, index := range in.Args[:in.NumIndices()] {
		switch s, ok := affine.Strides(index); {
		case !ok:
			return 0, false
		case s[0] == 0:
		case s[0] == 1 && i == len(r.Strides)-1 && r.Inner[i] == 0 && r.Strides[i] == r.Scalar.Size():
			stride = 1
		default:
			return 0, false
		}
	}
	return stride, true
}
