package lang

import (
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// Element is a Go type whose slices scripts see as typed arrays.
type Element interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// TypedArray returns a typed array that shares the memory of values.
func TypedArray[T Element](e *Engine, values []T) (*goja.Object, error) {
	var zero T
	return e.TypedArray(arrayClass(any(zero)), bytesOf(values))
}

// bytesOf returns the memory of values as bytes.
func bytesOf[T Element](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
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

func arrayClass(zero any) string {
	switch zero.(type) {
	case int8:
		return "Int8Array"
	case uint8:
		return "Uint8Array"
	case int16:
		return "Int16Array"
	case uint16:
		return "Uint16Array"
	case int32:
		return "Int32Array"
	case uint32:
		return "Uint32Array"
	case int64:
		return "BigInt64Array"
	case uint64:
		return "BigUint64Array"
	case float32:
		return "Float32Array"
	default:
		return "Float64Array"
	}
}
