package lang

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/source"
	"github.com/orepl/orepl/lang/traps"
)

// boundCompilers adds checks to functions that compile text at run time, because the parser and the compiler recurse without
// checking interrupts. Direct calls of eval are checked by code that package source inserts around the argument. It fails if
// the interpreter lacks a builtin, which would stay unchecked.
func (e *Engine) boundCompilers() error {
	vm := e.vm
	var last struct {
		text, checked string
		context       source.EvalContext
	} // caches the last text, because loops often compile the same text again
	check := func(text string, context source.EvalContext) string {
		if text == last.text && context == last.context {
			return last.checked
		}
		var checked string
		var err error
		quick := source.IsQuick(text)
		if quick {
			checked, err = source.EvalText(text, context)
		} else {
			checked, err = UntilCallEnds(e, func() (string, error) { return source.EvalText(text, context) })
		}
		if err != nil {
			e.Throw(err)
		}
		if quick {
			last.text, last.checked, last.context = text, checked, context
		}
		return checked
	}
	checkValue := func(v goja.Value, context source.EvalContext) goja.Value {
		s, ok := v.(goja.String)
		if !ok {
			return v
		}
		was := s.String()
		if text := check(was, context); text != was {
			return vm.ToValue(text)
		}
		return v
	}
	e.intrinsics.evalText = vm.ToValue(func(c goja.FunctionCall) goja.Value {
		return checkValue(c.Argument(0), source.EvalContext(c.Argument(1).ToInteger()))
	})
	eval, err := e.native("eval")
	if err != nil {
		return err
	}
	callEval := *eval.call
	*eval.call = func(c goja.FunctionCall) goja.Value {
		return callEval(goja.FunctionCall{This: c.This, Arguments: []goja.Value{checkValue(c.Argument(0), 0)}})
	}
	for _, kind := range []string{"function", "async function", "function*"} {
		native, err := e.native("(" + kind + "(){}).constructor")
		if err != nil {
			return err
		}
		if native.construct == nil || *native.construct == nil {
			return errNoNative(kind)
		}
		arguments := func(args []goja.Value) []goja.Value {
			return functionText(vm, kind, args, func(text string) string { return check(text, 0) })
		}
		call, construct := *native.call, *native.construct
		*native.call = func(c goja.FunctionCall) goja.Value {
			return call(goja.FunctionCall{This: c.This, Arguments: arguments(c.Arguments)})
		}
		*native.construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
			return construct(arguments(args), newTarget)
		}
	}
	return nil
}

// ownProxyArguments makes proxies of functions pass arguments of their own to the traps apply and construct.
func (e *Engine) ownProxyArguments() error {
	own := func(args []goja.Value) []goja.Value {
		if len(args) < 2 {
			return args
		}
		handler, ok := args[1].(*goja.Object)
		if _, callable := goja.AssertFunction(args[0]); !callable || !ok {
			return args
		}
		args = slices.Clone(args)
		args[1] = traps.Handler(e.vm, handler, e.Throw)
		return args
	}
	class, err := e.native("Proxy")
	if err != nil {
		return err
	}
	construct := *class.construct
	*class.construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object { return construct(own(args), newTarget) }
	revocable, err := e.native("Proxy.revocable")
	if err != nil {
		return err
	}
	call := *revocable.call
	*revocable.call = func(c goja.FunctionCall) goja.Value {
		return call(goja.FunctionCall{This: c.This, Arguments: own(c.Arguments)})
	}
	return nil
}

// patternSize is the maximum memory for compiling one character of a regular expression, in bytes.
const patternSize = 1 << 10

// boundPatterns limits the texts of regular expressions created at run time.
func (e *Engine) boundPatterns() error {
	native, err := e.native("RegExp")
	if err != nil {
		return err
	}
	check := func(v goja.Value) { e.limit.bounds.allocate("RegExp", product(textLength(v), patternSize)) }
	call, construct := *native.call, *native.construct
	*native.call = func(c goja.FunctionCall) goja.Value {
		check(c.Argument(0))
		e.refusePattern(c.Arguments)
		return call(c)
	}
	*native.construct = func(args []goja.Value, newTarget *goja.Object) *goja.Object {
		if len(args) > 0 {
			check(args[0])
			e.refusePattern(args)
		}
		return construct(args, newTarget)
	}
	text := e.vm.GlobalObject().Get("String").(*goja.Object).Get("prototype").(*goja.Object)
	for _, name := range []string{"match", "matchAll", "search"} {
		e.limit.bounds.wrap(text, name, func(_ *bounds, _ string, c goja.FunctionCall) {
			check(c.Argument(0))
			e.refusePattern(c.Arguments[:min(len(c.Arguments), 1)])
		})
	}
	return nil
}

