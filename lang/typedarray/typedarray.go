// Package typedarray shares memory between typed arrays of scripts and Go.
package typedarray

import (
	"reflect"
	"unsafe"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/internals"
)

// Element is a Go type whose slices scripts see as typed arrays.
type Element interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// Memory returns the memory of values as bytes, without a copy. It returns nil for an empty slice.
func Memory[T Element](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

// Class returns the name of the class of typed arrays whose elements have the type of zero.
func Class(zero any) string {
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

// Bytes returns the memory of a typed array, DataView or ArrayBuffer, without copying. It recognizes a DataView by its properties. It
// returns false for other values.
func Bytes(v goja.Value) ([]byte, bool) {
	o, ok := v.(*goja.Object)
	if !ok {
		return nil, false
	}
	switch t := o.ExportType(); {
	case t == reflect.TypeFor[goja.ArrayBuffer]():
		return o.Export().(goja.ArrayBuffer).Bytes(), true
	case t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Interface: // excludes arrays, which Export copies
		return memoryOf(internals.Export(o))
	}
	buffer, ok := o.Get("buffer").(*goja.Object)
	if !ok || !internals.IsBuffer(buffer) {
		return nil, false
	}
	memory := buffer.Export().(goja.ArrayBuffer).Bytes()
	offset, length := o.Get("byteOffset"), o.Get("byteLength")
	if offset == nil || length == nil {
		return nil, false
	}
	from, n := int(offset.ToInteger()), int(length.ToInteger())
	if from < 0 || n < 0 || from > len(memory) || n > len(memory)-from {
		return nil, false
	}
	return memory[from : from+n : from+n], true
}

// memoryOf returns the memory of an exported typed array as bytes, or false for other values.
func memoryOf(exported any) ([]byte, bool) {
	switch s := exported.(type) {
	case []uint8:
		return s, true
	case []int8:
		return Memory(s), true
	case []uint16:
		return Memory(s), true
	case []int16:
		return Memory(s), true
	case []uint32:
		return Memory(s), true
	case []int32:
		return Memory(s), true
	case []uint64:
		return Memory(s), true
	case []int64:
		return Memory(s), true
	case []float32:
		return Memory(s), true
	case []float64:
		return Memory(s), true
	}
	return nil, false
}
