package opt

import (
	"math"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Launches bounds the sizes and arguments of a kernel's launches, for [Wraps]. Unlike [Facts] it may be an assumption.
type Launches struct {
	Size      [3]int64            // maximum number of items on each axis
	GroupSize [3]int64            // maximum number of items per group on each axis
	Extents   map[string][]int64  // maximum extents of buffers by name, outermost first; those of missing buffers are unknown
	Scalars   map[string][2]int64 // minimum and maximum of parameters; a missing one is unknown

	// Trips is the maximum trip count of a loop whose bound is unknown; 0 means no maximum.
	Trips int64
	// Margin is the minimum distance of a 32-bit integer of unknown origin, such as a loaded one, from the limits of its type.
	// A u32 may still be 0.
	Margin int64
}

// Wraps returns the sums, differences, products, quotients, negations and absolute values that may overflow i32, u32 or i64. The
// set also has each [ir.Wrap] to u32 of an integer that may be negative, of a u64, or of a float. If launches is nil, Wraps assumes
// nothing about them. ok is false if the kernel is too large to analyse exactly: the set may then have many operations that
// cannot overflow.
func Wraps(k *ir.Kernel, launches *Launches) (set map[*ir.Instr]bool, ok bool) {
	p := newProver(k, nil)
	w := &wrapSearch{p: p, found: map[*ir.Instr]bool{}, seen: map[*ir.Value]interval{}, claims: map[*ir.Value]*claim{}, reals: map[*ir.Value]interval{}}
	p.wrap = w
	p.visits += wrapVisits
	if launches != nil {
		w.trips, w.margin = launches.Trips, launches.Margin
		w.suppose(k, launches)
	}
	p.block(k.Body)
	return w.found, p.visits >= 0
}

// wrapVisits is added to a prover's limit of instruction visits in a search for operations that wrap. The search needs more: each
// nesting level of loops multiplies the visits by at least three. Kernels such as convolutions have up to eight levels.
const wrapVisits = 400_000

// wrapSearch is a prover's state for the search of operations that wrap.
type wrapSearch struct {
	p      *prover
	found  map[*ir.Instr]bool
	seen   map[*ir.Value]interval // last interval of each value at its definition
	claims map[*ir.Value]*claim   // by loop parameter
	reals  map[*ir.Value]interval // by float parameter
	trips  int64                  // maximum trip count; 0: none
	margin int64
}

// suppose sets the intervals that hold in all launches of l: those of sizes, extents and scalar parameters. It also sets those of
// the size, position and number of groups, and of an item's position in its group and subgroup.
func (w *wrapSearch) suppose(k *ir.Kernel, l *Launches) {
	p := w.p
	for axis := range 3 {
		p.begin(term{size: true, axis: axis}, interval{1, max(l.Size[axis], 1)})
	}
	for _, a := range k.Arrays {
		if dims := l.Extents[a.Name]; a.Space == ir.Global && len(dims) == a.Rank {
			for axis, n := range dims {
				p.begin(term{array: a, axis: axis}, interval{0, n})
			}
		}
	}
	i := 0
	for _, param := range k.Params {
		if param.Array != nil {
			continue
		}
		v := k.Body.Params[i]
		i++
		switch r, ok := l.Scalars[param.Name]; {
		case !ok:
		case tracked(v.Type):
			p.begin(term{v: v}, interval{r[0], r[1]})
		case v.Type.IsFloat():
			w.reals[v] = interval{r[0], r[1]}
		}
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Item {
			return
		}
		size, group := max(l.Size[in.Axis], 1), max(l.GroupSize[in.Axis], 1)
		switch in.Item {
		case ir.LocalID:
			p.begin(term{v: in.Results[0]}, interval{0, group - 1})
		case ir.GroupSize:
			p.begin(term{v: in.Results[0]}, interval{1, group})
		case ir.GroupID:
			p.begin(term{v: in.Results[0]}, interval{0, size - 1})
		case ir.NumGroups:
			p.begin(term{v: in.Results[0]}, interval{1, size})
		case ir.Lane, ir.SubgroupSize:
			p.begin(term{v: in.Results[0]}, interval{0, 64})
		}
	})
}

