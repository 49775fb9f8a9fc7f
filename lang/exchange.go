package lang

import (
	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/arguments"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/typedarray"
)

// Args reads the arguments of a call of a native function.
type Args = arguments.Reader

// ArgumentError reports a wrong argument in a script's call of a native function. Scripts see it as a TypeError.
type ArgumentError = arguments.Error

// Args returns a reader for the arguments of a call of the named function.
func (e *Engine) Args(name string, call goja.FunctionCall) *Args {
	return arguments.New(name, call, e)
}

// TypedArray returns a typed array that shares the memory of values.
func TypedArray[T typedarray.Element](e *Engine, values []T) (*goja.Object, error) {
	var zero T
	return e.TypedArray(typedarray.Class(any(zero)), typedarray.Memory(values))
}

// TypedArray returns a typed array of a class such as "Float32Array" that shares memory, which must be aligned for its
// elements.
func (e *Engine) TypedArray(class string, memory []byte) (*goja.Object, error) {
	ctor := e.intrinsics.arrays[class]
	if ctor == nil {
		return nil, diag.New("invalid-argument", "there is no class %q of typed arrays", class)
	}
	return e.vm.New(ctor, e.vm.ToValue(e.vm.NewArrayBuffer(memory)))
}

// Bytes returns the memory of a typed array, DataView or ArrayBuffer, without copying, or false for other values.
func (e *Engine) Bytes(v goja.Value) ([]byte, bool) { return typedarray.Bytes(v) }
