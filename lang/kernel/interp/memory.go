package interp

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/ir/scalar"
)

// memory is an array during a run.
type memory struct {
	base unsafe.Pointer // private array: of lane 0 of row 0
	dims [3]uint64      // Global: extents, outermost first
}

// term is an index of an access.
type term struct {
	reg    int     // register of the index
	index  ir.Type // type of the index
	stride uint64  // in bytes
	inner  int     // number of trailing extents of a Global array that multiply the stride
	extent int     // as in [ir.Resolved.Extents]
	proved bool    // the index needs no check
}

// access is the compiled path of a memory access.
type access struct {
	array  *ir.Array
	site   int
	scalar ir.Type // storage type of the element
	offset uint64  // constant part of the byte offset
	terms  []term
	lane   uint64 // private arrays: bytes between lanes
	writes bool
	atomic bool
	zeros  bool // the initial zeros of the array may be read
}

// resolve computes the offsets of the lanes in f.addr. It returns the lanes in bounds and the base address of the offsets. It
// marks the other lanes in f.bad, and they fault unless faults are disabled.
func (a *access) resolve(f *frame, lanes []uint8) ([]uint8, unsafe.Pointer) {
	m := &f.w.arrays[a.array.ID]
	base := m.base
	if a.lane != 0 {
		base = unsafe.Add(base, uint64(f.row)*width*a.lane)
		for _, i := range lanes {
			f.addr[i] = a.offset + uint64(i)*a.lane
		}
	}
	for k := range a.terms {
		t := &a.terms[k]
		extent, stride := t.bounds(m, a.array.Rank)
		if k == 0 && a.lane == 0 {
			switch t.index {
			case ir.I32:
				firstIndex[int32](a, f, lanes, k, extent, stride)
			case ir.U32:
				firstIndex[uint32](a, f, lanes, k, extent, stride)
			default:
				firstIndex[uint64](a, f, lanes, k, extent, stride)
			}
		} else {
			switch t.index {
			case ir.I32:
				nextIndex[int32](a, f, lanes, k, extent, stride)
			case ir.U32:
				nextIndex[uint32](a, f, lanes, k, extent, stride)
			default:
				nextIndex[uint64](a, f, lanes, k, extent, stride)
			}
		}
		if f.left {
			lanes = f.remaining(lanes)
		}
	}
	if f.w.races != nil {
		f.w.races.access(f, a, lanes, base)
	}
	return lanes, base
}

// bounds returns the extent of an index and its stride. The extent of a proved index is the maximum, so its check never fails.
func (t *term) bounds(m *memory, rank int) (extent, stride uint64) {
	stride = t.stride
	for n := rank - t.inner; n < rank; n++ {
		stride *= m.dims[n]
	}
	switch {
	case t.proved:
		extent = ^uint64(0)
	case t.extent >= 0:
		extent = uint64(t.extent)
	case t.extent == ir.Flat:
		extent = 1
		for _, d := range m.dims[:rank] {
			extent *= d
		}
	default:
		extent = m.dims[-1-t.extent]
	}
	return extent, stride
}

func firstIndex[I int32 | uint32 | uint64](a *access, f *frame, lanes []uint8, k int, extent, stride uint64) {
	x := at[I](f, a.terms[k].reg)
	offset := a.offset
	for _, i := range lanes {
		n := uint64(x[i])
		if n >= extent {
			f.outOfBounds(a, k, i, n, extent)
			continue
		}
		f.addr[i] = offset + n*stride
	}
}

func nextIndex[I int32 | uint32 | uint64](a *access, f *frame, lanes []uint8, k int, extent, stride uint64) {
	x := at[I](f, a.terms[k].reg)
	for _, i := range lanes {
		n := uint64(x[i])
		if n >= extent {
			f.outOfBounds(a, k, i, n, extent)
			continue
		}
		f.addr[i] += n * stride
	}
}

// outOfBounds removes a lane from an access; the lane faults unless faults are disabled.
func (f *frame) outOfBounds(a *access, axis int, lane uint8, index, extent uint64) {
	f.leave(lane)
	if f.w.launch.Unchecked {
		return
	}
	if fault := f.fault(lane, OutOfBounds, a.site); fault != nil {
		fault.Array, fault.Axis, fault.Index, fault.Extent = a.array, axis, int64(index), int64(extent)
		fault.unsigned = a.terms[axis].index == ir.U64
	}
}

// settle ends an access: if faults are disabled, out-of-bounds lanes stay active.
func (f *frame) settle() {
	if f.left && f.w.launch.Unchecked {
		f.bad, f.left = set{}, false
	}
}

