// Package maths defines the kernel language's functions in the object Math of scripts, with the same bits in f64. The interpreter's
// own functions come from Go and differ in the last bits, and by more for some arguments.
package maths

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/arguments"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel/libm"
)

// Fast lists the functions of Math.fast.
var Fast = []string{
	"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
	"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sqrt", "rsqrt", "cbrt", "pow", "erf",
}

// unary lists functions of Math that kernels compute with the device library in f64.
var unary = []struct {
	name string
	fn   func(float64) float64
}{
	{"acos", libm.Acos}, {"acosh", libm.Acosh}, {"asin", libm.Asin}, {"asinh", libm.Asinh}, {"atan", libm.Atan}, {"atanh", libm.Atanh},
	{"cbrt", libm.Cbrt}, {"cos", libm.Cos}, {"cosh", libm.Cosh}, {"erf", libm.Erf}, {"exp", libm.Exp}, {"exp2", libm.Exp2},
	{"expm1", libm.Expm1}, {"log", libm.Log}, {"log10", libm.Log10}, {"log1p", libm.Log1p}, {"log2", libm.Log2}, {"rsqrt", libm.Rsqrt},
	{"sin", libm.Sin}, {"sinh", libm.Sinh}, {"tan", libm.Tan}, {"tanh", libm.Tanh},
}

var binary = []struct {
	name string
	fn   func(x, y float64) float64
}{{"atan2", libm.Atan2}, {"pow", libm.Pow}}

