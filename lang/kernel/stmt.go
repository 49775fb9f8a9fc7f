package kernel

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// target is a possible target of break or continue.
type target struct {
	labels    []string
	breaks    bool // target of an unlabelled break
	frame     *frame
	exit      *exit
	continues *exit // nil if it is not a loop
}

func (c *compiler) stmts(list []syntax.Stmt) {
	for i, s := range list {
		wasDead := c.dead
		c.stmt(s)
		if c.dead && !wasDead && i+1 < len(list) {
			c.dead = false // only for the warning
			c.warnf(list[i+1].Range(), diag.UnreachableCode, "remove it", "this code is never reached")
			c.dead = true
		}
	}
}

func (c *compiler) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		c.step(s.Span, func() { c.effect(s.X) })
	case *syntax.Declare:
		c.step(s.Span, func() { c.declareStmt(s) })
	case *syntax.Many:
		for _, d := range s.List {
			c.stmt(d)
		}
	case *syntax.Block:
		c.stmts(s.List)
	case *syntax.If:
		c.ifStmt(s)
	case *syntax.Loop:
		c.loop(s)
	case *syntax.Labelled:
		e := newExit(&ir.Instr{Op: ir.Region}, c.live(s.Sets))
		c.within(&target{labels: s.Labels, exit: e}, func() {
			c.region(e, func() { c.stmt(s.Body) })
		})
	case *syntax.Switch:
		c.switchStmt(s)
	case *syntax.Branch:
		c.step(s.Span, func() {})
		c.branchStmt(s)
	case *syntax.Return:
		c.returnStmt(s)
	}
}

// effect compiles an expression whose value is unused.
func (c *compiler) effect(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Call:
		c.call(x, true)
	case *syntax.Cond:
		c.branch(c.condition(x.Test), x.Test.Range(), x.Sets, c.effectOf(x.Then), c.effectOf(x.Else))
	case *syntax.Logical:
		yes, no := c.effectOf(x.Y), func() value { return value{kind: kVoid} }
		if x.Op == syntax.LogicalOr {
			yes, no = no, yes
		}
		c.branch(c.condition(x.X), x.X.Range(), x.Sets, yes, no)
	case *syntax.Seq:
		for _, e := range x.List {
			c.effect(e)
		}
	default:
		c.expr(x)
	}
}

// mayAct reports whether an expression has the form of one with a side effect: an assignment, an update, a call or void x. It looks
// into the branches of ?:, the right operands of && and ||, and the last operand of a comma.
func mayAct(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Assign, *syntax.Update, *syntax.Call:
		return true
	case *syntax.Cond:
		return mayAct(x.Then) || mayAct(x.Else)
	case *syntax.Logical:
		return mayAct(x.Y)
	case *syntax.Seq:
		return mayAct(x.List[len(x.List)-1])
	case *syntax.Unary:
		return x.Op == syntax.Void
	}
	return false
}

// isVoid reports whether an expression is void x, a comma that ends in one, or a choice between two. A nil expression is not.
func isVoid(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Unary:
		return x.Op == syntax.Void
	case *syntax.Seq:
		return isVoid(x.List[len(x.List)-1])
	case *syntax.Cond:
		return isVoid(x.Then) && isVoid(x.Else)
	}
	return false
}

func (c *compiler) effectOf(x syntax.Expr) func() value {
	return func() value {
		c.effect(x)
		return value{kind: kVoid}
	}
}

func (c *compiler) within(t *target, body func()) {
	t.frame = c.frame
	c.targets = append(c.targets, t)
	body()
	c.targets = c.targets[:len(c.targets)-1]
}

func (c *compiler) declareStmt(s *syntax.Declare) {
	name, ok := s.Target.(*syntax.Name)
	if !ok {
		if s.Init != nil {
			c.destructure(s.Target, c.expr(s.Init), s.Init.Range(), true)
		}
		return
	}
	if s.Init == nil {
		v := c.declare(name.Decl)
		v.state = unset
		if !v.slot {
			v.fixed = value{kind: kVoid}
		}
		return
	}
	c.bind(name.Decl, c.expr(s.Init), s.Init.Range())
}

