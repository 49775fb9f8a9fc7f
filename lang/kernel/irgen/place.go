package irgen

import (
	"slices"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// places creates outputs whose elements do not follow the item's coordinates: rotated, shifted, several per item, and under
// more than one name. Each item still owns distinct elements. With groups, places also creates shared arrays: for atomics, and
// one of the group's shape.
func (g *generator) places() {
	for i := range 1 + g.IntN(2) {
		g.outputs = append(g.outputs, g.apart("apart"+strconv.Itoa(i)))
	}
	for i, bases := 0, slices.Clone(g.outputs); i < g.IntN(4); i++ {
		if a := g.view("view"+strconv.Itoa(i), one(g, bases)); a != nil {
			g.outputs = append(g.outputs, a)
		}
	}
	if !g.options.Groups {
		return
	}
	for i := range 1 + g.IntN(2) {
		t, kind := g.commutative()
		a := g.newArray("tally"+strconv.Itoa(i), ir.Shared, ir.Elem{Scalar: t}, []int{1 + g.IntN(9)})
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

// apart returns an output in which an item's indices may differ from its coordinates, by their order or by constants.
func (g *generator) apart(name string) *array {
	var dims []int
	var own []*ir.Value
	for _, at := range g.Perm(g.rank) {
		slack := max(0, g.IntN(5)-2)
		n := g.c.Size[g.rank-1-at] + slack
		if !g.options.NoFaults && n > 1 && g.chance(6) {
			n-- // too short for the last item, or just long enough
		}
		index := g.self[at]
		if slack > 0 {
			index = g.b.Op(ir.Add, ir.I32, index, g.number(g.IntN(slack+1)))
		}
		dims, own = append(dims, n), append(own, index)
	}
	limit := 0
	if g.rank < 3 && g.chance(50) {
		limit = 1 + g.IntN(4)
		dims = append(dims, limit)
	}
	elem := g.elem()
	a := g.buffer(name, elem, dims, g.fill(elem, product(dims)))
	a.own, a.limit = own, limit
	return a
}

// view returns another name for all or part of a buffer's memory. Each item owns there a subset of its elements in the
// buffer. It returns nil for buffers of records and for views.
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
		index := g.int(g.IntN(a.limit))
		if g.chance(40) {
			index = g.b.Op(ir.Rem, ir.I32, g.b.Op(ir.And, ir.I32, g.some(ir.I32, false).Value, g.int(1<<30-1)), g.int(a.limit))
		}
		list = append(list, index)
	}
	return list
}

// number returns n as a constant, as a size of the launch if one equals n, or as a scalar parameter.
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

// alone emits an atomic on an element owned by the item, and uses its result. It emits nothing if no output has an atomic type.
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
	kind := ir.AtomicKind(g.IntN(int(ir.AtomicStore) + 1))
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
	for range 1 + g.IntN(2) {
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
	for range 1 + g.IntN(3) {
		g.load(a)
	}
	g.emit(&ir.Instr{Op: ir.Barrier}, ir.Void)
}
