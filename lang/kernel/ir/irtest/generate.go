// Package irtest makes random kernels for tests of what reads, changes or runs kernel IR.
package irtest

import (
	"math"
	"math/rand/v2"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// Options say what a random kernel may contain.
type Options struct {
	Instrs int  // about how many instructions
	Faults bool // accesses out of bounds, divisions by zero and failed asserts
	Groups bool // shared memory, barriers, reductions and scans
	Prints bool
}

// The extents that a launch of a random kernel must give its buffers: all that is read or written without faults lies
// within them for a launch of at most Items items on the x axis alone, in groups of GroupSize.
const (
	Items     = 48
	GroupSize = 16
	Inputs    = 64 // elements of each input; the 2-D one is of 8 rows of 8
)

// Generate makes a random module of one kernel called k, which passes [ir.Module.Verify], ends, has no races, and gives
// the same results whenever it is run on the same arguments. Every instruction has a site of its own.
func Generate(rng *rand.Rand, o Options) *ir.Module {
	k := &ir.Kernel{Name: "k", Real: ir.F32, Body: &ir.Block{}}
	g := &generator{rng: rng, o: o, k: k, left: o.Instrs, live: map[ir.Type][]*ir.Value{}}
	g.b = ir.Builder{Kernel: k, Block: k.Body}
	g.params()
	for g.left > 0 {
		g.statement()
	}
	g.output()
	g.op(ir.Return, ir.Void)
	g.sites()
	return &ir.Module{Kernels: []*ir.Kernel{k}, Files: []string{"random.js"}}
}

var valueTypes = []ir.Type{ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}

type generator struct {
	rng   *rand.Rand
	o     Options
	k     *ir.Kernel
	b     ir.Builder
	left  int
	depth int
	live  map[ir.Type][]*ir.Value

	id      *ir.Value // item.global.x
	inputs  []*ir.Array
	outputs []*ir.Array
	private *ir.Array
	table   *ir.Array
	shared  *ir.Array
	targets []*ir.Instr // regions and loops around, that may be left
	results map[*ir.Instr][]ir.Type
}

func (g *generator) array(name string, space ir.Space, t ir.Type, rank int, dims ...int) *ir.Array {
	a := &ir.Array{Name: name, Space: space, Elem: ir.Elem{Scalar: t}, Rank: rank, Dims: dims, ID: len(g.k.Arrays)}
	g.k.Arrays = append(g.k.Arrays, a)
	return a
}

func (g *generator) params() {
	for i, t := range valueTypes {
		name := string(rune('a' + i))
		v := g.k.NewValue(t, nil)
		v.Name = name
		g.k.Params = append(g.k.Params, ir.Param{Name: name, Type: t})
		g.k.Body.Params = append(g.k.Body.Params, v)
		g.add(v)
	}
	buffer := func(name string, t ir.Type, rank int) *ir.Array {
		a := g.array(name, ir.Global, t, rank)
		g.k.Params = append(g.k.Params, ir.Param{Name: name, Array: a})
		return a
	}
	for _, t := range []ir.Type{ir.F32, ir.I32, ir.U8, ir.F16, ir.F64, ir.I64} {
		g.inputs = append(g.inputs, buffer("in_"+t.String(), t, 1))
	}
	g.inputs = append(g.inputs, buffer("in_2d", ir.I32, 2))
	for _, t := range []ir.Type{ir.F32, ir.I32, ir.I8, ir.BF16, ir.F64, ir.U64, ir.Bool} {
		g.outputs = append(g.outputs, buffer("out_"+t.String(), t, 1))
	}
	if g.o.Groups {
		g.shared = g.array("s", ir.Shared, ir.I32, 1, GroupSize)
	}
	g.private = g.array("p", ir.Private, ir.F32, 2, 2, 4)
	g.table = g.array("t", ir.Table, ir.I32, 1, 5)
	for i := range 5 * 4 {
		g.table.Data = append(g.table.Data, byte(i*i*37))
	}
	g.b.Emit(&ir.Instr{Op: ir.Zero, Array: g.private}, ir.Void)
	g.id = g.emit(&ir.Instr{Op: ir.Item}, ir.I32)
}

func (g *generator) add(v *ir.Value) { g.live[v.Type] = append(g.live[v.Type], v) }

func (g *generator) emit(in *ir.Instr, t ir.Type) *ir.Value {
	g.left--
	v := g.b.Emit(in, t)
	if v != nil {
		g.add(v)
	}
	return v
}

func (g *generator) op(op ir.Op, t ir.Type, args ...*ir.Value) *ir.Value {
	return g.emit(&ir.Instr{Op: op, Args: args}, t)
}

func (g *generator) int(n int) *ir.Value { return g.b.Int(ir.I32, int64(n)) }

// chance is true n times in a hundred.
func (g *generator) chance(n int) bool { return g.rng.IntN(100) < n }

func pick[T any](g *generator, from []T) T { return from[g.rng.IntN(len(from))] }

// value is a live value of the type, more often a late one, or a constant.
func (g *generator) value(t ir.Type) *ir.Value {
	live := g.live[t]
	if len(live) == 0 || g.chance(15) {
		return g.b.Const(t, g.constant(t))
	}
	if g.chance(50) {
		live = live[max(0, len(live)-4):]
	}
	return pick(g, live)
}

func (g *generator) constant(t ir.Type) uint64 {
	switch {
	case t == ir.Bool:
		return g.rng.Uint64N(2)
	case t.IsInt():
		return ir.IntBits(t, pick(g, []int64{0, 1, 2, 3, 5, 7, 8, 31, 64, 255, -1, -2, math.MinInt32, math.MaxInt32, math.MinInt64, g.rng.Int64(), g.rng.Int64N(100)}))
	}
	return ir.FloatBits(t, pick(g, []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, 0.1, 1e10, 1e-40, math.Inf(1), math.NaN(), g.rng.NormFloat64()}))
}

