package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/groupop"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// coordinate gives the value of an Item.
func (l *lowerer) coordinate(in *ir.Instr) value {
	r := in.Result()
	load := func(place int) value {
		d := l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.CtxMem(place+4*in.Axis, 4).At())
		return value{g: d}
	}
	var v value
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
		l.Def(amd64.MOV, d.G4(), vcode.Imm(groupop.SubgroupSize))
		v = value{g: d}
	case ir.GlobalID:
		switch {
		case in.Axis == 0:
			return value{vec: l.lanesFrom(l.item.x, opt.Strides{1})}
		case in.Axis == 1 && l.options.stacked:
			return value{vec: l.lanesFrom(l.item.y, opt.Strides{0, 1})}
		case l.observe:
			v = value{g: l.global(in.Axis)}
		default:
			v = load(abi.CtxY - 4)
		}
	case ir.LocalID:
		if in.Axis == 0 {
			return value{vec: l.lanesFrom(l.item.local, opt.Strides{1})}
		}
		d := l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.FrameMem(abi.FrameLocal+4*in.Axis, 4).At())
		v = value{g: d}
	case ir.Lane:
		d, s := l.NewGPR(), l.NewGPR()
		l.Def(amd64.MOV, d.G4(), vcode.FrameMem(abi.FrameLocal+8, 4).At())
		l.Mod(amd64.IMUL, d.G4(), vcode.CtxMem(abi.CtxGSize+4, 4).At())
		l.Mod(amd64.ADD, d.G4(), vcode.FrameMem(abi.FrameLocal+4, 4).At())
		l.Mod(amd64.IMUL, d.G4(), vcode.CtxMem(abi.CtxGSize, 4).At())
		l.Def(amd64.MOV, s.G4(), d.G4())
		l.Mod(amd64.ADD, s.G4(), l.item.local.G4())
		most := l.Constant(groupop.SubgroupSize-1, 4)
		return value{vec: l.map1(l.lanesFrom(s, opt.Strides{1}), func(d, a vcode.Reg) { l.op2(amd64.VPANDD, d, a, most, 4) })}
	}
	l.set(r, v)
	return l.vals[r.ID]
}

// global gives the position of a gang on an axis, where groups are observed.
func (l *lowerer) global(axis int) vcode.Reg {
	d := l.NewGPR()
	l.Def(amd64.MOV, d.G4(), vcode.CtxMem(abi.CtxGroup+4*axis, 4).At())
	l.Mod(amd64.IMUL, d.G4(), vcode.CtxMem(abi.CtxGSize+4*axis, 4).At())
	l.Mod(amd64.ADD, d.G4(), vcode.FrameMem(abi.FrameLocal+4*axis, 4).At())
	return d
}

// between makes a register for what is done between gangs: its place in memory is in no frame, since what the frame of a
// gang that waits has is the gang's own.
func (l *builder) between() vcode.Reg {
	r := l.NewGPR()
	l.Regs[r].Shared = true
	return r
}

// overGroups emits the loop over work-groups, and what makes their gangs take turns.
func (l *builder) overGroups(done amd64.Label) {
	l.Func.Shared = false
	group, dispatch, advance, start, end, wrap := l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel(), l.NewLabel()
	l.Mark(vcode.KindLoopBegin)
	l.Bind(group)
	l.begin, l.dispatch, l.ended = group, dispatch, l.NewLabel()
	l.beginGroup()
	// One gang after the other, from where each has come to.
	l.Bind(dispatch)
	state := l.between()
	l.Def(amd64.MOV, state.G4(), vcode.FrameMem(abi.FrameResume, 4).At())
	l.Use(amd64.TEST, state.G4(), state.G4())
	l.Jump(amd64.JE, start)
	table := len(l.Insts) // comparisons with the barriers go here

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
	l.item.x, l.item.local = l.global(0), l.NewGPR()
	l.Def(amd64.MOV, l.item.local.G4(), vcode.FrameMem(abi.FrameLocal, 4).At())
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameFirst, 4).At(), l.item.x.G4())
	var mask []vcode.Reg
	if !l.options.Whole {
		mask = l.present(end)
	}
	l.advance, l.start = advance, start
	l.body(mask, end)

	l.Bind(end)
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(abi.FrameDone))
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxAlive, 8).At(), vcode.Imm(1))
	l.Jump(amd64.JNE, advance)
	l.nextGroup(group, done)
	l.Mark(vcode.KindLoopEnd)

	l.insertDispatch(table, pending, dispatch, end)
}

