package opt

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// IndexFact is a condition on a launch: the maximum of an index is below an extent. The extent is a buffer's, or a constant for an
// array in the kernel. The condition depends only on sizes and arguments, so back ends can evaluate it before the launch. If it
// holds, it proves every bounds check with that maximum. If a comparison in the kernel bounds the index, the maximum is 0 and the
// extent 1. Then only the sums and products of the index must fit.
type IndexFact struct {
	Most   Bound // maximum of the index; nil is 0
	Buffer string
	Extent int      // index of the buffer's extent, or the extent itself if Buffer is empty
	Fits   []Bound  // sums that must be at most 2^31 − 1, so that no intermediate result wraps
	Counts []string // scalar parameters that must not be negative
}

// Bound is a sum of products.
type Bound []Product

// Product is a factor times terms of the launch.
type Product struct {
	Factor int64
	Terms  []Term
}

// Term is an integer of a launch: an extent, a size or an argument.
type Term struct {
	Kind TermKind
	Axis int    // axis of sizes and extents
	Name string // name of the buffer or scalar parameter
}

// TermKind is the kind of a [Term].
type TermKind uint8

// The kinds of terms.
const (
	TermSize      TermKind = iota // launch size
	TermGroupSize                 // group size
	TermGroups                    // number of groups
	TermExtent                    // extent of a buffer, axis 0 outermost
	TermScalar                    // scalar parameter
)

// IndexFacts returns the conditions that would prove further bounds checks of the kernel, each once, in order of their texts. A
// back end may pass them to [Run] to compile a variant for launches in which they hold. facts may be nil.
func IndexFacts(k *ir.Kernel, facts *Facts) []IndexFact {
	p := newProver(k, facts)
	p.asks = map[*ir.Instr][]IndexFact{}
	p.block(k.Body)
	all := map[string]IndexFact{}
	for _, list := range p.asks {
		for _, f := range list {
			all[f.String()] = f
		}
	}
	var out []IndexFact
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[key])
	}
	return out
}

// Holds reports whether the fact holds for a launch. value returns the value that a term has in the launch. Holds returns false if
// a sum or product overflows int64.
func (f *IndexFact) Holds(value func(Term) int64) bool {
	for _, name := range f.Counts {
		if value(Term{Kind: TermScalar, Name: name}) < 0 {
			return false
		}
	}
	for _, b := range f.Fits {
		if n, ok := b.eval(value); !ok || n > math.MaxInt32 {
			return false
		}
	}
	extent := int64(f.Extent)
	if f.Buffer != "" {
		extent = value(Term{TermExtent, f.Extent, f.Buffer})
	}
	n, ok := f.Most.eval(value)
	return ok && n < extent
}

// eval returns the value of a bound, from those of its terms. It returns false if an operation overflows.
func (b Bound) eval(value func(Term) int64) (int64, bool) {
	sum := int64(0)
	for _, p := range b {
		n, ok := p.Factor, true
		for _, t := range p.Terms {
			if n, ok = mulOK(n, value(t)); !ok {
				return 0, false
			}
		}
		if sum, ok = addOK(sum, n); !ok {
			return 0, false
		}
	}
	return sum, true
}

// maxProducts is the maximum number of products in a sum.
const maxProducts = 12

func compareTerms(a, b Term) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Axis, b.Axis), cmp.Compare(a.Name, b.Name))
}

// normal sorts the products, merges those with equal terms, and drops those with the factor 0. It returns false if a factor
// overflows or more than maxProducts remain.
func (b Bound) normal() (Bound, bool) {
	slices.SortFunc(b, func(x, y Product) int { return slices.CompareFunc(x.Terms, y.Terms, compareTerms) })
	var out Bound
	for _, p := range b {
		if n := len(out); n > 0 && slices.Equal(out[n-1].Terms, p.Terms) {
			sum, ok := addOK(out[n-1].Factor, p.Factor)
			if !ok {
				return nil, false
			}
			out[n-1].Factor = sum
			continue
		}
		out = append(out, p)
	}
	out = slices.DeleteFunc(out, func(p Product) bool { return p.Factor == 0 })
	return out, len(out) <= maxProducts
}

func (b Bound) plus(o Bound) (Bound, bool) { return append(slices.Clone(b), o...).normal() }

// times returns the product of two bounds. It returns false if a factor overflows, or if the result has too many products.
func (b Bound) times(o Bound) (Bound, bool) {
	var out Bound
	for _, x := range b {
		for _, y := range o {
			n, ok := mulOK(x.Factor, y.Factor)
			if !ok {
				return nil, false
			}
			terms := append(slices.Clone(x.Terms), y.Terms...)
			slices.SortFunc(terms, compareTerms)
			out = append(out, Product{n, terms})
		}
	}
	return out.normal()
}

