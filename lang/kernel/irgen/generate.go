package irgen

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/opt"
	"github.com/orepl/orepl/lang/kernel/oracle"
)

// Options select features of random kernels.
type Options struct {
	Groups    bool // group operations, barriers and shared memory
	Subgroups bool // subgroup operations, whose results depend on the subgroup size
	NoFaults  bool // no operation that can fault
	Even      bool // group sizes that are mostly multiples of vector lengths, mostly without partial groups
	Tiles     bool // private arrays indexed by constants or loop counters
	Places    bool // affine indices, overlapping buffers, atomics whose results are used, and atomics on shared memory
	Extended  bool // version 2 operations
	Calls     bool // calls of the services of package oracle
	Strides   bool // loops over buffers with a step of about the launch size; groups are mostly complete
	Jumps     bool // more control flow than arithmetic: nested conditions and loops with early exits, and few types
	Size      int  // approximate number of instructions; 0 means 60
}

// Case generates a random kernel and a launch of it. The result is independent of the execution order of items. An item writes
// only its own elements and, between barriers, shared memory that others read. Atomics on elements of several items are
// commutative, and their results are unused. A kernel may fault unless o.NoFaults is set.
func Case(rng *rand.Rand, o Options) *oracle.Case {
	if o.Size == 0 {
		o.Size = 60
	}
	g := &generator{draws: draws{Rand: rng}, options: o, left: o.Size, c: &oracle.Case{}}
	g.affine.generator = g
	g.k = &ir.Kernel{Name: "random", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}}}
	g.b = ir.Builder{Kernel: g.k, Block: g.k.Body}
	g.c.Kernel = g.k
	g.launch()
	g.parameters()
	g.coordinates()
	if o.Places {
		g.places()
	}
	if o.Groups {
		// the group is always observed, so that the launch has groups
		g.define(g.b.Emit(&ir.Instr{Op: ir.Item, Item: ir.LocalID}, ir.I32), false)
	}
	g.statements(context{uniform: o.Groups, depth: 0})
	if o.Jumps {
		g.digest()
	}
	g.results()
	g.emit(&ir.Instr{Op: ir.Return}, ir.Void)
	g.orderArrays()
	opt.CanonicalizeNaNs(g.k)
	return g.c
}

// orderArrays moves buffers to the front, as parameters require.
func (g *generator) orderArrays() {
	slices.SortStableFunc(g.k.Arrays, func(a, b *ir.Array) int {
		return cmp.Compare(min(a.Space, ir.Global+1), min(b.Space, ir.Global+1))
	})
	for i, a := range g.k.Arrays {
		a.ID = i
	}
}

// Module returns a module with a case's kernel, for verification or encoding.
func Module(k *ir.Kernel) *ir.Module {
	return &ir.Module{Kernels: []*ir.Kernel{k}, Records: k.Records()}
}

type generator struct {
	draws
	options Options
	c       *oracle.Case
	k       *ir.Kernel
	b       ir.Builder
	left    int // remaining instructions
	rank    int // rank of the launch

	values  []value // values in scope
	targets []*target
	sealed  int // enclosing extension operations, which no jump leaves
	ops     []Operation

	self    []*ir.Value // the item's indices in a buffer of the launch's shape
	lid     *ir.Value   // the item's linear local ID
	local   []*ir.Value // the item's local ID by axis
	inputs  []*array
	outputs []*array
	private []*array
	tiles   []*array
	shared  []*array
	counts  []*array // for atomics
	tallies []*array // for atomics on shared memory
	long    []*array // one-dimensional buffers for grid-stride loops

	affine  affineLoads
	brought map[int]*ir.Value // by value: the parameters that number created
}

// value is an IR value that later statements may use, as it is in scope.
type value struct {
	*ir.Value
	uniform bool // equal in the whole group
}

// array is an array whose extents the generator tracks.
type array struct {
	*ir.Array
	dims   []int
	atomic ir.AtomicKind // operation of counts and tallies
	own    []*ir.Value   // the indices of the item's own elements, if they are not its coordinates
	limit  int           // number of the item's own elements if a last index, after those in own, selects one; otherwise 0
}

// target is an enclosing Region or Loop, which jumps may leave.
type target struct {
	in      *ir.Instr
	free    bool // items may leave it at different times
	counter *ir.Value
	rounds  int // maximum iterations of the counter's loop, if known at compile time
}

// context is the control-flow context of a statement.
type context struct {
	uniform bool // all items of the group reach the statement together
	depth   int
}

func (g *generator) emit(in *ir.Instr, t ir.Type) *ir.Value {
	g.left--
	if in.Op != ir.Const && !in.Op.IsTerminator() {
		in.Site = len(g.k.Sites)
		g.k.Sites = append(g.k.Sites, ir.Site{Line: in.Site, Col: 1})
	}
	g.b.Site = in.Site
	return g.b.Emit(in, t)
}

