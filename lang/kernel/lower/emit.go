package lower

import "github.com/orepl/orepl/lang/kernel/ir"

// emitter appends leaves to the lowered kernel. Most methods append the instruction of their name and return its result. Some
// fold constant operands.
type emitter struct {
	ir.Builder
	target *Target
	taken  map[string]bool // names of the source's arrays and parameters
	consts map[constant]*ir.Value
	entry  ir.Block // constants, placed before the body
}

type constant struct {
	t    ir.Type
	bits uint64
}

// konst returns a constant; equal constants share a value.
func (e *emitter) konst(t ir.Type, bits uint64) *ir.Value {
	key := constant{t, bits}
	if v := e.consts[key]; v != nil {
		return v
	}
	outer, site := e.Block, e.Site
	e.Block, e.Site = &e.entry, 0
	v := e.Const(t, bits)
	e.Block, e.Site = outer, site
	e.consts[key] = v
	return v
}

func (e *emitter) int(t ir.Type, n int64) *ir.Value     { return e.konst(t, ir.IntBits(t, n)) }
func (e *emitter) i32(n int) *ir.Value                  { return e.int(ir.I32, int64(n)) }
func (e *emitter) float(t ir.Type, x float64) *ir.Value { return e.konst(t, ir.FloatBits(t, x)) }
func (e *emitter) zero(t ir.Type) *ir.Value             { return e.konst(t, 0) }

func (e *emitter) bin(op ir.Op, x, y *ir.Value) *ir.Value { return e.Op(op, x.Type, x, y) }
func (e *emitter) cmp(op ir.Op, x, y *ir.Value) *ir.Value { return e.Op(op, ir.Bool, x, y) }
func (e *emitter) add(x, y *ir.Value) *ir.Value           { return e.bin(ir.Add, x, y) }
func (e *emitter) sub(x, y *ir.Value) *ir.Value           { return e.bin(ir.Sub, x, y) }
func (e *emitter) mul(x, y *ir.Value) *ir.Value           { return e.bin(ir.Mul, x, y) }
func (e *emitter) eq(x, y *ir.Value) *ir.Value            { return e.cmp(ir.Eq, x, y) }
func (e *emitter) ne(x, y *ir.Value) *ir.Value            { return e.cmp(ir.Ne, x, y) }
func (e *emitter) lt(x, y *ir.Value) *ir.Value            { return e.cmp(ir.Lt, x, y) }
func (e *emitter) le(x, y *ir.Value) *ir.Value            { return e.cmp(ir.Le, x, y) }
func (e *emitter) shl(x *ir.Value, n int) *ir.Value       { return e.bin(ir.Shl, x, e.i32(n)) }
func (e *emitter) shr(x *ir.Value, n int) *ir.Value       { return e.bin(ir.Shr, x, e.i32(n)) }
func (e *emitter) clz(x *ir.Value) *ir.Value              { return e.Op(ir.Clz, ir.I32, x) }

// plus returns x + n.
func (e *emitter) plus(x *ir.Value, n int64) *ir.Value {
	if n == 0 {
		return x
	}
	return e.add(x, e.int(x.Type, n))
}

// truth returns the value of a constant condition; known is false for other conditions.
func truth(c *ir.Value) (is, known bool) {
	if c.Type != ir.Bool || c.Def == nil || c.Def.Op != ir.Const {
		return false, false
	}
	return c.Def.Bits != 0, true
}

func (e *emitter) and(x, y *ir.Value) *ir.Value {
	if is, known := truth(x); known && is {
		return y
	}
	if is, known := truth(y); known && is {
		return x
	}
	return e.bin(ir.And, x, y)
}

func (e *emitter) or(x, y *ir.Value) *ir.Value {
	for _, v := range []*ir.Value{x, y} {
		if is, known := truth(v); known && is {
			return v
		}
	}
	return e.bin(ir.Or, x, y)
}

func (e *emitter) not(x *ir.Value) *ir.Value {
	if is, known := truth(x); known && is {
		return e.konst(ir.Bool, 0)
	}
	return e.Op(ir.Not, x.Type, x)
}

func (e *emitter) sel(c, x, y *ir.Value) *ir.Value {
	if is, known := truth(c); known && is {
		return x
	}
	return e.Op(ir.Select, x.Type, c, x, y)
}

// wrap converts an integer to another integer type: it keeps the low bits, or extends: signed types by the sign, others by
// zeros. A bool becomes 0 or 1.
func (e *emitter) wrap(t ir.Type, x *ir.Value) *ir.Value {
	switch {
	case x.Type == t:
		return x
	case x.Type == ir.Bool:
		return e.Op(ir.Convert, t, x)
	}
	return e.Op(ir.Wrap, t, x)
}

func (e *emitter) convert(t ir.Type, x *ir.Value) *ir.Value {
	if x.Type == t {
		return x
	}
	return e.Op(ir.Convert, t, x)
}

// cast reinterprets the bits as a type of the same size.
func (e *emitter) cast(t ir.Type, x *ir.Value) *ir.Value {
	switch {
	case x.Type == t:
		return x
	case x.Type.IsInt() && t.IsInt():
		return e.Op(ir.Wrap, t, x)
	}
	return e.Op(ir.Bitcast, t, x)
}