// insertDispatch puts in what depends on the barriers that the kernel turned out to have.
func (l *builder) insertDispatch(table, pending int, dispatch, end amd64.Label) {
	n := len(l.Insts)
	l.Insert(table, func() {
		state := l.between()
		if len(l.resumes) > 0 {
			l.Def(amd64.MOV, state.G4(), vcode.FrameMem(abi.FrameResume, 4).At())
			l.Use(amd64.CMP, state.G4(), vcode.Imm(int64(int32(-2)))) // frameKilled
			l.Jump(amd64.JE, end)
		}
		for i, to := range l.resumes {
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
		x, e := l.item.x, l.end
		l.item.x, l.end = 0, 0
		l.trapHere(vcode.Trap{Kind: vcode.TrapGroup})
		l.item.x, l.end = x, e
	})
}

// beginGroup clears shared memory and makes all gangs ready to start.
func (l *builder) beginGroup() {
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

func (l *builder) clearShared() {
	if l.layout.Shared > 0 {
		base := l.NewGPR()
		l.Def(amd64.MOV, base.G8(), vcode.CtxMem(abi.CtxShared, 8).At())
		l.clear(vcode.Mem{Base: base}, l.layout.Shared, l.Constant(0, 4))
	}
}

// present gives the masks of the gang's lanes that exist: in the group and in the launch.
func (l *builder) present(end amd64.Label) []vcode.Reg {
	for axis := 1; axis < 3; axis++ {
		r := l.global(axis)
		l.Use(amd64.CMP, r.G4(), vcode.CtxMem(abi.CtxSize+4*axis, 4).At())
		l.Jump(amd64.JAE, end) // in the last group it may be 2^31 and more
	}
	inLaunch, inGroup := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, inLaunch.G4(), vcode.CtxMem(abi.CtxSize, 4).At())
	l.Mod(amd64.SUB, inLaunch.G4(), l.item.x.G4())
	l.Def(amd64.MOV, inGroup.G4(), vcode.CtxMem(abi.CtxGSize, 4).At())
	l.Mod(amd64.SUB, inGroup.G4(), l.item.local.G4())
	l.Use(amd64.CMP, inLaunch.G4(), inGroup.G4())
	l.Mod(amd64.CMOVG, inLaunch.G4(), inGroup.G4())
	l.Use(amd64.CMP, inLaunch.G4(), vcode.Imm(0))
	l.Jump(amd64.JLE, end)
	return l.firstLanes(inLaunch)
}

// nextGroup goes on to the next work-group, if there is one.
func (l *builder) nextGroup(group, done amd64.Label) {
	if l.batch != nil {
		l.Bind(l.ended)
		l.endOfGroup()
	}
	l.Use(amd64.SUB, vcode.CtxMem(abi.CtxLeft, 8).At(), vcode.Imm(1))
	l.Jump(amd64.JE, done)
	l.poll()
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

// barrier emits a place where the gangs of a group wait for each other, for a group operation if op is not 0.
func (l *builder) barrier(op int) {
	if l.options.single {
		return
	}
	at0 := l.NewLabel()
	l.resumes = append(l.resumes, at0)
	if op != 0 {
		l.Use(amd64.MOV, vcode.CtxMem(abi.CtxPending, 4).At(), vcode.Imm(int64(op)))
	}
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(int64(len(l.resumes))))
	l.Mark(vcode.KindBarrier)
	l.Jump(amd64.JMP, l.advance)
	l.Bind(at0)
}

// groupOp emits an operation of the whole group: all gangs leave their values in their frames, Go computes.
func (l *builder) groupOp(in *ir.Instr) {
	if l.options.single {
		l.reduceSingle(in)
		return
	}
	if in.Op == ir.Subgroup && l.options.Whole && l.gang()%groupop.SubgroupSize == 0 {
		l.subgroupInGang(in)
		return
	}
	l.groups = append(l.groups, in)
	l.grouped = true
	y := &l.layout
	r := in.Result()
	for n, a := range in.Args {
		place := abi.GroupValue(y, n)
		var regs []vcode.Reg
		if n == 0 {
			regs = l.given(in)
		} else {
			regs = l.vector(a)
		}
		for i := range l.vectorsOf(a.Type) {
			l.Use(amd64.VMOVUPS, vcode.FrameMem(place+l.Target.Bytes()*i, 0).At(), vcode.Part(regs, i).Z())
		}
	}
	for i := range l.w {
		m := l.NewMask()
		if l.cur == nil {
			l.full(m)
		} else {
			m = l.cur[i]
		}
		l.Use(amd64.KMOVW, vcode.FrameMem(abi.GroupMasks(y)+2*i, 0).At(), m.K())
	}
	l.barrier(len(l.groups))
	place := abi.GroupValue(y, 0)
	switch {
	case l.uniform(r) && r.Type.IsFloat():
		d := l.NewVec()
		l.Def(sized(r.Type.Size(), amd64.VBROADCASTSS, amd64.VBROADCASTSD), d.Z(), vcode.FrameMem(place, 0).At())
		l.set(r, value{vec: []vcode.Reg{d}})
	case l.uniform(r):
		d := l.NewGPR()
		size := max(r.Type.Size(), 4)
		l.Def(amd64.MOV, d.G(size), vcode.FrameMem(place, size).At())
		l.set(r, value{g: d})
	case r.Type == ir.Bool:
		masks := l.NewMasks(l.w)
		for i, d := range masks {
			v := l.NewVec()
			l.Def(amd64.VMOVUPS, v.Z(), vcode.FrameMem(place+l.Target.Bytes()*i, 0).At())
			l.Def(amd64.VPTESTMD, d.K(), v.Z(), v.Z())
		}
		l.set(r, value{masks: masks})
	default:
		out := vcode.NewVecs(l.Func, l.regsOf(r.Type))
		for i, d := range out {
			l.Def(amd64.VMOVUPS, d.Z(), vcode.FrameMem(place+l.Target.Bytes()*i, 0).At())
		}
		l.set(r, value{vec: out})
	}
}

// vectorsOf is how many vectors a gang's values of a type take in its frame.
func (l *analysis) vectorsOf(t ir.Type) int {
	if t.Size() == 8 {
		return 2 * l.w
	}
	return l.w
}