func (g *generator) statement() {
	switch n := g.rng.IntN(100); {
	case n < 55:
		g.arithmetic()
	case n < 65:
		g.load()
	case n < 72:
		g.store()
	case n < 77:
		g.privateAccess()
	case n < 85 && g.depth < 5:
		g.branch()
	case n < 91 && g.depth < 3:
		g.loop()
	case n < 94 && g.depth < 5:
		g.region()
	case n < 96 && g.o.Groups && g.depth == 0:
		g.group()
	case n < 97 && g.o.Prints:
		g.emit(&ir.Instr{Op: ir.Print, Args: []*ir.Value{g.value(pick(g, valueTypes))}, Text: []string{"<", ">"}}, ir.Void)
	case n < 98 && g.o.Faults:
		g.emit(&ir.Instr{Op: ir.Assert, Args: []*ir.Value{g.value(ir.Bool)}, Text: []string{"never"}}, ir.Void)
	}
}

var (
	anyUnary    = []ir.Op{ir.Neg, ir.Abs}
	floatUnary  = []ir.Op{ir.Sqrt, ir.Floor, ir.Ceil, ir.Trunc, ir.Round, ir.Rint}
	intCounts   = []ir.Op{ir.Clz, ir.Ctz, ir.Popcnt}
	anyBinary   = []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max, ir.Add, ir.Sub, ir.Mul}
	intBinary   = []ir.Op{ir.And, ir.Or, ir.Xor, ir.MulHi}
	comparisons = []ir.Op{ir.Eq, ir.Ne, ir.Lt, ir.Le}
	numbers     = []ir.Type{ir.I32, ir.I32, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F32, ir.F64}
	ints        = []ir.Type{ir.I32, ir.U32, ir.I64, ir.U64}
	floats      = []ir.Type{ir.F32, ir.F64}
)

