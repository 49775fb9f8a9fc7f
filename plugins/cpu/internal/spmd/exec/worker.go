package exec

import (
	"fmt"
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/spmd/abi"
	"github.com/orepl/orepl/plugins/internal/process"
)

// Variant is the code for a class of launches in executable memory.
type Variant struct {
	Code    *Code
	memory  *process.Code
	entry   uintptr
	resume  uintptr
	workers sync.Pool
	spare   atomic.Pointer[Worker] // an idle worker, which is faster to acquire than one of the pool
}

// NewVariant maps code into executable memory and, without an error, sets c.Bytes to nil. The memory is freed after the variant
// has become unreachable.
func NewVariant(c *Code) (*Variant, error) {
	m, err := process.NewCode(c.Bytes)
	if err != nil {
		return nil, err
	}
	c.Bytes = nil
	v := &Variant{Code: c, memory: m, entry: m.Entry(0), resume: m.Entry(c.Resume)}
	runtime.AddCleanup(v, func(m *process.Code) { _ = m.Free() }, m)
	v.workers.New = func() any { return v.NewWorker() }
	return v, nil
}

// Together returns the number of adjacent units of a launch that should run in one call.
func (v *Variant) Together(g *interp.Launch) int {
	if !v.Code.Observes {
		return 1
	}
	return v.Code.batch(g.GroupSize)
}

// Worker is the memory with which one goroutine at a time runs units of a variant.
type Worker struct {
	v       *Variant
	words   []uint64 //lint:ignore U1000 it is not used
	context []byte   // aligned to 64 bytes
	frames  []byte
	sharedM []uint64 // the shared arrays
	Gangs   int      // number of gangs of a group
	batch   int      // number of groups with frames
	g       *interp.Launch
	first   int // the first unit of the run
	fault   interp.Fault
	faulted bool
	order   int // rank of the item with the recorded fault, as [Worker.item] returns it
	prints  interp.Prints
	values  []interp.Scalar
	bits    []uint64
	Scratch []uint64
	tables  [][]uint64 // copies of the tables, which the context points to
	guard   process.Guard
	broken  error // the error of creating the guard
}

// Acquire returns a worker for a launch. The launch must not change until Release.
func (v *Variant) Acquire(g *interp.Launch) *Worker {
	w := v.spare.Swap(nil)
	if w == nil {
		w = v.workers.Get().(*Worker)
	}
	w.Set(g)
	return w
}

// maxSpare is the maximum size in bytes of the frames of a variant's spare worker. The garbage collector does not free this
// worker. maxSpare also bounds the frames of a batch of several work-groups.
const maxSpare = 64 << 10

// Heavy reports whether a worker has too much memory to be the spare worker of its variant.
func (w *Worker) Heavy() bool { return len(w.frames) > maxSpare }

// Release returns a worker to its variant, as the spare one if there is none and the worker is not too large.
func (v *Variant) Release(w *Worker) {
	w.g = nil
	if w.Heavy() || !v.spare.CompareAndSwap(nil, w) {
		v.workers.Put(w)
	}
}

// Aligned returns n zero bytes of memory aligned to 64.
func Aligned(n int) []byte {
	words := make([]uint64, n/8+16)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
	off := -uintptr(unsafe.Pointer(&b[0])) & 63
	return b[off : int(off)+n : int(off)+n]
}

// NewWorker returns a worker with a context, and the kernel's tables and shared arrays. If its guard cannot be created,
// [Worker.Run] returns the error.
func (v *Variant) NewWorker() *Worker {
	c := v.Code
	w := &Worker{v: v, context: Aligned(c.Context)}
	if w.guard, w.broken = process.NewGuard(); w.broken == nil {
		runtime.AddCleanup(w, process.Guard.Free, w.guard)
	}
	if !v.Code.Observes {
		w.growFrames(1, 1)
	}
	for _, a := range c.Arrays {
		place, ok := c.Layout.Arrays[a.ID]
		if !ok {
			continue
		}
		if a.Space == ir.Table {
			data := Aligned(len(a.Data) + 64)
			copy(data, a.Data)
			w.tables = append(w.tables, unsafe.Slice((*uint64)(unsafe.Pointer(&data[0])), len(data)/8))
			w.put64(place, uint64(uintptr(unsafe.Pointer(&data[0]))))
			continue
		}
		if w.sharedM == nil {
			shared := Aligned(c.Layout.Shared)
			w.sharedM = unsafe.Slice((*uint64)(unsafe.Pointer(&shared[0])), len(shared)/8)
			w.put64(abi.CtxShared, uint64(uintptr(unsafe.Pointer(&shared[0]))))
		}
		w.put64(place, uint64(uintptr(unsafe.Pointer(&w.sharedM[0])))+uint64(c.Layout.Places[a.ID]))
	}
	return w
}

