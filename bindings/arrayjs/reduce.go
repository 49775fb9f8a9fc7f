package arrayjs

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
)

// reduced returns the signatures of a reduction.
func reduced(value string) []string {
	return []string{"(options?: ArrayOptions & { axis?: undefined; keepDims?: false }): Promise<" + value + ">", "(axis: number, options?: AxisOptions): Buffer", "(options: AxisOptions): Buffer"}
}

// reducedAxes returns the signatures of a reduction of one or several axes.
func reducedAxes(value string) []string {
	list := reduced(value)
	list[1], list[2] = "(axis: number | readonly number[], options?: AxesOptions): Buffer", "(options: AxesOptions): Buffer"
	return list
}

// reduction is a reduction of package array.
type reduction func(r *array.Run, x array.Array, axis int, keep bool) (array.Array, error)

// reductions returns the methods that reduce an axis, or all elements to a promise of a value.
func reductions() []method {
	const total, element = "Total<T>", "Value<T>"
	var list []method
	for _, e := range []struct {
		name, help, value string
		fn                reduction
	}{
		{"sum", "Computes the sum: in i64 for signed integers and booleans, in u64 for unsigned integers, in f64 for f64, and in f32 for other floats. Integers wrap. The order of the additions depends only on the shape. The sum of no elements is 0.", total, (*array.Run).Sum},
		{"prod", "Computes the product, in the types of sum. Integers wrap. The order of the multiplications depends only on the shape. The product of no elements is 1.", total, (*array.Run).Prod},
		{"mean", "Computes the mean, in f64 for integers, booleans and f64, and in f32 for other floats. The mean of no elements is NaN.", "number", (*array.Run).Mean},
		{"min", "Finds the least element. It is NaN if an element is NaN, and −0 is less than 0. Without elements it is an error.", element, (*array.Run).Min},
		{"max", "Finds the greatest element. It is NaN if an element is NaN, and −0 is less than 0. Without elements it is an error.", element, (*array.Run).Max},
		{"any", "Reports whether an element is true, which is false without elements. NaN and 0 are false.", "boolean", (*array.Run).Any},
		{"all", "Reports whether all elements are true, which is true without elements. NaN and 0 are false.", "boolean", (*array.Run).Every},
	} {
		list = append(list, method{
			Entry:   bindings.NewMethod(e.name, e.help+" An axis, or an array of axes, selects what is reduced, all axes by default. The result is a buffer of the other axes. If there are none, it is a promise of the value. With keepDims the result is always a buffer, in which the reduced axes have the extent 1.", reducedAxes(e.value)...),
			joins:   true,
			options: []string{"axis", "keepDims"},
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				return c.reduce(x, 0, e.fn)
			},
		})
	}
	return append(list, method{
		Entry: bindings.NewMethod("reduce", "Reduces the elements by an associative function, which is compiled as a kernel: adjacent elements are combined, in their order, in the type that kernels compute with. The result has the type of the elements. The option axis, an axis or an array of axes, selects what is reduced, all axes by default. The result is a buffer of the other axes. If there are none, it is a promise of the value. With keepDims the result is always a buffer, in which the reduced axes have the extent 1. initial is combined with the result, and is the result for no elements. Without initial, no elements are an error. The option order: 'any' is for functions that also commute: the elements are combined in a faster order, and the bits of floats may differ between devices.",
			"(fn: (a: any, b: any) => number | bigint | boolean, initial?: number | bigint, options?: ReduceOptions): Promise<any>", "(fn: (a: any, b: any) => number | bigint | boolean, options: ReduceOptions): any"),
		joins:   true,
		options: []string{"axis", "keepDims", "order"}, run: reduceBy,
	})
}