// likely returns the interval that is assumed of an integer of unknown origin. For i64, and outside of a search (w is nil), it
// is the type's full one.
func (w *wrapSearch) likely(t ir.Type) interval {
	r := full(t)
	if w == nil || t == ir.I64 {
		return r
	}
	if r.hi -= w.margin; t == ir.I32 {
		r.lo += w.margin
	}
	return r
}

// learned records the interval of a result, and whether its operation may wrap. With a margin it narrows the unknown result of
// an operation that cannot wrap, such as a load, to its likely interval.
func (w *wrapSearch) learned(in *ir.Instr, v *ir.Value) {
	if isRing(in.Op) || in.Op == ir.Div {
		w.found[in] = w.wraps(in)
	} else if in.Op == ir.Wrap && v.Type == ir.U32 {
		w.found[in] = w.negative(in.Args[0])
	} else if w.margin > 0 && w.p.rangeOf(v) == full(v.Type) {
		w.p.narrow(termOf(v), w.likely(v.Type))
	}
	w.seen[v] = w.p.rangeOf(v)
}

// negative reports whether an integer may be negative. A quotient, also one in the last operand of a select, counts as negative
// only if one of its operands may be. So does a conversion of an integer.
func (w *wrapSearch) negative(v *ir.Value) bool {
	q := v.Def
	if q != nil && q.Op == ir.Select && q.Args[2].Def != nil && q.Args[2].Def.Op == ir.Div {
		q = q.Args[2].Def
	}
	switch {
	case q == nil:
	case q.Op == ir.Div:
		return w.negative(q.Args[0]) || w.negative(q.Args[1])
	case q.Op == ir.Convert && q.Args[0].Type.IsInt():
		return w.negative(q.Args[0])
	}
	return w.p.rangeOf(v).lo < 0
}

// isRing reports whether an operation returns the low bits of its exact result, which may overflow.
func isRing(op ir.Op) bool {
	return op == ir.Add || op == ir.Sub || op == ir.Mul || op == ir.Neg || op == ir.Abs
}

// wraps reports whether the result of an operation may overflow its type. It returns false if the interval of an operand is
// empty, as in code that is not reached.
func (w *wrapSearch) wraps(in *ir.Instr) bool {
	t, x := in.Type(), w.operand(in, 0)
	if x.hi < x.lo {
		return false
	}
	ok := true
	if len(in.Args) == 1 {
		switch in.Op {
		case ir.Neg:
			_, ok = subRange(t, exactly(0), x)
		case ir.Abs:
			ok = x.lo > full(t).lo
		}
		return !ok
	}
	y := w.operand(in, 1)
	if y.hi < y.lo {
		return false
	}
	switch in.Op {
	case ir.Add:
		_, ok = addRange(t, x, y)
	case ir.Sub:
		_, ok = subRange(t, x, y)
	case ir.Mul:
		_, ok = mulRange(t, x, y)
	case ir.Div:
		ok = t == ir.U32 || x.lo > full(t).lo || y.lo > -1 || y.hi < -1
	}
	return !ok
}

// operand returns the interval of an operand's mathematical value: an i32 combined with a u32 keeps its sign.
func (w *wrapSearch) operand(in *ir.Instr, i int) interval {
	return w.p.rangeOf(Signed(in.Args[i]))
}

// Signed returns the i32 from which v was converted if v is a u32, as in a sum of an i32 and a u32. Otherwise it returns v
// itself.
func Signed(v *ir.Value) *ir.Value {
	if d := v.Def; d != nil && d.Op == ir.Wrap && v.Type == ir.U32 && d.Args[0].Type == ir.I32 {
		return d.Args[0]
	}
	return v
}

// claim bounds a loop parameter: its value is in start plus, for each completed iteration, a value in by.
type claim struct {
	start, by interval
	carried   change    // changes that may assign a new start
	counter   *ir.Value // another parameter that counts the iterations, or nil
	first     interval  // initial interval of the counter
	step      int64     // minimum step of the counter; negative if it decreases
	most      int64     // maximum trip count
	bounded   bool      // most is known or assumed
	supposed  bool      // most comes from Launches.Trips
}

