package isel

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/lanes"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/values"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// Scope is a structured instruction around the current position.
type Scope struct {
	In       *ir.Instr
	diverges bool
	join     []vcode.Reg // the lanes that reach its end, if some lanes may jump elsewhere
	act      []vcode.Reg // divergent loop: the lanes that have not left it
	End      amd64.Label // the label of its end
	Latch    amd64.Label // loop: the label before its next iteration
	results  []values.Value
	Params   []values.Value
	Next     []values.Value // the variables that a Continue assigns: the parameters, or others that are copied to them
	from     values.Entry   // interleaved loop: the parameters after its rounds; empty for other instructions
	Lane0s   []vcode.Reg    // loop: the registers of the parameters' lane-0 values, 0 for none; nil if no parameter has one
	assigned bool           // an edge has set the results
	yields   []vcode.Reg    // If: the mask at the only edge to the end, if soleEdge has found one, else nil
	steps    []vcode.Reg    // divergent loop: the increments of the results that are counters; see countResults
	overrun  bool           // divergent loop: the rest of an iteration may run without active lanes
}

// structured emits a Region, If or Loop. An If that is the exit of the interleaved loop is emitted by package grid.
func (l *Lowerer) structured(in *ir.Instr) {
	if l.Interleaved != nil && in == l.Interleaved.Exit {
		l.Grid.LeaveInterleaved(in)
		return
	}
	s := &Scope{In: in, diverges: l.Uniform.Diverges(in), End: l.NewLabel()}
	if in.Op == ir.Loop {
		if exit := l.Grid.Interleaves(in); exit != nil {
			s.from = l.Grid.BeginInterleaved(in, exit)
		}
	}
	for _, r := range in.Results {
		v := l.Variable(r)
		s.results = append(s.results, v)
		if s.diverges { // each edge to the end assigns the results under a mask
			for _, reg := range v.Regs() {
				l.Declare(reg)
			}
		}
	}
	entry, dead := l.Cur, l.Dead
	sole := l.soleEdge(s)
	if sole == nil && l.divertsSome(in) {
		s.join = l.CopyMask(entry)
	}
	l.Scopes = append(l.Scopes, s)
	switch in.Op {
	case ir.Region:
		if s.diverges {
			l.Dead = s.End
		}
		l.Block(in.Then)
	case ir.If:
		if s.diverges || sole != nil {
			l.divergentIf(s, entry, sole)
		} else {
			l.uniformIf(s)
		}
	case ir.Loop:
		l.loop(s)
	}
	l.Scopes = l.Scopes[:len(l.Scopes)-1]
	l.Bind(s.End)
	l.Dead = dead
	switch {
	case s.yields != nil:
		l.Cur = s.yields
	case s.join != nil:
		l.Cur = s.join
	default:
		l.Cur = entry
	}
	if s.join != nil && l.fallsThrough(in) {
		l.leaveIfEmpty(l.Cur)
	}
	for i, r := range in.Results {
		l.Set(r, s.results[i])
	}
}

// fallsThrough reports whether control can reach the end of a structured instruction.
func (l *Lowerer) fallsThrough(in *ir.Instr) bool {
	for i, b := range []*ir.Block{in.Then, in.Else} {
		if l.jumps[in].arms[i].breaks || in.Op != ir.Loop && b != nil && b.Terminator().Op == ir.Yield {
			return true
		}
	}
	return false
}

// divertsSome reports whether some lanes, but not all, may jump from within an instruction to a place other than its end.
func (l *Lowerer) divertsSome(in *ir.Instr) bool {
	j := l.jumps[in]
	return j.diverts || j.parts || j.returns && slices.ContainsFunc(l.Scopes, func(s *Scope) bool { return s.diverges })
}

// soleEdge returns the only block of an If that reaches its end, or nil. The other block must end with a jump, and the sole
// one must have no other exits. The If must be divergent, or the exit of a divergent loop.
func (l *Lowerer) soleEdge(s *Scope) *ir.Block {
	in := s.In
	if in.Op != ir.If {
		return nil
	}
	sole, other := in.Then, in.Else
	its, others := &l.jumps[in].arms[0], &l.jumps[in].arms[1]
	if sole.Terminator().Op != ir.Yield {
		sole, other, its, others = other, sole, others, its
	}
	if sole.Terminator().Op != ir.Yield || other.Terminator().Op == ir.Yield {
		return nil
	}
	if its.jumps || others.breaks || !s.diverges && l.leavesLoop(s.In, sole, l.Scopes) == nil {
		return nil
	}
	return sole
}

