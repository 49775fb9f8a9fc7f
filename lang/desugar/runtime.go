package desugar

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/dop251/goja"
)

//go:embed runtime.js
var runtimeText string

var compiled = sync.OnceValues(func() (*goja.Program, error) { return goja.Compile("orepl:generators.js", runtimeText, true) })

// Intrinsics are functions of an interpreter, read before any script could replace them.
type Intrinsics struct {
	values []goja.Value
}

// NewIntrinsics reads the functions that the runtime uses. generators is the prototype of generators.
func NewIntrinsics(vm *goja.Runtime, generators *goja.Object) *Intrinsics {
	global := vm.GlobalObject()
	of := func(name string) *goja.Object { return global.Get(name).(*goja.Object) }
	reflect, object, symbol := of("Reflect"), of("Object"), of("Symbol")
	symbols := vm.NewObject()
	for _, name := range []string{"asyncIterator", "iterator", "toStringTag", "dispose", "asyncDispose"} {
		if s := symbol.Get(name); s != nil {
			_ = symbols.Set(name, s)
		}
	}
	return &Intrinsics{values: []goja.Value{
		reflect.Get("apply"), object.Get("setPrototypeOf"), object.Get("getPrototypeOf"), object.Get("defineProperty"),
		object.Get("getOwnPropertyDescriptor"), object.Get("create"), object.Get("freeze"),
		generators.Get("next"), generators.Get("throw"), generators.Get("return"), symbols, global.Get("Promise"), global.Get("TypeError"), nil,
	}}
}

// New creates the functions that lowered code calls: the value of the parameter [Runtime], and the prototype of asynchronous
// generator functions. suppressed makes the error of a disposal that failed after another error.
func New(vm *goja.Runtime, x *Intrinsics, suppressed func(err, earlier goja.Value) goja.Value) (runtime, functions *goja.Object, err error) {
	program, err := compiled()
	if err != nil {
		return nil, nil, fmt.Errorf("the functions of lowered code: %w", err)
	}
	v, err := vm.RunProgram(program)
	if err != nil {
		return nil, nil, err
	}
	make, _ := goja.AssertFunction(v)
	args := append([]goja.Value(nil), x.values...)
	args[len(args)-1] = vm.ToValue(func(c goja.FunctionCall) goja.Value { return suppressed(c.Argument(0), c.Argument(1)) })
	made, err := make(goja.Undefined(), args...)
	if err != nil {
		return nil, nil, err
	}
	o := made.(*goja.Object)
	return o.Get("0").(*goja.Object), o.Get("1").(*goja.Object), nil
}
