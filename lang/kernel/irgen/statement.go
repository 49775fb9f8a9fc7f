package irgen

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// maxDepth is the maximum number of nested blocks of random kernels.
const maxDepth = 4

// statements emits the statements of a block: Options.Size for the kernel's body, and a few for nested blocks. It stops when
// g.left is used up.
func (g *generator) statements(at context) {
	n := 2 + g.IntN(6)
	switch {
	case at.depth == 0:
		n = g.options.Size
	case g.options.Jumps:
		n = 1 + g.IntN(3)
	}
	for range n {
		if g.left <= 0 {
			return
		}
		g.statement(at)
	}
}

func (g *generator) statement(at context) {
	if g.options.Tiles && g.chance(25) {
		g.usePrivate(one(g, g.tiles))
		return
	}
	if g.options.Places && g.chance(20) {
		if g.chance(25) {
			g.alone()
		} else {
			g.affine.load()
		}
		return
	}
	deep := at.depth >= maxDepth
	if g.options.Extended && !deep && g.chance(12) {
		g.extend(at)
		return
	}
	if g.options.Calls && g.chance(8) {
		g.call()
		return
	}
	if g.options.Strides && !deep && g.chance(12) {
		g.stride(at)
		return
	}
	if g.options.Jumps && g.chance(80) {
		g.flow(at, deep)
		return
	}
	kind := g.IntN(100)
	switch {
	case kind < 50:
		g.operation()
	case kind < 58:
		g.load(one(g, g.inputs))
	case kind < 62:
		if a := one(g, g.outputs); g.chance(50) {
			g.storeOwn(a)
		} else {
			g.loadOwn(a)
		}
	case kind < 66:
		if len(g.private) > 0 {
			g.usePrivate(one(g, g.private))
		}
	case kind < 69:
		if len(g.counts) > 0 {
			g.emitAtomic(one(g, g.counts))
		}
	case kind < 71 && !g.options.Strides: // loops would print too much
		g.message()
	case kind < 79 && g.options.Groups && at.uniform:
		g.cooperate()
	case kind < 87 && !deep:
		g.branch(at)
	case kind < 91 && !deep:
		g.region(at)
	case kind < 97 && !deep:
		g.loop(at)
	case kind < 99:
		if v, ok := g.global(); ok {
			g.define(g.emit(&ir.Instr{Op: ir.Extent, Array: v.Array, Axis: g.IntN(v.Rank)}, ir.I32), true)
		}
	}
}

// flow emits a nested statement, a store, which shows the items that reach it, or an addition.
func (g *generator) flow(at context, deep bool) {
	switch kind := g.IntN(100); {
	case kind < 40 && !deep:
		g.branch(at)
	case kind < 55 && !deep:
		g.region(at)
	case kind < 75 && !deep:
		g.loop(at)
	case kind < 85:
		g.storeOwn(one(g, g.outputs))
	default:
		t := one(g, flowTypes[1:])
		x, y := g.some(t, false), g.some(t, false)
		g.define(g.b.Op(ir.Add, t, x.Value, y.Value), x.uniform && y.uniform)
	}
}

// digest emits a print of a number that depends on all values in scope.
func (g *generator) digest() {
	sum := g.int(0)
	for _, v := range g.values {
		x := v.Value
		switch x.Type {
		case ir.I32:
		case ir.Bool:
			x = g.b.Op(ir.Convert, ir.I32, x)
		case ir.F32:
			x = g.b.Op(ir.Bitcast, ir.I32, x)
		case ir.F64:
			x = g.b.Op(ir.Wrap, ir.I32, g.b.Op(ir.Bitcast, ir.I64, x))
		default:
			x = g.b.Op(ir.Wrap, ir.I32, x)
		}
		sum = g.b.Op(ir.Add, ir.I32, g.b.Op(ir.Mul, ir.I32, sum, g.int(31)), x)
	}
	g.emit(&ir.Instr{Op: ir.Print, Text: []string{"digest ", ""}, Args: []*ir.Value{sum}}, ir.Void)
}

// flowTypes are the types of results and carried values in kernels with Jumps.
var flowTypes = []ir.Type{ir.Bool, ir.I32, ir.I32, ir.F32, ir.F64}

// jump decides at random whether a block ends with a jump out of more than the block. percent is the probability in kernels
// without Jumps; with Jumps it is 50.
func (g *generator) jump(percent int) bool {
	if g.options.Jumps {
		percent = 50
	}
	return g.chance(percent)
}

// global returns the first input that is a buffer. It returns false if there is none.
func (g *generator) global() (*array, bool) {
	for _, a := range g.inputs {
		if a.Space == ir.Global {
			return a, true
		}
	}
	return nil, false
}