// uniformIf emits an If with a uniform condition.
func (l *Lowerer) uniformIf(s *Scope) {
	in := s.In
	els := l.NewLabel()
	entry := l.Cur
	if len(in.Then.Instrs) == 1 && in.Then.Terminator().Op == ir.Yield && len(in.Results) == 0 {
		l.Branch(in.Args[0], s.End, true)
		l.Block(in.Else)
		return
	}
	l.Branch(in.Args[0], els, false)
	l.Block(in.Then)
	l.Bind(els)
	l.Cur = entry
	l.Block(in.Else)
}

// divergentIf emits an If that is divergent, or the exit of a divergent loop. entry is the mask before the If, and sole the result of
// soleEdge.
func (l *Lowerer) divergentIf(s *Scope, entry []vcode.Reg, sole *ir.Block) {
	in := s.In
	if loop := l.leavesLoop(in, sole, l.Scopes[:len(l.Scopes)-1]); loop != nil {
		l.exit(s, loop, sole)
		return
	}
	same, varying := l.Split(in.Args[0], true)
	els := l.NewLabel()
	trivial := len(in.Else.Instrs) == 1 && in.Else.Terminator().Op == ir.Yield && len(in.Results) == 0
	needed := !trivial || sole == in.Else
	mark := len(l.Undo)
	whole := false
	if !needed && sole == nil && entry == nil {
		if whole = l.unmaskedIf(in, same, varying, els); whole {
			same = nil // unmaskedIf has tested the uniform terms
			l.Forget(mark)
		}
	}
	one := !needed && sole == nil && entry == nil && len(same) == 0 && len(varying) == 1 && l.skipUnlessOne(varying[0].Def, els)
	cond, rest := l.NewMasks(l.GangRegs), []vcode.Reg(nil)
	if needed {
		rest = l.NewMasks(l.GangRegs)
	}
	if len(same) > 0 {
		none := l.NewLabel()
		for _, v := range same {
			l.Branch(v, none, false)
		}
		l.Cold(func() {
			l.Bind(none)
			for i := range cond {
				l.Def(amd64.KXORW, cond[i].K(), cond[i].K(), cond[i].K())
				switch {
				case needed && entry == nil:
					l.Full(rest[i])
				case needed:
					l.Def(amd64.KMOVW, rest[i].K(), entry[i].K())
				}
			}
			l.Jump(amd64.JMP, els)
		})
	}
	under := entry
	for _, v := range varying {
		l.Outcome(v, true, under, cond)
		under = cond
	}
	for i := range rest {
		if entry == nil {
			l.Def(amd64.KNOTW, rest[i].K(), cond[i].K())
		} else {
			l.Def(amd64.KANDNW, rest[i].K(), cond[i].K(), entry[i].K())
		}
	}
	l.Cur, l.Dead = cond, els
	if !one && !l.IsCheap(in.Then) {
		l.BranchEmpty(cond, els)
	}
	l.Block(in.Then)
	l.Bind(els)
	if one || whole {
		l.Forget(mark) // other gangs skip the definitions of these values
	}
	l.Cur, l.Dead = rest, s.End
	if !trivial {
		if !l.IsCheap(in.Else) {
			l.BranchEmpty(rest, s.End)
		}
		l.Block(in.Else)
	}
	switch sole {
	case nil:
	case in.Then:
		s.yields = cond
	case in.Else:
		s.yields = rest
	}
	if sole != nil {
		s.join = s.yields
	}
}

// skipUnlessOne emits a jump to skip for gangs without the item that test selects, such as g.local.x == 0. It reports whether
// test has this form: an i32 that grows by 1 from lane to lane is tested to equal a uniform one. Otherwise, or if the lane-0
// value of the former is not in a register, it emits nothing.
func (l *Lowerer) skipUnlessOne(test *ir.Instr, skip amd64.Label) bool {
	if test == nil || test.Op != ir.Eq || test.Args[0].Type != ir.I32 {
		return false
	}
	v, number := test.Args[0], test.Args[1]
	if l.IsUniform(v) {
		v, number = number, v
	}
	s, affine := l.Affine.Strides(v)
	if !affine || s[0] != 1 || l.Spec.Is2D() && s[1] != 0 || !l.HasLane0(v, 0) || !l.IsUniform(number) {
		return false
	}
	lane := l.NewGPR()
	l.Def(amd64.MOV, lane.G4(), l.General(number).G4())
	l.Mod(amd64.SUB, lane.G4(), l.Lane0(v).G4())
	l.Use(amd64.CMP, lane.G4(), vcode.Imm(int64(l.Lanes())))
	l.Jump(amd64.JAE, skip)
	return true
}