func (g *generator) arithmetic() {
	t := pick(g, numbers)
	x, y := g.value(t), g.value(t)
	switch g.rng.IntN(14) {
	case 0:
		g.op(pick(g, anyUnary), t, x)
	case 1:
		f := pick(g, floats)
		g.op(pick(g, floatUnary), f, g.value(f))
	case 2, 3, 4:
		g.op(pick(g, anyBinary), t, x, y)
	case 5:
		i := pick(g, ints)
		g.op(pick(g, intBinary), i, g.value(i), g.value(i))
	case 6:
		i := pick(g, ints)
		g.op(pick(g, []ir.Op{ir.Shl, ir.Shr}), i, g.value(i), g.value(pick(g, ints[:2])))
	case 7:
		g.op(pick(g, comparisons), ir.Bool, x, y)
	case 8:
		f := pick(g, floats)
		g.op(ir.FMA, f, g.value(f), g.value(f), g.value(f))
	case 9:
		g.op(ir.Select, t, g.value(ir.Bool), x, y)
	case 10:
		g.conversion(x)
	case 11:
		g.divide(t, x, y)
	case 12:
		g.op(pick(g, []ir.Op{ir.And, ir.Or, ir.Xor, ir.Eq}), ir.Bool, g.value(ir.Bool), g.value(ir.Bool))
	case 13:
		i := pick(g, ints)
		if g.chance(50) {
			g.op(ir.Not, i, g.value(i))
		} else {
			g.op(pick(g, intCounts), ir.I32, g.value(i))
		}
	}
}

func (g *generator) conversion(x *ir.Value) {
	to := pick(g, ints)
	switch {
	case g.chance(20):
		g.emit(&ir.Instr{Op: ir.Quant, Args: []*ir.Value{g.value(ir.F32)}, Elem: pick(g, []ir.Type{ir.F16, ir.BF16})}, ir.F32)
	case g.chance(30):
		f := pick(g, floats)
		g.op(ir.Convert, f, x)
	case g.chance(20):
		g.op(ir.Convert, to, g.value(ir.Bool))
	case g.chance(20) && x.Type.Size() == to.Size():
		g.op(ir.Bitcast, to, x)
	default:
		g.op(pick(g, []ir.Op{ir.Sat, ir.Wrap}), to, x)
	}
}

func (g *generator) divide(t ir.Type, x, y *ir.Value) {
	if t.IsInt() && !(g.o.Faults && g.chance(10)) {
		y = g.op(ir.Or, t, y, g.b.Int(t, 1)) // not 0
	}
	g.op(pick(g, []ir.Op{ir.Div, ir.Rem}), t, x, y)
}

// index is a value that is within n unless faults are wanted.
func (g *generator) index(n int) *ir.Value {
	x := g.value(ir.I32)
	switch {
	case n >= Items && g.chance(40):
		return g.id
	case g.o.Faults && g.chance(5):
		return x
	case g.chance(30):
		return g.op(ir.Min, ir.I32, g.op(ir.Max, ir.I32, x, g.int(0)), g.int(n-1))
	case g.chance(30):
		return g.op(ir.Rem, ir.U32, g.value(ir.U32), g.b.Int(ir.U32, int64(n)))
	case n&(n-1) == 0:
		return g.op(ir.And, ir.I32, x, g.int(n-1))
	}
	return g.int(g.rng.IntN(n))
}

var (
	onePath = []ir.Step{{Kind: ir.StepIndex}}
	twoPath = []ir.Step{{Kind: ir.StepIndex}, {Kind: ir.StepIndex}}
	flat    = []ir.Step{{Kind: ir.StepFlat}}
)

