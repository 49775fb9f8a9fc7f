package lang

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

// NativeFunc is a Go function that scripts call. Its error is thrown as an Error of the script with a stack and the properties
// code, hint and label; see [Engine.Throw].
type NativeFunc func(call goja.FunctionCall) (goja.Value, error)

// Func returns a script function that calls fn. A panic in fn becomes an error of the script. The value nil stands for
// undefined.
func (e *Engine) Func(name string, fn NativeFunc) *goja.Object {
	return internals.NewFunction(e.vm, name, func(call goja.FunctionCall) goja.Value {
		defer e.recoverNative(name)
		v, err := fn(call)
		if err != nil {
			e.Throw(err)
		}
		if v == nil {
			return goja.Undefined()
		}
		return v
	})
}

// nativeHost implements the interface Host of packages that define functions of the language, such as polyfill and operators.
type nativeHost struct{ *Engine }

func (h nativeHost) Function(name string, fn func(goja.FunctionCall) (goja.Value, error)) *goja.Object {
	return h.Func(name, fn)
}

func (h nativeHost) Run(name, text string) (goja.Value, error) { return runOwn(h.vm, name, text) }

// guarded runs fn with the error handling of native functions.
func (e *Engine) guarded(fn func() (goja.Value, error)) goja.Value {
	defer e.recoverNative("")
	v, err := fn()
	if err != nil {
		e.Throw(err)
	}
	return v
}

// recoverNative converts a Go panic of a function with a name, or "", to an error of the script. It passes on panics with which the
// interpreter throws.
func (e *Engine) recoverNative(name string) {
	x := recover()
	if x == nil {
		return
	}
	if isThrow(x) {
		panic(x)
	}
	e.opts.Logger.Error("panic in a native function", "function", name, "value", x, "stack", string(debug.Stack()))
	d := diag.New("internal", "internal error: %v", x)
	if name != "" {
		d.Message = fmt.Sprintf("internal error in %s: %v", name, x)
	}
	if err, ok := x.(error); ok {
		d.Cause = err
	}
	e.Throw(d.WithHint("this is a defect of the program, not of the script"))
}

// isThrow reports whether the interpreter panicked with x, to throw an exception or to interrupt the script.
func isThrow(x any) bool {
	switch x := x.(type) {
	case goja.Value, *goja.Exception, *goja.InterruptedError, *goja.StackOverflowError:
		return true
	case runtime.Error, string:
		return false
	default:
		return strings.HasPrefix(reflect.TypeOf(x).PkgPath(), "github.com/dop251/goja")
	}
}

// Throw throws err in the script; it does not return. A value that a script threw, an interrupt and a stack overflow are thrown
// unchanged. Any other error becomes an Error with the properties code, hint and label of err. errors.As finds err in the
// result of [Engine.Run].
func (e *Engine) Throw(err error) {
	if v := thrown(err); v != nil {
		panic(v)
	}
	var interrupted *goja.InterruptedError
	if errors.As(err, &interrupted) {
		panic(interrupted)
	}
	var overflow *goja.StackOverflowError
	if errors.As(err, &overflow) {
		panic(overflow)
	}
	panic(e.ErrorValue(err))
}

// thrown returns the value that the script threw if err is or wraps its exception. Otherwise it returns nil, also for a diagnostic
// that has an exception as its cause.
func thrown(err error) goja.Value {
	for ; err != nil; err = errors.Unwrap(err) {
		switch err := err.(type) {
		case *goja.Exception:
			return err.Value()
		case *diag.Diagnostic:
			return nil
		}
	}
	return nil
}

// rejection returns the value that err rejects a promise with: what the script threw, of any type, or an Error.
func (e *Engine) rejection(err error) goja.Value {
	if v := thrown(err); v != nil {
		return v
	}
	return e.ErrorValue(err)
}

