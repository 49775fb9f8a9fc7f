package instructions

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// A Text is a text for eval. In a direct call of eval a script passes an object with a *Text in place of the text.
type Text struct {
	// Value is the text, and Eval the function eval. A call of another function with that name gets Value.
	Value goja.Value
	Eval  *goja.Object
	// Parse returns the tree to run and whether it is strict code. It panics with the value to throw for a malformed text.
	Parse func() (tree *ast.Program, strict bool)
	// Fail panics with the value to throw for an error of the interpreter's compiler.
	Fail func(error)
}

// Methods of the interpreter.

//go:linkname compileTree github.com/dop251/goja.compileAST
func compileTree(tree *ast.Program, strict, global bool, m *machine) (*goja.Program, error)

//go:linkname pushContext github.com/dop251/goja.(*vm).pushCtx
func pushContext(m *machine)

//go:linkname popContext github.com/dop251/goja.(*vm).popCtx
func popContext(m *machine)

//go:linkname push github.com/dop251/goja.(*vm).push
func push(m *machine, v goja.Value)

//go:linkname runTry github.com/dop251/goja.(*vm).runTry
func runTry(m *machine) *goja.Exception

//go:linkname countArguments github.com/dop251/goja.(*vm).countVariadicArgs
func countArguments(m *machine) int

//go:linkname escaped github.com/dop251/goja.escapeInvalidUtf16
func escaped(s goja.String) string

// Escaped returns a string with each lone surrogate as an escape sequence, as the interpreter passes the texts of eval to its parser.
func Escaped(s goja.String) string { return escaped(s) }

// A names is the part of a scope at run time with the names that its code may add; see the interpreter's type stash.
type names struct{}

// state holds offsets of the fields of the machine, of a scope and of the interpreter that evaluation uses.
type state struct {
	vm, globals                          uintptr // fields of goja.Runtime
	program, names, private, base, count uintptr // fields of the machine
	result                               uintptr
	outer, kind                          uintptr // fields of names
}

// findState finds the fields that evaluation uses. field panics for a field that is missing or of another kind.
func findState(field func(reflect.Type, string, reflect.Kind) uintptr) {
	runtime := reflect.TypeFor[goja.Runtime]()
	s := &the.state
	s.vm = field(runtime, "vm", reflect.Pointer)
	global, _ := runtime.FieldByName("global")
	s.globals = global.Offset + field(global.Type, "stash", reflect.Struct)
	s.program, s.names, s.private = field(the.machine, "prg", reflect.Pointer), field(the.machine, "stash", reflect.Pointer), field(the.machine, "privEnv", reflect.Pointer)
	s.base, s.count, s.result = field(the.machine, "sb", reflect.Int), field(the.machine, "args", reflect.Int), field(the.machine, "result", reflect.Interface)
	names, _ := the.machine.FieldByName("stash")
	s.outer, s.kind = field(names.Type.Elem(), "outer", reflect.Pointer), field(names.Type.Elem(), "funcType", reflect.Uint8)
}

// inFunction reports whether the running code is in a function.
func (m *machine) inFunction() bool {
	for n := *at[*names](m, the.state.names); n != nil; n = *(**names)(unsafe.Add(unsafe.Pointer(n), the.state.outer)) {
		if *(*uint8)(unsafe.Add(unsafe.Pointer(n), the.state.kind)) != 0 {
			return true
		}
	}
	return false
}

// at returns a pointer to the field of the machine at an offset.
func at[T any](m *machine, offset uintptr) *T { return (*T)(unsafe.Add(unsafe.Pointer(m), offset)) }

// Evaluate runs a text as the function eval does if it is not called by that name: as global code.
func Evaluate(vm *goja.Runtime, t *Text) goja.Value {
	if !known.Get() {
		panic(errUnknown)
	}
	m := *(**machine)(unsafe.Add(unsafe.Pointer(vm), the.state.vm))
	return m.evaluate(t, (*names)(unsafe.Add(unsafe.Pointer(vm), the.state.globals)))
}

// evaluate runs a text in the scope global, or in the scope of the calling code if global is nil, and returns its completion
// value. It panics with what the text throws. It follows the interpreter's own eval.
func (m *machine) evaluate(t *Text, global *names) goja.Value {
	tree, strict := t.Parse()
	inGlobal := global != nil || !m.inFunction()
	pushContext(m)
	callee := goja.Undefined()
	if global != nil {
		*at[*names](m, the.state.names), *at[unsafe.Pointer](m, the.state.private) = global, nil
	} else if base := *at[int](m, the.state.base); base > 0 {
		callee = m.stack()[base-1]
	}
	p, err := compileTree(tree, strict, inGlobal, m)
	if err != nil {
		t.Fail(err)
	}
	correct(p)
	result := at[goja.Value](m, the.state.result)
	*at[*goja.Program](m, the.state.program), *m.next(), *at[int](m, the.state.count) = p, 0, 0
	*result = goja.Undefined()
	push(m, callee)
	*at[int](m, the.state.base) = *m.top()
	push(m, nil) // this
	thrown := runTry(m)
	value := *result
	popContext(m)
	if thrown != nil {
		panic(thrown)
	}
	*m.top() -= 2
	return value
}

// evaluateText executes the instruction that calls eval, or another function with that name.
func evaluateText(r *replacement, m *machine) { m.call(r, int(*(*uint32)(r.original.data))) }

// evaluateSpread is like evaluateText for arguments with a spread.
func evaluateSpread(r *replacement, m *machine) { m.call(r, countArguments(m)-2) }

// call executes a call of eval, or of another function with that name, with n arguments.
func (m *machine) call(r *replacement, n int) {
	if n == 0 {
		r.run(m)
		return
	}
	o, _ := (*m.slot(n)).(*goja.Object)
	if o == nil || o.ExportType() != reflect.TypeFor[*Text]() {
		r.run(m)
		return
	}
	t := o.Export().(*Text)
	if callee, _ := (*m.slot(n + 1)).(*goja.Object); callee != t.Eval {
		*m.slot(n) = t.Value
		r.run(m)
		return
	}
	v := m.evaluate(t, nil)
	*m.slot(n + 2) = v
	*m.top() -= n + 1
	*m.next()++
}
