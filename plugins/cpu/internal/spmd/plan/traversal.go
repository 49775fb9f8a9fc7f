package plan

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
)

// A kernel whose lanes are rows apart in some buffer, while rows of work-items lie side by side there, uses a line of the
// caches for each lane and only one element of it: if gangs went along the rows of the launch, lines would be fetched
// again for each row. Such a kernel goes down the columns of a band of rows instead, as wide as a gang, so that the
// elements of a line follow each other soon.

// ChooseWalk decides whether gangs go down columns, which only kernels without group operations may, and by tiles.
func (l *Analysis) ChooseWalk() {
	var inGroup *opt.Affine // knows of rows, too
	rows, ordered := 0, false
	l.Kernel.Body.Walk(func(in *ir.Instr) {
		switch {
		case in.Op == ir.Print || in.Op == ir.Call:
			ordered = true
		case in.Array == nil || in.Array.Space != ir.Global || in.Op != ir.Load && in.Op != ir.Store:
		case IsFar(Stride(l.Affine, in, 0)):
			if inGroup == nil {
				inGroup = opt.FindAffine(l.Kernel, l.Kernel.Uniformity(ir.Scope{}))
			}
			if y := Stride(inGroup, in, 1); y != 0 && !IsFar(y) {
				rows = max(rows, int(LineBytes/max(y, -y)))
			}
		}
	})
	if rows > 0 && !ordered && !l.Observes {
		l.Band = max(rows, l.Options.Target.Lanes)
		l.Tiles = l.findTiles(inGroup)
	}
}
