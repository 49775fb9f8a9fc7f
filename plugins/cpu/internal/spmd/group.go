package spmd

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
)

// What a gang gives to a group operation and takes from it lies in its frame after the scratch vectors: two operands of
// 64-bit elements, and the masks.

func groupBytes(lanes int) int { return 2*8*lanes + 64 }

func groupValue(y *layout, n int) int { return y.group + 8*y.lanes*n }

func groupMasks(y *layout) int { return groupValue(y, 2) }

// frameKilled is the state of a gang that Go ends.
const frameKilled = 0xfffffffe

// coordinate gives the value of an Item.
func (l *lowerer) coordinate(in *ir.Instr) value {
	r := in.Result()
	load := func(place int) value {
		d := l.gpr()
		l.def(amd64.MOV, g4(d), at(ctxMem(place+4*in.Axis, 4)))
		return value{g: d}
	}
	var v value
	switch in.Item {
	case ir.GlobalSize:
		v = load(ctxSize)
	case ir.GroupSize:
		v = load(ctxGSize)
	case ir.NumGroups:
		v = load(ctxGroups)
	case ir.GroupID:
		v = load(ctxGroup)
	case ir.SubgroupSize:
		d := l.gpr()
		l.def(amd64.MOV, g4(d), imm(subgroupSize))
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
			v = load(ctxY - 4)
		}
	case ir.LocalID:
		if in.Axis == 0 {
			return value{vec: l.lanesFrom(l.item.local, opt.Strides{1})}
		}
		d := l.gpr()
		l.def(amd64.MOV, g4(d), at(frameMem(frameLocal+4*in.Axis, 4)))
		v = value{g: d}
	case ir.Lane:
		d, s := l.gpr(), l.gpr()
		l.def(amd64.MOV, g4(d), at(frameMem(frameLocal+8, 4)))
		l.mod(amd64.IMUL, g4(d), at(ctxMem(ctxGSize+4, 4)))
		l.mod(amd64.ADD, g4(d), at(frameMem(frameLocal+4, 4)))
		l.mod(amd64.IMUL, g4(d), at(ctxMem(ctxGSize, 4)))
		l.def(amd64.MOV, g4(s), g4(d))
		l.mod(amd64.ADD, g4(s), g4(l.item.local))
		most := l.constant(subgroupSize-1, 4)
		return value{vec: l.map1(l.lanesFrom(s, opt.Strides{1}), func(d, a vr) { l.op2(amd64.VPANDD, d, a, most, 4) })}
	}
	l.set(r, v)
	return l.vals[r.ID]
}

// global gives the position of a gang on an axis, where groups are observed.
func (l *lowerer) global(axis int) vr {
	d := l.gpr()
	l.def(amd64.MOV, g4(d), at(ctxMem(ctxGroup+4*axis, 4)))
	l.mod(amd64.IMUL, g4(d), at(ctxMem(ctxGSize+4*axis, 4)))
	l.mod(amd64.ADD, g4(d), at(frameMem(frameLocal+4*axis, 4)))
	return d
}

// between makes a register for what is done between gangs: its place in memory is in no frame, since what the frame of a
// gang that waits has is the gang's own.
func (l *lowerer) between() vr {
	r := l.gpr()
	l.regs[r].shared = true
	return r
}

// overGroups emits the loop over work-groups, and what makes their gangs take turns.
func (l *lowerer) overGroups(done amd64.Label) {
	l.fn.shared = false
	group, dispatch, advance, start, end, wrap := l.label(), l.label(), l.label(), l.label(), l.label(), l.label()
	l.mark(kindLoopBegin)
	l.bind(group)
	l.begin, l.dispatch, l.ended = group, dispatch, l.label()
	l.beginGroup()
	// One gang after the other, from where each has come to.
	l.bind(dispatch)
	state := l.between()
	l.def(amd64.MOV, g4(state), at(frameMem(frameResume, 4)))
	l.use(amd64.TEST, g4(state), g4(state))
	l.jump(amd64.JE, start)
	table := len(l.insts) // comparisons with the barriers go here

	l.bind(advance)
	frame := physical(regFrame)
	l.mod(amd64.ADD, frame, at(ctxMem(ctxFrameSize, 8)))
	l.use(amd64.CMP, frame, at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JB, dispatch)
	l.bind(wrap)
	l.def(amd64.MOV, frame, at(ctxMem(ctxFrame, 8)))
	pending := len(l.insts)
	l.jump(amd64.JMP, dispatch)

	l.bind(start)
	l.item.x, l.item.local = l.global(0), l.gpr()
	l.def(amd64.MOV, g4(l.item.local), at(frameMem(frameLocal, 4)))
	l.use(amd64.MOV, at(frameMem(frameFirst, 4)), g4(l.item.x))
	var mask []vr
	if !l.options.Whole {
		mask = l.present(end)
	}
	l.advance, l.start = advance, start
	l.body(mask, end)

	l.bind(end)
	l.use(amd64.MOV, at(frameMem(frameResume, 4)), imm(frameDone))
	l.use(amd64.SUB, at(ctxMem(ctxAlive, 8)), imm(1))
	l.jump(amd64.JNE, advance)
	l.nextGroup(group, done)
	l.mark(kindLoopEnd)

	l.insertDispatch(table, pending, dispatch, end)
}

