package plan

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// allProved is the mark of an access all of whose indices are proved to be in bounds.
func allProved(in *ir.Instr) uint32 { return 1<<in.NumIndices() - 1 }

// Stride is how many bytes lie between what two work-items access that are neighbours on an axis: 0 if that is unknown, or
// the same for both, and rowApart if they are rows of a buffer apart.
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

const rowApart = math.MaxInt64

// IsFar reports whether a stride leads to another line of the caches.
func IsFar(stride int64) bool { return stride <= -LineBytes || stride >= LineBytes }

// accesses reports whether an instruction accesses elements that are not an item's own.
func accesses(in *ir.Instr) bool {
	return in.Array != nil && in.Array.Space != ir.Private && in.Op != ir.Extent
}

// allSame reports whether all indices of an access are the same.
func allSame(in *ir.Instr, u *ir.Uniformity) bool {
	for _, v := range in.Args[:in.NumIndices()] {
		if u.Value(v) == ir.Varying {
			return false
		}
	}
	return true
}

// LineBytes is the size of a line of the caches.
const LineBytes = 64