// reduce runs a reduction. It returns a promise of a value, or a buffer if keepDims is set or other axes remain. at is the number of
// the argument that may be the axis, negative for none.
func (c *call) reduce(x array.Array, at int, fn reduction) (goja.Value, error) {
	if axes := c.axes(at); axes != nil {
		return reduceAxes(c, x, axes, fn)
	}
	axis, keep := c.axis(at, array.All), c.boolean("keepDims")
	if c.err != nil {
		return nil, c.err
	}
	a, err := fn(c.Run, x, axis, keep)
	if keep || err == nil && axis != array.All && len(x.Dims()) > 1 {
		return c.result(a, err)
	}
	return c.value(a, err, x.Elem.Scalar.Size() < 8)
}

// axes returns the axes that the script lists, or nil if it names one axis or none.
func (c *call) axes(at int) []int {
	v := c.option("axis")
	if v == nil && at >= 0 {
		v = c.arg(at)
	}
	if o, ok := v.(*goja.Object); ok && o.ClassName() == "Array" {
		return c.integers("axis", v)
	}
	return nil
}

// someAxes returns one or several axes, or none if they are missing.
func someAxes(c *call, at int) []int {
	axes := c.axes(at)
	if axes == nil {
		if axis := c.axis(at, array.All); axis != array.All {
			axes = []int{axis}
		}
	} else if len(axes) == 0 {
		c.failHint("leave it out for all axes", "the list of axes is empty")
	}
	return axes
}

// reduceAxes runs a reduction of several axes as one.
func reduceAxes(c *call, x array.Array, axes []int, fn reduction) (goja.Value, error) {
	keep := c.boolean("keepDims")
	if c.err != nil {
		return nil, c.err
	}
	label := c.Run.Label
	stored, err := c.Store(x)
	if err != nil {
		return nil, err
	}
	if x.Joined() {
		defer func() { _ = stored.Free() }() // the launches hold the memory
	}
	c.Run.Label = label
	merged, axis, shape, done, err := c.MergeAxes(c.op, stored, axes)
	defer done()
	if err != nil {
		return nil, err
	}
	a, err := fn(c.Run, merged, axis, false)
	switch {
	case err == nil && keep:
		return c.result(c.Reshape(a, shape))
	case axis != array.All && len(merged.Dims()) > 1:
		return c.result(a, err)
	}
	return c.value(a, err, x.Elem.Scalar.Size() < 8)
}

func reduceBy(c *call, x array.Array) (goja.Value, error) {
	c.most(2)
	fn := c.function(c.arg(0), "x.reduce((a, b) => a + b)")
	by := (*array.Run).Reduce
	if c.choice("order", "fixed", "any") == "any" {
		by = (*array.Run).ReduceAny
	}
	if c.err != nil {
		return nil, c.err
	}
	if !c.has(1) {
		return c.reduce(x, -1, func(r *array.Run, x array.Array, axis int, keep bool) (array.Array, error) {
			return by(r, fn, x, axis, keep)
		})
	}
	initial := c.element("initial", c.arg(1), x.Elem.Scalar)
	return c.reduce(x, -1, func(r *array.Run, x array.Array, axis int, keep bool) (array.Array, error) {
		by, fn := by, fn
		if terms(x, axis) == 0 { // the results are initial; those of Any have their shape
			by = func(r *array.Run, _ array.Function, x array.Array, axis int, keep bool) (array.Array, error) {
				return r.Any(x, axis, keep)
			}
			fn = array.Text("(a, b) => a")
		}
		rest, err := by(r, fn, x, axis, keep)
		if err != nil {
			return rest, err
		}
		defer func() { _ = rest.Free() }() // the launch holds the memory
		return r.Zip("reduce", fn, x.Elem.Scalar, initial, array.In(rest))
	})
}

// terms returns the number of elements that are reduced to one. It is -1 for an axis that x does not have.
func terms(x array.Array, axis int) int64 {
	dims := x.Dims()
	switch {
	case axis == array.All:
		return x.Len()
	case axis < 0:
		axis += len(dims)
	}
	if axis < 0 || axis >= len(dims) {
		return -1
	}
	return int64(dims[axis])
}
