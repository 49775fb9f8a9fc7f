package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Gangs of a work-group go through the code one after the other. A loop in which a gang's accesses lie far apart from one
// iteration to the next, and side by side with those of its neighbours in the group, would then fetch each line of the
// caches long before or after those beside it. Such a loop is run in rounds: in each, all gangs of the group do one
// iteration. It needs all lanes of all gangs. As soon as some lane is to leave the loop, and where the group is not
// complete, gangs go on by themselves, each from where it has come to.
//
// All gangs wait for each other before the loop, as at a barrier; the first that goes on then does the rounds for all of
// them. What lives on from round to round is in the gangs' frames. Of a short loop a gang does some iterations in each
// round, between which values stay in registers: what it loads for them comes from as many places of memory at once.

// rounds is how a loop is run in rounds.
type rounds struct {
	loop    *ir.Instr
	exit    *ir.Instr   // the If by which lanes leave
	leave   amd64.Label // where gangs go on by themselves, with all that they know in variables
	params  entry       // the variables that the loop's parameters have from round to round
	now     entry       // the parameters in the present iteration
	turns   int         // iterations in a round
	rows    int         // loads of rows that lie apart from one iteration to the next
	further int         // of these after the present one
	ended   amd64.Label // of a batch: where the gang that had its turn has ended
	tested  *counter    // of the round that is emitted, if one test before it covers all of its iterations
}

// Iterations that a gang does in a round, by the instructions in the loop.
const (
	mostTurns  = 8
	manyTurns  = 4
	someTurns  = 2
	tinyLoop   = 14
	shortLoop  = 24
	middleLoop = 48
	atomicCost = 48 // instructions as which an atomic operation counts
)

// turns returns how many iterations of a loop that loads so many rows a gang does in a round.
func turns(loop *ir.Instr, rows int) int {
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		switch in.Op {
		case ir.Const:
		case ir.Atomic, ir.Loop:
			n += atomicCost
		default:
			n++
		}
	})
	switch {
	case n <= tinyLoop && rows == 1:
		return mostTurns
	case n <= shortLoop:
		return manyTurns
	case n <= middleLoop:
		return someTurns
	}
	return 1
}

// inRounds gives the If by which lanes leave a loop, if it is to be run in rounds.
func (l *builder) inRounds(loop *ir.Instr) *ir.Instr {
	if !l.observe || !l.options.Beside || l.options.single || l.cur != nil || l.round != nil || !onlyLast(loop) {
		return nil
	}
	exit := onlyExit(loop)
	if exit == nil || !l.options.rounds && !l.streams(loop) {
		return nil
	}
	if l.grouping == nil {
		l.grouping = l.k.Uniformity(ir.Scope{})
	}
	for _, s := range l.scopes {
		if s.in.Op == ir.Loop && !l.options.rounds || l.grouping.Diverges(s.in) { // loops in loops are mostly short
			return nil
		}
	}
	return exit
}

// onlyExit gives the If by which alone a loop is left, if what comes before it can be done again and nothing in the loop
// is of the group or has an order among items.
func onlyExit(loop *ir.Instr) *ir.Instr {
	var exit *ir.Instr
	for _, in := range loop.Then.Instrs {
		if leaves(in) && len(in.Results) == 0 && (stays(in.Then) || stays(in.Else)) {
			exit = in
			break
		}
		if in.Then != nil || !in.IsPure() && in.Op != ir.Load {
			return nil
		}
	}
	if exit == nil {
		return nil
	}
	outside := 0 // ways out of the loop
	inside := map[*ir.Instr]bool{}
	loop.Then.Walk(func(in *ir.Instr) {
		inside[in] = true
		switch in.Op {
		case ir.Break, ir.Continue:
			if !inside[in.Target] {
				outside++
			}
		case ir.Return, ir.Unreachable, ir.Barrier, ir.Reduce, ir.Scan, ir.Uniform, ir.Subgroup, ir.Print, ir.Call:
			exit = nil
		}
	})
	if outside != 2 { // the exit, and the continue at the end
		return nil
	}
	return exit
}

// stays reports whether a block does nothing and goes on after its instruction.
func stays(b *ir.Block) bool { return b.Terminator().Op == ir.Yield && onlyConstants(b) }

// streams reports whether a loop is worth rounds: it accesses rows that lie farther apart from one iteration to the next
// than a gang is wide, and carries few vectors for that.
func (l *analysis) streams(loop *ir.Instr) bool {
	rows, carried := 0, 0
	for _, p := range loop.Then.Params {
		if _, affine := l.affine.Strides(p); !affine && !l.uniform(p) {
			carried++
		}
	}
	loop.Then.Walk(func(in *ir.Instr) {
		if (in.Op == ir.Load || in.Op == ir.Store) && in.Array.Space == ir.Global && l.leaps(in, loop) {
			rows++
		}
	})
	return rows > 0 && carried <= 2*rows
}

