package portable

import (
	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// Position returns the source position of a kernel's site and the expression there.
func Position(m *ir.Module, k *ir.Kernel, site int) (pos offload.Position, text string) {
	if site < 0 || site >= len(k.Sites) {
		return pos, ""
	}
	s := &k.Sites[site]
	if s.File >= 0 && s.File < len(m.Files) {
		pos.File = m.Files[s.File]
	}
	pos.Line, pos.Col = s.Line, s.Col
	return pos, s.Text
}

// codes maps faults to error codes.
var codes = map[interp.FaultKind]offload.Code{
	interp.OutOfBounds: offload.OutOfBounds, interp.DivisionByZero: offload.DivisionByZero, interp.AssertionFailed: offload.Assertion,
	interp.Overflow: offload.Overflow, interp.DivergentUniform: offload.Divergence, interp.CallFailed: offload.BackendFailure,
	interp.Race: offload.Race, interp.Unwritten: offload.Uninitialized,
}

// Fault converts a fault of a launch to package offload's form. labels are the labels of the buffers, by parameter.
func Fault(m *ir.Module, k *ir.Kernel, in *interp.Fault, grid *interp.Launch, labels []string) *offload.Fault {
	pos, text := Position(m, k, in.Site)
	f := &offload.Fault{Code: codes[in.Kind], Kernel: k.Name, Pos: pos, Text: text, Index: in.Index, Extent: in.Extent, Item: in.Item}
	if in.Array != nil {
		f.Array = in.Array.Name
		for i := range k.Params {
			if a := k.Params[i].Array; a != nil && a.ID == in.Array.ID {
				f.Label = labels[i]
				f.Swapped = swapped(grid.Size, grid.Args[i].Dims, a.Rank)
			}
		}
	}
	switch in.Kind {
	case interp.OutOfBounds:
		f.Subscript, f.Bound = comparison(k, in, text)
	case interp.AssertionFailed:
		f.Text = in.Text
	case interp.CallFailed:
		f.Cause = in.Text
	case interp.Overflow:
		f.Values = in.Text
	case interp.Race:
		at, other := Position(m, k, in.OtherSite)
		f.Other = &offload.Access{Pos: at, Text: other, Item: in.OtherItem, SameGroup: in.SameGroup}
	case interp.Unwritten:
		for axis, n := range grid.Size {
			f.Ragged = f.Ragged || n%grid.GroupSize[axis] != 0
		}
	}
	return f
}

// swapped reports whether a size, x first, equals a shape of at least two dimensions, outermost first.
func swapped(size [3]int, dims [3]int32, rank int) bool {
	for i := range rank {
		if size[i] != int(dims[i]) {
			return false
		}
	}
	return rank > 1 && dims[0] != dims[rank-1]
}

// comparison returns the index and the bound of a failed bounds check, as source text.
func comparison(k *ir.Kernel, f *interp.Fault, text string) (index, bound string) {
	k.Body.Walk(func(in *ir.Instr) {
		if in.Site == f.Site && in.Array != nil && in.Array.ID == f.Array.ID && f.Axis < in.NumIndices() {
			index, bound = ir.Operand(in.Subscript(f.Axis, text)), in.Bound(f.Axis)
		}
	})
	return index, bound
}