// operation emits an operation on values.
func (g *generator) operation() {
	if g.ops == nil {
		g.ops = Operations()
	}
	o := one(g, g.ops)
	in := &ir.Instr{Op: o.Op, Elem: o.Elem}
	uniform := true
	for _, t := range o.Args {
		v := g.some(t, false)
		in.Args = append(in.Args, v.Value)
		uniform = uniform && v.uniform
	}
	if (o.Op == ir.Div || o.Op == ir.Rem) && o.To.IsInt() && (g.options.NoFaults || g.chance(80)) {
		in.Args[1] = g.b.Op(ir.Or, o.To, in.Args[1], g.b.Int(o.To, 1))
	}
	g.define(g.emit(in, o.To), uniform)
}

// index emits an index in [0, extent). If faults are allowed, it rarely emits any integer instead.
func (g *generator) index(extent int) *ir.Value {
	t := ir.I32
	if g.chance(20) {
		t = one(g, Ints)
	}
	v := g.some(t, false).Value
	if !g.options.NoFaults && g.chance(3) {
		return v
	}
	if g.chance(30) {
		return g.b.Int(t, int64(g.IntN(extent)))
	}
	// clears the sign bit, so that the remainder is not negative
	most := int64(1)<<(8*t.Size()-1) - 1
	return g.b.Op(ir.Rem, t, g.b.Op(ir.And, t, v, g.b.Int(t, most)), g.b.Int(t, int64(extent)))
}

// fixed emits an index in [0, extent) that becomes constant when loops are unrolled.
func (g *generator) fixed(extent int) *ir.Value {
	if len(g.targets) > 0 && g.chance(60) {
		if t := one(g, g.targets); t.rounds > 0 && t.rounds <= extent {
			if g.chance(30) {
				return g.b.Op(ir.Sub, ir.I32, g.int(extent-1), t.counter)
			}
			return t.counter
		}
	}
	return g.int(g.IntN(extent))
}

// path sets the path to a scalar of an array. first holds the indices of the array itself; if it is nil, they are random.
// Fields, and the indices in them, are always random.
func (g *generator) path(a *array, in *ir.Instr, first []*ir.Value) {
	in.Array = a.Array
	index := g.index
	if slices.Contains(g.tiles, a) {
		index = g.fixed
	}
	if first == nil {
		if a.Rank > 1 && g.chance(30) {
			in.Path = append(in.Path, ir.Step{Kind: ir.StepFlat})
			in.Args = append(in.Args, index(product(a.dims)))
		} else {
			for _, d := range a.dims {
				in.Path = append(in.Path, ir.Step{})
				in.Args = append(in.Args, index(d))
			}
		}
	}
	for _, v := range first {
		in.Path = append(in.Path, ir.Step{})
		in.Args = append(in.Args, v)
	}
	for elem := a.Elem; elem.Record != nil; {
		n := g.IntN(len(elem.Record.Fields))
		f := &elem.Record.Fields[n]
		in.Path = append(in.Path, ir.Step{Kind: ir.StepField, Field: n})
		for _, d := range f.Dims {
			in.Path = append(in.Path, ir.Step{})
			in.Args = append(in.Args, index(d))
		}
		elem = f.Elem
	}
}

func (g *generator) load(a *array) { g.loadAt(a, nil) }

func (g *generator) loadOwn(a *array) { g.loadAt(a, g.ownIndices(a)) }

func (g *generator) loadAt(a *array, first []*ir.Value) {
	in := &ir.Instr{Op: ir.Load}
	g.path(a, in, first)
	g.define(g.emit(in, in.Accessed().Value()), false)
}

func (g *generator) storeOwn(a *array) { g.storeAt(a, g.ownIndices(a)) }

func (g *generator) storeAt(a *array, first []*ir.Value) {
	in := &ir.Instr{Op: ir.Store}
	g.path(a, in, first)
	in.Args = append(in.Args, g.some(in.Accessed().Value(), false).Value)
	g.emit(in, ir.Void)
}

func (g *generator) usePrivate(a *array) {
	switch kind := g.IntN(10); {
	case kind == 0:
		g.emit(&ir.Instr{Op: ir.Zero, Array: a.Array}, ir.Void)
	case kind < 6:
		g.storeAt(a, nil)
	default:
		g.load(a)
	}
}

// emitAtomic emits an atomic with an unused result.
func (g *generator) emitAtomic(a *array) {
	in := &ir.Instr{Op: ir.Atomic, Atomic: a.atomic}
	g.path(a, in, nil)
	in.Args = append(in.Args, g.some(a.Elem.Scalar, false).Value)
	g.emit(in, a.Elem.Scalar)
}

