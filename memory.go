package orepl

import (
	"unsafe"

	"github.com/orepl/orepl/bindings/offloadjs/pipelines"
	contract "github.com/orepl/orepl/runtime/offload"
)

// source is an input of a pipeline.
type source interface{ input(*pipelines.Input) }

// destination is an output of a pipeline.
type destination interface{ output(*pipelines.Output) }

func (a Array[T]) input(in *pipelines.Input) {
	in.Type, in.Data, in.Dims = typeOf[T](), bytesOf(a.Data), a.Shape
	if in.Dims == nil {
		in.Dims = []int{len(a.Data)}
	}
}

func (a *Array[T]) output(out *pipelines.Output) {
	out.Type = typeOf[T]()
	out.Store = func(dims []int) ([]byte, error) {
		if a == nil {
			return nil, errNilPointer
		}
		a.Shape = append(a.Shape[:0], dims...)
		a.Data = resized(a.Data, dims)
		return bytesOf(a.Data), nil
	}
}

// slicePointer is a destination without a shape.
type slicePointer[T Element] struct{ to *[]T }

func (p slicePointer[T]) output(out *pipelines.Output) {
	out.Type = typeOf[T]()
	out.Store = func(dims []int) ([]byte, error) {
		if p.to == nil {
			return nil, errNilPointer
		}
		*p.to = resized(*p.to, dims)
		return bytesOf(*p.to), nil
	}
}

// resized returns a slice whose length is the product of the extents. It reuses s if the capacity suffices.
func resized[T any](s []T, dims []int) []T {
	n := 1
	for _, d := range dims {
		n *= d
	}
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// bytesOf returns the memory of a slice, without a copy. It returns nil for an empty slice.
func bytesOf[T Element](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

func typeOf[T Element]() contract.Type {
	switch any(*new(T)).(type) {
	case int8:
		return contract.I8
	case uint8:
		return contract.U8
	case int16:
		return contract.I16
	case uint16:
		return contract.U16
	case int32:
		return contract.I32
	case uint32:
		return contract.U32
	case int64:
		return contract.I64
	case uint64:
		return contract.U64
	case float32:
		return contract.F32
	}
	return contract.F64
}

// sliceOf returns the type, the memory and the length of a slice of any element type. It returns false for other values.
func sliceOf(x any) (contract.Type, []byte, []int, bool) {
	switch s := x.(type) {
	case []int8:
		return contract.I8, bytesOf(s), []int{len(s)}, true
	case []uint8:
		return contract.U8, bytesOf(s), []int{len(s)}, true
	case []int16:
		return contract.I16, bytesOf(s), []int{len(s)}, true
	case []uint16:
		return contract.U16, bytesOf(s), []int{len(s)}, true
	case []int32:
		return contract.I32, bytesOf(s), []int{len(s)}, true
	case []uint32:
		return contract.U32, bytesOf(s), []int{len(s)}, true
	case []int64:
		return contract.I64, bytesOf(s), []int{len(s)}, true
	case []uint64:
		return contract.U64, bytesOf(s), []int{len(s)}, true
	case []float32:
		return contract.F32, bytesOf(s), []int{len(s)}, true
	case []float64:
		return contract.F64, bytesOf(s), []int{len(s)}, true
	}
	return 0, nil, nil, false
}

// destinationOf returns the destination for a pointer to a slice of any element type, or for a picture. It returns false
// for other values.
func destinationOf(x any) (destination, bool) {
	if p, ok := pictureOf(x); ok {
		return p, true
	}
	switch s := x.(type) {
	case *[]int8:
		return slicePointer[int8]{s}, true
	case *[]uint8:
		return slicePointer[uint8]{s}, true
	case *[]int16:
		return slicePointer[int16]{s}, true
	case *[]uint16:
		return slicePointer[uint16]{s}, true
	case *[]int32:
		return slicePointer[int32]{s}, true
	case *[]uint32:
		return slicePointer[uint32]{s}, true
	case *[]int64:
		return slicePointer[int64]{s}, true
	case *[]uint64:
		return slicePointer[uint64]{s}, true
	case *[]float32:
		return slicePointer[float32]{s}, true
	case *[]float64:
		return slicePointer[float64]{s}, true
	}
	return nil, false
}
