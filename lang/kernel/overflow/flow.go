// Package overflow finds integer operations of kernels that may wrap where JavaScript's numbers would not. It also instruments
// kernels so that each such operation faults.
//
// A wrapped result has the low bits of the number that JavaScript computes, unless that exceeds 2⁵³ and is rounded. So the two
// agree where only the low bits matter: in stores to integers, bit operations and shifts, and in x | 0. They differ where the
// value matters: in conversions to floats or wider integers, comparisons, divisions, Math.min, Math.max and Math.abs, and in
// indices.
//
// # Design
//
// A wrap is only a warning: an error at each operation that a range analysis cannot bound would refuse most kernels. The
// launch decides, since g.x * g.x may wrap in every kernel, and at 4096 items in none.
//
// The option checks: 'overflow' compiles another kernel, with an assertion behind each operation that may wrap. It compares
// a 32-bit result with that in 64 bits. Operations of which only the low bits count are not checked.
//
// A negative i32 that a join makes u32 is a fault at the join, where the number stops being that of JavaScript.
package overflow

import (
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// flow tracks the data flow of an unoptimized kernel.
type flow struct {
	c     *kernel.Compiled
	uses  *ir.Uses
	order map[*ir.Instr]int // source order; nil before number is called
}

func newFlow(c *kernel.Compiled) *flow { return &flow{c: c, uses: c.Kernel.Uses()} }

// number records the source order of instructions in f.order.
func (f *flow) number() {
	f.order = map[*ir.Instr]int{}
	f.c.Kernel.Body.Walk(func(in *ir.Instr) { f.order[in] = len(f.order) })
}

// inLoop reports whether an instruction is inside a loop.
func (f *flow) inLoop(in *ir.Instr) bool {
	for in = f.uses.Parent(in); in != nil; in = f.uses.Parent(in) {
		if in.Op == ir.Loop {
			return true
		}
	}
	return false
}

// ring reports whether an instruction is an integer operation of the source whose low bits depend only on those of its
// operands.
func (f *flow) ring(in *ir.Instr) bool {
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Neg:
		_, ok := f.c.PlaceOf(in)
		return ok && in.Type().IsInt()
	}
	return false
}

// mayWrap reports whether an instruction is an operation of the source whose result may overflow its type.
func (f *flow) mayWrap(in *ir.Instr) bool {
	switch in.Op {
	case ir.Abs, ir.Div:
		_, ok := f.c.PlaceOf(in)
		return ok && in.Type().IsInt() && in.Type().IsSigned()
	case ir.Wrap: // wraps a number converted to u32 at a join, or a quotient
		_, ok := f.c.PlaceOf(in)
		return ok && in.Type() == ir.U32
	}
	return f.ring(in)
}

// next calls to for each value that has the low bits of v, or depends on them through ring operations.
func (f *flow) next(v *ir.Value, to func(*ir.Value)) {
	for _, in := range f.uses.Of(v) {
		switch in.Op {
		case ir.Add, ir.Sub, ir.Mul, ir.Neg:
			if f.ring(in) {
				to(in.Results[0])
			}
		case ir.Wrap:
			to(in.Results[0])
		case ir.Select:
			if in.Args[1] == v || in.Args[2] == v {
				to(in.Results[0])
			}
		case ir.Loop:
			f.each(in.Args, v, in.Then.Params, to)
		case ir.Continue:
			f.each(in.Args, v, in.Target.Then.Params, to)
		case ir.Break:
			f.each(in.Args, v, in.Target.Results, to)
		case ir.Yield:
			if parent := f.uses.Parent(in); parent != nil {
				f.each(in.Args, v, parent.Results, to)
			}
		}
	}
}

// each calls to for those values whose positions in args hold v.
func (f *flow) each(args []*ir.Value, v *ir.Value, values []*ir.Value, to func(*ir.Value)) {
	for i, a := range args {
		if a == v && i < len(values) {
			to(values[i])
		}
	}
}

// sensitive reports whether an instruction depends on the full value of an integer operand, not only on its low bits.
func sensitive(in *ir.Instr, v *ir.Value) bool {
	switch in.Op {
	case ir.Convert:
		return in.Type().IsFloat() || in.Type().Size() > v.Type.Size()
	case ir.Lt, ir.Le, ir.Eq, ir.Ne, ir.Min, ir.Max, ir.Abs, ir.Div, ir.Rem, ir.MulHi, ir.Sat:
		return true
	case ir.Load, ir.Store, ir.Atomic:
		for _, a := range in.Args[:in.NumIndices()] {
			if a == v {
				return true
			}
		}
		return in.Op == ir.Atomic && (in.Atomic == ir.AtomicMin || in.Atomic == ir.AtomicMax)
	case ir.Reduce, ir.Scan:
		return true
	case ir.Subgroup, ir.Uniform, ir.Print, ir.Assert, ir.Call:
		return true
	}
	return false
}
