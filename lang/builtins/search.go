package builtins

import (
	"math"
	"reflect"
	"slices"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// elements returns the slice behind a typed array, or nil if its buffer is detached or o is no typed array.
func elements(o *goja.Object) any {
	t := o.ExportType()
	if t == nil || t.Kind() != reflect.Slice || t.Elem().Kind() == reflect.Interface || o.ClassName() != "Object" {
		return nil
	}
	if view, ok := internals.ViewOf(o); ok && view.Buffer().IsDetached() {
		return nil
	}
	return o.Export()
}

// search replaces the searches in typed arrays, and those for zeros in arrays. The interpreter compares zeros and numbers of
// other types wrongly.
func (b *set) search() {
	typed := b.object("Uint8Array").Prototype().Get("prototype").(*goja.Object)
	array := b.object("Array", "prototype")
	for _, name := range []string{"includes", "indexOf", "lastIndexOf"} {
		b.wrap(typed, name, func(c goja.FunctionCall, fn function) goja.Value {
			o, ok := c.This.(*goja.Object)
			if !ok {
				return fn(c)
			}
			n, ok := length(elements(o))
			if !ok || n == 0 {
				return fn(c)
			}
			from, end := b.span(name, c, n)
			n, _ = length(elements(o)) // the conversion of an argument may detach the array
			at := find(elements(o), c.Argument(0), name == "includes", from, min(end, n), name == "lastIndexOf")
			if name != "includes" {
				return b.vm.ToValue(at)
			}
			return b.vm.ToValue(at >= 0 || isUndefined(c.Argument(0)) && end > n && from < end)
		})
		b.wrap(array, name, func(c goja.FunctionCall, fn function) goja.Value {
			o, ok := c.This.(*goja.Object)
			if f, zero := numberOf(c.Argument(0)); !ok || !zero || f != 0 {
				return fn(c)
			}
			values, ok := internals.ArrayValues(o)
			if !ok || len(values) == 0 || slices.ContainsFunc(values, internals.IsAccessor) {
				return fn(c)
			}
			from, end := b.span(name, c, len(values))
			values, _ = internals.ArrayValues(o)
			end = min(end, len(values))
			at := -1
			for i := from; i < end; i++ {
				if values[i] != nil {
					if f, ok := numberOf(values[i]); ok && f == 0 {
						if at = i; name != "lastIndexOf" {
							break
						}
					}
				}
			}
			if name == "includes" {
				return b.vm.ToValue(at >= 0)
			}
			return b.vm.ToValue(at)
		})
	}
}

// numberOf returns the number that a value is. ok is false for all else, also for Number objects.
func numberOf(v goja.Value) (n float64, ok bool) {
	if _, isObject := v.(*goja.Object); isObject {
		return 0, false
	}
	switch f := v.Export().(type) {
	case int64:
		_, isText := v.(goja.String)
		return float64(f), !isText && !goja.IsBigInt(v)
	case float64:
		return f, true
	}
	return 0, false
}

// span returns the range of indices that a call c of the search method called name visits in n elements. from is the first
// index, and end the one behind the last.
func (b *set) span(name string, c goja.FunctionCall, n int) (from, end int) {
	f := 0.0
	if len(c.Arguments) > 1 {
		f = math.Trunc(b.number(c.Arguments[1]).ToFloat())
	} else if name == "lastIndexOf" {
		return 0, n
	}
	if math.IsNaN(f) {
		f = 0
	}
	if name == "lastIndexOf" {
		if f < 0 {
			f += float64(n)
		}
		return 0, int(max(min(f+1, float64(n)), 0))
	}
	if f < 0 {
		f = max(f+float64(n), 0)
	}
	return int(min(f, float64(n))), n
}

// length returns the number of elements, a slice. It returns false if elements is nil.
func length(elements any) (int, bool) {
	if elements == nil {
		return 0, false
	}
	return reflect.ValueOf(elements).Len(), true
}

// find searches the elements from index from to index end−1. It returns the index of the first one that equals v, or of the last one
// if last is set, or -1. nan makes NaN equal to NaN.
func find(elements any, v goja.Value, nan bool, from, end int, last bool) int {
	if n := bigOf(v); n != nil {
		switch s := elements.(type) {
		case []int64:
			if n.IsInt64() {
				return index(s, n.Int64(), from, end, last)
			}
		case []uint64:
			if n.IsUint64() {
				return index(s, n.Uint64(), from, end, last)
			}
		}
		return -1
	}
	f, ok := numberOf(v)
	if !ok {
		return -1
	}
	switch s := elements.(type) {
	case []int8:
		return indexNumber(s, f, from, end, last)
	case []uint8:
		return indexNumber(s, f, from, end, last)
	case []int16:
		return indexNumber(s, f, from, end, last)
	case []uint16:
		return indexNumber(s, f, from, end, last)
	case []int32:
		return indexNumber(s, f, from, end, last)
	case []uint32:
		return indexNumber(s, f, from, end, last)
	case []float32:
		if math.IsNaN(f) {
			return indexNaN(s, nan, from, end)
		}
		return indexNumber(s, f, from, end, last)
	case []float64:
		if math.IsNaN(f) {
			return indexNaN(s, nan, from, end)
		}
		return index(s, f, from, end, last)
	}
	return -1
}

// indexNumber returns the index of a number like find, or −1. The elements' type may lack the number.
func indexNumber[T int8 | uint8 | int16 | uint16 | int32 | uint32 | float32](s []T, f float64, from, end int, last bool) int {
	if math.IsNaN(f) || math.IsInf(f, 0) && reflect.TypeFor[T]().Kind() != reflect.Float32 {
		return -1
	}
	if math.Abs(f) > 1<<53 && reflect.TypeFor[T]().Kind() != reflect.Float32 || float64(T(f)) != f {
		return -1
	}
	return index(s, T(f), from, end, last)
}

// index returns the first index of v in s from from up to end, or the last one if last is set. It returns −1 if there is none.
func index[T comparable](s []T, v T, from, end int, last bool) int {
	at := -1
	for i := from; i < end; i++ {
		if s[i] == v {
			if at = i; !last {
				break
			}
		}
	}
	return at
}

// indexNaN returns the first index of a NaN in s from from up to end. It returns −1 if there is none, or if nan is not set.
func indexNaN[T float32 | float64](s []T, nan bool, from, end int) int {
	for i := from; nan && i < end; i++ {
		if s[i] != s[i] {
			return i
		}
	}
	return -1
}
