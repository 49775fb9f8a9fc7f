package values

import (
	"encoding/binary"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Coordinate emits an Item, and returns the registers of its value.
func (l *Lowering) Coordinate(in *ir.Instr) Value {
	r := in.Result()
	load := func(place int) Value {
		d := l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.CtxMem(place+4*in.Axis, 4).At())
		return Value{G: d}
	}
	var v Value
	switch in.Item {
	case ir.GlobalSize:
		v = load(abi.CtxSize)
	case ir.GroupSize:
		v = load(abi.CtxGSize)
	case ir.NumGroups:
		v = load(abi.CtxGroups)
	case ir.GroupID:
		v = load(abi.CtxGroup)
	case ir.SubgroupSize:
		d := l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.Imm(abi.SubgroupSize))
		v = Value{G: d}
	case ir.GlobalID:
		switch {
		case in.Axis == 0:
			return Value{Vec: l.LanesFrom(l.Item.X, analysis.Strides{1})}
		case in.Axis == 1 && l.Spec.Is2D():
			return Value{Vec: l.LanesFrom(l.Item.Y, analysis.Strides{0, 1})}
		case l.Observes:
			v = Value{G: l.Global(in.Axis)}
		default:
			v = load(abi.CtxY - 4)
		}
	case ir.LocalID:
		if in.Axis == 0 {
			return Value{Vec: l.LanesFrom(l.Item.Local, analysis.Strides{1})}
		}
		if in.Axis == 1 && l.Spec.Is2D() {
			return Value{Vec: l.LanesFrom(l.Item.Row, analysis.Strides{0, 1})}
		}
		d := l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.FrameMem(abi.FrameLocal+4*in.Axis, 4).At())
		v = Value{G: d}
	case ir.Lane:
		d, s := l.NewGPR(), l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.FrameMem(abi.FrameLocal+8, 4).At())
		l.Mod(amd64.IMUL, d.G4(), vcode.CtxMem(abi.CtxGSize+4, 4).At())
		l.Mod(amd64.ADD, d.G4(), vcode.FrameMem(abi.FrameLocal+4, 4).At())
		l.Mod(amd64.IMUL, d.G4(), vcode.CtxMem(abi.CtxGSize, 4).At())
		l.Def(amd64.MOV, s.G4(), d.G4())
		l.Mod(amd64.ADD, s.G4(), l.Item.Local.G4())
		most := l.Constant(abi.SubgroupSize-1, 4)
		return Value{Vec: l.Map(l.LanesFrom(s, analysis.Strides{1}), func(d, a vcode.Reg) { l.Op2(amd64.VPANDD, d, a, most, 4) })}
	}
	l.Set(r, v)
	return l.Vals[r.ID]
}

// Global emits the global position of the gang's lane 0 on an axis, and returns its register. The kernel must observe its group.
func (l *Lowering) Global(axis int) vcode.Reg {
	d := l.NewGPR()
	l.Def(amd64.MOV, d.G4(), vcode.CtxMem(abi.CtxGroup+4*axis, 4).At())
	l.Mod(amd64.IMUL, d.G4(), vcode.CtxMem(abi.CtxGSize+4*axis, 4).At())
	l.Mod(amd64.ADD, d.G4(), vcode.FrameMem(abi.FrameLocal+4*axis, 4).At())
	return d
}

// ItemOffsets returns the vector of differences between the lanes of register i and lane 0, for a value with strides s.
func (l *Lowering) ItemOffsets(i int, s analysis.Strides) vcode.Reg {
	if !l.Spec.Is2D() {
		return l.LaneOffsets(i, int(s[0]))
	}
	data := make([]byte, 0, 64)
	for j := range int32(l.Target.Lanes) {
		data = binary.LittleEndian.AppendUint32(data, uint32(s[0]*j+s[1]*int32(i)))
	}
	return l.Pattern(data)
}
