package grid

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// sweep is the part of an interleaved loop in which all gangs of a work-group or batch share one counter and one test per round. A
// gang then loads only what it carries from its frame. The counters of successive gangs of a work-group are span apart, and those of
// successive groups a distance that is found at run time. If the counters differ otherwise, or a test fails, the gangs continue with
// counters of their own.
type sweep struct {
	*Builder
	loop    *values.Interleaved
	counter *values.Counter
	own     vcode.Reg // the counter of a gang, in its frame
	span    int64     // the difference of the counters of successive gangs
	batch   bool      // several groups may run together

	// Shared registers:
	first vcode.Reg // the counter of the first gang in the current round, zero-extended
	group vcode.Reg // the counter of the first gang of the current group
	row   vcode.Reg // the counter of the current gang
	apart vcode.Reg // the difference of the counters of successive groups
	reach vcode.Reg // the difference of the counters of the last gang and the first
}

// sweeps reports whether the counters of all gangs have the same step and the same bound.
func sweeps(l *Builder, c *values.Counter) bool {
	same := func(v *ir.Value) bool {
		_, small := plan.SmallConst(v)
		return small || l.grouping.Value(v) == ir.LaunchUniform
	}
	return same(c.Step) && (same(c.Test.Args[1]) || readsExtent(c.Test))
}

// sweepBatch emits the rounds in which the gangs share a counter. After the last such round it falls through. batch reports whether
// several groups may run together.
func sweepBatch(l *Builder, r *values.Interleaved, c *values.Counter, batch bool) {
	strides, _ := l.Affine.Strides(c.Test.Args[0])
	w := &sweep{Builder: l, loop: r, counter: c, own: r.Params.Lane0s[c.Param], span: int64(strides[0]) * int64(l.Lanes()), batch: batch,
		first: l.NewSharedGPR(), group: l.NewSharedGPR(), row: l.NewSharedGPR(), apart: l.NewSharedGPR(), reach: l.NewSharedGPR()}
	other, over, ended := l.NewLabel(), l.NewLabel(), l.NewLabel()
	w.compareCounters(other)

	s := &isel.Scope{In: r.Loop, End: r.Leave, Params: r.Params.Values, Next: r.Params.Values, Lane0s: slices.Clone(r.Params.Lane0s)}
	s.Lane0s[c.Param] = 0 // the sweep advances the counter
	end, dead, top, last, mark := l.End, l.Dead, l.NewLabel(), l.NewSharedGPR(), len(l.Undo)
	l.Scopes = append(l.Scopes, s)
	l.End, l.Dead = ended, ended
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: w.first, Index: w.reach, IndexSize: 8, Scale: 1}.At())
	l.testRound(r, c, last, over)
	c.First, r.Tested = w.row, c
	w.overGangs(func() { l.iterations(r, s) })
	r.Tested = nil
	l.Forget(mark)
	l.Mod(amd64.ADD, w.first.G8(), w.stepOfRound())
	l.Poll()
	l.Jump(amd64.JMP, top)
	l.Mark(vcode.KindLoopEnd)
	l.Scopes, l.End, l.Dead = l.Scopes[:len(l.Scopes)-1], end, dead

	l.Cold(func() {
		l.Bind(ended)
		w.endInSweep()
	})
	l.Bind(over)
	w.overGangs(func() { l.Def(amd64.MOV, w.own.G4(), w.row.G4()) })
	l.Bind(other)
}

// stepOfRound returns the increment of the counter in a round.
func (l *sweep) stepOfRound() vcode.Arg {
	if n, ok := plan.SmallConst(l.counter.Step); ok {
		return vcode.Imm(n * int64(l.loop.Turns))
	}
	step, far := l.NewSharedGPR(), l.NewSharedGPR()
	l.Def(amd64.MOV, step.G4(), l.General(l.counter.Step).G4())
	l.Def(amd64.IMUL, far.G8(), step.G8(), vcode.Imm(int64(l.loop.Turns)))
	return far.G8()
}

