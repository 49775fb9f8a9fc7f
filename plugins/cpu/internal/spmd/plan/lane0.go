package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// MaxDepth is the maximum depth of index arithmetic that analyses follow.
const MaxDepth = 12

// ComputesLane0 reports whether the lane-0 value of v can be computed in general purpose registers. known reports which lane-0
// values exist; it may be nil. depth is the number of operations followed so far, 0 at first.
func (l *Analysis) ComputesLane0(v *ir.Value, depth int, known func(v *ir.Value) bool) bool {
	if l.IsUniform(v) {
		return v.Type.IsInt()
	}
	if known != nil && known(v) {
		return true
	}
	in := v.Def
	if in == nil || depth > MaxDepth {
		return false
	}
	all := func() bool {
		return !slices.ContainsFunc(in.Args, func(a *ir.Value) bool { return !l.ComputesLane0(a, depth+1, known) })
	}
	switch in.Op {
	case ir.Item:
		return (in.Item == ir.GlobalID || in.Item == ir.LocalID) && (in.Axis == 0 || l.Spec.Is2D())
	case ir.Add, ir.Sub, ir.Neg, ir.Mul:
		return all()
	case ir.Shl:
		_, ok := SmallConst(in.Args[1])
		return ok && l.ComputesLane0(in.Args[0], depth+1, known)
	case ir.Wrap, ir.Bitcast:
		return in.Args[0].Type.IsInt() && in.Args[0].Type.Size() == 4 && all()
	}
	return false
}
