package arrayjs

import (
	"encoding/binary"
	"math"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/bindings/offloadjs"
)

// scans returns the methods of prefixes, places and selections.
func scans() []method {
	scan := func(name, help string, fn func(r *array.Run, x array.Array, axis int) (array.Array, error)) method {
		return method{Entry: bindings.NewMethod(name, help, "(axis?: number, options?: ArrayOptions & { axis?: number }): Buffer", "(options?: ArrayOptions & { axis?: number }): Buffer"),
			options: []string{"axis"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				axis := c.axis(0, array.All)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(fn(c.Run, x, axis))
			}}
	}
	place := func(name, help string, fn reduction) method {
		return method{Entry: bindings.NewMethod(name, help+" Without elements it is an error. Without an axis it returns a promise of the index in row-major order. With an axis it returns a buffer of i32 of the other axes. If there are none, it is a promise of the index. With keepDims the result is always a buffer, in which the reduced axes have the extent 1.", reduced("number")...),
			options: []string{"axis", "keepDims"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				return c.reduce(x, 0, fn)
			}}
	}
	spread := func(name, help string, fn func(r *array.Run, x array.Array, axis int, keep bool, correction float64) (array.Array, error)) method {
		return method{Entry: bindings.NewMethod(name, help+" The sum of the squared differences from the mean is divided by the number of elements minus the option correction, 0 by default. If the difference is negative, the divisor is 0. An axis, or an array of axes, selects what is reduced, all axes by default. The result is a buffer of the other axes. If there are none, it is a promise of the value. With keepDims the result is always a buffer, in which the reduced axes have the extent 1.",
			"(options?: ArrayOptions & { axis?: undefined; keepDims?: false; correction?: number }): Promise<number>", "(axis: number | readonly number[], options?: AxesOptions & { correction?: number }): Buffer", "(options: AxesOptions & { correction?: number }): Buffer"),
			options: []string{"axis", "keepDims", "correction"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				correction := c.numberOption("correction", 0)
				if c.err == nil && math.IsNaN(correction) {
					c.fail("correction must be a number, not NaN")
				}
				return c.reduce(x, 0, func(r *array.Run, x array.Array, axis int, keep bool) (array.Array, error) {
					return fn(r, x, axis, keep, correction)
				})
			}}
	}
	return []method{
		place("argmin", "Returns the index of the first of the least elements, or of the first NaN. −0 equals 0.", (*array.Run).ArgMin),
		place("argmax", "Returns the index of the first of the greatest elements, or of the first NaN. −0 equals 0.", (*array.Run).ArgMax),
		spread("var", "Computes the variance, in the types of mean.", (*array.Run).Var),
		spread("std", "Computes the standard deviation, the square root of the variance, in the types of mean.", (*array.Run).Std),
		scan("cumsum", "Returns the cumulative sums, in the types of sum: each includes the element at its place. The order is along an axis. Without one it is row-major, and the result has one dimension.", (*array.Run).CumSum),
		scan("cumprod", "Returns the cumulative products, in the types of sum: each includes the element at its place. The order is along an axis. Without one it is row-major, and the result has one dimension.", (*array.Run).CumProd),
		{Entry: bindings.NewMethod("scan", "Returns the inclusive scan by an associative function, in the type that kernels compute with: each result, of the elements' type, combines the elements up to and including the one at its place. The order is along an axis. Without one it is row-major, and the result has one dimension.", "(fn: (a: any, b: any) => number | bigint | boolean, options?: ArrayOptions & { axis?: number }): Buffer<T>"),
			options: []string{"axis"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(2)
				fn, axis := c.function(c.arg(0), "x.scan((a, b) => Math.max(a, b))"), c.axis(1, array.All)
				if c.err != nil {
					return nil, c.err
				}
				return c.result(c.Scan(fn, x, axis))
			}},
		{Entry: bindings.NewMethod("filter", "Returns a promise of a buffer with the elements for which a function is true, in their order. The function receives the element and its index in row-major order, and is compiled as a kernel. In place of the function, a buffer of the same shape selects the elements where it is true.", "(fn: (value: any, index: number) => boolean | number, options?: ArrayOptions): Promise<Buffer<T, 1>>", "(condition: Buffer, options?: ArrayOptions): Promise<Buffer<T, 1>>"),
			promised: true, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				if c.isBuffer(c.arg(0)) {
					condition := c.buffer("the condition", c.arg(0))
					if c.err != nil {
						return nil, c.err
					}
					return c.selected(c.FilterBy(condition, x))
				}
				fn := c.function(c.arg(0), "x.filter(v => v > 0)")
				if c.err != nil {
					return nil, c.err
				}
				return c.selected(c.Filter(fn, x))
			}},
		{Entry: bindings.NewMethod("nonzero", "Returns a promise of a buffer of i32 with the indices of the true elements, in row-major order. NaN and 0 are false.", "(options?: ArrayOptions): Promise<Buffer<'i32', 1>>"),
			promised: true, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(0)
				return c.selected(c.Nonzero(x))
			}},
		{Entry: bindings.NewMethod("argwhere", "Returns a promise of a buffer of i32 with a row for each true element: its index along each axis. NaN and 0 are false.", "(options?: ArrayOptions): Promise<Buffer<'i32', 2>>"),
			promised: true, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(0)
				s, err := c.Nonzero(x)
				if err != nil {
					return nil, err
				}
				dims := x.Dims()
				return c.counted(s, func(n int) (goja.Value, error) {
					indices, err := c.Finish(s, n)
					if err != nil {
						return nil, err
					}
					defer func() { _ = indices.Free() }() // the launch holds the memory
					return c.result(c.Coordinates(indices, dims))
				})
			}},
		{Entry: bindings.NewMethod("unique", "Returns a promise of a sorted buffer of the different elements. All NaNs count as one element. With an axis it compares the parts along the axis: with axis 0 it returns the different rows. Without one the result has one dimension. With the options counts, indices or inverse, the promise is of an object with the values and further buffers: counts has the number of occurrences of each value, and indices the index of its first occurrence. inverse has, for each element, the index of its value. With an axis, the parts take the place of elements in these buffers.",
			"(options?: ArrayOptions & { axis?: number; counts?: false; indices?: false; inverse?: false }): Promise<Buffer<T>>", "(options: ArrayOptions & { axis?: number; counts?: boolean; indices?: boolean; inverse?: boolean }): Promise<{ values: Buffer<T>; counts?: Buffer<'i32', 1>; indices?: Buffer<'i32', 1>; inverse?: Buffer<'i32', 1> }>"),
			promised: true, options: []string{"axis", "counts", "indices", "inverse"}, run: unique},
	}
}

