package interp

import (
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
)

// atomic compiles an Atomic, or returns nil if the type lacks the operation. Lanes execute in order.
func (c *compiler) atomic(in *ir.Instr) step {
	a := c.access(in)
	d := c.reg(in.Result())
	var x, y int
	if n := in.NumIndices(); len(in.Args) > n {
		x, y = c.reg(in.Args[n]), c.reg(in.Args[len(in.Args)-1])
	}
	if a.scalar.Size() == 4 {
		return updating(a, d, x, y, in.Atomic, atomic32(a.scalar, in.Atomic), atomic.CompareAndSwapUint32, atomic.LoadUint32)
	}
	return updating(a, d, x, y, in.Atomic, atomic64(a.scalar, in.Atomic), atomic.CompareAndSwapUint64, atomic.LoadUint64)
}

// updating returns the step of an atomic operation; next computes the element's new value. It returns nil if next is nil,
// as it is for operations that the type lacks.
func updating[T unsigned](a *access, d, x, y int, kind ir.AtomicKind, next func(old, x T) T, swap func(*T, T, T) bool,
	load func(*T) T) step {
	if next == nil {
		return nil
	}
	size := a.scalar.Size()
	return func(f *frame, lanes []uint8) {
		in, base := a.resolve(f, lanes)
		xs, ys := at[T](f, x), at[T](f, y)
		for _, i := range in {
			p := (*T)(unsafe.Add(base, f.addr[i]))
			old := load(p)
			switch kind {
			case ir.AtomicLoad:
			case ir.AtomicCompareExchange:
				for old == xs[i] && !swap(p, old, ys[i]) {
					old = load(p)
				}
			default:
				for !swap(p, old, next(old, xs[i])) {
					old = load(p)
				}
			}
			at[T](f, d)[i] = old
		}
		if f.left {
			f.zero(d, size, lanes)
		}
		f.settle()
	}
}

func atomic32(t ir.Type, kind ir.AtomicKind) func(old, x uint32) uint32 {
	switch t {
	case ir.I32:
		if next := integerUpdate[uint32](kind); next != nil {
			return next
		}
		return viaInt(orderedUpdate[int32](kind))
	case ir.U32:
		if next := integerUpdate[uint32](kind); next != nil {
			return next
		}
		return orderedUpdate[uint32](kind)
	case ir.F32:
		if next := floatUpdate[float32](kind); next != nil {
			return func(old, x uint32) uint32 {
				return bits32(next(math.Float32frombits(old), math.Float32frombits(x)))
			}
		}
		return anyUpdate[uint32](kind)
	}
	return nil
}

func atomic64(t ir.Type, kind ir.AtomicKind) func(old, x uint64) uint64 {
	switch t {
	case ir.I64:
		if next := integerUpdate[uint64](kind); next != nil {
			return next
		}
		return viaInt64(orderedUpdate[int64](kind))
	case ir.U64:
		if next := integerUpdate[uint64](kind); next != nil {
			return next
		}
		return orderedUpdate[uint64](kind)
	case ir.F64:
		if next := floatUpdate[float64](kind); next != nil {
			return func(old, x uint64) uint64 {
				return bits64(next(math.Float64frombits(old), math.Float64frombits(x)))
			}
		}
		return anyUpdate[uint64](kind)
	}
	return nil
}

func viaInt(next func(old, x int32) int32) func(old, x uint32) uint32 {
	return func(old, x uint32) uint32 { return uint32(next(int32(old), int32(x))) }
}

func viaInt64(next func(old, x int64) int64) func(old, x uint64) uint64 {
	return func(old, x uint64) uint64 { return uint64(next(int64(old), int64(x))) }
}

// integerUpdate returns the update function of an operation that does not depend on the sign, or nil for Min and Max.
func integerUpdate[T unsigned](kind ir.AtomicKind) func(old, x T) T {
	switch kind {
	case ir.AtomicAdd:
		return func(old, x T) T { return old + x }
	case ir.AtomicSub:
		return func(old, x T) T { return old - x }
	case ir.AtomicAnd:
		return func(old, x T) T { return old & x }
	case ir.AtomicOr:
		return func(old, x T) T { return old | x }
	case ir.AtomicXor:
		return func(old, x T) T { return old ^ x }
	}
	return anyUpdate[T](kind)
}

// orderedUpdate returns the update function of Min or Max of integers.
func orderedUpdate[T integer](kind ir.AtomicKind) func(old, x T) T {
	if kind == ir.AtomicMin {
		return func(old, x T) T { return min(old, x) }
	}
	return func(old, x T) T { return max(old, x) }
}

// floatUpdate returns the update function of Add, Sub, Min or Max of floats, or nil for other operations.
func floatUpdate[T float](kind ir.AtomicKind) func(old, x T) T {
	switch kind {
	case ir.AtomicAdd:
		return func(old, x T) T { return old + x }
	case ir.AtomicSub:
		return func(old, x T) T { return old - x }
	case ir.AtomicMin:
		return fmin[T]
	case ir.AtomicMax:
		return fmax[T]
	}
	return nil
}

// anyUpdate returns the update function of an operation that only moves bits, or nil for others.
func anyUpdate[T unsigned](kind ir.AtomicKind) func(old, x T) T {
	switch kind {
	case ir.AtomicExchange, ir.AtomicStore:
		return func(_, x T) T { return x }
	case ir.AtomicLoad, ir.AtomicCompareExchange:
		return func(old, _ T) T { return old }
	}
	return nil
}