// refusePattern throws if the arguments of RegExp exceed the limits.
func (e *Engine) refusePattern(args []goja.Value) {
	var texts [2]string
	for i := range min(len(args), 2) {
		if s, ok := args[i].(goja.String); ok {
			texts[i] = s.String()
		}
	}
	if _, problem := source.PatternProblem(texts[0], texts[1]); problem != "" {
		e.Throw(&diag.Diagnostic{ID: "syntax", Name: "SyntaxError", Message: problem})
	}
}

// functionText checks the text compiled by a Function constructor, and returns arguments that produce it.
func functionText(vm *goja.Runtime, kind string, args []goja.Value, check func(string) string) []goja.Value {
	if len(args) == 0 {
		return args
	}
	texts := make([]string, len(args))
	for i, v := range args {
		texts[i] = v.String()
	}
	const between = "\n) {\n"
	last := len(texts) - 1
	head := "(" + kind + " anonymous("
	params := strings.Join(texts[:last], ",")
	whole := check(head + params + between + texts[last] + "\n})")
	parts := []string{source.IndirectEvals(params), source.IndirectEvals(texts[last])}
	if head+parts[0]+between+parts[1]+"\n})" != whole { // a token crosses the end of an argument
		parts = []string{"*/", ""} // forces a syntax error: the language requires each argument to be well-formed by itself
	}
	return []goja.Value{vm.ToValue(parts[0]), vm.ToValue(parts[1])}
}

// A native points to the fields that hold the Go functions of a builtin. Replacing them keeps the function object, which the
// interpreter compares and scripts reach in many ways.
type native struct {
	call      *func(goja.FunctionCall) goja.Value
	construct *func([]goja.Value, *goja.Object) *goja.Object
}

func errNoNative(name string) error {
	return fmt.Errorf("this version of goja keeps builtins in another way: lang/compilers.go does not find the function of %s", name)
}

// native returns the fields of the builtin that expression evaluates to.
func (e *Engine) native(expression string) (native, error) {
	v, err := runOwn(e.vm, expression, "("+expression+")")
	if err != nil {
		return native{}, err
	}
	o, ok := v.(*goja.Object)
	if !ok {
		return native{}, errNoNative(expression)
	}
	n, ok := nativeOf(o)
	if !ok || *n.call == nil {
		return native{}, errNoNative(expression)
	}
	return n, nil
}

// A nativeLayout holds the field offsets of a type of function object; known is false for other objects.
type nativeLayout struct {
	call, construct uintptr
	known           bool
}

var (
	nativeLayouts sync.Map // maps reflect.Type to nativeLayout
	selfField, _  = reflect.TypeFor[goja.Object]().FieldByName("self")
)

func layoutOf(object reflect.Type) nativeLayout {
	if l, ok := nativeLayouts.Load(object); ok {
		return l.(nativeLayout)
	}
	var l nativeLayout
	if object.Kind() == reflect.Pointer && object.Elem().Kind() == reflect.Struct {
		f, hasCall := object.Elem().FieldByName("f")
		c, hasConstruct := object.Elem().FieldByName("construct")
		l.call, l.construct = f.Offset, c.Offset
		l.known = hasCall && hasConstruct && len(f.Index) == 1 && len(c.Index) == 1 &&
			f.Type == reflect.TypeFor[func(goja.FunctionCall) goja.Value]() &&
			c.Type == reflect.TypeFor[func([]goja.Value, *goja.Object) *goja.Object]()
	}
	nativeLayouts.Store(object, l)
	return l
}

func nativeOf(o *goja.Object) (native, bool) {
	if o == nil || selfField.Type == nil || selfField.Type.Kind() != reflect.Interface {
		return native{}, false
	}
	self := reflect.ValueOf(o).Elem().FieldByIndex(selfField.Index).Elem()
	if !self.IsValid() {
		return native{}, false
	}
	l := layoutOf(self.Type())
	if !l.known {
		return native{}, false
	}
	at := self.UnsafePointer()
	return native{
		call:      (*func(goja.FunctionCall) goja.Value)(unsafe.Add(at, l.call)),
		construct: (*func([]goja.Value, *goja.Object) *goja.Object)(unsafe.Add(at, l.construct)),
	}, true
}
