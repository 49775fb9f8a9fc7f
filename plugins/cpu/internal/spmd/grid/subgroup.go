package grid

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// subgroupInGang emits a subgroup operation for gangs that consist of whole subgroups.
func (l *Builder) subgroupInGang(in *ir.Instr) {
	r := in.Result()
	var index []vcode.Reg
	if len(in.Args) > 1 {
		index = l.Vector(in.Args[1])
	}
	operands := l.firstOperand(in)
	var out []vcode.Reg
	for n := range l.Lanes() / abi.SubgroupSize {
		of := func(list []vcode.Reg, t ir.Type) []vcode.Reg {
			count := l.SegmentVectors(max(t.Size(), 4))
			own := make([]vcode.Reg, count)
			for i := range own {
				own[i] = vcode.Part(list, count*n+i)
			}
			return own
		}
		var at []vcode.Reg
		if index != nil {
			at = of(index, ir.I32)
		}
		out = append(out, l.subgroup(in, of(operands, in.Args[0].Type), at)...)
	}
	if r.Type == ir.Bool {
		masks := l.NewMasks(l.GangRegs)
		for i, d := range masks {
			l.Def(amd64.VPTESTMD, d.K(), out[i].Z(), out[i].Z())
		}
		l.Set(r, values.Value{Masks: masks})
		return
	}
	l.Set(r, values.Value{Vec: out})
}

// subgroups emits a subgroup operation on the operands of all gangs, between gangs.
func (l *Builder) subgroups(in *ir.Instr) {
	l.eachSegment(func(list []segment) {
		for _, s := range slices.Backward(list) { // backward, since wider results overwrite the memory of later operands
			operands := s.load(0, max(in.Args[0].Type.Size(), 4))
			var index []vcode.Reg
			if len(in.Args) > 1 {
				index = s.load(1, 4)
			}
			s.store(l.subgroup(in, operands, index), max(in.Type().Size(), 4))
		}
	})
}

// subgroup emits a subgroup operation on the operands of a subgroup.
func (l *Builder) subgroup(in *ir.Instr, operands, index []vcode.Reg) []vcode.Reg {
	out := make([]vcode.Reg, l.SegmentVectors(max(in.Type().Size(), 4)))
	switch in.Subgroup {
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
		all := l.reduceVectors(scalar.CombinerOf(in), operands)
		for i := range out {
			out[i] = all
		}
	case ir.SubgroupScanAdd:
		return l.scanVectors(scalar.CombinerOf(in), operands)
	case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
		all := l.vote(in.Subgroup, operands)
		for i := range out {
			out[i] = all
		}
	default:
		return l.fromLanes(in, operands, index)
	}
	return out
}

// vote emits a vote and returns its result, which is uniform in the subgroup.
func (l *Builder) vote(kind ir.SubgroupKind, operands []vcode.Reg) vcode.Reg {
	bits := l.NewGPR()
	for i, v := range operands {
		m, b := l.NewMask(), l.NewGPR()
		l.Def(amd64.VPTESTMD, m.K(), v.Z(), v.Z())
		if i == 0 {
			l.Def(amd64.KMOVW, bits.G4(), m.K())
			continue
		}
		l.Def(amd64.KMOVW, b.G4(), m.K())
		l.Mod(amd64.SHL, b.G4(), vcode.Imm(int64(l.Target.Lanes*i)))
		l.Mod(amd64.OR, bits.G4(), b.G4())
	}
	d := l.NewVec()
	if kind == ir.SubgroupBallot {
		l.Def(amd64.VPBROADCASTQ, d.Z(), bits.G8())
		return d
	}
	set, want := amd64.SETNE, int64(0)
	if kind == ir.SubgroupAll {
		set, want = amd64.SETE, -1
	}
	yes := l.NewGPR()
	l.Use(amd64.CMP, bits.G4(), vcode.Imm(want))
	l.Def(set, yes.G(1))
	l.Def(amd64.MOVZX, yes.G4(), yes.G(1))
	l.Def(amd64.VPBROADCASTD, d.Z(), yes.G4())
	return d
}

// fromLanes emits a shuffle. Lanes out of range read 0.
func (l *Builder) fromLanes(in *ir.Instr, operands, index []vcode.Reg) []vcode.Reg {
	size := max(in.Type().Size(), 4)
	most := l.Constant(abi.SubgroupSize, 4)
	from, there := vcode.NewVecs(l.Func, len(index)), l.NewMasks(len(index))
	for i, d := range from {
		switch lane := l.LaneOffsets(i, 1); in.Subgroup {
		case ir.SubgroupShuffleXor:
			l.Op2(amd64.VPXORD, d, index[i], lane, 4)
		case ir.SubgroupShuffleUp:
			l.Op2(amd64.VPSUBD, d, lane, index[i], 4)
		case ir.SubgroupShuffleDown:
			l.Op2(amd64.VPADDD, d, index[i], lane, 4)
		default:
			l.Def(amd64.VMOVDQA64, d.Z(), index[i].Z()).Folds(1, 0)
		}
		l.Def(amd64.VPCMPUD, there[i].K(), d.Z(), most.Z(), vcode.Cmp(amd64.CmpLT)).Folds(2, 4)
	}
	if l.Target.HasMasks && size == 4 { // two vectors
		for i, d := range from {
			l.Mod(amd64.VPERMI2D, d.Z(), operands[0].Z(), operands[1].Z()).Zeroed(there[i])
		}
		return from
	}
	for i, v := range operands {
		l.Use(amd64.VMOVUPS, vcode.CtxMem(abi.CtxSegment+l.Target.Bytes()*i, 0).At(), v.Z())
	}
	p := memory.MemRef{Uni: vcode.CtxMem(abi.CtxSegment, 0), Offs: from, Size: size, Scale: uint8(size), Scalar: in.Type()}
	out := vcode.NewVecs(l.Func, len(operands))
	for i, d := range out {
		l.Gather(&p, i, d, l.PartMask(there, i, size))
	}
	return out
}