func number(n int64) Bound { return Bound{{Factor: n}} }

// String returns the term as text, such as size.x, or "n" for a parameter and "x".0 for an extent.
func (t Term) String() string {
	switch t.Kind {
	case TermExtent:
		return strconv.Quote(t.Name) + "." + strconv.Itoa(t.Axis)
	case TermScalar:
		return strconv.Quote(t.Name)
	}
	return [...]string{"size", "groupsize", "groups"}[t.Kind] + "." + "xyz"[t.Axis:t.Axis+1]
}

// String returns the sum as a formula.
func (b Bound) String() string {
	if len(b) == 0 {
		return "0"
	}
	var out strings.Builder
	for i, p := range b {
		if i > 0 {
			out.WriteString(" + ")
		}
		out.WriteString(strconv.FormatInt(p.Factor, 10))
		for _, t := range p.Terms {
			out.WriteString("*" + t.String())
		}
	}
	return out.String()
}

// String returns the fact as a formula. Different facts have different formulas.
func (f *IndexFact) String() string {
	var out strings.Builder
	out.WriteString(f.Most.String() + " < ")
	if f.Buffer != "" {
		out.WriteString(Term{TermExtent, f.Extent, f.Buffer}.String())
	} else {
		out.WriteString(strconv.Itoa(f.Extent))
	}
	for _, fits := range f.Fits {
		out.WriteString(", " + fits.String() + " fits")
	}
	for _, name := range f.Counts {
		out.WriteString(", " + strconv.Quote(name) + " >= 0")
	}
	return out.String()
}

// equal reports whether two facts have equal fields, with their terms and names in the same order.
func (f *IndexFact) equal(o IndexFact) bool {
	return f.Buffer == o.Buffer && f.Extent == o.Extent && f.Most.equal(o.Most) && slices.EqualFunc(f.Fits, o.Fits, Bound.equal) &&
		slices.Equal(f.Counts, o.Counts)
}

func (b Bound) equal(o Bound) bool {
	return slices.EqualFunc(b, o, func(x, y Product) bool { return x.Factor == y.Factor && slices.Equal(x.Terms, y.Terms) })
}

// grants reports whether a known fact proves the check of index v of an access. extent is an entry of [ir.Resolved.Extents]. below
// means that the index is proved to be less than the extent. While facts are collected, grants records the one that would prove
// the check.
func (p *prover) grants(in *ir.Instr, v *ir.Value, extent int, below bool) bool {
	if len(p.granted) == 0 && p.asks == nil {
		return false
	}
	f, ok := p.ask(v, in.Array, extent)
	if below { // a comparison in the kernel bounds the index, which is not negative if nothing wraps
		f.Most, f.Buffer, f.Extent = nil, "", 1
	}
	if !ok {
		return false
	}
	if p.asks != nil {
		p.asks[in] = append(p.asks[in], f)
	}
	return slices.ContainsFunc(p.granted, f.equal)
}

// ask returns the fact that would prove the check of index v of an array, or false if it finds none. extent is an entry of
// [ir.Resolved.Extents].
func (p *prover) ask(v *ir.Value, a *ir.Array, extent int) (f IndexFact, ok bool) {
	if extent == ir.Flat && a.Rank == 1 {
		extent = -1
	}
	f = IndexFact{Extent: extent}
	if extent < 0 {
		f = IndexFact{Buffer: a.Name, Extent: -1 - extent}
	}
	if extent == ir.Flat || a.Name == "" {
		return f, false
	}
	s := asker{p: p, f: f, left: maxSteps}
	s.f.Most, ok = s.most(v)
	slices.Sort(s.f.Counts)
	s.f.Counts = slices.Compact(s.f.Counts)
	return s.f, ok
}

// maxSteps is the maximum number of values visited for a fact.
const maxSteps = 64

// asker builds the fact f from the computation of an index. left is the number of values that it may still visit.
type asker struct {
	p    *prover
	f    IndexFact
	left int
}

// lastNumber is the maximum of a useful upper bound of an index; greater ones are limits of types.
const lastNumber = 1 << 30

