package arrayjs

import (
	"math/big"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/array"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/kernel"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// sorts returns the methods that sort, search and count.
func sorts() []method {
	const compare = "fn?: ((a: any, b: any) => number | boolean) | ((value: any) => number | bigint | boolean)"
	keys := []string{"axis", "descending"}
	return []method{
		{Entry: bindings.NewMethod("sort", "Sorts the elements in place along an axis, by default the last one. Numbers are in ascending order, with −0 before 0, unless descending is set. NaN is last in both orders. A function of two elements compares them, as in JavaScript, or reports whether the first one precedes; a function of one element returns its key. The sort is stable. Returns the buffer.",
			"("+compare+", options?: SortOptions): this", "(options: SortOptions): this"),
			options: keys, run: func(c *call, x array.Array) (goja.Value, error) {
				sorted, _, err := c.sort(x, false)
				if err != nil {
					return nil, err
				}
				defer func() { _ = sorted.Free() }() // the copy holds the memory
				if x.Len() == 0 {
					return nil, nil
				}
				return nil, c.Copy(x, sorted)
			}},
		{Entry: bindings.NewMethod("toSorted", "Returns a sorted copy. The arguments are those of sort.", "("+compare+", options?: SortOptions): Buffer<T, R>", "(options: SortOptions): Buffer<T, R>"),
			options: keys, run: func(c *call, x array.Array) (goja.Value, error) {
				sorted, _, err := c.sort(x, false)
				return c.result(sorted, err)
			}},
		{Entry: bindings.NewMethod("argsort", "Returns the indices along an axis, as i32, that sort the elements. The arguments are those of sort.", "("+compare+", options?: SortOptions): Buffer<'i32', R>", "(options: SortOptions): Buffer<'i32', R>"),
			options: keys, run: func(c *call, x array.Array) (goja.Value, error) {
				_, places, err := c.sort(x, true)
				return c.result(places, err)
			}},
		{Entry: bindings.NewMethod("searchsorted", "Returns, as i32, the place of each value of a buffer or an array in this buffer, which has one dimension and ascending elements. The place is the index of the first element that is not less, or, with side: 'right', of the first element that is greater. If there is none, it is the length. For a number it returns a promise of a number.", "(values: Buffer | readonly number[], options?: ArrayOptions & { side?: 'left' | 'right' }): Buffer<'i32'>", "(value: number, options?: ArrayOptions & { side?: 'left' | 'right' }): Promise<number>"),
			options: []string{"side"}, run: searchSorted},
		{Entry: bindings.NewMethod("bincount", "Returns the number of occurrences of each of the integers 0, 1, 2, … among the elements, which have an integer type. The counts are i32. The option length is the number of counts. Without it, that number is the greatest element plus 1, and the result is a promise. An element that is negative, or from the option length on, is an error.", "(options: ArrayOptions & { length: number }): Buffer<'i32', 1>", "(options?: ArrayOptions): Promise<Buffer<'i32', 1>>"),
			options: []string{"length"}, run: binCount},
		{Entry: bindings.NewMethod("histogram", "Returns the numbers of elements in bins, as i32, and the edges of the bins, in the types of mean. bins is the number of bins of equal width, by default 10, or their edges in ascending order. If the first argument is a function, its results for the elements are counted instead. A bin includes its lower edge, and the last one also its upper edge. Bins of equal width divide the range of the elements, or that of the options from and to. These are set together, and not with edges. Elements outside of the edges, and NaN, are not counted. If the range is that of the elements, NaN and infinities are errors, and equal elements are in a range of width 1. Without elements the range is from 0 to 1.", "(bins?: number | Buffer | readonly number[], options?: ArrayOptions & { from?: number; to?: number }): { counts: Buffer<'i32', 1>; edges: Buffer }", "(fn: (value: any) => number, bins?: number, options?: ArrayOptions & { from?: number; to?: number }): { counts: Buffer<'i32', 1>; edges: Buffer }"),
			options: []string{"from", "to"}, run: histogram},
		{Entry: bindings.NewMethod("quantile", "Computes the quantile, in the types of mean, along an axis or of all elements, for a number from 0 to 1, or for an array of such numbers. Quantiles are interpolated linearly between sorted elements, and are NaN if an element is NaN. No elements are an error. For an array, the result is a buffer, whose first axis is for the numbers. For one number it is a buffer of the other axes. If there are none, it is a promise of a number. With keepDims the result is always a buffer, in which the reduced axes have the extent 1.", "(q: number, options?: ArrayOptions & { axis?: undefined; keepDims?: false }): Promise<number>", "(q: number | readonly number[], axis: number, options?: AxisOptions): Buffer", "(q: number | readonly number[], options?: AxisOptions): Buffer"),
			options: []string{"axis", "keepDims"}, run: quantile},
		{Entry: bindings.NewMethod("median", "Computes the median, the quantile for 0.5, along an axis or of all elements. The result is a buffer of the other axes. If there are none, it is a promise of a number. With keepDims the result is always a buffer, in which the reduced axes have the extent 1.", reduced("number")...),
			options: []string{"axis", "keepDims"}, run: func(c *call, x array.Array) (goja.Value, error) {
				c.most(1)
				return quantiles(c, x, []float64{0.5}, false, 0)
			}},
	}
}

// sort returns a sorted copy, or as places the indices in sorted order if indices is set. Only one of both is valid.
func (c *call) sort(x array.Array, indices bool) (sorted, places array.Array, err error) {
	c.most(1)
	axis, descending := c.axis(-1, -1), c.boolean("descending")
	if c.err != nil {
		return sorted, places, c.err
	}
	if !c.has(0) {
		if indices {
			places, err = c.ArgSort(x, axis, descending)
		} else {
			sorted, err = c.Sorted(x, axis, descending)
		}
		return sorted, places, err
	}
	fn := c.function(c.arg(0), "x.sort((a, b) => a - b)")
	if c.err != nil {
		return sorted, places, c.err
	}
	n, err := kernel.ArityOf(fn.Source)
	if err != nil {
		return sorted, places, err
	}
	if n > 1 {
		sorted, places, err = c.SortBy(fn, x, axis, descending)
	} else {
		var by array.Array
		if by, err = c.Zip("sort", fn, 0, array.In(x)); err != nil {
			return sorted, places, err
		}
		defer func() { _ = by.Free() }() // the launches hold the memory
		if places, err = c.ArgSort(by, axis, descending); err == nil && !indices {
			sorted, err = c.TakeAlong(x, places, axis)
		}
	}
	if err != nil {
		return sorted, places, err
	}
	if indices && sorted.Buffer != nil {
		_ = sorted.Free() // the launches hold the memory
	} else if !indices {
		_ = places.Free()
	}
	return sorted, places, nil
}

func searchSorted(c *call, x array.Array) (goja.Value, error) {
	c.most(1)
	right := false
	if v := c.option("side"); v != nil {
		if s := v.String(); s != "left" && s != "right" {
			c.fail("side must be 'left' or 'right', not %q", s)
		} else {
			right = s == "right"
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	if c.isBuffer(c.arg(0)) {
		return c.result(c.SearchSorted(x, c.buffer("the values", c.arg(0)), right))
	}
	if _, ok := c.isList(c.arg(0)); ok {
		values, done := c.operandOr("the values", c.arg(0), x.Elem.Scalar)
		defer done()
		if c.err != nil {
			return nil, c.err
		}
		return c.result(c.SearchSorted(x, values.Array, right))
	}
	bits := c.bits("the value", x.Elem.Scalar, c.arg(0))
	if c.err != nil {
		return nil, c.err
	}
	one, err := c.Full(x.Elem.Scalar, []int{1}, bits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = one.Free() }() // the launch holds the memory
	place, err := c.SearchSorted(x, one, right)
	return c.value(place, err, true)
}

func binCount(c *call, x array.Array) (goja.Value, error) {
	c.most(0)
	if v := c.option("length"); v != nil {
		n := c.integer("length", v)
		if c.err != nil {
			return nil, c.err
		}
		return c.result(c.BinCount(x, n))
	}
	if c.err != nil {
		return nil, c.err
	}
	if x.Len() == 0 {
		v, err := c.result(c.BinCount(x, 0))
		if err != nil {
			return nil, err
		}
		return c.Engine().Resolved(v), nil
	}
	kept, err := c.Zip("bincount", array.Text("v => v"), x.Elem.Scalar, array.In(x)) // the script may change x meanwhile
	if err != nil {
		return nil, err
	}
	most, err := c.Max(kept, array.All, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = most.Free() }() // the read holds the memory
	return c.read(most, func(v goja.Value) (goja.Value, error) {
		defer func() { _ = kept.Free() }() // the launch holds the memory
		n := number(v)
		if n < 0 || n > 1<<30 {
			c.failHint("bincount counts integers from 0 to 2**30; histogram counts any numbers", "the greatest element is %s", scalar.Text(n))
			return nil, c.err
		}
		return c.result(c.BinCount(kept, int(n)+1))
	})
}

// number returns an element of any type as a number; a BigInt is rounded.
func number(v goja.Value) float64 {
	if n, ok := internals.Export(v).(*big.Int); ok {
		f, _ := new(big.Float).SetInt(n).Float64()
		return f
	}
	return v.ToFloat()
}

func histogram(c *call, x array.Array) (goja.Value, error) {
	if _, isFunction := goja.AssertFunction(c.arg(0)); isFunction {
		fn := c.function(c.arg(0), "x.histogram(v => v, 10)")
		if c.err != nil {
			return nil, c.err
		}
		mapped, err := c.Zip("histogram", fn, 0, array.In(x))
		if err != nil {
			return nil, err
		}
		defer func() { _ = mapped.Free() }() // the launches hold the memory
		x, c.args = mapped, c.args[1:]
	}
	c.most(1)
	if _, ok := c.isList(c.arg(0)); ok || c.isBuffer(c.arg(0)) {
		return histogramOf(c, x)
	}
	bins, from, to := 10, c.numberOption("from", 0), c.numberOption("to", 0)
	if c.has(0) {
		bins = c.integer("the number of bins", c.arg(0))
	}
	if set := c.option("from") != nil; c.err == nil && set != (c.option("to") != nil) || set && !(from < to) {
		c.fail("from and to are both necessary, and from must be less")
	}
	if c.err != nil {
		return nil, c.err
	}
	counts, edges, err := c.Histogram(x, bins, from, to)
	if err != nil {
		return nil, err
	}
	return c.pair("counts", counts, "edges", edges)
}

// histogramOf counts elements between edges.
func histogramOf(c *call, x array.Array) (goja.Value, error) {
	t := array.MeanType(x.Elem.Scalar)
	edges, done := c.operandOr("the edges", c.arg(0), t)
	defer done()
	if c.err == nil && (c.option("from") != nil || c.option("to") != nil) {
		c.fail("from and to belong to a number of bins; edges are an array")
	}
	if c.err != nil {
		return nil, c.err
	}
	counts, err := c.HistogramOf(x, edges.Array)
	if err != nil {
		return nil, err
	}
	kept, err := c.Slice(edges.Array, nil)
	if err != nil {
		return nil, err
	}
	return c.pair("counts", counts, "edges", kept)
}

// quantile returns quantiles of all elements or of an axis.
func quantile(c *call, x array.Array) (goja.Value, error) {
	c.most(2)
	var q []float64
	o, several := c.isList(c.arg(0))
	if several {
		for i := range int(o.Get("length").ToInteger()) {
			q = append(q, c.number("a quantile's number", o.Get(strconv.Itoa(i))))
		}
	} else {
		q = append(q, c.number("the quantile's number", c.arg(0)))
	}
	return quantiles(c, x, q, several, 1)
}

// quantiles returns a buffer of quantiles. For one number it returns a promise instead, unless an axis is kept or other axes remain.
// at is the number of the argument that may be the axis.
func quantiles(c *call, x array.Array, q []float64, several bool, at int) (goja.Value, error) {
	axis, keep := c.axis(at, array.All), c.boolean("keepDims")
	if c.err != nil {
		return nil, c.err
	}
	if several {
		return c.result(c.QuantileAxis(x, q, axis, keep))
	}
	a, err := c.QuantileOf(x, q[0], axis, keep)
	if keep || axis != array.All && len(x.Dims()) > 1 {
		return c.result(a, err)
	}
	return c.value(a, err, true)
}
