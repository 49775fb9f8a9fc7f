package spmd

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/amd64"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"
)

// scope is a structured instruction around the present place.
type scope struct {
	in       *ir.Instr
	diverges bool
	join     []vcode.Reg // lanes that go on after it, if jumps to places outside take some away
	act      []vcode.Reg // of a divergent loop: lanes of the next iteration
	end      amd64.Label // after it
	latch    amd64.Label // of a loop: before its next iteration
	results  []value
	params   []value
	next     []value     // what continues assign: those of the next iteration, or the parameters themselves
	from     entry       // of a loop: what its parameters begin with
	shadows  []vcode.Reg // of a loop: the parameters' values in lane 0, where general registers have them
	assigned bool        // an edge has set the results already
	yields   []vcode.Reg // the mask at the only edge to the end, if only one is taken by any lane
	steps    []vcode.Reg // of a divergent loop: what the results that count along grow by, see countResults
	overrun  bool        // of a divergent loop: lanes may go through the rest of this iteration though none is left
}

// entry is what the parameters of a loop begin with: their values, and those in lane 0 where they are in registers.
type entry struct {
	values  []value
	shadows []vcode.Reg
}

// structured emits a Region, If or Loop.
func (l *lowerer) structured(in *ir.Instr) {
	if l.round != nil && in == l.round.exit {
		l.grid.leaveRounds(in)
		return
	}
	s := &scope{in: in, diverges: l.u.Diverges(in), end: l.NewLabel()}
	if in.Op == ir.Loop {
		if exit := l.grid.inRounds(in); exit != nil {
			s.from = l.grid.beginRounds(in, exit)
		}
	}
	for _, r := range in.Results {
		v := l.variable(r)
		s.results = append(s.results, v)
		if s.diverges { // lanes get theirs in different iterations of a loop
			for _, reg := range v.regs() {
				l.Declare(reg)
			}
		}
	}
	entry, dead := l.cur, l.dead
	sole := l.soleEdge(s)
	if sole == nil && l.takesAway(in) {
		s.join = l.copyMask(entry)
	}
	l.scopes = append(l.scopes, s)
	switch in.Op {
	case ir.Region:
		if s.diverges {
			l.dead = s.end
		}
		l.block(in.Then)
	case ir.If:
		if s.diverges || sole != nil {
			l.divergentIf(s, entry, sole)
		} else {
			l.uniformIf(s)
		}
	case ir.Loop:
		l.loop(s)
	}
	l.scopes = l.scopes[:len(l.scopes)-1]
	l.Bind(s.end)
	l.dead = dead
	switch {
	case s.yields != nil:
		l.cur = s.yields
	case s.join != nil:
		l.cur = s.join
	default:
		l.cur = entry
	}
	if s.join != nil && l.goesOn(in) {
		l.leaveIfEmpty(l.cur)
	}
	for i, r := range in.Results {
		l.set(r, s.results[i])
	}
}

// goesOn reports whether any edge leads to what follows the instruction.
func (l *lowerer) goesOn(in *ir.Instr) bool {
	found := false
	if in.Op != ir.Loop {
		for _, b := range []*ir.Block{in.Then, in.Else} {
			found = found || b != nil && b.Terminator().Op == ir.Yield
		}
	}
	(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(j *ir.Instr) { found = found || j.Op == ir.Break && j.Target == in })
	return found
}

// takesAway reports whether lanes may leave the instruction, and not all together, for somewhere other than its end.
func (l *lowerer) takesAway(in *ir.Instr) bool {
	inside := map[*ir.Instr]bool{in: true}
	found := false
	(&ir.Block{Instrs: []*ir.Instr{in}}).Walk(func(j *ir.Instr) {
		inside[j] = true
		switch j.Op {
		case ir.Break, ir.Continue:
			found = found || !inside[j.Target] && l.u.Diverges(j.Target)
		case ir.Return, ir.Unreachable:
			found = found || l.divergesWithin(in, j)
		}
	})
	return found
}

// divergesWithin reports whether one of the structured instructions around j, in or outside it, splits lanes, so that a
// return there is not of the whole gang.
func (l *lowerer) divergesWithin(in, j *ir.Instr) bool {
	for _, s := range l.scopes {
		if s.diverges {
			return true
		}
	}
	found := false
	var walk func(b *ir.Block, split bool)
	walk = func(b *ir.Block, split bool) {
		if b == nil {
			return
		}
		for _, x := range b.Instrs {
			if x == j {
				found = found || split
			}
			if x.Then != nil {
				d := split || l.u.Diverges(x)
				walk(x.Then, d)
				walk(x.Else, d)
			}
		}
	}
	walk(&ir.Block{Instrs: []*ir.Instr{in}}, false)
	return found
}

