package plan

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// ChooseWalk chooses row-major or column-major traversal, for which it sets Band and Tiles. Lanes may access different rows of
// a buffer, while items adjacent on y access adjacent elements. Row-major traversal then fetches each cache line again for each
// row. Column-major traversal of a band of rows uses the elements of a line soon after each other. A band has at least as many
// rows as a vector has lanes. Kernels that observe their group, or have an order among items, are row-major.
func (l *Analysis) ChooseWalk() {
	var inGroup *analysis.Affine // includes strides across rows
	rows, ordered := 0, false
	l.Kernel.Body.Walk(func(in *ir.Instr) {
		switch {
		case Ordered(in.Op):
			ordered = true
		case in.Array == nil || in.Array.Space != ir.Global || in.Op != ir.Load && in.Op != ir.Store:
		case IsFar(analysis.Stride(l.Affine, in, 0)):
			if inGroup == nil {
				inGroup = analysis.FindAffine(l.Kernel, l.Kernel.Uniformity(ir.Scope{}))
			}
			if y := analysis.Stride(inGroup, in, 1); y != 0 && !IsFar(y) {
				rows = max(rows, int(LineBytes/max(y, -y)))
			}
		}
	})
	if rows > 0 && !ordered && !l.Observes {
		l.Band = max(rows, l.Options.Target.Lanes)
		l.Tiles = l.findTiles(inGroup)
	}
}
