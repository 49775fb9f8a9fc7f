package kernel

import (
	"fmt"
	"math"
	"math/big"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/lang/kernel/syntax"
)

// mathFunc describes the compilation of a function of Math. Math.fast also has the functions whose field library is set.
type mathFunc struct {
	low, high int // minimum and maximum number of arguments; high < 0: no maximum
	library   bool
	compile   func(c *compiler, name string, args []value, x *syntax.Call) value // nil: call of the device library
}

// mathFuncOf returns the function of Math with a name, or false if kernels have none.
func mathFuncOf(name string) (f mathFunc, ok bool) {
	switch name {
	case "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
		"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "rsqrt", "erf":
		return mathFunc{1, 1, true, nil}, true
	case "atan2":
		return mathFunc{2, 2, true, nil}, true
	case "sqrt":
		return mathFunc{1, 1, true, (*compiler).mathSqrt}, true
	case "pow":
		return mathFunc{2, 2, true, (*compiler).mathPow}, true
	case "hypot":
		return mathFunc{0, -1, false, (*compiler).mathHypot}, true
	case "floor":
		return mathFunc{1, 1, false, roundingFunc(ir.Floor)}, true
	case "ceil":
		return mathFunc{1, 1, false, roundingFunc(ir.Ceil)}, true
	case "trunc":
		return mathFunc{1, 1, false, roundingFunc(ir.Trunc)}, true
	case "round":
		return mathFunc{1, 1, false, roundingFunc(ir.Round)}, true
	case "abs":
		return mathFunc{1, 1, false, (*compiler).mathAbs}, true
	case "sign":
		return mathFunc{1, 1, false, (*compiler).mathSign}, true
	case "fround":
		return mathFunc{1, 1, false, (*compiler).mathFround}, true
	case "min", "max":
		return mathFunc{0, -1, false, (*compiler).mathMinMax}, true
	case "fma":
		return mathFunc{3, 3, false, (*compiler).mathFMA}, true
	case "clamp":
		return mathFunc{3, 3, false, (*compiler).mathClamp}, true
	case "mix":
		return mathFunc{3, 3, false, (*compiler).mathMix}, true
	case "imul":
		return mathFunc{2, 2, false, (*compiler).mathImul}, true
	case "mulhi":
		return mathFunc{2, 2, false, (*compiler).mathMulhi}, true
	case "clz32", "ctz", "popcount":
		return mathFunc{1, 1, false, (*compiler).mathCount}, true
	case "ldexp":
		return mathFunc{2, 2, false, (*compiler).mathLdexp}, true
	case "frexp":
		return mathFunc{1, 1, false, (*compiler).mathFrexp}, true
	}
	return mathFunc{}, false
}

func (c *compiler) mathCall(name string, x *syntax.Call) value {
	f, _ := mathFuncOf(name)
	if !c.arity(x, f.low, f.high) {
		return bad
	}
	if d, ok := firstArg(x).(*syntax.Binary); ok && d.Op == syntax.Div {
		switch name {
		case "floor":
			return c.roundedQuotient(ir.Floor, d, x.Span)
		case "ceil":
			return c.roundedQuotient(ir.Ceil, d, x.Span)
		case "trunc":
			return c.roundedQuotient(ir.Trunc, d, x.Span)
		}
	}
	args, ok := c.scalars(x)
	if !ok {
		return bad
	}
	if f.compile == nil {
		return c.libraryCall(name, f, args, x)
	}
	return f.compile(c, name, args, x)
}

func firstArg(x *syntax.Call) syntax.Expr {
	if len(x.Args) == 0 {
		return nil
	}
	return x.Args[0]
}

// libraryCall compiles the call of the device library's function fn. The result has the type to which floats converts the arguments.
func (c *compiler) libraryCall(fn string, f mathFunc, args []value, x *syntax.Call) value {
	if !c.arity(x, f.low, f.high) {
		return bad
	}
	regs, t, ok := c.floats(args, x)
	if !ok {
		return bad
	}
	return register(c.b.Emit(&ir.Instr{Op: ir.Math, Fn: fn, Args: regs}, t))
}

