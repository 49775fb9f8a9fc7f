package opt

import (
	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// loopGuess is the assumption about the parameters of a loop while its body is analysed: an interval for each. It holds for the
// initial values, and must hold for the operands of every continue.
type loopGuess struct {
	ranges []interval
	falls  []bool // assumed never to be greater than the initial value; recorded as a relation
	failed []bool

	brought []interval // intervals from the continues, in a search for operations that wrap; nil if there was none
}

// loop analyses the body with assumed intervals of its parameters. It widens failed assumptions and repeats, and finally
// assumes the full range of the type. A search for operations that wrap then narrows the intervals; see [wrapSearch.refine].
func (p *prover) loop(in *ir.Instr) {
	p.findMovable(in)
	params := in.Then.Params
	g := &loopGuess{ranges: make([]interval, len(params))}
	p.loops[in] = g
	initial := make([]interval, len(params))
	for i, v := range params {
		if tracked(v.Type) {
			initial[i] = p.rangeOf(in.Args[i])
			p.findSteps(in, i)
		}
	}
	mark := len(p.trail)
	final := lastAttempt // attempt without assumptions about parameters
	if p.wrap != nil {
		p.wrap.forget(params)
		final += 2 // parameters without failed assumptions keep their intervals longer
	}
	for attempt := 0; ; attempt++ {
		if p.visits < 0 {
			attempt = final
		}
		for i, v := range params {
			if tracked(v.Type) && (attempt == 0 || attempt == final || g.failed[i]) {
				g.ranges[i] = p.guess(in, i, initial[i], attempt)
			}
		}
		g.failed = make([]bool, len(params))
		g.falls = make([]bool, len(params))
		for i, v := range params {
			if tracked(v.Type) {
				p.narrow(term{v: v}, g.ranges[i])
				if g.falls[i] = p.descends(in, i, g.ranges[i], initial[i]); g.falls[i] {
					p.relate(term{v: v}, bound{termOf(in.Args[i]), 0})
				}
			}
		}
		delete(p.out, in)
		g.brought = nil
		p.block(in.Then)
		p.undo(mark)
		done := true
		for _, f := range g.failed {
			done = done && !f
		}
		if done {
			break
		}
	}
	if p.wrap == nil || p.visits < 0 {
		return
	}
	g.falls = make([]bool, len(params))
	p.wrap.refine(in, g, initial, func() {
		for i, v := range params {
			if tracked(v.Type) {
				p.narrow(term{v: v}, g.ranges[i])
				p.wrap.seen[v] = g.ranges[i]
			}
		}
		delete(p.out, in)
		g.brought = nil
		p.block(in.Then)
		p.undo(mark)
	})
}

// steps states that an integer differs from first by a multiple of size, a power of two. Wrapping preserves this property.
type steps struct{ first, size int64 }

// findSteps records the steps of parameter i of a loop if it has a constant initial value and constant increments, all of them even.
func (p *prover) findSteps(loop *ir.Instr, i int) {
	first, ok := analysis.ConstInt(loop.Args[i])
	all := int64(0)
	for _, c := range p.s.Continues[loop] {
		by, known := analysis.Increase(c.Args[i], loop.Then.Params[i])
		ok = ok && known
		all |= by
	}
	if size := all & -all; ok && size > 1 {
		p.steps[loop.Then.Params[i]] = steps{first, size}
	}
}

// tighten returns the part of an interval between its first and last members of the progression, or r if there are none.
func (s steps) tighten(r interval) interval {
	lo := r.lo + (s.first-r.lo)&(s.size-1)
	hi := r.hi - (r.hi-s.first)&(s.size-1)
	if lo > hi {
		return r
	}
	return interval{lo, hi}
}

// lastAttempt is the index of the first attempt without assumptions. It is also the last, except in a search for operations that
// wrap.
const lastAttempt = 2

// guess returns the interval of a loop's parameter i that an attempt assumes. initial is that of its initial value. Later attempts
// assume less, and from lastAttempt on nothing.
func (p *prover) guess(loop *ir.Instr, i int, initial interval, attempt int) interval {
	all := full(loop.Then.Params[i].Type)
	if attempt >= lastAttempt {
		return all
	}
	up, down := p.direction(loop, i)
	switch {
	case up && down:
		return initial
	case up && attempt == 0:
		return interval{initial.lo, all.hi}
	case down && attempt == 0:
		return interval{all.lo, initial.hi}
	case initial.lo >= 0 && attempt == 0: // such as a stride that is halved
		return interval{0, initial.hi}
	case initial.lo >= 0:
		return interval{0, all.hi}
	}
	return all
}

// direction reports whether the continues are known never to decrease parameter i of a loop (up), and never to increase it
// (down). Wraps do not count.
func (p *prover) direction(loop *ir.Instr, i int) (up, down bool) {
	up, down = true, true
	for _, c := range p.s.Continues[loop] {
		by, ok := analysis.Increase(c.Args[i], loop.Then.Params[i])
		up, down = up && ok && by >= 0, down && ok && by <= 0
	}
	return up, down
}

// descends reports whether parameter i of a loop is known only to decrease, so that its initial value may be assumed as an
// upper bound. The interval supposed may contain values that wrapped to the top of the type. Whether wrapping is possible,
// [prover.carry] checks.
func (p *prover) descends(loop *ir.Instr, i int, supposed, initial interval) bool {
	_, down := p.direction(loop, i)
	return down && supposed.hi == initial.hi && supposed.hi < full(loop.Then.Params[i].Type).hi && !isConst(loop.Args[i])
}

// carry checks the assumption about a loop against the operands of a continue.
func (p *prover) carry(in *ir.Instr) {
	g := p.loops[in.Target]
	if p.wrap != nil {
		g.brought = p.wrap.bring(g.brought, in.Args)
	}
	for i, a := range in.Args {
		if tracked(a.Type) && (!p.rangeOf(a).within(g.ranges[i]) || g.falls[i] && p.wraps(a, in.Target.Then.Params[i])) {
			g.failed[i] = true
		}
	}
}

// wraps reports whether a decreasing parameter's next value, sum, may have wrapped to the top of the type. The range considered
// as wrapped grows with the step.
func (p *prover) wraps(sum, param *ir.Value) bool {
	by, ok := analysis.Increase(sum, param)
	if !ok {
		return true
	}
	_, ok = addRange(param.Type, p.rangeOf(param), exactly(by))
	return !ok && p.rangeOf(sum).hi > full(param.Type).hi+by
}

// findMovable records the loads and divisions with invariant operands in a loop, and whether they cannot fail at its entry. It does
// nothing if p.movable is nil, and finds none once p.visits is negative.
func (p *prover) findMovable(loop *ir.Instr) {
	if p.movable == nil {
		return
	}
	p.movable[loop] = nil // drops what was found under an outer loop's failed assumption
	if p.visits < 0 {
		return
	}
	found := map[*ir.Instr]bool{}
	loop.Then.Walk(func(in *ir.Instr) {
		p.visits--
		if in.Op != ir.Load && in.Op != ir.Div && in.Op != ir.Rem {
			return
		}
		for _, a := range in.Args {
			if !p.s.Invariant(a, loop) {
				return
			}
		}
		found[in] = analysis.Checks(in)&^p.proved(in) == 0
	})
	p.movable[loop] = found
}