// leavesLoop returns the divergent loop that an If leaves, or nil. One arm may contain only constants and a break from the
// loop. The other one, sole, reaches the end of the If; if sole is nil, the result is nil. All lanes that have not left the
// loop must be active. scopes are those around the If, outermost first.
func (l *Lowerer) leavesLoop(in *ir.Instr, sole *ir.Block, scopes []*Scope) *Scope {
	if sole == nil {
		return nil
	}
	other := in.Else
	if sole == other {
		other = in.Then
	}
	last := other.Terminator()
	if last.Op != ir.Break || last.Target.Op != ir.Loop {
		return nil
	}
	if !analysis.OnlyConstants(other) {
		return nil
	}
	for i := len(scopes) - 1; i >= 0; i-- {
		switch p := scopes[i]; {
		case p.In == last.Target:
			if lanes.SameMask(p.act, l.Cur) {
				return p
			}
			return nil
		case p.join != nil || p.act != nil:
			return nil
		}
	}
	return nil
}

// exit emits an If that leaves a loop. loop is the result of leavesLoop, and sole the arm that stays in the loop. If the condition
// varies, all active lanes assign the results of the loop: those that stay assign them again later. The mask of the loop is narrowed in
// place.
func (l *Lowerer) exit(s, loop *Scope, sole *ir.Block) {
	in := s.In
	stay := sole == in.Then
	leave := in.Else
	if !stay {
		leave = in.Then
	}
	all := l.NewLabel() // all lanes leave
	if v := in.Args[0]; l.IsUniform(v) {
		l.Branch(v, all, !stay)
		l.Cold(func() {
			l.Bind(all)
			mark := len(l.Undo)
			l.edgeUnder(loop, leave.Terminator(), loop.act)
			l.Forget(mark)
			l.Remove(loop.act, nil)
			l.Jump(amd64.JMP, loop.End)
		})
	} else {
		l.edgeUnder(loop, leave.Terminator(), loop.act)
		same, varying := l.Split(v, stay)
		for _, v := range same {
			l.Branch(v, all, false)
		}
		if len(same) > 0 {
			l.Cold(func() {
				l.Bind(all)
				l.Remove(loop.act, nil)
				l.Jump(amd64.JMP, loop.End)
			})
		}
		for _, v := range varying {
			l.Outcome(v, stay, loop.act, loop.act)
		}
		if !loop.overrun {
			l.BranchEmpty(loop.act, l.Dead)
		}
	}
	s.yields = loop.act
	l.Cur = loop.act
	l.Block(sole)
}

// loop emits a Loop. In a divergent loop the mask s.act holds the lanes that have not left it.
func (l *Lowerer) loop(s *Scope) {
	in := s.In
	s.Latch = l.NewLabel()
	top := l.NewLabel()
	simple := analysis.ContinuesOnlyAtEnd(in)
	args := make([]values.Value, len(in.Args))
	for i, p := range in.Then.Params {
		s.Params = append(s.Params, l.Variable(p))
		if s.from.Values != nil {
			args[i] = s.from.Values[i]
		} else {
			args[i] = l.ValueOf(in.Args[i], p)
		}
	}
	l.AssignAll(s.Params, args, in.Then.Params, nil)
	l.shareResults(s)
	if simple {
		l.beginLane0(s)
	}
	times := 1 // number of emitted copies of the body
	if s.diverges {
		s.act = l.CopyMask(l.Cur)
		if simple {
			l.countResults(s, args)
			if l.MayOverrun(in) {
				times = 2
			}
		}
	}
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	s.Next = slices.Clone(s.Params)
	if s.diverges && !simple {
		l.keepUniform(s)
	}
	switch {
	case s.diverges && simple:
		// Active lanes are in the same iteration, so the loop ends when no lane is active.
		l.Cur, l.Dead = s.act, s.End
	case s.diverges:
		l.Cur, l.Dead = s.act, s.Latch
	case s.join != nil:
		l.Cur = s.join
	}
	entry := l.Cur
	for n := range times {
		for i, p := range in.Then.Params {
			l.Set(p, s.Params[i])
			if s.Lane0s != nil {
				l.Vals[p.ID].Lane0 = s.Lane0s[i]
			}
		}
		if s.overrun = n < times-1; n > 0 {
			s.Latch = l.NewLabel()
		}
		l.Block(in.Then)
		l.Bind(s.Latch)
		l.Cur = entry
	}
	if s.diverges && !simple {
		l.BranchEmpty(s.act, s.End)
		l.AssignAll(s.Params, s.Next, in.Then.Params, s.act)
	}
	if s.diverges && !simple || l.Continues(in) {
		l.Poll()
		l.Jump(amd64.JMP, top)
	}
	l.Mark(vcode.KindLoopEnd)
}

// Poll emits a test of the stop flag, and a jump to Stop that is taken if it is set. The code changes RAX.
func (l *Lowerer) Poll() {
	l.Def(amd64.MOV, vcode.Phys(amd64.RAX), vcode.CtxMem(abi.CtxStop, 8).At())
	l.Use(amd64.CMP, vcode.Mem{Fixed: amd64.RAX, Size: 1}.At(), vcode.Imm(0))
	l.Jump(amd64.JNE, l.stopped())
}