// floats converts arguments to the widest type of the float registers among them, or to the real type if there are none. It
// reports 64-bit integers, BigInts, and values that are no scalars, as errors and returns false.
func (c *compiler) floats(args []value, x *syntax.Call) (regs []*ir.Value, t ir.Type, ok bool) {
	t = ir.Void
	for i, a := range args {
		at := x.Args[i].Range()
		if !c.wantScalar(a, at) {
			return nil, t, false
		}
		switch s := c.scalarType(a); {
		case is64(s):
			c.mixed64(at, s, c.real)
			return nil, t, false
		case a.kind == kReg && s == ir.F64, a.kind == kReg && s == ir.F32 && t == ir.Void:
			t = s
		}
	}
	if t == ir.Void {
		t = c.real
	}
	for i, a := range args {
		c.asFloat(a, x.Args[i].Range(), "a call of "+c.text(x.Fn.Range()))
		regs = append(regs, c.rounded(a, t, x.Args[i].Range()))
	}
	return regs, t, true
}

func roundingFunc(op ir.Op) func(*compiler, string, []value, *syntax.Call) value {
	return func(c *compiler, _ string, args []value, x *syntax.Call) value {
		return c.rounding(op, args[0], x.Args[0].Range())
	}
}

// rounding compiles floor, ceil, trunc or round. BigInts, and integers and bools in registers, are unchanged.
func (c *compiler) rounding(op ir.Op, v value, at syntax.Span) value {
	if !c.wantScalar(v, at) {
		return bad
	}
	if v.isConst() && v.kind != kBig {
		x := constNumber(v)
		switch op {
		case ir.Floor:
			x = math.Floor(x)
		case ir.Ceil:
			x = math.Ceil(x)
		case ir.Trunc:
			x = math.Trunc(x)
		case ir.Round:
			x = jsRound(x)
		}
		return number(x)
	}
	if !v.isFloatReg() {
		return v
	}
	return register(c.b.Op(op, v.reg.Type, v.reg))
}

// jsRound implements Math.round, which rounds ties towards +∞.
func jsRound(x float64) float64 {
	r := math.Floor(x)
	if x-r >= 0.5 {
		r++
	}
	return math.Copysign(r, x)
}

func (c *compiler) mathAbs(_ string, args []value, x *syntax.Call) value {
	v := args[0]
	switch {
	case v.kind == kBig:
		return value{kind: kBig, big: new(big.Int).Abs(v.big)}
	case v.kind == kReg && (v.reg.Type == ir.U32 || v.reg.Type == ir.U64):
		return v
	case v.isConst():
		return number(math.Abs(constNumber(v)))
	case v.reg.Type == ir.Bool:
		return register(c.widen(v, ir.I32))
	}
	r := c.b.Op(ir.Abs, v.reg.Type, v.reg)
	if r.Type.IsInt() {
		c.note(r, x.Span, x.Args[0].Range())
	}
	return register(r).withTaint(v.taint)
}

func (c *compiler) mathSqrt(_ string, args []value, x *syntax.Call) value {
	if args[0].kind == kNum {
		return number(math.Sqrt(args[0].num))
	}
	regs, t, ok := c.floats(args, x)
	if !ok {
		return bad
	}
	return register(c.b.Op(ir.Sqrt, t, regs[0]))
}

func (c *compiler) mathSign(_ string, args []value, _ *syntax.Call) value {
	v := args[0]
	if v.kind == kBig {
		return value{kind: kBig, big: big.NewInt(int64(v.big.Sign()))}
	}
	if v.isConst() {
		switch n := constNumber(v); {
		case n > 0:
			return number(1)
		case n < 0:
			return number(-1)
		default:
			return number(n)
		}
	}
	t := c.scalarType(v)
	if t == ir.Bool {
		t = ir.I32
	}
	r := c.widen(v, t)
	zero := c.constant(number(0), t)
	positive := c.b.Op(ir.Lt, ir.Bool, zero, r)
	negative := c.b.Op(ir.Lt, ir.Bool, r, zero)
	below := c.b.Op(ir.Select, t, negative, c.constant(number(-1), t), r)
	return register(c.b.Op(ir.Select, t, positive, c.constant(number(1), t), below))
}

func (c *compiler) mathFround(_ string, args []value, x *syntax.Call) value {
	return c.convert(ir.F32, args[0], x.Args[0].Range())
}

func (c *compiler) mathMinMax(name string, args []value, x *syntax.Call) value {
	op, start := ir.Min, math.Inf(1)
	if name == "max" {
		op, start = ir.Max, math.Inf(-1)
	}
	if len(args) == 0 {
		return number(start)
	}
	v := args[0]
	for i, a := range args[1:] {
		v = c.minMax(op, v, a, x.Args[0].Range(), x.Args[i+1].Range(), x.Span)
		if v.kind == kBad {
			return bad
		}
	}
	if v.kind == kReg && v.reg.Type == ir.Bool {
		return register(c.widen(v, ir.I32))
	}
	return v
}