// unique returns a promise of the distinct elements, or with an axis of the distinct rows. With one of its options, the promise is of an
// object that also has the arrays of the options.
func unique(c *call, x array.Array) (goja.Value, error) {
	c.most(0)
	axis := c.axis(-1, array.All)
	names := []string{"counts", "indices", "inverse"}
	wanted, several := make([]bool, len(names)), false
	for i, name := range names {
		wanted[i] = c.boolean(name)
		several = several || wanted[i]
	}
	if c.err != nil {
		return nil, c.err
	}
	if !several && axis == array.All {
		return c.selected(c.Unique(x))
	}
	g, err := c.Groups(x, axis)
	if err != nil {
		return nil, err
	}
	return c.counted(g.Selection, func(n int) (goja.Value, error) {
		d, err := c.FinishGroups(g, n)
		if err != nil {
			return nil, err
		}
		values, err := c.result(d.Values, nil)
		if err != nil {
			return nil, err
		}
		o := c.Engine().VM().NewObject()
		err = o.Set("values", values)
		for i, a := range []array.Array{d.Counts, d.Indices, d.Inverse} {
			if !wanted[i] {
				_ = a.Free() // the launch holds the memory
				continue
			}
			v, failed := c.result(a, nil)
			if err == nil {
				err = failed
			}
			if err == nil {
				err = o.Set(names[i], v)
			}
		}
		if !several {
			return values, err
		}
		return o, err
	})
}

// counted returns a promise of the result of finish for the number of a selection's elements.
func (c *call) counted(s array.Selection, finish func(n int) (goja.Value, error)) (goja.Value, error) {
	return c.Read(c.op, c.Run.Queue, offloadjs.Elements{Buffer: s.Count.Buffer, Elem: s.Count.Elem}, func(data []byte) (goja.Value, error) {
		c.resume()
		return finish(int(binary.LittleEndian.Uint32(data)))
	})
}

// selected returns a promise of a selection's elements.
func (c *call) selected(s array.Selection, err error) (goja.Value, error) {
	if err != nil {
		return nil, err
	}
	return c.counted(s, func(n int) (goja.Value, error) { return c.result(c.Finish(s, n)) })
}
