package kernel

import (
	"math"
	"slices"

	"github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/syntax"
	"github.com/orepl/orepl/lang/later"
)

var numberConstants = later.Value[map[string]float64]{Make: func() map[string]float64 {
	return map[string]float64{
		"EPSILON": 0x1p-52, "MAX_SAFE_INTEGER": 1<<53 - 1, "MIN_SAFE_INTEGER": 1 - 1<<53, "MAX_VALUE": math.MaxFloat64,
		"MIN_VALUE": math.SmallestNonzeroFloat64, "POSITIVE_INFINITY": math.Inf(1), "NEGATIVE_INFINITY": math.Inf(-1), "NaN": math.NaN(),
	}
}}

// numberTests are the functions of Number in kernels; isNaN and isFinite are also global.
var numberTests = []string{"isNaN", "isFinite", "isInteger"}

// numberMember compiles a property of Number: a constant or one of numberTests. It reports other names.
func (c *compiler) numberMember(name string, at syntax.Span) value {
	if x, ok := numberConstants.Get()[name]; ok {
		return number(x)
	}
	if slices.Contains(numberTests, name) {
		return builtin(numberFamily, name)
	}
	c.errorf(at, diag.UnknownProperty, didYouMean("Number", name, append(sortedNames(numberConstants.Get()), numberTests...)), "Number has no .%s in a kernel", name)
	return bad
}

// numberCall compiles Number(x): a bool becomes an i32, a 64-bit integer the nearest f64, and other numbers are unchanged.
func (c *compiler) numberCall(x *syntax.Call) value {
	if !c.arity(x, 1, 1) {
		return bad
	}
	args, ok := c.scalars(x)
	if !ok {
		return bad
	}
	switch t := c.scalarType(args[0]); {
	case t == ir.Bool:
		return c.convert(ir.I32, args[0], x.Args[0].Range())
	case is64(t):
		return c.convert(ir.F64, args[0], x.Args[0].Range())
	}
	return args[0]
}

// numberTest compiles isNaN(x) and similar tests. Every integer is finite and no NaN. A bool is finite for the global isFinite, but
// not for Number.isFinite.
func (c *compiler) numberTest(f value, x *syntax.Call) value {
	if !c.arity(x, 1, 1) {
		return bad
	}
	args, ok := c.scalars(x)
	if !ok {
		return bad
	}
	name := f.str
	v := args[0]
	t := c.scalarType(v)
	if v.kind == kNum {
		switch name {
		case "isNaN":
			return boolean(v.num != v.num)
		case "isFinite":
			return boolean(v.num-v.num == 0)
		}
		return boolean(isIntegral(v.num))
	}
	if !t.IsFloat() {
		return boolean(name != "isNaN" && (f.builtin == globalTest || t.IsInt()))
	}
	r := v.reg
	finite := func() *ir.Value {
		return c.b.Op(ir.Lt, ir.Bool, c.b.Op(ir.Abs, t, r), c.b.Float(t, math.Inf(1)))
	}
	switch name {
	case "isNaN":
		return register(c.b.Op(ir.Ne, ir.Bool, r, r))
	case "isFinite":
		return register(finite())
	}
	return register(c.b.Op(ir.And, ir.Bool, finite(), c.b.Op(ir.Eq, ir.Bool, r, c.b.Op(ir.Trunc, t, r))))
}
