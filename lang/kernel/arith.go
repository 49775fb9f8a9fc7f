package kernel

import (
	"fmt"
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/libm"
	"github.com/orepl/orepl/lang/kernel/syntax"
	"github.com/orepl/orepl/lang/later"
)

// binary compiles X op Y.
func (c *compiler) binary(x *syntax.Binary) value {
	if x.Op == syntax.Or || x.Op == syntax.Shr || x.Op == syntax.UShr {
		typ := ir.I32
		if x.Op == syntax.UShr {
			typ = ir.U32
		}
		if q, ok := c.quotient(x, typ); ok {
			return q
		}
	}
	switch {
	case x.Op == syntax.Add || x.Op == syntax.Sub:
		return c.sum(x.Op, c.operand(x.X), c.operand(x.Y), x.Span)
	case x.Op.IsComparison():
		a := c.expr(x.X)
		return c.compare(x.Op, a, c.expr(x.Y), x.X.Range(), x.Y.Range(), x.Span)
	}
	a := c.expr(x.X)
	return c.arith(x.Op, a, c.expr(x.Y), x.X.Range(), x.Y.Range(), x.Span)
}

// operand is an operand of + or −: a value, or a float product whose multiplication may be fused.
type operand struct {
	v    value
	at   syntax.Span
	a, b *ir.Value // factors of the product; nil for other values
}

func (o *operand) typ(c *compiler) value {
	if o.a != nil {
		return register(o.a)
	}
	return o.v
}

// operand compiles an operand of + or −.
func (c *compiler) operand(x syntax.Expr) operand {
	m, ok := x.(*syntax.Binary)
	if !ok || m.Op != syntax.Mul || c.opts.NoContract {
		return operand{v: c.expr(x), at: x.Range()}
	}
	a := c.expr(m.X)
	b := c.expr(m.Y)
	o := operand{at: x.Range()}
	if a.isScalar() && b.isScalar() && (a.kind == kReg || b.kind == kReg) {
		if t, ok := c.arithType(a, b); ok && t.IsFloat() {
			c.combine(a, b, x.Range())
			o.a, o.b = c.factor(a, t, m.X.Range()), c.factor(b, t, m.Y.Range())
			return o
		}
	}
	o.v = c.arith(syntax.Mul, a, b, m.X.Range(), m.Y.Range(), m.Span)
	return o
}

// product returns the operand's value. If the operand is a product, it first emits the multiplication, which is then not fused.
func (c *compiler) product(o *operand) value {
	if o.a != nil {
		o.v = register(c.b.Op(ir.Mul, o.a.Type, o.a, o.b))
		o.a, o.b = nil, nil
	}
	return o.v
}

// sum compiles l + r or l − r. It fuses a float product of the sum's type, preferably the left one.
func (c *compiler) sum(op syntax.Op, l, r operand, at syntax.Span) value {
	lt, rt := l.typ(c), r.typ(c)
	if lt.isScalar() && rt.isScalar() && (lt.kind == kReg || rt.kind == kReg) {
		if t, ok := c.arithType(lt, rt); ok && t.IsFloat() {
			switch {
			case l.a != nil && l.a.Type == t:
				y := c.product(&r)
				c.combine(lt, y, at)
				z := c.rounded(y, t, r.at)
				if op == syntax.Sub {
					z = c.b.Op(ir.Neg, t, z)
				}
				return register(c.b.Op(ir.FMA, t, l.a, l.b, z))
			case r.a != nil && r.a.Type == t:
				y := c.product(&l)
				c.combine(y, rt, at)
				z, f := c.rounded(y, t, l.at), r.a
				if op == syntax.Sub {
					f = c.b.Op(ir.Neg, t, f)
				}
				return register(c.b.Op(ir.FMA, t, f, r.b, z))
			}
		}
	}
	x := c.product(&l)
	return c.arith(op, x, c.product(&r), l.at, r.at, at)
}

var arithOps = later.Value[map[syntax.Op]ir.Op]{Make: func() map[syntax.Op]ir.Op {
	return map[syntax.Op]ir.Op{
		syntax.Add: ir.Add, syntax.Sub: ir.Sub, syntax.Mul: ir.Mul, syntax.Rem: ir.Rem, syntax.Div: ir.Div,
		syntax.And: ir.And, syntax.Or: ir.Or, syntax.Xor: ir.Xor, syntax.Shl: ir.Shl, syntax.Shr: ir.Shr, syntax.UShr: ir.Shr,
	}
}}