// leapingLoads returns how many loads of a loop are of rows that lie apart from one iteration to the next.
func (l *analysis) leapingLoads(loop *ir.Instr) int {
	rows := 0
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Load && in.Array.Space == ir.Global && l.leaps(in, loop) {
			rows++
		}
	})
	return rows
}

// leaps reports whether an access is of a row that lies farther from that of the next iteration than a gang is wide.
func (l *analysis) leaps(in, loop *ir.Instr) bool {
	r := in.Resolve()
	apart, step, far := int64(0), int64(0), false
	for i := range r.Strides {
		v := in.Args[i]
		s, ok := l.affine.Strides(v)
		if !ok || s[0] != 0 && r.Inner[i] > 0 {
			return false
		}
		apart += int64(s[0]) * int64(r.Strides[i])
		d, known := l.step(v, loop, 0)
		far = far || !known || d != 0 && r.Inner[i] > 0
		step += d * int64(r.Strides[i])
	}
	size := int64(r.Scalar.Size())
	return apart == size && (far || max(step, -step) > size*int64(l.gang()))
}

// beginRounds emits a loop in rounds, up to where gangs go on by themselves, and gives what the parameters have then.
func (l *builder) beginRounds(loop, exit *ir.Instr) entry {
	params := loop.Then.Params
	r := &rounds{loop: loop, exit: exit, leave: l.NewLabel(), rows: l.leapingLoads(loop)}
	if r.turns = turns(loop, r.rows); r.rows > 1 && r.turns == manyTurns && l.fetchesRounds(r) && l.Target.Bytes() < lineBytes {
		r.turns = someTurns // short rounds leave longer rows to a batch, of which vectors of half a line load less at once
	}
	r.params = entry{make([]value, len(params)), l.followed(loop, nil)}
	first := entry{make([]value, len(params)), make([]vcode.Reg, len(params))}
	for i, p := range params {
		first.values[i] = l.valueOf(loop.Args[i], p)
		if r.params.shadows[i] == 0 {
			r.params.values[i] = l.variable(p)
		} else {
			first.shadows[i] = l.shadow(loop.Args[i])
		}
	}
	l.assignEntry(r.params, first, params)
	gathers := l.gathers()
	l.barrier(0)

	alone, waiting, end := l.NewLabel(), len(l.resumes), l.end
	frame, n := vcode.Phys(abi.Frame), l.NewGPR()
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	l.Jump(amd64.JNE, alone)
	if gathers {
		l.batch, r.ended = r, l.NewLabel()
		l.end, l.dead = r.ended, r.ended
		l.gatherGroups(r, alone)
	} else {
		l.Def(amd64.MOV, n.G8(), vcode.CtxMem(abi.CtxAlive, 8).At())
		l.Use(amd64.CMP, n.G8(), vcode.CtxMem(abi.CtxGangs, 8).At())
		l.Jump(amd64.JNE, alone)
	}

	top, scopes := l.NewLabel(), l.scopes
	s := &scope{in: loop, end: r.leave, params: r.params.values, next: r.params.values, shadows: r.params.shadows}
	l.round, l.scopes = r, append(l.scopes, s)
	l.BeginFrames()
	l.Bind(top)
	over := l.NewLabel()
	if c := l.counterOf(r); c != nil {
		each, mark := l.NewLabel(), len(l.undo)
		l.testRound(r, c, each)
		r.tested = c
		l.iterations(r, s)
		l.Jump(amd64.JMP, over)
		r.tested = nil
		l.forget(mark)
		l.Bind(each)
	}
	l.iterations(r, s)
	l.Bind(over)
	l.Mark(vcode.KindBarrier)
	l.Mod(amd64.ADD, frame, vcode.CtxMem(abi.CtxFrameSize, 8).At())
	l.Use(amd64.CMP, frame, vcode.CtxMem(abi.CtxEnd, 8).At())
	l.Jump(amd64.JB, top)
	if gathers {
		l.roundOfBatch(top)
	} else {
		l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	}
	l.poll()
	l.Jump(amd64.JMP, top)
	l.Mark(vcode.KindLoopEnd)
	if gathers {
		l.dissolve(r, waiting, alone)
		l.end, l.dead = end, end
		l.Mark(vcode.KindBarrier)
	} else {
		l.Bind(r.leave)
		l.Def(amd64.MOV, frame, vcode.CtxMem(abi.CtxFrame, 8).At())
	}
	l.Bind(alone)
	l.round, l.scopes = nil, scopes

	from := entry{slices.Clone(r.params.values), r.params.shadows}
	for i, p := range params {
		if from.shadows[i] != 0 {
			from.values[i] = value{vec: l.fromShadow(p, from.shadows[i])}
		}
	}
	return from
}