// insertDispatch puts in what depends on the barriers that the kernel turned out to have.
func (l *lowerer) insertDispatch(table, pending int, dispatch, end amd64.Label) {
	n := len(l.insts)
	l.insert(table, func() {
		state := l.between()
		if len(l.resumes) > 0 {
			l.def(amd64.MOV, g4(state), at(frameMem(frameResume, 4)))
			l.use(amd64.CMP, g4(state), imm(int64(int32(-2)))) // frameKilled
			l.jump(amd64.JE, end)
		}
		for i, to := range l.resumes {
			l.use(amd64.CMP, g4(state), imm(int64(i+1)))
			l.jump(amd64.JE, to)
		}
	})
	pending += len(l.insts) - n
	if !l.grouped {
		return
	}
	l.insert(pending, func() {
		l.use(amd64.CMP, at(ctxMem(ctxPending, 4)), imm(0))
		l.jump(amd64.JE, dispatch)
		l.computeGroups(dispatch)
		x, e := l.item.x, l.end
		l.item.x, l.end = 0, 0
		l.trapHere(trap{kind: trapGroup})
		l.item.x, l.end = x, e
	})
}

// beginGroup clears shared memory and makes all gangs ready to start.
func (l *lowerer) beginGroup() {
	l.clearShared()
	n, top := l.gpr(), l.label()
	l.def(amd64.MOV, physical(regFrame), at(ctxMem(ctxFrame, 8)))
	l.def(amd64.MOV, g8(n), at(ctxMem(ctxGangs, 8)))
	l.use(amd64.MOV, at(ctxMem(ctxAlive, 8)), g8(n))
	l.mark(kindLoopBegin)
	l.bind(top)
	l.use(amd64.MOV, at(frameMem(frameResume, 4)), imm(0))
	l.mod(amd64.ADD, physical(regFrame), at(ctxMem(ctxFrameSize, 8)))
	l.use(amd64.CMP, physical(regFrame), at(ctxMem(ctxEnd, 8)))
	l.jump(amd64.JB, top)
	l.mark(kindLoopEnd)
	l.def(amd64.MOV, physical(regFrame), at(ctxMem(ctxFrame, 8)))
}

func (l *lowerer) clearShared() {
	if l.layout.shared > 0 {
		base := l.gpr()
		l.def(amd64.MOV, g8(base), at(ctxMem(ctxShared, 8)))
		l.clear(mem{base: base}, l.layout.shared, l.constant(0, 4))
	}
}

// present gives the masks of the gang's lanes that exist: in the group and in the launch.
func (l *lowerer) present(end amd64.Label) []vr {
	for axis := 1; axis < 3; axis++ {
		r := l.global(axis)
		l.use(amd64.CMP, g4(r), at(ctxMem(ctxSize+4*axis, 4)))
		l.jump(amd64.JAE, end) // in the last group it may be 2^31 and more
	}
	inLaunch, inGroup := l.gpr(), l.gpr()
	l.def(amd64.MOV, g4(inLaunch), at(ctxMem(ctxSize, 4)))
	l.mod(amd64.SUB, g4(inLaunch), g4(l.item.x))
	l.def(amd64.MOV, g4(inGroup), at(ctxMem(ctxGSize, 4)))
	l.mod(amd64.SUB, g4(inGroup), g4(l.item.local))
	l.use(amd64.CMP, g4(inLaunch), g4(inGroup))
	l.mod(amd64.CMOVG, g4(inLaunch), g4(inGroup))
	l.use(amd64.CMP, g4(inLaunch), imm(0))
	l.jump(amd64.JLE, end)
	return l.firstLanes(inLaunch)
}