// arith compiles x op y for operators other than comparisons.
func (c *compiler) arith(op syntax.Op, x, y value, xAt, yAt, at syntax.Span) value {
	okX, okY := c.wantScalar(x, xAt), c.wantScalar(y, yAt)
	if !okX || !okY {
		return bad
	}
	if x.isConst() && y.isConst() {
		return c.fold(op, x, y, at)
	}
	switch op {
	case syntax.Div:
		return c.divide(x, y, xAt, yAt, at)
	case syntax.Pow:
		return c.power(x, y, xAt, yAt, at)
	case syntax.And, syntax.Or, syntax.Xor:
		return c.bitwise(op, x, y, xAt, yAt)
	case syntax.Shl, syntax.Shr, syntax.UShr:
		return c.shift(op, x, y, xAt, yAt, at)
	}
	c.combine(x, y, at)
	t, ok := c.arithType(x, y)
	if !ok {
		c.mixedOperands(x, y, xAt, yAt)
		return bad
	}
	if op == syntax.Rem && t.IsInt() {
		if !c.wantHeld(x, t, xAt) || !c.wantHeld(y, t, yAt) {
			return bad
		}
		return c.remainder(x, y, t, at).withTaint(x.taint | y.taint)
	}
	round := c.rounded
	if op == syntax.Mul {
		round = c.factor
	}
	r := ofInt(register(c.b.Op(arithOps.Get()[op], t, round(x, t, xAt), round(y, t, yAt))), x.taint|y.taint)
	if r.wraps = t.IsInt(); r.wraps {
		c.note(r.reg, at, xAt, yAt)
	}
	return r
}

// rounded converts a value to t like widen. It warns of a constant that f32 changes by more than rounding. It also warns of an
// integer that f32 may have to round, unless that is a sum, difference or product.
func (c *compiler) rounded(v value, t ir.Type, at syntax.Span) *ir.Value {
	if t == ir.F32 {
		c.exactConstant(v, t, at)
	}
	if !t.IsFloat() || v.kind != kReg || !v.reg.Type.IsInt() {
		return c.widen(v, t)
	}
	if t == ir.F32 && !v.wraps && !exactInF32(v.reg) {
		c.warnf(at, diag.InexactConvert, "write f32(…), if that is meant", "`%s` is %s; beyond 2²⁴ it is rounded to become f32", c.text(at), v.reg.Type)
	}
	r := c.widen(v, t)
	c.note(r, at)
	return r
}

// factor converts an operand of * or /, or a value to be stored as f16 or bf16, to t like rounded. But it does not warn of
// integral constants of a magnitude below 2^100.
func (c *compiler) factor(v value, t ir.Type, at syntax.Span) *ir.Value {
	if v.kind == kNum && isIntegral(v.num) && math.Abs(v.num) < 1<<100 {
		return c.widen(v, t)
	}
	return c.rounded(v, t, at)
}

// exactInF32 reports whether an integer is expected not to exceed 2²⁴. This holds for 8-bit and 16-bit elements, bools, counts
// of bits, coordinates, extents and constants up to 2²⁴. It holds for remainders and masks by such constants, and for right
// shifts by 8 bits or more. It also holds for right shifts and choices of such values, and for their sums, differences and
// products with such constants. So it does for x | 0 of such a value x.
func exactInF32(v *ir.Value) bool {
	const limit = 1 << 24
	in := v.Def
	if in == nil {
		return false
	}
	below := func(x *ir.Value) bool { return x.Def != nil && x.Def.Op == ir.Const && x.Def.Bits <= limit }
	switch in.Op {
	case ir.Item, ir.Extent:
		return true
	case ir.Load:
		return in.Accessed().Size() < 4
	case ir.Convert:
		return in.Args[0].Type == ir.Bool
	case ir.And:
		return below(in.Args[0]) || below(in.Args[1])
	case ir.Or: // marks an integer that is wrapped explicitly
		return in.Args[1].Def != nil && in.Args[1].Def.Op == ir.Const && in.Args[1].Def.Bits == 0 && exactInF32(in.Args[0])
	case ir.Rem:
		return below(in.Args[1])
	case ir.Shr: // a 32-bit shift
		n := in.Args[1].Def
		return n != nil && n.Op == ir.Const && n.Bits >= 8 && n.Bits < 32 || exactInF32(in.Args[0])
	case ir.Clz, ir.Ctz, ir.Popcnt:
		return true
	case ir.Select:
		return exactInF32(in.Args[1]) && exactInF32(in.Args[2])
	case ir.Const:
		return in.Bits <= limit
	case ir.Add, ir.Sub, ir.Mul:
		return exactInF32(in.Args[0]) && below(in.Args[1]) || below(in.Args[0]) && exactInF32(in.Args[1])
	}
	return false
}