// iterations emits the iterations of the present gang in a round.
func (l *builder) iterations(r *rounds, s *scope) {
	params := r.loop.Then.Params
	r.now = entry{r.params.values, slices.Clone(r.params.shadows)}
	if c := r.tested; c != nil {
		r.now.shadows[c.param] = c.first
		l.wide[c.first] = c.first
	}
	for r.further = r.turns - 1; r.further >= 0; r.further-- {
		for i, p := range params {
			l.set(p, r.now.values[i])
			l.vals[p.ID].shadow = r.now.shadows[i]
		}
		s.latch = l.NewLabel()
		l.block(r.loop.Then)
		l.Bind(s.latch)
	}
}

// assignEntry assigns what a loop's parameters have to variables, all at once.
func (l *builder) assignEntry(to, from entry, params []*ir.Value) {
	values, vars, list := []value(nil), []value(nil), []*ir.Value(nil)
	for i, p := range params {
		if to.shadows[i] == 0 {
			vars, values, list = append(vars, to.values[i]), append(values, from.values[i]), append(list, p)
		} else {
			vars, values, list = append(vars, value{g: to.shadows[i]}), append(values, value{g: from.shadows[i]}), append(list, p)
		}
	}
	l.assignAll(vars, values, list, nil)
}

// nextInRound keeps what the next iteration of a loop in rounds has where it is, if the gang does it in the same round.
func (l *builder) nextInRound(in *ir.Instr) bool {
	r := l.round
	if r == nil || in.Target != r.loop || r.further == 0 {
		return false
	}
	next := entry{make([]value, len(in.Args)), make([]vcode.Reg, len(in.Args))}
	for i, a := range in.Args {
		if r.now.shadows[i] == 0 {
			next.values[i] = l.valueOf(a, r.loop.Then.Params[i])
		} else {
			next.shadows[i] = l.shadow(a)
		}
	}
	if c := r.tested; c != nil {
		l.wide[next.shadows[c.param]] = next.shadows[c.param] // it does not wrap
	}
	r.now = next
	return true
}

// leaveRounds emits the If by which lanes leave a loop in rounds.
func (l *builder) leaveRounds(in *ir.Instr) {
	r, leave := l.round, l.round.leave
	if r.tested != nil {
		return
	}
	if r.further < r.turns-1 {
		leave = l.NewLabel()
	}
	v, stay := in.Args[0], stays(in.Then)
	switch {
	case l.uniform(v):
		l.branch(v, leave, !stay)
	case stay && l.leaveAbove(v.Def, leave):
	default:
		l.branchSome(l.outcome(v, !stay, nil, nil), leave)
	}
	if leave != r.leave {
		l.Cold(func() {
			l.Bind(leave)
			l.assignEntry(r.params, r.now, r.loop.Then.Params)
			l.Jump(amd64.JMP, r.leave)
		})
	}
}

// leaveAbove emits the exit for the condition that what grows from lane to lane is below a bound, by what the last lane
// has. Where the sum wraps lanes may still go on, by themselves.
func (l *builder) leaveAbove(test *ir.Instr, leave amd64.Label) bool {
	if test == nil || test.Op != ir.Lt && test.Op != ir.Le || test.Args[0].Type != ir.I32 {
		return false
	}
	v, bound := test.Args[0], test.Args[1]
	s, affine := l.affine.Strides(v)
	if !affine || s[0] < 0 || int64(s[0]) > vcode.MaxPeel || !l.hasShadow(v, 0) || !l.uniform(bound) {
		return false
	}
	if in := bound.Def; test.Op == ir.Lt && in != nil && in.Op == ir.Extent {
		l.leaveBeyond(v, in, s[0], leave)
		return true
	}
	last := l.NewGPR()
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: l.wideIndex(l.shadow(v), ir.I32), Disp: s[0] * int32(l.gang()-1)}.At())
	if c, ok := smallConst(bound); ok {
		l.Use(amd64.CMP, last.G8(), vcode.Imm(c))
	} else {
		l.Use(amd64.CMP, last.G8(), l.wideIndex(l.general(bound), ir.I32).G8())
	}
	if test.Op == ir.Lt {
		l.Jump(amd64.JGE, leave)
	} else {
		l.Jump(amd64.JG, leave)
	}
	return true
}

// leaveBeyond emits the exit for the condition that what grows by step from lane to lane is below an extent. Where it is
// negative lanes leave, too, so that it is a valid index of that extent in those that stay.
func (l *builder) leaveBeyond(v *ir.Value, extent *ir.Instr, step int32, leave amd64.Label) {
	first, last := l.NewGPR(), l.NewGPR()
	l.Def(amd64.MOV, first.G4(), l.shadow(v).G4())
	l.Def(amd64.LEA, last.G8(), vcode.Mem{Base: first, Disp: step * int32(l.gang()-1)}.At())
	axis := -1 - extent.Axis
	l.Use(amd64.CMP, last.G8(), l.extentMem(extent.Array, axis, 8).At())
	l.Jump(amd64.JAE, leave)
	if !l.options.Unchecked {
		l.passed(checkKey{v.ID, extent.Array.ID, axis})
	}
}