var ternary = []struct {
	name string
	fn   func(x, y, z float64) float64
}{
	{"fma", math.FMA},
	{"mix", func(a, b, t float64) float64 { return math.FMA(b-a, t, a) }},
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

// Host is the engine to which the functions belong.
type Host interface {
	// Throw throws an error in the script; it does not return.
	Throw(error)
	// Lazy defines a property whose value is computed at the first read.
	Lazy(o *goja.Object, name string, value func() (goja.Value, error)) error
}

// functions defines functions in one interpreter.
type functions struct {
	vm   *goja.Runtime
	host Host
	math *goja.Object
}

// Define defines the functions in the Math of an interpreter. A function that Math has already keeps its object and gets other
// code.
func Define(vm *goja.Runtime, host Host) {
	m, ok := vm.GlobalObject().Get("Math").(*goja.Object)
	if !ok {
		return
	}
	f := &functions{vm, host, m}
	f.defineForNumbers()
	f.defineForBigInts()
	f.defineForBits()
	_ = host.Lazy(m, "fast", func() (goja.Value, error) { return f.fast(), nil })
}

// define defines a function. It replaces the Go function of one that the interpreter has.
func (f *functions) define(name string, parameters int, fn func(goja.FunctionCall) goja.Value) {
	if own, ok := f.math.Get(name).(*goja.Object); ok {
		if native, ok := internals.NativeOf(own); ok {
			*native.Call = fn
			return
		}
	}
	o := f.vm.ToValue(fn).(*goja.Object)
	_ = o.DefineDataProperty("name", f.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = o.DefineDataProperty("length", f.vm.ToValue(parameters), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = f.math.DefineDataProperty(name, o, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// defineForNumbers defines the functions that take numbers only.
func (f *functions) defineForNumbers() {
	vm := f.vm
	for _, g := range unary {
		f.define(g.name, 1, func(c goja.FunctionCall) goja.Value { return vm.ToValue(g.fn(c.Argument(0).ToFloat())) })
	}
	for _, g := range binary {
		f.define(g.name, 2, func(c goja.FunctionCall) goja.Value {
			x := c.Argument(0).ToFloat()
			return vm.ToValue(g.fn(x, c.Argument(1).ToFloat()))
		})
	}
	for _, g := range ternary {
		f.define(g.name, 3, func(c goja.FunctionCall) goja.Value {
			x, y := c.Argument(0).ToFloat(), c.Argument(1).ToFloat()
			return vm.ToValue(g.fn(x, y, c.Argument(2).ToFloat()))
		})
	}
	f.define("hypot", 2, func(c goja.FunctionCall) goja.Value {
		length := 0.0
		for i, v := range c.Arguments {
			if x := v.ToFloat(); i == 0 {
				length = math.Abs(x)
			} else {
				length = libm.Hypot(length, x)
			}
		}
		return vm.ToValue(length)
	})
	f.define("ldexp", 2, func(c goja.FunctionCall) goja.Value {
		x, n := c.Argument(0).ToFloat(), c.Argument(1).ToFloat()
		if n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			f.host.Throw(&arguments.Error{Func: "Math.ldexp", Name: "n", Detail: fmt.Sprintf("must be an integer of 32 bits, not %v", n), Advice: "write n | 0 to drop a fraction"})
		}
		return vm.ToValue(libm.Ldexp(x, n))
	})
	f.define("frexp", 1, func(c goja.FunctionCall) goja.Value {
		x := c.Argument(0).ToFloat()
		return vm.NewArray(libm.Frexp(x), libm.FrexpExponent(x))
	})
}

// defineForBits defines functions of the bits of integers.
func (f *functions) defineForBits() {
	vm := f.vm
	f.define("mulhi", 2, func(c goja.FunctionCall) goja.Value { return f.mulHigh(c.Argument(0), c.Argument(1)) })
	f.define("ctz", 1, func(c goja.FunctionCall) goja.Value {
		n, width := bitsOf(c.Argument(0))
		return vm.ToValue(min(bits.TrailingZeros64(n), width))
	})
	f.define("popcount", 1, func(c goja.FunctionCall) goja.Value {
		n, _ := bitsOf(c.Argument(0))
		return vm.ToValue(bits.OnesCount64(n))
	})
}

// defineForBigInts defines functions that accept numbers and also BigInts, as kernels accept 64-bit integers.
func (f *functions) defineForBigInts() {
	vm := f.vm
	either := func(name string, number func(float64) float64, integer func(*big.Int) *big.Int) {
		f.define(name, 1, func(c goja.FunctionCall) goja.Value {
			if n, ok := asBigInt(c.Argument(0)); ok {
				return vm.ToValue(integer(n))
			}
			return vm.ToValue(number(c.Argument(0).ToFloat()))
		})
	}
	either("abs", math.Abs, func(n *big.Int) *big.Int { return new(big.Int).Abs(n) })
	either("sign", sign, func(n *big.Int) *big.Int { return big.NewInt(int64(n.Sign())) })
	lesser := func(x, y *big.Int) bool { return x.Cmp(y) < 0 }
	greater := func(x, y *big.Int) bool { return x.Cmp(y) > 0 }
	extreme := func(name string, start float64, number func(x, y float64) float64, before func(x, y *big.Int) bool) {
		f.define(name, 2, func(c goja.FunctionCall) goja.Value {
			if best, ok := asBigInt(c.Argument(0)); ok {
				for _, v := range c.Arguments[1:] {
					if n := f.mustBeBigInt(v); before(n, best) {
						best = n
					}
				}
				return vm.ToValue(best)
			}
			r := start
			for _, v := range c.Arguments {
				r = number(r, v.ToFloat())
			}
			return vm.ToValue(r)
		})
	}
	extreme("min", math.Inf(1), func(x, y float64) float64 { return min(x, y) }, lesser)
	extreme("max", math.Inf(-1), func(x, y float64) float64 { return max(x, y) }, greater)
	f.define("clamp", 3, func(c goja.FunctionCall) goja.Value {
		if n, ok := asBigInt(c.Argument(0)); ok {
			low, high := f.mustBeBigInt(c.Argument(1)), f.mustBeBigInt(c.Argument(2))
			if lesser(n, low) {
				n = low
			}
			if greater(n, high) {
				n = high
			}
			return vm.ToValue(n)
		}
		x, low := c.Argument(0).ToFloat(), c.Argument(1).ToFloat()
		return vm.ToValue(min(max(x, low), c.Argument(2).ToFloat()))
	})
}

// asBigInt returns the value of a BigInt, or false for other values.
func asBigInt(v goja.Value) (n *big.Int, ok bool) {
	if _, isObject := v.(*goja.Object); isObject || v.ExportType() != bigIntType {
		return nil, false
	}
	n, ok = internals.Export(v).(*big.Int)
	return n, ok
}

// mustBeBigInt returns the value of the other operand of a BigInt, or throws.
func (f *functions) mustBeBigInt(v goja.Value) *big.Int {
	n, ok := asBigInt(v)
	if !ok {
		f.host.Throw(&diag.Diagnostic{ID: "exception", Name: "TypeError", Message: "Cannot mix BigInt and other types, use explicit conversions"})
	}
	return n
}

// fast returns the object Math.fast, whose functions are the exact ones on the host.
func (f *functions) fast() goja.Value {
	fast := f.vm.NewObject()
	for _, name := range Fast {
		_ = fast.Set(name, f.math.Get(name)) // cannot fail on a new object
	}
	return fast
}

// bitsOf returns the bits of a number as 32 bits, or of a BigInt as 64 bits.
func bitsOf(v goja.Value) (n uint64, width int) {
	if b, ok := asBigInt(v); ok {
		return low64(b), 64
	}
	return uint64(toUint32(v.ToFloat())), 32
}

// low64 returns a BigInt modulo 2⁶⁴.
func low64(n *big.Int) uint64 {
	return new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

// toUint32 truncates a number and returns it modulo 2³²; NaN and infinities become 0.
func toUint32(x float64) uint32 {
	if math.Abs(x) < 1<<62 {
		return uint32(int64(x))
	}
	if x = math.Mod(x, 1<<32); x != x {
		return 0
	}
	return uint32(int64(x))
}

// mulHigh returns the upper half of the product of two 32-bit numbers or two 64-bit BigInts. The operands are unsigned if one
// of them exceeds the signed range. It throws for other operands.
func (f *functions) mulHigh(a, b goja.Value) goja.Value {
	fail := func(v goja.Value, detail string) {
		f.host.Throw(&arguments.Error{Func: "Math.mulhi", Name: v.String(), Detail: detail, Advice: "it takes two numbers that are i32, or u32, or two BigInts that are i64, or u64"})
	}
	x, bigX := asBigInt(a)
	y, bigY := asBigInt(b)
	if bigX != bigY {
		f.host.Throw(&diag.Diagnostic{ID: "exception", Name: "TypeError", Message: "Cannot mix BigInt and other types, use explicit conversions"})
	}
	width := uint(64)
	if !bigX {
		width = 32
		var list [2]*big.Int
		for i, v := range []goja.Value{a, b} {
			f := v.ToFloat()
			if f != math.Trunc(f) || math.Abs(f) > 1<<32 {
				fail(v, "is no integer of 32 bits")
			}
			list[i] = big.NewInt(int64(f))
		}
		x, y = list[0], list[1]
	}
	limit := new(big.Int).Lsh(big.NewInt(1), width)
	half := new(big.Int).Rsh(limit, 1)
	least, unsigned := new(big.Int).Neg(half), false
	for i, n := range []*big.Int{x, y} {
		if n.Cmp(limit) >= 0 || n.Cmp(least) < 0 {
			fail([]goja.Value{a, b}[i], fmt.Sprintf("is no integer of %d bits", width))
		}
		unsigned = unsigned || n.Cmp(half) >= 0
	}
	if unsigned && (x.Sign() < 0 || y.Sign() < 0) {
		fail(a, fmt.Sprintf("and %s are of two types: one is negative, the other needs all %d bits", b, width))
	}
	high := new(big.Int).Mul(x, y)
	high.Rsh(high, width) // rounds down
	if bigX {
		return f.vm.ToValue(high)
	}
	return f.vm.ToValue(high.Int64())
}

var (
	intType   = reflect.TypeFor[int64]()
	floatType = reflect.TypeFor[float64]()

	bigIntType = reflect.TypeFor[*big.Int]()
)

// IsNumber reports whether a value is a Number.
func IsNumber(v goja.Value) bool {
	switch v.(type) {
	case *goja.Object, goja.String:
		return false
	}
	t := v.ExportType()
	return t == intType || t == floatType
}
