package isel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Functions returns the names and types of the device library's functions that isel emits itself.
func Functions() []string { return []string{plan.FastRsqrt + ".f32"} }

// call emits a call of one of [Functions].
func (l *Lowerer) call(in *ir.Instr) []vcode.Reg {
	return l.RsqrtFast(l.Vector(in.Args[0]), l.NumVectors(in.Result())) // Functions lists no other function
}