// overGangs emits a loop over the gangs of the work-group or batch, with their counters in l.row. It begins and ends with the first
// frame.
func (l *sweep) overGangs(body func()) {
	frame, each, over := vcode.Phys(abi.Frame), l.NewLabel(), l.NewLabel()
	l.Def(amd64.MOV, l.group.G8(), l.first.G8())
	l.Def(amd64.MOV, l.row.G8(), l.first.G8())
	l.BeginFrames()
	l.Bind(each)
	body()
	l.Mark(vcode.KindBarrier)
	l.Mod(amd64.ADD, l.row.G8(), vcode.Imm(l.span))
	l.Mod(amd64.ADD, frame, vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, each)
	if l.batch {
		l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxAssembled, 8).At())
		l.Jump(amd64.JAE, over)
		l.nextOfBatch()
		l.Mod(amd64.ADD, l.group.G8(), l.apart.G8())
		l.Def(amd64.MOV, l.row.G8(), l.group.G8())
		l.Jump(amd64.JMP, each)
	}
	l.Mark(vcode.KindLoopEnd)
	l.Bind(over)
	l.toFirst()
}

// toFirst emits the switch to the first gang of the work-group or batch.
func (l *sweep) toFirst() {
	if l.batch {
		l.firstOfBatch()
	} else {
		l.Def(amd64.MOV, vcode.Phys(abi.Frame), vcode.CtxMem(abi.CtxFrame, 8).At())
	}
}

// compareCounters emits code that sets first, apart and reach by the gangs' own counters. It jumps to other unless the counters of
// successive gangs differ by span, and those of successive groups by apart, which must not be negative.
func (l *sweep) compareCounters(other amd64.Label) {
	frame, unequal := vcode.Phys(abi.Frame), l.NewLabel()
	l.Def(amd64.MOV, l.first.G4(), l.own.G4())
	l.Def(amd64.MOV, l.apart.G4(), vcode.Imm(0))
	if l.batch {
		one, second := l.NewLabel(), l.NewSharedGPR()
		l.Def(amd64.MOV, second.G8(), vcode.CtxMem(abi.CtxEnd, 8).At())
		l.Use(amd64.CMP, second.G8(), vcode.CtxMem(abi.CtxAssembled, 8).At())
		l.Jump(amd64.JAE, one)
		l.Mark(vcode.KindBarrier)
		l.Def(amd64.MOV, frame, second.G8())
		l.Def(amd64.MOV, l.apart.G4(), l.own.G4())
		l.Mark(vcode.KindBarrier)
		l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
		l.Mod(amd64.SUB, l.apart.G4(), l.first.G4())
		l.Jump(amd64.JS, other) // the last group would not have the greatest counters
		l.Bind(one)
	}
	l.overGangs(func() {
		l.Use(amd64.CMP, l.own.G4(), l.row.G4())
		l.Jump(amd64.JNE, unequal)
		l.Def(amd64.MOV, l.reach.G8(), l.row.G8())
	})
	l.Mod(amd64.SUB, l.reach.G8(), l.first.G8())
	l.Cold(func() {
		l.Bind(unequal)
		l.toFirst()
		l.Jump(amd64.JMP, other)
	})
}

// endInSweep emits the end of a gang during its iterations, after a fault. The gangs before it have finished the round; they must not
// repeat it, since their other values have advanced.
func (l *sweep) endInSweep() {
	frame, at := vcode.Phys(abi.Frame), l.NewSharedGPR()
	l.Def(amd64.MOV, at.G8(), frame)
	l.Use(amd64.MOV, vcode.FrameMem(abi.FrameResume, 4).At(), vcode.Imm(abi.FrameDone))
	if l.batch {
		first := l.NewSharedGPR()
		l.Def(amd64.MOV, first.G8(), vcode.CtxMem(abi.CtxFrame, 8).At())
		l.Use(amd64.SUB, vcode.Mem{Base: first, Disp: abi.FrameAlive, Size: 8}.At(), vcode.Imm(1))
	} else {
		l.Use(amd64.SUB, vcode.CtxMem(abi.CtxAlive, 8).At(), vcode.Imm(1)) // others are alive: the group has several gangs
	}
	l.toFirst()
	far := l.stepOfRound()
	l.Mod(amd64.ADD, l.first.G8(), far)
	l.overGangs(func() {
		same := l.NewLabel()
		l.Use(amd64.CMP, frame, at.G8())
		l.Jump(amd64.JNE, same)
		l.Mod(amd64.SUB, l.group.G8(), far)
		l.Mod(amd64.SUB, l.row.G8(), far)
		l.Bind(same)
		l.Def(amd64.MOV, l.own.G4(), l.row.G4())
	})
	if !l.batch {
		l.Def(amd64.MOV, frame, at.G8())
		l.Mark(vcode.KindBarrier)
		l.Jump(amd64.JMP, l.Advance) // the other gangs continue alone where they wait
	}
	l.Jump(amd64.JMP, l.loop.Leave)
}