func (g *generator) load() {
	a := pick(g, g.inputs)
	t := a.Elem.Scalar.Value()
	switch {
	case a.Rank == 2 && g.chance(50):
		g.emit(&ir.Instr{Op: ir.Load, Array: a, Path: twoPath, Args: []*ir.Value{g.index(8), g.index(8)}}, t)
	case a.Rank == 2:
		g.emit(&ir.Instr{Op: ir.Load, Array: a, Path: flat, Args: []*ir.Value{g.index(Inputs)}}, t)
	case g.chance(15):
		g.emit(&ir.Instr{Op: ir.Load, Array: g.table, Path: onePath, Args: []*ir.Value{g.index(5)}}, ir.I32)
	case g.chance(15):
		g.emit(&ir.Instr{Op: ir.Extent, Array: a}, ir.I32)
	case g.chance(15):
		own := pick(g, g.outputs)
		g.emit(&ir.Instr{Op: ir.Load, Array: own, Path: onePath, Args: []*ir.Value{g.id}}, own.Elem.Scalar.Value())
	default:
		g.emit(&ir.Instr{Op: ir.Load, Array: a, Path: onePath, Args: []*ir.Value{g.index(Inputs)}}, t)
	}
}

// store writes the item's own element of an output.
func (g *generator) store() {
	a := pick(g, g.outputs)
	g.emit(&ir.Instr{Op: ir.Store, Array: a, Path: onePath, Args: []*ir.Value{g.id, g.value(a.Elem.Scalar.Value())}}, ir.Void)
}

func (g *generator) privateAccess() {
	switch {
	case g.chance(50):
		g.emit(&ir.Instr{Op: ir.Store, Array: g.private, Path: twoPath, Args: []*ir.Value{g.index(2), g.index(4), g.value(ir.F32)}}, ir.Void)
	case g.chance(10):
		g.emit(&ir.Instr{Op: ir.Zero, Array: g.private}, ir.Void)
	default:
		g.emit(&ir.Instr{Op: ir.Load, Array: g.private, Path: flat, Args: []*ir.Value{g.index(8)}}, ir.F32)
	}
}

// group exchanges values with the other items of the group.
func (g *generator) group() {
	v := g.value(ir.I32)
	switch g.rng.IntN(3) {
	case 0:
		g.emit(&ir.Instr{Op: ir.Reduce, Args: []*ir.Value{v}, Combine: pick(g, []ir.Combine{ir.CombineAdd, ir.CombineMin, ir.CombineMax})}, ir.I32)
	case 1:
		g.emit(&ir.Instr{Op: ir.Scan, Args: []*ir.Value{v}, Exclusive: g.chance(50)}, ir.I32)
	default:
		local := g.emit(&ir.Instr{Op: ir.Item, Item: ir.LocalID}, ir.I32)
		g.op(ir.Barrier, ir.Void)
		g.emit(&ir.Instr{Op: ir.Store, Array: g.shared, Path: onePath, Args: []*ir.Value{local, v}}, ir.Void)
		g.op(ir.Barrier, ir.Void)
		other := g.op(ir.And, ir.I32, g.op(ir.Add, ir.I32, local, g.value(ir.I32)), g.int(GroupSize-1))
		g.emit(&ir.Instr{Op: ir.Load, Array: g.shared, Path: onePath, Args: []*ir.Value{other}}, ir.I32)
	}
}

// inside fills a block and runs end in it, where everything defined there is still live.
func (g *generator) inside(b *ir.Block, end func()) {
	outer := g.b.Block
	live := map[ir.Type]int{}
	for _, t := range valueTypes {
		live[t] = len(g.live[t])
	}
	g.b.Block = b
	g.depth++
	for range 1 + g.rng.IntN(5) {
		g.statement()
	}
	end()
	g.depth--
	g.b.Block = outer
	for _, t := range valueTypes {
		g.live[t] = g.live[t][:live[t]]
	}
}

func (g *generator) types() []ir.Type {
	var types []ir.Type
	for range g.rng.IntN(3) {
		types = append(types, pick(g, valueTypes))
	}
	return types
}

func (g *generator) values(types []ir.Type) []*ir.Value {
	var vs []*ir.Value
	for _, t := range types {
		vs = append(vs, g.value(t))
	}
	return vs
}