// yield emits the end of a block of the innermost structured instruction.
func (l *Lowerer) yield(in *ir.Instr) {
	s := l.Scopes[len(l.Scopes)-1]
	l.edge(s, in)
	if s.In.Op == ir.If && !s.diverges || s.In.Op == ir.Region {
		l.Jump(amd64.JMP, s.End)
	}
}

// edge emits the phi copies of a Yield or Break to the results of s. They are masked if another edge may have set the results of some
// lanes.
func (l *Lowerer) edge(s *Scope, in *ir.Instr) {
	var mask []vcode.Reg
	if s.diverges && (s.assigned || l.repeats(s)) {
		mask = l.Cur
	}
	l.edgeUnder(s, in, mask)
}

// edgeUnder emits the phi copies of in to the results of s for the lanes of a mask (nil: all). Results that are counters need no copies.
func (l *Lowerer) edgeUnder(s *Scope, in *ir.Instr, mask []vcode.Reg) {
	args := make([]values.Value, len(in.Args))
	for i, a := range in.Args {
		if s.steps != nil && s.steps[i] != 0 {
			args[i] = s.results[i]
		} else {
			args[i] = l.ValueOf(a, s.In.Results[i])
		}
	}
	l.AssignAll(s.results, args, s.In.Results, mask)
	s.assigned = true
}

// repeats reports whether s, or a structured instruction between s and the current position, is a loop. Lanes may then
// reach the end of s in several iterations.
func (l *Lowerer) repeats(s *Scope) bool {
	for i := len(l.Scopes) - 1; ; i-- {
		if l.Scopes[i].In.Op == ir.Loop {
			return true
		}
		if l.Scopes[i] == s {
			return false
		}
	}
}

// leave emits a Break or a Continue.
func (l *Lowerer) leave(in *ir.Instr) {
	depth := len(l.Scopes) - 1
	for l.Scopes[depth].In != in.Target {
		depth--
	}
	s := l.Scopes[depth]
	if in.Op == ir.Break {
		l.edge(s, in)
	} else {
		if l.Grid.NextIteration(in) {
			return
		}
		args := make([]values.Value, len(in.Args))
		for i, a := range in.Args {
			args[i] = l.ValueOf(a, in.Target.Then.Params[i])
		}
		var mask []vcode.Reg
		if s.diverges && (analysis.NumContinues(in.Target) > 1 || !analysis.IsLast(in, in.Target.Then)) {
			mask = l.Cur
		}
		l.nextLane0(s, in)
		l.AssignAll(s.Next, args, in.Target.Then.Params, mask)
		l.countOn(s)
	}
	if !s.diverges {
		if in.Op == ir.Break {
			l.Jump(amd64.JMP, s.End)
		} else {
			l.Jump(amd64.JMP, s.Latch)
		}
		return
	}
	var rounds []vcode.Reg // of a Break: the mask of the loop, from which the lanes are removed
	if in.Op == ir.Break {
		rounds = s.act
	}
	l.takeFrom(depth+1, l.Cur, rounds)
	if in.Op == ir.Continue && analysis.ContinuesOnlyAtEnd(in.Target) {
		l.Jump(amd64.JMP, s.Latch)
		return
	}
	l.Jump(amd64.JMP, l.Dead)
}

// finish emits the end of the active work-items.
func (l *Lowerer) finish() {
	for _, s := range l.Scopes {
		if s.diverges {
			l.takeFrom(0, l.Cur, nil)
			l.Jump(amd64.JMP, l.Dead)
			return
		}
	}
	l.Jump(amd64.JMP, l.End)
}

// takeFrom emits the removal of the lanes in the mask lost from the mask other, and from the masks of l.Scopes from index depth
// on. A nil lost has all lanes, and other may be nil. If lost is one of these masks, it is cleared last.
func (l *Lowerer) takeFrom(depth int, lost, other []vcode.Reg) {
	kept := [][]vcode.Reg{other}
	for _, s := range l.Scopes[depth:] {
		kept = append(kept, s.join, s.act)
	}
	self := false
	for _, m := range kept {
		if lanes.SameMask(m, lost) {
			self = true
			continue
		}
		l.Remove(m, lost)
	}
	if self {
		l.Remove(lost, nil)
	}
}

// leaveIfEmpty emits a jump to Dead that is taken if no lane is in the mask m.
func (l *Lowerer) leaveIfEmpty(m []vcode.Reg) { l.BranchEmpty(m, l.Dead) }

func (l *Lowerer) stopped() amd64.Label { return l.Stop }
