package convert

import (
	"cmp"
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/typedarray"
)

// Encode converts a Go value to a script's value. Structs and maps become objects, those of maps in the order of the keys in Go. A key
// with a method MarshalText becomes its text. Slices of floats and of integers of 8 to 32 bits become typed arrays, other slices arrays.
// Functions become functions, and nil becomes null. A *big.Int, and any integer that a Number would round, becomes a BigInt. Durations
// become milliseconds, times Dates, errors Errors, and types with MarshalText strings. For structs that also counts if the method is
// one of the pointer. A secret is an error. The result shares no memory with Go. Encode must run on the engine's goroutine.
func Encode(e *lang.Engine, x any) (goja.Value, error) {
	if x == nil {
		return goja.Null(), nil
	}
	return (&encoder{engine: e}).value(reflect.ValueOf(x), nil)
}

// EncodeNamed is Encode for a value with a name in scripts. Errors of calls to its functions include the name.
func EncodeNamed(e *lang.Engine, name string, x any) (goja.Value, error) {
	if x == nil {
		return goja.Null(), nil
	}
	return (&encoder{engine: e, name: name}).value(reflect.ValueOf(x), nil)
}

// maxGoDepth limits nesting, because a Go value can be cyclic. Each pointer counts as a level.
const maxGoDepth = 1000

type encoder struct {
	engine    *lang.Engine
	name      string // name of the outermost value; may be empty
	outermost reflect.Type
	depth     int
}

func (c *encoder) value(x reflect.Value, at *path) (goja.Value, error) {
	e, vm := c.engine, c.engine.VM()
	if !x.IsValid() {
		return goja.Null(), nil
	}
	if x.Type().PkgPath() == "" && x.Kind() <= reflect.Float64 { // a predeclared scalar type, which has no methods
		return encodeScalar(vm, x), nil
	}
	if x.Kind() == reflect.Interface {
		if x.IsNil() {
			return goja.Null(), nil
		}
		x = x.Elem()
	}
	switch x.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func:
		if x.IsNil() { // nil pointers become null even if the type has methods
			return goja.Null(), nil
		}
	}
	if c.depth == 0 {
		c.outermost = x.Type()
	}
	if c.depth++; c.depth > maxGoDepth {
		return nil, (*path)(nil).fail("the Go value of type %s is nested more than %d deep; does it contain itself?", c.outermost, maxGoDepth)
	}
	defer func() { c.depth-- }()
	if x.Type().Implements(typeSecret) {
		return nil, at.fail("a secret is not passed to scripts").advised("pass what its method Reveal returns")
	}
	switch v := x.Interface().(type) {
	case goja.Value:
		return v, nil
	case *big.Int:
		return vm.ToValue(new(big.Int).Set(v)), nil
	case time.Duration:
		return vm.ToValue(float64(v) / float64(time.Millisecond)), nil
	case time.Time:
		const most = 8_640_000_000_000 // seconds before and after 1970
		if s := v.Unix(); s < -most || s > most || s == most && v.Nanosecond() > 0 {
			return nil, at.fail("a Date cannot hold the time %v", v)
		}
		return vm.New(vm.Get("Date"), vm.ToValue(v.UnixMilli()))
	case error:
		return e.ErrorValue(v), nil
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		return vm.ToValue(string(text)), err
	}
	if hasTextOfPointer(x.Type()) {
		p := reflect.New(x.Type()) // the methods are those of the pointer
		p.Elem().Set(x)
		return c.value(p, at)
	}
	switch x.Kind() {
	case reflect.String:
		return vm.ToValue(x.String()), nil
	case reflect.Pointer:
		return c.value(x.Elem(), at)
	case reflect.Slice, reflect.Array:
		return c.list(x, at)
	case reflect.Map:
		return c.mapping(x, at)
	case reflect.Struct:
		return c.structure(x, at)
	case reflect.Func:
		name := cmp.Or(strings.TrimPrefix(c.name+pathText(at.steps()), "."), "function")
		s, err := signatureOf(name, x.Interface())
		if err != nil {
			return nil, err
		}
		s.usage = "write " + name + Signature(x.Interface(), false) // help() does not document this function
		return e.Func(name, s.native(e, name)), nil
	}
	if x.Kind() <= reflect.Float64 {
		return encodeScalar(vm, x), nil
	}
	return nil, at.fail("a script cannot have a value of the Go type %s", x.Type())
}

// hasTextOfPointer reports whether t is a struct type whose pointers are a *big.Int or have a method MarshalText.
func hasTextOfPointer(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(typeTextMarshaler) // as *big.Int does
}

// encodeScalar converts a boolean or a number.
func encodeScalar(vm *goja.Runtime, x reflect.Value) goja.Value {
	switch {
	case x.Kind() == reflect.Bool:
		return vm.ToValue(x.Bool())
	case x.CanInt():
		if n := x.Int(); n < -maxExact || n > maxExact { // a Number would be rounded
			return vm.ToValue(big.NewInt(n))
		}
		return vm.ToValue(x.Int())
	case x.CanFloat():
		return vm.ToValue(x.Float())
	case x.Uint() > maxExact:
		return vm.ToValue(new(big.Int).SetUint64(x.Uint()))
	}
	return vm.ToValue(int64(x.Uint()))
}

func (c *encoder) list(x reflect.Value, at *path) (goja.Value, error) {
	if x.Kind() == reflect.Slice {
		if typed, err := typedArray(c.engine, x); typed != nil || err != nil {
			return typed, err
		}
	}
	list := make([]any, x.Len())
	for i := range list {
		v, err := c.value(x.Index(i), &path{at, i})
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return c.engine.VM().NewArray(list...), nil
}

// typedArray copies a slice of numbers to a typed array. It returns nil for other slices.
func typedArray(e *lang.Engine, x reflect.Value) (goja.Value, error) {
	if x.Type().Name() != "" { // such as type Samples []float32
		x = x.Convert(reflect.SliceOf(x.Type().Elem()))
	}
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

func cloned[T typedarray.Element](e *lang.Engine, s []T) (goja.Value, error) {
	return lang.TypedArray(e, append(make([]T, 0, len(s)), s...))
}

func (c *encoder) mapping(x reflect.Value, at *path) (goja.Value, error) {
	if x.Type().Key().Kind() != reflect.String {
		return nil, at.fail("a script cannot have a Go map whose keys are %s", x.Type().Key())
	}
	o := c.engine.VM().NewObject()
	keys := x.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		name := key.String()
		if own, ok := key.Interface().(encoding.TextMarshaler); ok {
			text, err := own.MarshalText()
			if err != nil {
				return nil, err
			}
			name = string(text)
		}
		v, err := c.value(x.MapIndex(key), &path{at, name})
		if err != nil {
			return nil, err
		}
		if err := internals.Define(o, name, v); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (c *encoder) structure(x reflect.Value, at *path) (goja.Value, error) {
	o := c.engine.VM().NewObject()
	fields := fieldsOf(x.Type())
	if name := twice(fields); name != "" {
		return nil, at.doubled(x.Type(), name)
	}
	for _, f := range fields {
		v, err := c.value(x.FieldByIndex(f.index), &path{at, f.name})
		if err != nil {
			return nil, err
		}
		if err := internals.Define(o, f.name, v); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// fits returns an error if no script value corresponds to a Go type.
func fits(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("a script cannot have a value of the Go type %s", t)
	}
	return nil
}
