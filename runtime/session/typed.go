package session

import (
	"context"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

// Scalar is a Go type with a buffer type of the same representation. f16, bf16 and records have no such Go type: their buffers are read
// and written by [Queue.Read] and [Queue.Write], or through a view of bytes.
type Scalar interface {
	bool | int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// TypeOf returns the buffer type of a Go type.
func TypeOf[T Scalar]() offload.Type {
	var zero T
	switch any(zero).(type) {
	case bool:
		return offload.Bool
	case int8:
		return offload.I8
	case uint8:
		return offload.U8
	case int16:
		return offload.I16
	case uint16:
		return offload.U16
	case int32:
		return offload.I32
	case uint32:
		return offload.U32
	case int64:
		return offload.I64
	case uint64:
		return offload.U64
	case float32:
		return offload.F32
	default:
		return offload.F64
	}
}

// Bytes returns the memory of a slice, without a copy. It returns nil for an empty slice.
func Bytes[T Scalar](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// BufferOf returns a one-dimensional buffer of the device with the contents of src, and waits until it has been copied.
func BufferOf[T Scalar](ctx context.Context, d *Device, label string, src []T) (*Buffer, error) {
	b, err := d.NewBuffer(BufferOptions{Type: TypeOf[T](), Dims: []int{len(src)}, Label: label, Uninitialized: len(src) > 0})
	if err != nil {
		return nil, err
	}
	if err := Write(ctx, b, 0, src); err != nil {
		_ = b.Free() // the failed write is the error to report
		return nil, err
	}
	return b, nil
}

// Write copies src into a buffer of its type, starting at element at, on the device's default queue, and waits.
func Write[T Scalar](ctx context.Context, b *Buffer, at int64, src []T) error {
	if err := sameType[T]("write", b); err != nil {
		return err
	}
	q, err := b.Device().Queue()
	if err != nil {
		return err
	}
	if err := q.Write(b, at, Bytes(src)); err != nil {
		return err
	}
	return q.Sync(ctx)
}

// Read copies n elements, starting at element at, from a buffer of their type on the device's default queue, and waits. A
// negative n means all remaining elements.
func Read[T Scalar](ctx context.Context, b *Buffer, at, n int64) ([]T, error) {
	if err := sameType[T]("read", b); err != nil {
		return nil, err
	}
	if n < 0 {
		n = b.Len() - at
	}
	if at < 0 || n < 0 || n > b.Len()-at {
		return nil, b.fail(offload.InvalidSize, "read", "elements %d to %d are not all in the buffer, which has %d", at, at+max(n, 1)-1, b.Len())
	}
	q, err := b.Device().Queue()
	if err != nil {
		return nil, err
	}
	dst := make([]T, n)
	if err := q.Read(Bytes(dst), b, at); err != nil {
		return nil, err
	}
	return dst, q.Sync(ctx)
}

func sameType[T Scalar](op string, b *Buffer) error {
	if want := TypeOf[T](); b.typ != want {
		return b.fail(offload.InvalidArgument, op, "the buffer has elements of type %v, not %v", b.typ, want).
			WithHint("use the Go type of %v, or a view of type %v", b.typ, want)
	}
	return nil
}
