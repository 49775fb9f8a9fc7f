package opt

import (
	"math"
	"math/bits"

	"github.com/orepl/orepl/lang/kernel/analysis"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// identity returns a value equal to the instruction's result, or nil if it finds none. Even then it may have rewritten the
// instruction in place to a simpler one. Every rule is exact for all operands; only the payload of a NaN may change. Constants
// become right operands of commutative operations.
func (f *folder) identity(b *ir.Block, in *ir.Instr) *ir.Value {
	if commutes(in.Op) {
		if _, left := analysis.ConstBits(in.Args[0]); left {
			if _, right := analysis.ConstBits(in.Args[1]); !right {
				in.Args[0], in.Args[1] = in.Args[1], in.Args[0]
				f.changed = true
			}
		}
	}
	t := in.Args[0].Type
	switch {
	case in.Op == ir.Select:
		return f.selectRules(in)
	case in.Op.IsConvert():
		return f.conversionRules(in)
	case in.Op.IsCompare():
		return f.compareRules(b, in)
	case in.Op == ir.Not:
		return f.notRules(in)
	case t == ir.Bool || t.IsInt():
		return f.intRules(b, in)
	}
	return f.floatRules(b, in)
}

// commutes reports whether the first two operands commute. Float addition and multiplication do, because only the payload of a
// NaN differs.
func commutes(op ir.Op) bool {
	switch op {
	case ir.Add, ir.Mul, ir.Min, ir.Max, ir.MulHi, ir.And, ir.Or, ir.Xor, ir.Eq, ir.Ne, ir.FMA:
		return true
	}
	return false
}

// to rewrites the instruction as another operation. It returns nil, the result of identity for an instruction that stays.
func (f *folder) to(in *ir.Instr, op ir.Op, args ...*ir.Value) *ir.Value {
	in.Op, in.Args, in.Proved = op, args, 0
	f.changed = true
	return nil
}

// constantOf inserts a constant before the current instruction and returns it.
func (f *folder) constantOf(b *ir.Block, t ir.Type, bits uint64, site int) *ir.Value {
	in := &ir.Instr{Op: ir.Const, Bits: bits, Site: site}
	v := f.k.NewValue(t, in)
	in.Results = []*ir.Value{v}
	b.Instrs = append(b.Instrs, in)
	f.define(in.Results)
	return v
}

func defines(v *ir.Value, op ir.Op) bool { return v.Def != nil && v.Def.Op == op }

func (f *folder) intRules(b *ir.Block, in *ir.Instr) *ir.Value {
	x := in.Args[0]
	t := x.Type
	if len(in.Args) == 1 {
		if in.Op == ir.Neg && defines(x, ir.Neg) {
			return x.Def.Args[0]
		}
		return nil
	}
	y := in.Args[1]
	ones := ir.IntBits(t, -1)
	if t == ir.Bool {
		ones = 1
	}
	if x == y {
		switch in.Op {
		case ir.And, ir.Or, ir.Min, ir.Max:
			return x
		case ir.Sub, ir.Xor:
			return f.constantOf(b, t, 0, in.Site)
		}
	}
	c, ok := analysis.ConstBits(y)
	if !ok {
		return nil
	}
	zero, one := c == 0, c == 1 && t != ir.Bool
	switch in.Op {
	case ir.Add, ir.Sub:
		if zero {
			return x
		}
	case ir.Or, ir.Xor, ir.Shl, ir.Shr:
		if zero {
			return x
		}
		if in.Op == ir.Or && c == ones {
			return y
		}
		if in.Op == ir.Xor && c == ones {
			return f.to(in, ir.Not, x)
		}
	case ir.And:
		if zero {
			return y
		}
		if c == ones {
			return x
		}
	case ir.Mul:
		if zero {
			return y
		}
		if one {
			return x
		}
	case ir.Div:
		if one {
			return x
		}
		if !t.IsSigned() && c != 0 && c&(c-1) == 0 {
			return f.to(in, ir.Shr, x, f.constantOf(b, ir.I32, uint64(bits.TrailingZeros64(c)), in.Site))
		}
	case ir.Rem:
		if one {
			return f.constantOf(b, t, 0, in.Site)
		}
		if !t.IsSigned() && c != 0 && c&(c-1) == 0 {
			return f.to(in, ir.And, x, f.constantOf(b, t, c-1, in.Site))
		}
	}
	return nil
}

func (f *folder) floatRules(b *ir.Block, in *ir.Instr) *ir.Value {
	x := in.Args[0]
	t := x.Type
	switch in.Op {
	case ir.Neg:
		if defines(x, ir.Neg) {
			return x.Def.Args[0]
		}
	case ir.Abs:
		if defines(x, ir.Abs) {
			return x
		}
		if defines(x, ir.Neg) {
			return f.to(in, ir.Abs, x.Def.Args[0])
		}
	case ir.Floor, ir.Ceil, ir.Trunc, ir.Round, ir.Rint:
		if x.Def != nil && x.Def.Op.IsRounding() {
			return x // x is an integer already
		}
	case ir.Min, ir.Max:
		if x == in.Args[1] {
			return x
		}
	case ir.Add: // x + 0 is not x for −0, but x + −0 is
		if c, ok := analysis.ConstBits(in.Args[1]); ok && c == ir.FloatBits(t, math.Copysign(0, -1)) {
			return x
		}
	case ir.Sub: // x − 0 is x, also for −0
		if c, ok := analysis.ConstBits(in.Args[1]); ok && c == 0 {
			return x
		}
	case ir.Mul, ir.Div:
		c, ok := analysis.ConstBits(in.Args[1])
		switch {
		case !ok:
		case c == ir.FloatBits(t, 1):
			return x
		case c == ir.FloatBits(t, -1):
			return f.to(in, ir.Neg, x)
		case in.Op == ir.Div:
			if r, ok := exactReciprocal(t, c); ok {
				return f.to(in, ir.Mul, x, f.constantOf(b, t, r, in.Site))
			}
		}
	}
	return nil
}

// exactReciprocal returns the bits of 1/c if the float with bits c and its reciprocal are normal powers of two, of either sign. A
// multiplication then replaces the division. It returns false for other constants.
func exactReciprocal(t ir.Type, c uint64) (uint64, bool) {
	x := math.Float64frombits(c)
	limit := 1022
	if t == ir.F32 {
		x = float64(math.Float32frombits(uint32(c)))
		limit = 126
	}
	m, e := math.Frexp(math.Abs(x)) // the exponent of the power is e−1
	if m != 0.5 || e-1 > limit || e-1 < -limit {
		return 0, false
	}
	return ir.FloatBits(t, 1/x), true
}

func (f *folder) selectRules(in *ir.Instr) *ir.Value {
	cond, x, y := in.Args[0], in.Args[1], in.Args[2]
	if x == y {
		return x
	}
	if c, ok := analysis.ConstBits(cond); ok {
		if c != 0 {
			return x
		}
		return y
	}
	cx, okx := analysis.ConstBits(x)
	cy, oky := analysis.ConstBits(y)
	if okx && oky && cx == cy {
		return x
	}
	if x.Type == ir.Bool {
		switch {
		case okx && oky && cx == 1:
			return cond
		case okx && oky:
			return f.to(in, ir.Not, cond)
		case oky && cy == 0:
			return f.to(in, ir.And, cond, x)
		case okx && cx == 1:
			return f.to(in, ir.Or, cond, y)
		}
	}
	if defines(cond, ir.Not) {
		return f.to(in, ir.Select, cond.Def.Args[0], y, x)
	}
	return nil
}

func (f *folder) notRules(in *ir.Instr) *ir.Value {
	x := in.Args[0]
	switch {
	case defines(x, ir.Not):
		return x.Def.Args[0]
	case defines(x, ir.Eq):
		return f.to(in, ir.Ne, x.Def.Args...)
	case defines(x, ir.Ne):
		return f.to(in, ir.Eq, x.Def.Args...)
	case (defines(x, ir.Lt) || defines(x, ir.Le)) && x.Def.Args[0].Type.IsInt(): // floats may be unordered
		return f.to(in, ir.Lt+ir.Le-x.Def.Op, x.Def.Args[1], x.Def.Args[0])
	}
	return nil
}

func (f *folder) compareRules(b *ir.Block, in *ir.Instr) *ir.Value {
	x, y := in.Args[0], in.Args[1]
	if x == y {
		switch {
		case in.Op == ir.Lt:
			return f.constantOf(b, ir.Bool, 0, in.Site) // also for NaN
		case !x.Type.IsFloat() && in.Op != ir.Ne:
			return f.constantOf(b, ir.Bool, 1, in.Site)
		case !x.Type.IsFloat():
			return f.constantOf(b, ir.Bool, 0, in.Site)
		}
	}
	if c, ok := analysis.ConstBits(y); ok && x.Type == ir.Bool {
		if (c == 1) == (in.Op == ir.Eq) {
			return x
		}
		return f.to(in, ir.Not, x)
	}
	// comparisons of 32-bit integers widened to 64 bits, such as those of mixed signs
	from := widened(x)
	if from == nil {
		from = widened(y)
	}
	if from == nil || x.Type != ir.I64 {
		return nil
	}
	narrow := func(v *ir.Value) *ir.Value {
		if w := widened(v); w != nil && w.Type == from.Type {
			return w
		}
		if n, ok := analysis.ConstInt(v); ok && (from.Type == ir.I32 && n == int64(int32(n)) || from.Type == ir.U32 && n == int64(uint32(n))) {
			return f.constantOf(b, from.Type, ir.IntBits(from.Type, n), in.Site)
		}
		return nil
	}
	if nx, ny := narrow(x), narrow(y); nx != nil && ny != nil {
		return f.to(in, in.Op, nx, ny)
	}
	return nil
}

// widened returns the 32-bit integer that v converts to another type, or nil. Callers check that this type is i64.
func widened(v *ir.Value) *ir.Value {
	if !defines(v, ir.Convert) {
		return nil
	}
	if from := v.Def.Args[0]; from.Type == ir.I32 || from.Type == ir.U32 {
		return from
	}
	return nil
}

func (f *folder) conversionRules(in *ir.Instr) *ir.Value {
	x := in.Args[0]
	from, to := x.Type, in.Type()
	if from == to && in.Op != ir.Quant {
		return x
	}
	if x.Def == nil {
		return nil
	}
	inner := x.Def
	switch in.Op {
	case ir.Convert:
		if inner.Op == ir.Convert && from == ir.F64 && to == ir.F32 && inner.Args[0].Type == ir.F32 {
			return inner.Args[0]
		}
	case ir.Wrap, ir.Sat:
		// a conversion and its inverse through a type that represents all values of the integer
		if inner.Op == ir.Convert && inner.Args[0].Type == to && to.Size() == 4 && (from == ir.F64 || from == ir.I64) {
			return inner.Args[0]
		}
	case ir.Quant:
		if inner.Op == ir.Quant && inner.Elem == in.Elem || in.Elem == to && f.nans.Canonical(x) {
			return x
		}
	}
	return nil
}