// mixedOperands reports an operation on a 64-bit integer and another type.
func (c *compiler) mixedOperands(x, y value, xAt, yAt syntax.Span) {
	tx, ty := c.scalarType(x), c.scalarType(y)
	switch {
	case is64(tx) && (ty.IsFloat() || !is64(ty) && x.kind == kBig):
		c.mixed64(xAt, tx, ty)
	case is64(ty) && is64(tx), is64(tx) && y.kind != kBig:
		c.mixed64(yAt, ty, tx)
	case tx.IsFloat() || y.kind == kBig:
		c.mixed64(yAt, ty, tx)
	default:
		c.mixed64(xAt, tx, ty)
	}
}

// divide compiles a division: real, or truncated for 64-bit integers as for BigInts.
func (c *compiler) divide(x, y value, xAt, yAt, at syntax.Span) value {
	t, ok := c.arithType(x, y)
	if !ok {
		c.mixedOperands(x, y, xAt, yAt)
		return bad
	}
	if is64(t) {
		if !c.wantHeld(x, t, xAt) || !c.wantHeld(y, t, yAt) {
			return bad
		}
		return c.intDiv(ir.Div, t, c.widen(x, t), c.widen(y, t), at)
	}
	c.asFloat(x, at, "a division")
	c.asFloat(y, at, "a division")
	if !t.IsFloat() {
		t = c.real
	}
	return register(c.b.Op(ir.Div, t, c.factor(x, t, xAt), c.factor(y, t, yAt)))
}

// power compiles x ** y: x·x for the constant exponent 2, otherwise a call of the library's pow. It reports other powers of
// 64-bit integers as errors.
func (c *compiler) power(x, y value, xAt, yAt, at syntax.Span) value {
	t, ok := c.arithType(x, y)
	if !ok {
		c.mixedOperands(x, y, xAt, yAt)
		return bad
	}
	if y.kind == kNum && y.num == 2 || y.kind == kBig && y.big.IsInt64() && y.big.Int64() == 2 {
		r := c.rounded(x, t, xAt)
		p := c.b.Op(ir.Mul, t, r, r)
		if t.IsInt() {
			c.note(p, at, xAt, xAt)
		}
		return ofInt(register(p), x.taint)
	}
	if is64(t) {
		c.errorf(at, diag.BadOperand, "multiply, in a loop if need be", "`**` of 64-bit integers takes the exponent 2 only")
		return bad
	}
	c.asFloat(x, at, "a power")
	c.asFloat(y, at, "a power")
	if !t.IsFloat() {
		t = c.real
	}
	return register(c.b.Emit(&ir.Instr{Op: ir.Math, Fn: "pow", Args: []*ir.Value{c.rounded(x, t, xAt), c.rounded(y, t, yAt)}}, t))
}

func (c *compiler) bitwise(op syntax.Op, x, y value, xAt, yAt syntax.Span) value {
	c.asBits(x, xAt, "an operand of "+op.String())
	c.asBits(y, yAt, "an operand of "+op.String())
	tx, ty := c.scalarType(x), c.scalarType(y)
	if (x.kind == kReg && is64(tx)) || (y.kind == kReg && is64(ty)) || x.kind == kBig || y.kind == kBig {
		t, ok := c.arithType(x, y)
		if !ok || !is64(t) {
			c.mixedOperands(x, y, xAt, yAt)
			return bad
		}
		return register(c.b.Op(arithOps.Get()[op], t, c.widen(x, t), c.widen(y, t)))
	}
	a := c.toInt(x, ir.I32, xAt)
	if y.isConst() && op == syntax.Or && toInt32(constNumber(y)) == 0 {
		return c.explicit(register(a))
	}
	return register(c.b.Op(arithOps.Get()[op], ir.I32, a, c.toInt(y, ir.I32, yAt)))
}