// soleEdge gives the block of an If from which alone control goes on after it, if the other one leaves and nothing within
// leaves it otherwise: of a divergent If, or of one by which all lanes leave a divergent loop.
func (l *lowerer) soleEdge(s *scope) *ir.Block {
	in := s.in
	if in.Op != ir.If {
		return nil
	}
	sole := in.Then
	other := in.Else
	if sole.Terminator().Op != ir.Yield {
		sole, other = other, sole
	}
	if sole.Terminator().Op != ir.Yield || other.Terminator().Op == ir.Yield {
		return nil
	}
	jumps := false
	sole.Walk(func(j *ir.Instr) { jumps = jumps || j.Op >= ir.Break })
	other.Walk(func(j *ir.Instr) { jumps = jumps || j.Op == ir.Break && j.Target == in })
	if jumps || !s.diverges && l.leavesLoop(s.in, sole, l.scopes) == nil {
		return nil
	}
	return sole
}

// uniformIf emits an If whose condition is the same for all lanes.
func (l *lowerer) uniformIf(s *scope) {
	in := s.in
	els := l.NewLabel()
	entry := l.cur
	if len(in.Then.Instrs) == 1 && in.Then.Terminator().Op == ir.Yield && len(in.Results) == 0 {
		l.branch(in.Args[0], s.end, true)
		l.block(in.Else)
		return
	}
	l.branch(in.Args[0], els, false)
	l.block(in.Then)
	l.Bind(els)
	l.cur = entry
	l.block(in.Else)
}

