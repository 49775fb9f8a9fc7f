package analysis

import (
	"math"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Work bounds the number of instructions per item. Every loop of the kernel has a counter, whose step is known before the launch,
// and whose limit has an upper bound by then.
type Work struct {
	instrs int64 // outside loops
	loops  []loopWork
}

// loopWork is the work of a loop whose counter starts at or above first and increases by step while it is below limit.
type loopWork struct {
	counter     *ir.Value
	first, step int64
	by          *ir.Value                               // the step if it is not a constant
	limit       func(value func(*ir.Value) int64) int64 // an upper bound of the limit, from the values of launch parameters
	body        Work
}

// FindWork returns the bound for a kernel, or nil if a loop has none or an item may call the host.
func FindWork(k *ir.Kernel) *Work {
	w := &Work{}
	if !w.add(k.Body, StructureOf(k)) {
		return nil
	}
	return w
}

// add adds the instructions of a block, which may be nil. It returns false if there is no bound.
func (w *Work) add(b *ir.Block, s *Structure) bool {
	if b == nil {
		return true
	}
	for _, in := range b.Instrs {
		w.instrs++
		if in.Op == ir.Call {
			return false // waits for the host
		}
		if in.Op != ir.Loop {
			if !w.add(in.Then, s) || !w.add(in.Else, s) {
				return false
			}
			continue
		}
		l, ok := s.counted(in)
		if !ok || !l.body.add(in.Then, s) {
			return false
		}
		w.loops = append(w.loops, l)
	}
	return true
}

// counted returns the counter of a loop that ends at a limit with a bound before the launch. The result has no body yet. counted
// returns false for other loops.
func (s *Structure) counted(loop *ir.Instr) (l loopWork, ok bool) {
	for _, in := range loop.Then.Instrs {
		if slices.ContainsFunc(s.Continues[loop], func(c *ir.Instr) bool { return s.Around(in, c) }) {
			return l, false // an iteration may skip the rest
		}
		if in.Op != ir.If || !EndsIn(in.Then, ir.Yield) || !leaves(in.Else, loop, s) {
			continue
		}
		if l, ok = s.limited(loop, in.Args[0]); ok {
			return l, true
		}
	}
	return l, false
}

// limited returns the counter of a loop that continues while a condition holds. Either operand of a conjunction may contain
// the limit. It returns false for conditions without a counter and a limit.
func (s *Structure) limited(loop *ir.Instr, v *ir.Value) (l loopWork, ok bool) {
	cond := v.Def
	switch {
	case cond == nil:
		return l, false
	case cond.Op == ir.And && v.Type == ir.Bool:
		if l, ok = s.limited(loop, cond.Args[0]); !ok {
			l, ok = s.limited(loop, cond.Args[1])
		}
		return l, ok
	case cond.Op != ir.Lt:
		return l, false
	}
	counter, limit := cond.Args[0], cond.Args[1]
	c := s.LoopOf[counter]
	if c.Loop != loop || counter.Type != ir.I32 || s.greatest(limit, func(*ir.Value) int64 { return 0 }) == math.MaxInt32 {
		return l, false
	}
	first, known := least(loop.Args[c.I])
	l = loopWork{counter: counter, first: first, limit: func(value func(*ir.Value) int64) int64 { return s.greatest(limit, value) }}
	if step, steady := s.Step(loop, c.I); steady {
		l.step = step
		return l, known && step >= 1
	}
	l.by = s.stepBeforeLaunch(loop, c.I)
	return l, known && l.by != nil
}

// stepBeforeLaunch returns the value, known before the launch, that every continue of a loop adds to its parameter i. It returns nil if
// there is none.
func (s *Structure) stepBeforeLaunch(loop *ir.Instr, i int) (step *ir.Value) {
	p := loop.Then.Params[i]
	for _, c := range s.Continues[loop] {
		d := c.Args[i].Def
		if d == nil || d.Op != ir.Add {
			return nil
		}
		by := d.Args[0]
		if by == p {
			by = d.Args[1]
		} else if d.Args[1] != p {
			return nil
		}
		if !s.beforeLaunch(by) || step != nil && step != by {
			return nil
		}
		step = by
	}
	return step
}

// least returns a lower bound of an i32 that is a constant or an Item, such as a coordinate or a size. It returns false for
// other values.
func least(v *ir.Value) (int64, bool) {
	if n, ok := ConstInt(v); ok {
		return n, true
	}
	return 0, v.Type == ir.I32 && v.Def != nil && v.Def.Op == ir.Item
}

// greatest returns an upper bound of v, or the greatest i32 if none is known. The function value returns the values of constants and
// launch parameters, for which beforeLaunch is true.
func (s *Structure) greatest(v *ir.Value, value func(*ir.Value) int64) int64 {
	if v.Type != ir.I32 {
		return math.MaxInt32
	}
	if s.beforeLaunch(v) {
		return value(v)
	}
	d := v.Def
	if d == nil {
		return math.MaxInt32
	}
	operand := func(i int) int64 { return s.greatest(d.Args[i], value) }
	switch d.Op {
	case ir.Min:
		return min(operand(0), operand(1))
	case ir.Max:
		return max(operand(0), operand(1))
	case ir.Select:
		return max(operand(1), operand(2))
	case ir.Div:
		if by, ok := ConstInt(d.Args[1]); ok && by >= 1 {
			return max(operand(0), 0) / by
		}
	case ir.Shr:
		if by, ok := ConstInt(d.Args[1]); ok && by >= 0 && by < 32 {
			return operand(0) >> by
		}
	}
	return math.MaxInt32
}

// beforeLaunch reports whether a value is an i32 that is known before the launch: a constant, a scalar parameter, an extent of a
// buffer, or a size of the launch or its groups.
func (s *Structure) beforeLaunch(v *ir.Value) bool {
	if v.Type != ir.I32 {
		return false
	}
	switch in := v.Def; {
	case in == nil:
		return s.LoopOf[v].Loop == nil // a scalar parameter of the kernel
	case in.Op == ir.Item:
		return in.Item == ir.GlobalSize || in.Item == ir.GroupSize || in.Item == ir.NumGroups
	default:
		return in.Op == ir.Const || in.Op == ir.Extent && in.Array.Space == ir.Global
	}
}

// Instrs returns the bound for a launch, or the greatest int64 if a counter may wrap or the bound is too large. The function value
// returns the values of the constants and launch parameters on which the loops' limits and steps depend.
func (w *Work) Instrs(value func(*ir.Value) int64) int64 { return w.bound(value, value) }

// bound returns the bound for launches in which limitOf and stepOf return the values on which the limits and steps of the loops
// depend. It returns the greatest int64 if a counter may wrap, or the bound is too large.
func (w *Work) bound(limitOf, stepOf func(*ir.Value) int64) int64 {
	n := w.instrs
	for i := range w.loops {
		l := &w.loops[i]
		limit, step := l.limit(limitOf), l.step
		if l.by != nil {
			step = stepOf(l.by)
		}
		if step < 1 || limit > math.MaxInt32-step {
			return math.MaxInt64 // the counter may wrap
		}
		trips := max(limit-l.first, 0)/step + 2
		body := l.body.bound(limitOf, stepOf)
		if body > math.MaxInt64/2/trips || n > math.MaxInt64/2-body*trips {
			return math.MaxInt64
		}
		n += body * trips
	}
	return n
}

// BriefLoops reports for each loop whether an item is known to execute no more than most instructions each time that it runs the
// loop. It reports false if the step of the loop, or of a loop in it, is not a constant. Loops without a bound by [FindWork]
// have no entry.
func BriefLoops(k *ir.Kernel, most int64) map[*ir.Instr]bool {
	s, brief := StructureOf(k), map[*ir.Instr]bool{}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Loop {
			return
		}
		l, ok := s.counted(in)
		if !ok || !l.body.add(in.Then, s) {
			return
		}
		w := Work{loops: []loopWork{l}}
		brief[in] = w.bound(inAnyLaunch, func(*ir.Value) int64 { return 0 }) <= most
	})
	return brief
}

// inAnyLaunch returns the value of a constant, or the greatest value of a launch parameter.
func inAnyLaunch(v *ir.Value) int64 {
	if n, ok := ConstInt(v); ok {
		return n
	}
	return math.MaxInt32
}

// CountersUp returns the counters of loops that are known to start at 0 or above, to increase by a constant, and not to wrap.
func CountersUp(k *ir.Kernel) map[*ir.Value]bool {
	s, up := StructureOf(k), map[*ir.Value]bool{}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Loop {
			return
		}
		if l, ok := s.counted(in); ok && l.first >= 0 && l.by == nil && l.limit(inAnyLaunch) <= math.MaxInt32-l.step+1 {
			up[l.counter] = true
		}
	})
	return up
}
