package arrayjs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// gathers returns the methods that copy elements to other places.
func gathers() []method {
	return []method{
		{parts: true, Entry: bindings.NewMethod("slice", "Returns a copy of a part. With one or two numbers it has the rows from start up to, but not including, end, as in JavaScript. If an argument is an array or null, each one is for an axis: [start, end, step] for a range, a number for one index, which removes the axis, and null for the whole axis. Negative numbers count from the end. If map, zip or a reduction is called directly on the result, it reads the part in place instead.",
			"(start?: number, end?: number, options?: ArrayOptions): Buffer<T, R>", "(...axes: (readonly (number | null | undefined)[] | number | null)[]): Buffer<T>"),
			run: slice},
		{Entry: bindings.NewMethod("at", "Returns a promise of the element at the indices, one for each dimension. With fewer indices it returns the row or matrix there, which shares the memory. Negative indices count from the end. An index outside is invalid-argument.", "(...indices: number[]): any"), run: at},
		{Entry: bindings.NewMethod("flip", "Returns a copy with the elements in reverse order along an axis, several axes, or by default all axes.", "(axis?: number | readonly number[], options?: ArrayOptions & { axis?: number | readonly number[] }): Buffer<T, R>"),
			options: []string{"axis"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				axes := someAxes(c, 0)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Flip(x, axes...))
			}},
		{Entry: bindings.NewMethod("roll", "Returns a copy with the elements moved by a distance along an axis, or by a distance for each of several axes. Without an axis they move in row-major order. Elements that are moved beyond the end continue at the beginning.", "(by: number, axis?: number, options?: ArrayOptions & { axis?: number }): Buffer<T, R>", "(by: readonly number[], axes: readonly number[], options?: ArrayOptions): Buffer<T, R>"),
			options: []string{"axis"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(2)
				by, axes := c.integers("the distance", c.arg(0)), someAxes(c, 1)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Roll(x, by, axes...))
			}},
		{Entry: bindings.NewMethod("tile", "Returns a buffer that repeats this one by a count for each axis. Counts are aligned at the last axis.", "(counts: Extents, options?: ArrayOptions): Buffer<T>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				counts := c.shape(c.arg(0))
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Tile(x, counts))
			}},
		{Entry: bindings.NewMethod("pad", "Returns a buffer with more elements before and after: a count for all sides, or for each axis a count or [before, after]. mode selects the new elements. 'constant', the default, is the option value, by default 0. 'edge' is the nearest element, 'reflect' a reflection at the edge element, and 'wrap' a repetition of the elements.",
			"(widths: number | readonly (number | readonly [number, number])[], options?: ArrayOptions & { mode?: 'constant' | 'edge' | 'reflect' | 'wrap'; value?: number | bigint }): Buffer<T, R>"),
			options: []string{"mode", "value"}, run: pad},
		{Entry: bindings.NewMethod("take", "Returns the elements at indices along an axis, in whose place the result has the extents of the indices. Without an axis the indices are in row-major order, and the result has their shape. Negative indices count from the end. An index outside is a fault of the launch.", "(indices: Buffer | readonly number[], axis?: number, options?: ArrayOptions & { axis?: number }): Buffer<T>"),
			options: []string{"axis"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(2)
				axis := c.axis(1, array.All)
				indices, done := c.indices(c.arg(0))
				defer done()
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Take(x, indices, axis))
			}},
		{Entry: bindings.NewMethod("put", "Stores values at indices of the elements in row-major order: a number, or a buffer or an array with a value for each index. Negative indices count from the end; an index outside is a fault of the launch. If indices are equal, any one of their values remains. Returns the buffer.", "(indices: Buffer | readonly number[] | number, values: Buffer | ArrayLike<any> | number | bigint | boolean, options?: ArrayOptions): this"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(2)
				at := c.arg(0)
				if goja.IsNumber(at) {
					at = c.Engine().VM().NewArray(at)
				}
				indices, done := c.indices(at)
				defer done()
				values, freed := c.operandOr("the values", c.arg(1), x.Elem.Scalar)
				defer freed()
				if c.err != nil {
					return nil, c.err
				}
				return nil, c.Put(x, indices, values)
			}},
		{Entry: bindings.NewMethod("diff", "Returns the differences of adjacent elements along an axis, by default the last one. The order is 1 by default; an order of 2 is the differences of the differences. Integers wrap, and the difference of booleans is whether they differ.", "(order?: number, axis?: number, options?: ArrayOptions & { axis?: number }): Buffer<T, R>", "(options: ArrayOptions & { axis?: number }): Buffer<T, R>"),
			options: []string{"axis"}, run: diff},
		{Entry: bindings.NewMethod("includes", "Returns a promise of whether an element equals a value. NaN is found, too.", "(value: number | bigint | boolean): Promise<boolean>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				if absent(c.arg(0), x.Elem.Scalar) {
					return c.Engine().Resolved(c.Engine().VM().ToValue(false)), nil
				}
				value := c.typed("the value", c.arg(0), x.Elem.Scalar)
				if c.err != nil {
					return nil, c.err
				}
				found, err := c.Join("includes", array.Text("(v, w) => v === w || (isNaN(v) && isNaN(w))"), array.In(x), value)
				if err != nil {
					return nil, err
				}
				if !found.Joined() {
					defer func() { _ = found.Free() }() // the launch holds the memory
				}
				any, err := c.Any(found, array.All, false)
				return c.value(any, err, true)
			}},
		{Entry: bindings.NewMethod("indexOf", "Returns a promise of the index of the first element that equals a value, in row-major order, or −1. NaN is not found.", "(value: number | bigint | boolean): Promise<number>"),
			run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				return c.indexOf(x)
			}},
	}
}