// rounds returns the maximum number of completed iterations of a loop whose counter starts in first and is in r. The counter grows
// by at least step or, if step is negative, falls by at least −step. It returns false if there may be too many for an i32.
func rounds(first, r interval, step int64) (int64, bool) {
	way, ok := addOK(r.hi, -first.lo)
	if step < 0 {
		way, ok = addOK(first.hi, -r.lo)
		step = -step
	}
	n := max(way, 0) / max(step, 1)
	return n, ok && n < math.MaxInt32
}

// grown returns the interval of the total change after up to n iterations, each of which adds a value of by. It returns
// false if the change overflows.
func grown(by interval, n int64) (interval, bool) {
	lo, ok1 := mulOK(min(by.lo, 0), n)
	hi, ok2 := mulOK(max(by.hi, 0), n)
	return interval{lo, hi}, ok1 && ok2
}

// after returns the interval of the parameter, of type t, after up to n iterations. It returns the type's full interval if the
// parameter may wrap.
func (c *claim) after(t ir.Type, n int64) interval {
	by, ok := grown(c.by, n)
	if ok {
		by, ok = addRange(ir.I64, by, c.start)
	}
	if !ok || !by.within(full(t)) {
		return full(t)
	}
	return by
}

// claimed returns the interval of a loop parameter by its claim at the current position. It returns false if the parameter has no
// claim, or one that is not bounded.
func (w *wrapSearch) claimed(v *ir.Value) (interval, bool) {
	c := w.claims[v]
	if c == nil || !c.bounded {
		return interval{}, false
	}
	n := c.most
	if c.counter != nil {
		if now, ok := rounds(c.first, w.p.rangeOf(c.counter), c.step); ok {
			n = min(n, now)
		}
	}
	return c.after(v.Type, n), true
}

// change describes a value of an iteration: the loop's parameter plus a value in by if hasBy is set, or a value in other if hasOther
// is set.
type change struct {
	by, other       interval
	hasBy, hasOther bool
	spent           bool // by contains the growth in an inner loop of as many iterations as Launches.Trips assumes
}

// join returns a change that holds for every value for which c or o holds.
func (c change) join(o change) change {
	if c.hasBy && o.hasBy {
		c.by = c.by.join(o.by)
	} else if o.hasBy {
		c.by, c.hasBy = o.by, true
	}
	if c.hasOther && o.hasOther {
		c.other = c.other.join(o.other)
	} else if o.hasOther {
		c.other, c.hasOther = o.other, true
	}
	c.spent = c.spent || o.spent
	return c
}

// plus adds an interval. It returns false on overflow of 64 bits.
func (c change) plus(r interval) (change, bool) {
	ok := true
	if c.hasBy {
		c.by, ok = addRange(ir.I64, c.by, r)
	}
	if c.hasOther && ok {
		c.other, ok = addRange(ir.I64, c.other, r)
	}
	return c, ok
}

// maxChange is the maximum length of a chain of operations that changeOf follows.
const maxChange = 24

