package array

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/orepl/orepl/bindings/array/gpu"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
	"github.com/orepl/orepl/runtime/offload"
)

// Selection is a result whose length the device computes.
type Selection struct {
	Count Array // one i32
	all   Array // the selected elements, and unspecified ones behind them
}

// Finish returns the selected elements, of which there are n, and frees the selection.
func (r *Run) Finish(s Selection, n int) (Array, error) {
	defer func() { _, _ = s.Count.Free(), s.all.Free() }() // commands that use them keep the memory
	out, err := r.allocate(s.all.Elem, []int{n}, r.Label)
	if err != nil || n == 0 {
		return out, err
	}
	part, err := r.view(s.all, view(s.all, 0, []int{n}))
	if err != nil {
		return Array{}, err
	}
	return out, r.Copy(out, part)
}

// Wait waits for the length of a selection and returns its elements. It frees the selection, also if it fails.
func (r *Run) Wait(ctx context.Context, s Selection) (Array, error) {
	data := make([]byte, 4)
	err := r.Queue.Read(data, s.Count.Buffer, 0)
	if err == nil {
		err = r.Queue.Sync(ctx)
	}
	if err != nil {
		_, _ = s.Count.Free(), s.all.Free()
		return Array{}, err
	}
	return r.Finish(s, int(binary.LittleEndian.Uint32(data)))
}

// Filter selects the elements for which a function of an element and its index is true, in row-major order.
func (r *Run) Filter(fn Function, x Array) (Selection, error) {
	indices, err := r.indexed(fn, 1, 1)
	if err != nil {
		return Selection{}, err
	}
	keep := []string{"(x, i) => bool(fn(x[i]))", "(x, i) => bool(fn(x[i], i))"}[indices]
	return r.selection("filter", x, keep, &fn, "(x, i) => x[i]", x.Elem)
}

// Nonzero selects the indices of the true elements, in row-major order. NaN and 0 are false.
func (r *Run) Nonzero(x Array) (Selection, error) {
	return r.selection("nonzero", x, "(x, i) => bool(x[i])", nil, "(x, i) => i", ir.Elem{Scalar: ir.I32})
}

// FilterBy selects the elements where a condition of the same shape is true, in row-major order. NaN and 0 are false.
func (r *Run) FilterBy(condition, x Array) (s Selection, err error) {
	end, err := r.begin("filter", condition, x)
	if err != nil {
		return s, err
	}
	defer end()
	if !slices.Equal(condition.Dims(), x.Dims()) {
		return s, r.fail(offload.InvalidSize, "the condition has the shape %s, the elements %s", Shape(condition.Dims()), Shape(x.Dims())).
			WithHint("the shapes must be equal; x.take(i, axis) takes whole rows at indices")
	}
	if s, err = r.Nonzero(condition); err != nil || x.Len() == 0 {
		s.all.Elem = x.Elem
		return s, err
	}
	places := s.all
	r.scrap(places)
	if s.all, err = r.allocate(x.Elem, []int{int(x.Len())}, r.Label); err != nil {
		return s, err
	}
	flat, err := r.flat(x)
	if err != nil {
		return s, err
	}
	text := "(g, out, x, at, count) => { if (g.x < count[0]) out[g.x] = x[at[g.x]] }"
	return s, r.launch(&program{name: "filter", text: text}, []int{int(x.Len())}, nil, in(s.all), in(flat), in(places), in(s.Count))
}

// Unique selects one of each set of equal elements, in ascending order. All NaN count as equal and are last.
func (r *Run) Unique(x Array) (Selection, error) {
	end, err := r.begin("unique", x)
	if err != nil {
		return Selection{}, err
	}
	defer end()
	flat, err := r.flat(x)
	if err != nil {
		return Selection{}, err
	}
	sorted, err := r.sorted(flat, 0, false)
	if err != nil {
		return Selection{}, err
	}
	r.scrap(sorted)
	return r.selection("unique", sorted, "(x, i) => i === 0 || (x[i] !== x[i - 1] && !(isNaN(x[i]) && isNaN(x[i - 1])))", nil, "(x, i) => x[i]", x.Elem)
}

// selectSpan is the number of elements that a group selects from.
const selectSpan = 16 * groupSize