// minMax compiles the minimum or maximum of two values. An i32 and a u32 are compared by their mathematical values.
func (c *compiler) minMax(op ir.Op, x, y value, xAt, yAt, at syntax.Span) value {
	if x.isConst() && y.isConst() && x.kind != kBig && y.kind != kBig {
		a, b := constNumber(x), constNumber(y)
		if op == ir.Min {
			return number(min(a, b))
		}
		return number(max(a, b))
	}
	if x.isConst() && y.isConst() {
		return c.minMaxBig(op, x, y, at)
	}
	c.combine(x, y, at)
	t, ok := c.arithType(x, y)
	if !ok {
		c.mixedOperands(x, y, xAt, yAt)
		return bad
	}
	if !c.wantHeld(x, t, xAt) || !c.wantHeld(y, t, yAt) {
		return bad
	}
	if c.mixedSigns(x, y) {
		// the minimum is at most the i32, the maximum at least the u32
		result := ir.I32
		if op == ir.Max {
			result = ir.U32
		}
		r := c.b.Op(op, ir.I64, c.widen(x, ir.I64), c.widen(y, ir.I64))
		return ofInt(register(c.b.Op(ir.Wrap, result, r)), x.taint|y.taint)
	}
	if t == ir.F32 {
		c.exactConstant(x, t, xAt)
		c.exactConstant(y, t, yAt)
	}
	r := c.b.Op(op, t, c.widen(x, t), c.widen(y, t))
	c.note(r, at)
	return ofInt(register(r), x.taint|y.taint)
}

// minMaxBig returns the minimum or maximum of a BigInt and another constant. It reports one that is no integer as an error.
func (c *compiler) minMaxBig(op ir.Op, x, y value, at syntax.Span) value {
	a, okA := asBig(x)
	b, okB := asBig(y)
	if !okA || !okB {
		c.bigBesideFraction(at)
		return bad
	}
	if (a.Cmp(b) < 0) == (op == ir.Min) {
		return c.bigValue(a, at)
	}
	return c.bigValue(b, at)
}

func (c *compiler) mathClamp(_ string, args []value, x *syntax.Call) value {
	v := c.minMax(ir.Max, args[0], args[1], x.Args[0].Range(), x.Args[1].Range(), x.Span)
	if v.kind == kBad {
		return bad
	}
	return c.minMax(ir.Min, v, args[2], x.Args[0].Range(), x.Args[2].Range(), x.Span)
}

func (c *compiler) mathFMA(_ string, args []value, x *syntax.Call) value {
	regs, t, ok := c.floats(args, x)
	if !ok {
		return bad
	}
	return register(c.b.Op(ir.FMA, t, regs...))
}

// mathMix compiles Math.mix(a, b, t) to a + (b − a)·t. The product and the sum are fused.
func (c *compiler) mathMix(_ string, args []value, x *syntax.Call) value {
	r, t, ok := c.floats(args, x)
	if !ok {
		return bad
	}
	return register(c.b.Op(ir.FMA, t, c.b.Op(ir.Sub, t, r[1], r[0]), r[2], r[0]))
}

func (c *compiler) mathImul(_ string, args []value, x *syntax.Call) value {
	for i, a := range args {
		c.asBits(a, x.Args[i].Range(), "an operand of Math.imul")
	}
	if args[0].kind == kNum && args[1].kind == kNum {
		return number(float64(toInt32(args[0].num) * toInt32(args[1].num)))
	}
	a := c.toInt(args[0], ir.I32, x.Args[0].Range())
	return register(c.b.Op(ir.Mul, ir.I32, a, c.toInt(args[1], ir.I32, x.Args[1].Range())))
}

func (c *compiler) mathMulhi(_ string, args []value, x *syntax.Call) value {
	for i, a := range args {
		c.asBits(a, x.Args[i].Range(), "an operand of Math.mulhi")
	}
	if args[0].isConst() && args[1].isConst() {
		args[0] = register(c.widen(args[0], c.scalarType(args[0])))
	}
	t, ok := c.arithType(args[0], args[1])
	if !ok {
		c.mixedOperands(args[0], args[1], x.Args[0].Range(), x.Args[1].Range())
		return bad
	}
	if !t.IsInt() {
		c.errorf(x.Span, diag.BadOperand, "convert: i32(x) or u32(x)", "Math.mulhi takes integers")
		return bad
	}
	if !c.wantHeld(args[0], t, x.Args[0].Range()) || !c.wantHeld(args[1], t, x.Args[1].Range()) {
		return bad
	}
	return register(c.b.Op(ir.MulHi, t, c.widen(args[0], t), c.widen(args[1], t)))
}

