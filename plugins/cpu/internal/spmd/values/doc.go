// Package values keeps the registers of a kernel's values, and emits pure operations on them.
//
// A [Lowering] has the registers of each value of the IR. A uniform integer or condition is in a general purpose register, a
// uniform float in one vector. A varying value is in the vectors of the gang or in masks. Constants and conditions that are used
// once are emitted at their use. The lane-0 value of an affine value is computed in general purpose registers, as the address of a
// contiguous access.
//
// A record that holds in the current block only is undone at its end: see [Lowering.Forget]. Which lanes are active is the affair
// of package isel, whose operations may fault, access memory or branch.
//
// To add a pure operation, add it to vectorsOf in arith.go.
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
	Undo []func() // undoes records that are valid only in the current block
}

// New returns a lowering of an analysed kernel that appends instructions to a function.
func New(f *vcode.Func, a *plan.Analysis) Lowering {
	return Lowering{Gang: lanes.Gang{Func: f, Registers: a.GangRegs}, Analysis: a, Vals: make([]Value, a.Kernel.NumValues())}
}