// bitsType returns u64 for types of 8 bytes, and u32 for all others.
func bitsType(t ir.Type) ir.Type {
	if t.Size() == 8 {
		return ir.U64
	}
	return ir.U32
}

// choose emits an If and returns its results, which are the values that then or els returns. A nil els returns none. If c is
// the constant true, choose emits only then.
func (e *emitter) choose(c *ir.Value, then, els func() []*ir.Value) []*ir.Value {
	if is, known := truth(c); known && is {
		return then()
	}
	in := e.Nested(ir.If, nil, c)
	outer := e.Block
	e.Block = in.Then
	x := then()
	e.jump(ir.Yield, nil, x...)
	e.Block = in.Else
	var y []*ir.Value
	if els != nil {
		y = els()
	}
	e.jump(ir.Yield, nil, y...)
	e.Block = outer
	for _, v := range x {
		in.Results = append(in.Results, e.Kernel.NewValue(v.Type, in))
	}
	return in.Results
}

// when emits an If without an else branch.
func (e *emitter) when(c *ir.Value, then func()) {
	e.choose(c, func() []*ir.Value { then(); return nil }, nil)
}

// leave emits a jump that is taken if c is true.
func (e *emitter) leave(c *ir.Value, op ir.Op, target *ir.Instr, args ...*ir.Value) {
	in := e.Nested(ir.If, nil, c)
	outer := e.Block
	e.Block = in.Then
	e.jump(op, target, args...)
	e.Block = in.Else
	e.jump(ir.Yield, nil)
	e.Block = outer
}

func (e *emitter) jump(op ir.Op, target *ir.Instr, args ...*ir.Value) {
	e.Emit(&ir.Instr{Op: op, Target: target, Args: args}, ir.Void)
}

// loop emits a loop and returns its results. body emits the instructions of an iteration, of which the last must be a jump.
func (e *emitter) loop(results []ir.Type, init []*ir.Value, body func(l *ir.Instr, params []*ir.Value)) []*ir.Value {
	in := e.Nested(ir.Loop, results, init...)
	outer := e.Block
	e.Block = in.Then
	body(in, in.Then.Params)
	e.Block = outer
	return in.Results
}

// load emits a load of an element at a byte offset of type i64.
func (e *emitter) load(t ir.Type, a *ir.Array, at *ir.Value) *ir.Value {
	return e.Emit(&ir.Instr{Op: ir.Load, Array: a, Path: byteStep, Elem: t, Args: []*ir.Value{at}}, t.Value())
}

func (e *emitter) store(t ir.Type, a *ir.Array, at, x *ir.Value) {
	e.Emit(&ir.Instr{Op: ir.Store, Array: a, Path: byteStep, Elem: t, Args: []*ir.Value{at, x}}, ir.Void)
}

func (e *emitter) atomic(kind ir.AtomicKind, t ir.Type, a *ir.Array, at *ir.Value, args ...*ir.Value) *ir.Value {
	return e.Emit(&ir.Instr{Op: ir.Atomic, Atomic: kind, Array: a, Path: byteStep, Elem: t, Args: append([]*ir.Value{at}, args...)}, t)
}

var byteStep = []ir.Step{{Kind: ir.StepByte}}

func (e *emitter) item(kind ir.ItemKind, axis int) *ir.Value {
	return e.Emit(&ir.Instr{Op: ir.Item, Item: kind, Axis: axis}, ir.I32)
}

// variable is a private array of one element.
type variable struct {
	array *ir.Array
	t     ir.Type // type of the value; memory holds a bool as i32
}

func (e *emitter) get(v variable) *ir.Value {
	if v.t == ir.Bool {
		return e.ne(e.load(ir.I32, v.array, e.zero(ir.I64)), e.i32(0))
	}
	return e.load(v.t, v.array, e.zero(ir.I64))
}

func (e *emitter) set(v variable, x *ir.Value) {
	t := v.t
	if t == ir.Bool {
		t, x = ir.I32, e.wrap(ir.I32, x)
	}
	e.store(t, v.array, e.zero(ir.I64), x)
}

// unique returns name, or a variant of it if the source kernel has an array or parameter with that name.
func (e *emitter) unique(name string) string {
	for e.taken[name] {
		name += "'"
	}
	return name
}

// newArray adds an array of n elements to the kernel, under the name that unique returns. n is ignored for buffers.
func (e *emitter) newArray(name string, space ir.Space, t ir.Type, n int) *ir.Array {
	name = e.unique(name)
	a := &ir.Array{Name: name, Space: space, Elem: ir.Elem{Scalar: t}, Rank: 1, Dims: []int{n}, ID: len(e.Kernel.Arrays)}
	if space == ir.Global {
		a.Dims = nil
	}
	e.Kernel.Arrays = append(e.Kernel.Arrays, a)
	return a
}

func (e *emitter) newVariable(name string, t ir.Type) variable {
	elem := t
	if t == ir.Bool {
		elem = ir.I32
	}
	return variable{e.newArray(name, ir.Private, elem, 1), t}
}