// mathCount compiles clz32, ctz and popcount, whose results are i32. Only ctz and popcount accept 64-bit integers.
func (c *compiler) mathCount(name string, args []value, x *syntax.Call) value {
	at := x.Args[0].Range()
	c.asBits(args[0], at, "an operand of Math."+name)
	op := map[string]ir.Op{"clz32": ir.Clz, "ctz": ir.Ctz, "popcount": ir.Popcnt}[name]
	v := args[0]
	if name != "clz32" {
		if v.kind == kBig {
			return register(c.b.Op(op, ir.I32, c.constant(v, ir.U64)))
		}
		if v.kind == kReg && is64(v.reg.Type) {
			return register(c.b.Op(op, ir.I32, v.reg))
		}
	}
	return register(c.b.Op(op, ir.I32, c.toInt(v, ir.U32, at)))
}

func (c *compiler) mathPow(_ string, args []value, x *syntax.Call) value {
	return c.arith(syntax.Pow, args[0], args[1], x.Args[0].Range(), x.Args[1].Range(), x.Span)
}

func (c *compiler) mathHypot(_ string, args []value, x *syntax.Call) value {
	switch len(args) {
	case 0:
		return number(0)
	case 1:
		return c.mathAbs("abs", args, x)
	}
	regs, t, ok := c.floats(args, x)
	if !ok {
		return bad
	}
	r := regs[0]
	for _, s := range regs[1:] {
		r = c.b.Emit(&ir.Instr{Op: ir.Math, Fn: "hypot", Args: []*ir.Value{r, s}}, t)
	}
	return register(r)
}

// mathLdexp compiles x·2ⁿ; the library takes n as a float.
func (c *compiler) mathLdexp(_ string, args []value, x *syntax.Call) value {
	regs, t, ok := c.floats(args[:1], x)
	if !ok {
		return bad
	}
	if !args[1].isInt() && args[1].kind != kBool {
		c.errorf(x.Args[1].Range(), diag.BadOperand, "write `n | 0`", "the exponent of Math.ldexp is an integer")
		return bad
	}
	c.mustBeInt(args[1], x.Args[1].Range(), "used as an exponent")
	n := c.toInt(args[1], ir.I32, x.Args[1].Range())
	return register(c.b.Emit(&ir.Instr{Op: ir.Math, Fn: "ldexp", Args: []*ir.Value{regs[0], c.b.Op(ir.Convert, t, n)}}, t))
}

// mathFrexp compiles Math.frexp(x) to the tuple [fraction, exponent].
func (c *compiler) mathFrexp(_ string, args []value, x *syntax.Call) value {
	regs, t, ok := c.floats(args, x)
	if !ok {
		return bad
	}
	fraction := c.b.Emit(&ir.Instr{Op: ir.Math, Fn: "frexp", Args: regs}, t)
	exponent := c.b.Emit(&ir.Instr{Op: ir.Math, Fn: "frexp_exponent", Args: regs}, t)
	return value{kind: kTuple, list: []value{register(fraction), register(c.b.Op(ir.Sat, ir.I32, exponent))}}
}

// convertCall compiles i32(x), f64(x), …. If x is a call of g.call, the service returns a value of this type, unless registers
// cannot hold it. If x is a quotient of integers, a conversion to an integer type makes it an integer division.
func (c *compiler) convertCall(e ir.Elem, x *syntax.Call) value {
	if e.Record != nil {
		c.errorf(x.Span, diag.BadConversion, "write {…} with its fields", "%s is a record, not a conversion", e.Record.Name)
		return bad
	}
	if !c.arity(x, 1, 1) {
		return bad
	}
	t := e.Scalar
	if inner, ok := x.Args[0].(*syntax.Call); ok && t.IsValue() {
		if f := c.expr(inner.Fn); f.kind == kBuiltin && f.builtin == callFunc {
			return c.hostCall(inner, t, false)
		}
	}
	if d, ok := x.Args[0].(*syntax.Binary); ok && d.Op == syntax.Div && t.IsInt() {
		q, _ := c.convertedQuotient(d, x.Span)
		return c.explicit(c.convert(t, q, d.Span))
	}
	if t == ir.Bool {
		return register(c.truth(c.condition(x.Args[0])))
	}
	v := c.convert(t, c.expr(x.Args[0]), x.Args[0].Range())
	if v.kind == kReg && t.IsFloat() {
		c.note(v.reg, x.Span)
	}
	return c.explicit(v)
}

