package kernel

import (
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// quotient compiles (a/b)|0, (a/b)>>0, (a/b)>>>0 and ~~(a/b), and returns false for other expressions. These are
// conversions: the result's uses are no evidence of the types of a and b.
func (c *compiler) quotient(x syntax.Expr, t ir.Type) (value, bool) {
	var div syntax.Expr
	switch x := x.(type) {
	case *syntax.Unary: // ~~
		inner, ok := x.X.(*syntax.Unary)
		if !ok || inner.Op != syntax.BitNot {
			return bad, false
		}
		div = inner.X
	case *syntax.Binary:
		if n, ok := x.Y.(*syntax.Num); !ok || n.Value != 0 {
			return bad, false
		}
		div = x.X
	}
	d, ok := div.(*syntax.Binary)
	if !ok || d.Op != syntax.Div {
		return bad, false
	}
	q, of := c.convertedQuotient(d, x.Range())
	if of == ir.Void {
		if q.isConst() && q.kind != kBig {
			i := toInt32(constNumber(q))
			if t == ir.U32 {
				return number(float64(uint32(i))), true
			}
			return number(float64(i)), true
		}
		if !c.wantScalar(q, d.Span) {
			return bad, true
		}
		return register(c.toInt(q, t, d.Span)), true
	}
	if is64(of) {
		return q, true
	}
	return c.explicit(register(c.widen(q, t))), true
}

// convertedQuotient is intQuotient for a division that is then converted to an integer type. If the quotient is an integer, the
// conversion is evidence that the inferred parameters in it are integers. The result's later uses are no evidence.
func (c *compiler) convertedQuotient(d *syntax.Binary, at syntax.Span) (q value, of ir.Type) {
	q, of = c.intQuotient(d, at)
	c.becomesInt(q, d.Span, "divided for an integer quotient")
	return q.withTaint(0), of
}

// intQuotient compiles a / b. If both are integers, not both constants, q is the truncated quotient, and of is the type to
// which it is to be converted. For 32-bit operands of mixed signs q is an i64, and of is the type of a. Otherwise q is an
// ordinary division, and of is Void.
func (c *compiler) intQuotient(d *syntax.Binary, at syntax.Span) (q value, of ir.Type) {
	x := c.expr(d.X)
	y := c.expr(d.Y)
	if !c.intOperands(x, y) {
		return c.arith(syntax.Div, x, y, d.X.Range(), d.Y.Range(), d.Span), ir.Void
	}
	c.combine(x, y, d.Span)
	a, b, of, ok := c.quotientOperands(x, y, d)
	if !ok {
		return bad, ir.Void
	}
	return ofInt(c.intDiv(ir.Div, a.Type, a, b, at), x.taint|y.taint), of
}

// intOperands reports whether a quotient of x and y can be an integer division.
func (c *compiler) intOperands(x, y value) bool {
	if x.kind != kReg && y.kind != kReg || !x.isInt() || !y.isInt() {
		return false
	}
	t, ok := c.arithType(x, y)
	return ok && t.IsInt()
}

// quotientOperands returns the operands of an integer division in a common type, and the type of the quotient. It reports a constant
// that this type does not hold, and returns false then.
func (c *compiler) quotientOperands(x, y value, d *syntax.Binary) (a, b *ir.Value, result ir.Type, ok bool) {
	t, _ := c.arithType(x, y)
	if !c.wantHeld(x, t, d.X.Range()) || !c.wantHeld(y, t, d.Y.Range()) {
		return nil, nil, ir.Void, false
	}
	result = t
	if c.mixedSigns(x, y) {
		t, result = ir.I64, c.scalarType(x)
	}
	return c.widen(x, t), c.widen(y, t), result, true
}

// roundedQuotient compiles Math.floor, Math.ceil or Math.trunc of a / b. For integers the result is an exact integer.
func (c *compiler) roundedQuotient(op ir.Op, d *syntax.Binary, at syntax.Span) value {
	if op == ir.Trunc {
		q, of := c.intQuotient(d, at)
		if of == ir.Void {
			return c.rounding(op, q, d.Span)
		}
		r := c.widen(q, of)
		if r != q.reg {
			c.note(r, at)
		}
		return register(r).withTaint(q.taint)
	}
	x := c.expr(d.X)
	y := c.expr(d.Y)
	if !c.intOperands(x, y) {
		q := c.arith(syntax.Div, x, y, d.X.Range(), d.Y.Range(), d.Span)
		return c.rounding(op, q, d.Span)
	}
	c.combine(x, y, d.Span)
	a, b, result, ok := c.quotientOperands(x, y, d)
	if !ok {
		return bad
	}
	q := c.intDiv(ir.Div, a.Type, a, b, at).reg
	if op == ir.Ceil || a.Type.IsSigned() {
		q = c.stepped(op, q, a, b)
	}
	if a.Type != result {
		q = c.b.Op(ir.Wrap, result, q)
		c.note(q, at)
	}
	return ofInt(register(q), x.taint|y.taint)
}

// stepped adjusts the truncated quotient q of a / b to the floor or the ceiling. If there is a remainder, the floor is q−1 for
// different signs, and the ceiling q+1 for equal signs. With checks off, a quotient by zero stays 0.
func (c *compiler) stepped(op ir.Op, q, a, b *ir.Value) *ir.Value {
	t := a.Type
	zero := c.b.Int(t, 0)
	r := c.b.Op(ir.Sub, t, a, c.b.Op(ir.Mul, t, q, b))
	step := c.b.Op(ir.Ne, ir.Bool, r, zero)
	by := ir.Add
	if op == ir.Floor {
		by = ir.Sub
	}
	to := c.b.Op(by, t, q, c.b.Int(t, 1))
	if t.IsSigned() {
		side := c.b.Op(ir.Lt, ir.Bool, c.b.Op(ir.Xor, t, r, b), zero) // the signs differ
		if op == ir.Ceil {
			side = c.b.Op(ir.Not, ir.Bool, side)
		}
		step = c.b.Op(ir.And, ir.Bool, step, side)
	}
	if b.Def == nil || b.Def.Op != ir.Const {
		step = c.b.Op(ir.And, ir.Bool, step, c.b.Op(ir.Ne, ir.Bool, b, zero))
	}
	return c.b.Op(ir.Select, t, step, to, q)
}
