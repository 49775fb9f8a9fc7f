package irgen

import (
	"slices"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// places creates outputs whose elements do not follow the item's coordinates: rotated, shifted, several per item, and under
// more than one name. Each item still owns distinct elements.
func (g *generator) places() {
	for i := range 1 + g.rng.IntN(2) {
		g.outputs = append(g.outputs, g.apart("apart"+strconv.Itoa(i)))
	}
	for i, bases := 0, slices.Clone(g.outputs); i < g.rng.IntN(4); i++ {
		if a := g.view("view"+strconv.Itoa(i), one(g, bases)); a != nil {
			g.outputs = append(g.outputs, a)
		}
	}
	if !g.options.Groups {
		return
	}
	for i := range 1 + g.rng.IntN(2) {
		t, kind := g.commutative()
		a := g.newArray("tally"+strconv.Itoa(i), ir.Shared, ir.Elem{Scalar: t}, []int{1 + g.rng.IntN(9)})
		a.atomic = kind
		g.tallies = append(g.tallies, a)
	}
	a := g.newArray("square", ir.Shared, g.elem(), nil)
	for axis := g.rank - 1; axis >= 0; axis-- {
		a.dims = append(a.dims, g.c.GroupSize[axis])
		a.own = append(a.own, g.local[axis])
	}
	a.Rank, a.Array.Dims = g.rank, a.dims
	g.shared = append(g.shared, a)
}

// apart returns an output in which an item's index differs from its coordinates.
func (g *generator) apart(name string) *array {
	var dims []int
	var own []*ir.Value
	for _, at := range g.rng.Perm(g.rank) {
		slack := max(0, g.rng.IntN(5)-2)
		n := g.c.Size[g.rank-1-at] + slack
		if !g.options.NoFaults && n > 1 && g.chance(6) {
			n-- // too short for the last item, or just long enough
		}
		index := g.self[at]
		if slack > 0 {
			index = g.b.Op(ir.Add, ir.I32, index, g.number(g.rng.IntN(slack+1)))
		}
		dims, own = append(dims, n), append(own, index)
	}
	limit := 0
	if g.rank < 3 && g.chance(50) {
		limit = 1 + g.rng.IntN(4)
		dims = append(dims, limit)
	}
	elem := g.elem()
	a := g.buffer(name, elem, dims, g.fill(elem, product(dims)))
	a.own, a.limit = own, limit
	return a
}

// view returns another name for all or part of a buffer's memory. Each item owns there a subset of its elements in the buffer.
func (g *generator) view(name string, of *array) *array {
	base := slices.IndexFunc(g.k.Params, func(p ir.Param) bool { return p.Array == of.Array })
	t := of.Elem.Scalar
	if of.Elem.Record != nil || g.c.Args[base].Of > 0 {
		return nil
	}
	alike := slices.DeleteFunc(slices.Clone(Storage), func(o ir.Type) bool { return o.Size() != t.Size() })
	own := of.own
	if own == nil {
		own = g.self
	}
	arg := oracle.Arg{Of: base + 1}
	elem, dims, limit := one(g, alike), slices.Clone(of.dims), of.limit
	switch {
	case t.IsInt() && t.Size() > 1 && len(dims) < 3 && limit == 0 && g.chance(60): // its bytes or words
		parts := slices.DeleteFunc(slices.Clone(Storage), func(o ir.Type) bool { return !o.IsInt() || o.Size() >= t.Size() })
		elem = one(g, parts)
		limit = t.Size() / elem.Size()
		dims = append(dims, limit)
	case limit > 1 && g.chance(60): // all but the first element of each item
		arg.Offset = elem.Size()
		limit--
		if memory := &g.c.Args[base]; len(memory.Data) == product(dims)*elem.Size() {
			memory.Data = append(memory.Data, make([]byte, elem.Size())...)
		}
	}
	a := g.newArray(name, ir.Global, ir.Elem{Scalar: elem}, dims)
	g.k.Params = append(g.k.Params, ir.Param{Name: name, Array: a.Array})
	for _, d := range dims {
		arg.Dims = append(arg.Dims, int32(d))
	}
	g.c.Args = append(g.c.Args, arg)
	a.own, a.limit = own, limit
	return a
}

// ownIndices returns the indices of an element owned by the item.
func (g *generator) ownIndices(a *array) []*ir.Value {
	if a.own == nil {
		return g.self
	}
	list := slices.Clone(a.own)
	if a.limit > 0 {
		index := g.int(g.rng.IntN(a.limit))
		if g.chance(40) {
			index = g.b.Op(ir.Rem, ir.I32, g.b.Op(ir.And, ir.I32, g.some(ir.I32, false).Value, g.int(1<<30-1)), g.int(a.limit))
		}
		list = append(list, index)
	}
	return list
}

// number returns n as a constant, or as an extent of the launch.
func (g *generator) number(n int) *ir.Value {
	for axis, size := range g.c.Size {
		if n == size && g.chance(30) {
			return g.b.Emit(&ir.Instr{Op: ir.Item, Item: ir.GlobalSize, Axis: axis}, ir.I32)
		}
	}
	if g.chance(70) {
		return g.int(n)
	}
	if v, ok := g.brought[n]; ok {
		return v
	}
	name := "n" + strconv.Itoa(len(g.brought))
	v := g.k.NewValue(ir.I32, nil)
	v.Name = name
	g.k.Body.Params = append(g.k.Body.Params, v)
	g.k.Params = append(g.k.Params, ir.Param{Name: name, Type: ir.I32})
	g.c.Args = append(g.c.Args, oracle.Arg{Bits: ir.IntBits(ir.I32, int64(n))})
	if g.brought == nil {
		g.brought = map[int]*ir.Value{}
	}
	g.brought[n] = v
	return v
}

// affine is a sum of multiples of coordinates and loop counters, with its minimum and maximum.
type affine struct {
	*ir.Value
	low, high int
}

func (g *generator) affine() affine {
	sum := affine{}
	for range 1 + g.rng.IntN(2) {
		term := g.self[g.rng.IntN(g.rank)]
		most := g.c.Size[g.rank-1-slices.Index(g.self, term)] - 1
		if t := g.counting(); t != nil && g.chance(50) {
			term, most = t.counter, t.rounds-1
		}
		factor := one(g, []int{1, 1, 1, 1, 2, 3, 4, -1, -2, g.c.Size[0]})
		if factor < 0 {
			sum.low += factor * most
		} else {
			sum.high += factor * most
		}
		switch {
		case factor == -1 && g.chance(50):
			term = g.b.Op(ir.Neg, ir.I32, term)
		case factor == 4 && g.chance(50):
			term = g.b.Op(ir.Shl, ir.I32, term, g.int(2))
		case factor != 1:
			term = g.b.Op(ir.Mul, ir.I32, term, g.number(factor))
		}
		if sum.Value != nil {
			term = g.b.Op(ir.Add, ir.I32, term, sum.Value)
		}
		sum.Value = term
	}
	if shift := g.rng.IntN(4) - sum.low; shift > 0 {
		sum = affine{g.b.Op(ir.Add, ir.I32, sum.Value, g.number(shift)), sum.low + shift, sum.high + shift}
	}
	return sum
}

// counting returns an enclosing loop with a known trip count, or nil.
func (g *generator) counting() *target {
	for _, t := range g.targets {
		if t.rounds > 0 && g.chance(60) {
			return t
		}
	}
	return nil
}

// maxPlaces and maxPlaceElems are the maximum numbers of buffers for affine accesses and of their elements.
const (
	maxPlaces     = 4
	maxPlaceElems = 4000
)

// place emits a load at affine indices. The buffer is just large enough, or conditions keep the indices in bounds; if faults
// are allowed, it may be too small.
func (g *generator) place() {
	indices := []affine{g.affine()}
	if g.rank > 1 && g.chance(30) {
		indices = append(indices, g.affine())
	}
	need := make([]int, len(indices))
	for i, x := range indices {
		need[i] = x.high + 1
	}
	a := g.placed(need)
	if a == nil {
		return
	}
	var list []*ir.Value
	var inside *ir.Value
	for i, x := range indices {
		index, fits := x.Value, x.high < a.dims[i]
		bound := g.int(a.dims[i])
		if g.chance(50) {
			bound = g.b.Emit(&ir.Instr{Op: ir.Extent, Array: a.Array, Axis: i}, ir.I32)
		}
		switch {
		case fits || !g.options.NoFaults && g.chance(10):
		case g.chance(50):
			index = g.b.Op(ir.Min, ir.I32, index, g.b.Op(ir.Sub, ir.I32, bound, g.int(1)))
		default:
			less := g.b.Op(ir.Lt, ir.Bool, index, bound)
			if inside != nil {
				less = g.b.Op(ir.And, ir.Bool, less, inside)
			}
			inside = less
		}
		switch {
		case g.chance(5):
			index = g.b.Op(ir.Convert, ir.I64, index)
		case g.chance(5):
			index = g.b.Op(ir.Bitcast, ir.U32, index)
		}
		list = append(list, index)
	}
	if inside == nil {
		g.loadAt(a, list)
		return
	}
	in := &ir.Instr{Op: ir.Load}
	g.path(a, in, list)
	t := in.Accessed().Value()
	check := g.nested(ir.If, []ir.Type{t}, inside)
	g.inside(check.Then, context{depth: maxDepth}, func() {
		v := g.emit(in, t)
		g.emit(&ir.Instr{Op: ir.Yield, Args: []*ir.Value{v}}, ir.Void)
	})
	g.inside(check.Else, context{depth: maxDepth}, func() { g.leave(ir.Yield, nil, check.Results) })
	g.defineAll(check)
}

// placed returns a buffer for affine accesses, preferably one with the needed extents, or nil.
func (g *generator) placed(need []int) *array {
	var fit, other []*array
	for _, a := range g.placedIn {
		switch {
		case len(a.dims) != len(need):
		case !slices.ContainsFunc(need, func(n int) bool { return n > a.dims[slices.Index(need, n)] }):
			fit = append(fit, a)
		default:
			other = append(other, a)
		}
	}
	switch {
	case len(fit) > 0 && g.chance(60):
		return one(g, fit)
	case len(other) > 0 && g.chance(25):
		return one(g, other)
	case len(g.placedIn) < maxPlaces && product(need) <= maxPlaceElems:
		dims := slices.Clone(need)
		if n := g.rng.IntN(len(dims)); dims[n] > 1 && g.chance(20) {
			dims[n] -= 1 + g.rng.IntN(min(20, dims[n]-1))
		}
		elem := g.elem()
		a := g.buffer("place"+strconv.Itoa(len(g.placedIn)), elem, dims, g.fill(elem, product(dims)))
		g.placedIn = append(g.placedIn, a)
		return a
	case len(fit)+len(other) > 0:
		return one(g, append(fit, other...))
	}
	return nil
}

// commutative returns a commutative atomic operation and its element type.
func (g *generator) commutative() (ir.Type, ir.AtomicKind) {
	t := one(g, Ints)
	kind := one(g, []ir.AtomicKind{ir.AtomicAdd, ir.AtomicSub, ir.AtomicMin, ir.AtomicMax, ir.AtomicAnd, ir.AtomicOr, ir.AtomicXor})
	if (kind == ir.AtomicMin || kind == ir.AtomicMax) && g.chance(50) {
		t = one(g, Floats)
	}
	return t, kind
}

// alone emits an atomic on an element owned by the item, and uses its result.
func (g *generator) alone() {
	fit := slices.DeleteFunc(slices.Clone(g.outputs), func(a *array) bool {
		t := a.Elem.Scalar
		return a.Elem.Record != nil || !slices.Contains(Ints, t) && !slices.Contains(Floats, t)
	})
	if len(fit) == 0 {
		return
	}
	a := one(g, fit)
	t := a.Elem.Scalar
	kind := ir.AtomicKind(g.rng.IntN(int(ir.AtomicStore) + 1))
	bits := kind == ir.AtomicAnd || kind == ir.AtomicOr || kind == ir.AtomicXor || kind == ir.AtomicCompareExchange
	if t.IsFloat() && bits {
		kind = ir.AtomicExchange
	}
	in := &ir.Instr{Op: ir.Atomic, Atomic: kind}
	g.path(a, in, g.ownIndices(a))
	for range kind.Operands() {
		in.Args = append(in.Args, g.some(t, false).Value)
	}
	g.define(g.emit(in, t), false)
}

// tally emits atomics by all or some of a group's items and loads the results.
func (g *generator) tally() {
	a := one(g, g.tallies)
	for range 1 + g.rng.IntN(2) {
		if g.chance(50) {
			g.emitAtomic(a)
			continue
		}
		check := g.nested(ir.If, nil, g.some(ir.Bool, false).Value)
		g.inside(check.Then, context{depth: maxDepth}, func() {
			g.emitAtomic(a)
			g.emit(&ir.Instr{Op: ir.Yield}, ir.Void)
		})
		g.inside(check.Else, context{depth: maxDepth}, func() { g.emit(&ir.Instr{Op: ir.Yield}, ir.Void) })
	}
	g.emit(&ir.Instr{Op: ir.Barrier}, ir.Void)
	for range 1 + g.rng.IntN(3) {
		g.load(a)
	}
	g.emit(&ir.Instr{Op: ir.Barrier}, ir.Void)
}
