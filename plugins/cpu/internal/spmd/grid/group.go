package grid

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// overGroups emits the loop over work-groups, and the dispatch of their gangs.
func (l *Builder) overGroups(done amd64.Label) {
	group, dispatch, advance, start, end, wrap := l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(group)
	l.Begin, l.dispatch, l.ended = group, dispatch, l.NewLabel()
	l.beginGroup()
	// Each gang resumes at the barrier where it waits.
	l.Bind(dispatch)
	state := l.NewSharedGPR()
	l.Def(amd64.MOV, state.G4(), vcode.FrameMem(abi.FrameResume, 4).At())
	l.Use(amd64.TEST, state.G4(), state.G4())
	l.Jump(amd64.JE, start)
	table := len(l.Insts) // position of the comparisons with barriers

	l.Bind(advance)
	frame := vcode.Phys(abi.Frame)
	l.Mod(amd64.ADD, frame, vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, dispatch)
	l.Bind(wrap)
	l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	pending := len(l.Insts)
	l.Jump(amd64.JMP, dispatch)

	l.Bind(start)
	l.Item.X, l.Item.Local = l.Global(0), l.NewGPR()
	l.Def(amd64.MOV, l.Item.Local.G4(), vcode.FrameMem(abi.FrameLocal, 4).At())
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameFirst, 4).At(), l.Item.X.G4())
	if l.Spec.Is2D() {
		l.Item.Y, l.Item.Row = l.Global(1), l.NewGPR()
		l.Def(amd64.MOV, l.Item.Row.G4(), vcode.FrameMem(abi.FrameLocal+4, 4).At())
	}
	var mask []vcode.Reg
	if !l.Spec.Whole {
		mask = l.present(end)
	}
	l.Advance, l.Start = advance, start
	l.Body(mask, end)

	l.Bind(end)
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(abi.FrameDone))
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxAlive, 8).At(), vcode.Imm(1))
	l.Jump(amd64.JNE, advance)
	l.nextGroup(group, done)
	l.Mark(vcode.KindLoopEnd)

	l.insertDispatch(table, pending, dispatch, end)
}

// insertDispatch inserts the dispatch table at the instruction with index table, and the group operations at index pending. It is
// called after the body, whose barriers are known then. The new registers are shared, since this code runs between gangs: the frame of
// a waiting gang must not change.
func (l *Builder) insertDispatch(table, pending int, dispatch, end amd64.Label) {
	n := len(l.Insts)
	l.Insert(table, func() {
		state := l.NewSharedGPR()
		if len(l.Resumes) > 0 {
			l.Def(amd64.MOV, state.G4(), vcode.FrameMem(abi.FrameResume, 4).At())
			l.Use(amd64.CMP, state.G4(), vcode.Imm(abi.FrameKilled-1<<32))
			l.Jump(amd64.JE, end)
		}
		for i, to := range l.Resumes {
			l.Use(amd64.CMP, state.G4(), vcode.Imm(int64(i+1)))
			l.Jump(amd64.JE, to)
		}
	})
	pending += len(l.Insts) - n
	if !l.grouped {
		return
	}
	l.Insert(pending, func() {
		l.Use(amd64.CMP, vcode.CtxMem(abi.CtxPending, 4).At(), vcode.Imm(0))
		l.Jump(amd64.JE, dispatch)
		l.computeGroups(dispatch)
		l.Trap(vcode.Trap{Kind: vcode.TrapGroup, Lanes: l.Lanes()}) // between gangs, so without a position and an end
	})
}

// beginGroup emits code that clears the shared arrays and makes all gangs of a work-group ready to start.
func (l *Builder) beginGroup() {
	l.clearShared()
	n, top := l.NewGPR(), l.NewLabel()
	l.Def(amd64.MOV, vcode.Phys(abi.Frame), vcode.CtxMem(abi.CtxFrame, 8).At())
	l.Def(amd64.MOV, n.G8(), vcode.CtxMem(abi.CtxGangs, 8).At())
	l.Use(amd64.MOV, vcode.CtxMem(abi.CtxAlive, 8).At(), n.G8())
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(0))
	l.Mod(amd64.ADD, vcode.Phys(abi.Frame), vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Use(amd64.CMP, vcode.Phys(abi.Frame), vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, top)
	l.Mark(vcode.KindLoopEnd)
	l.Def(amd64.MOV, vcode.Phys(abi.Frame), vcode.CtxMem(abi.CtxFrame, 8).At())
}

// clearShared emits code that clears the shared arrays of a work-group, if there are any.
func (l *Builder) clearShared() {
	if l.Layout.Shared > 0 {
		base := l.NewGPR()
		l.Def(amd64.MOV, base.G8(), vcode.CtxMem(abi.CtxShared, 8).At())
		l.Clear(vcode.Mem{Base: base}, l.Layout.Shared, l.Constant(0, 4))
	}
}

