package interp

import (
	"github.com/orepl/orepl/lang/kernel/ir"
)

// compiler compiles a kernel to nodes and assigns registers to its values.
type compiler struct {
	p   *Program
	err error

	regs  []int         // register of each value, by ID
	last  []int         // position of each value's last use in its block, by ID
	free  map[int][]int // reusable registers, by size in words
	top   int           // words in use
	known map[any]int   // registers of constants and inputs

	owner *ir.Instr         // the instruction that a Yield ends
	exits map[*ir.Instr]int // lane set for the exit of a structured instruction
	nexts map[*ir.Instr]int // lane set for a loop's next iteration
}

func newCompiler(p *Program) *compiler {
	n := p.kernel.NumValues()
	c := &compiler{p: p, regs: make([]int, n), last: make([]int, n), free: map[int][]int{}, known: map[any]int{},
		exits: map[*ir.Instr]int{}, nexts: map[*ir.Instr]int{}}
	lives := lifetimes{last: c.last, depth: make([]int, n)}
	lives.block(p.kernel.Body)
	return c
}

// lifetimes computes each value's last use: the last instruction of its own block that uses it or contains a use.
type lifetimes struct {
	last  []int
	depth []int // nesting depth of each value's block
	at    []int // position in each open block
}

func (l *lifetimes) block(b *ir.Block) {
	depth := len(l.at)
	l.at = append(l.at, 0)
	define := func(v *ir.Value) {
		l.depth[v.ID] = depth
		l.last[v.ID] = l.at[depth]
	}
	for _, v := range b.Params {
		define(v)
	}
	for i, in := range b.Instrs {
		l.at[depth] = i
		for _, v := range in.Args {
			l.last[v.ID] = l.at[l.depth[v.ID]]
		}
		for _, v := range in.Results {
			define(v)
		}
		if in.Then != nil {
			l.block(in.Then)
		}
		if in.Else != nil {
			l.block(in.Else)
		}
	}
	l.at = l.at[:depth]
}

func words(t ir.Type) int { return t.Size() * width / 8 }

// fresh allocates a new register instead of reusing a released one.
func (c *compiler) fresh(t ir.Type) int {
	reg := c.top
	c.top += words(t)
	if c.top > maxRegisters/8 && c.err == nil {
		c.err = c.p.unsupported(0, "too many values live at once")
	}
	return reg
}

// take allocates a register, if possible one that was released.
func (c *compiler) take(t ir.Type) int {
	size := words(t)
	if list := c.free[size]; len(list) > 0 {
		c.free[size] = list[:len(list)-1]
		return list[len(list)-1]
	}
	return c.fresh(t)
}

func (c *compiler) release(v *ir.Value) {
	size := words(v.Type)
	c.free[size] = append(c.free[size], c.regs[v.ID])
}

func (c *compiler) reg(v *ir.Value) int { return c.regs[v.ID] }

// input returns the register of an input. Inputs with equal keys are the same and share a register.
func (c *compiler) input(key any, in input) int {
	reg, ok := c.known[key]
	if !ok {
		reg = c.fresh(in.t)
		in.reg = reg
		c.p.inputs = append(c.p.inputs, in)
		c.known[key] = reg
	}
	return reg
}

func (c *compiler) set() int {
	c.p.numSets++
	return c.p.numSets - 1
}

// entry assigns registers to the scalar parameters and compiles the kernel's body.
func (c *compiler) entry() block {
	k := c.p.kernel
	scalars := k.Body.Params
	for i := range k.Params {
		if k.Params[i].Array == nil {
			v := scalars[0]
			scalars = scalars[1:]
			c.regs[v.ID] = c.input(v, input{kind: inputParam, t: v.Type, param: i})
		}
	}
	return c.block(k.Body)
}

// pinned reports whether an instruction's result has a register that is never released.
func pinned(in *ir.Instr) bool { return in.Op == ir.Const || in.Op == ir.Item || in.Op == ir.Extent }

func (c *compiler) block(b *ir.Block) block {
	var out block
	var steps line
	flush := func() {
		if len(steps) > 0 {
			out = append(out, steps)
			steps = nil
		}
	}
	ends := make([][]*ir.Value, len(b.Instrs)) // values to release after each instruction
	for i, in := range b.Instrs {
		if c.err != nil {
			return nil
		}
		if !pinned(in) {
			for _, v := range in.Results {
				c.regs[v.ID] = c.take(v.Type)
				ends[c.last[v.ID]] = append(ends[c.last[v.ID]], v)
			}
		}
		s, n := c.instr(in)
		if s != nil {
			steps = append(steps, s)
		}
		if n != nil {
			flush()
			out = append(out, n)
		}
		for _, v := range ends[i] {
			c.release(v)
		}
	}
	flush()
	return out
}