func diff(c *call, x array.Array) (goja.Value, error) {
	c.most(2)
	order, axis := 1, c.axis(1, -1)
	if c.has(0) {
		order = c.integer("the order", c.arg(0))
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.result(c.Diff(x, order, axis))
}

// indexOf returns a promise of the least index, in row-major order, of an element equal to the first argument, or of −1.
func (c *call) indexOf(x array.Array) (goja.Value, error) {
	if x.Len() == 0 || absent(c.arg(0), x.Elem.Scalar) {
		return c.Engine().Resolved(c.Engine().VM().ToValue(-1)), nil
	}
	value := c.typed("the value", c.arg(0), x.Elem.Scalar)
	if c.err != nil {
		return nil, c.err
	}
	flat, err := c.Reshape(x, []int{-1})
	if err != nil {
		return nil, err
	}
	places, err := c.Zip("indexOf", array.Text("(v, w, i) => v === w ? i : 2147483647"), ir.I32, array.In(flat), value)
	if err != nil {
		return nil, err
	}
	defer func() { _ = places.Free() }() // the launch holds the memory
	first, err := c.Min(places, array.All, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = first.Free() }()
	place, err := c.Zip("indexOf", array.Text("i => i === 2147483647 ? -1 : i"), ir.I32, array.In(first))
	return c.value(place, err, true)
}

// indices returns the buffer that a call passes as indices, or a new one with the numbers of an array. done frees the new one.
// For other values the call gets an error.
func (c *call) indices(v goja.Value) (a array.Array, done func()) {
	if c.isBuffer(v) {
		return c.buffer("the indices", v), func() {}
	}
	o, ok := v.(*goja.Object)
	if _, typed := c.isList(v); !ok || !typed || c.err != nil {
		c.failHint("write an array of indices, as in x.take([0, 2]); x.at(i) is one element", "the indices must be a buffer or an array of integers, not %s", convert.Describe(v))
		return a, func() {}
	}
	if _, nested := c.isList(o.Get("0")); nested {
		a, err := c.listed("the indices", ir.I32, v)
		c.note(err)
		return a, func() { _ = err != nil || a.Free() != nil } // the launch holds the memory
	}
	n := int(o.Get("length").ToInteger())
	list := make([]int32, 0, min(n, 1<<12))
	for i := range n {
		k := c.integer("an index", o.Get(strconv.Itoa(i)))
		if k != int(int32(k)) {
			c.fail("the index %d is outside of the buffer", k)
		}
		list = append(list, int32(k))
	}
	if c.err != nil {
		return a, func() {}
	}
	a, err := c.FromI32(list)
	c.note(err)
	return a, func() {
		if err == nil {
			_ = a.Free() // the launch holds the memory
		}
	}
}

func slice(c *call, x array.Array) (goja.Value, error) {
	dims := x.Dims()
	byAxis := false
	for _, v := range c.args {
		_, isObject := v.(*goja.Object)
		byAxis = byAxis || isObject || goja.IsNull(v)
	}
	if !byAxis {
		c.most(2)
		ranges := array.Ranges{c.rangeOf([]goja.Value{c.arg(0), c.arg(1)}, dims[0])}
		if c.err != nil {
			return nil, c.err
		}
		if c.next != "" && c.options == nil {
			return c.part(x, ranges, nil)
		}
		return c.result(c.Slice(x, ranges))
	}
	ranges, single := c.ranges(c.args, dims)
	if c.err != nil {
		return nil, c.err
	}
	if c.next != "" && c.options == nil && slices.Index(append(slices.Clone(single), make([]bool, len(dims)-len(single))...), false) >= 0 {
		return c.part(x, ranges, single)
	}
	out, err := c.Slice(x, ranges)
	if err != nil || !slices.Contains(single, true) {
		return c.result(out, err)
	}
	var shape []int
	for axis, n := range out.Dims() {
		if axis >= len(single) || !single[axis] {
			shape = append(shape, n)
		}
	}
	if len(shape) == 0 {
		return c.value(out, nil, false)
	}
	v, err := c.Reshape(out, shape)
	return c.result(v, err)
}

// part makes a joined array of a part of x the call's link, for the method that the script calls on the result. If the part is not
// joined, it returns its buffer.
func (c *call) part(x array.Array, ranges array.Ranges, single []bool) (goja.Value, error) {
	a, err := c.Part(x, ranges, single)
	if err != nil || !a.Joined() {
		return c.result(a, err)
	}
	c.link = &chain{array: a}
	return goja.Undefined(), nil
}

// ranges reads what slice takes for each axis. single reports the axes that have one index. After an error, which the call then
// has, the results are not valid.
func (c *call) ranges(args []goja.Value, dims []int) (ranges array.Ranges, single []bool) {
	if len(args) > len(dims) {
		c.fail("%d axes were given for the shape %s", len(args), array.Shape(dims))
		return nil, nil
	}
	for axis, v := range args {
		o, isObject := v.(*goja.Object)
		switch {
		case goja.IsNull(v) || goja.IsUndefined(v):
			ranges, single = append(ranges, array.Range{To: dims[axis], Step: 1}), append(single, false)
		case isObject && o.ClassName() == "Array":
			var list []goja.Value
			for i := range min(int(o.Get("length").ToInteger()), 4) {
				list = append(list, o.Get(strconv.Itoa(i)))
			}
			if len(list) > 3 {
				c.fail("a range is [start, end, step]")
			}
			ranges, single = append(ranges, c.rangeOf(list, dims[axis])), append(single, false)
		default:
			i := c.indexOn(v, axis, dims)
			ranges, single = append(ranges, array.Range{From: i, To: i + 1, Step: 1}), append(single, true)
		}
	}
	return ranges, single
}

// indexOn reads the index of an axis, and counts a negative one from the end. For an index outside, the call gets an error.
func (c *call) indexOn(v goja.Value, axis int, dims []int) int {
	i := c.integer(fmt.Sprintf("the index of axis %d", axis), v)
	at := i
	if at < 0 {
		at += dims[axis]
	}
	if c.err == nil && (at < 0 || at >= dims[axis]) {
		c.fail("the index %d of axis %d is outside of the shape %s", i, axis, array.Shape(dims))
		return 0
	}
	return at
}

// rangeOf reads start, end and step, which may be undefined or null, as Python does.
func (c *call) rangeOf(list []goja.Value, n int) array.Range {
	has := func(i int) bool {
		return i < len(list) && list[i] != nil && !goja.IsUndefined(list[i]) && !goja.IsNull(list[i])
	}
	step := 1
	if has(2) {
		if step = c.integer("the step", list[2]); step == 0 && c.err == nil {
			c.fail("the step is 0")
		}
	}
	low, high := 0, n
	if step < 0 {
		low, high = -1, n-1
	}
	bound := func(i, missing int) int {
		if !has(i) {
			return missing
		}
		if s, ok := list[i].(goja.String); ok {
			c.failHint("write null for a whole axis, and [start, end, step] for a part: x.slice(null, [0, 2])", "a part of an axis is no text such as %q", s.String())
			return missing
		}
		k := c.integer([]string{"start", "end"}[i], list[i])
		if k < 0 {
			k += n
		}
		return min(max(k, low), high)
	}
	if step < 0 {
		return array.Range{From: bound(0, high), To: bound(1, low), Step: step}
	}
	return array.Range{From: bound(0, low), To: bound(1, high), Step: step}
}

func at(c *call, x array.Array) (goja.Value, error) {
	dims := x.Dims()
	c.most(len(dims))
	var list []int
	for axis := range max(1, len(c.args)) {
		list = append(list, c.indexOn(c.arg(axis), axis, dims))
		if c.err != nil {
			return nil, c.err
		}
	}
	var err error
	for _, i := range list {
		if x, err = c.Row(x, i); err != nil {
			return nil, err
		}
	}
	if len(list) < len(dims) {
		return c.result(x, nil)
	}
	return c.value(x, nil, false)
}

func pad(c *call, x array.Array) (goja.Value, error) {
	c.most(1)
	dims := x.Dims()
	before, after := make([]int, len(dims)), make([]int, len(dims))
	o, isObject := c.arg(0).(*goja.Object)
	if !isObject {
		n := c.integer("the width", c.arg(0))
		for i := range dims {
			before[i], after[i] = n, n
		}
	} else {
		if n := int(o.Get("length").ToInteger()); n != len(dims) {
			c.fail("%d widths were given for the shape %s", n, array.Shape(dims))
			return nil, c.err
		}
		for i := range dims {
			pair := c.integers("a width", o.Get(strconv.Itoa(i)))
			if len(pair) == 1 {
				pair = append(pair, pair[0])
			}
			if c.err == nil && len(pair) != 2 {
				c.fail("the widths of axis %d are %s; they are [before, after]", i, array.Shape(pair))
			}
			if c.err != nil {
				return nil, c.err
			}
			before[i], after[i] = pair[0], pair[1]
		}
	}
	mode, bits := array.PadConstant, uint64(0)
	if v := c.option("mode"); v != nil {
		mode = v.String()
	}
	if v := c.option("value"); v != nil {
		bits = c.bits("value", x.Elem.Scalar, v)
		bits = array.ValueBits(x.Elem.Scalar, bits)
	}
	if c.err != nil {
		return nil, c.err
	}
	if slices.Contains([]string{array.PadConstant, array.PadEdge, array.PadReflect, array.PadWrap}, mode) {
		return c.result(c.Pad(x, before, after, mode, bits))
	}
	c.failHint("the modes are 'constant', 'edge', 'reflect' and 'wrap'", "the mode is %q", mode)
	return nil, c.err
}