// divergentIf emits an If by masks.
func (l *lowerer) divergentIf(s *scope, entry []vcode.Reg, sole *ir.Block) {
	in := s.in
	if loop := l.leavesLoop(in, sole, l.scopes[:len(l.scopes)-1]); loop != nil {
		l.exit(s, loop, sole)
		return
	}
	same, varying := l.split(in.Args[0], true)
	els := l.NewLabel()
	trivial := len(in.Else.Instrs) == 1 && in.Else.Terminator().Op == ir.Yield && len(in.Results) == 0
	needed := !trivial || sole == in.Else
	mark := len(l.undo)
	whole := false
	if !needed && sole == nil && entry == nil {
		if whole = l.wholeIf(in, same, varying, els); whole {
			same = nil // they have been asked
			l.forget(mark)
		}
	}
	one := !needed && sole == nil && entry == nil && len(same) == 0 && len(varying) == 1 && l.skipUnlessOne(varying[0].Def, els)
	cond, rest := l.NewMasks(l.w), []vcode.Reg(nil)
	if needed {
		rest = l.NewMasks(l.w)
	}
	if len(same) > 0 {
		none := l.NewLabel()
		for _, v := range same {
			l.branch(v, none, false)
		}
		l.Cold(func() {
			l.Bind(none)
			for i := range cond {
				l.Def(amd64.KXORW, cond[i].K(), cond[i].K(), cond[i].K())
				switch {
				case needed && entry == nil:
					l.full(rest[i])
				case needed:
					l.Def(amd64.KMOVW, rest[i].K(), entry[i].K())
				}
			}
			l.Jump(amd64.JMP, els)
		})
	}
	under := entry
	for _, v := range varying {
		l.outcome(v, true, under, cond)
		under = cond
	}
	for i := range rest {
		if entry == nil {
			l.Def(amd64.KNOTW, rest[i].K(), cond[i].K())
		} else {
			l.Def(amd64.KANDNW, rest[i].K(), cond[i].K(), entry[i].K())
		}
	}
	l.cur, l.dead = cond, els
	if !one && !l.isCheap(in.Then) {
		l.branchEmpty(cond, els)
	}
	l.block(in.Then)
	l.Bind(els)
	if one || whole {
		l.forget(mark) // what was made behind the jump
	}
	l.cur, l.dead = rest, s.end
	if !trivial {
		if !l.isCheap(in.Else) {
			l.branchEmpty(rest, s.end)
		}
		l.block(in.Else)
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

// skipUnlessOne emits a jump for gangs in which no lane has a number that goes up by one from lane to lane, as is asked of
// items that do something for all of their group. It reports whether the condition is of this kind.
func (l *lowerer) skipUnlessOne(test *ir.Instr, skip amd64.Label) bool {
	if test == nil || test.Op != ir.Eq || test.Args[0].Type != ir.I32 {
		return false
	}
	v, number := test.Args[0], test.Args[1]
	if l.uniform(v) {
		v, number = number, v
	}
	s, affine := l.affine.Strides(v)
	if !affine || s[0] != 1 || l.options.stacked && s[1] != 0 || !l.hasShadow(v, 0) || !l.uniform(number) {
		return false
	}
	lane := l.NewGPR()
	l.Def(amd64.MOV, lane.G4(), l.general(number).G4())
	l.Mod(amd64.SUB, lane.G4(), l.shadow(v).G4())
	l.Use(amd64.CMP, lane.G4(), vcode.Imm(int64(l.gang())))
	l.Jump(amd64.JAE, skip)
	return true
}

// split takes a condition that is to be as said apart: into conditions that are the same for all lanes, which are all to
// be true, and others, the first of which differs between lanes. It gives nothing of the kind where that cannot be.
func (l *lowerer) split(v *ir.Value, want bool) (same, varying []*ir.Value) {
	if want {
		if in := l.vals[v.ID].test; in != nil && in.Op == ir.And && !l.uniform(v) {
			for _, a := range in.Args {
				s, w := l.split(a, true)
				same, varying = append(same, s...), append(varying, w...)
			}
			return same, varying
		}
	}
	if l.uniform(v) && want {
		return []*ir.Value{v}, nil
	}
	return nil, []*ir.Value{v}
}

// leavesLoop gives the divergent loop that one arm of an If in some scopes leaves with nothing else to do, while the other
// goes on, if the present lanes are all that go round in the loop.
func (l *lowerer) leavesLoop(in *ir.Instr, sole *ir.Block, scopes []*scope) *scope {
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
	if !onlyConstants(other) {
		return nil
	}
	for i := len(scopes) - 1; i >= 0; i-- {
		switch p := scopes[i]; {
		case p.in == last.Target:
			if p.act != nil && &p.act[0] == &l.cur[0] {
				return p
			}
			return nil
		case p.join != nil || p.act != nil:
			return nil
		}
	}
	return nil
}

// exit emits an If that lanes leave a loop by. All lanes set the loop's results: what those that go on set there is set
// again later. The loop's mask is narrowed where it is.
func (l *lowerer) exit(s, loop *scope, sole *ir.Block) {
	in := s.in
	stay := sole == in.Then
	leave := in.Else
	if !stay {
		leave = in.Then
	}
	all := l.NewLabel() // leave
	if v := in.Args[0]; l.uniform(v) {
		l.branch(v, all, !stay)
		l.Cold(func() {
			l.Bind(all)
			mark := len(l.undo)
			l.edgeUnder(loop, leave.Terminator(), loop.act)
			l.forget(mark)
			l.remove(loop.act, nil)
			l.Jump(amd64.JMP, loop.end)
		})
	} else {
		l.edgeUnder(loop, leave.Terminator(), loop.act)
		same, varying := l.split(v, stay)
		for _, v := range same {
			l.branch(v, all, false)
		}
		if len(same) > 0 {
			l.Cold(func() {
				l.Bind(all)
				l.remove(loop.act, nil)
				l.Jump(amd64.JMP, loop.end)
			})
		}
		for _, v := range varying {
			l.outcome(v, stay, loop.act, loop.act)
		}
		if !loop.overrun {
			l.branchEmpty(loop.act, l.dead)
		}
	}
	s.yields = loop.act
	l.cur = loop.act
	l.block(sole)
}

// isCheap reports whether a block costs little more than to find out that no lane takes part in it.
func (l *analysis) isCheap(b *ir.Block) bool {
	if len(b.Instrs) > 4 {
		return false
	}
	for _, in := range b.Instrs[:len(b.Instrs)-1] {
		if in.Op > ir.Select && in.Op != ir.Eq && in.Op != ir.Ne && in.Op != ir.Lt && in.Op != ir.Le || in.Op == ir.Div ||
			in.Op == ir.Rem || in.Op == ir.Sqrt || in.Op == ir.Math {
			return false
		}
	}
	t := b.Terminator()
	return t.Op == ir.Yield || t.Op == ir.Break && l.u.Diverges(t.Target)
}

// loop emits a Loop.
func (l *lowerer) loop(s *scope) {
	in := s.in
	s.latch = l.NewLabel()
	top := l.NewLabel()
	simple := onlyLast(in)
	args := make([]value, len(in.Args))
	for i, p := range in.Then.Params {
		s.params = append(s.params, l.variable(p))
		if s.from.values != nil {
			args[i] = s.from.values[i]
		} else {
			args[i] = l.valueOf(in.Args[i], p)
		}
	}
	l.assignAll(s.params, args, in.Then.Params, nil)
	l.shareResults(s)
	if simple {
		l.beginShadows(s)
	}
	times := 1 // the body
	if s.diverges {
		s.act = l.copyMask(l.cur)
		if simple {
			l.countResults(s, args)
			if l.mayOverrun(in) {
				times = 2
			}
		}
	}
	l.Mark(vcode.KindLoopBegin)
	l.Bind(top)
	s.next = slices.Clone(s.params)
	if s.diverges && !simple {
		l.keepUniform(s)
	}
	switch {
	case s.diverges && simple:
		// Lanes go round together: without any left, none goes on.
		l.cur, l.dead = s.act, s.end
	case s.diverges:
		l.cur, l.dead = s.act, s.latch
	case s.join != nil:
		l.cur = s.join
	}
	entry := l.cur
	for n := range times {
		for i, p := range in.Then.Params {
			l.set(p, s.params[i])
			if s.shadows != nil {
				l.vals[p.ID].shadow = s.shadows[i]
			}
		}
		if s.overrun = n < times-1; n > 0 {
			s.latch = l.NewLabel()
		}
		l.block(in.Then)
		l.Bind(s.latch)
		l.cur = entry
	}
	if s.diverges && !simple {
		l.branchEmpty(s.act, s.end)
		l.assignAll(s.params, s.next, in.Then.Params, s.act)
	}
	if s.diverges && !simple || l.continues(in) {
		l.poll()
		l.Jump(amd64.JMP, top)
	}
	l.Mark(vcode.KindLoopEnd)
}

func (l *analysis) continues(loop *ir.Instr) bool {
	found := false
	loop.Then.Walk(func(in *ir.Instr) { found = found || in.Op == ir.Continue && in.Target == loop })
	return found
}

// poll ends the gangs if the launch is to stop.
func (l *lowerer) poll() {
	l.Def(amd64.MOV, vcode.Phys(amd64.RAX), vcode.CtxMem(abi.CtxStop, 8).At())
	l.Use(amd64.CMP, vcode.Mem{Fixed: amd64.RAX, Size: 1}.At(), vcode.Imm(0))
	l.Jump(amd64.JNE, l.stopped())
}

// yield ends a block of the innermost structured instruction.
func (l *lowerer) yield(in *ir.Instr) {
	s := l.scopes[len(l.scopes)-1]
	l.edge(s, in)
	if s.in.Op == ir.If && !s.diverges || s.in.Op == ir.Region {
		l.Jump(amd64.JMP, s.end)
	}
}

// edge assigns the results of a structured instruction.
func (l *lowerer) edge(s *scope, in *ir.Instr) {
	var mask []vcode.Reg
	if s.diverges && (s.assigned || l.repeats(s)) {
		mask = l.cur
	}
	l.edgeUnder(s, in, mask)
}

// edgeUnder assigns them for the lanes of a mask.
func (l *lowerer) edgeUnder(s *scope, in *ir.Instr, mask []vcode.Reg) {
	args := make([]value, len(in.Args))
	for i, a := range in.Args {
		if s.steps != nil && s.steps[i] != 0 {
			args[i] = s.results[i]
		} else {
			args[i] = l.valueOf(a, s.in.Results[i])
		}
	}
	l.assignAll(s.results, args, s.in.Results, mask)
	s.assigned = true
}

// repeats reports whether lanes may come to the end of a scope in several iterations of a loop in it, or that it is.
func (l *lowerer) repeats(s *scope) bool {
	for i := len(l.scopes) - 1; ; i-- {
		if l.scopes[i].in.Op == ir.Loop {
			return true
		}
		if l.scopes[i] == s {
			return false
		}
	}
}

// leave emits a Break or a Continue.
func (l *lowerer) leave(in *ir.Instr) {
	depth := len(l.scopes) - 1
	for l.scopes[depth].in != in.Target {
		depth--
	}
	s := l.scopes[depth]
	if in.Op == ir.Break {
		l.edge(s, in)
	} else {
		if l.grid.nextInRound(in) {
			return
		}
		args := make([]value, len(in.Args))
		for i, a := range in.Args {
			args[i] = l.valueOf(a, in.Target.Then.Params[i])
		}
		var mask []vcode.Reg
		if s.diverges && (numContinues(in.Target) > 1 || !isLast(in, in.Target.Then)) {
			mask = l.cur
		}
		l.nextShadows(s, in)
		l.assignAll(s.next, args, in.Target.Then.Params, mask)
		l.countOn(s)
	}
	if !s.diverges {
		if in.Op == ir.Break {
			l.Jump(amd64.JMP, s.end)
		} else {
			l.Jump(amd64.JMP, s.latch)
		}
		return
	}
	var rounds []vcode.Reg // lanes of the next iteration
	if in.Op == ir.Break {
		rounds = s.act
	}
	l.takeFrom(depth+1, l.cur, rounds)
	if in.Op == ir.Continue && onlyLast(in.Target) {
		l.Jump(amd64.JMP, s.latch)
		return
	}
	l.Jump(amd64.JMP, l.dead)
}

// onlyLast reports whether a loop has one continue, which ends its body.
func onlyLast(loop *ir.Instr) bool {
	last := loop.Then.Terminator()
	return last.Op == ir.Continue && last.Target == loop && numContinues(loop) == 1
}

func numContinues(loop *ir.Instr) int {
	n := 0
	loop.Then.Walk(func(in *ir.Instr) {
		if in.Op == ir.Continue && in.Target == loop {
			n++
		}
	})
	return n
}

// isLast reports whether nothing of a loop's body comes after its continue.
func isLast(in *ir.Instr, b *ir.Block) bool {
	if b.Terminator() == in {
		return true
	}
	if len(b.Instrs) < 2 {
		return false
	}
	switch last := b.Instrs[len(b.Instrs)-2]; last.Op {
	case ir.If:
		return isLast(in, last.Else)
	case ir.Region:
		return isLast(in, last.Then)
	}
	return false
}

// finish emits the end of the work-items.
func (l *lowerer) finish() {
	for _, s := range l.scopes {
		if s.diverges {
			l.takeFrom(0, l.cur, nil)
			l.Jump(amd64.JMP, l.dead)
			return
		}
	}
	l.Jump(amd64.JMP, l.end)
}

// takeFrom takes lanes out of all that the structured instructions from a depth on keep for later, and out of another
// mask. One of them may be the mask of the lanes itself, which is emptied last.
func (l *lowerer) takeFrom(depth int, lost, other []vcode.Reg) {
	kept := [][]vcode.Reg{other}
	for _, s := range l.scopes[depth:] {
		kept = append(kept, s.join, s.act)
	}
	self := false
	for _, m := range kept {
		if lost != nil && m != nil && m[0] == lost[0] {
			self = true
			continue
		}
		l.remove(m, lost)
	}
	if self {
		l.remove(lost, nil)
	}
}

// remove takes lanes out of a mask that is a variable, all if they are nil.
func (l *lowerer) remove(from, lost []vcode.Reg) {
	for i := range from {
		if lost == nil {
			l.Def(amd64.KXORW, from[i].K(), from[i].K(), from[i].K())
		} else {
			l.Def(amd64.KANDNW, from[i].K(), lost[i].K(), from[i].K())
		}
	}
}

// copyMask makes a variable with the lanes of a mask.
func (l *lowerer) copyMask(m []vcode.Reg) []vcode.Reg {
	out := l.NewMasks(l.w)
	for i := range out {
		if m == nil {
			l.full(out[i])
		} else {
			l.Def(amd64.KMOVW, out[i].K(), m[i].K())
		}
	}
	return out
}

// full sets all bits of a mask.
func (l *lowerer) full(m vcode.Reg) { l.Def(amd64.KXNORW, m.K(), m.K(), m.K()) }

// branchEmpty goes to a label if no lane is in the mask.
func (l *lowerer) branchEmpty(m []vcode.Reg, to amd64.Label) {
	if m == nil {
		return
	}
	some := l.NewLabel()
	for i := 0; i < len(m); i += 2 {
		j := min(i+1, len(m)-1)
		l.Use(amd64.KORTESTW, m[i].K(), m[j].K())
		if j == len(m)-1 {
			l.Jump(amd64.JE, to)
		} else {
			l.Jump(amd64.JNE, some)
		}
	}
	l.Bind(some)
}

// branchSome goes to a label if some lane is in the mask.
func (l *lowerer) branchSome(m []vcode.Reg, to amd64.Label) {
	for i := 0; i < len(m); i += 2 {
		l.Use(amd64.KORTESTW, m[i].K(), m[min(i+1, len(m)-1)].K())
		l.Jump(amd64.JNE, to)
	}
}

// leaveIfEmpty leaves the present block if no lane is left.
func (l *lowerer) leaveIfEmpty(m []vcode.Reg) { l.branchEmpty(m, l.dead) }
