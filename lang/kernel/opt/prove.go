package opt

import (
	"math"
	"slices"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// Prove finds the index and divisor checks that cannot fail. It sets [ir.Instr.Proved] to their bits, and clears the bits of
// other checks. It propagates intervals of integers, and relations a ≤ b + c between integers, extents and sizes, through
// arithmetic, conditions and loops. It reports whether a bit changed. facts may be nil.
func Prove(k *ir.Kernel, facts *Facts) bool {
	p := newProver(k, facts)
	p.block(k.Body)
	changed := false
	k.Body.Walk(func(in *ir.Instr) {
		var proved uint32
		if analysis.Checks(in) != 0 {
			proved = p.proofs[in]
		}
		if proved != in.Proved {
			in.Proved = proved
			changed = true
		}
	})
	return changed
}

// term is a side of a relation: an extent, the launch's size on an axis, or a value.
type term struct {
	v     *ir.Value // a value, or nil
	array *ir.Array // an extent of this buffer, if not nil
	axis  int       // axis of the extent or size
	size  bool      // the launch's size
}

func termOf(v *ir.Value) term {
	if v.Def != nil {
		switch in := v.Def; {
		case in.Op == ir.Extent:
			return term{array: in.Array, axis: in.Axis}
		case in.Op == ir.Item && in.Item == ir.GlobalSize:
			return term{size: true, axis: in.Axis}
		}
	}
	return term{v: v}
}

// slot returns the index of a term in the table of known facts.
func (p *prover) slot(t term) int {
	switch {
	case t.v != nil:
		return t.v.ID
	case t.array != nil:
		return p.k.NumValues() + ir.MaxRank*t.array.ID + t.axis
	}
	return p.k.NumValues() + ir.MaxRank*len(p.k.Arrays) + t.axis
}

// knowledge holds the known facts of a term.
type knowledge struct {
	interval
	bounded bool    // the interval is known
	upper   []bound // upper bounds
}

// entry is a saved fact in the undo log.
type entry struct {
	slot int
	old  knowledge
}

// bound states that a term is at most another term plus a constant.
type bound struct {
	of   term
	plus int64
}

type prover struct {
	k      *ir.Kernel
	s      *analysis.Structure
	proofs map[*ir.Instr]uint32 // proofs of instructions with checks

	// Current facts, by slot. Changes are undone at the end of their block.
	known []knowledge
	trail []entry // facts before the changes, in order

	loops  map[*ir.Instr]*loopGuess
	steps  map[*ir.Value]steps      // by loop parameter
	out    map[*ir.Instr][]interval // by structured instruction: intervals of the results, from the edges so far
	around []*ir.Instr              // structured instructions around the current position
	visits int                      // remaining visits of instructions, after which loops are analysed without assumptions

	granted []IndexFact // facts that hold in the launches

	products map[*ir.Array][]*ir.Value // products of all extents of an array

	// Optional results; those not asked for are nil.
	wanted  map[*ir.Instr][]SizeFact         // by access: facts about sizes that would prove further checks
	asks    map[*ir.Instr][]IndexFact        // by access: facts about indices that would prove further checks
	doubts  map[*ir.Instr]Doubt              // unproved bounds of accesses
	movable map[*ir.Instr]map[*ir.Instr]bool // by loop: see findMovable

	wrap *wrapSearch // not nil in a search for operations that wrap
}

func newProver(k *ir.Kernel, facts *Facts) *prover {
	p := &prover{k: k, s: analysis.StructureOf(k), proofs: map[*ir.Instr]uint32{}, known: make([]knowledge, k.NumValues()+ir.MaxRank*(len(k.Arrays)+1)),
		loops: map[*ir.Instr]*loopGuess{}, steps: map[*ir.Value]steps{}, out: map[*ir.Instr][]interval{}, visits: 10000}
	k.Body.Walk(func(*ir.Instr) { p.visits += 40 })
	if facts == nil {
		facts = &Facts{}
	}
	for axis := range 3 {
		size := interval{1, math.MaxInt32} // at least one item is running
		if facts.MaxSize > 0 {
			size.hi = int64(facts.MaxSize)
		}
		if n := facts.Size[axis]; n > 0 {
			size = exactly(int64(n))
		}
		p.begin(term{size: true, axis: axis}, size)
	}
	p.granted, p.products = facts.Index, productsOf(k)
	byName := map[string]*ir.Array{}
	for _, a := range k.Arrays {
		if a.Space != ir.Global {
			continue
		}
		byName[a.Name] = a
		for axis := range a.Rank {
			extent := interval{0, math.MaxInt32}
			if facts.MaxExtent > 0 {
				extent.hi = int64(facts.MaxExtent)
			}
			if dims := facts.Extents[a.Name]; len(dims) == a.Rank {
				extent = exactly(int64(dims[axis]))
			}
			p.begin(term{array: a, axis: axis}, extent)
		}
	}
	for _, w := range facts.Within {
		if a := byName[w.Buffer]; a != nil {
			size := &p.known[p.slot(term{size: true, axis: w.Axis})]
			size.upper = append(size.upper, bound{term{array: a, axis: w.Extent}, 0})
		}
	}
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op == ir.Item && in.Item == ir.LocalID && facts.GroupSize[in.Axis] > 0 {
			p.begin(term{v: in.Results[0]}, interval{0, int64(facts.GroupSize[in.Axis]) - 1})
		}
	})
	return p
}

