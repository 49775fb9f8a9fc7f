package plan

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// allProved returns the marks of an access whose indices are all proved to be in bounds.
func allProved(in *ir.Instr) uint32 { return 1<<in.NumIndices() - 1 }

// Stride returns the distance in bytes between the elements that items adjacent on an axis access. It is 0 if the
// distance is unknown or 0, and rowApart if the elements are in different rows of a buffer.
func Stride(a *opt.Affine, in *ir.Instr, axis int) int64 {
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
			return rowApart
		}
	}
	return bytes
}

// rowApart is the stride of accesses whose distance is a dynamic extent.
const rowApart = math.MaxInt64

// IsFar reports whether a stride leads to another cache line.
func IsFar(stride int64) bool { return stride <= -LineBytes || stride >= LineBytes }

// accesses reports whether an instruction accesses memory that items share.
func accesses(in *ir.Instr) bool {
	return in.Array != nil && in.Array.Space != ir.Private && in.Op != ir.Extent
}

// allSame reports whether all indices of an access are uniform.
func allSame(in *ir.Instr, u *ir.Uniformity) bool {
	for _, v := range in.Args[:in.NumIndices()] {
		if u.Value(v) == ir.Varying {
			return false
		}
	}
	return true
}

// LineBytes is the size of a cache line.
const LineBytes = 64