// declare creates a declaration's variable in the current frame, with the type that the last walk inferred. The caller sets its
// state.
func (c *compiler) declare(d *syntax.Decl) *variable {
	v := &c.frame.vars[d.Index]
	*v = variable{decl: d, info: &c.frame.info.vars[d.Index], slot: d.Assigned}
	v.typ, v.taint = v.info.typ, v.info.taint
	if !v.info.known {
		v.typ = ir.Void
	}
	return v
}

// bind declares a name with its initial value. It reports a string, and what has no value, as an error. If the name is assigned
// again, it also reports any other value that is no scalar.
func (c *compiler) bind(d *syntax.Decl, init value, at syntax.Span) {
	v := c.declare(d)
	if !v.slot {
		v.fixed, v.state = init, set
		if init.kind == kPlace {
			if init.place.arr == c.unnamed {
				c.unnamed.Name = c.uniqueName(d.Name)
				c.unnamed = nil
			}
			named := *init.place
			named.fresh = false
			v.fixed.place = &named
		}
		if init.kind == kReg && init.reg.Name == "" {
			init.reg.Name = d.Name
		}
		if init.kind == kVoid || init.kind == kStr {
			c.wantScalar(init, at)
		}
		c.markValue(d.Name, init, at)
		return
	}
	if init.kind == kPlace || init.kind == kTuple || init.kind == kObject || init.kind == kFunc {
		c.errorf(at, diag.ReferenceReassigned, "use `const`, and choose the index instead of the array", "%s is assigned again, and an array, record or function cannot be", d.Name)
		v.state = set
		if v.typ == ir.Void {
			v.typ = ir.I32
		}
		v.cur = c.zero(v.typ)
		return
	}
	c.assign(v, init, at)
}

// assign assigns a value to a variable, whose type is the join of all its values. It reports a value that is no scalar.
func (c *compiler) assign(v *variable, x value, at syntax.Span) {
	if !c.wantScalar(x, at) {
		x = bad
	}
	v.join |= joinOf(x)
	v.taint |= x.taint
	if v.typ == ir.Void {
		v.typ, _ = v.join.typ(c.real) // provisional until the end of the walk
	}
	if x.kind == kBad {
		v.cur = c.zero(v.typ)
	} else {
		v.cur = c.joined(x, v.typ, at)
	}
	if v.cur.Name == "" {
		v.cur.Name = v.name()
	}
	v.state = set
	c.markValue(v.label(), register(v.cur), at)
}

// read returns the value of a variable. It reports an error, and returns bad, if the variable is not declared yet or is unset. In
// unreachable code an unset variable is 0.
func (c *compiler) read(v *variable, n *syntax.Name) value {
	switch {
	case v.state == undeclared:
		c.errorf(n.Span, diag.UsedBeforeDeclared, "move the declaration up", "%s is used before its declaration", n.Name)
		return bad
	case v.state == unset && c.dead:
		return register(c.zero(v.slotType()))
	case v.state == unset || v.fixed.kind == kVoid && !v.slot:
		c.errorf(n.Span, diag.ReadBeforeWritten, fmt.Sprintf("give it a value: `let %s = 0`", n.Name), "%s has no value here", n.Name)
		return bad
	case !v.slot:
		return v.fixed
	}
	return register(v.cur).withTaint(v.taint)
}

func (v *variable) slotType() ir.Type {
	if v.typ == ir.Void {
		return ir.I32
	}
	return v.typ
}

func (c *compiler) ifStmt(s *syntax.If) {
	c.branch(c.tested(s.Test, c.condition), s.Test.Range(), s.Sets,
		func() value { c.stmt(s.Then); return value{kind: kVoid} },
		func() value {
			if s.Else != nil {
				c.stmt(s.Else)
			}
			return value{kind: kVoid}
		})
}

// condition compiles a condition to a constant or a register of any type. The operands of && and || need no common type,
// because only their truth matters.
func (c *compiler) condition(x syntax.Expr) value {
	if l, ok := x.(*syntax.Logical); ok {
		left := c.asTruth(c.condition(l.X))
		keep := func() value { return left }
		right := func() value { return c.asTruth(c.condition(l.Y)) }
		if l.Op == syntax.LogicalOr {
			return c.branch(left, l.X.Range(), l.Sets, keep, right)
		}
		return c.branch(left, l.X.Range(), l.Sets, right, keep)
	}
	return c.scalar(x)
}

// scalar compiles an expression that must be a number, BigInt or bool. After an error it returns a false bool.
func (c *compiler) scalar(x syntax.Expr) value {
	v := c.expr(x)
	if !c.wantScalar(v, x.Range()) {
		return register(c.zero(ir.Bool))
	}
	return v
}