// ErrorValue returns an object that stands for err: the object that the script threw if err is or wraps its exception, otherwise a
// new Error as of [Engine.Throw]. An exception with a primitive value also becomes an Error.
func (e *Engine) ErrorValue(err error) *goja.Object {
	if o, ok := thrown(err).(*goja.Object); ok {
		return o
	}
	name, message := "Error", diag.Text(err)
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		if error(d) == err {
			message = d.Message
		}
		if d.Name != "" {
			name = d.Name
		}
	} else if _, wrong := errors.AsType[*ArgumentError](err); wrong {
		name = "TypeError"
	}
	o, nerr := e.vm.New(e.errorClass(name), e.vm.ToValue(message))
	if nerr != nil { // no object can be created when the script's stack is exhausted
		panic(nerr)
	}
	set := func(name, value string) {
		if value != "" {
			_ = o.DefineDataProperty(name, e.vm.ToValue(value), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
	}
	set("code", diag.Code(err))
	set("hint", diag.Hint(err))
	set("label", diag.Label(err))
	if d != nil && d.IsValid() { // not enumerable, because the printed stack contains the position
		for name, value := range map[string]any{"file": d.File, "line": d.Line, "column": d.Column} {
			_ = o.DefineDataProperty(name, e.vm.ToValue(value), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
		text := name + ": " + message + e.stackOf(d)
		_ = o.DefineDataProperty("stack", e.vm.ToValue(text), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	_ = o.DefineDataPropertySymbol(e.objects.errorSymbol, e.hide(err), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	return o
}

// stackOf returns the stack trace of a located error: its position, the positions of its notes, such as a kernel's launch, and
// the script's calls. The interpreter's own trace contains only the calls.
func (e *Engine) stackOf(d *diag.Diagnostic) string {
	frames := []diag.Frame{{Position: d.Position}}
	for _, n := range d.Notes {
		frames = append(frames, diag.Frame{Position: n.Position})
	}
	seen := map[diag.Position]bool{}
	return diag.Calls(slices.DeleteFunc(append(frames, e.Stack()...), func(f diag.Frame) bool {
		again := !f.IsValid() || seen[f.Position]
		seen[f.Position] = true
		return again
	}))
}

// errorClass returns one of the interpreter's error constructors, or Error for an unknown name.
func (e *Engine) errorClass(name string) *goja.Object {
	if c := e.intrinsics.errors[name]; c != nil {
		return c
	}
	return e.intrinsics.errors["Error"]
}

// Unthrown returns the Go error behind an exception of the script, or err itself if there is none.
func (e *Engine) Unthrown(err error) error {
	if behind := e.goError(thrown(err)); behind != nil {
		return behind
	}
	return err
}

// goError returns the Go error that ErrorValue attached to an Error object, or nil.
func (e *Engine) goError(v goja.Value) error {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	err, _ := hidden(e.inspector.Data(o, e.objects.errorSymbol)).(error) // the script could define a getter under the symbol
	return err
}

// A capsule hides a Go value from the interpreter's reflection. Scripts see an empty object.
type capsule struct{ value any }

func (*capsule) Get(string) goja.Value       { return nil }
func (*capsule) Set(string, goja.Value) bool { return false }
func (*capsule) Has(string) bool             { return false }
func (*capsule) Delete(string) bool          { return true }
func (*capsule) Keys() []string              { return nil }

func (e *Engine) hide(value any) goja.Value { return e.vm.NewDynamicObject(&capsule{value}) }

// reveal returns the value hidden under a symbol of o or its prototypes. It returns nil if there is none, or if one of these
// objects is a proxy.
func (e *Engine) reveal(o *goja.Object, symbol *goja.Symbol) any {
	for at := o; at != nil; at = at.Prototype() {
		if at.ExportType() == typeProxy { // reading a proxy would run its handler
			return nil
		}
	}
	if o == nil {
		return nil
	}
	return hidden(o.GetSymbol(symbol))
}

// hidden returns the value that hide hid, or nil.
func hidden(v goja.Value) any {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	c, ok := o.Export().(*capsule)
	if !ok {
		return nil
	}
	return c.value
}
