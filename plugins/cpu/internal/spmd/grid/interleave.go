package grid

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/isel"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/memory"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/plan"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Interleaves returns the If that is the exit of a loop if the loop is interleaved, or nil.
func (l *Builder) Interleaves(loop *ir.Instr) *ir.Instr {
	if !l.Observes || !l.Spec.Adjacent || l.Spec.IsOneGang() || l.Cur != nil || l.Interleaved != nil || !analysis.ContinuesOnlyAtEnd(loop) {
		return nil
	}
	exit := plan.OnlyExit(loop)
	if exit == nil || !l.Options.InterleaveAll && !l.IsStreaming(loop) {
		return nil
	}
	if l.grouping == nil {
		l.grouping = l.Kernel.Uniformity(ir.Scope{})
	}
	for _, s := range l.Scopes {
		if s.In.Op == ir.Loop && !l.Options.InterleaveAll || l.grouping.Diverges(s.In) { // nested loops are usually short
			return nil
		}
	}
	return exit
}

// BeginInterleaved emits the rounds of an interleaved loop. It returns the values of the parameters at the point at which
// gangs continue alone.
func (l *Builder) BeginInterleaved(loop, exit *ir.Instr) values.Entry {
	params := loop.Then.Params
	r := &values.Interleaved{Loop: loop, Exit: exit, Leave: l.NewLabel(), Rows: l.StridedLoads(loop)}
	r.Turns = plan.ItersPerRound(loop, r.Rows)
	r.Params = values.Entry{Values: make([]values.Value, len(params)), Lane0s: l.Followed(loop, nil)}
	first := values.Entry{Values: make([]values.Value, len(params)), Lane0s: make([]vcode.Reg, len(params))}
	for i, p := range params {
		first.Values[i] = l.ValueOf(loop.Args[i], p)
		if r.Params.Lane0s[i] == 0 {
			r.Params.Values[i] = l.Variable(p)
		} else {
			first.Lane0s[i] = l.Lane0(loop.Args[i])
		}
	}
	l.assignEntry(r.Params, first, params)
	c := l.counterOf(r)
	r.Sweeps = c != nil && sweeps(l, c)
	switch {
	case sweepsOneRow(l, r):
		r.Turns = plan.SomeTurns
	case r.Rows <= 1 || r.Turns != plan.ManyTurns:
	case r.Sweeps:
		r.Turns = plan.SweepTurns
	case l.FetchesRounds(r) && l.Target.Bytes() < plan.LineBytes:
		r.Turns = plan.SomeTurns // batches with short rounds load more of each row, which suits vectors of half a line
	}
	assembles := l.assembles()
	l.Barrier(0)

	alone, waiting, end := l.NewLabel(), len(l.Resumes), l.End
	frame, n := vcode.Phys(abi.Frame), l.NewGPR()
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	l.Jump(amd64.JNE, alone)
	if assembles {
		l.Batch, r.Ended = r, l.NewLabel()
		l.End, l.Dead = r.Ended, r.Ended
		l.assembleGroups(r, alone)
	} else {
		l.Def(amd64.MOV, n.G8(), vcode.CtxMem(abi.CtxAlive, 8).At())
		l.Use(amd64.CMP, n.G8(), vcode.CtxMem(abi.CtxGangs, 8).At())
		l.Jump(amd64.JNE, alone)
	}

	top, scopes := l.NewLabel(), l.Scopes
	l.Interleaved = r
	if r.Sweeps {
		sweepBatch(l, r, c, assembles)
		c = nil // the rounds that follow are few
	}
	s := &isel.Scope{In: loop, End: r.Leave, Params: r.Params.Values, Next: r.Params.Values, Lane0s: r.Params.Lane0s}
	l.Scopes = append(l.Scopes, s)
	l.BeginFrames()
	l.Bind(top)
	over := l.NewLabel()
	if c != nil {
		each, mark := l.NewLabel(), len(l.Undo)
		c.First = l.NewGPR()
		l.Def(amd64.MOV, c.First.G4(), r.Params.Lane0s[c.Param].G4())
		l.testRound(r, c, c.First, each)
		r.Tested = c
		l.iterations(r, s)
		l.Jump(amd64.JMP, over)
		r.Tested = nil
		l.Forget(mark)
		l.Bind(each)
	}
	l.iterations(r, s)
	l.Bind(over)
	l.Mark(vcode.KindBarrier)
	l.Mod(amd64.ADD, frame, vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, top)
	if assembles {
		l.roundOfBatch(top)
	} else {
		l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	}
	l.Poll()
	l.Jump(amd64.JMP, top)
	l.Mark(vcode.KindLoopEnd)
	if assembles {
		l.dissolve(r, waiting, alone)
		l.End, l.Dead = end, end
		l.Mark(vcode.KindBarrier)
	} else {
		l.Bind(r.Leave)
		l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	}
	l.Bind(alone)
	l.Interleaved, l.Scopes = nil, scopes

	from := values.Entry{Values: slices.Clone(r.Params.Values), Lane0s: r.Params.Lane0s}
	for i, p := range params {
		if from.Lane0s[i] != 0 {
			from.Values[i] = values.Value{Vec: l.FromLane0(p, from.Lane0s[i])}
		}
	}
	return from
}

