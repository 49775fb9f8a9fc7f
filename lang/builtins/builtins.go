// Package builtins replaces builtins of the interpreter that differ from ECMAScript, and defines those that it lacks.
package builtins

import (
	"math"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/internals"
)

// A Host is the engine that the builtins belong to.
type Host struct {
	VM *goja.Runtime
	// Poll ends the running call if its time or memory is over; long-running builtins call it now and then.
	Poll func()
	// Throw throws an error in the script; it does not return.
	Throw func(error)
	// Allocate throws if a call would allocate more bytes than the limits allow.
	Allocate func(name string, bytes uint64)
	// MostFrames is the maximum number of open choices of a match of a regular expression.
	MostFrames int
	// Post queues a function for the event loop; it may be called on any goroutine.
	Post func(func() error)
	// Calls returns the calls of scripts in a stack of the interpreter.
	Calls func([]goja.StackFrame) []diag.Frame
	// Hidden are symbols that the engine's own properties have.
	Hidden []*goja.Symbol
	// Run runs a constant text, which is compiled once per process.
	Run func(name, text string) (goja.Value, error)
}

// set is the builtins of one engine.
type set struct {
	Host
	vm     *goja.Runtime
	global *goja.Object

	buffers     *buffers
	lazy        []*lazy
	toPrimitive goja.Callable // nil before the first use
	describe    goja.Callable // Object.getOwnPropertyDescriptor
	defineOwn   goja.Callable // Reflect.defineProperty
	keyFor      goja.Callable // Symbol.keyFor
	kept        []goja.Value  // weakly held values that live until the end of the turn
	typedName   goja.Callable // the getter of Symbol.toStringTag of typed arrays; nil before the first use
}

// A Set is the builtins of one engine.
type Set struct{ b *set }

// EndTurn must be called at the end of each turn of the event loop. It releases the weakly held values that live until then.
func (s *Set) EndTurn() { s.b.kept = nil }

// Calls returns the script's calls during which the error o was made, the innermost first, each as a line after a line break.
// It returns "" for an object that is no error.
func (s *Set) Calls(o *goja.Object) string { return stacks{s.b}.calls(o) }

// Want must be called with each text before it runs. It defines the builtins that the text may use.
func (s *Set) Want(text string) {
	for _, l := range s.b.lazy {
		if !l.done && slices.ContainsFunc(l.words, func(word string) bool { return strings.Contains(text, word) }) {
			l.load()
		}
	}
}

// Install replaces and defines the builtins of an engine. It fails with a version of the interpreter that package internals
// does not know.
func Install(h Host) (*Set, error) {
	if err := internals.Check(); err != nil {
		return nil, err
	}
	b := &set{Host: h, vm: h.VM, global: h.VM.GlobalObject()}
	b.buffers = &buffers{set: b}
	b.describe = callable(b.object("Object").Get("getOwnPropertyDescriptor"))
	b.defineOwn = callable(b.object("Reflect").Get("defineProperty"))
	for _, install := range []func() error{b.installRegExp, b.installNumber, b.installJSON, b.installDate, b.installWeak, b.installScripts, b.installText, b.installHoles, b.buffers.install, b.installErrors, stacks{b}.install} {
		if err := install(); err != nil {
			return nil, err
		}
	}
	return &Set{b}, nil
}

type function = func(goja.FunctionCall) goja.Value

// object returns an object at a path from the global object.
func (b *set) object(path ...string) *goja.Object {
	o := b.global
	for _, name := range path {
		o = o.Get(name).(*goja.Object)
	}
	return o
}

