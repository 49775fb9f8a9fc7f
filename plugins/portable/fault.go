package portable

import (
	"sync"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/runtime/offload"
)

// Position returns the source position of a kernel's site and the expression there. They are empty for a site that the kernel
// does not have.
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
var codes = later.Value[map[interp.FaultKind]offload.Code]{Make: func() map[interp.FaultKind]offload.Code {
	return map[interp.FaultKind]offload.Code{
		interp.OutOfBounds: offload.OutOfBounds, interp.DivisionByZero: offload.DivisionByZero, interp.AssertionFailed: offload.Assertion,
		interp.Overflow: offload.Overflow, interp.DivergentUniform: offload.Divergence, interp.CallFailed: offload.BackendFailure,
		interp.Race: offload.Race, interp.Unwritten: offload.Uninitialized,
	}
}}

// Fault converts a fault of a launch to package offload's form. labels are the labels of the buffers, by parameter.
func Fault(m *ir.Module, k *ir.Kernel, in *interp.Fault, grid *interp.Launch, labels []string) *offload.Fault {
	r := NewRecord(k, in, grid, labels)
	return new(Comparisons).Describe(m, k, &r)
}

// Record is a fault with what its description needs of the launch.
type Record struct {
	interp.Fault
	label   string // of the buffer
	swapped bool   // the launch's size equals the buffer's shape, with the axes in the wrong order
	ragged  bool   // the launch has incomplete groups; set only for reads of elements that were never written
}

// NewRecord returns the record of a fault.
func NewRecord(k *ir.Kernel, in *interp.Fault, grid *interp.Launch, labels []string) Record {
	r := Record{Fault: *in}
	if in.Array != nil {
		for i := range k.Params {
			if a := k.Params[i].Array; a != nil && a.ID == in.Array.ID {
				r.label = labels[i]
				r.swapped = swapped(grid.Size, grid.Args[i].Dims, a.Rank)
			}
		}
	}
	if in.Kind == interp.Unwritten {
		for axis, n := range grid.Size {
			r.ragged = r.ragged || n%grid.GroupSize[axis] != 0
		}
	}
	return r
}

// Code returns the code of the fault's error.
func (r *Record) Code() offload.Code { return codes.Get()[r.Kind] }

// Comparisons holds the texts of a kernel's bounds checks that failed, which are found in its code. It is safe for concurrent use.
type Comparisons struct {
	known sync.Map // from check to comparison
}

// check identifies a bounds check of a kernel.
type check struct{ site, array, axis int }

// comparison has an index and its bound as source text.
type comparison struct {
	index, bound string
	unsigned     bool // the index is a u64
}

// Describe returns the recorded fault of a kernel in package offload's form.
func (c *Comparisons) Describe(m *ir.Module, k *ir.Kernel, r *Record) *offload.Fault {
	pos, text := Position(m, k, r.Site)
	f := &offload.Fault{Code: r.Code(), Kernel: k.Name, Pos: pos, Text: text, Label: r.label, Index: r.Index, Extent: r.Extent, Item: r.Item,
		Ragged: r.ragged, Swapped: r.swapped}
	if r.Array != nil {
		f.Array = r.Array.Name
	}
	switch r.Kind {
	case interp.OutOfBounds:
		of := c.of(k, &r.Fault, text)
		f.Subscript, f.Bound, f.Unsigned = of.index, of.bound, of.unsigned
	case interp.AssertionFailed:
		f.Text = r.Text
	case interp.CallFailed:
		f.Cause = r.Text
	case interp.Overflow:
		f.Values = r.Text
	case interp.Race:
		at, other := Position(m, k, r.OtherSite)
		f.Other = &offload.Access{Pos: at, Text: other, Item: r.OtherItem, SameGroup: r.SameGroup}
	}
	return f
}

// swapped reports whether a size, x first, equals a shape of at least two dimensions, outermost first. Its axes are then
// probably in the wrong order. The first and the last dimension must differ.
func swapped(size [3]int, dims [3]int32, rank int) bool {
	for i := range rank {
		if size[i] != int(dims[i]) {
			return false
		}
	}
	return rank > 1 && dims[0] != dims[rank-1]
}

// of returns the comparison of a failed bounds check; text is the expression at its site.
func (c *Comparisons) of(k *ir.Kernel, f *interp.Fault, text string) (found comparison) {
	key := check{f.Site, int(f.Array.ID), f.Axis}
	if known, ok := c.known.Load(key); ok {
		return known.(comparison)
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Site == f.Site && in.Array != nil && in.Array.ID == f.Array.ID && f.Axis < in.NumIndices() {
			found = comparison{ir.Operand(in.Subscript(f.Axis, text)), in.Bound(f.Axis), in.Args[f.Axis].Type == ir.U64}
		}
	})
	c.known.Store(key, found)
	return found
}
