package lang

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/internals"
	"github.com/orepl/orepl/lang/spelling"
)

// An ArgumentError reports a wrong argument in a script's call of a native function. Scripts see it as a TypeError.
type ArgumentError struct {
	Func   string // qualified function name, such as "fs.readText"
	Name   string // parameter name
	Detail string // the cause
	Advice string // the expression to write instead; if empty, the hint refers to the function's help
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("%s: %s %s", e.Func, e.Name, e.Detail) }

// Code returns the error's code.
func (e *ArgumentError) Code() string { return "invalid-argument" }

// Hint returns the hint that names the expression to write instead.
func (e *ArgumentError) Hint() string {
	if e.Advice == "" {
		return fmt.Sprintf("help('%s') shows how to call it", e.Func)
	}
	return e.Advice
}

func isArgumentError(err error) bool {
	var a *ArgumentError
	return errors.As(err, &a)
}

// Args reads the arguments of one call. The first error is kept and returned by Err, so a function can read all arguments
// before it checks for errors.
type Args struct {
	engine *Engine
	name   string
	call   goja.FunctionCall
	err    error
}

// Args returns a reader for the arguments of a call of the named function.
func (e *Engine) Args(name string, call goja.FunctionCall) *Args {
	return &Args{engine: e, name: name, call: call}
}

// Err returns the first error.
func (a *Args) Err() error { return a.err }

// Fail records an error in a parameter, unless an earlier error was recorded.
func (a *Args) Fail(param, format string, args ...any) {
	if a.err == nil {
		a.err = &ArgumentError{Func: a.name, Name: param, Detail: fmt.Sprintf(format, args...)}
	}
}

func (a *Args) mismatch(param, want string, got goja.Value) {
	if goja.IsUndefined(got) {
		a.Fail(param, "is missing: expected %s", want)
		return
	}
	a.Fail(param, "must be %s, not %s", want, a.engine.InspectValue(got, inspect.Options{Depth: 1, Items: 4, MaxString: 40, Width: 1000}))
}

// Value returns argument i, or undefined if it is missing.
func (a *Args) Value(i int) goja.Value { return a.call.Argument(i) }

// Has reports whether argument i is present and not undefined.
func (a *Args) Has(i int) bool { return !goja.IsUndefined(a.call.Argument(i)) }

// String reads argument i as a string.
func (a *Args) String(i int, param string) string {
	v := a.call.Argument(i)
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	a.mismatch(param, "a string", v)
	return ""
}

// Int reads argument i as an integer.
func (a *Args) Int(i int, param string) int64 {
	v := a.call.Argument(i)
	if goja.IsNumber(v) {
		if n := v.ToInteger(); float64(n) == v.ToFloat() {
			return n
		}
	}
	a.mismatch(param, "an integer", v)
	return 0
}

// Float reads argument i as a number.
func (a *Args) Float(i int, param string) float64 {
	v := a.call.Argument(i)
	if goja.IsNumber(v) {
		return v.ToFloat()
	}
	a.mismatch(param, "a number", v)
	return 0
}

// Object reads argument i as an object and returns nil if it is missing.
func (a *Args) Object(i int, param string) *goja.Object {
	v := a.call.Argument(i)
	if o, ok := v.(*goja.Object); ok {
		return o
	}
	if !goja.IsUndefined(v) {
		a.mismatch(param, "an object", v)
	}
	return nil
}

// Options reads an object of options and reports names that are not in known. It returns nil if the argument is missing.
func (a *Args) Options(i int, param string, known ...string) *goja.Object {
	o := a.Object(i, param)
	if o == nil {
		return nil
	}
	for _, key := range o.Keys() {
		if slices.Contains(known, key) {
			continue
		}
		if a.err == nil {
			advice := "the options are " + strings.Join(known, ", ")
			if near := spelling.Nearest(key, known); near != "" {
				advice = fmt.Sprintf("did you mean %s? %s", near, advice)
			}
			a.err = &ArgumentError{Func: a.name, Name: param, Detail: fmt.Sprintf("have no %q", key), Advice: advice}
		}
	}
	return o
}

// Function reads argument i as a function.
func (a *Args) Function(i int, param string) goja.Callable {
	v := a.call.Argument(i)
	if f, ok := goja.AssertFunction(v); ok {
		return f
	}
	a.mismatch(param, "a function", v)
	return nil
}

// Bytes reads a typed array, DataView or ArrayBuffer as the bytes of its memory, without copying.
func (a *Args) Bytes(i int, param string) []byte {
	if b, ok := a.engine.Bytes(a.call.Argument(i)); ok {
		return b
	}
	a.mismatch(param, "a typed array or ArrayBuffer", a.call.Argument(i))
	return nil
}

// Bytes returns the memory of a typed array, DataView or ArrayBuffer, without copying.
func (e *Engine) Bytes(v goja.Value) ([]byte, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	switch t := o.ExportType(); {
	case t == typeArrayBuffer:
		return o.Export().(goja.ArrayBuffer).Bytes(), true
	case t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Interface: // excludes arrays, which Export copies
		return memoryOf(o.Export())
	}
	buffer, ok := o.Get("buffer").(*goja.Object)
	if !ok || !internals.IsBuffer(buffer) {
		return nil, false
	}
	memory := buffer.Export().(goja.ArrayBuffer).Bytes()
	offset, length := o.Get("byteOffset"), o.Get("byteLength")
	if offset == nil || length == nil {
		return nil, false
	}
	from, n := int(offset.ToInteger()), int(length.ToInteger())
	if from < 0 || n < 0 || from > len(memory) || n > len(memory)-from {
		return nil, false
	}
	return memory[from : from+n : from+n], true
}

// memoryOf returns the memory of an exported typed array as bytes.
func memoryOf(exported any) ([]byte, bool) {
	switch s := exported.(type) {
	case []uint8:
		return s, true
	case []int8:
		return bytesOf(s), true
	case []uint16:
		return bytesOf(s), true
	case []int16:
		return bytesOf(s), true
	case []uint32:
		return bytesOf(s), true
	case []int32:
		return bytesOf(s), true
	case []uint64:
		return bytesOf(s), true
	case []int64:
		return bytesOf(s), true
	case []float32:
		return bytesOf(s), true
	case []float64:
		return bytesOf(s), true
	}
	return nil, false
}

// Reject records an error that concerns no single parameter.
func (a *Args) Reject(err error) {
	if a.err == nil {
		a.err = err
	}
}