// nextGroup goes on to the next work-group, if there is one.
func (l *lowerer) nextGroup(group, done amd64.Label) {
	if l.batch != nil {
		l.bind(l.ended)
		l.endOfGroup()
	}
	l.use(amd64.SUB, at(ctxMem(ctxLeft, 8)), imm(1))
	l.jump(amd64.JE, done)
	l.poll()
	for axis := range 3 {
		r := l.gpr()
		l.def(amd64.MOV, g4(r), at(ctxMem(ctxGroup+4*axis, 4)))
		l.mod(amd64.ADD, g4(r), imm(1))
		l.use(amd64.MOV, at(ctxMem(ctxGroup+4*axis, 4)), g4(r))
		if axis == 2 {
			break
		}
		l.use(amd64.CMP, g4(r), at(ctxMem(ctxGroups+4*axis, 4)))
		l.jump(amd64.JL, group)
		l.use(amd64.MOV, at(ctxMem(ctxGroup+4*axis, 4)), imm(0))
	}
	l.jump(amd64.JMP, group)
}

// barrier emits a place where the gangs of a group wait for each other, for a group operation if op is not 0.
func (l *lowerer) barrier(op int) {
	if l.options.single {
		return
	}
	at0 := l.label()
	l.resumes = append(l.resumes, at0)
	if op != 0 {
		l.use(amd64.MOV, at(ctxMem(ctxPending, 4)), imm(int64(op)))
	}
	l.use(amd64.MOV, at(frameMem(frameResume, 4)), imm(int64(len(l.resumes))))
	l.mark(kindBarrier)
	l.jump(amd64.JMP, l.advance)
	l.bind(at0)
}

// groupOp emits an operation of the whole group: all gangs leave their values in their frames, Go computes.
func (l *lowerer) groupOp(in *ir.Instr) {
	if l.options.single {
		l.reduceSingle(in)
		return
	}
	if in.Op == ir.Subgroup && l.options.Whole && l.gang()%subgroupSize == 0 {
		l.subgroupInGang(in)
		return
	}
	l.groups = append(l.groups, in)
	l.grouped = true
	y := &l.layout
	r := in.Result()
	for n, a := range in.Args {
		place := groupValue(y, n)
		var regs []vr
		if n == 0 {
			regs = l.given(in)
		} else {
			regs = l.vector(a)
		}
		for i := range l.vectorsOf(a.Type) {
			l.use(amd64.VMOVUPS, at(frameMem(place+l.t.bytes()*i, 0)), z(part(regs, i)))
		}
	}
	for i := range l.w {
		m := l.mask()
		if l.cur == nil {
			l.full(m)
		} else {
			m = l.cur[i]
		}
		l.use(amd64.KMOVW, at(frameMem(groupMasks(y)+2*i, 0)), k(m))
	}
	l.barrier(len(l.groups))
	place := groupValue(y, 0)
	switch {
	case l.uniform(r) && r.Type.IsFloat():
		d := l.vec()
		l.def(sized(r.Type.Size(), amd64.VBROADCASTSS, amd64.VBROADCASTSD), z(d), at(frameMem(place, 0)))
		l.set(r, value{vec: []vr{d}})
	case l.uniform(r):
		d := l.gpr()
		size := max(r.Type.Size(), 4)
		l.def(amd64.MOV, g(d, size), at(frameMem(place, size)))
		l.set(r, value{g: d})
	case r.Type == ir.Bool:
		masks := l.masks(l.w)
		for i, d := range masks {
			v := l.vec()
			l.def(amd64.VMOVUPS, z(v), at(frameMem(place+l.t.bytes()*i, 0)))
			l.def(amd64.VPTESTMD, k(d), z(v), z(v))
		}
		l.set(r, value{masks: masks})
	default:
		out := newRegs(l.fn, l.regsOf(r.Type))
		for i, d := range out {
			l.def(amd64.VMOVUPS, z(d), at(frameMem(place+l.t.bytes()*i, 0)))
		}
		l.set(r, value{vec: out})
	}
}

// vectorsOf is how many vectors a gang's values of a type take in its frame.
func (l *lowerer) vectorsOf(t ir.Type) int {
	if t.Size() == 8 {
		return 2 * l.w
	}
	return l.w
}
