// Package arguments reads the arguments of scripts' calls of native functions.
package arguments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/spelling"
	"github.com/orepl/orepl/lang/typedarray"
)

// An Error reports a wrong argument in a script's call of a native function. Scripts see it as a TypeError.
type Error struct {
	Func   string // qualified function name, such as "fs.readText"
	Name   string // parameter name
	Detail string // the cause
	Advice string // the hint, such as the expression to write instead; if empty, the hint refers to the function's help
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s %s", e.Func, e.Name, e.Detail) }

// Code returns the error's code.
func (e *Error) Code() string { return "invalid-argument" }

// Hint returns Advice, or a reference to the function's help if there is none.
func (e *Error) Hint() string {
	if e.Advice == "" {
		return fmt.Sprintf("help('%s') shows how to call it", e.Func)
	}
	return e.Advice
}

// A Reader reads the arguments of one call. The first error is kept and returned by Err, so a function can read all arguments
// before it checks for errors.
type Reader struct {
	name    string
	call    goja.FunctionCall
	printer Printer
	read    int // the number of arguments up to the last one that was read
	err     error
}

// Printer prints values for errors.
type Printer interface {
	InspectValue(v goja.Value, o inspect.Options) string
}

// New returns a reader for the arguments of a call of the named function.
func New(name string, call goja.FunctionCall, printer Printer) *Reader {
	return &Reader{name: name, call: call, printer: printer}
}

// Err returns the first error, or nil.
func (a *Reader) Err() error { return a.err }

// Fail records an error in a parameter, unless an earlier error was recorded.
func (a *Reader) Fail(param, format string, args ...any) {
	if a.err == nil {
		a.err = &Error{Func: a.name, Name: param, Detail: fmt.Sprintf(format, args...)}
	}
}

func (a *Reader) mismatch(param, want string, got goja.Value) {
	if goja.IsUndefined(got) {
		a.Fail(param, "is missing: expected %s", want)
		return
	}
	a.Fail(param, "must be %s, not %s", want, a.brief(got))
}

// brief returns a value as it is printed in errors.
func (a *Reader) brief(v goja.Value) string {
	return a.printer.InspectValue(v, inspect.Options{Depth: 1, Items: 4, MaxString: 40, Width: 1000})
}

// Value returns argument i, or undefined if it is missing.
func (a *Reader) Value(i int) goja.Value {
	a.read = max(a.read, i+1)
	return a.call.Argument(i)
}

// Has reports whether argument i is present and not undefined.
func (a *Reader) Has(i int) bool { return !goja.IsUndefined(a.Value(i)) }

// String reads argument i as a string. For another value it sets the error and returns "".
func (a *Reader) String(i int, param string) string {
	v := a.Value(i)
	if s, ok := v.(goja.String); ok {
		return s.String()
	}
	a.mismatch(param, "a string", v)
	return ""
}

// Int reads argument i as an integer. For another value it sets the error and returns 0.
func (a *Reader) Int(i int, param string) int64 {
	v := a.Value(i)
	if goja.IsNumber(v) {
		if n := v.ToInteger(); float64(n) == v.ToFloat() {
			return n
		}
	}
	a.mismatch(param, "an integer", v)
	return 0
}

// Float reads argument i as a number. For another value it sets the error and returns 0.
func (a *Reader) Float(i int, param string) float64 {
	v := a.Value(i)
	if goja.IsNumber(v) {
		return v.ToFloat()
	}
	a.mismatch(param, "a number", v)
	return 0
}

// Object reads argument i as an object. It returns nil if the argument is missing, or is another value, which is an error.
func (a *Reader) Object(i int, param string) *goja.Object {
	v := a.Value(i)
	if o, ok := v.(*goja.Object); ok {
		return o
	}
	if !goja.IsUndefined(v) {
		a.mismatch(param, "an object", v)
	}
	return nil
}

// Options reads an object of options and reports names that are not in known. It returns nil where [Reader.Object] does.
func (a *Reader) Options(i int, param string, known ...string) *goja.Object {
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
			a.err = &Error{Func: a.name, Name: param, Detail: fmt.Sprintf("have no %q", key), Advice: advice}
		}
	}
	return o
}

// Function reads argument i as a function. For another value it sets the error and returns nil.
func (a *Reader) Function(i int, param string) goja.Callable {
	v := a.Value(i)
	if f, ok := goja.AssertFunction(v); ok {
		return f
	}
	a.mismatch(param, "a function", v)
	return nil
}

// Bytes reads a typed array, DataView or ArrayBuffer as the bytes of its memory, without copying. For another value it sets
// the error and returns nil.
func (a *Reader) Bytes(i int, param string) []byte {
	if b, ok := typedarray.Bytes(a.Value(i)); ok {
		return b
	}
	a.mismatch(param, "a typed array or ArrayBuffer", a.Value(i))
	return nil
}

// Rest records an error for a plain object, or a string other than the name of UTF-8, behind the arguments that were read: the
// function would ignore it. Other values may come from map, which passes an index and an array.
func (a *Reader) Rest() {
	for i, v := range a.call.Arguments {
		s, isText := v.(goja.String)
		o, isObject := v.(*goja.Object)
		switch {
		case i < a.read || !isText && !isObject:
		case isText && slices.Contains([]string{"utf8", "utf-8"}, strings.ToLower(s.String())):
		case isText || o.ClassName() == "Object":
			a.Fail(fmt.Sprintf("argument %d", i+1), "is one too many: %s", a.brief(v))
		}
	}
}

// Reject records an error that concerns no single parameter, unless an earlier error was recorded.
func (a *Reader) Reject(err error) {
	if a.err == nil {
		a.err = err
	}
}