func (r *Run) selection(op string, x Array, keep string, fn *Function, result string, e ir.Elem) (s Selection, err error) {
	end, err := r.begin(op, x)
	if err != nil {
		return s, err
	}
	defer end()
	flat, err := r.flat(x)
	if err != nil {
		return s, err
	}
	n := int(x.Len())
	if s.Count, err = r.make(ir.I32, []int{1}); err != nil {
		return s, err
	}
	if s.all, err = r.allocate(e, []int{n}, r.Label); err != nil {
		return s, err
	}
	if n == 0 {
		r.records.fail() // rare
		return s, r.Queue.Fill(s.Count.Buffer, []byte{0})
	}
	if d := likeGPU(r); d != nil && gpu.Selects(d) {
		bind := []gpu.Bind{{Name: "result", Value: result}}
		if fn != nil {
			bind = append(bind, gpu.Bind{Name: "fn", Value: *fn})
		}
		return s, gpu.Select(host{Run: r}, append(bind, gpu.Bind{Name: "keep", Value: keep}), n, flat, s.all, s.Count)
	}
	blocks := divide(n, selectSpan)
	counts, err := r.temp(ir.I32, blocks)
	if err != nil {
		return s, err
	}
	sums, err := r.temp(ir.I32, blocks)
	if err != nil {
		return s, err
	}
	bind := func(text string) *program {
		p := (&program{name: op, text: text, inside: true}).with("SPAN", selectSpan).with("result", result)
		if fn != nil {
			p.with("fn", *fn)
		}
		return p.with("keep", keep)
	}
	count, size, group := "countKept", groups(blocks), oneRow
	if emulated(r) {
		count, size, group = "countKeptAlone", []int{blocks}, oneItem
	}
	if err := r.launch(bind(count), size, group, in(flat), in(counts)); err != nil {
		return s, err
	}
	if err := r.scanRows(sums, counts, 1, blocks, sumOf(ir.I32)); err != nil {
		return s, err
	}
	place := "placeKept"
	if r.Queue.Device().Info().Type == offload.CPU {
		place, size, group = "placeKeptAlone", []int{blocks}, oneItem
	}
	if err := r.launch(bind(place), size, group, in(flat), in(sums), in(s.all)); err != nil {
		return s, err
	}
	last, err := r.view(sums, view(sums, int64(blocks-1), []int{1}))
	if err != nil {
		return s, err
	}
	return s, r.Copy(s.Count, last)
}

// SearchSorted returns for each value the index of the first element of a sorted array that is not less than the value. With
// right set, it is that of the first greater element. If there is none, it is the length. NaN follows all numbers.
func (r *Run) SearchSorted(sorted, values Array, right bool) (Array, error) {
	end, err := r.begin("searchsorted", sorted, values)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if len(sorted.Dims()) != 1 {
		return Array{}, r.fail(offload.InvalidArgument, "the sorted array has the shape %s, and must have one dimension", Shape(sorted.Dims()))
	}
	out, err := r.make(ir.I32, values.Dims())
	if err != nil || out.Len() == 0 {
		return out, err
	}
	to, err := r.flat(out)
	if err != nil {
		return Array{}, err
	}
	from, err := r.flat(values)
	if err != nil {
		return Array{}, err
	}
	p := (&program{name: "searchsorted", text: "(g, out, x, values) => { out[g.x] = lower(x, values[g.x], RIGHT) }"}).with("RIGHT", right)
	return out, r.launch(p, []int{int(out.Len())}, nil, in(to), in(sorted), in(from))
}

