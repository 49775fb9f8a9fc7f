package array

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// fresh returns an array of a shape with the elements of x, whose indices the texts compute from those of the result. The
// texts name the numbers p0, p1, … of params.
func (r *Run) fresh(op string, x Array, dims []int, texts []string, params ...int) (Array, error) {
	out, err := r.allocate(x.Elem, dims, r.Label)
	if err != nil {
		return Array{}, err
	}
	if err := r.gather(op, out, x, texts, params...); err != nil {
		_ = out.Free() // the error takes precedence
		return Array{}, err
	}
	return out, nil
}

// gather stores an element of x in each element of out. texts compute its indices; see fresh. For an empty out it does nothing.
func (r *Run) gather(op string, out, x Array, texts []string, params ...int) error {
	if out.Len() == 0 {
		return nil
	}
	names, args := []string{"g", "out", "x"}, []arg{in(out), in(x)}
	for i, n := range params {
		names, args = append(names, fmt.Sprintf("p%d", i)), append(args, i32(n))
	}
	at := coordinates[len(out.Dims())]
	text := fmt.Sprintf("(%s) => { out[%s] = x[%s] }", strings.Join(names, ", "), strings.Join(at, "]["), strings.Join(texts, "]["))
	return r.launch(&program{name: op, text: text}, reversed(out.Dims()), nil, args...)
}