// asTruth returns a condition as a bool.
func (c *compiler) asTruth(v value) value {
	if v.isConst() {
		return boolean(constTruth(v))
	}
	return register(c.truth(v))
}

// settleTypes makes the variables without a type i32, so that a loop or region can carry them.
func settleTypes(vars []*variable) {
	for _, v := range vars {
		v.typ = v.slotType()
	}
}

func (c *compiler) loop(s *syntax.Loop) {
	for _, st := range s.Init {
		c.stmt(st)
	}
	vars := c.live(s.Sets)
	settleTypes(vars)
	from := save(vars)
	in := &ir.Instr{Op: ir.Loop, Args: c.current(vars), Then: &ir.Block{}}
	wasDead, outer := c.dead, c.b.Block
	before := c.at(testSpan(s))
	c.emit(in)
	c.b.Site = before
	c.b.Block = in.Then
	for _, v := range vars {
		p := c.k.NewValue(v.typ, nil)
		p.Name = v.name()
		in.Then.Params = append(in.Then.Params, p)
		v.cur = p
		if v.state == unset {
			v.state = maybeSet
		}
	}
	out := newExit(in, vars)
	next := &exit{instr: in, isContinue: true, vars: vars}
	t := &target{labels: s.Labels, breaks: true, exit: out, continues: next}
	if s.TestFirst {
		c.loopTest(s, out)
	}
	body := func() { c.stmt(s.Body) }
	c.nesting++
	c.within(t, func() {
		if s.Continues && (s.Update != nil || !s.TestFirst) {
			next := newExit(&ir.Instr{Op: ir.Region}, slices.Clone(vars))
			t.continues = next
			c.region(next, body)
		} else {
			body()
		}
	})
	if s.Update != nil {
		c.step(s.Update.Range(), func() { c.effect(s.Update) })
	}
	if !s.TestFirst {
		c.loopTest(s, out)
	}
	c.nesting--
	c.jump(next)
	c.b.Block, c.dead = outer, wasDead
	if wasDead {
		restore(vars, from)
		return
	}
	c.arrive(out)
}

func testSpan(s *syntax.Loop) syntax.Span {
	if s.Test != nil {
		return s.Test.Range()
	}
	return s.Span
}

// loopTest emits a jump out of the loop for a false condition. It emits none if there is no condition, or it is a true constant.
func (c *compiler) loopTest(s *syntax.Loop, out *exit) {
	if s.Test == nil {
		return
	}
	cond := c.tested(s.Test, c.condition)
	if cond.isConst() && constTruth(cond) {
		return
	}
	leave := func() value { c.jump(out); return value{kind: kVoid} }
	if cond.isConst() {
		leave()
		return
	}
	c.branch(cond, s.Test.Range(), nil, func() value { return value{kind: kVoid} }, leave)
}

func (c *compiler) branchStmt(s *syntax.Branch) {
	for i := len(c.targets) - 1; i >= 0; i-- {
		t := c.targets[i]
		if t.frame != c.frame {
			return
		}
		if s.Label == "" && !t.breaks || s.Label != "" && !slices.Contains(t.labels, s.Label) || s.Continue && t.continues == nil {
			continue
		}
		if s.Continue {
			c.jump(t.continues)
		} else {
			c.jump(t.exit)
		}
		return
	}
}

func (c *compiler) returnStmt(s *syntax.Return) {
	f := c.frame
	if f.kernel {
		if s.X != nil && !isVoid(s.X) {
			c.errorf(s.Span, diag.HelperReturn, "store it in a buffer: `y[g.x] = …`", "a kernel returns no value")
		}
		if !c.dead {
			c.step(s.Span, func() {
				if isVoid(s.X) {
					c.effect(s.X)
				}
			})
			c.mark(Mark{Kind: MarkExit}, s.Span)
			before := c.at(s.Span)
			c.terminate(&ir.Instr{Op: ir.Return})
			c.b.Site = before
		}
		return
	}
	c.step(s.Span, func() {
		switch {
		case isVoid(s.X):
			c.effect(s.X)
		case s.X != nil:
			c.setResults(&f.results, c.expr(s.X), s.X.Range())
		}
	})
	c.jump(f.exit)
	for i := range f.results.vars {
		v := &f.results.vars[i]
		v.cur, v.state = nil, unset // code after the statement runs only if it did not return
	}
}