// growFrames provides frames for a batch of work-groups with n gangs each, and selects the first work-group. It allocates only
// if the frames at hand are too small.
func (w *Worker) growFrames(n, groups int) {
	size := w.v.Code.Frame
	if n*groups*size > len(w.frames) {
		w.frames = Aligned(n * groups * size)
	}
	w.Gangs, w.batch = n, groups
	base := uint64(uintptr(unsafe.Pointer(&w.frames[0])))
	w.put64(abi.CtxFrames, base)
	w.put64(abi.CtxFramesEnd, base+uint64(n*groups*size))
	w.put64(abi.CtxGroupBytes, uint64(n*size))
	w.put64(abi.CtxFrameSize, uint64(size))
	w.put64(abi.CtxGangs, uint64(n))
	w.presentFirst()
}

// presentFirst selects the first work-group of a batch, in which no work-group has begun an interleaved loop.
func (w *Worker) presentFirst() {
	w.put64(abi.CtxFrame, w.get64(abi.CtxFrames))
	w.put64(abi.CtxEnd, w.get64(abi.CtxFrames)+w.get64(abi.CtxGroupBytes))
	w.put64(abi.CtxAssembled, 0)
}

func (w *Worker) put64(at int, x uint64) { *(*uint64)(unsafe.Pointer(&w.context[at])) = x }
func (w *Worker) put32(at int, x int)    { *(*uint32)(unsafe.Pointer(&w.context[at])) = uint32(x) }
func (w *Worker) get64(at int) uint64    { return *(*uint64)(unsafe.Pointer(&w.context[at])) }
func (w *Worker) get32(at int) int       { return int(*(*int32)(unsafe.Pointer(&w.context[at]))) }

// Run runs units [first, last) of the worker's launch. It returns the recorded fault, that of the earliest item if several trapped, or
// nil. The fault is valid until the next run. Run ends early after a cancellation, and after a fault if the kernel does not observe its
// group. A brief run takes microseconds: it runs on its goroutine's stack, and a panic of a trap service becomes an error. Other errors
// are those of the guard, such as a fault of the machine code.
func (w *Worker) Run(first, last int, brief bool) (*interp.Fault, error) {
	if first >= last {
		return nil, nil
	}
	if w.broken != nil {
		return nil, w.broken
	}
	v := w.v // keeps the executable memory reachable
	w.first, w.faulted = first, false
	defer w.prints.Drop() // drops the prints of a run that ends in an error or a panic
	w.put32(abi.CtxPending, 0)
	w.put64(abi.CtxLeft, uint64(last-first))
	if v.Code.Observes {
		w.beginGroups(first)
	} else {
		w.beginGangs(first)
	}
	entry := v.entry
	for {
		var err error
		if brief {
			err = w.guard.CallHere(entry, unsafe.Pointer(&w.context[0]))
		} else {
			err = w.guard.Call(entry, unsafe.Pointer(&w.context[0]))
		}
		if err != nil {
			return nil, err
		}
		status := w.get32(abi.CtxStatus)
		if status == 0 {
			break
		}
		if brief {
			err = w.trapSafely(status - 1)
		} else {
			w.trap(status - 1)
		}
		if err != nil {
			return nil, err
		}
		if w.faulted && !v.Code.Observes {
			break
		}
		entry = v.resume
	}
	runtime.KeepAlive(w)
	w.prints.Flush()
	if !w.faulted {
		return nil, nil
	}
	return &w.fault, nil
}

// trapSafely serves the trap of this number, and returns a panic as an error.
func (w *Worker) trapSafely(number int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	w.trap(number)
	return nil
}

// Set prepares the worker to run units of a launch: it stores the launch's sizes and arguments in the context.
func (w *Worker) Set(g *interp.Launch) {
	w.g = g
	c := w.v.Code
	stop := uint64(uintptr(unsafe.Pointer(g.Stop)))
	if g.Stop == nil {
		stop = uint64(uintptr(unsafe.Pointer(&w.context[abi.CtxZero])))
	}
	w.put64(abi.CtxStop, stop)
	for axis := range 3 {
		w.put32(abi.CtxSize+4*axis, g.Size[axis])
		w.put32(abi.CtxGSize+4*axis, g.GroupSize[axis])
	}
	for i := range c.Params {
		a := c.Params[i].Array
		if a == nil {
			bits := g.Args[i].Bits
			if c.Params[i].Type == ir.Bool && bits != 0 {
				bits = 1
			}
			w.put64(c.Layout.Args+8*i, bits)
			continue
		}
		at := c.Layout.Buffers + abi.BufSize*a.ID
		w.put64(at+abi.BufBase, uint64(uintptr(g.Args[i].Base)))
		total := uint64(1)
		for axis, d := range g.Args[i].Dims[:a.Rank] {
			w.put64(at+abi.BufDims+8*axis, uint64(d))
			total *= uint64(d)
		}
		w.put64(at+abi.BufTotal, total)
	}
	if w.v.Code.Observes {
		w.setGroups()
	}
}