// nested compiles block b of the structured instruction in. A Yield in the block belongs to in.
func (c *compiler) nested(in *ir.Instr, b *ir.Block) block {
	outer := c.owner
	c.owner = in
	out := c.block(b)
	c.owner = outer
	return out
}

// instr compiles an instruction to a step or to a node, or to neither if it needs no code at run time.
func (c *compiler) instr(in *ir.Instr) (step, node) {
	switch in.Op {
	case ir.Region:
		n := &region{exit: c.set()}
		c.exits[in] = n.exit
		n.body = c.nested(in, in.Then)
		return nil, n
	case ir.If:
		n := &branch{cond: c.reg(in.Args[0]), exit: c.set(), masks: c.p.numMasks}
		c.p.numMasks += 2
		c.exits[in] = n.exit
		n.then, n.els = c.nested(in, in.Then), c.nested(in, in.Else)
		return nil, n
	case ir.Loop:
		return nil, c.loop(in)
	case ir.Yield:
		return nil, &jump{c.copies(c.owner.Results, in.Args), c.exits[c.owner]}
	case ir.Break:
		return nil, &jump{c.copies(in.Target.Results, in.Args), c.exits[in.Target]}
	case ir.Continue:
		return nil, &jump{c.copies(in.Target.Then.Params, in.Args), c.nexts[in.Target]}
	case ir.Return, ir.Unreachable:
		return nil, finish{}
	case ir.Barrier:
		return nil, barrier{}
	case ir.Reduce, ir.Scan, ir.Subgroup, ir.Uniform:
		return nil, c.group(in)
	}
	return c.simple(in), nil
}

func (c *compiler) loop(in *ir.Instr) node {
	n := &loop{exit: c.set(), next: c.set()}
	c.exits[in], c.nexts[in] = n.exit, n.next
	for _, v := range in.Then.Params {
		c.regs[v.ID] = c.take(v.Type)
	}
	n.enter = c.copies(in.Then.Params, in.Args)
	n.body = c.nested(in, in.Then)
	// Parameters stay allocated until here, because every Continue writes all of them.
	for _, v := range in.Then.Params {
		c.release(v)
	}
	return n
}

// copies compiles a parallel assignment: each value of to receives the value that its counterpart in from had before.
func (c *compiler) copies(to, from []*ir.Value) line {
	var out line
	written := map[int]bool{}
	var late []func()
	for i := range to {
		d, x, t := c.reg(to[i]), c.reg(from[i]), to[i].Type
		if d == x {
			continue
		}
		if written[x] {
			// an earlier copy overwrites x, so x is saved first
			spare := c.take(t)
			out = append(line{copying(t, spare, x)}, out...)
			late = append(late, func() { c.free[words(t)] = append(c.free[words(t)], spare) })
			x = spare
		}
		out = append(out, copying(t, d, x))
		written[d] = true
	}
	for _, free := range late {
		free()
	}
	return out
}

func copying(t ir.Type, d, x int) step {
	switch t.Size() {
	case 1:
		return move[uint8](d, x)
	case 4:
		return move[uint32](d, x)
	}
	return move[uint64](d, x)
}

// simple compiles an instruction without control flow or group operations. It returns nil if the instruction needs no step,
// and after an error for an operation that is not supported.
func (c *compiler) simple(in *ir.Instr) step {
	var s step
	switch in.Op {
	case ir.Const:
		c.constant(in)
		return nil
	case ir.Item:
		c.regs[in.Result().ID] = c.input([3]int{int(inputItem), int(in.Item), in.Axis},
			input{kind: inputItem, t: ir.I32, item: in.Item, axis: in.Axis})
		return nil
	case ir.Extent:
		c.regs[in.Result().ID] = c.input([3]int{int(inputExtent), in.Array.ID, in.Axis},
			input{kind: inputExtent, t: ir.I32, array: in.Array, axis: in.Axis})
		return nil
	case ir.Load:
		return c.access(in).load(c.reg(in.Result()))
	case ir.Store:
		return c.access(in).store(c.reg(in.Args[len(in.Args)-1]))
	case ir.Atomic:
		s = c.atomic(in)
	case ir.Zero:
		return clearPrivate(in.Array, c.p.offsets[in.Array.ID], in.Array.Bytes(), c.p.privateBytes)
	case ir.Print:
		return c.print(in)
	case ir.Assert:
		return c.assert(in)
	case ir.Call:
		return c.call(in)
	case ir.Fence, ir.Clock, ir.Pause:
		return c.order(in)
	case ir.Lib:
	default:
		s = c.arithmetic(in)
	}
	if s == nil && c.err == nil {
		what := in.Op.String()
		if in.Op == ir.Math || in.Op == ir.Lib {
			what += "." + in.Fn
		}
		for _, v := range in.Args {
			what += " " + v.Type.String()
		}
		c.err = c.p.unsupported(in.Site, "%s", what)
	}
	return s
}