// message emits a print or an assert.
func (g *generator) message() {
	in := &ir.Instr{Op: ir.Print, Text: []string{"at "}}
	if !g.options.NoFaults && g.chance(30) {
		in.Op = ir.Assert
		in.Args = append(in.Args, g.some(ir.Bool, false).Value)
	}
	for range g.IntN(3) {
		in.Args = append(in.Args, g.some(one(g, Values), false).Value)
		in.Text = append(in.Text, one(g, []string{"", ", ", "\n\"\\", " → "}))
	}
	g.emit(in, ir.Void)
}

// inside emits the statements of a nested block, whose definitions go out of scope after end.
func (g *generator) inside(b *ir.Block, at context, end func()) {
	outer, scope := g.b.Block, len(g.values)
	g.b.Block = b
	g.statements(at)
	end()
	g.b.Block = outer
	g.values = g.values[:scope]
}

// types returns random types of results: one to three in kernels with Jumps, otherwise at most two.
func (g *generator) types() []ir.Type {
	if g.options.Jumps {
		out := make([]ir.Type, 1+g.IntN(3))
		for i := range out {
			out[i] = one(g, flowTypes)
		}
		return out
	}
	out := make([]ir.Type, g.IntN(3))
	for i := range out {
		out[i] = one(g, Values)
	}
	return out
}

// leave ends a block by a jump that passes a value of the type of each element of to.
func (g *generator) leave(op ir.Op, target *ir.Instr, to []*ir.Value) {
	in := &ir.Instr{Op: op, Target: target}
	for _, v := range to {
		in.Args = append(in.Args, g.handed(v.Type))
	}
	g.emit(in, ir.Void)
}

// handed returns a value for an edge; in kernels with Jumps often a carried value of an enclosing loop.
func (g *generator) handed(t ir.Type) *ir.Value {
	if g.options.Jumps && g.chance(50) {
		var fit []*ir.Value
		for _, target := range g.targets {
			for _, p := range target.in.Then.Params {
				if p.Type == t {
					fit = append(fit, p)
				}
			}
		}
		if len(fit) > 0 {
			return one(g, fit)
		}
	}
	return g.some(t, false).Value
}

// away tries to end a block by a jump out of more than the block, and reports whether it did.
func (g *generator) away(at context) bool {
	if !g.options.Groups && g.sealed == 0 && g.chance(10) {
		g.emit(&ir.Instr{Op: ir.Return}, ir.Void)
		return true
	}
	if len(g.targets) == 0 {
		return false
	}
	t := g.targets[len(g.targets)-1-min(g.IntN(len(g.targets)), g.IntN(len(g.targets)))]
	if !t.free {
		return false
	}
	if t.in.Op == ir.Loop && g.chance(40) {
		g.emitContinue(t)
		return true
	}
	g.leave(ir.Break, t.in, t.in.Results)
	return true
}

// emitContinue emits a Continue: it advances the counter and passes any values as other carried values, often permuted.
func (g *generator) emitContinue(t *target) {
	in := &ir.Instr{Op: ir.Continue, Target: t.in}
	params := t.in.Then.Params
	for i, v := range params {
		switch {
		case i == 0:
			in.Args = append(in.Args, g.b.Op(ir.Add, ir.I32, t.counter, g.int(1)))
		case g.chance(40) && one(g, params[1:]).Type == v.Type:
			in.Args = append(in.Args, g.sibling(params[1:], v.Type))
		default:
			in.Args = append(in.Args, g.some(v.Type, false).Value)
		}
	}
	g.emit(in, ir.Void)
}

func (g *generator) sibling(params []*ir.Value, t ir.Type) *ir.Value {
	for {
		if v := one(g, params); v.Type == t {
			return v
		}
	}
}

func (g *generator) branch(at context) {
	cond := g.some(ir.Bool, at.uniform && g.chance(50))
	if g.options.Jumps && !at.uniform && g.chance(70) {
		x := g.some(ir.I32, false).Value
		if g.chance(60) {
			x = g.b.Op(ir.Add, ir.I32, x, one(g, g.self))
		}
		x = g.b.Op(ir.And, ir.I32, x, g.int(7))
		cond = value{g.b.Op(ir.Lt, ir.Bool, x, g.int(1+g.IntN(7))), false}
	} else if cond.Def != nil && cond.Def.Op == ir.Const && g.chance(80) {
		x := g.some(ir.I32, false)
		cond = value{g.b.Op(ir.Lt, ir.Bool, x.Value, g.some(ir.I32, false).Value), false}
	}
	in := g.nested(ir.If, g.types(), cond.Value)
	inner := context{uniform: at.uniform && cond.uniform, depth: at.depth + 1}
	gone := 0
	for _, b := range []*ir.Block{in.Then, in.Else} {
		g.inside(b, inner, func() {
			if gone == 0 && g.jump(25) && g.away(inner) {
				gone++
				return
			}
			g.leave(ir.Yield, nil, in.Results)
		})
	}
	g.defineAll(in)
}

