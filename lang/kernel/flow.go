package kernel

import (
	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// cell is the state of a variable at a point of the walk.
type cell struct {
	cur   *ir.Value
	state initState
}

// live returns the assigned variables of a set that are already declared.
func (c *compiler) live(sets syntax.Sets) []*variable {
	vars := make([]*variable, 0, len(sets))
	for _, d := range sets {
		if v := c.find(d); v != nil && v.slot && v.state != undeclared {
			vars = append(vars, v)
		}
	}
	return vars
}

func save(vars []*variable) []cell {
	cells := make([]cell, len(vars))
	for i, v := range vars {
		cells[i] = cell{v.cur, v.state}
	}
	return cells
}

func restore(vars []*variable, cells []cell) {
	for i, v := range vars {
		v.cur, v.state = cells[i].cur, cells[i].state
	}
}

// merge returns the state of a variable at a join of two paths.
func merge(a, b initState) initState {
	if a == b {
		return a
	}
	return maybeSet
}

// emit appends an instruction. An empty yield has no site, so that the text form can omit it.
func (c *compiler) emit(in *ir.Instr) {
	if in.Op != ir.Yield || len(in.Args) > 0 {
		in.Site = c.b.Site
	}
	c.b.Block.Instrs = append(c.b.Block.Instrs, in)
}

// terminate ends the current block; later code is typed but not kept.
func (c *compiler) terminate(in *ir.Instr) {
	c.emit(in)
	c.dead = true
	c.b.Block = &ir.Block{}
}

// current returns the values of variables, with zero for uninitialized ones.
func (c *compiler) current(vars []*variable) []*ir.Value {
	args := make([]*ir.Value, len(vars))
	for i, v := range vars {
		if args[i] = v.cur; v.cur == nil {
			args[i] = c.zero(v.typ)
		}
	}
	return args
}

// exit is the target of break, continue or return, with the variables whose values are passed to it.
type exit struct {
	instr      *ir.Instr
	isContinue bool // continues the loop instr
	vars       []*variable
	jumps      []*ir.Instr
	states     []initState // merged over the jumps
}

func newExit(in *ir.Instr, vars []*variable) *exit {
	settleTypes(vars)
	return &exit{instr: in, vars: vars}
}

// note adds a jump to the exit, and merges the current states of the exit's variables.
func (e *exit) note(jump *ir.Instr) {
	e.jumps = append(e.jumps, jump)
	if e.states == nil {
		e.states = make([]initState, len(e.vars))
		for i, v := range e.vars {
			e.states[i] = v.state
		}
		return
	}
	for i, v := range e.vars {
		e.states[i] = merge(e.states[i], v.state)
	}
}

// jump emits a jump to an exit, unless the code is unreachable.
func (c *compiler) jump(e *exit) {
	if c.dead {
		return
	}
	in := &ir.Instr{Op: ir.Break, Target: e.instr, Args: c.current(e.vars)}
	if e.isContinue {
		in.Op = ir.Continue
	}
	e.note(in)
	c.terminate(in)
}

// arrive continues after the construct of an exit, at the join of its jumps. Without jumps the code that follows is unreachable.
func (c *compiler) arrive(e *exit) {
	if len(e.jumps) == 0 {
		c.terminate(&ir.Instr{Op: ir.Unreachable})
		return
	}
	for i, v := range e.vars {
		v.state = e.states[i]
		r := c.k.NewValue(v.typ, e.instr)
		r.Name = v.name()
		e.instr.Results = append(e.instr.Results, r)
		v.cur = r
		if v.state == unset {
			v.cur = nil
		}
	}
}

// name returns the name of a variable, or "" if no declaration made it.
func (v *variable) name() string {
	if v.decl == nil {
		return ""
	}
	return v.decl.Name
}

// label returns the name of a variable in traces, which for a helper's result is "return".
func (v *variable) label() string {
	if v.decl == nil {
		return returned
	}
	return v.decl.Name
}

// region compiles body as a block that jumps to e can leave; the instruction of e is a new Region.
func (c *compiler) region(e *exit, body func()) {
	if c.dead {
		body()
		return
	}
	before := save(e.vars)
	outer := c.b.Block
	c.emit(e.instr)
	e.instr.Then = &ir.Block{}
	c.b.Block = e.instr.Then
	c.nest(body)
	if !c.dead {
		in := &ir.Instr{Op: ir.Yield, Args: c.current(e.vars)}
		e.note(in)
		c.emit(in)
	}
	c.b.Block, c.dead = outer, false
	e.prune(before)
	c.arrive(e)
}

// nest walks a nested block and reports nesting beyond the IR's limit.
func (c *compiler) nest(body func()) {
	c.nesting++
	if c.nesting == ir.MaxDepth {
		c.errorf(c.frame.fn.Span, diag.TooDeep, "use a table or a loop instead of a chain of conditions", "conditions and loops nest deeper than %d", ir.MaxDepth-1)
	}
	body()
	c.nesting--
}

// prune drops the variables that no jump changes, if there are jumps. before has the variables' states at the beginning of the
// construct.
func (e *exit) prune(before []cell) {
	for i := len(e.vars) - 1; i >= 0; i-- {
		same := len(e.jumps) > 0
		for _, j := range e.jumps {
			same = same && j.Args[i] == before[i].cur
		}
		if !same {
			continue
		}
		e.vars[i].cur, e.vars[i].state = before[i].cur, before[i].state
		e.vars = append(e.vars[:i:i], e.vars[i+1:]...)
		e.states = append(e.states[:i:i], e.states[i+1:]...)
		for _, j := range e.jumps {
			j.Args = append(j.Args[:i:i], j.Args[i+1:]...)
		}
	}
}

// arm is a walked side of a conditional.
type arm struct {
	block *ir.Block
	cells []cell // states of the variables at the end of the side
	dead  bool   // the end is unreachable
	out   value  // value of the side

	yields []*ir.Value // the parts of out, converted to the common types of both sides
}

// side walks one side of a conditional, at the beginning of which the variables have the states in from.
func (c *compiler) side(vars []*variable, from []cell, body func() value) arm {
	outer, dead := c.b.Block, c.dead
	a := arm{block: &ir.Block{}}
	restore(vars, from)
	c.b.Block = a.block
	c.nest(func() { a.out = body() })
	a.cells, a.dead = save(vars), c.dead
	c.b.Block, c.dead = outer, dead
	return a
}

// skipped types a side that is never executed, drops its code, and returns its value.
func (c *compiler) skipped(vars []*variable, body func() value) value {
	dead, before := c.dead, save(vars)
	c.dead = true
	a := c.side(vars, before, body)
	c.dead = dead
	restore(vars, before)
	return a.out
}

// branch compiles if (cond) yes else no, for statements and expressions. sets are the variables assigned in the sides. The
// result, if the sides have values, is their phi. Of a constant cond, only the selected side's code is kept.
func (c *compiler) branch(cond value, test syntax.Span, sets syntax.Sets, yes, no func() value) value {
	return c.choose(cond, test, test, sets, yes, no)
}

// choose compiles a branch like branch, with separate positions of the test and of the join.
func (c *compiler) choose(cond value, testAt, at syntax.Span, sets syntax.Sets, yes, no func() value) value {
	vars := c.live(sets)
	if cond.isConst() {
		if constTruth(cond) {
			out := yes()
			other := c.skipped(vars, no)
			return c.likeEither(out, other, at)
		}
		other := c.skipped(vars, yes)
		return c.likeEither(no(), other, at)
	}
	test := c.truth(cond)
	from := save(vars)
	t, e := c.side(vars, from, yes), c.side(vars, from, no)
	in := &ir.Instr{Op: ir.If, Args: []*ir.Value{test}, Then: t.block, Else: e.block}
	if c.dead {
		restore(vars, from)
		return c.join(in, &t, &e, at, false).value()
	}
	if t.dead && e.dead {
		c.emit(in)
		restore(vars, from)
		c.terminate(&ir.Instr{Op: ir.Unreachable})
		return value{kind: kVoid}
	}
	var tArgs, eArgs []*ir.Value
	var merged []*variable
	for i, v := range vars {
		tc, ec := t.cells[i], e.cells[i]
		switch {
		case t.dead:
			tc = ec
		case e.dead:
			ec = tc
		}
		v.cur, v.state = tc.cur, merge(tc.state, ec.state)
		if tc.cur == ec.cur && tc.cur == from[i].cur {
			continue
		}
		merged = append(merged, v)
		tArgs = append(tArgs, c.cellIn(t.block, tc, v))
		eArgs = append(eArgs, c.cellIn(e.block, ec, v))
	}
	out := c.join(in, &t, &e, at, true)
	if len(merged) == 0 && len(out.results) > 0 && !c.opts.Branches && !t.dead && !e.dead && cheap(t.block) && cheap(e.block) {
		c.selected(test, out)
		return out.value()
	}
	tArgs, eArgs = append(tArgs, t.yields...), append(eArgs, e.yields...)
	for _, v := range merged {
		v.cur = c.k.NewValue(v.typ, in)
		v.cur.Name = v.name()
		in.Results = append(in.Results, v.cur)
	}
	in.Results = append(in.Results, out.results...)
	if !t.dead {
		t.block.Instrs = append(t.block.Instrs, &ir.Instr{Op: ir.Yield, Args: tArgs})
	}
	if !e.dead {
		e.block.Instrs = append(e.block.Instrs, &ir.Instr{Op: ir.Yield, Args: eArgs})
	}
	before := c.at(testAt)
	c.emit(in)
	c.b.Site = before
	return out.value()
}

// cellIn returns the value of a cell in a block, or zero if the variable is uninitialized.
func (c *compiler) cellIn(b *ir.Block, s cell, v *variable) *ir.Value {
	if s.cur != nil {
		return s.cur
	}
	outer := c.b.Block
	c.b.Block = b
	defer func() { c.b.Block = outer }()
	return c.zero(v.typ)
}