func (g *generator) define(v *ir.Value, uniform bool) *ir.Value {
	g.values = append(g.values, value{v, uniform})
	return v
}

// some returns a value of the type in scope, preferably a recent one, or a random constant. The value is uniform if uniform is set.
func (g *generator) some(t ir.Type, uniform bool) value {
	var fit []value
	for _, v := range g.values {
		if v.Type == t && (v.uniform || !uniform) {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 || g.chance(15) {
		return value{g.b.Const(t, g.bits(t)), true}
	}
	// prefers recent values, so that results flow on
	n := len(fit) - 1 - min(g.IntN(len(fit)), g.IntN(len(fit)))
	return fit[n]
}

func (g *generator) int(n int) *ir.Value { return g.b.Int(ir.I32, int64(n)) }

// launch chooses the launch and group sizes.
func (g *generator) launch() {
	g.rank = 1 + g.IntN(3)
	g.c.Size, g.c.GroupSize = [3]int{1, 1, 1}, [3]int{1, 1, 1}
	for axis := range g.rank {
		g.c.Size[axis] = 1 + g.IntN([]int{300, 20, 7}[g.rank-1])
		g.c.GroupSize[axis] = 1 + g.IntN([]int{70, 9, 4}[g.rank-1])
		if g.chance(30) {
			g.c.GroupSize[axis] = []int{64, 8, 4}[g.rank-1]
		}
	}
	if g.rank == 1 && g.chance(10) {
		g.c.GroupSize[0] = 257 + g.IntN(300) // more than one row of the interpreter's lanes
	}
	g.c.SubgroupSize = 4 << g.IntN(5)
	if g.options.Even {
		g.evenGroups()
	}
	if g.options.Strides && g.chance(80) {
		g.rank = 1 + g.IntN(2)
		g.c.GroupSize = [3]int{64 << g.IntN(2), 1 + g.IntN(g.rank), 1}
		g.c.Size = [3]int{g.c.GroupSize[0] * (1 + g.IntN(5)), g.c.GroupSize[1] * (1 + g.IntN(g.rank)), 1}
	}
}

// evenGroups chooses sizes that are mostly multiples of vector lengths.
func (g *generator) evenGroups() {
	groups := [][][3]int{
		{{8, 1, 1}, {16, 1, 1}, {32, 1, 1}, {48, 1, 1}, {56, 1, 1}, {64, 1, 1}, {100, 1, 1}, {128, 1, 1}, {192, 1, 1}, {256, 1, 1}, {1024, 1, 1}},
		{{8, 8, 1}, {16, 4, 1}, {16, 16, 1}, {32, 3, 1}, {64, 2, 1}, {128, 2, 1}},
		{{8, 2, 2}, {16, 2, 2}, {32, 2, 2}, {64, 1, 3}},
	}
	g.c.GroupSize = one(g, groups[g.rank-1])
	for axis := range g.rank {
		g.c.Size[axis] = g.c.GroupSize[axis] * (1 + g.IntN(3))
		if g.chance(10) {
			g.c.Size[axis] -= g.IntN(g.c.GroupSize[axis])
		}
	}
}

func (g *generator) newArray(name string, space ir.Space, elem ir.Elem, dims []int) *array {
	a := &ir.Array{Name: name, Space: space, Elem: elem, Rank: len(dims), ID: len(g.k.Arrays)}
	if space != ir.Global {
		a.Dims = dims
	}
	g.k.Arrays = append(g.k.Arrays, a)
	return &array{Array: a, dims: dims}
}

// buffer returns a new array that is a parameter.
func (g *generator) buffer(name string, elem ir.Elem, dims []int, data []byte) *array {
	a := g.newArray(name, ir.Global, elem, dims)
	g.k.Params = append(g.k.Params, ir.Param{Name: name, Array: a.Array})
	arg := oracle.Arg{Data: data}
	for _, d := range dims {
		arg.Dims = append(arg.Dims, int32(d))
	}
	g.c.Args = append(g.c.Args, arg)
	return a
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// parameters creates the arrays and scalars.
func (g *generator) parameters() {
	for i := range 1 + g.IntN(3) {
		name := string(rune('a' + i))
		t := one(g, Values)
		v := g.k.NewValue(t, nil)
		v.Name = name
		g.k.Body.Params = append(g.k.Body.Params, v)
		g.k.Params = append(g.k.Params, ir.Param{Name: name, Type: t})
		g.c.Args = append(g.c.Args, oracle.Arg{Bits: g.bits(t)})
		g.define(v, true)
	}
	for i := range 1 + g.IntN(3) {
		var dims []int
		for range 1 + g.IntN(3) {
			dims = append(dims, 1+g.IntN(12))
		}
		elem := g.elem()
		g.inputs = append(g.inputs, g.buffer("in"+string(rune('0'+i)), elem, dims, g.fill(elem, product(dims))))
	}
	for i := range 2 {
		if g.options.Strides {
			n := 1 + g.IntN(6*g.c.Size[0])
			elem := ir.Elem{Scalar: one(g, Storage)}
			g.long = append(g.long, g.buffer("long"+string(rune('0'+i)), elem, []int{n}, g.fill(elem, n)))
		}
	}
	var shape []int
	for axis := g.rank - 1; axis >= 0; axis-- {
		shape = append(shape, g.c.Size[axis])
	}
	for i := range 2 + g.IntN(2) {
		elem := g.elem()
		g.outputs = append(g.outputs, g.buffer("out"+string(rune('0'+i)), elem, shape, g.fill(elem, product(shape))))
	}
	kinds := []ir.AtomicKind{ir.AtomicAdd, ir.AtomicSub, ir.AtomicMin, ir.AtomicMax, ir.AtomicAnd, ir.AtomicOr, ir.AtomicXor}
	for i := range g.IntN(3) {
		t := one(g, Ints)
		kind := one(g, kinds)
		if (kind == ir.AtomicMin || kind == ir.AtomicMax) && g.chance(50) {
			t = one(g, Floats)
		}
		n := 1 + g.IntN(8)
		a := g.buffer("count"+string(rune('0'+i)), ir.Elem{Scalar: t}, []int{n}, g.fill(ir.Elem{Scalar: t}, n))
		a.atomic = kind
		g.counts = append(g.counts, a)
	}
	for i := range g.IntN(3) {
		g.private = append(g.private, g.newArray("own"+string(rune('0'+i)), ir.Private, g.elem(), []int{1 + g.IntN(9)}))
	}
	if g.options.Tiles {
		for i := range 1 + g.IntN(2) {
			elem := ir.Elem{Scalar: one(g, Values)}
			if g.chance(20) {
				elem = g.elem()
			}
			dims := []int{1 + g.IntN(4), 1 + g.IntN(4)}[:1+g.IntN(2)]
			g.tiles = append(g.tiles, g.newArray("tile"+string(rune('0'+i)), ir.Private, elem, dims))
		}
	}
	if g.chance(50) {
		elem := g.elem()
		a := g.newArray("table", ir.Table, elem, []int{1 + g.IntN(9)})
		a.Data = g.fill(elem, a.dims[0])
		g.inputs = append(g.inputs, a)
	}
	if g.options.Groups {
		items := g.c.GroupSize[0] * g.c.GroupSize[1] * g.c.GroupSize[2]
		for i := range 1 + g.IntN(2) {
			g.shared = append(g.shared, g.newArray("team"+string(rune('0'+i)), ir.Shared, g.elem(), []int{items}))
		}
	}
}

// coordinates emits the numbers of the item and the sizes of launch and group. It sets self and, with groups, local and lid.
func (g *generator) coordinates() {
	item := func(kind ir.ItemKind, axis int, uniform bool) *ir.Value {
		return g.define(g.emit(&ir.Instr{Op: ir.Item, Item: kind, Axis: axis}, ir.I32), uniform)
	}
	for axis := g.rank - 1; axis >= 0; axis-- {
		g.self = append(g.self, item(ir.GlobalID, axis, false))
	}
	item(ir.GlobalSize, g.IntN(3), true)
	if !g.options.Groups {
		return
	}
	item(ir.GroupID, g.IntN(3), true)
	item(ir.NumGroups, g.IntN(3), true)
	x, y, z := item(ir.LocalID, 0, false), item(ir.LocalID, 1, false), item(ir.LocalID, 2, false)
	sx, sy := item(ir.GroupSize, 0, true), item(ir.GroupSize, 1, true)
	rows := g.b.Op(ir.Add, ir.I32, g.b.Op(ir.Mul, ir.I32, z, sy), y)
	g.local = []*ir.Value{x, y, z}
	g.lid = g.define(g.b.Op(ir.Add, ir.I32, g.b.Op(ir.Mul, ir.I32, rows, sx), x), false)
	if g.options.Subgroups {
		g.define(g.emit(&ir.Instr{Op: ir.Item, Item: ir.Lane}, ir.I32), false)
		g.define(g.emit(&ir.Instr{Op: ir.Item, Item: ir.SubgroupSize}, ir.I32), true)
	}
}

// results stores values in the item's elements of all outputs, so that wrong values are visible.
func (g *generator) results() {
	for _, a := range g.outputs {
		for range 2 {
			g.storeOwn(a)
		}
	}
}
