package lang

import (
	"reflect"
	"sync"

	"github.com/dop251/goja"
)

// intrinsics are functions of the interpreter that the engine itself calls. They are read before any script runs: a
// script may replace globals.
type intrinsics struct {
	then, parse, stringify, arrayFrom goja.Callable
	next, throw                       goja.Callable // of generators
	preventExtensions                 goja.Callable // of Object
	call                              goja.Callable // calls its argument from code of the script
	power, powerOf, shift             goja.Value    // the functions for ** and **=, and for << in a text that uses BigInts; see Engine.defineOperators
	times                             goja.Value    // the function for * in a text that uses BigInts
	spread                            goja.Value    // (value): value, checked for its length before it is spread
	evalText                          goja.Value    // (text): the text that eval compiles in its place; see Engine.boundCompilers
	get                               goja.Callable // Reflect.get: it ends with an interrupt, as the interpreter's Try does not

	bind     goja.Callable // Function.prototype.bind
	describe goja.Callable // Object.getOwnPropertyDescriptor
	symbol   *goja.Object
	errors   map[string]*goja.Object
	arrays   map[string]*goja.Object // constructors of typed arrays
	newMap   *goja.Object
	mapGet   goja.Callable
	mapSet   goja.Callable
	noScript goja.Callable // a function of the script that does nothing: running it lets an interrupt through
}

var errorClasses = []string{"Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError"}

var arrayClasses = []string{
	"Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
	"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
}

func newIntrinsics(vm *goja.Runtime) *intrinsics {
	global := vm.GlobalObject()
	object := func(on *goja.Object, name string) *goja.Object { return on.Get(name).(*goja.Object) }
	function := func(on *goja.Object, name string) goja.Callable {
		f, _ := goja.AssertFunction(on.Get(name))
		return f
	}
	json, promise, array, maps := object(global, "JSON"), object(global, "Promise"), object(global, "Array"), object(global, "Map")
	x := &intrinsics{
		parse: function(json, "parse"), stringify: function(json, "stringify"), arrayFrom: function(array, "from"),
		get:  function(object(global, "Reflect"), "get"),
		bind: function(object(object(global, "Function"), "prototype"), "bind"),
		then: function(object(promise, "prototype"), "then"), symbol: object(global, "Symbol"),
		newMap: maps, mapGet: function(object(maps, "prototype"), "get"), mapSet: function(object(maps, "prototype"), "set"),
		errors: map[string]*goja.Object{}, arrays: map[string]*goja.Object{},
	}
	own := func(text string) goja.Value {
		v, err := runOwn(vm, "", text)
		if err != nil {
			panic(err) // a text of ours
		}
		return v
	}
	x.call, _ = goja.AssertFunction(own("(function (fn) { fn() })"))
	generators := own("(function* () {})()").(*goja.Object).Prototype().Prototype()
	x.preventExtensions = function(object(global, "Object"), "preventExtensions")
	x.describe = function(object(global, "Object"), "getOwnPropertyDescriptor")
	x.next, x.throw = function(generators, "next"), function(generators, "throw")
	for _, name := range errorClasses {
		x.errors[name] = object(global, name)
	}
	for _, name := range arrayClasses {
		x.arrays[name] = object(global, name)
	}
	return x
}

var ownTexts sync.Map // of *goja.Program by text

// runOwn runs a constant text of the engine, which is compiled once for all engines.
func runOwn(vm *goja.Runtime, name, text string) (goja.Value, error) {
	p, ok := ownTexts.Load(text)
	if !ok {
		compiled, err := goja.Compile(name, text, false)
		if err != nil {
			return nil, err
		}
		p, _ = ownTexts.LoadOrStore(text, compiled)
	}
	return vm.RunProgram(p.(*goja.Program))
}

// OwnProperty returns the descriptor of an object's own property, or nil if it has none, without running a getter: by
// Object.getOwnPropertyDescriptor as it was before any script ran. Call it on the loop's goroutine.
func (e *Engine) OwnProperty(o *goja.Object, name string) *goja.Object {
	d, err := e.intrinsics.describe(goja.Undefined(), o, e.vm.ToValue(name))
	desc, ok := d.(*goja.Object)
	if err != nil || !ok {
		return nil
	}
	return desc
}

// isTypedArray uses the interpreter's own class of the object, not its properties.
func isTypedArray(o *goja.Object) bool {
	t := o.ExportType()
	return t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Interface && o.ClassName() == "Object"
}