func (c *compiler) shift(op syntax.Op, x, y value, xAt, yAt, at syntax.Span) value {
	c.asBits(x, xAt, "an operand of "+op.String())
	c.asBits(y, yAt, "a shift count")
	count := func() *ir.Value {
		if y.kind == kReg && is64(y.reg.Type) {
			return c.b.Op(ir.Wrap, ir.I32, y.reg)
		}
		if y.kind == kBig {
			return c.b.Const(ir.I32, bigBits(y.big, ir.I32))
		}
		return c.toInt(y, ir.I32, yAt)
	}
	if x.kind == kBig {
		x = register(c.constant(x, c.scalarType(x)))
	}
	if x.kind == kReg && is64(x.reg.Type) {
		if op == syntax.UShr {
			c.errorf(at, diag.BadOperand, "write `u64(x) >> n`", "`>>>` of a 64-bit integer is not in the language")
			return bad
		}
		return register(c.b.Op(arithOps.Get()[op], x.reg.Type, x.reg, count()))
	}
	t := ir.I32
	if op == syntax.UShr {
		t = ir.U32
	}
	if op == syntax.Shr && x.kind == kReg && x.reg.Type == ir.U32 {
		c.warnf(at, diag.SignedShift, "write `>>>`", "`>>` of a u32 is an arithmetic shift of its bits, as in JavaScript")
	}
	r := c.toInt(x, t, xAt)
	if y.isConst() && y.kind != kBig && toInt32(constNumber(y))&31 == 0 {
		return c.explicit(register(r))
	}
	return register(c.b.Op(arithOps.Get()[op], t, r, count()))
}

// intDiv emits an integer division or remainder, which faults for the divisor 0. It reports an error for a constant divisor 0.
func (c *compiler) intDiv(op ir.Op, t ir.Type, x, y *ir.Value, at syntax.Span) value {
	if y.Def != nil && y.Def.Op == ir.Const && y.Def.Bits == 0 {
		c.errorf(at, diag.DivisionByZero, "", "integer division by zero")
	}
	before := c.at(at)
	r := c.b.Op(op, t, x, y)
	c.b.Site = before
	c.note(r, at)
	return register(r)
}

// remainder compiles an integer x % y of type t, with the sign of the dividend. For an i32 and a u32, it is the remainder of their
// mathematical values, in the type of x.
func (c *compiler) remainder(x, y value, t ir.Type, at syntax.Span) value {
	if c.mixedSigns(x, y) {
		r := c.intDiv(ir.Rem, ir.I64, c.widen(x, ir.I64), c.widen(y, ir.I64), at)
		result := c.scalarType(x)
		if result == ir.Bool {
			result = ir.I32
		}
		return register(c.b.Op(ir.Wrap, result, r.reg))
	}
	return c.intDiv(ir.Rem, t, c.widen(x, t), c.widen(y, t), at)
}

// mixedSigns reports whether one operand is i32 and the other u32. A bool counts as i32. A constant has a sign if only one of
// the types holds it.
func (c *compiler) mixedSigns(x, y value) bool {
	signed := func(v value) bool {
		return v.kind == kReg && (v.reg.Type == ir.I32 || v.reg.Type == ir.Bool) || v.kind == kNum && fits(v.num, ir.I32) && v.num < 0
	}
	unsigned := func(v value) bool {
		return v.kind == kReg && v.reg.Type == ir.U32 || v.kind == kNum && fits(v.num, ir.U32) && !fits(v.num, ir.I32)
	}
	return signed(x) && unsigned(y) || unsigned(x) && signed(y)
}

