package lang

import (
	"sync"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/desugar"
	"github.com/orepl/orepl/lang/instructions"
	"github.com/orepl/orepl/lang/operators"
)

// intrinsics holds the interpreter's functions that the engine calls. They are read before any script runs, because scripts may
// replace globals.
type intrinsics struct {
	then, parse, stringify, arrayFrom goja.Callable
	text                              goja.Callable // String
	call                              goja.Callable // calls its argument from script code
	operators                         *operators.Operators
	spread                            goja.Value    // (value): value, with its length checked for a spread
	evalText                          goja.Value    // (text): the text that eval compiles instead; see Engine.boundCompilers
	get                               goja.Callable // Reflect.get; unlike the interpreter's Try it observes interrupts

	describe   goja.Callable // Object.getOwnPropertyDescriptor
	symbol     *goja.Object
	errors     map[string]*goja.Object
	arrays     map[string]*goja.Object // constructors of typed arrays
	lowered    *desugar.Intrinsics     // what lowered code uses
	generators *goja.Object            // the prototype of generators
	noScript   goja.Callable           // empty script function, whose call checks for interrupts; nil before the first use
}

// list returns the functions that compiled texts call for operators, spreads and eval, in the order of package source's
// parameters. An operator that no text so far needs is undefined.
func (x *intrinsics) list() []goja.Value {
	o := x.operators
	list := []goja.Value{o.Power, o.PowerOf, o.Shift, o.Times, x.spread, x.evalText}
	for at, v := range list {
		if v == nil { // no text so far needs the operators
			list[at] = goja.Undefined()
		}
	}
	return list
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
	json, promise, array := object(global, "JSON"), object(global, "Promise"), object(global, "Array")
	x := &intrinsics{
		parse: function(json, "parse"), stringify: function(json, "stringify"), arrayFrom: function(array, "from"),
		get:  function(object(global, "Reflect"), "get"),
		then: function(object(promise, "prototype"), "then"), symbol: object(global, "Symbol"),
		errors: map[string]*goja.Object{}, arrays: map[string]*goja.Object{},
	}
	own := func(text string) goja.Value {
		v, err := runOwn(vm, "", text)
		if err != nil {
			panic(err) // the text is a constant of the engine
		}
		return v
	}
	x.text, _ = goja.AssertFunction(global.Get("String"))
	x.call, _ = goja.AssertFunction(own("(function (fn) { fn() })"))
	generators := own("(function* () {})()").(*goja.Object).Prototype().Prototype()
	x.describe = function(object(global, "Object"), "getOwnPropertyDescriptor")
	x.generators = generators
	for _, name := range errorClasses {
		x.errors[name] = object(global, name)
	}
	for _, name := range arrayClasses {
		x.arrays[name] = object(global, name)
	}
	return x
}

var ownTexts sync.Map // maps texts to *goja.Program

// runOwn runs a constant text of the engine, which is compiled once per process.
func runOwn(vm *goja.Runtime, name, text string) (goja.Value, error) {
	p, ok := ownTexts.Load(text)
	if !ok {
		compiled, err := goja.Compile(name, text, false)
		if err != nil {
			return nil, err
		}
		if err := instructions.Correct(compiled); err != nil {
			return nil, err
		}
		p, _ = ownTexts.LoadOrStore(text, compiled)
	}
	return vm.RunProgram(p.(*goja.Program))
}

// OwnProperty returns the descriptor of an own property without running a getter. It returns nil if there is none, or a proxy
// throws. It uses the original Object.getOwnPropertyDescriptor and must be called on the loop's goroutine.
func (e *Engine) OwnProperty(o *goja.Object, name string) *goja.Object {
	d, err := e.intrinsics.describe(goja.Undefined(), o, e.vm.ToValue(name))
	desc, ok := d.(*goja.Object)
	if err != nil || !ok {
		return nil
	}
	return desc
}
