package kernel

import (
	"fmt"
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/kernel/narrow"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// arithType returns the type of an operation on two scalars, at least one of them a register; ok is false if there is none.
func (c *compiler) arithType(x, y value) (t ir.Type, ok bool) {
	if x.kind != kReg {
		x, y = y, x
	}
	tx := x.reg.Type
	if tx == ir.Bool {
		tx = ir.I32
	}
	switch y.kind {
	case kReg:
		ty := y.reg.Type
		if ty == ir.Bool {
			ty = ir.I32
		}
		switch {
		case tx == ty:
			return tx, true
		case tx.Size() == 8 && tx.IsInt(), ty.Size() == 8 && ty.IsInt():
			return ir.I64, false
		case tx.IsFloat() && ty.IsFloat():
			return ir.F64, true
		case tx.IsFloat():
			return tx, true
		case ty.IsFloat():
			return ty, true
		}
		return ir.U32, true
	case kBool:
		return tx, tx.IsFloat() || tx.Size() == 4
	case kBig:
		return tx, tx.IsInt() && tx.Size() == 8
	case kNum:
		switch tx {
		case ir.I32:
			switch {
			case fits(y.num, ir.I32):
				return ir.I32, true
			case fits(y.num, ir.U32):
				return ir.U32, true
			}
			return c.real, true
		case ir.U32:
			if fits(y.num, ir.U32) || fits(y.num, ir.I32) {
				return ir.U32, true
			}
			return c.real, true
		case ir.I64, ir.U64:
			return tx, fits(y.num, ir.I64) || fits(y.num, ir.U64)
		}
		return tx, true
	}
	return tx, false
}

// scalarType returns the type that a scalar has without a context, such as i32 for the literal 1. It returns Void for other
// values.
func (c *compiler) scalarType(v value) ir.Type {
	switch v.kind {
	case kReg:
		return v.reg.Type
	case kBool:
		return ir.Bool
	case kBig:
		if v.holds(ir.I64) {
			return ir.I64
		}
		return ir.U64
	case kNum:
		switch {
		case fits(v.num, ir.I32):
			return ir.I32
		case fits(v.num, ir.U32):
			return ir.U32
		}
		return c.real
	}
	return ir.Void
}

// constant emits the constant v as one of type t. For bool only its truth counts, and a bool becomes 0 or 1. A number is rounded
// to a float type, and wraps to an integer type. A Number that is no integer is first truncated for a 32-bit type, but becomes 0
// in a 64-bit one. NaN and infinities become 0 in integer types.
func (c *compiler) constant(v value, t ir.Type) *ir.Value {
	x := v.num
	switch v.kind {
	case kBool:
		if v.bool {
			x = 1
		}
	case kBig:
		switch {
		case t.IsInt():
			return c.b.Const(t, bigBits(v.big, t))
		case t.IsFloat():
			return c.b.Const(t, scalar.RoundInt(t, v.big))
		}
		x, _ = new(big.Float).SetInt(v.big).Float64()
	}
	switch {
	case t == ir.Bool:
		if x != 0 && x == x {
			return c.b.Const(ir.Bool, 1)
		}
		return c.b.Const(ir.Bool, 0)
	case t.IsFloat():
		if x != x {
			return c.b.Const(t, nanBits(t))
		}
		return c.b.Float(t, x)
	case t.Size() == 8 && isIntegral(x):
		n, _ := big.NewFloat(x).Int(nil)
		return c.b.Const(t, bigBits(n, t))
	case t.Size() == 8:
		return c.b.Int(t, 0)
	}
	return c.b.Int(t, int64(toInt32(x)))
}

func nanBits(t ir.Type) uint64 {
	if t == ir.F32 {
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

func bigBits(n *big.Int, t ir.Type) uint64 {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	bits := new(big.Int).And(n, mask).Uint64() // And operates on two's complement
	if t.Size() == 4 {
		return bits & math.MaxUint32
	}
	return bits
}

// toInt32 implements JavaScript's ToInt32.
func toInt32(x float64) int32 {
	if x != x || math.IsInf(x, 0) {
		return 0
	}
	m := math.Mod(math.Trunc(x), 1<<32)
	if m < 0 {
		m += 1 << 32
	}
	return int32(uint32(m))
}

// widen converts a scalar to t implicitly, as at joins. A bool becomes 0 or 1, and an integer the nearest float. Integers and
// floats wrap to integer types. For the type bool, only the truth of v counts.
func (c *compiler) widen(v value, t ir.Type) *ir.Value {
	if t == ir.U32 && v.kind == kNum && v.num < 0 && fits(v.num, ir.I32) {
		v = register(c.constant(v, ir.I32)) // keeps the sign for the overflow analysis
	}
	if v.isConst() {
		return c.constant(v, t)
	}
	r := v.reg
	switch from := r.Type; {
	case from == t:
		return r
	case t == ir.Bool:
		return c.truth(v)
	case from.IsInt() && t.IsInt():
		if from.Size() < t.Size() {
			return c.b.Op(ir.Convert, t, r)
		}
		return c.b.Op(ir.Wrap, t, r)
	case from.IsFloat() && t.IsInt():
		return c.b.Op(ir.Wrap, t, r)
	}
	return c.b.Op(ir.Convert, t, r)
}

// narrowed returns an f32 that rounds to an element of type t, f16 or bf16, as v does. x is v converted to the type in which
// kernels compute with elements of type t. For other types narrowed returns x.
func (c *compiler) narrowed(v value, t ir.Type, x *ir.Value) *ir.Value {
	switch {
	case t != ir.F16 && t != ir.BF16:
		return x
	case v.kind == kNum:
		return c.b.Const(ir.F32, scalar.Load(t, scalar.Round(t, v.num)))
	case v.kind == kBig:
		return c.b.Const(ir.F32, scalar.Load(t, scalar.RoundInt(t, v.big)))
	case v.kind != kReg || narrow.Exact(v.reg.Type, t):
		return x
	}
	return narrow.Odd(&c.b, v.reg, x)
}

// joined converts a value at a join to t. It notes the place of an i32 that becomes u32, because negative values wrap.
func (c *compiler) joined(v value, t ir.Type, at syntax.Span) *ir.Value {
	r := c.rounded(v, t, at)
	if d := r.Def; t == ir.U32 && d != nil && d.Op == ir.Wrap && (v.kind != kReg || v.reg.Type == ir.I32) {
		c.note(r, at)
	}
	return r
}

// truth returns the value as a condition: zero and NaN are false.
func (c *compiler) truth(v value) *ir.Value {
	if v.isConst() {
		return c.constant(v, ir.Bool)
	}
	r := v.reg
	switch {
	case r.Type == ir.Bool:
		return r
	case r.Type.IsFloat():
		return c.b.Op(ir.Lt, ir.Bool, c.b.Float(r.Type, 0), c.b.Op(ir.Abs, r.Type, r))
	}
	return c.b.Op(ir.Ne, ir.Bool, r, c.b.Int(r.Type, 0))
}

// constTruth returns the truth value of a constant.
func constTruth(v value) bool {
	switch v.kind {
	case kBool:
		return v.bool
	case kBig:
		return v.big.Sign() != 0
	}
	return v.num != 0 && v.num == v.num
}

func is64(t ir.Type) bool { return t == ir.I64 || t == ir.U64 }

// mixed64 reports an implicit conversion between a 64-bit integer and another type.
func (c *compiler) mixed64(at syntax.Span, from, to ir.Type) {
	why := ""
	if !is64(from) {
		why = ": 64-bit integers mix only with themselves and literals"
	}
	c.errorf(at, diag.Mixed64, fmt.Sprintf("convert: `%s(%s)`", written(to), c.text(at)), "%s does not become %s by itself%s", from, to, why)
}

// written returns the type whose conversion makes a value that elements of type t can store.
func written(t ir.Type) ir.Type {
	if t == ir.F16 || t == ir.BF16 {
		return t
	}
	return t.Value()
}

// toInt applies ToInt32 to a scalar, with the result type t (i32 or u32). It reports a 64-bit integer or a BigInt as an error, and
// returns 0 for it.
func (c *compiler) toInt(v value, t ir.Type, at syntax.Span) *ir.Value {
	if v.isConst() && v.kind != kBig {
		x := v.num
		if v.kind == kBool {
			return c.constant(v, t)
		}
		return c.b.Int(t, int64(toInt32(x)))
	}
	if v.kind == kBig || is64(v.reg.Type) {
		c.mixed64(at, ir.I64, t)
		return c.zero(t)
	}
	return c.widen(v, t)
}

func (c *compiler) zero(t ir.Type) *ir.Value { return c.b.Const(t, 0) }

// wantScalar reports whether v is a number, BigInt or bool. It reports an error for other values, unless v is bad.
func (c *compiler) wantScalar(v value, at syntax.Span) bool {
	switch v.kind {
	case kReg, kNum, kBig, kBool:
		return true
	case kBad:
	case kVoid:
		c.errorf(at, diag.ValueUnused, "", "`%s` has no value", c.text(at))
	case kStr:
		c.errorf(at, diag.NoString, "text is for g.print and g.assert only", "a string is no value of a kernel")
	case kPlace:
		c.wantWholePlace(v.place, at)
	case kFunc:
		c.errorf(at, diag.NoClosure, "call it: `f(…)`", "a function is no value of a kernel")
	case kTuple, kObject:
		c.errorf(at, diag.NotANumber, "take its elements apart: `const [a, b] = …`", "this is several values, where one is needed")
	default:
		rewrite := ""
		if builtins[v.builtin].axes {
			rewrite = fmt.Sprintf("write `%s.x`, .y or .z", c.text(at))
		}
		c.errorf(at, diag.NotANumber, rewrite, "`%s` is no number", c.text(at))
	}
	return false
}

func (c *compiler) wantWholePlace(p *place, at syntax.Span) {
	rewrite := fmt.Sprintf("write `%s%s`", c.text(at), indices(p.left))
	if p.comma != "" {
		rewrite = fmt.Sprintf("write `%s`", p.comma)
	}
	switch {
	case p.left > 0 && p.arr != nil && p.left < p.arr.Rank && p.elem.Record == nil:
		c.errorf(at, diag.TooFewIndices, rewrite+orOfRank(p), "`%s` is a row, not a number%s", c.text(at), rankOf(p))
	case p.left > 0:
		c.errorf(at, diag.TooFewIndices, rewrite, "`%s` is an array, not a number", c.text(at))
	default:
		c.errorf(at, diag.NotANumber, "name a field of it", "`%s` is a record, not a number", c.text(at))
	}
}

func indices(n int) string { return "[i][j][k]"[:3*n] }
