package plan

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// A stacked gang has its registers one below the other: each is a row of items, and the next one the row below. Where it
// depends on both coordinates how often an item goes through a loop, items of such a block leave it at more similar times
// than those of one long row do, and fewer lanes wait for others.

// gangScope is the scope of what is the same in a gang.
func gangScope(stacked bool) ir.Scope {
	return ir.Scope{Lockstep: true, UniformAxis: [3]bool{false, !stacked, true}}
}

// ChooseRows is how many rows the stacked gangs of a kernel have whose other gangs have so many registers; 0 if they do not
// pay. They do if items leave a loop by both coordinates, there is room for as many registers, and buffers are accessed so
// that rows of a register's length do: only outside loops, or at places that a whole gang shares. What is seen in the order
// of items had better go along rows.
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
	if rows := reusingRows(loops, along, down, k, t, gang); rows > 0 {
		return rows
	}
	if !slices.ContainsFunc(loops, func(in *ir.Instr) bool { return along.Diverges(in) && down.Diverges(in) }) {
		return 0
	}
	rows, affine, fits := ChooseGang(k, t, true), opt.FindAffine(k, along), true
	for _, loop := range loops {
		loop.Then.Walk(func(in *ir.Instr) { fits = fits && (!accesses(in) || allSame(in, along) && allSame(in, down)) })
	}
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && in.Op != ir.Print && in.Op != ir.Call && (!accesses(in) || !IsFar(Stride(affine, in, 0)))
	})
	if !fits || rows < gang {
		return 0
	}
	return rows
}

// reusingRows returns how many rows gangs have that load less than ones in a single row do, as in a product of matrices:
// all loops are uniform, and of what they load some elements are the same along a row and others in all rows. It is 0 for
// other kernels.
func reusingRows(loops []*ir.Instr, along, down *ir.Uniformity, k *ir.Kernel, t *vcode.Target, gang int) int {
	if gang < 4 {
		return 0
	}
	affine := opt.FindAffine(k, k.Uniformity(gangScope(true)))
	sums, perRow, oneRow, fits := 0, 0, 0, true
	for _, loop := range loops {
		fits = fits && !along.Diverges(loop) && !down.Diverges(loop)
		for _, p := range loop.Then.Params {
			if along.Value(p) == ir.Varying || down.Value(p) == ir.Varying {
				sums++
			}
		}
		loop.Then.Walk(func(in *ir.Instr) {
			switch {
			case !accesses(in) || allSame(in, along) && allSame(in, down):
			case in.Op != ir.Load || in.Type().Size() < 4:
				fits = false
			case allSame(in, along):
				perRow++
			case allSame(in, down) && Stride(affine, in, 0) == int64(in.Type().Size()):
				oneRow++
			default:
				fits = false
			}
		})
	}
	k.Body.Walk(func(in *ir.Instr) {
		fits = fits && in.Op != ir.Print && in.Op != ir.Call && (!accesses(in) || !IsFar(Stride(affine, in, 0)))
	})
	switch {
	case !fits || perRow == 0 || oneRow == 0:
		return 0
	case t.HasMasks || sums > 1:
		return 4
	}
	return 8
}

// NumGangs is how many gangs a launch has, of so many items in each of so many rows.
func NumGangs(size [3]int, width, height int) int {
	return ((size[0]-1)/width + 1) * ((size[1]-1)/height + 1) * size[2]
}