// begin sets the interval of a term that holds everywhere.
func (p *prover) begin(t term, r interval) {
	known := &p.known[p.slot(t)]
	known.interval, known.bounded = r, true
}

// of returns the known facts of a term.
func (p *prover) of(t term) *knowledge { return &p.known[p.slot(t)] }

// rangeOf returns the known interval of a value: its type's range if nothing else is known.
func (p *prover) rangeOf(v *ir.Value) interval {
	if n, ok := analysis.ConstInt(v); ok {
		return exactly(n)
	}
	r := full(v.Type)
	if known := p.of(termOf(v)); known.bounded {
		r = known.interval
	}
	if p.wrap != nil {
		if c, ok := p.wrap.claimed(v); ok {
			r = r.meet(c)
		}
	}
	return r
}

// narrow adds the fact that a term is in an interval.
func (p *prover) narrow(t term, to interval) {
	if s, ok := p.steps[t.v]; ok {
		to = s.tighten(to)
	}
	known := p.of(t)
	if known.bounded {
		to = known.meet(to)
		if to == known.interval {
			return
		}
	}
	p.remember(t)
	known.interval, known.bounded = to, true
}

// remember saves the facts of a term for undo.
func (p *prover) remember(t term) {
	at := p.slot(t)
	p.trail = append(p.trail, entry{at, p.known[at]})
}

// maxBounds is the maximum number of relations per term.
const maxBounds = 8

func (p *prover) relate(t term, b bound) {
	known := p.of(t)
	if n := len(known.upper); n < maxBounds && t != b.of {
		p.remember(t)
		known.upper = append(known.upper[:n:n], b)
	}
}

func (p *prover) undo(mark int) {
	for len(p.trail) > mark {
		last := &p.trail[len(p.trail)-1]
		p.known[last.slot] = last.old
		p.trail = p.trail[:len(p.trail)-1]
	}
}

// atMost records a ≤ b + c.
func (p *prover) atMost(a, b *ir.Value, c int64) {
	if narrow := widened(a); narrow != nil && a.Type == ir.I64 {
		p.atMost(narrow, b, c)
	}
	ra, rb := p.rangeOf(a), p.rangeOf(b)
	if hi, ok := addOK(rb.hi, c); ok && !isConst(a) {
		p.narrow(termOf(a), interval{ra.lo, min(ra.hi, hi)})
	}
	if lo, ok := addOK(ra.lo, -c); ok && !isConst(b) {
		p.narrow(termOf(b), interval{max(rb.lo, lo), rb.hi})
	}
	if !isConst(a) && !isConst(b) {
		p.relate(termOf(a), bound{termOf(b), c})
	}
}

// unequal records a ≠ b if one of them is a constant at an end of the other's interval.
func (p *prover) unequal(a, b *ir.Value) {
	if isConst(a) {
		a, b = b, a
	}
	n, ok := analysis.ConstInt(b)
	if r := p.rangeOf(a); ok && !isConst(a) {
		switch n {
		case r.lo:
			p.narrow(termOf(a), interval{r.lo + 1, r.hi})
		case r.hi:
			p.narrow(termOf(a), interval{r.lo, r.hi - 1})
		}
	}
}

// productsOf returns, by buffer of several axes, the i64 values that are the product of all its extents, or nil if there are
// none. They do not wrap: the elements are in memory, and if an extent is 0, the product of the two others is below 2^62.
func productsOf(k *ir.Kernel) map[*ir.Array][]*ir.Value {
	var products map[*ir.Array][]*ir.Value
	k.Body.Walk(func(in *ir.Instr) {
		if in.Op != ir.Mul || in.Type() != ir.I64 {
			return
		}
		var axes []int
		a := extentsIn(in.Results[0], &axes)
		slices.Sort(axes)
		if a == nil || a.Space != ir.Global || len(axes) != a.Rank || len(slices.Compact(axes)) != a.Rank {
			return
		}
		if products == nil {
			products = map[*ir.Array][]*ir.Value{}
		}
		products[a] = append(products[a], in.Results[0])
	})
	return products
}

