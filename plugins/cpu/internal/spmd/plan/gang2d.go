package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// gangScope returns the scope of uniformity of a gang. In a 2-D gang, values that depend on y vary, too.
func gangScope(twoD bool) ir.Scope {
	return ir.Scope{Lockstep: true, UniformAxis: [3]bool{false, !twoD, true}}
}

// ChooseRows returns the number of rows of a 2-D gang, or 0 if a 1-D gang of gang registers is better. A 2-D gang pays if its
// rows share loaded elements; see [reusingRows] and [rowsOfGroups], which decides alone if the kernel observes its group. It
// also pays if the trip count of a loop depends on both coordinates. Items in a block then leave it at more similar times than
// items of a long row. There must be registers for the rows, and these loops may access only elements that the whole gang shares.
// Kernels with an order among items, and those with strided accesses, have 1-D gangs.
func ChooseRows(k *ir.Kernel, t *vcode.Target, gang int) int {
	var loops []*ir.Instr
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Loop {
			loops = append(loops, in)
		}
	})
	if len(loops) == 0 {
		return 0
	}
	along, down := k.Uniformity(gangScope(false)), k.Uniformity(ir.Scope{Lockstep: true, UniformAxis: [3]bool{true, false, true}})
	if k.ObservesGroup() {
		return rowsOfGroups(k, along, down)
	}
	if rows := reusingRows(loops, along, down, k, t, gang); rows > 0 {
		return rows
	}
	if !slices.ContainsFunc(loops, func(in *ir.Instr) bool { return along.Diverges(in) && down.Diverges(in) }) {
		return 0
	}
	rows, affine, fits := ChooseGang(k, t, true), analysis.FindAffine(k, along), true
	for _, loop := range loops {
		loop.Then.Walk(func(in *ir.Instr) {
			fits = fits && (!analysis.AccessesShared(in) || analysis.AllUniform(in, along) && analysis.AllUniform(in, down))
		})
	}
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && !Ordered(in.Op) && (!analysis.AccessesShared(in) || !IsFar(analysis.Stride(affine, in, 0)))
	})
	if !fits || rows < gang {
		return 0
	}
	return rows
}

// reusingRows returns the number of rows of a 2-D gang that loads less than a 1-D gang of gang registers, as in a matrix
// product. It returns 0 if there are no such rows, or if gang is less than 4. All loops must be uniform. Together they must load some
// elements shared by a row and others shared by all rows, and carry fewer than leastSums varying values. They may have no other
// varying accesses of memory that items share. The kernel may have no order among items, and no accesses of distant elements.
func reusingRows(loops []*ir.Instr, along, down *ir.Uniformity, k *ir.Kernel, t *vcode.Target, gang int) int {
	if gang < 4 {
		return 0
	}
	affine := analysis.FindAffine(k, k.Uniformity(gangScope(true)))
	sums, perRow, oneRow, fits := 0, 0, 0, true
	for _, loop := range loops {
		fits = fits && !along.Diverges(loop) && !down.Diverges(loop)
		s, p, o, only := countReuse(loop, along, down, affine)
		sums, perRow, oneRow, fits = sums+s, perRow+p, oneRow+o, fits && only
	}
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && !Ordered(in.Op) && (!analysis.AccessesShared(in) || !IsFar(analysis.Stride(affine, in, 0)))
	})
	switch {
	case !fits || perRow == 0 || oneRow == 0 || sums >= leastSums: // with many sums, items compute columns themselves
		return 0
	case t.HasMasks || sums > 1:
		return 4
	}
	return 8
}

// countReuse counts what 2-D gangs share in a loop. sums is the number of varying values that the loop carries, and perRow that
// of loads whose element is shared by a row. oneRow is the number of loads of adjacent elements that all rows share. only is
// false if the loop has other varying accesses of memory that items share.
func countReuse(loop *ir.Instr, along, down *ir.Uniformity, affine *analysis.Affine) (sums, perRow, oneRow int, only bool) {
	for _, p := range loop.Then.Params {
		if along.Value(p) == ir.Varying || down.Value(p) == ir.Varying {
			sums++
		}
	}
	only = true
	loop.Then.Walk(func(in *ir.Instr) {
		switch {
		case !analysis.AccessesShared(in) || analysis.AllUniform(in, along) && analysis.AllUniform(in, down):
		case in.Op != ir.Load || in.Type().Size() < 4:
			only = false
		case analysis.AllUniform(in, along):
			perRow++
		case analysis.AllUniform(in, down) && analysis.Stride(affine, in, 0) == int64(in.Type().Size()):
			oneRow++
		default:
			only = false
		}
	})
	return sums, perRow, oneRow, only
}

// rowsOfGroups returns the number of rows of 2-D gangs in complete work-groups, or 0 if 1-D gangs are better. An innermost loop
// must reuse loaded elements, as in [reusingRows], and carry at most two varying values. All loops must be uniform, no code may
// access distant elements, and there may be no private arrays. Kernels with reductions, scans or atomics have 1-D gangs, since
// their order of gangs determines results.
func rowsOfGroups(k *ir.Kernel, along, down *ir.Uniformity) int {
	affine := analysis.FindAffine(k, k.Uniformity(gangScope(true)))
	far := func(in *ir.Instr) bool { return analysis.AccessesShared(in) && IsFar(analysis.Stride(affine, in, 0)) }
	private := slices.ContainsFunc(k.Arrays, func(a *ir.Array) bool { return a.Space == ir.Private })
	sums, reuses, fits := 0, false, StacksGroups(k) && !private
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && !far(in)
		if in.Op != ir.Loop {
			return
		}
		fits = fits && !along.Diverges(in) && !down.Diverges(in)
		if hasInner(in) {
			return
		}
		n, perRow, oneRow, only := countReuse(in, along, down, affine)
		if only && perRow > 0 && oneRow > 0 {
			reuses, sums = true, max(sums, n)
		}
	})
	switch {
	case !fits || !reuses || sums > 2:
		return 0
	case sums > 1:
		return 4
	}
	return 8
}

// hasInner reports whether a loop contains another loop or a barrier.
func hasInner(loop *ir.Instr) (yes bool) {
	loop.Then.Walk(func(in *ir.Instr) { yes = yes || in.Op == ir.Loop || in.Op == ir.Barrier })
	return yes
}

// StacksGroups reports whether the gangs of a work-group may be 2-D: no result may depend on the order of gangs or lanes.
func StacksGroups(k *ir.Kernel) bool {
	ok := true
	k.Body.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup, ir.Atomic:
			ok = false
		case ir.Item:
			ok = ok && in.Item != ir.Lane
		default:
			ok = ok && !Ordered(in.Op)
		}
	})
	return ok
}

// NumGangs returns the number of gangs of a launch. width and height are the items of a gang on x and y; all sizes are at least
// 1.
func NumGangs(size [3]int, width, height int) int {
	return ((size[0]-1)/width + 1) * ((size[1]-1)/height + 1) * size[2]
}