// changeOf describes v, computed in an iteration, as a change of the loop's parameter param. It follows up to depth operations.
// For values that it cannot follow, the result has only their interval, as other.
func (w *wrapSearch) changeOf(v, param *ir.Value, depth int) change {
	if v == param {
		return change{hasBy: true}
	}
	plain := change{other: w.rangeSeen(v), hasOther: true}
	if depth == 0 || v.Type != param.Type || w.p.s.Invariant(v, w.p.s.LoopOf[param].Loop) {
		return plain
	}
	if c := w.claims[v]; c != nil && c.bounded { // parameter of an inner loop
		inner := w.p.s.LoopOf[v]
		from := w.changeOf(inner.Loop.Args[inner.I], param, depth-1)
		by, ok := grown(c.by, c.most)
		if !from.hasBy || !ok {
			return plain
		}
		if out, ok := from.join(c.carried).plus(by); ok {
			out.spent = out.spent || c.supposed && by != exactly(0)
			return out
		}
		return plain
	}
	in := v.Def
	if in == nil {
		return plain
	}
	either := func(a, b *ir.Value) change { return w.changeOf(a, param, depth-1).join(w.changeOf(b, param, depth-1)) }
	switch in.Op {
	case ir.Add:
		for i, a := range in.Args {
			if c := w.changeOf(a, param, depth-1); c.hasBy {
				if out, ok := c.plus(w.rangeSeen(Signed(in.Args[1-i]))); ok {
					return out
				}
			}
		}
	case ir.Sub:
		r := w.rangeSeen(Signed(in.Args[1]))
		if c := w.changeOf(in.Args[0], param, depth-1); c.hasBy && r.lo > math.MinInt64 {
			if out, ok := c.plus(interval{-r.hi, -r.lo}); ok {
				return out
			}
		}
	case ir.Or:
		if n, ok := analysis.ConstInt(in.Args[1]); ok && n == 0 {
			return w.changeOf(in.Args[0], param, depth-1)
		}
	case ir.Select:
		return either(in.Args[1], in.Args[2])
	case ir.Min, ir.Max:
		return either(in.Args[0], in.Args[1])
	case ir.If, ir.Region, ir.Loop:
		var out change
		for i, r := range in.Results {
			if r != v {
				continue
			}
			for _, end := range w.p.s.Ends(in) {
				out = out.join(w.changeOf(end.Args[i], param, depth-1))
			}
		}
		if out.hasBy || out.hasOther {
			return out
		}
	}
	return plain
}

// rangeSeen returns the interval of a value at its definition, or the current one if the definition has not been visited.
func (w *wrapSearch) rangeSeen(v *ir.Value) interval {
	if n, ok := analysis.ConstInt(v); ok {
		return exactly(n)
	}
	if r, ok := w.seen[v]; ok {
		return r
	}
	return w.p.rangeOf(v)
}

// refine analyses the body of a loop again with narrower intervals of its parameters. They come first from the operands of its
// continues, then from the trip count and the addends of sums.
func (w *wrapSearch) refine(loop *ir.Instr, g *loopGuess, initial []interval, run func()) {
	params := loop.Then.Params
	narrowed := false
	for i, v := range params {
		if !tracked(v.Type) {
			continue
		}
		r := initial[i]
		if g.brought != nil {
			r = r.join(g.brought[i])
		}
		if r != g.ranges[i] && r.within(g.ranges[i]) {
			g.ranges[i], narrowed = r, true
		}
		w.seen[v] = g.ranges[i]
	}
	if narrowed {
		run()
	}
	if !w.claim(loop, g, initial) {
		return
	}
	for i, v := range params {
		if c := w.claims[v]; c != nil && c.bounded {
			g.ranges[i] = g.ranges[i].meet(c.after(v.Type, c.most))
		}
	}
	run()
}

// claim derives claims about a loop's parameters, and reports whether one of them is stronger than the known facts.
func (w *wrapSearch) claim(loop *ir.Instr, g *loopGuess, initial []interval) bool {
	params := loop.Then.Params
	changes := make([]change, len(params))
	best, most, step := -1, int64(0), int64(0)
	for i, v := range params {
		if !tracked(v.Type) {
			continue
		}
		for _, next := range w.p.s.Continues[loop] {
			changes[i] = changes[i].join(w.changeOf(next.Args[i], v, maxChange))
		}
		c := changes[i]
		by := c.by.lo
		if by < 1 {
			by = c.by.hi
		}
		if !c.hasBy || c.hasOther || c.by.lo < 1 && c.by.hi > -1 || g.ranges[i].lo < initial[i].lo && by > 0 || g.ranges[i].hi > initial[i].hi && by < 0 {
			continue
		}
		if n, ok := rounds(initial[i], g.ranges[i], by); ok && (best < 0 || n < most) {
			best, most, step = i, n, by
		}
	}
	tells := false
	for i, v := range params {
		ch := changes[i]
		if !tracked(v.Type) || i == best || len(w.p.s.Continues[loop]) == 0 {
			continue
		}
		c := &claim{start: initial[i], by: ch.by, most: most, bounded: best >= 0}
		switch {
		case best >= 0:
			c.counter, c.first, c.step = params[best], initial[best], step
		case w.trips > 0:
			c.most, c.bounded, c.supposed = w.trips, true, true
		case ch.by == exactly(0):
			c.bounded = true
		}
		if ch.spent {
			c.most, c.counter = min(c.most, 1), nil
		}
		if ch.hasOther {
			c.start = c.start.join(ch.other)
			c.carried = change{other: ch.other, hasOther: true}
		}
		if c.bounded {
			w.claims[v] = c
			r := c.after(v.Type, c.most)
			tells = tells || r != g.ranges[i] && r.within(g.ranges[i])
		}
	}
	return tells
}

