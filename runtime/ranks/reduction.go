package ranks

import (
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

// Reduction is an operation that combines two elements.
type Reduction int

// The reductions. Integers wrap; Min and Max order numbers as Math.min and Math.max do.
const (
	Sum Reduction = iota
	Product
	Min
	Max
)

// String returns the name of a reduction.
func (r Reduction) String() string {
	if names := [...]string{"sum", "product", "min", "max"}; r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return "an unknown reduction"
}

// Reduces reports whether elements of a type can be reduced.
func Reduces(t offload.Type) bool {
	switch t {
	case offload.I8, offload.U8, offload.I16, offload.U16, offload.I32, offload.U32, offload.I64, offload.U64, offload.F32, offload.F64:
		return true
	}
	return false
}

// fold sets result to the combination of the arrays of a list in order, element by element. The list is not empty, its arrays are as
// long as result, and the memory of result is aligned for its elements.
func (r Reduction) fold(t offload.Type, result []byte, list [][]byte) {
	if len(list) == 1 {
		copy(result, list[0])
		return
	}
	before := list[0]
	for _, next := range list[1:] {
		switch t {
		case offload.I8:
			combine[int8](r, result, before, next)
		case offload.U8:
			combine[uint8](r, result, before, next)
		case offload.I16:
			combine[int16](r, result, before, next)
		case offload.U16:
			combine[uint16](r, result, before, next)
		case offload.I32:
			combine[int32](r, result, before, next)
		case offload.U32:
			combine[uint32](r, result, before, next)
		case offload.I64:
			combine[int64](r, result, before, next)
		case offload.U64:
			combine[uint64](r, result, before, next)
		case offload.F32:
			combine[float32](r, result, before, next)
		case offload.F64:
			combine[float64](r, result, before, next)
		}
		before = result
	}
}

type number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// combine sets each element of zs to the combination of the elements of ys and xs at the same index. The memory of zs is aligned for its
// elements.
func combine[T number](r Reduction, zs, ys, xs []byte) {
	z, y, x := elements[T](zs), elements[T](ys), elements[T](xs)
	y, x = y[:len(z)], x[:len(z)]
	switch r {
	case Sum:
		for i := range z {
			z[i] = y[i] + x[i]
		}
	case Product:
		for i := range z {
			z[i] = y[i] * x[i]
		}
	case Min:
		for i := range z {
			z[i] = min(y[i], x[i])
		}
	case Max:
		for i := range z {
			z[i] = max(y[i], x[i])
		}
	}
}

// elements returns memory as elements, or a copy of it if it is not aligned for them.
func elements[T number](b []byte) []T {
	size := int(unsafe.Sizeof(*new(T)))
	n := len(b) / size
	if n == 0 {
		return nil
	}
	if uintptr(unsafe.Pointer(&b[0]))%uintptr(size) == 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
	}
	list := make([]T, n)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), n*size), b)
	return list
}
