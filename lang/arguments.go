package lang

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/spelling"
)

// An ArgumentError says that a script called a native function with a wrong argument. It becomes a TypeError.
type ArgumentError struct {
	Func   string // such as "fs.readText"
	Name   string // of the parameter
	Detail string // the cause
	Advice string // the expression to write instead; if empty, the hint names the function's help
}

func (e *ArgumentError) Error() string { return fmt.Sprintf("%s: %s %s", e.Func, e.Name, e.Detail) }

// Code returns the error's code.
func (e *ArgumentError) Code() string { return "invalid-argument" }

// Hint names the expression to write instead.
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

// Args reads the arguments of one call. The first problem sticks and is given by Err, so that a function reads all of
// its arguments before it asks.
type Args struct {
	engine *Engine
	name   string
	call   goja.FunctionCall
	err    error
}

// Args begins to read the arguments of a call of the function with the given name.
func (e *Engine) Args(name string, call goja.FunctionCall) *Args {
	return &Args{engine: e, name: name, call: call}
}

// Err returns the first problem.
func (a *Args) Err() error { return a.err }

// Fail notes a problem with a parameter.
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

// Value is argument i, or undefined.
func (a *Args) Value(i int) goja.Value { return a.call.Argument(i) }

// Has reports whether argument i is there and not undefined.
func (a *Args) Has(i int) bool { return !goja.IsUndefined(a.call.Argument(i)) }

// String reads a string.
func (a *Args) String(i int, param string) string {
	v := a.call.Argument(i)
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	a.mismatch(param, "a string", v)
	return ""
}

// Int reads an integer.
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

// Float reads a number.
func (a *Args) Float(i int, param string) float64 {
	v := a.call.Argument(i)
	if goja.IsNumber(v) {
		return v.ToFloat()
	}
	a.mismatch(param, "a number", v)
	return 0
}

// Object reads an object; if it is missing, nil.
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

// Options reads an object of options, of which each must have one of the known names; if it is missing, nil.
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

// Function reads a function.
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
	case t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Interface: // not an array, which Export copies
		return memoryOf(o.Export())
	}
	buffer, ok := o.Get("buffer").(*goja.Object)
	if !ok || !isBuffer(buffer) {
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

// memoryOf returns a slice of the memory of an exported typed array.
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

func isBuffer(o *goja.Object) bool { return o.ExportType() == typeArrayBuffer }

// Reject notes an error about the arguments as a whole.
func (a *Args) Reject(err error) {
	if a.err == nil {
		a.err = err
	}
}
