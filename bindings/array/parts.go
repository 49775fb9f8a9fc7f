package array

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
)

// Repeat returns an array with each element n times in a row along an axis. For [All] the order is row-major, and the result
// has one dimension. A negative n is an error.
func (r *Run) Repeat(x Array, n, axis int) (Array, error) {
	end, err := r.begin("repeat", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	if n < 0 {
		return Array{}, r.fail(offload.InvalidArgument, "the count is %d; it must be 0 or more", n)
	}
	shape, at := []int{int(x.Len())}, 0
	if axis != All {
		if axis, err = r.axis(x, axis); err != nil {
			return Array{}, err
		}
		shape, at = slices.Clone(x.Dims()), axis
	}
	if n > 0 && shape[at] > math.MaxInt32/n {
		return Array{}, r.fail(offload.InvalidSize, "%d copies of %d elements are more than %d", n, shape[at], math.MaxInt32).WithHint("make several arrays")
	}
	shape[at] *= n
	if _, err := r.elements(shape); err != nil {
		return Array{}, err
	}
	out, err := r.allocate(x.Elem, shape, r.Label)
	if err != nil || out.Len() == 0 {
		return out, err
	}
	outer, m, inner := around(x.Dims(), axis)
	views, err := r.views(view3{x, outer, m, inner}, view3{out, outer, m * n, inner})
	if err != nil {
		return Array{}, err
	}
	return out, r.gather("repeat", views[1], views[0], []string{"g.z", "(g.y / p0) | 0", "g.x"}, n)
}

// extents returns the shape of the elements of ranges of the first axes.
func (r *Run) extents(x Array, ranges []Range) ([]int, error) {
	dims := x.Dims()
	if len(ranges) > len(dims) {
		return nil, r.fail(offload.InvalidArgument, "%d ranges were given for the shape %s", len(ranges), Shape(dims))
	}
	shape := slices.Clone(dims)
	for axis, s := range ranges {
		n := 0
		switch {
		case s.Step == 0:
			return nil, r.fail(offload.InvalidArgument, "the step of axis %d is 0", axis)
		case s.Step > 0 && s.To > s.From:
			n = divide(s.To-s.From, s.Step)
		case s.Step < 0 && s.To < s.From:
			n = divide(s.From-s.To, -s.Step)
		}
		shape[axis] = n
	}
	return shape, nil
}

// places returns the texts of the indices of the elements of ranges, which name the numbers p0, p1, … of params.
func (s Ranges) places(rank int) (texts []string, params []int) {
	texts = slices.Clone(coordinates[rank])
	for axis, one := range s {
		if one.From == 0 && one.Step == 1 {
			continue
		}
		at := texts[axis]
		texts[axis] = fmt.Sprintf("p%d + %s * p%d", len(params), at, len(params)+1)
		if one.Step == 1 {
			texts[axis] = fmt.Sprintf("p%d + %s", len(params), at)
		}
		params = append(params, one.From, one.Step)
	}
	return texts, params
}

// Ranges are ranges of the first axes of an array.
type Ranges []Range

// SetSlice stores values in the elements of ranges of the first axes, in place. Ranges must be inside of the axes. The values are a
// number, or an array whose shape is broadcast to that of the ranges, without the axes for which single is true.
func (r *Run) SetSlice(x Array, ranges Ranges, single []bool, values Operand) error {
	list := []Array{x}
	if values.Array.Buffer != nil {
		list = append(list, values.Array)
	}
	end, err := r.begin("setSlice", list...)
	if err != nil {
		return err
	}
	defer end()
	full, err := r.extents(x, ranges)
	if err != nil {
		return err
	}
	if values.Array.Buffer != nil {
		if values.Array, err = r.fitted(values.Array, x, full, single); err != nil {
			return err
		}
	}
	if product(full) == 0 {
		return nil
	}
	names, args, element := "g, x, v", []arg{in(x), values.arg()}, "v"
	if values.Array.Buffer != nil {
		element += elementAt(values.Array.Dims(), full)
	}
	texts, params := ranges.places(len(full))
	for i, n := range params {
		names, args = names+fmt.Sprintf(", p%d", i), append(args, i32(n))
	}
	p := &program{name: "setSlice", text: fmt.Sprintf("(%s) => { x[%s] = %s }", names, strings.Join(texts, "]["), element)}
	return r.launch(p, reversed(full), nil, args...)
}

// fitted returns values with as many axes as full: the axes of single, which values lack, get the extent 1. It returns an error unless
// the values broadcast to the shape without these axes. Values in the memory of x are copied.
func (r *Run) fitted(values, x Array, full []int, single []bool) (Array, error) {
	shape := []int{}
	for axis, n := range full {
		if axis >= len(single) || !single[axis] {
			shape = append(shape, n)
		}
	}
	dims := values.Dims()
	for len(dims) > len(shape) && dims[0] == 1 {
		dims = dims[1:]
	}
	all, err := r.broadcast(shape, dims)
	if err == nil && !slices.Equal(all, shape) {
		err = r.fail(offload.InvalidSize, "the values have the shape %s, the elements %s", Shape(values.Dims()), Shape(shape)).
			WithHint("the shapes must be equal, or the values have extents of 1 or fewer axes")
	}
	if err != nil {
		return values, err
	}
	dims = aligned(dims, len(shape))
	spread := make([]int, len(full))
	for axis := range full {
		if spread[axis] = 1; axis >= len(single) || !single[axis] {
			spread[axis], dims = dims[0], dims[1:]
		}
	}
	if values, err = r.apart(values, x); err != nil {
		return values, err
	}
	return r.as(values, spread...)
}

// apart returns an array whose elements are not in the memory of x, which an operation changes: a copy if they are.
func (r *Run) apart(a, x Array) (Array, error) {
	own, _, _, _ := x.Memory()
	if other, _, _, _ := a.Memory(); own != other || a.Len() == 0 {
		return a, nil
	}
	copied, err := r.temp(a.Elem.Scalar, a.Dims()...)
	if err != nil {
		return a, err
	}
	return copied, r.Copy(copied, a)
}

// MergeAxes returns an array in which several axes of x are one axis, and the number of that axis, or [All] for all axes. The
// array is a view if the axes are adjacent, else a copy, which done frees. shape is the shape of a reduction of the axes that
// keeps them. op names the operation in errors.
func (r *Run) MergeAxes(op string, x Array, axes []int) (merged Array, axis int, shape []int, done func(), err error) {
	done = func() {}
	end, err := r.begin(op, x)
	if err != nil {
		return merged, 0, nil, done, err
	}
	defer end()
	dims := x.Dims()
	shape = slices.Clone(dims)
	at, err := axesOf(r, x, axes)
	if err != nil {
		return merged, 0, nil, done, err
	}
	for _, a := range at {
		shape[a] = 1
	}
	slices.Sort(at)
	switch {
	case len(at) == 0:
		return merged, 0, nil, done, r.fail(offload.InvalidArgument, "the list of axes is empty").WithHint("without an axis all elements are reduced")
	case len(at) == len(dims):
		return x, All, shape, done, nil
	case len(at) == 1:
		return x, at[0], shape, done, nil
	case at[1] == 1:
		merged, err = r.as(x, dims[0]*dims[1], dims[2])
		return merged, 0, shape, done, err
	case at[0] == 0: // 0 and 2
		turned, err := r.transpose(x, []int{1, 0, 2})
		if err != nil {
			return merged, 0, nil, done, err
		}
		done = func() { _ = turned.Free() } // the launches hold the memory
		x, dims = turned, turned.Dims()
	}
	merged, err = r.as(x, dims[0], dims[1]*dims[2])
	return merged, 1, shape, done, err
}

// Coordinates returns the coordinates in a shape of elements whose row-major indices are in an array: row i has those of indices[i].
func (r *Run) Coordinates(indices Array, dims []int) (Array, error) {
	end, err := r.begin("argwhere", indices)
	if err != nil {
		return Array{}, err
	}
	defer end()
	n := int(indices.Len())
	out, err := r.make(ir.I32, []int{n, len(dims)})
	if err != nil || n == 0 {
		return out, err
	}
	var text strings.Builder
	args := []arg{in(out), in(indices)}
	names, inner := "g, out, at", 1
	for axis := len(dims) - 1; axis >= 0; axis-- {
		fmt.Fprintf(&text, "out[g.x][%d] = ((at[g.x] / p%d) | 0) %% q%[2]d; ", axis, axis)
		names, args = names+fmt.Sprintf(", p%d, q%[1]d", axis), append(args, i32(inner), i32(dims[axis]))
		inner *= dims[axis]
	}
	return out, r.launch(&program{name: "argwhere", text: fmt.Sprintf("(%s) => { %s}", names, text.String())}, []int{n}, nil, args...)
}

// part describes a part of a stored array that an expression reads in place.
type part struct {
	axes []partAxis // of the stored array
	dims []int      // of the part
}

// partAxis is an axis of a stored array of which a part has a range.
type partAxis struct {
	Range
	to int // axis of the part; -1 if it has one index
}

// Part returns the elements of ranges of the first axes like [Run.Slice], but without the axes for which single is true. They
// are not copied: the array is a joined one, see [Run.Join], and the launch that takes it reads x in steps. A part without
// elements or axes is copied.
func (r *Run) Part(x Array, ranges Ranges, single []bool) (Array, error) {
	end, err := r.begin("slice", x)
	if err != nil {
		return Array{}, err
	}
	defer end()
	full, err := r.extents(x, ranges)
	if err != nil {
		return Array{}, err
	}
	p := &part{}
	for axis, n := range x.Dims() {
		a := partAxis{Range{0, n, 1}, -1}
		if axis < len(ranges) {
			a.Range = ranges[axis]
		}
		if axis >= len(single) || !single[axis] {
			a.to, p.dims = len(p.dims), append(p.dims, full[axis])
		}
		p.axes = append(p.axes, a)
	}
	if product(full) == 0 || len(p.dims) == 0 {
		out, err := r.Slice(x, ranges)
		if err != nil || len(p.dims) == 0 {
			return out, err
		}
		return r.as(out, p.dims...)
	}
	e := &expression{dims: p.dims, inputs: []Operand{{Array: x, part: p}}, ops: []string{"slice"}, text: func(at func(int) string, _ int) string { return at(0) }}
	return Array{Elem: x.Elem, joined: e}, nil
}

// placed returns a view in place of an input whose part is contiguous: one index of the first axis, or a range of it with the step
// 1, and all of the other axes. It returns other inputs as they are.
func (r *Run) placed(o Operand) (Operand, error) {
	if o.part == nil {
		return o, nil
	}
	dims := o.Array.Dims()
	for axis, a := range o.part.axes {
		whole := a.From == 0 && a.Step == 1 && a.To == dims[axis]
		if axis == 0 && a.Step != 1 && a.to >= 0 || axis > 0 && !whole {
			return o, nil
		}
	}
	v, err := r.view(o.Array, view(o.Array, int64(o.part.axes[0].From)*int64(product(dims[1:])), o.part.dims))
	return In(v), err
}

// inputDims returns the extents of an input of an expression.
func (o Operand) inputDims() []int {
	if o.part != nil {
		return o.part.dims
	}
	return o.Array.Dims()
}

// extras are parameters of a kernel behind the inputs of an expression.
type extras struct {
	names []string
	args  []arg
}

// add adds a number and returns the name of its parameter.
func (x *extras) add(n int) string {
	name := fmt.Sprintf("i%d", len(x.names))
	x.names, x.args = append(x.names, name), append(x.args, i32(n))
	return name
}

// element returns the text of the indices of an element of the stored array. at has the text of the index of each axis of the
// part. The numbers of the ranges become parameters, which it adds to x.
func (p *part) element(at []string, x *extras) string {
	var b strings.Builder
	for _, a := range p.axes {
		switch {
		case a.to < 0:
			fmt.Fprintf(&b, "[%s]", x.add(a.From))
		case a.From == 0 && a.Step == 1:
			fmt.Fprintf(&b, "[%s]", at[a.to])
		case a.Step == 1:
			fmt.Fprintf(&b, "[%s + %s]", x.add(a.From), at[a.to])
		default:
			fmt.Fprintf(&b, "[%s + (%s) * %s]", x.add(a.From), at[a.to], x.add(a.Step))
		}
	}
	return b.String()
}

// repeated returns the texts of the indices of an element of the part, one for each axis. at has those of the axes of shape, to which
// the part is broadcast.
func (p *part) repeated(at []string, shape []int) []string {
	at = slices.Clone(at[len(shape)-len(p.dims):])
	for axis, n := range p.dims {
		if n == 1 && shape[len(shape)-len(p.dims)+axis] != 1 {
			at[axis] = "0"
		}
	}
	return at
}

// around returns a function from the texts of the indices outer, n and inner of [Run.around] to the text of an element. name is the
// name of the stored array, and dims has the extents of the expression. around returns nil if one of these indices counts the
// elements of two axes with more than one element. Their own indices would take divisions, and a copy is faster.
func (p *part) around(name string, dims []int, axis int, x *extras) func(index []string) string {
	groups := make([]int, len(dims))
	for i := range groups {
		if groups[i] = 1; axis != All && i != axis {
			groups[i] = map[bool]int{true: 0, false: 2}[i < axis]
		}
	}
	at, counts := make([]string, len(dims)), [3]int{}
	for i, n := range dims {
		at[i] = fmt.Sprintf("@%d", groups[i])
		if n == 1 {
			at[i] = "0"
		} else if counts[groups[i]]++; counts[groups[i]] > 1 {
			return nil
		}
	}
	text := name + p.element(p.repeated(at, dims), x)
	return func(index []string) string {
		out := text
		for i, s := range index {
			out = strings.ReplaceAll(out, fmt.Sprintf("@%d", i), s)
		}
		return out
	}
}
