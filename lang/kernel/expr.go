package kernel

import (
	"slices"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// expr compiles an expression. A scalar element is loaded; an array, row or record remains a place.
func (c *compiler) expr(x syntax.Expr) value {
	switch x := x.(type) {
	case *syntax.Num:
		return number(x.Value)
	case *syntax.Big:
		return c.bigValue(x.Value, x.Span)
	case *syntax.Bool:
		return boolean(x.Value)
	case *syntax.Str:
		return value{kind: kStr, str: x.Value}
	case *syntax.Name:
		return c.name(x)
	case *syntax.Unary:
		return c.unary(x)
	case *syntax.Binary:
		return c.binary(x)
	case *syntax.Logical:
		return c.logical(x)
	case *syntax.Cond:
		return c.choose(c.condition(x.Test), x.Test.Range(), x.Span, x.Sets,
			func() value { return c.expr(x.Then) },
			func() value { return c.expr(x.Else) })
	case *syntax.Assign:
		return c.assignExpr(x)
	case *syntax.Update:
		return c.update(x)
	case *syntax.Call:
		return c.call(x, false)
	case *syntax.Member:
		return c.load(c.member(x), x.Span)
	case *syntax.Index:
		return c.load(c.index(x), x.Span)
	case *syntax.Array:
		t := value{kind: kTuple}
		for _, e := range x.Elems {
			t.list = append(t.list, c.expr(e))
		}
		return t
	case *syntax.Object:
		return c.object(x)
	case *syntax.Template:
		c.errorf(x.Span, diag.TextOnlyInPrint, "write g.print(`…`) or g.assert(condition, `…`)", "template strings are for g.print and g.assert only")
	case *syntax.Seq:
		for _, e := range x.List[:len(x.List)-1] {
			c.effect(e)
		}
		return c.expr(x.List[len(x.List)-1])
	case *syntax.FuncLit:
		return value{kind: kFunc, fn: &closure{x.Fn, c.frame}}
	}
	return bad
}

func (c *compiler) name(n *syntax.Name) value {
	d := n.Decl
	if d == nil {
		return c.free(n)
	}
	if d.Kind == syntax.FuncDecl && d.Fn != nil {
		for f := c.frame; f != nil; f = f.outer {
			if f.fn == d.Func {
				return value{kind: kFunc, fn: &closure{d.Fn, f}}
			}
		}
		return bad
	}
	v := c.find(d)
	if v == nil {
		return bad
	}
	return c.read(v, n)
}

func (c *compiler) unary(x *syntax.Unary) value {
	if x.Op == syntax.BitNot {
		if q, ok := c.quotient(x, ir.I32); ok {
			return q
		}
	}
	if b, ok := x.X.(*syntax.Big); ok && x.Op == syntax.Sub {
		return c.bigValue(bigNeg(b.Value), x.Span)
	}
	if x.Op == syntax.Not {
		v := c.asTruth(c.condition(x.X))
		if v.isConst() {
			return boolean(!v.bool)
		}
		return register(c.b.Op(ir.Not, ir.Bool, v.reg))
	}
	if x.Op == syntax.Void {
		c.effect(x.X)
		return value{kind: kVoid}
	}
	v := c.expr(x.X)
	if !c.wantScalar(v, x.X.Range()) {
		return bad
	}
	if x.Op == syntax.BitNot {
		c.asBits(v, x.X.Range(), "the operand of ~")
		switch {
		case v.kind == kBig:
			return c.bigValue(bigNot(v.big), x.Span)
		case v.isConst():
			return number(float64(^toInt32(constNumber(v))))
		case is64(v.reg.Type):
			return register(c.b.Op(ir.Not, v.reg.Type, v.reg))
		}
		return register(c.b.Op(ir.Not, ir.I32, c.toInt(v, ir.I32, x.X.Range())))
	}
	// + and −
	if v.kind == kBool {
		v = number(constNumber(v))
	}
	switch {
	case v.kind == kBig && x.Op == syntax.Sub:
		return c.bigValue(bigNeg(v.big), x.Span)
	case v.kind == kNum && x.Op == syntax.Sub:
		return number(-v.num)
	case v.isConst():
		return v
	case v.reg.Type == ir.Bool:
		v = register(c.widen(v, ir.I32))
	}
	if x.Op == syntax.Sub {
		r := c.b.Op(ir.Neg, v.reg.Type, v.reg)
		if r.Type.IsInt() {
			c.note(r, x.Span, x.X.Range())
		}
		return register(r).withTaint(v.taint)
	}
	return v
}

// constNumber returns a constant Number or bool as a float64, with 1 for true.
func constNumber(v value) float64 {
	if v.kind == kBool {
		if v.bool {
			return 1
		}
		return 0
	}
	return v.num
}

func (c *compiler) logical(x *syntax.Logical) value {
	left := c.scalar(x.X)
	keep := func() value { return left }
	right := func() value {
		v := c.expr(x.Y)
		if v.kind == kVoid && !c.wantScalar(v, x.Y.Range()) {
			return bad
		}
		return v
	}
	if x.Op == syntax.LogicalOr {
		return c.branch(left, x.X.Range(), x.Sets, keep, right)
	}
	return c.branch(left, x.X.Range(), x.Sets, right, keep)
}

func (c *compiler) assignExpr(x *syntax.Assign) value {
	switch x.X.(type) {
	case *syntax.ArrayPat, *syntax.ObjectPat:
		v := c.expr(x.Y)
		c.destructure(x.X, v, x.Y.Range(), false)
		return v
	}
	t := c.assignee(x.X)
	switch x.Op {
	case syntax.NoOp:
		v := c.expr(x.Y)
		return c.put(t, v, x.Y.Range())
	case syntax.LogicalAnd, syntax.LogicalOr:
		old := c.get(t)
		if !c.wantScalar(old, x.X.Range()) {
			return bad
		}
		write := func() value { return c.put(t, c.expr(x.Y), x.Y.Range()) }
		keep := func() value { return old }
		if x.Op == syntax.LogicalOr {
			write, keep = keep, write
		}
		return c.branch(old, x.X.Range(), x.Sets, write, keep)
	}
	old := c.get(t)
	var v value
	if x.Op == syntax.Add || x.Op == syntax.Sub {
		y := c.operand(x.Y)
		c.updating = true
		v = c.sum(x.Op, operand{v: old, at: x.X.Range()}, y, x.Span)
	} else {
		y := c.expr(x.Y)
		c.updating = true
		v = c.arith(x.Op, old, y, x.X.Range(), x.Y.Range(), x.Span)
	}
	c.updating = false
	return c.put(t, v, x.Span)
}

func (c *compiler) update(x *syntax.Update) value {
	t := c.assignee(x.X)
	old := c.get(t)
	if old.kind == kReg && old.reg.Type == ir.Bool {
		old = register(c.widen(old, ir.I32))
	}
	one := number(1)
	c.updating = true
	v := c.sum(x.Op, operand{v: old, at: x.X.Range()}, operand{v: one, at: x.X.Range()}, x.Span)
	c.updating = false
	v = c.put(t, v, x.Span)
	if x.Prefix {
		return v
	}
	return old
}

// assignee is the destination of an assignment: a variable or a place.
type assignee struct {
	v     *variable    // nil for a place, and for a name that was rejected
	name  *syntax.Name // name of the variable
	place *place       // nil for a variable
	at    syntax.Span
}

func (c *compiler) assignee(x syntax.Expr) assignee {
	t := assignee{at: x.Range()}
	var p value
	switch x := x.(type) {
	case *syntax.Name:
		if x.Decl == nil {
			return t // rejected by the parser
		}
		t.v, t.name = c.find(x.Decl), x
		if t.v != nil && t.v.state == undeclared {
			c.read(t.v, x)
			t.v = nil
		}
		return t
	case *syntax.Member:
		p = c.member(x)
	case *syntax.Index:
		base := c.expr(x.X)
		i := c.expr(x.I)
		if base.kind == kPlace && base.place.known != nil {
			base.place = wholeArray(base.place.arr) // the element, not its value
		}
		p = c.indexedBy(x, base, i)
	default:
		return t
	}
	switch {
	case p.kind == kPlace:
		t.place = p.place
	case p.kind != kBad:
		c.errorf(t.at, diag.BadAssignTarget, "assign to a variable, or to an element of a buffer, g.shared or g.private array", "`%s` cannot be assigned to", c.text(t.at))
	}
	return t
}

// get reads an assignee. It returns bad for one that was rejected.
func (c *compiler) get(t assignee) value {
	switch {
	case t.v != nil:
		return c.read(t.v, t.name)
	case t.place != nil:
		return c.load(value{kind: kPlace, place: t.place}, t.at)
	}
	return bad
}

// put writes an assignee and returns the assigned value, as in JavaScript. It reports the assignment of the item object or of a
// buffer as an error.
func (c *compiler) put(t assignee, v value, at syntax.Span) value {
	switch {
	case t.v != nil && !t.v.slot:
		if t.v.fixed.kind == kBuiltin {
			c.errorf(t.at, diag.AssignConst, "use another variable", "the item object %s cannot be assigned", t.name.Name)
		} else {
			c.errorf(t.at, diag.ReferenceReassigned, "write to its elements, or use `const` for an alias", "the buffer %s cannot be assigned", t.name.Name)
		}
		return bad
	case t.v != nil:
		c.assign(t.v, v, at)
		if v.isConst() {
			return v
		}
		return register(t.v.cur).withTaint(t.v.taint)
	case t.place != nil:
		c.store(t.place, v, t.at, at)
	}
	return v
}

// destructure assigns the parts of a value to the parts of a pattern, or binds new names to them if declare is set.
func (c *compiler) destructure(target syntax.Expr, v value, at syntax.Span, declare bool) {
	switch t := target.(type) {
	case *syntax.Name:
		if declare {
			c.bind(t.Decl, v, at)
			return
		}
		c.put(c.assignee(t), v, at)
	case *syntax.ArrayPat:
		c.destructureArray(t, v, at, declare)
	case *syntax.ObjectPat:
		for _, p := range t.Props {
			c.destructure(p.Value, c.load(c.field(v, p.Name, p.Span, at), at), p.Span, declare)
		}
	default:
		c.put(c.assignee(target), v, at)
	}
}

func (c *compiler) destructureArray(t *syntax.ArrayPat, v value, at syntax.Span, declare bool) {
	switch v.kind {
	case kTuple:
		if len(t.Elems) > len(v.list) {
			c.errorf(t.Span, diag.BadPattern, "", "the pattern takes %d elements, and there are %d", len(t.Elems), len(v.list))
			return
		}
		// A swap reads all its values before it writes; registers are immutable.
		parts := slices.Clone(v.list)
		for i := 1; i < len(t.Elems) && !declare; i++ {
			if t.Elems[i] != nil {
				parts[i] = c.detached(parts[i], at)
			}
		}
		for i, e := range t.Elems {
			if e != nil {
				c.destructure(e, parts[i], at, declare)
			}
		}
	case kPlace:
		if v.place.left == 0 {
			c.errorf(at, diag.BadPattern, "name its fields: `{x, y}`", "a record is taken apart by its fields' names")
			return
		}
		parts := make([]value, len(t.Elems))
		for i := range t.Elems {
			if t.Elems[i] != nil {
				parts[i] = c.load(c.indexed(v, number(float64(i)), at, at), at)
			}
		}
		for i, e := range t.Elems {
			if e != nil {
				c.destructure(e, parts[i], at, declare)
			}
		}
	case kBad:
		c.destructureBad(t, declare)
	default:
		c.errorf(at, diag.BadPattern, "", "this is no array to take apart")
		c.destructureBad(t, declare)
	}
}

func (c *compiler) destructureBad(t *syntax.ArrayPat, declare bool) {
	for _, e := range t.Elems {
		if e != nil {
			c.destructure(e, bad, e.Range(), declare)
		}
	}
}