// load returns the step of a Load.
func (a *access) load(d int) step {
	var fetch func(f *frame, lanes []uint8, base unsafe.Pointer)
	switch a.scalar {
	case ir.Bool:
		fetch = loading(d, func(x uint8) uint8 { return truth(x != 0) })
	case ir.I8:
		fetch = loading(d, func(x int8) int32 { return int32(x) })
	case ir.U8:
		fetch = loading(d, func(x uint8) int32 { return int32(x) })
	case ir.I16:
		fetch = loading(d, func(x int16) int32 { return int32(x) })
	case ir.U16:
		fetch = loading(d, func(x uint16) int32 { return int32(x) })
	case ir.F16:
		fetch = loading(d, scalar.HalfToFloat)
	case ir.BF16:
		fetch = loading(d, brainValue)
	case ir.I32, ir.U32, ir.F32:
		fetch = loadingSame[uint32](d)
	case ir.I64, ir.U64, ir.F64:
		fetch = loadingSame[uint64](d)
	}
	size := a.scalar.Value().Size()
	return func(f *frame, lanes []uint8) {
		in, base := a.resolve(f, lanes)
		fetch(f, in, base)
		if f.left {
			f.zero(d, size, lanes)
		}
		f.settle()
	}
}

// zero clears a register in the marked lanes.
func (f *frame) zero(d, size int, lanes []uint8) {
	for _, i := range lanes {
		if !f.bad.has(i) {
			continue
		}
		switch size {
		case 1:
			at[uint8](f, d)[i] = 0
		case 4:
			at[uint32](f, d)[i] = 0
		default:
			at[uint64](f, d)[i] = 0
		}
	}
}

func loading[S, D any](d int, convert func(S) D) func(f *frame, lanes []uint8, base unsafe.Pointer) {
	return func(f *frame, lanes []uint8, base unsafe.Pointer) {
		d := at[D](f, d)
		for _, i := range lanes {
			d[i] = convert(*(*S)(unsafe.Add(base, f.addr[i])))
		}
	}
}

func loadingSame[T any](d int) func(f *frame, lanes []uint8, base unsafe.Pointer) {
	return func(f *frame, lanes []uint8, base unsafe.Pointer) {
		d := at[T](f, d)
		for _, i := range lanes {
			d[i] = *(*T)(unsafe.Add(base, f.addr[i]))
		}
	}
}

// store returns the step of a Store of a register.
func (a *access) store(x int) step {
	var put func(f *frame, lanes []uint8, base unsafe.Pointer)
	switch a.scalar {
	case ir.Bool:
		put = storingSame[uint8](x)
	case ir.I8, ir.U8:
		put = storing(x, func(v uint32) uint8 { return uint8(v) })
	case ir.I16, ir.U16:
		put = storing(x, func(v uint32) uint16 { return uint16(v) })
	case ir.F16:
		put = storing(x, scalar.FloatToHalf)
	case ir.BF16:
		put = storing(x, brainBits)
	case ir.I32, ir.U32, ir.F32:
		put = storingSame[uint32](x)
	case ir.I64, ir.U64, ir.F64:
		put = storingSame[uint64](x)
	}
	return func(f *frame, lanes []uint8) {
		in, base := a.resolve(f, lanes)
		put(f, in, base)
		f.settle()
	}
}

func storing[S, D any](x int, convert func(S) D) func(f *frame, lanes []uint8, base unsafe.Pointer) {
	return func(f *frame, lanes []uint8, base unsafe.Pointer) {
		x := at[S](f, x)
		for _, i := range lanes {
			*(*D)(unsafe.Add(base, f.addr[i])) = convert(x[i])
		}
	}
}

func storingSame[T any](x int) func(f *frame, lanes []uint8, base unsafe.Pointer) {
	return func(f *frame, lanes []uint8, base unsafe.Pointer) {
		x := at[T](f, x)
		for _, i := range lanes {
			*(*T)(unsafe.Add(base, f.addr[i])) = x[i]
		}
	}
}

// clearPrivate returns the step of a Zero, which clears size bytes at an offset in each lane's private memory. lane is the size
// of that memory.
func clearPrivate(a *ir.Array, offset, size, lane int) step {
	return func(f *frame, lanes []uint8) {
		base := unsafe.Add(f.w.arrays[a.ID].base, f.row*width*lane+offset)
		for _, i := range lanes {
			clear(unsafe.Slice((*byte)(unsafe.Add(base, int(i)*lane)), size))
		}
	}
}