// present returns the masks of the lanes that are in the work-group and in the launch. It emits a jump to end for gangs without such
// lanes.
func (l *Builder) present(end amd64.Label) []vcode.Reg {
	for axis := 1; axis < 3; axis++ {
		r := l.Global(axis)
		l.Use(amd64.CMP, r.G4(), vcode.CtxMem(abi.CtxSize+4*axis, 4).At())
		l.Jump(amd64.JAE, end) // unsigned, since it may be 2^31 or more in the last group
	}
	inLaunch, inGroup := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, inLaunch.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Mod(amd64.SUB, inLaunch.G4(), l.Item.X.G4())
	l.Def(amd64.MOV, inGroup.G4(), vcode.CtxMem(abi.CtxGSize, 4).At())
	l.Mod(amd64.SUB, inGroup.G4(), l.Item.Local.G4())
	l.Use(amd64.CMP, inLaunch.G4(), inGroup.G4())
	l.Mod(amd64.CMOVG, inLaunch.G4(), inGroup.G4())
	l.Use(amd64.CMP, inLaunch.G4(), vcode.Imm(0))
	l.Jump(amd64.JLE, end)
	return l.FirstLanes(inLaunch)
}

// nextGroup emits the end of a work-group: a jump to group for the next one, or to done after the last work-group of the run.
func (l *Builder) nextGroup(group, done amd64.Label) {
	if l.Batch != nil {
		l.Bind(l.ended)
		l.endOfGroup()
	}
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(1))
	l.Jump(amd64.JE, done)
	l.Poll()
	for axis := range 3 {
		r := l.NewGPR()
		l.Def(amd64.MOV, r.G4(), vcode.CtxMem(abi.CtxGroup+4*axis, 4).At())
		l.Mod(amd64.ADD, r.G4(), vcode.Imm(1))
		l.Use(amd64.MOV, vcode.CtxMem(abi.CtxGroup+4*axis, 4).At(), r.G4())
		if axis == 2 {
			break
		}
		l.Use(amd64.CMP, r.G4(), vcode.CtxMem(abi.CtxGroups+4*axis, 4).At())
		l.Jump(amd64.JL, group)
		l.Use(amd64.MOV, vcode.CtxMem(abi.CtxGroup+4*axis, 4).At(), vcode.Imm(0))
	}
	l.Jump(amd64.JMP, group)
}

// Barrier emits a barrier, but nothing in a one-gang group. If op is not 0, the gangs wait for the group operation with this number.
func (l *Builder) Barrier(op int) {
	if l.Spec.IsOneGang() {
		return
	}
	at0 := l.NewLabel()
	l.Resumes = append(l.Resumes, at0)
	if op != 0 {
		l.Use(amd64.MOV, vcode.CtxMem(abi.CtxPending, 4).At(), vcode.Imm(int64(op)))
	}
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(int64(len(l.Resumes))))
	l.Mark(vcode.KindBarrier)
	l.Jump(amd64.JMP, l.Advance)
	l.Bind(at0)
}

// GroupOp emits a group operation. Gangs store their operands in their frames and wait for the result. A one-gang group, and a
// subgroup operation of complete subgroups in a gang, need no frames.
func (l *Builder) GroupOp(in *ir.Instr) {
	if l.Spec.IsOneGang() {
		if in.Op == ir.Scan {
			l.scanSingle(in)
		} else {
			l.reduceSingle(in)
		}
		return
	}
	if in.Op == ir.Subgroup && l.Spec.Whole && l.Lanes()%abi.SubgroupSize == 0 {
		l.subgroupInGang(in)
		return
	}
	l.Groups = append(l.Groups, in)
	l.grouped = true
	y := &l.Layout
	r := in.Result()
	for n, a := range in.Args {
		place := abi.GroupValue(y, n)
		var regs []vcode.Reg
		if n == 0 {
			regs = l.firstOperand(in)
		} else {
			regs = l.Vector(a)
		}
		for i := range l.GroupVectors(a.Type) {
			l.Use(amd64.VMOVUPS, vcode.FrameMem(place+l.Target.Bytes()*i, 0).At(), vcode.Part(regs, i).Z())
		}
	}
	for i := range l.GangRegs {
		m := l.NewMask()
		if l.Cur == nil {
			l.Full(m)
		} else {
			m = l.Cur[i]
		}
		l.Use(amd64.KMOVW, vcode.FrameMem(abi.GroupMasks(y)+2*i, 0).At(), m.K())
	}
	l.Barrier(len(l.Groups))
	place := abi.GroupValue(y, 0)
	switch {
	case l.IsUniform(r) && r.Type.IsFloat():
		d := l.NewVec()
		l.Def(lanes.Sized(r.Type.Size(), amd64.VBROADCASTSS, amd64.VBROADCASTSD), d.Z(), vcode.FrameMem(place, 0).At())
		l.Set(r, values.Value{Vec: []vcode.Reg{d}})
	case l.IsUniform(r):
		d := l.NewGPR()
		size := max(r.Type.Size(), 4)
		l.Def(amd64.MOV, d.G(size), vcode.FrameMem(place, size).At())
		l.Set(r, values.Value{G: d})
	case r.Type == ir.Bool:
		masks := l.NewMasks(l.GangRegs)
		for i, d := range masks {
			v := l.NewVec()
			l.Def(amd64.VMOVUPS, v.Z(), vcode.FrameMem(place+l.Target.Bytes()*i, 0).At())
			l.Def(amd64.VPTESTMD, d.K(), v.Z(), v.Z())
		}
		l.Set(r, values.Value{Masks: masks})
	default:
		out := vcode.NewVecs(l.Func, l.VectorsOf(r.Type))
		for i, d := range out {
			l.Def(amd64.VMOVUPS, d.Z(), vcode.FrameMem(place+l.Target.Bytes()*i, 0).At())
		}
		l.Set(r, values.Value{Vec: out})
	}
}
