package array

import (
	"fmt"
	"slices"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

const (
	scanSpan  = 16 * groupSize // elements that a group scans
	scanGroup = 32             // items of a group that adds prefixes
)

// CumSum returns the cumulative sums, in the type of [SumType]. Each includes the element at its place. The order is along an
// axis, or row-major for [All]; the result then has one dimension.
func (r *Run) CumSum(x Array, axis int) (Array, error) {
	d := sumOf(SumType(x.Elem.Scalar))
	return r.scanAxis("cumsum", x, axis, d, d.acc)
}

// CumProd returns the cumulative products, with the type, order and shape of [Run.CumSum].
func (r *Run) CumProd(x Array, axis int) (Array, error) {
	d := productOf(SumType(x.Elem.Scalar))
	d.identity, d.ordered = "", true
	return r.scanAxis("cumprod", x, axis, d, d.acc)
}

// Scan returns the inclusive scan by an associative function, in the type of the elements. Order and shape are those of
// [Run.CumSum], and the function is that of [Run.Reduce].
func (r *Run) Scan(fn Function, x Array, axis int) (Array, error) {
	t := x.Elem.Scalar
	return r.scanAxis("scan", x, axis, reduction{acc: t.Value(), pre: "v => v", user: fn, ordered: true}, t)
}

// scanAxis scans rows after it has made the axis the last one.
func (r *Run) scanAxis(op string, x Array, axis int, d reduction, t ir.Type) (Array, error) {
	end, err := r.begin(op, x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if axis == All {
		if len(x.Dims()) > 1 {
			if x, err = r.flat(x); err != nil {
				return Array{}, err
			}
		}
		axis = 0
	}
	return r.alongLast(x, axis, func(x Array, rows, n int) (Array, error) {
		out, err := r.make(t, x.Dims())
		if err != nil || rows*n == 0 {
			return out, err
		}
		return out, r.scanRows(out, x, rows, n, d)
	})
}

// alongLast runs an operation of rows along an axis: if it is not the last one, on a transposed array. The result has the same shape.
func (r *Run) alongLast(x Array, axis int, do func(x Array, rows, n int) (Array, error)) (Array, error) {
	axis, err := r.axis(x, axis)
	if err != nil {
		return Array{}, err
	}
	dims := x.Dims()
	last := len(dims) - 1
	n := dims[axis]
	rows := 0
	if n > 0 {
		rows = int(x.Len()) / n
	}
	if axis == last {
		return do(x, rows, n)
	}
	order := make([]int, len(dims))
	for i := range order {
		order[i] = i
	}
	order[axis], order[last] = last, axis
	turned, err := r.transpose(x, order)
	if err != nil {
		return Array{}, err
	}
	r.scrap(turned)
	out, err := do(turned, rows, n)
	if err != nil {
		return Array{}, err
	}
	r.scrap(out)
	return r.transpose(out, order)
}

// scanRows scans rows of adjacent elements: the totals of blocks, their scan, then each block from the total before it.
func (r *Run) scanRows(out, x Array, rows, n int, d reduction) error {
	blocks := divide(n, scanSpan)
	from, err := r.as(x, rows, n)
	if err != nil {
		return err
	}
	to, err := r.as(out, rows, n)
	if err != nil {
		return err
	}
	totals, err := r.temp(d.acc, rows, blocks)
	if err != nil {
		return err
	}
	if blocks > 1 {
		sums, err := r.temp(d.acc, rows, blocks)
		if err != nil {
			return err
		}
		if err := r.reduceBlocks(sums, from, &d, scanSpan); err != nil {
			return err
		}
		inner := d
		inner.pre = "v => v"
		if err := r.scanRows(totals, sums, rows, blocks, inner); err != nil {
			return err
		}
	}
	text, group := "scanRows", scanGroup
	switch {
	case d.ordered:
		text, group = "scanOrdered", groupSize
	case emulated(r):
		text, group = "scanAlone", 1
	}
	p := d.bind(&program{name: r.op, text: text, real: realFor(d.acc), inside: text == "scanAlone"}, d.pre, "v => v").with("SPAN", scanSpan)
	return r.launch(p, []int{blocks * group, rows}, []int{group, 1, 1}, in(from), in(totals), in(to))
}

// reduceBlocks reduces each block of span elements of the rows of the matrix x to an element of out. The last block of a row may
// be shorter.
func (r *Run) reduceBlocks(out, x Array, d *reduction, span int) error {
	e := stored(x)
	src, _, err := r.around(e, 1)
	if err != nil {
		return err
	}
	s := stepOf(r, d, x.Dims()[0], x.Dims()[1], 1, span)
	p := s.bind(src.program(r.op, s.text, e))
	p.real = realFor(d.acc)
	return r.launch(d.bind(p, d.pre, "v => v"), s.size, s.group, in(x), in(out))
}

// ArgMin returns the index of the least element along an axis, or of all in row-major order: of several the first one. NaN is
// less than any number. There must be an element.
func (r *Run) ArgMin(x Array, axis int, keep bool) (Array, error) {
	return r.extremePlace("argmin", "<", x, axis, keep)
}

// ArgMax returns the index of the greatest element; see [Run.ArgMin]. NaN is greater than any number.
func (r *Run) ArgMax(x Array, axis int, keep bool) (Array, error) {
	return r.extremePlace("argmax", ">", x, axis, keep)
}

func (r *Run) extremePlace(op, better string, x Array, axis int, keep bool) (Array, error) {
	end, err := r.begin(op, x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if axis != All {
		if axis, err = r.axis(x, axis); err != nil {
			return Array{}, err
		}
	}
	shape := without(x.Dims(), axis, keep)
	_, n, inner := around(x.Dims(), axis)
	if n == 0 {
		return Array{}, r.fail(offload.InvalidSize, "the array is empty, and %s of no elements has no value", op).WithHint("check x.length first")
	}
	if inner != 1 {
		order := []int{0, 1, 2}[:len(x.Dims())]
		order = append(slices.Delete(order, axis, axis+1), axis)
		if x, err = r.transpose(x, order); err != nil {
			return Array{}, err
		}
		r.scrap(x)
	}
	out, err := r.make(ir.I32, shape)
	if err != nil {
		return Array{}, err
	}
	rows := int(out.Len())
	if n > rowSpan && rows > 0 {
		return out, r.findRows(out, x, rows, n, better)
	}
	return out, r.placeRows(out, x, rows, n, better)
}

// findRows stores the index of the best element of each row of n elements in out. better is "<" for the least or ">" for the
// greatest. It finds the block with the best element first.
func (r *Run) findRows(out, x Array, rows, n int, better string) error {
	d := extremeOf(x.Elem.Scalar, map[string]string{"<": "min", ">": "max"}[better])
	from, err := r.as(x, rows, n)
	if err != nil {
		return err
	}
	best, err := r.temp(d.acc, rows, divide(n, rowSpan))
	if err != nil {
		return err
	}
	if err := r.reduceBlocks(best, from, &d, rowSpan); err != nil {
		return err
	}
	at, err := r.as(out, rows, 1)
	if err != nil {
		return err
	}
	find := (&program{name: r.op, text: "findPlace", real: realFor(d.acc)}).with("pre", d.pre).with("SPAN", rowSpan)
	if emulated(r) {
		find.text = "findAlone"
		return r.launch(find.with("beats", beats(better)), []int{1, rows}, oneItem, in(from), in(best), in(at))
	}
	block, err := r.temp(ir.I32, rows, 1)
	if err != nil {
		return err
	}
	if err := r.placeRows(block, best, rows, divide(n, rowSpan), better); err != nil {
		return err
	}
	return r.launch(find, groups(1, rows), oneRow, in(from), in(best), in(block), in(at))
}

// beats returns the text that compares values by an operator, and prefers NaN.
func beats(better string) string {
	return fmt.Sprintf("(a, b) => a %s b || (isNaN(a) && !isNaN(b))", better)
}

// placeRows is [Run.findRows] without blocks: it compares the places of all elements. It does nothing if there are no rows.
func (r *Run) placeRows(out, x Array, rows, n int, better string) error {
	if rows == 0 {
		return nil
	}
	t := x.Elem.Scalar
	acc, pre := t.Value(), "v => v"
	if t == ir.Bool {
		acc, pre = ir.I32, "v => v ? 1 : 0"
	}
	values, err := r.as(x, rows, n)
	if err != nil {
		return err
	}
	var places Array
	for first := true; ; first = false {
		blocks := divide(n, rowSpan)
		best, err := r.temp(acc, rows, blocks)
		if err != nil {
			return err
		}
		at := out
		if blocks > 1 {
			if at, err = r.temp(ir.I32, rows, blocks); err != nil {
				return err
			}
		} else if at, err = r.as(out, rows, 1); err != nil {
			return err
		}
		p := (&program{name: r.op, text: "placeRows", real: realFor(acc)}).with("value", acc).with("pre", pre).with("SPAN", rowSpan).
			with("beats", beats(better))
		if first {
			err = r.launch(p, groups(blocks, rows), oneRow, in(values), in(best), in(at))
		} else {
			p.text = "placeAgain"
			err = r.launch(p, groups(blocks, rows), oneRow, in(values), in(places), in(best), in(at))
		}
		if err != nil || blocks == 1 {
			return err
		}
		values, places, n = best, at, blocks
	}
}

// Var returns the variance along an axis, or of all elements: the mean of the squares of the distances from the mean. The sum
// is divided by the number of elements less the correction, or by 0 if that is negative.
func (r *Run) Var(x Array, axis int, keep bool, correction float64) (Array, error) {
	return r.variance("var", x, axis, keep, correction)
}

// Std returns the square root of the variance; see [Run.Var].
func (r *Run) Std(x Array, axis int, keep bool, correction float64) (Array, error) {
	return r.variance("std", x, axis, keep, correction)
}

func (r *Run) variance(op string, x Array, axis int, keep bool, correction float64) (Array, error) {
	end, err := r.begin(op, x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	t := MeanType(x.Elem.Scalar)
	label := r.Label
	mean, err := r.mean(x, axis, true)
	if err != nil {
		return Array{}, err
	}
	r.scrap(mean)
	r.Label = label
	operands := []Operand{In(x), In(mean)}
	squares := joinOf(op, Text(fmt.Sprintf("(v, mean) => { const d = %s(v) - mean; return d * d }", t)), operands)
	squares.dims, squares.real = x.Dims(), realOf(operands, t)
	sum, err := r.reduce(Array{Elem: ir.Elem{Scalar: t}, joined: squares}, axis, keep, sumOf(t), t, "v => v")
	if err != nil {
		return Array{}, err
	}
	if axis != All {
		axis, _ = r.axis(x, axis) // the mean has checked it
	}
	_, n, _ := around(x.Dims(), axis)
	if err := r.divideBy(sum, max(float64(n)-correction, 0)); err != nil || op == "var" {
		return sum, err
	}
	flat, err := r.flat(sum)
	if err != nil {
		return Array{}, err
	}
	return sum, r.launch(&program{name: op, text: "(g, out) => { out[g.x] = Math.sqrt(out[g.x]) }"}, []int{int(sum.Len())}, nil, in(flat))
}
