package irgen

import (
	"slices"
	"strconv"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// affineLoads emits loads at affine indices.
type affineLoads struct {
	*generator
	buffers []*array // buffers that only these loads access
}

// affine is a sum of multiples of coordinates and loop counters, with its minimum and maximum.
type affine struct {
	*ir.Value
	low, high int
}

// sum emits a random sum whose minimum is not negative.
func (g *affineLoads) sum() affine {
	sum := affine{}
	for range 1 + g.IntN(2) {
		term := g.self[g.IntN(g.rank)]
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
	if shift := g.IntN(4) - sum.low; shift > 0 {
		sum = affine{g.b.Op(ir.Add, ir.I32, sum.Value, g.number(shift)), sum.low + shift, sum.high + shift}
	}
	return sum
}

// counting returns a random enclosing loop whose maximum trip count is known, or nil.
func (g *affineLoads) counting() *target {
	for _, t := range g.targets {
		if t.rounds > 0 && g.chance(60) {
			return t
		}
	}
	return nil
}

// maxPlaces is the maximum number of buffers for affine accesses, and maxPlaceElems the maximum number of elements of each.
const (
	maxPlaces     = 4
	maxPlaceElems = 4000
)

// load emits a load at affine indices, or nothing if there is no buffer for them. The buffer is large enough, or minima and
// conditions keep the indices in bounds. If faults are allowed, the buffer may also be too small.
func (g *affineLoads) load() {
	indices := []affine{g.sum()}
	if g.rank > 1 && g.chance(30) {
		indices = append(indices, g.sum())
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
func (g *affineLoads) placed(need []int) *array {
	var fit, other []*array
	for _, a := range g.buffers {
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
	case len(g.buffers) < maxPlaces && product(need) <= maxPlaceElems:
		dims := slices.Clone(need)
		if n := g.IntN(len(dims)); dims[n] > 1 && g.chance(20) {
			dims[n] -= 1 + g.IntN(min(20, dims[n]-1))
		}
		elem := g.elem()
		a := g.buffer("place"+strconv.Itoa(len(g.buffers)), elem, dims, g.fill(elem, product(dims)))
		g.buffers = append(g.buffers, a)
		return a
	case len(fit)+len(other) > 0:
		return one(g, append(fit, other...))
	}
	return nil
}