// iterations emits the iterations of one gang in a round.
func (l *Builder) iterations(r *values.Interleaved, s *isel.Scope) {
	params := r.Loop.Then.Params
	r.Now = values.Entry{Values: r.Params.Values, Lane0s: slices.Clone(r.Params.Lane0s)}
	if c := r.Tested; c != nil {
		r.Now.Lane0s[c.Param] = c.First
		l.Wide[c.First] = c.First
	}
	for r.Further = r.Turns - 1; r.Further >= 0; r.Further-- {
		for i, p := range params {
			l.Set(p, r.Now.Values[i])
			l.Vals[p.ID].Lane0 = r.Now.Lane0s[i]
		}
		s.Latch = l.NewLabel()
		l.Block(r.Loop.Then)
		l.Bind(s.Latch)
	}
}

// assignEntry emits parallel copies of the values of loop parameters in from to the variables in to.
func (l *Builder) assignEntry(to, from values.Entry, params []*ir.Value) {
	sources, vars, list := []values.Value(nil), []values.Value(nil), []*ir.Value(nil)
	for i, p := range params {
		if to.Lane0s[i] == 0 {
			vars, sources, list = append(vars, to.Values[i]), append(sources, from.Values[i]), append(list, p)
		} else {
			vars, sources, list = append(vars, values.Value{G: to.Lane0s[i]}), append(sources, values.Value{G: from.Lane0s[i]}), append(list, p)
		}
	}
	l.AssignAll(vars, sources, list, nil)
}

// NextIteration ends an iteration of an interleaved loop if the gang executes another one in the round. It keeps the next values in
// their registers and returns true. Otherwise it does nothing and returns false.
func (l *Builder) NextIteration(in *ir.Instr) bool {
	r := l.Interleaved
	if r == nil || in.Target != r.Loop || r.Further == 0 {
		return false
	}
	next := values.Entry{Values: make([]values.Value, len(in.Args)), Lane0s: make([]vcode.Reg, len(in.Args))}
	for i, a := range in.Args {
		if r.Now.Lane0s[i] == 0 {
			next.Values[i] = l.ValueOf(a, r.Loop.Then.Params[i])
		} else {
			next.Lane0s[i] = l.Lane0(a)
		}
	}
	if c := r.Tested; c != nil {
		l.Wide[next.Lane0s[c.Param]] = next.Lane0s[c.Param] // the counter does not wrap
	}
	r.Now = next
	return true
}

// LeaveInterleaved emits the If that is the exit of an interleaved loop, or nothing if the test of the round covers it.
func (l *Builder) LeaveInterleaved(in *ir.Instr) {
	r, leave := l.Interleaved, l.Interleaved.Leave
	if r.Tested != nil {
		return
	}
	if r.Further < r.Turns-1 {
		leave = l.NewLabel()
	}
	v, stay := in.Args[0], analysis.FallsThrough(in.Then)
	switch {
	case l.IsUniform(v):
		l.Branch(v, leave, !stay)
	case stay && l.leaveAbove(v.Def, leave):
	default:
		l.BranchSome(l.Outcome(v, !stay, nil, nil), leave)
	}
	if leave != r.Leave {
		l.Cold(func() {
			l.Bind(leave)
			l.assignEntry(r.Params, r.Now, r.Loop.Then.Params)
			l.Jump(amd64.JMP, r.Leave)
		})
	}
}

// leaveAbove emits the exit of a loop that continues while a value is less than a uniform bound, or at most the bound. The value must
// be an i32 with a lane-0 value. From lane to lane it must grow by a constant of 0 to vcode.MaxPeel, so the last lane decides.
// Gangs whose last lane wraps leave. For other tests leaveAbove emits nothing and returns false.
func (l *Builder) leaveAbove(test *ir.Instr, leave amd64.Label) bool {
	if test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return false
	}
	v, bound := test.Args[0], test.Args[1]
	s, affine := l.Affine.Strides(v)
	if !affine || s[0] < 0 || int64(s[0]) > vcode.MaxPeel || !l.HasLane0(v, 0) || !l.IsUniform(bound) {
		return false
	}
	if in := bound.Def; test.Op == ir.Lt && in != nil && in.Op == ir.Extent {
		l.leaveBeyond(v, in, s[0], leave)
		return true
	}
	last := l.NewGPR()
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: l.WideIndex(l.Lane0(v), ir.I32), Disp: s[0] * int32(l.Lanes()-1)}.At())
	if c, ok := plan.SmallConst(bound); ok {
		l.Use(amd64.CMP, last.G8(), vcode.Imm(c))
	} else {
		l.Use(amd64.CMP, last.G8(), l.WideIndex(l.General(bound), ir.I32).G8())
	}
	if test.Op == ir.Lt {
		l.Jump(amd64.JGE, leave)
	} else {
		l.Jump(amd64.JG, leave)
	}
	return true
}

// leaveBeyond emits the exit of a loop that continues while v, which grows by step from lane to lane, is below an extent. Gangs
// with negative values leave, too, so v is a valid index in all gangs that stay. In checked code it records that this check has
// passed.
func (l *Builder) leaveBeyond(v *ir.Value, extent *ir.Instr, step int32, leave amd64.Label) {
	first, last := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, first.G4(), l.Lane0(v).G4())
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: first, Disp: step * int32(l.Lanes()-1)}.At())
	axis := -1 - extent.Axis
	l.Use(amd64.CMP, last.G8(), l.ExtentMem(extent.Array, axis, 8).At())
	l.Jump(amd64.JAE, leave)
	if !l.Options.Unchecked {
		l.Passed(memory.CheckKey{Value: v.ID, Array: extent.Array.ID, Extent: axis})
	}
}
