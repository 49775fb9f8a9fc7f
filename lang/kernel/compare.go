package kernel

import (
	"math/big"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
	"github.com/orepl/orepl/lang/later"
)

// compare compiles x op y. Numbers of different types are compared by their mathematical values.
func (c *compiler) compare(op syntax.Op, x, y value, xAt, yAt, at syntax.Span) value {
	okX, okY := c.wantScalar(x, xAt), c.wantScalar(y, yAt)
	if !okX || !okY {
		return bad
	}
	if x.isConst() && y.isConst() {
		return boolean(foldCompare(op, x, y))
	}
	c.combine(x, y, at)
	switch op {
	case syntax.Gt, syntax.Ge:
		// Both operands are already evaluated; swapping changes only their order in the comparison.
		x, y = y, x
		op = map[syntax.Op]syntax.Op{syntax.Gt: syntax.Lt, syntax.Ge: syntax.Le}[op]
	}
	if x.kind == kBool || y.kind == kBool {
		if t, o := c.scalarType(x), c.scalarType(y); t == ir.Bool && o == ir.Bool && (op == syntax.Eq || op == syntax.Ne) {
			return register(c.b.Op(compareOps.Get()[op], ir.Bool, c.widen(x, ir.Bool), c.widen(y, ir.Bool)))
		}
	}
	if x.kind == kReg && y.kind == kReg && x.reg.Type == ir.Bool && y.reg.Type == ir.Bool && (op == syntax.Eq || op == syntax.Ne) {
		return register(c.b.Op(compareOps.Get()[op], ir.Bool, x.reg, y.reg))
	}
	t, ok := c.compareType(x, y)
	if !ok {
		return c.compareWide(op, x, y)
	}
	if t == ir.F32 {
		c.exactConstant(x, t, at)
		c.exactConstant(y, t, at)
	}
	r := c.b.Op(compareOps.Get()[op], ir.Bool, c.widen(x, t), c.widen(y, t))
	c.note(r, at)
	return register(r)
}

var compareOps = later.Value[map[syntax.Op]ir.Op]{Make: func() map[syntax.Op]ir.Op {
	return map[syntax.Op]ir.Op{syntax.Eq: ir.Eq, syntax.Ne: ir.Ne, syntax.Lt: ir.Lt, syntax.Le: ir.Le}
}}

// foldCompare returns the result of a comparison of two constants. With a NaN, only Ne is true.
func foldCompare(op syntax.Op, x, y value) bool {
	if x.kind == kBig || y.kind == kBig {
		a, okA := asBig(x)
		b, okB := asBig(y)
		if okA && okB {
			return ordered(op, a.Cmp(b))
		}
	}
	a, b := asFloat64(x), asFloat64(y)
	switch {
	case a < b:
		return ordered(op, -1)
	case a > b:
		return ordered(op, 1)
	case a == b:
		return ordered(op, 0)
	}
	return op == syntax.Ne
}

// ordered returns the result of a comparison. cmp is negative, 0 or positive if the first operand is less, equal or greater.
func ordered(op syntax.Op, cmp int) bool {
	switch op {
	case syntax.Eq:
		return cmp == 0
	case syntax.Ne:
		return cmp != 0
	case syntax.Lt:
		return cmp < 0
	case syntax.Le:
		return cmp <= 0
	case syntax.Gt:
		return cmp > 0
	}
	return cmp >= 0
}

func asFloat64(v value) float64 {
	if v.kind == kBig {
		x, _ := new(big.Float).SetInt(v.big).Float64()
		return x
	}
	return constNumber(v)
}

// compareType returns a type that holds both operands' values exactly; ok is false if none exists. A literal beside a float has
// the type of that float.
func (c *compiler) compareType(x, y value) (t ir.Type, ok bool) {
	if x.kind != kReg {
		x, y = y, x
	}
	tx := x.reg.Type
	if tx == ir.Bool {
		tx = ir.I32
	}
	if y.kind == kBool {
		y = number(constNumber(y))
	}
	if y.kind == kNum {
		switch {
		case tx.IsFloat(), fits(y.num, tx):
			return tx, true // a literal adopts the float type of the other operand
		case is64(tx):
			return ir.F64, false
		case fits(y.num, ir.I64):
			return ir.I64, true
		}
		return ir.F64, true
	}
	ty := ir.I64
	if y.kind == kBig {
		if tx == ir.U64 && y.big.IsUint64() || tx == ir.I64 && y.big.IsInt64() {
			return tx, true
		}
		if !y.big.IsInt64() {
			ty = ir.U64
		}
	} else if ty = y.reg.Type; ty == ir.Bool {
		ty = ir.I32
	}
	switch {
	case tx == ty:
		return tx, true
	case tx.IsFloat() && ty.IsFloat():
		return ir.F64, true
	case tx.IsFloat() && is64(ty), ty.IsFloat() && is64(tx):
		return ir.F64, false
	case tx.IsFloat() || ty.IsFloat():
		return ir.F64, true // f64 holds every 32-bit integer and every f32
	case tx == ir.U64 || ty == ir.U64:
		if tx == ir.U32 || ty == ir.U32 {
			return ir.U64, true
		}
		return ir.I64, false
	}
	return ir.I64, true
}

