package element

import (
	"fmt"
	"math"
	"reflect"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/convert"
)

// Types of the values that numbers export as.
var (
	TypeInt64   = reflect.TypeFor[int64]()
	TypeFloat64 = reflect.TypeFor[float64]()
)

// Extents converts one count, or an array or other object with a length, of one to three counts.
func Extents(v goja.Value) ([]int, error) {
	if o, ok := v.(*goja.Object); ok && o.Get("length") != nil {
		n := int(o.Get("length").ToInteger())
		if n < 1 || n > 3 {
			return nil, fmt.Errorf("expected one to three numbers, not %d", n)
		}
		dims := make([]int, n)
		for i := range dims {
			d, err := Integer(o.Get(fmt.Sprint(i)))
			if err != nil {
				return nil, err
			}
			dims[i] = d
		}
		return dims, nil
	}
	n, err := Integer(v)
	if err != nil {
		return nil, err
	}
	return []int{n}, nil
}

// Integer converts a Number that is an integer from 0 to 2**53.
func Integer(v goja.Value) (int, error) {
	if n, ok := Exported(v).(int64); ok && n >= 0 {
		return int(n), nil
	}
	x, err := Number(v)
	if err == nil && x > 1<<53 {
		return 0, fmt.Errorf("expected an integer of at most 2**53, not %s", convert.Describe(v))
	}
	if err != nil || x != math.Trunc(x) || x < 0 {
		return 0, fmt.Errorf("expected an integer from 0 on, not %s", convert.Describe(v))
	}
	return int(x), nil
}

// Number converts a Number to a float64.
func Number(v goja.Value) (float64, error) {
	if _, isObject := v.(*goja.Object); v != nil && !isObject {
		switch v.ExportType() {
		case TypeInt64, TypeFloat64:
			return v.ToFloat(), nil
		}
	}
	return 0, fmt.Errorf("expected a number, not %s", convert.Describe(v))
}

var typeArrayBuffer = reflect.TypeFor[goja.ArrayBuffer]()

// Exported returns the Go value of a primitive or an ArrayBuffer, and nil for other values.
func Exported(v goja.Value) any {
	if v != nil && v.ExportType() == typeArrayBuffer {
		return v.Export()
	}
	return convert.Primitive(v)
}

// IsArray reports whether v is an array, which typed arrays are not.
func IsArray(v goja.Value) bool {
	o, ok := v.(*goja.Object)
	return ok && o.ClassName() == "Array"
}

// Promise returns v as a promise, if it is one.
func Promise(v goja.Value) (*goja.Promise, bool) {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() != typePromise {
		return nil, false
	}
	p, ok := o.Export().(*goja.Promise)
	return p, ok
}

var typePromise = reflect.TypeFor[*goja.Promise]()

// Axis returns an extent, or 1 along an axis that a list of extents lacks.
func Axis(dims []int, i int) int {
	if i < len(dims) {
		return dims[i]
	}
	return 1
}