func (g *generator) nested(op ir.Op, results []ir.Type, args ...*ir.Value) *ir.Instr {
	g.left--
	return g.b.Nested(op, results, args...)
}

func (g *generator) defineAll(in *ir.Instr) {
	for _, v := range in.Results {
		g.define(v, false)
	}
}

func (g *generator) region(at context) {
	in := g.nested(ir.Region, g.types())
	t := &target{in: in, free: !at.uniform || g.chance(60)}
	g.targets = append(g.targets, t)
	g.inside(in.Then, context{uniform: at.uniform && !t.free, depth: at.depth + 1}, func() { g.leave(ir.Yield, nil, in.Results) })
	g.targets = g.targets[:len(g.targets)-1]
	g.defineAll(in)
}

// loop emits a loop with a few iterations, a uniform number if items stay together.
func (g *generator) loop(at context) {
	carried := append([]ir.Type{ir.I32}, g.types()...)
	if g.chance(50) { // carried values of one type, which may swap
		t := one(g, Values)
		carried = append(carried, t, t, t)
	}
	args := []*ir.Value{g.int(0)}
	for _, t := range carried[1:] {
		args = append(args, g.some(t, false).Value)
	}
	free := !at.uniform || g.chance(60)
	n := g.IntN(5)
	rounds := g.int(n)
	if g.chance(60) && !(g.options.Tiles && g.chance(70)) {
		n = 0
		v := g.some(ir.I32, !free)
		rounds = g.b.Op(ir.And, ir.I32, v.Value, g.int(3))
	}
	in := g.nested(ir.Loop, g.types(), args...)
	t := &target{in: in, free: free, counter: in.Then.Params[0], rounds: n}
	inner := context{uniform: at.uniform && !free, depth: at.depth + 1}
	outer, scope := g.b.Block, len(g.values)
	g.b.Block = in.Then
	for i, v := range in.Then.Params {
		g.define(v, i == 0 && !free)
	}
	more := g.b.Op(ir.Lt, ir.Bool, t.counter, rounds)
	g.define(more, !free)
	check := g.nested(ir.If, nil, more)
	g.inside(check.Then, context{depth: maxDepth}, func() { g.leave(ir.Yield, nil, nil) })
	leaving := g.b.Block
	g.b.Block = check.Else
	g.leave(ir.Break, in, in.Results)
	g.b.Block = leaving
	g.targets = append(g.targets, t)
	g.statements(inner)
	if g.options.Jumps && inner.depth < maxDepth && g.chance(50) {
		g.branch(inner)
	}
	if free && g.jump(15) {
		g.leave(ir.Break, in, in.Results)
	} else {
		g.emitContinue(t)
	}
	g.targets = g.targets[:len(g.targets)-1]
	g.b.Block = outer
	g.values = g.values[:scope]
	g.defineAll(in)
}