func (c *compiler) constant(in *ir.Instr) {
	v := in.Result()
	k := constant{t: v.Type, bits: in.Bits}
	reg, ok := c.known[k]
	if !ok {
		reg = c.fresh(v.Type)
		c.known[k] = reg
		c.p.constants = append(c.p.constants, constant{reg: reg, t: v.Type, bits: in.Bits})
	}
	c.regs[v.ID] = reg
}

// arithmetic compiles an operation on values, or returns nil if the types have none.
func (c *compiler) arithmetic(in *ir.Instr) step {
	d := c.reg(in.Result())
	x, from, to := c.reg(in.Args[0]), in.Args[0].Type, in.Type()
	apply := func(op unary) step {
		if op == nil {
			return nil
		}
		return op(d, x)
	}
	switch in.Op {
	case ir.Convert:
		if from == to {
			return copying(to, d, x)
		}
		return apply(convertOps.Get()[conversion{from, to}])
	case ir.Sat:
		return apply(satOps.Get()[conversion{from, to}])
	case ir.Wrap:
		return apply(wrapOps.Get()[conversion{from, to}])
	case ir.Bitcast:
		return bitcast(from, to, d, x)
	case ir.Quant:
		switch in.Elem {
		case ir.F16:
			return apply(mapped(quantHalf))
		case ir.BF16:
			return apply(mapped(quantBrain))
		case ir.F32:
			return apply(mapped(bits32))
		}
		return apply(mapped(bits64))
	case ir.FMA:
		y, z := c.reg(in.Args[1]), c.reg(in.Args[2])
		if to == ir.F32 {
			return fmaStep32(d, x, y, z)
		}
		return fmaStep64(d, x, y, z)
	case ir.Select:
		y, z := c.reg(in.Args[1]), c.reg(in.Args[2])
		switch to.Size() {
		case 1:
			return choose[uint8](d, x, y, z)
		case 4:
			return choose[uint32](d, x, y, z)
		}
		return choose[uint64](d, x, y, z)
	}
	if ops, ok := unaryOps.Get()[in.Op]; ok {
		return apply(ops.of(from))
	}
	ops, ok := binaryOps.Get()[in.Op]
	if !ok {
		return nil
	}
	op := ops.of(from)
	if op == nil {
		return nil
	}
	y := c.reg(in.Args[1])
	s := op(d, x, y)
	if (in.Op == ir.Div || in.Op == ir.Rem) && from.IsInt() && !(in.Proved&ir.ProvedDivisor != 0 && !c.p.options.IgnoreProofs) {
		return dividing(s, y, from.Size(), in.Site)
	}
	return s
}

// dividing adds the divisor check to an integer division. A lane with a zero divisor faults unless faults are disabled.
func dividing(divide step, y, size, site int) step {
	return func(f *frame, lanes []uint8) {
		if !f.w.launch.Unchecked {
			if size == 4 {
				findZeros[uint32](f, lanes, y, site)
			} else {
				findZeros[uint64](f, lanes, y, site)
			}
		}
		divide(f, lanes)
	}
}

func findZeros[T unsigned](f *frame, lanes []uint8, y, site int) {
	divisor := at[T](f, y)
	for _, i := range lanes {
		if divisor[i] == 0 {
			f.leave(i)
			f.fault(i, DivisionByZero, site)
		}
	}
}

// access compiles the path of a memory access.
func (c *compiler) access(in *ir.Instr) *access {
	r := in.Resolve()
	a := &access{array: in.Array, site: in.Site, scalar: r.Scalar, offset: uint64(r.Offset)}
	if in.Array.Space == ir.Private {
		a.lane = uint64(c.p.privateBytes)
		a.offset += uint64(c.p.offsets[in.Array.ID])
	}
	a.atomic = in.Op == ir.Atomic
	a.writes = in.Op == ir.Store || a.atomic && in.Atomic != ir.AtomicLoad
	a.zeros = c.p.counted[in.Array]
	for k := range r.Strides {
		a.terms = append(a.terms, term{reg: c.reg(in.Args[k]), index: in.Args[k].Type, stride: uint64(r.Strides[k]),
			inner: r.Inner[k], extent: r.Extents[k], proved: in.Proved>>k&1 != 0 && !c.p.options.IgnoreProofs})
	}
	return a
}
