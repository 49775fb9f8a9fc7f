package arrayjs

import (
	"fmt"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// elementwise returns the methods that compute each element by itself, and those of shapes.
func elementwise() []method {
	return []method{
		{Entry: bindings.NewMethod("map", "Returns a buffer of the results of a function of each element and its indices, which is compiled as a kernel. The result's elements have the type of the function's value, or the option type.",
			"(fn: (value: any, ...index: number[]) => number | bigint | boolean, options?: MapOptions): Buffer<any, R>"),
			joins: true, options: []string{"type"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				fn, t := c.function(c.arg(0), "x.map(v => v * 2)"), c.typeOption()
				if c.err != nil {
					return nil, c.err
				}
				return c.joined("map", fn, t, array.In(x))
			}},
		{Entry: bindings.NewMethod("zip", "Returns a buffer of the results of a function of the elements of this buffer, of other buffers and of numbers. Behind these the function receives the indices. Shapes broadcast as in NumPy: they are aligned at the last axis, and an extent of 1 is repeated.",
			"(...operands: [...(Buffer | number | bigint | boolean)[], (...values: any[]) => number | bigint | boolean]): Buffer", "(other: Buffer | number | bigint | boolean, fn: (a: any, b: any) => number | bigint | boolean, options?: MapOptions): Buffer"),
			joins: true, numbers: true, options: []string{"type"}, run: zip},
		{Entry: bindings.NewMethod("where", "Returns the elements of a where this buffer is true, and those of b elsewhere. NaN and 0 are false. Numbers count as buffers of equal elements, and the shapes broadcast as for zip.",
			"(a: Buffer | number | bigint | boolean, b: Buffer | number | bigint | boolean, options?: MapOptions): Buffer"),
			options: []string{"type"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(2)
				return c.where(array.In(x), c.arg(0), c.arg(1))
			}},
		{Entry: bindings.NewMethod("clip", "Returns the elements limited to a range: Math.min(Math.max(v, low), high). A bound may be a buffer. A missing bound limits nothing. So do a low bound below all values of an integer type, and a high bound above them. Beside a buffer of another type the result is also limited to the values of the elements' type. NaN stays NaN.",
			"(low?: Buffer | number | bigint, high?: Buffer | number | bigint, options?: ArrayOptions): Buffer<T, R>"),
			run: clip},
		{Entry: bindings.NewMethod("reshape", "Returns a view of the elements, in row-major order, with other extents for the same number of elements. One extent may be −1 and is computed. The view shares the memory.", "<const E extends Extents>(shape: E, options?: ArrayOptions): Buffer<T, Rank<E>>", "(...extents: number[]): Buffer<T>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				return c.result(c.Reshape(x, c.extents()))
			}},
		{Entry: bindings.NewMethod("transpose", "Returns a copy with the axes in another order, by default reversed. Axis i of the copy is axis order[i] of this buffer.", "(order?: readonly number[], options?: ArrayOptions): Buffer<T, R>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				var order []int
				if len(c.args) > 0 {
					order = c.extents()
				}
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Transpose(x, order))
			}},
	}
}

// extents reads extents as one argument or as several.
func (c *call) extents() []int {
	if len(c.args) == 1 {
		return c.integers("the shape", c.arg(0))
	}
	var list []int
	for _, v := range c.args {
		list = append(list, c.integer("an extent", v))
	}
	if len(list) == 0 {
		c.fail("the shape is missing")
	}
	return list
}

func zip(c *call, x array.Array) (goja.Value, error) {
	n := len(c.args) - 1
	if n < 1 {
		c.failHint("write x.zip(y, (a, b) => a + b)", "expected other operands and a function")
		return nil, c.err
	}
	operands := []array.Operand{array.In(x)}
	for i := range n {
		operands = append(operands, c.operandAt(i))
	}
	fn, t := c.function(c.args[n], "x.zip(y, (a, b) => a + b)"), c.typeOption()
	if c.err != nil {
		return nil, c.err
	}
	return c.joined("zip", fn, t, operands...)
}

// integral reports whether a value is a number that i32 holds.
func integral(v goja.Value) bool { return goja.IsNumber(v) && fits(ir.I32, v.ToFloat()) }

// where selects between two operands. A number beside a buffer takes the type of the buffer's elements if that holds it.
func (c *call) where(condition array.Operand, a, b goja.Value) (goja.Value, error) {
	t := c.typeOption()
	x, isX := c.Host.Elements(a)
	y, isY := c.Host.Elements(b)
	number := ir.Void // the type that a number takes
	switch {
	case isX && !isY:
		number = x.Elem.Scalar
	case isY && !isX:
		number = y.Elem.Scalar
	case !isX && !isY && integral(a) && integral(b):
		number = ir.I32
	case isX && x.Elem == y.Elem && t == ir.Void:
		t = x.Elem.Scalar
	}
	list := []array.Operand{c.typed("a", a, number), c.typed("b", b, number)}
	if t == ir.Void && number.Size() < 4 && number != ir.Void && (number.IsFloat() || number == ir.Bool) {
		t = number
	}
	if other := map[bool]goja.Value{true: b, false: a}[isX]; t == ir.Void && number.IsInt() && goja.IsNumber(other) && fits(number, other.ToFloat()) {
		t = number
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.result(c.Where(condition, list[0], list[1], t))
}

// clip limits elements to bounds, and integers beside a bound of another type to the values of their own type, too.
func clip(c *call, x array.Array) (goja.Value, error) {
	c.most(2)
	of, names, body := []array.Operand{array.In(x)}, "v", "v"
	for i, name := range []string{"low", "high"} {
		if !c.has(i) || goja.IsNull(c.arg(i)) {
			continue
		}
		if b := bound(c, name, c.arg(i), x.Elem.Scalar, 2*i-1); b != nil {
			of, names, body = append(of, *b), names+", "+name, fmt.Sprintf("Math.%s(%s, %s)", []string{"max", "min"}[i], body, name)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	if t := x.Elem.Scalar; t.IsInt() {
		low, end := rangeOf(t)
		for _, b := range of[1:] {
			switch other := b.Array.Elem.Scalar; {
			case other.IsFloat() && t.Size() >= 4:
				body = fmt.Sprintf("%v(%s)", t, body) // saturates
			case other != ir.Void && other != t && t.Size() <= 4:
				body = fmt.Sprintf("Math.min(Math.max(%s, %.0f), %.0f)", body, low, end-1)
			}
		}
	}
	return c.result(c.Zip("clip", array.Text("("+names+") => "+body), x.Elem.Scalar, of...))
}