// switchStmt lowers a switch to a region that break leaves. See clauses.
func (c *compiler) switchStmt(s *syntax.Switch) {
	x := c.tested(s.X, c.expr)
	if !c.wantScalar(x, s.X.Range()) {
		x = number(0)
	}
	e := newExit(&ir.Instr{Op: ir.Region}, c.live(s.Sets))
	c.within(&target{labels: s.Labels, breaks: true, exit: e}, func() {
		c.region(e, func() { c.clauses(s, x) })
	})
}

// clauses emits code that computes the index of the matching clause. Each body then runs if its own index is at least that one, so
// that clauses fall through.
func (c *compiler) clauses(s *syntax.Switch, x value) {
	start := len(s.Cases)
	for i, cl := range s.Cases {
		if cl.Test == nil {
			start = i
		}
	}
	pick, ok := c.pickConstant(s, x, start)
	if !ok {
		pick = c.pickClause(s, x, 0, start)
	}
	for i, cl := range s.Cases {
		if len(cl.Body) == 0 {
			continue
		}
		var reached value
		if pick.kind == kNum {
			reached = boolean(int(pick.num) <= i)
		} else {
			reached = register(c.b.Op(ir.Le, ir.Bool, pick.reg, c.b.Int(ir.I32, int64(i))))
		}
		c.branch(reached, s.X.Range(), cl.Sets,
			func() value {
				c.stmts(cl.Body)
				c.forget(cl.Body)
				return value{kind: kVoid}
			},
			func() value { return value{kind: kVoid} })
	}
}

// pickConstant returns the index of the first clause whose test equals x, or none. All tests must be literal booleans, or
// literal Numbers, also with a unary operator, so that their order of evaluation does not matter. Otherwise it returns false.
func (c *compiler) pickConstant(s *syntax.Switch, x value, none int) (value, bool) {
	for _, cl := range s.Cases {
		switch t := cl.Test.(type) {
		case nil, *syntax.Num, *syntax.Bool:
		case *syntax.Unary:
			if _, ok := t.X.(*syntax.Num); !ok {
				return bad, false
			}
		default:
			return bad, false
		}
	}
	pick := number(float64(none))
	for i := len(s.Cases) - 1; i >= 0; i-- {
		test := s.Cases[i].Test
		if test == nil {
			continue
		}
		same := c.matches(s, x, test)
		pick = c.branch(same, test.Range(), nil,
			func() value { return number(float64(i)) },
			func() value { return pick })
	}
	return pick, true
}

// matches compares the value of a switch with the test of a clause. After an error it returns false.
func (c *compiler) matches(s *syntax.Switch, x value, test syntax.Expr) value {
	same := c.compare(syntax.Eq, x, c.expr(test), s.X.Range(), test.Range(), test.Range())
	if same.kind == kBad {
		return boolean(false)
	}
	return same
}

// forget removes the declarations of a clause, because other clauses cannot access its registers.
func (c *compiler) forget(list []syntax.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.Many:
			c.forget(s.List)
		case *syntax.Declare:
			for _, n := range declared(s.Target, nil) {
				v := c.find(n.Decl)
				c.settleVar(v)
				v.state = undeclared
			}
		}
	}
}

// declared appends the names that a declaration's target declares.
func declared(target syntax.Expr, names []*syntax.Name) []*syntax.Name {
	switch t := target.(type) {
	case *syntax.Name:
		names = append(names, t)
	case *syntax.ArrayPat:
		for _, e := range t.Elems {
			if e != nil {
				names = declared(e, names)
			}
		}
	case *syntax.ObjectPat:
		for _, p := range t.Props {
			names = declared(p.Value, names)
		}
	}
	return names
}

// pickClause returns the index of the first clause from i on whose test equals x, or none. Later tests are not evaluated.
func (c *compiler) pickClause(s *syntax.Switch, x value, i, none int) value {
	for i < len(s.Cases) && s.Cases[i].Test == nil {
		i++
	}
	if i >= len(s.Cases) {
		return number(float64(none))
	}
	test := s.Cases[i].Test
	same := c.matches(s, x, test)
	return c.branch(same, test.Range(), s.Sets,
		func() value { return number(float64(i)) },
		func() value { return c.pickClause(s, x, i+1, none) })
}
