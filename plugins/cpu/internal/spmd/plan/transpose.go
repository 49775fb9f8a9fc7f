package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// maxColumns is the maximum number of registers for a gang's transposed loads.
const maxColumns = 16

// findColumnLoads finds and numbers the loads from shared arrays that should be transposed. They are not in Ifs or loops, and a
// barrier precedes them after the last write to their array.
func (l *Analysis) findColumnLoads() {
	if !l.Observes || !l.Spec.Whole || l.Spec.IsOneGang() || l.Spec.Is2D() || analysis.EndsEarly(l.Kernel, l.Options.Unchecked) {
		return
	}
	if l.hasFence() {
		return
	}
	var inGroup *analysis.Affine
	changed := make([]int, len(l.Kernel.Arrays)) // by array: the number of barriers before its last write
	phase := 0
	for _, in := range l.Kernel.Body.Instrs {
		switch {
		case in.Op == ir.Barrier:
			phase++
		case in.Op != ir.Load:
			(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(in *ir.Instr) {
				if in.Array != nil && (in.Op == ir.Store || in.Op == ir.Atomic || in.Op == ir.Zero) {
					changed[in.Array.ID] = phase
				}
			})
		case in.Array.Space == ir.Shared && changed[in.Array.ID] < phase && len(l.Columns)*l.GangRegs < maxColumns:
			if inGroup == nil {
				inGroup = analysis.FindAffine(l.Kernel, l.Kernel.Uniformity(ir.Scope{}))
			}
			if l.loadsColumn(in, inGroup) {
				if l.Columns == nil {
					l.Columns = map[*ir.Instr]int{}
				}
				l.Columns[in] = len(l.Columns)
			}
		}
	}
}

// hasFence reports whether the kernel has fences, with which items may wait for stores of others without a barrier.
func (l *Analysis) hasFence() (found bool) {
	l.Kernel.Body.Walk(func(in *ir.Instr) { found = found || in.Op == ir.Fence })
	return found
}

// loadsColumn reports whether a load can be transposed. Lanes must load 4-byte elements a constant distance apart, and the
// lanes of the row below the elements next to them. The indices must be proved in bounds, and depend only on the launch and the
// item's position. inGroup has the strides in a work-group.
func (l *Analysis) loadsColumn(in *ir.Instr, inGroup *analysis.Affine) bool {
	r := in.Resolve()
	if r.Scalar.Size() != 4 || in.Proved != analysis.AllProved(in) || slices.ContainsFunc(r.Inner, func(n int) bool { return n != 0 }) {
		return false
	}
	for _, v := range in.Args[:in.NumIndices()] {
		if !ofLaunch(v, 0) || !l.ComputesLane0(v, 0, nil) {
			return false
		}
	}
	apart := analysis.Stride(l.Affine, in, 0)
	return apart != 0 && apart != 4 && max(apart, -apart) < vcode.MaxPeel && apart == analysis.Stride(inGroup, in, 0) && analysis.Stride(inGroup, in, 1) == 4
}

// ofLaunch reports whether a value is known to depend only on constants, the launch, and the item's position. depth is the
// number of operations followed so far, 0 at first.
func ofLaunch(v *ir.Value, depth int) bool {
	in := v.Def
	if in == nil {
		return true // a scalar parameter, outside of loops
	}
	if !in.IsPure() || in.Then != nil || depth > MaxDepth {
		return false
	}
	return !slices.ContainsFunc(in.Args, func(a *ir.Value) bool { return !ofLaunch(a, depth+1) })
}

// ColumnBytes returns the size in bytes of the part of the context that holds transposed loads.
func (l *Analysis) ColumnBytes() int {
	return len(l.Columns) * l.GangRegs * abi.ColumnGangs * l.Options.Target.Bytes()
}

// findTiles finds and numbers the stores that use transpose tiles. In column-major order, lanes store to different rows. A tile
// collects the values of several gangs, one per lane of a vector, in a frame. Its last gang transposes them and stores whole
// vectors. Such stores must be the last accesses of the kernel, each to a buffer that nothing else accesses, to adjacent elements
// along a column. Nothing may follow them, since an access of the same memory under another name must find the stored value.
func (l *Analysis) findTiles(inGroup *analysis.Affine) map[*ir.Instr]int {
	uses := make([]int, len(l.Kernel.Arrays))
	early := false // a gang of a tile may end before its store
	l.Kernel.Body.Walk(func(in *ir.Instr) {
		early = early || (in.Op == ir.Return || in.Op == ir.Unreachable) && in != l.Kernel.Body.Terminator()
		if in.Array != nil && in.Op != ir.Extent {
			uses[in.Array.ID]++
		}
	})
	if early {
		return nil
	}
	var last []*ir.Instr // in reverse order
	for _, in := range slices.Backward(l.Kernel.Body.Instrs) {
		if l.fitsTile(in, inGroup) && uses[in.Array.ID] == 1 {
			last = append(last, in)
		} else if analysis.AccessesGlobal(in) {
			break
		}
	}
	tiles := map[*ir.Instr]int{}
	for _, in := range slices.Backward(last) {
		tiles[in] = len(tiles)
	}
	return tiles
}

// fitsTile reports whether an instruction is a store that can use a transpose tile. Its lanes store 4-byte elements far apart,
// and items below one another adjacent ones. With Options.Unchecked, its indices must be proved in bounds.
func (l *Analysis) fitsTile(in *ir.Instr, inGroup *analysis.Affine) bool {
	if in.Op != ir.Store || in.Array.Space != ir.Global || l.Options.Unchecked && in.Proved != 1<<in.NumIndices()-1 {
		return false
	}
	return in.Accessed().Size() == 4 && IsFar(analysis.Stride(l.Affine, in, 0)) && analysis.Stride(inGroup, in, 1) == 4
}

// TileBytes returns the size in bytes of a transpose tile of one register.
func (l *Analysis) TileBytes() int { return l.Options.Target.Lanes * l.Options.Target.Bytes() }
