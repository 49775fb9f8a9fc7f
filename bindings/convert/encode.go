package convert

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
)

// Encode makes a value of the script: a struct or a map becomes an object, a slice of numbers a typed array, any other
// slice an array, a function a function, nil null. Nothing is shared with Go afterwards. Call it on the engine's
// goroutine.
func Encode(e *lang.Engine, x any) (goja.Value, error) {
	if x == nil {
		return goja.Null(), nil
	}
	return encode(e, reflect.ValueOf(x), nil)
}

func encode(e *lang.Engine, x reflect.Value, at *path) (goja.Value, error) {
	vm := e.VM()
	if !x.IsValid() {
		return goja.Null(), nil
	}
	if x.Type().PkgPath() == "" && x.Kind() <= reflect.Float64 { // a type of Go's own: it has no methods
		return encodeScalar(vm, x), nil
	}
	switch v := x.Interface().(type) {
	case goja.Value:
		return v, nil
	case *big.Int:
		return vm.ToValue(new(big.Int).Set(v)), nil
	case time.Duration:
		return vm.ToValue(float64(v) / float64(time.Millisecond)), nil
	case time.Time:
		return vm.New(vm.Get("Date"), vm.ToValue(v.UnixMilli()))
	case error:
		return e.ErrorValue(v), nil
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		return vm.ToValue(string(text)), err
	}
	switch x.Kind() {
	case reflect.String:
		return vm.ToValue(x.String()), nil
	case reflect.Pointer, reflect.Interface:
		if x.IsNil() {
			return goja.Null(), nil
		}
		return encode(e, x.Elem(), at)
	case reflect.Slice, reflect.Array:
		return encodeList(e, x, at)
	case reflect.Map:
		return encodeMap(e, x, at)
	case reflect.Struct:
		return encodeStruct(e, x, at)
	case reflect.Func:
		fn, err := Func(e, "function", x.Interface())
		if err != nil {
			return nil, err
		}
		return e.Func("function", fn), nil
	}
	if x.Kind() <= reflect.Float64 {
		return encodeScalar(vm, x), nil
	}
	return nil, at.fail("a script cannot have a value of the Go type %s", x.Type())
}

// encodeScalar makes a value of a boolean or a number.
func encodeScalar(vm *goja.Runtime, x reflect.Value) goja.Value {
	switch {
	case x.Kind() == reflect.Bool:
		return vm.ToValue(x.Bool())
	case x.CanInt():
		return vm.ToValue(x.Int())
	case x.CanFloat():
		return vm.ToValue(x.Float())
	case x.Uint() >= 1<<53: // a Number would lose digits
		return vm.ToValue(new(big.Int).SetUint64(x.Uint()))
	}
	return vm.ToValue(int64(x.Uint()))
}

func encodeList(e *lang.Engine, x reflect.Value, at *path) (goja.Value, error) {
	if x.Kind() == reflect.Slice {
		if typed, err := typedArray(e, x); typed != nil || err != nil {
			return typed, err
		}
	}
	list := make([]any, x.Len())
	for i := range list {
		v, err := encode(e, x.Index(i), &path{at, i})
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return e.VM().NewArray(list...), nil
}

// typedArray copies a slice of numbers into a typed array; nil for any other slice.
func typedArray(e *lang.Engine, x reflect.Value) (goja.Value, error) {
	switch s := x.Interface().(type) {
	case []int8:
		return cloned(e, s)
	case []uint8:
		return cloned(e, s)
	case []int16:
		return cloned(e, s)
	case []uint16:
		return cloned(e, s)
	case []int32:
		return cloned(e, s)
	case []uint32:
		return cloned(e, s)
	case []float32:
		return cloned(e, s)
	case []float64:
		return cloned(e, s)
	}
	return nil, nil
}

func cloned[T lang.Element](e *lang.Engine, s []T) (goja.Value, error) {
	return lang.TypedArray(e, append(make([]T, 0, len(s)), s...))
}

func encodeMap(e *lang.Engine, x reflect.Value, at *path) (goja.Value, error) {
	if x.IsNil() {
		return goja.Null(), nil
	}
	if x.Type().Key().Kind() != reflect.String {
		return nil, at.fail("a script cannot have a Go map whose keys are %s", x.Type().Key())
	}
	o := e.VM().NewObject()
	for _, key := range x.MapKeys() {
		v, err := encode(e, x.MapIndex(key), &path{at, key.String()})
		if err != nil {
			return nil, err
		}
		if err := o.Set(key.String(), v); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func encodeStruct(e *lang.Engine, x reflect.Value, at *path) (goja.Value, error) {
	o := e.VM().NewObject()
	for _, f := range fieldsOf(x.Type()) {
		v, err := encode(e, x.FieldByIndex(f.index), &path{at, f.name})
		if err != nil {
			return nil, err
		}
		if err := o.Set(f.name, v); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// fits reports whether values of a type can be given to scripts, or taken from them.
func fits(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("a script cannot have a value of the Go type %s", t)
	}
	return nil
}