// extentsIn returns the array of which v is an extent, or a product of extents, in i64. It returns nil for other values. It
// appends the axes of the extents that it meets to axes.
func extentsIn(v *ir.Value, axes *[]int) *ir.Array {
	if v.Def == nil || v.Type != ir.I64 || len(*axes) >= ir.MaxRank {
		return nil
	}
	if w := widened(v); w != nil && w.Def != nil && w.Def.Op == ir.Extent {
		*axes = append(*axes, w.Def.Axis)
		return w.Def.Array
	}
	if v.Def.Op != ir.Mul {
		return nil
	}
	a := extentsIn(v.Def.Args[0], axes)
	if a == nil || extentsIn(v.Def.Args[1], axes) != a {
		return nil
	}
	return a
}

func isConst(v *ir.Value) bool { return v.Def != nil && v.Def.Op == ir.Const }

// assume derives facts from a condition that has the value is. depth is the number of operators around cond; beyond 8 it does
// nothing.
func (p *prover) assume(cond *ir.Value, is bool, depth int) {
	in := cond.Def
	if in == nil || depth > 8 {
		return
	}
	switch in.Op {
	case ir.Not:
		p.assume(in.Args[0], !is, depth+1)
	case ir.And, ir.Or:
		if is == (in.Op == ir.And) {
			p.assume(in.Args[0], is, depth+1)
			p.assume(in.Args[1], is, depth+1)
		}
	case ir.If: // a && b is false if a is false, a || b is true if a is true
		for i, r := range in.Results {
			if r != cond {
				continue
			}
			short, long := in.Else, in.Then
			if !is {
				short, long = long, short
			}
			if !analysis.EndsIn(short, ir.Yield) || !analysis.EndsIn(long, ir.Yield) {
				return
			}
			given := short.Terminator().Args[i]
			c, ok := analysis.ConstBits(given)
			if given == in.Args[0] || ok && (c == 1) != is { // the short arm yields the condition itself, or the constant !is
				p.assume(in.Args[0], is, depth+1)
				p.assume(long.Terminator().Args[i], is, depth+1)
			}
		}
	case ir.Lt, ir.Le, ir.Eq, ir.Ne:
		a, b := in.Args[0], in.Args[1]
		if p.wrap != nil && a.Type.IsFloat() {
			p.wrap.assume(in.Op, a, b, is)
		}
		if !tracked(a.Type) {
			return
		}
		switch {
		case in.Op == ir.Eq && is || in.Op == ir.Ne && !is:
			p.atMost(a, b, 0)
			p.atMost(b, a, 0)
		case in.Op == ir.Eq || in.Op == ir.Ne:
			p.unequal(a, b)
		case in.Op == ir.Lt && is:
			p.atMost(a, b, -1)
		case in.Op == ir.Lt:
			p.atMost(b, a, 0)
		case in.Op == ir.Le && is:
			p.atMost(a, b, 0)
		case in.Op == ir.Le:
			p.atMost(b, a, -1)
		}
	}
}

// below reports whether the facts prove that t + c is less than the term than. depth is the maximum number of relations to use.
func (p *prover) below(t term, c int64, than term, depth int) bool {
	if t == than {
		return c < 0
	}
	known := p.of(t)
	if limit := p.of(than); known.bounded && limit.bounded {
		if hi, ok := addOK(known.hi, c); ok && hi < limit.lo {
			return true
		}
	}
	if depth == 0 {
		return false
	}
	for _, b := range known.upper {
		if sum, ok := addOK(c, b.plus); ok && p.below(b.of, sum, than, depth-1) {
			return true
		}
	}
	return false
}

// maxChain is the maximum number of relations in a proof.
const maxChain = 4