// function returns a function object with a name and a number of parameters.
func (b *set) function(name string, length int, fn function) *goja.Object {
	f := b.vm.ToValue(fn).(*goja.Object)
	_ = f.DefineDataProperty("length", b.vm.ToValue(length), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = f.DefineDataProperty("name", b.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	return f
}

// method replaces the code of a method, or defines it.
func (b *set) method(on *goja.Object, name string, length int, fn function) {
	if old, ok := on.Get(name).(*goja.Object); ok {
		if native, ok := internals.NativeOf(old); ok {
			*native.Call = fn
			return
		}
	}
	_ = on.DefineDataProperty(name, b.function(name, length, fn), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// symbolMethod replaces the code of a method named by a symbol. It does nothing if on has no such builtin method.
func (b *set) symbolMethod(on *goja.Object, symbol *goja.Symbol, fn function) {
	if old, ok := on.GetSymbol(symbol).(*goja.Object); ok {
		if native, ok := internals.NativeOf(old); ok {
			*native.Call = fn
		}
	}
}

// getter defines an accessor without a setter, or replaces its code.
func (b *set) getter(on *goja.Object, name string, fn function) {
	if old := internals.Getter(on, name); old != nil {
		if native, ok := internals.NativeOf(old); ok {
			*native.Call = fn
			return
		}
	}
	get := b.function("get "+name, 0, fn)
	_ = on.DefineAccessorProperty(name, get, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// typeError throws a TypeError.
func (b *set) typeError(format string, args ...any) {
	panic(b.vm.NewTypeError(append([]any{format}, args...)...))
}

// fail throws an error of a class, such as RangeError. id is its code, and hint may be empty.
func (b *set) fail(class, id, message, hint string) {
	b.Throw(&diag.Diagnostic{ID: id, Name: class, Message: message, Hint: hint})
}

func isUndefined(v goja.Value) bool { return v == nil || goja.IsUndefined(v) }

func isNullish(v goja.Value) bool { return isUndefined(v) || goja.IsNull(v) }

// get returns a property of o, or undefined if it is missing.
func get(o *goja.Object, name string) goja.Value {
	if v := o.Get(name); v != nil {
		return v
	}
	return goja.Undefined()
}

// put sets a property; it throws where that fails.
func (b *set) put(o *goja.Object, name string, v any) {
	if err := o.Set(name, v); err != nil {
		b.Throw(err)
	}
}

// define creates a property that is writable, enumerable and configurable. It does nothing if the object does not accept it.
func define(o *goja.Object, name string, v goja.Value) {
	_ = o.DefineDataProperty(name, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// text converts a value to a string like ECMAScript's ToString. It throws a TypeError for a symbol.
func (b *set) text(v goja.Value) goja.String {
	if s, ok := v.(goja.String); ok {
		return s
	}
	switch s := v.ToString().(type) { // of an object, any primitive value
	case goja.String:
		return s
	case *goja.Symbol:
		b.typeError("Cannot convert a Symbol value to a string")
		return nil
	default:
		return b.vm.ToValue(s.String()).(goja.String)
	}
}

const maxSafe = 1<<53 - 1

// toLength converts a value like ECMAScript's ToLength.
func toLength(v goja.Value) int {
	n, ok := internals.Primitive(v).(int64)
	if !ok {
		f := v.ToNumber().ToFloat()
		switch {
		case !(f > 0):
			return 0
		case f >= maxSafe:
			return maxSafe
		}
		return int(f)
	}
	return int(min(max(n, 0), maxSafe))
}

// toUint32 converts a value like ECMAScript's ToUint32.
func toUint32(v goja.Value) uint32 { return uint32(wrap(v.ToNumber().ToFloat())) }

// wrap returns the integer part of a number modulo 2^64, or 0 for NaN and the infinities.
func wrap(f float64) uint64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	f = math.Trunc(f)
	if math.Abs(f) < 1<<63 {
		return uint64(int64(f))
	}
	const two64 = 1 << 64
	f = math.Mod(f, two64)
	if f < 0 {
		return -uint64(-f)
	}
	return uint64(f)
}

// callable returns a Go function that calls v, or nil if v is no function.
func callable(v goja.Value) goja.Callable {
	f, _ := goja.AssertFunction(v)
	return f
}

// call calls a function and throws what it throws.
func (b *set) call(fn goja.Callable, this goja.Value, args ...goja.Value) goja.Value {
	v, err := fn(this, args...)
	if err != nil {
		b.Throw(err)
	}
	return v
}

// callMethod calls a method named by a symbol. It throws a TypeError if there is none.
func (b *set) callMethod(o *goja.Object, symbol *goja.Symbol, args ...goja.Value) goja.Value {
	fn := callable(o.GetSymbol(symbol))
	if fn == nil {
		b.typeError("%s is not a function", symbol.String())
	}
	return b.call(fn, o, args...)
}

// symbolFunction returns the method of an object that a symbol names, or nil where it has none. It throws a TypeError if the property
// is not a function.
func (b *set) symbolFunction(o *goja.Object, symbol *goja.Symbol) goja.Callable {
	v := o.GetSymbol(symbol)
	if isNullish(v) {
		return nil
	}
	fn := callable(v)
	if fn == nil {
		b.typeError("%s is not a function", symbol.String())
	}
	return fn
}

// species returns the constructor for objects that are derived from o, like ECMAScript's SpeciesConstructor. It is standard
// unless o names another one.
func (b *set) species(o, standard *goja.Object) *goja.Object {
	c := get(o, "constructor")
	if isUndefined(c) {
		return standard
	}
	constructor, ok := c.(*goja.Object)
	if !ok {
		b.typeError("the property constructor is not an object")
	}
	s := constructor.GetSymbol(goja.SymSpecies)
	if isNullish(s) {
		return standard
	}
	derived, ok := s.(*goja.Object)
	if !ok {
		b.typeError("Symbol.species is not a constructor")
	}
	if _, ok := goja.AssertConstructor(derived); !ok {
		b.typeError("Symbol.species is not a constructor")
	}
	return derived
}

// construct calls a constructor and throws what it throws.
func (b *set) construct(c *goja.Object, args ...goja.Value) *goja.Object {
	o, err := b.vm.New(c, args...)
	if err != nil {
		b.Throw(err)
	}
	return o
}

// wrap replaces the code of a native method by around, which receives the call and the old code. It does nothing if on has no such
// method.
func (b *set) wrap(on *goja.Object, name string, around func(goja.FunctionCall, function) goja.Value) {
	old, ok := on.Get(name).(*goja.Object)
	if !ok {
		return
	}
	native, ok := internals.NativeOf(old)
	if !ok {
		return
	}
	fn := *native.Call
	*native.Call = func(c goja.FunctionCall) goja.Value { return around(c, fn) }
}

// defineKey creates a property like define, with any text as its name, and reports whether the object took it.
func (b *set) defineKey(o *goja.Object, key goja.String, v goja.Value) bool {
	desc := b.vm.CreateObject(nil)
	for _, name := range []string{"writable", "enumerable", "configurable"} {
		define(desc, name, b.vm.ToValue(true))
	}
	define(desc, "value", v)
	return b.call(b.defineOwn, nil, o, key, desc).ToBoolean()
}

// A lazy defines builtins before the first text that contains one of some words runs.
type lazy struct {
	words []string
	load  func()
	done  bool
}

// wanted registers define, which defines builtins before the first text that contains one of some words runs.
func (b *set) wanted(define func() error, words ...string) *lazy {
	l := &lazy{words: words}
	l.load = func() {
		if l.done {
			return
		}
		l.done = true
		if err := define(); err != nil {
			b.Throw(err)
		}
	}
	b.lazy = append(b.lazy, l)
	return l
}

// wantedGlobals defines globals before the first text with one of their names runs, or when one is used under a computed name.
// Until then they are accessors.
func (b *set) wantedGlobals(define func() error, names ...string) {
	l := b.wanted(define, names...)
	for _, name := range names {
		get := b.vm.ToValue(func(goja.FunctionCall) goja.Value {
			l.load()
			return b.global.Get(name)
		})
		set := b.vm.ToValue(func(c goja.FunctionCall) goja.Value {
			l.load()
			b.put(b.global, name, c.Argument(0))
			return goja.Undefined()
		})
		_ = b.global.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
}
