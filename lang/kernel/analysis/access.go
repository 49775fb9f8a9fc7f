package analysis

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// RowApart is the result of [Stride] for elements whose distance depends on the extents of a launch.
const RowApart = math.MaxInt64

// AllProved returns the proof mask of an access whose indices are all proved to be in bounds.
func AllProved(in *ir.Instr) uint32 { return 1<<in.NumIndices() - 1 }

// Stride returns the distance in bytes between the elements that items adjacent on an axis access. It is 0 if the
// distance is unknown or 0, and [RowApart] if the elements are in different rows of a buffer.
func Stride(a *Affine, in *ir.Instr, axis int) int64 {
	r := in.Resolve()
	bytes := int64(0)
	for i := range r.Strides {
		s, ok := a.Strides(in.Args[i])
		switch {
		case !ok:
			return 0
		case r.Inner[i] == 0:
			bytes += int64(s[axis]) * int64(r.Strides[i])
		case s[axis] != 0:
			return RowApart
		}
	}
	return bytes
}

// AccessesShared reports whether an instruction accesses elements of an array that is not private. It ignores nested
// instructions, and the arrays that Lib passes to a function.
func AccessesShared(in *ir.Instr) bool {
	return in.Array != nil && in.Array.Space != ir.Private && in.Op != ir.Extent
}

// AllUniform reports whether all indices of an access are uniform.
func AllUniform(in *ir.Instr, u *ir.Uniformity) bool {
	for _, v := range in.Args[:in.NumIndices()] {
		if u.Value(v) == ir.Varying {
			return false
		}
	}
	return true
}

// AccessesGlobal reports whether an instruction, or one nested in it, accesses the elements of a buffer. It ignores the arrays
// that Lib passes to a function.
func AccessesGlobal(in *ir.Instr) bool {
	found := false
	(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(in *ir.Instr) {
		found = found || in.Array != nil && in.Array.Space == ir.Global && in.Op != ir.Extent
	})
	return found
}

// EndsEarly reports whether an item may end before the end of the kernel. If unchecked is set, index and divisor checks end no
// item.
func EndsEarly(k *ir.Kernel, unchecked bool) bool {
	early := false
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Return, ir.Unreachable:
			early = early || in != k.Body.Terminator()
		case ir.Assert, ir.Call, ir.Uniform:
			early = true
		case ir.Div, ir.Rem:
			early = early || !unchecked && !in.IsPure()
		case ir.Load, ir.Store, ir.Atomic:
			early = early || !unchecked && in.Proved != AllProved(in)
		}
	})
	return early
}