// fold evaluates a constant operation with JavaScript's semantics.
func (c *compiler) fold(op syntax.Op, x, y value, at syntax.Span) value {
	if x.kind == kBig || y.kind == kBig {
		return c.foldBig(op, x, y, at)
	}
	a, b := constNumber(x), constNumber(y)
	switch op {
	case syntax.Add:
		return number(a + b)
	case syntax.Sub:
		return number(a - b)
	case syntax.Mul:
		return number(a * b)
	case syntax.Div:
		return number(a / b)
	case syntax.Rem:
		return number(math.Mod(a, b))
	case syntax.Pow:
		return number(libm.Pow(a, b))
	}
	i, j := toInt32(a), toInt32(b)
	switch op {
	case syntax.And:
		i &= j
	case syntax.Or:
		i |= j
	case syntax.Xor:
		i ^= j
	case syntax.Shl:
		i <<= uint(j) & 31
	case syntax.Shr:
		i >>= uint(j) & 31
	case syntax.UShr:
		return number(float64(uint32(i) >> (uint(j) & 31)))
	}
	return number(float64(i))
}

func bigNeg(n *big.Int) *big.Int { return new(big.Int).Neg(n) }
func bigNot(n *big.Int) *big.Int { return new(big.Int).Not(n) }

// foldBig evaluates a constant operation on BigInts. An integral Number mixed with a BigInt is converted.
func (c *compiler) foldBig(op syntax.Op, x, y value, at syntax.Span) value {
	a, okA := asBig(x)
	b, okB := asBig(y)
	if !okA || !okB {
		c.bigBesideFraction(at)
		return bad
	}
	r := new(big.Int)
	switch op {
	case syntax.Add:
		r.Add(a, b)
	case syntax.Sub:
		r.Sub(a, b)
	case syntax.Mul:
		r.Mul(a, b)
	case syntax.Div, syntax.Rem:
		if b.Sign() == 0 {
			c.errorf(at, diag.DivisionByZero, "", "integer division by zero")
			return bad
		}
		if op == syntax.Div {
			r.Quo(a, b)
		} else {
			r.Rem(a, b)
		}
	case syntax.And:
		r.And(a, b)
	case syntax.Or:
		r.Or(a, b)
	case syntax.Xor:
		r.Xor(a, b)
	case syntax.Shl, syntax.Shr, syntax.Pow:
		if b.Sign() < 0 || b.BitLen() > 7 {
			c.errorf(at, diag.BigIntTooLarge, "compute it in the script, with BigInt.asIntN(64, …) or asUintN", "the result has more than 64 bits, or is a fraction")
			return bad
		}
		switch n := uint(b.Int64()); op {
		case syntax.Shl:
			r.Lsh(a, n)
		case syntax.Shr:
			r.Rsh(a, n)
		default:
			r.Exp(a, b, nil)
		}
	default:
		c.errorf(at, diag.BadOperand, "write `u64(x) >> n`", "`%s` of a BigInt is not in the language", op)
		return bad
	}
	return c.bigValue(r, at)
}

// bigValue returns a BigInt constant. It reports one that neither i64 nor u64 holds, and returns bad for it.
func (c *compiler) bigValue(n *big.Int, at syntax.Span) value {
	if !n.IsInt64() && !n.IsUint64() {
		what := "has more than 64 bits"
		if n.BitLen() <= 64 {
			what = "is below the least i64"
		}
		c.errorf(at, diag.BigIntTooLarge, "compute it in the script, with BigInt.asIntN(64, …) or asUintN", "`%s` %s", c.text(at), what)
		return bad
	}
	return value{kind: kBig, big: n}
}

// wantHeld returns true unless v is a constant that t, the 64-bit type of its operation, does not hold. It reports such a constant
// as an error. For other types it returns true.
func (c *compiler) wantHeld(v value, t ir.Type, at syntax.Span) bool {
	if !v.isConst() || !is64(t) || v.holds(t) {
		return true
	}
	other := ir.I64
	if t == ir.I64 {
		other = ir.U64
	}
	c.errorf(at, diag.Mixed64, fmt.Sprintf("convert the other operand: `%s(…)`", other), "`%s` is no %s", c.text(at), t)
	return false
}

func (c *compiler) bigBesideFraction(at syntax.Span) {
	c.errorf(at, diag.Mixed64, "write both as BigInt, or both as Number", "a BigInt does not mix with a fraction")
}

// asBig returns the value of a BigInt or of an integral constant Number. It returns false for other values.
func asBig(v value) (*big.Int, bool) {
	if v.kind == kBig {
		return v.big, true
	}
	if v.kind == kNum && isIntegral(v.num) {
		n, _ := big.NewFloat(v.num).Int(nil)
		return n, true
	}
	return nil, false
}