// proved returns the proof bits of an instruction at the current position. For an access it also renews its entries of
// p.wanted, p.asks and p.doubts, as far as these are asked for.
func (p *prover) proved(in *ir.Instr) uint32 {
	switch in.Op {
	case ir.Div, ir.Rem:
		d := in.Args[1]
		if !d.Type.IsInt() {
			return 0
		}
		if c, ok := analysis.ConstBits(d); ok && c != 0 {
			return ir.ProvedDivisor
		}
		if r := p.rangeOf(d); tracked(d.Type) && (r.lo > 0 || r.hi < 0) {
			return ir.ProvedDivisor
		}
	case ir.Load, ir.Store, ir.Atomic:
		// an instruction is analysed again if an assumption about an enclosing loop fails
		delete(p.wanted, in)
		delete(p.asks, in)
		var bits uint32
		var doubt Doubt
		for i, extent := range in.Resolve().Extents {
			v := in.Args[i]
			switch below := p.belowExtent(v, in.Array, extent); {
			case below && p.rangeOf(v).lo >= 0 || p.grants(in, v, extent, below):
				bits |= 1 << i
			case below:
				doubt.Negative |= 1 << i
				if p.doubts != nil && p.onlyWraps(v, maxOperands) {
					doubt.Wrapped |= 1 << i
				}
			default:
				if p.rangeOf(v).lo < 0 {
					doubt.Either |= 1 << i
				}
				if p.wanted != nil {
					p.want(in, v, extent)
				}
			}
		}
		if p.doubts != nil {
			p.doubts[in] = doubt
		}
		return bits
	}
	return 0
}

// belowExtent reports whether index v of an array is proved to be less than its extent, an entry of [ir.Resolved.Extents].
func (p *prover) belowExtent(v *ir.Value, a *ir.Array, extent int) bool {
	r := p.rangeOf(v)
	if !tracked(v.Type) {
		return false
	}
	switch {
	case extent >= 0:
		return r.hi < int64(extent)
	case extent == ir.Flat && a.Rank > 1:
		n := int64(1)
		for axis := range a.Rank {
			m, ok := mulOK(n, p.of(term{array: a, axis: axis}).lo)
			if !ok {
				return false
			}
			n = m
		}
		if r.hi < n || isConst(v) {
			return r.hi < n
		}
		return slices.ContainsFunc(p.products[a], func(n *ir.Value) bool { return p.below(termOf(v), 0, termOf(n), maxChain) })
	case extent == ir.Flat:
		extent = -1
	}
	than := term{array: a, axis: -1 - extent}
	if isConst(v) {
		return r.hi < p.of(than).lo
	}
	return p.below(termOf(v), 0, than, maxChain)
}

func (p *prover) block(b *ir.Block) {
	for _, in := range b.Instrs {
		p.visits--
		if analysis.Checks(in) != 0 {
			p.proofs[in] = p.proved(in)
		}
		switch in.Op {
		case ir.Region, ir.If, ir.Loop:
			p.structured(in)
		case ir.Yield:
			p.bring(p.around[len(p.around)-1], in.Args)
		case ir.Break:
			p.bring(in.Target, in.Args)
		case ir.Continue:
			p.carry(in)
		default:
			if len(in.Results) == 1 && tracked(in.Type()) {
				p.compute(in, in.Results[0])
				if p.wrap != nil {
					p.wrap.learned(in, in.Results[0])
				}
			}
		}
	}
}

// bring joins the intervals of an edge's operands, args, with those of the results of to, in p.out.
func (p *prover) bring(to *ir.Instr, args []*ir.Value) {
	old, had := p.out[to]
	now := make([]interval, len(args))
	for i, a := range args {
		if tracked(a.Type) {
			now[i] = p.rangeOf(a)
			if had {
				now[i] = now[i].join(old[i])
			}
		}
	}
	p.out[to] = now
}

func (p *prover) structured(in *ir.Instr) {
	mark := len(p.trail)
	p.around = append(p.around, in)
	delete(p.out, in)
	switch in.Op {
	case ir.Region:
		p.block(in.Then)
	case ir.If:
		p.assume(in.Args[0], true, 0)
		p.block(in.Then)
		p.undo(mark)
		p.assume(in.Args[0], false, 0)
		p.block(in.Else)
	case ir.Loop:
		p.loop(in)
	}
	p.undo(mark)
	p.around = p.around[:len(p.around)-1]
	if out, ok := p.out[in]; ok {
		for i, r := range in.Results {
			if tracked(r.Type) {
				p.narrow(term{v: r}, out[i])
				if p.wrap != nil {
					p.wrap.seen[r] = p.rangeOf(r)
				}
			}
		}
	}
	if in.Op == ir.If { // if only one branch continues, the condition holds from here on
		yes, no := analysis.EndsIn(in.Then, ir.Yield), analysis.EndsIn(in.Else, ir.Yield)
		if yes != no {
			p.assume(in.Args[0], yes, 0)
		}
	}
}
