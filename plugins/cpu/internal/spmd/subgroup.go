package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// A gang of complete subgroups computes subgroup operations by itself. Else they are computed between gangs, with what
// those have left in their frames. Conditions are 1 or 0 in elements of 32 bits there.

// subgroupSize is the width of subgroups of this engine's device.
const subgroupSize = 32

// subgroupInGang emits a subgroup operation in a gang that has whole subgroups.
func (l *lowerer) subgroupInGang(in *ir.Instr) {
	r := in.Result()
	var index []vr
	if len(in.Args) > 1 {
		index = l.vector(in.Args[1])
	}
	values := l.given(in)
	var out []vr
	for n := range l.gang() / subgroupSize {
		of := func(list []vr, t ir.Type) []vr {
			count := l.vectorsOfSegment(max(t.Size(), 4))
			own := make([]vr, count)
			for i := range own {
				own[i] = part(list, count*n+i)
			}
			return own
		}
		var at []vr
		if index != nil {
			at = of(index, ir.I32)
		}
		out = append(out, l.subgroup(in, of(values, in.Args[0].Type), at)...)
	}
	if r.Type == ir.Bool {
		masks := l.masks(l.w)
		for i, d := range masks {
			l.def(amd64.VPTESTMD, k(d), z(out[i]), z(out[i]))
		}
		l.set(r, value{masks: masks})
		return
	}
	l.set(r, value{vec: out})
}

// subgroups emits a subgroup operation between gangs.
func (l *lowerer) subgroups(in *ir.Instr) {
	l.eachSegment(func(list []segment) {
		for _, s := range slices.Backward(list) { // results may be wider than operands, and lie where those lie
			values := s.load(0, max(in.Args[0].Type.Size(), 4))
			var index []vr
			if len(in.Args) > 1 {
				index = s.load(1, 4)
			}
			s.store(l.subgroup(in, values, index), max(in.Type().Size(), 4))
		}
	})
}

// subgroup emits a subgroup operation on the values of a subgroup.
func (l *lowerer) subgroup(in *ir.Instr, values, index []vr) []vr {
	out := make([]vr, l.vectorsOfSegment(max(in.Type().Size(), 4)))
	switch in.Subgroup {
	case ir.SubgroupAdd, ir.SubgroupMin, ir.SubgroupMax:
		all := l.reduceVectors(combinerOf(in), values)
		for i := range out {
			out[i] = all
		}
	case ir.SubgroupScanAdd:
		return l.scanVectors(combinerOf(in), values)
	case ir.SubgroupAny, ir.SubgroupAll, ir.SubgroupBallot:
		all := l.vote(in.Subgroup, values)
		for i := range out {
			out[i] = all
		}
	default:
		return l.fromLanes(in, values, index)
	}
	return out
}

// vote emits a vote, whose result is the same for the whole subgroup.
func (l *lowerer) vote(kind ir.SubgroupKind, values []vr) vr {
	bits := l.gpr()
	for i, v := range values {
		m, b := l.mask(), l.gpr()
		l.def(amd64.VPTESTMD, k(m), z(v), z(v))
		if i == 0 {
			l.def(amd64.KMOVW, g4(bits), k(m))
			continue
		}
		l.def(amd64.KMOVW, g4(b), k(m))
		l.mod(amd64.SHL, g4(b), imm(int64(l.t.lanes*i)))
		l.mod(amd64.OR, g4(bits), g4(b))
	}
	d := l.vec()
	if kind == ir.SubgroupBallot {
		l.def(amd64.VPBROADCASTQ, z(d), g8(bits))
		return d
	}
	set, want := amd64.SETNE, int64(0)
	if kind == ir.SubgroupAll {
		set, want = amd64.SETE, -1
	}
	yes := l.gpr()
	l.use(amd64.CMP, g4(bits), imm(want))
	l.def(set, g(yes, 1))
	l.def(amd64.MOVZX, g4(yes), g(yes, 1))
	l.def(amd64.VPBROADCASTD, z(d), g4(yes))
	return d
}

// fromLanes emits the values of other lanes, 0 from lanes that there are not.
func (l *lowerer) fromLanes(in *ir.Instr, values, index []vr) []vr {
	size := max(in.Type().Size(), 4)
	most := l.constant(subgroupSize, 4)
	from, there := newRegs(l.fn, len(index)), l.masks(len(index))
	for i, d := range from {
		switch lane := l.laneOffsets(i, 1); in.Subgroup {
		case ir.SubgroupShuffleXor:
			l.op2(amd64.VPXORD, d, index[i], lane, 4)
		case ir.SubgroupShuffleUp:
			l.op2(amd64.VPSUBD, d, lane, index[i], 4)
		case ir.SubgroupShuffleDown:
			l.op2(amd64.VPADDD, d, index[i], lane, 4)
		default:
			l.def(amd64.VMOVDQA64, z(d), z(index[i])).folds(1, 0)
		}
		l.def(amd64.VPCMPUD, k(there[i]), z(d), z(most), imm(1)).folds(2, 4)
	}
	if l.t.masks && size == 4 { // two vectors
		for i, d := range from {
			l.mod(amd64.VPERMI2D, z(d), z(values[0]), z(values[1])).zeroed(there[i])
		}
		return from
	}
	for i, v := range values {
		l.use(amd64.VMOVUPS, at(ctxMem(ctxSegment+l.t.bytes()*i, 0)), z(v))
	}
	p := place{uni: ctxMem(ctxSegment, 0), offs: from, size: size, scale: uint8(size), scalar: in.Type()}
	out := newRegs(l.fn, len(values))
	for i, d := range out {
		l.gather(&p, i, d, l.partMask(there, i, size))
	}
	return out
}
