package races

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// apart reports whether the items of a launch surely access no element that another item stores to. It requires that each array
// with stores is accessed at the item's own element only. The array must also have a dimension for each axis of the launch, and
// overlap no other. Most kernels are such, and need no search. Kernels with shared arrays are not.
func apart(k *ir.Kernel, l *Launch) bool {
	stored := map[*ir.Array]bool{}
	sure := true
	k.Body.Walk(func(in *ir.Instr) {
		switch {
		case len(in.Arrays) > 0 || in.Array != nil && in.Array.Space == ir.Shared:
			sure = false
		case (in.Op == ir.Store || in.Op == ir.Atomic) && in.Array.Space == ir.Global:
			stored[in.Array] = true
		}
	})
	k.Body.Walk(func(in *ir.Instr) {
		if sure && in.Op != ir.Extent && stored[in.Array] {
			sure = analysis.IsOwnElement(in)
		}
	})
	count := map[any]int{}
	for _, at := range l.Memory {
		count[at.Memory]++
	}
	for a := range stored {
		at, known := l.Memory[a.Name]
		sure = sure && (!known || count[at.Memory] == 1)
		for axis := a.Rank; axis < len(l.Size); axis++ {
			sure = sure && l.Size[axis] == 1
		}
	}
	return sure
}
