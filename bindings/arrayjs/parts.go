package arrayjs

import (
	"context"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
)

// parts returns the methods that store in a part, split an axis and repeat elements.
func parts() []method {
	return []method{
		{Entry: bindings.NewMethod("setSlice", "Stores values in a part. The first arguments select the part for each axis, as those of slice, where a number is one index. The last argument has the values: a number, or an array of numbers or a buffer, whose shape broadcasts to that of the part. Returns the buffer.",
			"(...axesAndValues: [...(readonly (number | null | undefined)[] | number | null)[], Buffer | ArrayLike<any> | number | bigint | boolean]): this"), run: setSlice},
		{Entry: bindings.NewMethod("split", "Returns an array of copies of the parts of an axis, 0 by default. For a number the parts are equal; another number than a divisor of the extent is an error. For indices, the first part begins at 0 and each further one at an index. Negative indices count from the end.", "(parts: number | readonly number[], axis?: number, options?: ArrayOptions & { axis?: number }): Buffer<T, R>[]"),
			options: []string{"axis"}, run: split},
		{Entry: bindings.NewMethod("repeat", "Returns count copies of each element, which follow each other along an axis. Without an axis the order is row-major, and the result has one dimension.", "(count: number, axis?: number, options?: ArrayOptions & { axis?: number }): Buffer<T>"),
			options: []string{"axis"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(2)
				n, axis := c.integer("the count", c.arg(0)), c.axis(1, array.All)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Repeat(x, n, axis))
			}},
	}
}

// setSlice stores values in a part.
func setSlice(c *call, x array.Array) (goja.Value, error) {
	n := len(c.args) - 1
	if n < 1 {
		c.failHint("write x.setSlice(1, 0) for row 1, and x.setSlice(null, [0, 2], y) for two columns", "expected a part, then the values")
		return nil, c.err
	}
	ranges, single := c.ranges(c.args[:n], x.Dims())
	values, done := c.operandOr("the values", c.args[n], x.Elem.Scalar)
	defer done()
	if c.err != nil {
		return nil, c.err
	}
	return nil, c.SetSlice(x, ranges, single, values)
}

// split returns the parts of an axis.
func split(c *call, x array.Array) (goja.Value, error) {
	c.most(2)
	axis := c.axis(1, 0)
	o, several := c.isList(c.arg(0))
	var at []int // where parts from 1 on begin; nil for equal parts
	count := 0
	if several {
		for i := range int(o.Get("length").ToInteger()) {
			at = append(at, c.integer("an index", o.Get(strconv.Itoa(i))))
		}
		count = len(at) + 1
	} else {
		count = c.integer("the number of parts", c.arg(0))
	}
	if c.err != nil {
		return nil, c.err
	}
	rank := len(x.Dims())
	if axis < -rank || axis >= rank {
		c.fail("axis %d is outside of the shape %s", axis, array.Shape(x.Dims()))
		return nil, c.err
	}
	axis = (axis + rank) % rank
	n := x.Dims()[axis]
	if !several && (count < 1 || n%count != 0) {
		c.failHint("write the indices where parts begin: x.split([2, 5])", "axis %d with %d elements has no %d equal parts", axis, n, count)
		return nil, c.err
	}
	var parts []any
	from := 0
	for i := range count {
		if err := context.Cause(c.Run.Context); err != nil {
			return nil, err
		}
		to := n
		switch {
		case !several:
			to = (i + 1) * (n / count)
		case i < len(at):
			if to = at[i]; to < 0 {
				to += n
			}
			to = min(max(to, 0), n)
		}
		ranges := make(array.Ranges, axis+1)
		for k := range ranges {
			ranges[k] = array.Range{To: x.Dims()[k], Step: 1}
		}
		ranges[axis] = array.Range{From: from, To: to, Step: 1}
		v, err := c.result(c.Slice(x, ranges))
		if err != nil {
			return nil, err
		}
		parts, from = append(parts, v), to
	}
	return c.Engine().VM().NewArray(parts...), nil
}