// stride emits a grid-stride loop, which starts at the item's position and advances by about the launch size. It ends at the end
// of a buffer, before it or, if faults are allowed, slightly after it.
func (g *generator) stride(at context) {
	a := one(g, g.long)
	first := g.self[len(g.self)-1]
	if g.chance(20) {
		first = g.b.Op(ir.Add, ir.I32, first, g.int(g.IntN(200)-100*g.IntN(2)))
	}
	bound := g.emit(&ir.Instr{Op: ir.Extent, Array: a.Array}, ir.I32)
	switch {
	case !g.options.NoFaults && g.chance(10):
		bound = g.b.Op(ir.Add, ir.I32, bound, g.int(g.IntN(50)))
	case g.chance(30):
		bound = g.int(g.IntN(a.dims[0] + 1))
	}
	step := g.int(g.c.Size[0])
	switch {
	case g.chance(50):
		step = g.emit(&ir.Instr{Op: ir.Item, Item: ir.GlobalSize}, ir.I32)
	case g.chance(30):
		step = g.int(g.c.Size[0] + g.IntN(200))
	}
	carried := g.types()
	args := []*ir.Value{first}
	for _, t := range carried {
		args = append(args, g.some(t, false).Value)
	}
	in := g.nested(ir.Loop, carried, args...)
	i, sums := in.Then.Params[0], in.Then.Params[1:]
	outer, scope := g.b.Block, len(g.values)
	g.b.Block = in.Then
	op, x, y := ir.Lt, i, bound
	if g.chance(20) {
		op = ir.Le // the same condition in another form
		y = g.b.Op(ir.Sub, ir.I32, bound, g.int(1))
	}
	check := g.nested(ir.If, nil, g.b.Op(op, ir.Bool, x, y))
	body := g.b.Block
	if g.b.Block = check.Then; g.chance(20) {
		g.statements(context{depth: maxDepth})
	}
	g.emit(&ir.Instr{Op: ir.Yield}, ir.Void)
	g.values = g.values[:scope]
	g.b.Block = check.Else
	g.emit(&ir.Instr{Op: ir.Break, Target: in, Args: slices.Clone(sums)}, ir.Void)
	g.b.Block = body
	g.define(i, false)
	for _, v := range sums {
		g.define(v, false)
	}
	index := i
	if g.chance(10) { // a descending access
		index = g.b.Op(ir.Sub, ir.I32, g.b.Op(ir.Sub, ir.I32, bound, g.int(1)), i)
	}
	if g.options.NoFaults { // the first index may be negative
		index = g.b.Op(ir.Max, ir.I32, g.b.Op(ir.Min, ir.I32, index, g.int(a.dims[0]-1)), g.int(0))
		if first == g.self[len(g.self)-1] && g.chance(80) {
			index = i
		}
	}
	g.loadAt(a, []*ir.Value{index})
	g.targets = append(g.targets, &target{in: in, free: g.chance(20), counter: i})
	g.statements(context{depth: at.depth + 1})
	next := &ir.Instr{Op: ir.Continue, Target: in, Args: []*ir.Value{g.b.Op(ir.Add, ir.I32, i, step)}}
	for _, v := range sums {
		next.Args = append(next.Args, g.some(v.Type, false).Value)
	}
	g.emit(next, ir.Void)
	g.targets = g.targets[:len(g.targets)-1]
	g.b.Block = outer
	g.values = g.values[:scope]
	g.defineAll(in)
}

// cooperate emits a group operation.
func (g *generator) cooperate() {
	if g.options.Places && g.chance(20) {
		g.tally()
		return
	}
	switch kind := g.IntN(10); {
	case kind < 3:
		a := one(g, g.shared)
		barrier := func() { g.emit(&ir.Instr{Op: ir.Barrier}, ir.Void) }
		if a.own != nil {
			g.storeAt(a, a.own)
		} else {
			g.storeAt(a, []*ir.Value{g.lid})
		}
		barrier()
		for range 1 + g.IntN(3) {
			g.load(a)
		}
		barrier()
	case kind < 7 || !g.options.Subgroups:
		in := &ir.Instr{Op: ir.Reduce, Combine: ir.Combine(g.IntN(3))}
		if g.chance(50) {
			in.Op, in.Exclusive = ir.Scan, g.chance(50)
		}
		t := one(g, Values[1:])
		in.Args = []*ir.Value{g.some(t, false).Value}
		g.define(g.emit(in, t), in.Op == ir.Reduce)
	default:
		g.subgroup()
	}
	if g.chance(15) && !g.options.NoFaults {
		t := one(g, Values)
		g.define(g.emit(&ir.Instr{Op: ir.Uniform, Args: []*ir.Value{g.some(t, g.chance(70)).Value}}, t), true)
	}
}

func (g *generator) subgroup() {
	in := &ir.Instr{Op: ir.Subgroup, Subgroup: ir.SubgroupKind(g.IntN(int(ir.SubgroupScanAdd) + 1))}
	t, to := one(g, Values[1:]), ir.Void
	switch in.Subgroup {
	case ir.SubgroupAny, ir.SubgroupAll:
		t = ir.Bool
	case ir.SubgroupBallot:
		t, to = ir.Bool, ir.U64
	}
	shuffles := in.Subgroup >= ir.SubgroupBroadcast && in.Subgroup <= ir.SubgroupShuffleDown
	if shuffles && g.options.Even && g.chance(20) {
		t = ir.Bool
	}
	if to == ir.Void {
		to = t
	}
	in.Args = []*ir.Value{g.some(t, false).Value}
	if shuffles {
		in.Args = append(in.Args, g.index(g.c.SubgroupSize+2))
		if in.Args[1].Type != ir.I32 {
			in.Args[1] = g.int(g.IntN(8))
		}
	}
	g.define(g.emit(in, to), false)
}