// most returns an upper bound of an i32 in terms of the launch, or false if it finds none. It adds the conditions on which the
// bound depends to s.f.Fits and s.f.Counts.
func (s *asker) most(v *ir.Value) (Bound, bool) {
	if s.left--; s.left < 0 || v.Type != ir.I32 {
		return nil, false
	}
	r := s.p.rangeOf(v)
	if r.lo >= 0 && r.hi <= lastNumber {
		return number(r.hi), true
	}
	if r.lo >= 0 && (v.Def == nil || v.Def.Op != ir.Extent) {
		for _, u := range s.p.of(termOf(v)).upper { // comparisons in the kernel take precedence
			if b, ok := s.related(u.of, v); ok {
				return b.plus(number(u.plus))
			}
		}
	}
	if b, ok := s.brought(v); ok || v.Def == nil {
		return b, ok
	}
	return s.computed(v.Def, r)
}

// brought returns an upper bound, in terms of the launch, of a scalar argument, an extent, a position or a size. It adds a
// scalar argument to s.f.Counts. It returns false for other values, such as lanes.
func (s *asker) brought(v *ir.Value) (Bound, bool) {
	in := v.Def
	switch {
	case in == nil:
		i := slices.Index(s.p.k.Body.Params, v)
		if i < 0 {
			return nil, false
		}
		for n := range s.p.k.Params {
			if s.p.k.Params[n].Array != nil {
				continue
			}
			if i == 0 {
				s.f.Counts = append(s.f.Counts, s.p.k.Params[n].Name)
				return Bound{{1, []Term{{Kind: TermScalar, Name: s.p.k.Params[n].Name}}}}, true
			}
			i--
		}
	case in.Op == ir.Extent:
		return Bound{{1, []Term{{TermExtent, in.Axis, in.Array.Name}}}}, true
	case in.Op == ir.Item:
		kinds := map[ir.ItemKind]TermKind{ir.GlobalID: TermSize, ir.GlobalSize: TermSize, ir.LocalID: TermGroupSize,
			ir.GroupSize: TermGroupSize, ir.GroupID: TermGroups, ir.NumGroups: TermGroups}
		kind, ok := kinds[in.Item]
		if !ok {
			return nil, false
		}
		b := Bound{{1, []Term{{Kind: kind, Axis: in.Axis}}}}
		if in.Item == ir.GlobalID || in.Item == ir.LocalID || in.Item == ir.GroupID {
			return b.plus(number(-1))
		}
		return b, true
	}
	return nil, false
}

// related returns a bound of t, to which v has a relation, or false if it finds none. It ignores relations of an item's coordinate
// to sizes and computed values, because the launch's size bounds coordinates.
func (s *asker) related(t term, v *ir.Value) (Bound, bool) {
	switch {
	case defines(v, ir.Item) && (t.size || t.v != nil && t.v.Def != nil):
		return nil, false
	case t.size:
		return Bound{{1, []Term{{Kind: TermSize, Axis: t.axis}}}}, true
	case t.array != nil:
		return Bound{{1, []Term{{TermExtent, t.axis, t.array.Name}}}}, true
	}
	fits, counts := len(s.f.Fits), len(s.f.Counts)
	b, ok := s.most(t.v)
	if !ok {
		s.f.Fits, s.f.Counts = s.f.Fits[:fits], s.f.Counts[:counts]
	}
	return b, ok
}

// computed returns the bound of a result whose interval is r, from the bounds of its operands. It adds the bound to s.f.Fits if
// the result may wrap. It returns false if it finds none.
func (s *asker) computed(in *ir.Instr, r interval) (b Bound, ok bool) {
	operand := func(i int) (Bound, bool) { return s.most(in.Args[i]) }
	switch in.Op {
	case ir.Add, ir.Sub:
		n, isNumber := analysis.ConstInt(in.Args[1])
		if in.Op == ir.Sub {
			n = -n
		}
		switch {
		case isNumber && n < 0 && r.lo >= 0: // the difference has not wrapped
			if b, ok = operand(0); ok {
				b, ok = b.plus(number(n))
			}
			return b, ok
		case in.Op == ir.Sub || isNumber && n < 0:
			return nil, false
		}
		x, ok1 := operand(0)
		y, ok2 := operand(1)
		if !ok1 || !ok2 {
			return nil, false
		}
		b, ok = x.plus(y)
	case ir.Mul:
		x, ok1 := operand(0)
		y, ok2 := operand(1)
		if !ok1 || !ok2 {
			return nil, false
		}
		b, ok = x.times(y)
	case ir.Shl:
		n, isNumber := analysis.ConstInt(in.Args[1])
		x, ok1 := operand(0)
		if !ok1 || !isNumber || n < 0 || n > 30 {
			return nil, false
		}
		b, ok = x.times(number(1 << n))
	default:
		return nil, false
	}
	if ok {
		s.f.Fits = append(s.f.Fits, b)
	}
	return b, ok
}
