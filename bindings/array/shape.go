package array

import (
	"math"
	"slices"

	"github.com/orepl/orepl/runtime/offload"
)

// All is the axis of an operation on all elements.
const All = math.MinInt32

// axis returns the number of an axis of a shape. A negative axis counts from the last.
func (r *Run) axis(a Array, axis int) (int, error) {
	rank := len(a.Dims())
	at := axis
	if at < 0 {
		at += rank
	}
	if at < 0 || at >= rank {
		return 0, r.fail(offload.InvalidArgument, "axis %d is outside of the shape %s", axis, Shape(a.Dims())).
			WithHint("an axis is 0 to %d; −1 is the last one", rank-1)
	}
	return at, nil
}

// axesOf returns the numbers of several axes of a shape, each of which may occur once.
func axesOf(r *Run, a Array, axes []int) (list []int, err error) {
	for _, axis := range axes {
		if axis, err = r.axis(a, axis); err != nil {
			return nil, err
		}
		if slices.Contains(list, axis) {
			return nil, r.fail(offload.InvalidArgument, "axis %d occurs twice", axis)
		}
		list = append(list, axis)
	}
	return list, nil
}

// around returns the product of the extents before an axis, the axis's own extent, and the product of those after it. For [All] these are 1,
// the number of elements, and 1.
func around(dims []int, axis int) (outer, n, inner int) {
	if axis == All {
		return 1, product(dims), 1
	}
	return product(dims[:axis]), dims[axis], product(dims[axis+1:])
}

// without returns a shape without an axis, or with the extent 1 there to keep it. For [All] it is [1], or 1 for each axis to keep.
func without(dims []int, axis int, keep bool) []int {
	switch {
	case axis == All && keep:
		out := make([]int, len(dims))
		for i := range out {
			out[i] = 1
		}
		return out
	case axis == All:
		return []int{1}
	case keep:
		out := slices.Clone(dims)
		out[axis] = 1
		return out
	}
	return slices.Delete(slices.Clone(dims), axis, axis+1)
}

// broadcast returns the shape of an elementwise operation by NumPy's rule: extents are aligned at the last axis, and an extent
// of 1 is repeated.
func (r *Run) broadcast(shapes ...[]int) ([]int, error) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, n := range s {
			at := rank - len(s) + i
			switch {
			case n == out[at] || n == 1:
			case out[at] == 1:
				out[at] = n
			default:
				return nil, r.mismatch(shapes, at, rank)
			}
		}
	}
	return out, nil
}

// mismatch returns the error of shapes that do not match at the axis at of the result, which has rank axes. It names two of them.
func (r *Run) mismatch(shapes [][]int, at, rank int) error {
	extent := func(s []int) int {
		if i := at - rank + len(s); i >= 0 {
			return s[i]
		}
		return 1
	}
	for i, a := range shapes {
		for _, b := range shapes[:i] {
			if m, n := extent(b), extent(a); m != n && m != 1 && n != 1 {
				return r.fail(offload.InvalidSize, "the shapes %s and %s do not match: axis %d has the extents %d and %d", Shape(b), Shape(a), at-rank, m, n).
					WithHint("extents must be equal or 1, counted from the last axis; reshape inserts an axis, transpose exchanges two")
			}
		}
	}
	return nil
}

// aligned returns a shape with leading extents of 1 up to a rank.
func aligned(dims []int, rank int) []int {
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
		if at := i - rank + len(dims); at >= 0 {
			out[i] = dims[at]
		}
	}
	return out
}

// merge joins adjacent axes that all inputs either have or repeat together. It returns the shapes of the result and of the
// inputs, which have at least one axis. A joined axis has an extent of at most 31 bits.
func merge(out []int, inputs [][]int) ([]int, [][]int) {
	shape := []int{}
	list := make([][]int, len(inputs))
	for axis, n := range out {
		last := len(shape) - 1
		joins := last >= 0 && (n == 0 || shape[last] <= math.MaxInt32/n)
		for i, in := range inputs {
			if joins && n != 1 && shape[last] != 1 && (in[axis] == 1) != (list[i][last] == 1) {
				joins = false
			}
		}
		if joins {
			shape[last] *= n
			for i, in := range inputs {
				list[i][last] *= in[axis]
			}
			continue
		}
		shape = append(shape, n)
		for i, in := range inputs {
			list[i] = append(list[i], in[axis])
		}
	}
	if len(shape) == 0 {
		shape = []int{1}
		for i := range list {
			list[i] = []int{1}
		}
	}
	return shape, list
}