func (g *generator) nested(op ir.Op, types []ir.Type, args ...*ir.Value) *ir.Instr {
	g.left--
	in := g.b.Nested(op, types, args...)
	if g.results == nil {
		g.results = map[*ir.Instr][]ir.Type{}
	}
	g.results[in] = types
	return in
}

// leave ends a block: usually by a yield, at times by a jump outwards.
func (g *generator) leave(types []ir.Type) {
	switch {
	case len(g.targets) > 0 && g.chance(20):
		t := pick(g, g.targets)
		g.emit(&ir.Instr{Op: ir.Break, Target: t, Args: g.values(g.results[t])}, ir.Void)
	case !g.o.Groups && g.chance(3):
		g.op(ir.Return, ir.Void)
	default:
		g.emit(&ir.Instr{Op: ir.Yield, Args: g.values(types)}, ir.Void)
	}
}

func (g *generator) branch() {
	types := g.types()
	in := g.nested(ir.If, types, g.value(ir.Bool))
	g.inside(in.Then, func() { g.leave(types) })
	g.inside(in.Else, func() { g.leave(types) })
	for _, r := range in.Results {
		g.add(r)
	}
}

func (g *generator) region() {
	types := g.types()
	in := g.nested(ir.Region, types)
	g.targets = append(g.targets, in)
	g.inside(in.Then, func() { g.leave(types) })
	g.targets = g.targets[:len(g.targets)-1]
	for _, r := range in.Results {
		g.add(r)
	}
}

// loop counts to at most 6 and carries values besides.
func (g *generator) loop() {
	types := g.types()
	carried := append([]ir.Type{ir.I32}, g.types()...)
	args := append([]*ir.Value{g.int(0)}, g.values(carried[1:])...)
	in := g.nested(ir.Loop, types, args...)
	limit := g.rng.IntN(7)
	counter := in.Then.Params[0]
	outer := g.b.Block
	g.b.Block = in.Then
	again := g.b.Op(ir.Lt, ir.Bool, counter, g.int(limit))
	stop := g.b.Nested(ir.If, nil, again)
	stop.Then.Instrs = append(stop.Then.Instrs, &ir.Instr{Op: ir.Yield})
	g.b.Block = stop.Else
	leave := &ir.Instr{Op: ir.Break, Target: in, Args: g.values(types)}
	g.b.Emit(leave, ir.Void)
	g.b.Block = outer
	g.targets = append(g.targets, in)
	for _, p := range in.Then.Params {
		g.add(p)
	}
	g.inside(in.Then, func() {
		next := append([]*ir.Value{g.op(ir.Add, ir.I32, counter, g.int(1))}, g.values(carried[1:])...)
		g.emit(&ir.Instr{Op: ir.Continue, Target: in, Args: next}, ir.Void)
	})
	for _, p := range in.Then.Params {
		g.live[p.Type] = remove(g.live[p.Type], p)
	}
	g.targets = g.targets[:len(g.targets)-1]
	for _, r := range in.Results {
		g.add(r)
	}
}

func remove(from []*ir.Value, v *ir.Value) []*ir.Value {
	for i, x := range from {
		if x == v {
			return append(from[:i:i], from[i+1:]...)
		}
	}
	return from
}

// output stores a late value of every type, so that most of the kernel matters.
func (g *generator) output() {
	for _, a := range g.outputs {
		g.emit(&ir.Instr{Op: ir.Store, Array: a, Path: onePath, Args: []*ir.Value{g.id, g.value(a.Elem.Scalar.Value())}}, ir.Void)
	}
}

func (g *generator) sites() {
	g.k.Sites = []ir.Site{{Line: 1, Col: 1, Text: "k"}}
	g.k.Body.Walk(func(in *ir.Instr) {
		in.Site = len(g.k.Sites)
		g.k.Sites = append(g.k.Sites, ir.Site{Line: 1 + in.Site, Col: 1, Text: in.Op.String()})
	})
}