// forget drops the claims about parameters.
func (w *wrapSearch) forget(params []*ir.Value) {
	for _, v := range params {
		delete(w.claims, v)
	}
}

// bring returns the intervals of a continue's operands, joined with old, those of the loop's earlier continues. old may be nil.
func (w *wrapSearch) bring(old []interval, args []*ir.Value) []interval {
	now := make([]interval, len(args))
	for i, a := range args {
		if tracked(a.Type) {
			now[i] = w.p.rangeOf(a)
			if old != nil {
				now[i] = now[i].join(old[i])
			}
		}
	}
	return now
}

// assume records what a comparison of floats by Lt or Le implies for converted integers, such as a counter compared with a
// float parameter. is is the result of the comparison.
func (w *wrapSearch) assume(op ir.Op, a, b *ir.Value, is bool) {
	switch {
	case op == ir.Lt && is, op == ir.Le && is:
		w.below(a, b)
	case op == ir.Lt, op == ir.Le:
		w.below(b, a)
	}
}

// below records that float a is at most b, as bounds of the integers that were converted to a or to b.
func (w *wrapSearch) below(a, b *ir.Value) {
	if v := widenedInt(a); v != nil {
		if r, ok := w.real(b); ok {
			r = unrounded(a.Type, r)
			old := w.p.rangeOf(v)
			w.p.narrow(termOf(v), interval{old.lo, min(old.hi, r.hi)})
		}
	}
	if v := widenedInt(b); v != nil {
		if r, ok := w.real(a); ok {
			r = unrounded(a.Type, r)
			old := w.p.rangeOf(v)
			w.p.narrow(termOf(v), interval{max(old.lo, r.lo), old.hi})
		}
	}
}

// unrounded returns the interval of integers that a float type rounds to a number in r.
func unrounded(t ir.Type, r interval) interval {
	if t == ir.F32 { // 24 significant bits
		r.lo -= max(r.lo, -r.lo) >> 23
		r.hi += max(r.hi, -r.hi) >> 23
	}
	return r
}

// widenedInt returns the 32-bit integer that was converted to the float v, or nil if there is none or it is a constant.
func widenedInt(v *ir.Value) *ir.Value {
	if d := v.Def; d != nil && d.Op == ir.Convert && (d.Args[0].Type == ir.I32 || d.Args[0].Type == ir.U32) && !isConst(d.Args[0]) {
		return d.Args[0]
	}
	return nil
}

// real returns the interval of a float that is a parameter with known bounds, a converted integer, or a constant of a magnitude
// below 2^53. It returns false for other values.
func (w *wrapSearch) real(v *ir.Value) (interval, bool) {
	if r, ok := w.reals[v]; ok {
		return r, true
	}
	d := v.Def
	switch {
	case d == nil:
	case d.Op == ir.Convert && tracked(d.Args[0].Type):
		return w.p.rangeOf(d.Args[0]), true
	case d.Op == ir.Const:
		x := math.Float64frombits(d.Bits)
		if v.Type == ir.F32 {
			x = float64(math.Float32frombits(uint32(d.Bits)))
		}
		if math.Abs(x) < 1<<53 {
			return interval{int64(math.Floor(x)), int64(math.Ceil(x))}, true
		}
	}
	return interval{}, false
}
