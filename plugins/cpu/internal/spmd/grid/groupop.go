package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// firstOperand returns the vectors of the first operand of a group operation, with conditions as 1 or 0. Inactive lanes have the
// value of [scalar.Absent], except in a Uniform.
func (l *Builder) firstOperand(in *ir.Instr) []vcode.Reg {
	a := in.Args[0]
	var regs []vcode.Reg
	if a.Type == ir.Bool {
		regs = l.Stored(ir.Bool, a)
	} else {
		regs = l.Vector(a)
	}
	if l.Cur == nil || in.Op == ir.Uniform {
		return regs
	}
	size := max(a.Type.Size(), 4)
	none := l.Constant(scalar.Absent(in), size)
	out := vcode.NewVecs(l.Func, l.GroupVectors(a.Type))
	for i, d := range out {
		m := l.PartMask(l.Cur, i, size)
		l.Def(lanes.Sized(size, amd64.VPBLENDMD, amd64.VPBLENDMQ), d.Z(), none.Z(), vcode.Part(regs, i).Z()).Mask = m
	}
	return out
}

// computeGroups emits code that computes the pending group operation and jumps to dispatch. It falls through if the operation must
// be a trap. Its registers are shared, since it runs between gangs.
func (l *Builder) computeGroups(dispatch amd64.Label) {
	any := false
	for _, in := range l.Groups {
		_, ok := l.GroupOpInCode(in)
		any = any || ok
	}
	if !any {
		return
	}
	l.WithShared(func() { l.computeEach(dispatch) })
}

// computeEach emits the code of each group operation after a comparison with the number of the pending operation. The code ends
// with a jump to dispatch. Execution goes on after all of it if a gang has ended, or for an operation that code does not
// compute in this launch.
func (l *Builder) computeEach(dispatch amd64.Label) {
	slow := l.NewLabel()
	n := l.NewGPR()
	l.Def(amd64.MOV, n.G8(), vcode.CtxMem(abi.CtxAlive, 8).At())
	l.Use(amd64.CMP, n.G8(), vcode.CtxMem(abi.CtxGangs, 8).At())
	l.Jump(amd64.JNE, slow)
	for i, in := range l.Groups {
		kind, ok := l.GroupOpInCode(in)
		if !ok {
			continue
		}
		other := l.NewLabel()
		l.Use(amd64.CMP, vcode.CtxMem(abi.CtxPending, 4).At(), vcode.Imm(int64(i+1)))
		l.Jump(amd64.JNE, other)
		l.Use(amd64.TEST, vcode.CtxMem(abi.CtxTogether, 4).At(), vcode.Imm(int64(kind)))
		l.Jump(amd64.JE, slow)
		switch in.Op {
		case ir.Reduce:
			l.reduceGroup(in)
		case ir.Scan:
			l.scanGroup(in)
		default:
			l.subgroups(in)
		}
		l.Use(amd64.MOV, vcode.CtxMem(abi.CtxPending, 4).At(), vcode.Imm(0))
		l.Jump(amd64.JMP, dispatch)
		l.Bind(other)
	}
	l.Bind(slow)
}

// eachSegment emits a loop over the operands in the frames, in segments of 32 items. visit emits its body for one segment that spans
// several gangs, or for all segments of one gang.
func (l *Builder) eachSegment(visit func(list []segment)) {
	lanes := l.Lanes()
	gangs, segments := 1, 1
	if lanes < abi.SubgroupSize {
		gangs = abi.SubgroupSize / lanes
	} else {
		segments = lanes / abi.SubgroupSize
	}
	frames := make([]vcode.Reg, gangs)
	size, top := l.NewGPR(), l.NewLabel()
	l.Def(amd64.MOV, size.G8(), vcode.CtxMem(abi.CtxFrameSize, 8).At())
	for i := range frames {
		frames[i] = l.NewGPR()
		if i == 0 {
			l.Def(amd64.MOV, frames[i].G8(), vcode.CtxMem(abi.CtxFrame, 8).At())
		} else {
			l.Def(amd64.LEA, frames[i].G8(), vcode.Mem{Base: frames[i-1], Index: size, IndexSize: 8, Scale: 1}.At())
		}
	}
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	var list []segment
	for n := range segments {
		list = append(list, segment{l.Lowerer, frames, abi.SubgroupSize * n})
	}
	visit(list)
	for i, f := range frames {
		if i == 0 {
			l.Def(amd64.LEA, f.G8(), vcode.Mem{Base: frames[gangs-1], Index: size, IndexSize: 8, Scale: 1}.At())
		} else {
			l.Def(amd64.LEA, f.G8(), vcode.Mem{Base: frames[i-1], Index: size, IndexSize: 8, Scale: 1}.At())
		}
	}
	l.Use(amd64.CMP, frames[0].G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, top)
	l.Mark(vcode.KindLoopEnd)
}

// segment is the operands of 32 adjacent items of a waiting group.
type segment struct {
	l      *isel.Lowerer
	frames []vcode.Reg // the frames of its gangs
	first  int         // the lane of its first item
}

// place returns the address of vector i of operand n, whose elements have size bytes.
func (s *segment) place(n, i, size int) vcode.Mem {
	at := s.first*size + i*s.l.Target.Bytes()
	perGang := s.l.Lanes() * size
	return vcode.Mem{Base: s.frames[at/perGang], Disp: int32(abi.GroupValue(&s.l.Layout, n) + at%perGang)}
}

// load emits loads of operand n, whose elements have size bytes, and returns its vectors.
func (s *segment) load(n, size int) []vcode.Reg {
	out := vcode.NewVecs(s.l.Func, s.l.SegmentVectors(size))
	for i, d := range out {
		s.l.Def(amd64.VMOVUPS, d.Z(), s.place(n, i, size).At())
	}
	return out
}

// store emits stores of results in place of operand 0.
func (s *segment) store(regs []vcode.Reg, size int) {
	for i, v := range regs {
		s.l.Use(amd64.VMOVUPS, s.place(0, i, size).At(), v.Z())
	}
}
