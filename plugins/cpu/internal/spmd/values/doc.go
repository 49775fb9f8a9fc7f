// Package values maps the values of a kernel to registers, and emits pure operations on them.
//
// A [Lowering] has this map. A uniform integer or condition is in a general purpose register, a uniform float in one vector. A
// varying value is in the vectors of the gang or in masks. Constants, and conditions with one use, are emitted at their use. An
// affine value may also have its lane-0 value in a general purpose register, for the addresses of contiguous accesses.
//
// An entry of the map that is valid only in the current block is removed at the end of the block: see [Lowering.Forget]. Package
// isel decides which lanes are active, and emits the operations that may fault, access memory or branch.
//
// A new pure operation is a row of binaryOps in package lanes, or a case of vectorsOf in arith.go.
package values

import (
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Lowering emits pure operations, and has the registers of their results.
type Lowering struct {
	lanes.Gang
	*plan.Analysis
	Vals []Value  // by ID of the value
	Item Position // the position of the gang
	Undo []func() // functions that remove the entries that are valid only in the current block
}

// New returns a lowering of an analysed kernel that appends instructions to a function.
func New(f *vcode.Func, a *plan.Analysis) Lowering {
	return Lowering{Gang: lanes.Gang{Func: f, Registers: a.GangRegs}, Analysis: a, Vals: make([]Value, a.Kernel.NumValues())}
}
