package builtins

import (
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// A sorter sorts by a function of a script.
type sorter struct {
	*set
	compare goja.Callable
}

// sortWith sorts an array or a typed array by a function, like sort and toSorted, whose code in the interpreter is fn. The interpreter
// takes -0 for a negative result, and its sort is not stable then. It also sorts in place, so that an exception would leave the array
// partly sorted. With another argument than a function, fn sorts.
func sortWith(b *set, c goja.FunctionCall, fn function, copies bool) goja.Value {
	compare := callable(c.Argument(0))
	if compare == nil {
		return fn(c)
	}
	o, _ := c.This.(*goja.Object)
	list, ok := sortable(o)
	if !ok {
		c.Arguments = []goja.Value{b.function("", 2, func(c goja.FunctionCall) goja.Value {
			return b.vm.ToValue(b.number(b.call(compare, goja.Undefined(), c.Arguments...)).ToFloat() + 0)
		})}
		return fn(c)
	}
	_, array := internals.ArrayValues(o)
	if copies && !array {
		o = fn(goja.FunctionCall{This: o}).(*goja.Object) // another typed array
	}
	defined := list[:0]
	for _, v := range list {
		if !goja.IsUndefined(v) {
			defined = append(defined, v)
		}
	}
	sorter{b, compare}.mergeSort(defined, make([]goja.Value, (len(defined)+1)/2))
	for i := len(defined); i < len(list); i++ {
		list[i] = goja.Undefined()
	}
	if copies && array {
		return b.list(list)
	}
	for i, v := range list {
		b.put(o, strconv.Itoa(i), v)
	}
	return o
}

// sortable returns a copy of the elements of a typed array, or of a dense array without holes and accessors. It returns false for
// other objects.
func sortable(o *goja.Object) ([]goja.Value, bool) {
	if values, ok := internals.ArrayValues(o); ok {
		return slices.Clone(values), !slices.ContainsFunc(values, func(v goja.Value) bool { return v == nil || internals.IsAccessor(v) })
	}
	in, ok := internals.ViewOf(o)
	if !ok || in.IsDataView() || in.Buffer().IsDetached() {
		return nil, false
	}
	list := make([]goja.Value, in.Length())
	for i := range list {
		list[i] = o.Get(strconv.Itoa(i))
	}
	return list, true
}

// mergeSort sorts a list in a stable way. spare has room for the smaller half.
func (b sorter) mergeSort(list, spare []goja.Value) {
	if len(list) < 2 {
		return
	}
	half := len(list) / 2
	b.mergeSort(list[:half], spare)
	b.mergeSort(list[half:], spare)
	if !b.after(list[half-1], list[half]) {
		return
	}
	left := spare[:copy(spare, list[:half])]
	i, j := 0, half
	for k := range list {
		switch {
		case i == len(left):
			return
		case j == len(list) || !b.after(left[i], list[j]):
			list[k], i = left[i], i+1
		default:
			list[k], j = list[j], j+1
		}
	}
}

// after reports whether x is sorted behind y.
func (b sorter) after(x, y goja.Value) bool {
	v := b.call(b.compare, goja.Undefined(), x, y)
	if n, ok := internals.Primitive(v).(int64); ok {
		return n > 0
	}
	return b.number(v).ToFloat() > 0
}
