package array

import (
	"fmt"
	"slices"
	"strings"
)

// part describes a part of a stored array that an expression reads in place.
type part struct {
	axes []partAxis // of the stored array
	dims []int
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

// placed returns a view in place of an input whose part is a range of the first axis, and other inputs as they are.
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

// repeated returns the text of the indices of an element of the part. The text at has the indices in the shape to which the
// part is broadcast.
func (p *part) repeated(at []string, shape []int) []string {
	at = slices.Clone(at[len(shape)-len(p.dims):])
	for axis, n := range p.dims {
		if n == 1 && shape[len(shape)-len(p.dims)+axis] != 1 {
			at[axis] = "0"
		}
	}
	return at
}

// around returns the text of an element of the array with a name by the indices of an expression with extents dims around an axis;
// see [Run.around]. It is nil if an index counts the elements of two axes, whose own indices take divisions: a copy is faster.
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
