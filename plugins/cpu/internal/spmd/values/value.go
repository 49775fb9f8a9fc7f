package values

import (
	"fmt"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Value has the registers of a value. A uniform integer or condition is in G, a uniform float in one vector. A varying number is in the
// vectors of the gang, a varying condition in masks. A value may be in several forms, such as G and a vector to which it is broadcast.
type Value struct {
	G     vcode.Reg
	Vec   []vcode.Reg
	Masks []vcode.Reg
	Test  *ir.Instr // a condition that is computed at its use
	Lane0 vcode.Reg // the lane-0 value of an affine value, or 0
}

// Regs returns the registers of a value, without the lane-0 value. The list may be that of the value itself.
func (v *Value) Regs() []vcode.Reg {
	if v.G != 0 {
		return []vcode.Reg{v.G}
	}
	if v.Masks != nil {
		return v.Masks
	}
	return v.Vec
}

// Position has the registers with the position of the gang.
type Position struct {
	X     vcode.Reg // global position of lane 0 on x
	Y     vcode.Reg // global position of lane 0 on y, for 2-D gangs
	Local vcode.Reg // local position of lane 0 on x
	Row   vcode.Reg // local position of lane 0 on y, for 2-D gangs
}

// SetRegisters sets the number of vector registers that hold a 32-bit value of a gang.
func (l *Lowering) SetRegisters(n int) { l.GangRegs, l.Registers = n, n }

// Forget undoes what code has recorded since Undo had the length mark, such as values in registers. Later code then does not
// rely on it.
func (l *Lowering) Forget(mark int) {
	for len(l.Undo) > mark {
		l.Undo[len(l.Undo)-1]()
		l.Undo = l.Undo[:len(l.Undo)-1]
	}
}

// Set records the registers of a result. It broadcasts a uniform integer immediately if a use needs a vector.
func (l *Lowering) Set(v *ir.Value, val Value) {
	l.Vals[v.ID] = val
	if val.G != 0 && l.Uses[v.ID].Vector && v.Type != ir.Bool {
		l.Vals[v.ID].Vec = []vcode.Reg{l.Splat(val.G, v.Type)}
	}
}

// Vector returns the vectors of a value: one if it is uniform or a constant. It emits a broadcast or an expansion if there are none
// yet.
func (l *Lowering) Vector(v *ir.Value) []vcode.Reg {
	if in := v.Def; in != nil && in.Op == ir.Const {
		return []vcode.Reg{l.Constant(in.Bits, v.Type.Size())}
	}
	val := &l.Vals[v.ID]
	if val.Vec != nil {
		return val.Vec
	}
	var d []vcode.Reg
	switch {
	case val.Lane0 != 0:
		d = l.FromLane0(v, val.Lane0)
	case val.G != 0:
		d = []vcode.Reg{l.Splat(val.G, v.Type)}
	default:
		panic(fmt.Sprintf("spmd: %v has no value", v))
	}
	val.Vec = d
	l.Undo = append(l.Undo, func() { l.Vals[v.ID].Vec = nil })
	return d
}

// General returns a general purpose register with a uniform integer or condition. It emits a move of a constant, and the comparison of a
// condition that is computed at its use.
func (l *Lowering) General(v *ir.Value) vcode.Reg {
	if in := v.Def; in != nil && in.Op == ir.Const {
		r := l.NewGPR()
		l.MoveImm(r, int64(in.Bits), v.Type)
		return r
	}
	val := &l.Vals[v.ID]
	if val.Test != nil {
		return l.truth(val.Test)
	}
	if val.G == 0 {
		panic(fmt.Sprintf("spmd: %v is in no general register", v))
	}
	return val.G
}

// Variable allocates registers that control flow assigns to a value.
func (l *Lowering) Variable(v *ir.Value) Value {
	switch {
	case l.IsUniform(v) && v.Type.IsFloat():
		return Value{Vec: []vcode.Reg{l.NewVec()}}
	case l.IsUniform(v):
		return Value{G: l.NewGPR()}
	case v.Type == ir.Bool:
		return Value{Masks: l.NewMasks(l.GangRegs)}
	}
	val := Value{Vec: make([]vcode.Reg, l.VectorsOf(v.Type))}
	for i := range val.Vec {
		val.Vec[i] = l.NewVec()
	}
	return val
}