// BinCount returns the number of elements of each value from 0 to n−1. Elements outside are a fault of the launch.
func (r *Run) BinCount(x Array, n int) (Array, error) {
	end, err := r.begin("bincount", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if err := r.integers(x, "elements"); err != nil {
		return Array{}, err
	}
	out, err := r.Full(ir.I32, []int{n}, 0)
	if err != nil || x.Len() == 0 {
		return out, err
	}
	flat, err := r.flat(x)
	if err != nil {
		return Array{}, err
	}
	p := (&program{name: "bincount"}).with("place", fmt.Sprintf("(v, low, high, bins) => { const i = %s; return i }", indexOf(x.Elem.Scalar, "v")))
	p.with("counted", "(v, low, high) => true").with("end", "(edges, i) => 0").with("STRICT", true)
	return out, r.countBins(p, flat, out, out)
}

// Histogram returns the number of elements in bins of equal width over [low, high], and the edges of the bins. The last bin
// has its upper edge; elements outside and NaN are not counted. If low and high are equal, the range is that of the elements. A range
// of equal elements is widened by 0.5 on both sides; without elements it is [low, low + 1]. A range of infinite width is an error.
func (r *Run) Histogram(x Array, bins int, low, high float64) (counts, edges Array, err error) {
	end, err := r.begin("histogram", x)
	if err != nil {
		return counts, edges, err
	}
	defer end()
	if bins < 1 {
		return counts, edges, r.fail(offload.InvalidArgument, "the number of bins is %d, and must be 1 or more", bins)
	}
	t := MeanType(x.Elem.Scalar)
	if edges, err = r.make(t, []int{bins + 1}); err != nil {
		return counts, edges, err
	}
	ends, err := r.ends(x, t, low, high)
	if err != nil {
		return counts, edges, err
	}
	const text = "(g, out, ends) => { const bins = out.length - 1; out[g.x] = g.x === bins ? ends[1] : edgeOf(g.x, ends[0], ends[1], bins) }"
	if err := r.launch(&program{name: "histogram", text: text}, []int{bins + 1}, nil, in(edges), in(ends)); err != nil {
		return counts, edges, err
	}
	if counts, err = r.Full(ir.I32, []int{bins}, 0); err != nil || x.Len() == 0 {
		return counts, edges, err
	}
	flat, err := r.flat(x)
	if err != nil {
		return counts, edges, err
	}
	p := (&program{name: "histogram", real: t, inside: true}).with("place", fmt.Sprintf("(v, low, high, bins) => binOf(%s(v), low, high, bins)", t))
	p.with("counted", fmt.Sprintf("(v, low, high) => %[1]s(v) >= low && %[1]s(v) <= high", t)).with("end", "(edges, i) => edges[i]").with("STRICT", false)
	return counts, edges, r.countBins(p, flat, edges, counts)
}

// mostBins is the number of bins up to which each group has counters of its own.
const mostBins = 4096

// countBins adds the number of elements of each bin to counts. The program's functions counted and place tell whether an element between
// the ends of the edges has a bin, and which.
func (r *Run) countBins(p *program, x, edges, counts Array) error {
	n, bins := int(x.Len()), int(counts.Len())
	if bins > mostBins {
		p.text = "countFarBins"
		return r.launch(p, []int{n}, nil, in(x), in(edges), in(counts))
	}
	size := groupSize // of the counters: a few sizes, so that few kernels are compiled
	for size < bins {
		size *= 4
	}
	copies := max(1, min(4, 1024/size))
	chunk := max(chunkOf(r.Queue.Device(), n), 4*copies*size)
	p.text = "countBins"
	blocks, group := groups(divide(n, chunk)), oneRow
	if emulated(r) {
		p.text, blocks, group = "countBinsAlone", []int{divide(n, chunk)}, oneItem
	}
	return r.launch(p.with("BINS", size).with("COPIES", copies), blocks, group, in(x), in(edges), in(counts), i32(chunk))
}

// ends returns the range of a histogram as an array of two elements. They are low and high, or, if these are equal, the least and
// greatest element of x. If those are equal, too, 0.5 is subtracted and added. Without elements the range is [low, low + 1].
func (r *Run) ends(x Array, t ir.Type, low, high float64) (Array, error) {
	ends, err := r.temp(t, 2)
	if err != nil {
		return ends, err
	}
	if low != high || x.Len() == 0 {
		if low == high {
			high = low + 1
		}
		if width := high - low; math.IsInf(width, 0) || t == ir.F32 && math.IsInf(float64(float32(high)-float32(low)), 0) {
			return ends, r.fail(offload.InvalidArgument, "a range from %s to %s has no bins of equal width in %s", scalar.Text(low), scalar.Text(high), t).
				WithHint("choose from and to closer to one another, or count the elements in f64")
		}
		p := &program{name: "histogram", text: "(g, ends, low, high) => { ends[0] = low; ends[1] = high }"}
		return ends, r.launch(p, []int{1}, nil, in(ends), number(t, numberBits(t, low)), number(t, numberBits(t, high)))
	}
	var found [2]Array
	for i, name := range []string{"min", "max"} {
		if found[i], err = r.reduce(x, All, false, extremeOf(x.Elem.Scalar, name), extremeOf(x.Elem.Scalar, name).acc, "v => v"); err != nil {
			return ends, err
		}
		r.scrap(found[i])
	}
	text := fmt.Sprintf("(g, ends, low, high) => { const a = %[1]s(low[0]), b = %[1]s(high[0]); "+
		"g.assert(isFinite(b - a), `the elements range from ${a} to ${b}, which has no bins of equal width; give from and to`); ends[0] = a === b ? a - 0.5 : a; ends[1] = a === b ? b + 0.5 : b }", t)
	return ends, r.launch(&program{name: "histogram", text: text, real: t}, []int{1}, nil, in(ends), in(found[0]), in(found[1]))
}

// Quantile returns the quantiles of all elements for numbers from 0 to 1; see [Run.QuantileAxis].
func (r *Run) Quantile(x Array, q []float64) (Array, error) {
	return r.QuantileAxis(x, q, All, false)
}

// QuantileAxis returns the quantiles of an axis, or of all elements, for numbers from 0 to 1, by linear interpolation between
// sorted elements. They are NaN if an element is NaN. The result begins with an axis for the numbers. If keep is set, the
// reduced axes stay with the extent 1. An axis of extent 0, or for [All] an empty array, is an error.
func (r *Run) QuantileAxis(x Array, q []float64, axis int, keep bool) (Array, error) {
	return r.quantiles(x, []int{len(q)}, q, axis, keep)
}

// QuantileOf returns the quantile of an axis, or of all elements, for one number; see [Run.QuantileAxis].
func (r *Run) QuantileOf(x Array, q float64, axis int, keep bool) (Array, error) {
	return r.quantiles(x, nil, []float64{q}, axis, keep)
}

// quantiles implements [Run.QuantileAxis] and [Run.QuantileOf]. shape has the axis for the numbers, or is nil for one number.
func (r *Run) quantiles(x Array, shape []int, q []float64, axis int, keep bool) (Array, error) {
	end, err := r.begin("quantile", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if axis != All {
		if axis, err = r.axis(x, axis); err != nil {
			return Array{}, err
		}
	}
	if axis != All || keep || shape == nil {
		shape = append(shape, without(x.Dims(), axis, keep)...)
	}
	outer, n, inner := around(x.Dims(), axis)
	if n == 0 {
		return Array{}, r.fail(offload.InvalidSize, "the array is empty, and has no quantiles").WithHint("check x.length first")
	}
	sorted := x
	if axis == All {
		if sorted, err = r.flat(x); err == nil {
			sorted, err = r.sorted(sorted, 0, false)
		}
	} else {
		sorted, err = r.sortAxis(x, axis, false)
	}
	if err != nil {
		return Array{}, err
	}
	r.scrap(sorted)
	if sorted, err = r.as(sorted, outer, n, inner); err != nil {
		return Array{}, err
	}
	t := MeanType(x.Elem.Scalar)
	out, err := r.make(t, shape)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	text := fmt.Sprintf("(g, out, x, low, next, part) => { const a = %[1]s(x[g.y][low][g.x]), b = %[1]s(x[g.y][next][g.x]), mixed = isFinite(b - a) ? a + (b - a) * part : a * (1 - part) + b * part; "+
		"out[g.y][g.x] = isNaN(x[g.y][x.shape[1] - 1][g.x]) ? %[1]s(NaN) : part === 0 || a === b ? a : mixed }", t)
	for i, v := range q {
		if !(v >= 0 && v <= 1) {
			return Array{}, r.fail(offload.InvalidArgument, "a quantile is of a number from 0 to 1, not of %s", scalar.Text(v))
		}
		at := v * float64(n-1)
		low := int(at)
		to, err := r.view(out, view(out, int64(i*outer*inner), []int{outer, inner}))
		if err != nil {
			return Array{}, err
		}
		p := &program{name: "quantile", real: t, text: text}
		if err := r.launch(p, []int{inner, outer}, nil, in(to), in(sorted), i32(low), i32(min(low+1, n-1)), number(t, numberBits(t, at-float64(low)))); err != nil {
			return Array{}, err
		}
	}
	return out, nil
}

// HistogramOf returns the numbers of elements between adjacent edges, which are sorted and of the type of [MeanType]. Each bin
// contains its lower edge, and the last one the upper edge, too. Elements outside and NaN are not counted. Edges in another order are
// a fault of the launch.
func (r *Run) HistogramOf(x, edges Array) (Array, error) {
	end, err := r.begin("histogram", x, edges)
	if err != nil {
		return Array{}, err
	}
	defer end()
	bins := int(edges.Len()) - 1
	t := MeanType(x.Elem.Scalar)
	if bins < 1 || len(edges.Dims()) != 1 || edges.Elem.Scalar != t {
		return Array{}, r.fail(offload.InvalidArgument, "the edges have the shape %s and elements of %s; there must be two or more in a row, of %s", Shape(edges.Dims()), edges.Elem, t)
	}
	sorted := "(g, x) => g.assert(x[g.x] <= x[g.x + 1], `edge ${g.x} is ${x[g.x]} and the next one ${x[g.x + 1]}; edges ascend`)"
	if err := r.launch(&program{name: "histogram", text: sorted}, []int{bins}, nil, in(edges)); err != nil {
		return Array{}, err
	}
	label := r.Label
	r.Label = "histogram, intermediate"
	values, err := r.Zip("histogram", Text(convert(t)), t, In(x))
	if err != nil {
		return Array{}, err
	}
	r.scrap(values)
	places, err := r.SearchSorted(edges, values, true)
	if err != nil {
		return Array{}, err
	}
	r.scrap(places)
	last, err := r.view(edges, view(edges, int64(bins), []int{1}))
	if err != nil {
		return Array{}, err
	}
	if places, err = r.Zip("histogram", Text("(k, v, last) => v === last ? k - 1 : k"), ir.I32, In(places), In(values), In(last)); err != nil {
		return Array{}, err
	}
	r.scrap(places)
	counts, err := r.BinCount(places, bins+2)
	if err != nil {
		return Array{}, err
	}
	r.scrap(counts)
	r.Label = label
	return r.Slice(counts, Ranges{{From: 1, To: bins + 1, Step: 1}})
}