// narrowing returns a source expression that wraps x to an 8-bit or 16-bit type.
func narrowing(t ir.Type) string {
	if t.IsSigned() {
		shift := 32 - 8*t.Size()
		return fmt.Sprintf("x << %d >> %d", shift, shift)
	}
	return fmt.Sprintf("x & %#x", 1<<(8*t.Size())-1)
}

// convert emits an explicit conversion. In an integer type, integers wrap, floats saturate, and NaN becomes 0. For f16 and bf16
// the result is an f32 that is rounded to that type. 8-bit and 16-bit integer types are an error.
func (c *compiler) convert(t ir.Type, v value, at syntax.Span) value {
	if !c.wantScalar(v, at) {
		return bad
	}
	switch t {
	case ir.I8, ir.U8, ir.I16, ir.U16:
		c.errorf(at, diag.BadConversion, fmt.Sprintf("store it in a buffer of %s, or write `%s`", t, narrowing(t)), "values are never %s: they are computed as i32", t)
		return bad
	case ir.Bool:
		return register(c.truth(v))
	case ir.F16, ir.BF16:
		x := c.narrowed(v, t, c.widen(v, ir.F32))
		return register(c.b.Emit(&ir.Instr{Op: ir.Quant, Elem: t, Args: []*ir.Value{x}}, ir.F32))
	}
	if v.isConst() {
		return register(c.converted(v, t))
	}
	if t.IsInt() {
		c.becomesInt(v, at, "converted by "+t.String()+"()")
	}
	if v.reg.Type == t {
		return v.withTaint(0)
	}
	if t.IsInt() && v.reg.Type.IsFloat() {
		return register(c.b.Op(ir.Sat, t, v.reg))
	}
	return register(c.widen(v, t))
}

// converted emits a constant converted to type t. For an integer type, an integral Number that fits i64 or u64 wraps. Any other
// Number is truncated and saturates.
func (c *compiler) converted(v value, t ir.Type) *ir.Value {
	if !t.IsInt() || v.kind != kNum {
		return c.constant(v, t)
	}
	x := v.num
	if !fits(x, ir.I64) && !fits(x, ir.U64) {
		return c.b.Const(t, scalar.Sat(ir.F64, t, math.Float64bits(x)))
	}
	n, _ := big.NewFloat(x).Int(nil)
	return c.b.Const(t, bigBits(n, t))
}

// bits emits the bits of a number as u32 or u64, canonical for NaN.
func (c *compiler) bits(x *syntax.Call) value {
	if !c.arity(x, 1, 1) {
		return bad
	}
	args, ok := c.scalars(x)
	if !ok {
		return bad
	}
	v := c.widen(args[0], c.scalarType(args[0]))
	if v.Type == ir.Bool {
		v = c.b.Op(ir.Convert, ir.I32, v)
	}
	t := ir.U32
	if v.Type.Size() == 8 {
		t = ir.U64
	}
	if v.Type == t {
		return register(v)
	}
	return register(c.b.Op(ir.Bitcast, t, v))
}

func (c *compiler) fromBits(x *syntax.Call) value {
	if !c.arity(x, 2, 2) {
		return bad
	}
	args := c.args(x)
	if args[0].kind == kBad || !c.wantScalar(args[1], x.Args[1].Range()) {
		return bad
	}
	if args[0].kind != kType || args[0].elem.Record != nil || !args[0].elem.Scalar.IsValue() || args[0].elem.Scalar == ir.Bool {
		c.errorf(x.Args[0].Range(), diag.BadConversion, "write f32, f64, i32, u32, i64 or u64", "fromBits needs a type with 32 or 64 bits")
		return bad
	}
	t, at := args[0].elem.Scalar, x.Args[1].Range()
	c.mustBeInt(args[1], at, "used as bits")
	if !args[1].isInt() {
		c.errorf(at, diag.BadConversion, "write `n | 0`", "the bits must be an integer")
		return bad
	}
	var n *ir.Value
	if t.Size() == 8 {
		n = c.stored(args[1], ir.U64, at)
	} else {
		n = c.toInt(args[1], ir.U32, at)
	}
	if n.Type == t {
		return register(n)
	}
	return register(c.b.Op(ir.Bitcast, t, n))
}