// compareWide compares a 64-bit integer with a number if no type holds the values of both. It splits the numbers by range.
func (c *compiler) compareWide(op syntax.Op, x, y value) value {
	switch op {
	case syntax.Ne:
		return register(c.b.Op(ir.Not, ir.Bool, c.compareWide(syntax.Eq, x, y).reg))
	case syntax.Le:
		lt, eq := c.compareWide(syntax.Lt, x, y).reg, c.compareWide(syntax.Eq, x, y).reg
		return register(c.b.Op(ir.Or, ir.Bool, lt, eq))
	}
	tx, ty := c.wideType(x), c.wideType(y)
	if !tx.IsFloat() && !ty.IsFloat() {
		return register(c.compareSigns(op, c.widen(x, tx), c.widen(y, ty)))
	}
	// One operand is a float f, the other a 64-bit integer n. Rounding f preserves the order: n < f iff n < ceil(f), and f < n
	// iff floor(f) < n. Equality requires an integral f.
	intSide, floatSide, floatFirst := x, y, false
	if tx.IsFloat() {
		intSide, floatSide, floatFirst = y, x, true
	}
	it := c.wideType(intSide)
	n := c.widen(intSide, it)
	f := c.widen(floatSide, ir.F64)
	round := ir.Ceil
	if floatFirst {
		round = ir.Floor
	}
	r := c.b.Op(round, ir.F64, f)
	low, high := -0x1p63, 0x1p63
	if it == ir.U64 {
		low, high = 0, 0x1p64
	}
	m := c.b.Op(ir.Sat, it, r)
	inRange := c.b.Op(ir.And, ir.Bool, c.b.Op(ir.Le, ir.Bool, c.b.Float(ir.F64, low), r), c.b.Op(ir.Lt, ir.Bool, r, c.b.Float(ir.F64, high)))
	if op == syntax.Eq {
		whole := c.b.Op(ir.Eq, ir.Bool, r, f)
		same := c.b.Op(ir.And, ir.Bool, c.b.Op(ir.Eq, ir.Bool, n, m), whole)
		return register(c.b.Op(ir.And, ir.Bool, inRange, same))
	}
	if floatFirst { // f < n
		within := c.b.Op(ir.And, ir.Bool, inRange, c.b.Op(ir.Lt, ir.Bool, m, n))
		return register(c.b.Op(ir.Or, ir.Bool, within, c.b.Op(ir.Lt, ir.Bool, r, c.b.Float(ir.F64, low))))
	}
	within := c.b.Op(ir.And, ir.Bool, inRange, c.b.Op(ir.Lt, ir.Bool, n, m))
	return register(c.b.Op(ir.Or, ir.Bool, within, c.b.Op(ir.Le, ir.Bool, c.b.Float(ir.F64, high), r)))
}

// wideType returns the 64-bit or float type in which a value is compared.
func (c *compiler) wideType(v value) ir.Type {
	switch t := c.scalarType(v); {
	case v.kind == kNum:
		return ir.F64
	case t == ir.Bool, t == ir.I32:
		return ir.I64
	case t == ir.U32:
		return ir.U64
	default:
		return t
	}
}

// compareSigns compares i64 with u64 by Eq or Lt: a negative number is less than, and unequal to, every u64.
func (c *compiler) compareSigns(op syntax.Op, x, y *ir.Value) *ir.Value {
	signed := x
	if x.Type == ir.U64 {
		signed = y
	}
	negative := c.b.Op(ir.Lt, ir.Bool, signed, c.b.Int(ir.I64, 0))
	ux, uy := x, y
	if x.Type == ir.I64 {
		ux = c.b.Op(ir.Wrap, ir.U64, x)
	} else {
		uy = c.b.Op(ir.Wrap, ir.U64, y)
	}
	bits := c.b.Op(compareOps.Get()[op], ir.Bool, ux, uy)
	if op == syntax.Lt && signed == x {
		return c.b.Op(ir.Or, ir.Bool, negative, bits)
	}
	return c.b.Op(ir.And, ir.Bool, c.b.Op(ir.Not, ir.Bool, negative), bits)
}