// setGroups prepares a worker whose kernel observes its work-group.
func (w *Worker) setGroups() {
	size := w.g.GroupSize
	w.growFrames(w.v.Code.GangsOf(size), w.v.Code.batch(size))
	w.put32(abi.CtxTogether, w.Together(size, w.v.Code.Lanes))
	w.put64(abi.CtxHalves, 1<<bits.Len(uint(w.Gangs-1)))
	for axis := range 3 {
		w.put32(abi.CtxGroups+4*axis, (w.g.Size[axis]-1)/size[axis]+1)
	}
}

// beginGangs sets the position of the first gang of a run.
func (w *Worker) beginGangs(first int) {
	if first == 0 { // avoids divisions, which take as long as a small launch
		w.put64(abi.CtxX, 0) // also clears CtxY
		w.put32(abi.CtxZ, 0)
		w.put64(abi.CtxBand, 0) // also clears CtxTile
		return
	}
	g, n, high := w.g, w.v.Code.Width, w.v.Code.Height
	perRow := (g.Size[0]-1)/n + 1
	if band := w.v.Code.Band; band > 0 {
		column, row, plane, start := ColumnOf(first, band, perRow, g.Size[1])
		w.put32(abi.CtxX, column*n)
		w.put32(abi.CtxY, row)
		w.put32(abi.CtxZ, plane)
		w.put32(abi.CtxBand, start)
		w.put32(abi.CtxTile, 0)
		return
	}
	row, perPlane := first/perRow, (g.Size[1]-1)/high+1
	w.put32(abi.CtxX, first%perRow*n)
	w.put32(abi.CtxY, row%perPlane*high)
	w.put32(abi.CtxZ, row/perPlane)
}

// beginGroups sets the position of the first work-group of a run, and the positions of the gangs of each work-group in its
// batch.
func (w *Worker) beginGroups(first int) {
	c, size := w.v.Code, w.g.GroupSize
	x, y, z := 0, 0, 0
	w.presentFirst()
	for i := range w.Gangs * w.batch {
		f := w.frame(i)
		f.put32(abi.FrameLocal, x)
		f.put32(abi.FrameLocal+4, y)
		f.put32(abi.FrameLocal+8, z)
		f.put32(abi.FrameIndex, i)
		if x += c.Width; x >= size[0] {
			x = 0
			if y += c.Height; y >= size[1] {
				if y, z = 0, z+1; z == size[2] {
					z = 0 // position of the batch's next group
				}
			}
		}
	}
	row, plane := 0, 0
	if first > 0 { // avoids divisions, which take as long as a small launch
		columns, rows := w.get32(abi.CtxGroups), w.get32(abi.CtxGroups+4)
		first, row = first%columns, first/columns
		row, plane = row%rows, row/rows
	}
	w.put32(abi.CtxGroup, first)
	w.put32(abi.CtxGroup+4, row)
	w.put32(abi.CtxGroup+8, plane)
}

// Together returns the kinds of operations that compiled code may compute itself for work-groups of this size, as bits such as
// abi.TogetherAll. lanes is the number of lanes of a gang. The result is 0 unless the gangs' lanes are the group's items in
// order, with absent lanes only at the end. Compiled sums add a 0 for each absent lane, while the language pads to the next power
// of two (rule 23.1). More zeros than that are refused, since they could turn a sum of −0 into 0.
func (w *Worker) Together(size [3]int, lanes int) (kinds int) {
	items := size[0] * size[1] * size[2]
	if size[0]%lanes != 0 && items > size[0] {
		return 0
	}
	if size[0] == lanes && size[1]%abi.ColumnGangs == 0 {
		kinds |= abi.TogetherColumns
	}
	if 2*items > lanes {
		kinds |= abi.TogetherAll
	}
	if rest := items % abi.SubgroupSize; w.Gangs*lanes%abi.SubgroupSize == 0 && (rest == 0 || 2*rest > abi.SubgroupSize) {
		kinds |= abi.TogetherSegments
	}
	return kinds
}