// Reshape returns a view of the elements with other extents of the same product. One extent may be −1 and is computed: 0 if another
// one is 0. Without extents the shape is [1].
func (r *Run) Reshape(x Array, dims []int) (Array, error) {
	end, err := r.begin("reshape", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	dims = slices.Clone(dims)
	count, open := 1, -1
	for i, n := range dims {
		switch {
		case n >= 0:
			count *= n
		case n == -1 && open < 0:
			open = i
		default:
			return Array{}, r.fail(offload.InvalidArgument, "the shape %s has more than one extent to compute, or one below −1", Shape(dims))
		}
	}
	if open >= 0 && count > 0 {
		dims[open] = int(x.Len()) / count
		count *= dims[open]
	} else if open >= 0 {
		dims[open] = 0
	}
	if count != int(x.Len()) {
		return Array{}, r.fail(offload.InvalidSize, "%d elements of the shape %s do not fill the shape %s", x.Len(), Shape(x.Dims()), Shape(dims)).
			WithHint("the product of the extents must be %d; one of them may be −1", x.Len())
	}
	if len(dims) == 0 {
		dims = []int{1}
	}
	options := view(x, 0, dims)
	options.Label = r.Label
	return r.view(x, options)
}

// Transpose returns a copy with the axes in another order. A nil order reverses them.
func (r *Run) Transpose(x Array, order []int) (Array, error) {
	end, err := r.begin("transpose", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	return r.transpose(x, order)
}

func (r *Run) transpose(x Array, order []int) (Array, error) {
	dims := x.Dims()
	rank := len(dims)
	if order == nil {
		for axis := rank - 1; axis >= 0; axis-- {
			order = append(order, axis)
		}
	}
	if len(order) != rank {
		return Array{}, r.fail(offload.InvalidArgument, "the order of axes %s has %d numbers, and the shape %s has %d", Shape(order), len(order), Shape(dims), rank)
	}
	shape, texts, seen := make([]int, rank), make([]string, rank), make([]bool, rank)
	for i, from := range order {
		from, err := r.axis(x, from)
		if err != nil {
			return Array{}, err
		}
		if seen[from] {
			return Array{}, r.fail(offload.InvalidArgument, "the order of axes %s has axis %d twice", Shape(order), from)
		}
		seen[from] = true
		shape[i], texts[from] = dims[from], coordinates[rank][i]
	}
	return r.fresh(r.op, x, shape, texts)
}

// Range is the part of an axis from the index From to the index To, which it excludes, in steps of Step. Step may be negative,
// but not 0. A range whose Step leads away from To is empty.
type Range struct {
	From, To, Step int
}

// Slice returns a copy of the elements of ranges of the first axes; the others are whole. Ranges must be inside of the axes.
func (r *Run) Slice(x Array, ranges Ranges) (Array, error) {
	end, err := r.begin("slice", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	shape, err := r.extents(x, ranges)
	if err != nil {
		return Array{}, err
	}
	texts, params := ranges.places(len(shape))
	return r.fresh("slice", x, shape, texts, params...)
}

// Flip returns a copy with the elements along some axes in reverse: all axes, if none are named.
func (r *Run) Flip(x Array, axes ...int) (Array, error) {
	end, err := r.begin("flip", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	dims := x.Dims()
	if axes, err = axesOf(r, x, axes); err != nil {
		return Array{}, err
	}
	texts := slices.Clone(coordinates[len(dims)])
	for i := range texts {
		if len(axes) == 0 || slices.Contains(axes, i) {
			texts[i] = fmt.Sprintf("x.shape[%d] - 1 - %s", i, texts[i])
		}
	}
	return r.fresh("flip", x, dims, texts)
}

// Roll returns a copy with the elements of axes moved by a distance for each, those beyond the end to the beginning. Without axes
// it moves the elements in row-major order by one distance.
func (r *Run) Roll(x Array, by []int, axes ...int) (Array, error) {
	end, err := r.begin("roll", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	dims := x.Dims()
	from := x
	if len(axes) == 0 {
		if from, err = r.flat(x); err != nil {
			return Array{}, err
		}
		axes = []int{0}
	}
	if axes, err = axesOf(r, from, axes); err != nil {
		return Array{}, err
	}
	if len(by) != len(axes) {
		return Array{}, r.fail(offload.InvalidArgument, "%d distances were given, and axes: %d", len(by), len(axes)).
			WithHint("write a distance for each axis: x.roll([1, 2], [0, 1])")
	}
	if x.Len() == 0 {
		return r.fresh("roll", x, dims, coordinates[len(dims)])
	}
	texts := slices.Clone(coordinates[len(from.Dims())])
	var params []int
	for i, axis := range axes {
		n := from.Dims()[axis]
		shift := ((-by[i] % n) + n) % n
		texts[axis] = fmt.Sprintf("%[1]s < p%[2]d ? %[1]s + p%[3]d : %[1]s - p%[2]d", texts[axis], 2*i+1, 2*i)
		params = append(params, shift, n-shift)
	}
	out, err := r.allocate(x.Elem, dims, r.Label)
	if err != nil {
		return Array{}, err
	}
	to, err := r.as(out, from.Dims()...)
	if err != nil {
		return Array{}, err
	}
	return out, r.gather("roll", to, from, texts, params...)
}

// Tile returns an array that repeats another along each axis. Counts are aligned at the last axis.
func (r *Run) Tile(x Array, counts []int) (Array, error) {
	end, err := r.begin("tile", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	rank := max(len(counts), len(x.Dims()))
	if rank > 3 {
		return Array{}, r.fail(offload.InvalidArgument, "%d counts were given; an array has at most 3 dimensions", rank)
	}
	dims := aligned(x.Dims(), rank)
	from, err := r.as(x, dims...)
	if err != nil {
		return Array{}, err
	}
	shape, texts := aligned(counts, rank), slices.Clone(coordinates[rank])
	for i, n := range shape {
		if n < 0 || n > 0 && dims[i] > math.MaxInt32/n {
			return Array{}, r.fail(offload.InvalidSize, "%d copies of %d elements along axis %d are not 0 to %d", n, dims[i], i, math.MaxInt32)
		}
		shape[i] *= dims[i]
		if n != 1 {
			texts[i] = fmt.Sprintf("%s %% x.shape[%d]", texts[i], i)
		}
	}
	return r.fresh("tile", from, shape, texts)
}

// The modes of [Run.Pad].
const (
	PadConstant = "constant"
	PadEdge     = "edge"
	PadReflect  = "reflect"
	PadWrap     = "wrap"
)

// Pad returns an array with before[i] more elements before, and after[i] after those of each axis i. With PadConstant they are value,
// the bits of an element. Other modes repeat the edge, reflect the elements at the edge, or continue at the opposite end. They
// return an error for padding of an empty axis.
func (r *Run) Pad(x Array, before, after []int, mode string, value uint64) (Array, error) {
	end, err := r.begin("pad", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	dims := x.Dims()
	shape, texts := slices.Clone(dims), slices.Clone(coordinates[len(dims)])
	inside := []string{}
	for i := range dims {
		if before[i] < 0 || after[i] < 0 {
			return Array{}, r.fail(offload.InvalidArgument, "axis %d is padded by %d and %d elements; there must be none or more", i, before[i], after[i])
		}
		shape[i] += before[i] + after[i]
		at := fmt.Sprintf("%s - p%d", texts[i], i)
		n := fmt.Sprintf("x.shape[%d]", i)
		switch mode {
		case PadConstant:
			inside = append(inside, fmt.Sprintf("%s >= 0 && %s < %s", at, at, n))
			texts[i] = at
		case PadEdge:
			texts[i] = fmt.Sprintf("Math.min(Math.max(%s, 0), %s - 1)", at, n)
		case PadReflect:
			texts[i] = fmt.Sprintf("reflected(%s, %s)", at, n)
		case PadWrap:
			texts[i] = fmt.Sprintf("((%s) %% %s + %s) %% %s", at, n, n, n)
		default:
			return Array{}, r.fail(offload.InvalidArgument, "the mode is %q", mode).WithHint("the modes are 'constant', 'edge', 'reflect' and 'wrap'")
		}
		if mode != PadConstant && dims[i] == 0 && shape[i] > 0 {
			return Array{}, r.fail(offload.InvalidSize, "axis %d of the shape %s is empty and has no elements to repeat", i, Shape(dims)).WithHint("pad it with a value")
		}
	}
	out, err := r.allocate(x.Elem, shape, r.Label)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	value0 := ""
	names, args := "g, out, x", []arg{in(out), in(x)}
	if mode == PadConstant {
		names, value0 = "g, out, x, value", "value"
		args = append(args, number(x.Elem.Scalar, value))
	}
	for i := range dims {
		names, args = names+fmt.Sprintf(", p%d", i), append(args, i32(before[i]))
	}
	element := fmt.Sprintf("x[%s]", strings.Join(texts, "]["))
	if value0 != "" {
		element = fmt.Sprintf("%s ? %s : value", strings.Join(inside, " && "), element)
	}
	p := &program{name: "pad", text: fmt.Sprintf("(%s) => { out[%s] = %s }", names, strings.Join(coordinates[len(dims)], "]["), element)}
	p.with("reflected", "(i, n) => { if (n === 1) return 0; const k = ((i % (2 * n - 2)) + 2 * n - 2) % (2 * n - 2); return k < n ? k : 2 * n - 2 - k }")
	return out, r.launch(p, reversed(shape), nil, args...)
}

// Concat joins arrays along an axis. Their types and their other extents must be equal.
func (r *Run) Concat(list []Array, axis int) (Array, error) {
	end, err := r.begin("concat", list...)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if len(list) == 0 {
		return Array{}, r.fail(offload.InvalidArgument, "there are no arrays")
	}
	if axis, err = r.axis(list[0], axis); err != nil {
		return Array{}, err
	}
	return r.concat(list, axis, list[0].Dims(), nil)
}

// Stack joins arrays of equal type and shape along a new axis. A negative axis counts from the end of the result's axes.
func (r *Run) Stack(list []Array, axis int) (Array, error) {
	end, err := r.begin("stack", list...)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if len(list) == 0 {
		return Array{}, r.fail(offload.InvalidArgument, "there are no arrays")
	}
	dims := list[0].Dims()
	at := axis
	if at < 0 {
		at += len(dims) + 1
	}
	if at < 0 || at > len(dims) || len(dims) == 3 {
		return Array{}, r.fail(offload.InvalidArgument, "axis %d is no new axis beside the shape %s", axis, Shape(dims)).WithHint("the result has at most 3 dimensions")
	}
	for i, a := range list {
		if !slices.Equal(a.Dims(), dims) {
			return Array{}, r.fail(offload.InvalidSize, "array %d has the shape %s, the first one %s", i, Shape(a.Dims()), Shape(dims)).WithHint("stack joins arrays of equal shape; concat joins along an axis that they have")
		}
	}
	one := slices.Insert(slices.Clone(dims), at, 1)
	return r.concat(list, at, one, one)
}

// concat joins arrays along an axis. first is the shape of the first array. If as is not nil, it is the shape of all arrays.
func (r *Run) concat(list []Array, axis int, first, as []int) (Array, error) {
	shape, total := slices.Clone(first), 0
	e := list[0].Elem
	for i, a := range list {
		dims := a.Dims()
		if as != nil {
			dims = as
		}
		if a.Elem != e {
			return Array{}, r.fail(offload.InvalidArgument, "array %d has elements of %s, the first one of %s", i, a.Elem, e).
				WithHint("convert one of them: x.map(v => %s(v))", e)
		}
		if len(dims) != len(shape) {
			return Array{}, r.fail(offload.InvalidSize, "array %d has the shape %s, the first one %s", i, Shape(dims), Shape(first))
		}
		for at := range dims {
			if at != axis && dims[at] != shape[at] {
				return Array{}, r.fail(offload.InvalidSize, "the shapes %s and %s do not match: axis %d has the extents %d and %d", Shape(first), Shape(dims), at, shape[at], dims[at]).
					WithHint("only the extents of axis %d may differ", axis)
			}
		}
		total += dims[axis]
	}
	shape[axis] = total
	out, err := r.allocate(e, shape, r.Label)
	if err != nil {
		return Array{}, err
	}
	outer, _, inner := around(shape, axis)
	offset := 0
	for _, a := range list {
		n := int(a.Len()) / max(outer*inner, 1)
		if a.Len() > 0 {
			if err := r.insert(out, a, outer, n*inner, total*inner, offset*inner); err != nil {
				_ = out.Free() // the error takes precedence
				return Array{}, err
			}
		}
		offset += n
	}
	return out, nil
}

// insert copies each row of x, of n elements, to an offset in the same row of out. wide is the number of elements of a row of out.
func (r *Run) insert(out, x Array, rows, n, wide, offset int) error {
	if rows == 1 {
		to, err := r.view(out, view(out, int64(offset), []int{n}))
		if err != nil {
			return err
		}
		from, err := r.flat(x)
		if err != nil {
			return err
		}
		return r.Copy(to, from)
	}
	to, err := r.as(out, rows, wide)
	if err != nil {
		return err
	}
	from, err := r.as(x, rows, n)
	if err != nil {
		return err
	}
	return r.launch(&program{name: r.op, text: "(g, out, x, at) => { out[g.y][g.x + at] = x[g.y][g.x] }"}, []int{n, rows}, nil, in(to), in(from), i32(offset))
}

// Take returns the elements at indices: along an axis, or in row-major order for [All]. The result has the extents of indices in
// place of the axis, or of the whole shape. A negative index counts from the end. An index outside is a fault of the launch.
func (r *Run) Take(x, indices Array, axis int) (Array, error) {
	end, err := r.begin("take", x, indices)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if err := r.integers(indices, "indices"); err != nil {
		return Array{}, err
	}
	shape := indices.Dims()
	if axis != All {
		if axis, err = r.axis(x, axis); err != nil {
			return Array{}, err
		}
		dims := x.Dims()
		shape = slices.Concat(dims[:axis], indices.Dims(), dims[axis+1:])
	}
	outer, n, inner := around(x.Dims(), axis)
	out, err := r.allocate(x.Elem, shape, r.Label)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	views, err := r.views(view3{x, outer, n, inner}, view3{out, outer, int(indices.Len()), inner})
	if err != nil {
		return Array{}, err
	}
	at, err := r.flat(indices)
	if err != nil {
		return Array{}, err
	}
	p := &program{name: "take", text: "(g, out, x, at) => { const i = " + index(indices.Elem.Scalar) + "; out[g.z][g.y][g.x] = x[g.z][i < 0 ? i + x.shape[1] : i][g.x] }"}
	return out, r.launch(p, []int{inner, int(indices.Len()), outer}, nil, in(views[1]), in(views[0]), in(at))
}

// index returns the text that converts at[g.y], of an integer type t, to an index. One that i32 does not hold becomes −2³¹.
func index(t ir.Type) string { return indexAt(t, "g.y") }

func indexAt(t ir.Type, item string) string { return indexOf(t, "at["+item+"]") }

// indexOf returns the text that converts a value of an integer type to an index, like index.
func indexOf(t ir.Type, value string) string {
	text := map[ir.Type]string{
		ir.I64: "%[1]s > -2147483648 && %[1]s < 2147483648 ? i32(%[1]s) : i32(-2147483648)",
		ir.U64: "%[1]s < 2147483648 ? i32(%[1]s) : i32(-2147483648)",
		ir.U32: "%[1]s < 2147483648 ? i32(%[1]s) : i32(-2147483648)",
	}[t]
	if text == "" {
		text = "%[1]s"
	}
	return fmt.Sprintf(text, value)
}

// integers returns an error unless an array has integer elements.
func (r *Run) integers(a Array, what string) error {
	if a.Elem.Record == nil && a.Elem.Scalar.IsInt() {
		return nil
	}
	return r.fail(offload.InvalidArgument, "the %s are of %s, and must be integers", what, a.Elem).WithHint("convert them: i.map(v => i32(v)); for a condition write x.filter or where")
}

// view3 is an array and its extents as three axes.
type view3 struct {
	a               Array
	outer, n, inner int
}

func (r *Run) views(list ...view3) ([]Array, error) {
	out := make([]Array, len(list))
	for i, v := range list {
		var err error
		if out[i], err = r.as(v.a, v.outer, v.n, v.inner); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Put stores values at indices of an array in row-major order, in place. There is one value for each index, or one for all.
// Negative indices count from the end; an index outside is a fault. If several name one element, one of their values stays.
func (r *Run) Put(x, indices Array, values Operand) error {
	list := []Array{x, indices}
	if values.Array.Buffer != nil {
		list = append(list, values.Array)
	}
	end, err := r.begin("put", list...)
	if err != nil {
		return err
	}
	defer end()
	if err := r.integers(indices, "indices"); err != nil {
		return err
	}
	n := int(indices.Len())
	flat, err := r.flat(x)
	if err != nil || n == 0 {
		return err
	}
	if indices, err = r.apart(indices, x); err != nil {
		return err
	}
	at, err := r.flat(indices)
	if err != nil {
		return err
	}
	element := "v"
	if values.Array.Buffer != nil {
		if m := int(values.Array.Len()); m != n && m != 1 {
			return r.fail(offload.InvalidSize, "%d values were given for %d indices", m, n).WithHint("give one value, or one for each index")
		} else if element = "v[0]"; m != 1 {
			element = "v[g.y]"
		}
		if values.Array, err = r.apart(values.Array, x); err != nil {
			return err
		}
		if values.Array, err = r.flat(values.Array); err != nil {
			return err
		}
	}
	p := &program{name: "put", text: "(g, x, at, v) => { const i = " + index(indices.Elem.Scalar) + "; x[i < 0 ? i + x.length : i] = " + element + " }"}
	return r.launch(p, []int{1, n}, nil, in(flat), in(at), values.arg())
}

// Diff returns the differences of adjacent elements along an axis for order 1, the differences of these for order 2, and so on.
// Order 0 is a copy, and a negative one an error. If the axis has no more elements than the order, the result is empty. The
// difference of booleans is whether they differ.
func (r *Run) Diff(x Array, order, axis int) (Array, error) {
	end, err := r.begin("diff", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if axis, err = r.axis(x, axis); err != nil {
		return Array{}, err
	}
	dims := slices.Clone(x.Dims())
	switch {
	case order < 0:
		return Array{}, r.fail(offload.InvalidArgument, "the order %d must be 0 or more", order).WithHint("x.diff(2) is the differences of the differences")
	case order == 0:
		return r.fresh("diff", x, dims, coordinates[len(dims)])
	case order >= dims[axis]: // no elements are left
		dims[axis] = 0
		return r.allocate(x.Elem, dims, r.Label)
	}
	out, err := difference(r, x, axis)
	for ; err == nil && order > 1; order-- {
		last := out
		out, err = difference(r, last, axis)
		_ = last.Free() // the launch holds the memory
	}
	return out, err
}

// difference returns the differences of adjacent elements along an axis, or for booleans whether they differ.
func difference(r *Run, x Array, axis int) (Array, error) {
	dims := x.Dims()
	shape, next := slices.Clone(dims), slices.Clone(coordinates[len(dims)])
	shape[axis] = max(dims[axis]-1, 0)
	next[axis] += " + 1"
	out, err := r.allocate(x.Elem, shape, r.Label)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	at, minus := coordinates[len(dims)], "-"
	if x.Elem.Scalar == ir.Bool {
		minus = "!=="
	}
	p := &program{name: "diff", text: fmt.Sprintf("(g, out, x) => { out[%s] = x[%s] %s x[%s] }", strings.Join(at, "]["), strings.Join(next, "]["), minus, strings.Join(at, "]["))}
	return out, r.launch(p, reversed(shape), nil, in(out), in(x))
}
