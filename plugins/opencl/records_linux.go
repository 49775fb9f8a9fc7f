//go:build linux && (amd64 || arm64)

package opencl

import (
	"sync/atomic"
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/plugins/portable"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

// printWords is the number of words of records of a launch that prints, 4 MiB.
const printWords = 1 << 20

// records are the device's records of one launch at a time.
type records interface {
	// words returns the words that the host reads and writes.
	words() []uint32
	// bind sets the records as the last argument of a kernel.
	bind(k cl.Kernel, index int) error
	// begin enqueues the commands before a launch, end those after it. end returns event 0 if it enqueues none.
	begin(q cl.Queue) error
	end(q cl.Queue) (cl.Event, error)
	// fetch makes the words of prints visible to the host after the launch ended.
	fetch(from, to int) error
	// stop requests that the running launch ends.
	stop()
	free()
}

func (d *device) newRecords(words int) (records, error) {
	if d.shared {
		flags := uintptr(cl.MemReadWrite | cl.MemSVMFineGrainBuffer)
		if d.atomics {
			flags |= cl.MemSVMAtomics
		}
		p := d.lib.NewShared(d.context, flags, 4*words)
		if p == nil {
			return nil, d.failure("launch", "", cl.OutOfResources)
		}
		return &sharedRecords{device: d, data: unsafe.Slice((*uint32)(p), words)}, nil
	}
	m, err := d.lib.NewBuffer(d.context, cl.MemReadWrite, int64(4*words))
	if err != nil {
		return nil, d.failure("launch", "", err)
	}
	host, err := staging.Get(int64(4*words), true)
	if err != nil {
		_ = d.lib.ReleaseBuffer(m)
		return nil, err
	}
	return &copiedRecords{device: d, handle: m, host: host}, nil
}

// staging is host memory off the Go heap for asynchronous copies of drivers.
var staging = memory.NewPool(memory.Options{})

// sharedRecords are in memory that the host accesses while the kernel runs.
type sharedRecords struct {
	device *device
	data   []uint32
}

func (r *sharedRecords) words() []uint32 { return r.data }
func (r *sharedRecords) bind(k cl.Kernel, index int) error {
	return r.device.lib.SetShared(k, index, unsafe.Pointer(unsafe.SliceData(r.data)))
}
func (*sharedRecords) begin(cl.Queue) error           { return nil }
func (*sharedRecords) end(cl.Queue) (cl.Event, error) { return 0, nil }
func (*sharedRecords) fetch(int, int) error           { return nil }
func (r *sharedRecords) stop()                        { atomic.StoreUint32(&r.data[lower.StopWord], 1) }
func (r *sharedRecords) free() {
	r.device.lib.ReleaseShared(r.device.context, unsafe.Pointer(unsafe.SliceData(r.data)))
}

// copiedRecords are copied to the device before a launch and back after it.
type copiedRecords struct {
	device *device
	handle cl.Mem
	host   *memory.Block
	head   int // number of words that are copied with each launch
}

func (r *copiedRecords) words() []uint32 {
	b := r.host.Bytes()
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func (r *copiedRecords) bind(k cl.Kernel, index int) error {
	return r.device.lib.SetArg(k, index, int(unsafe.Sizeof(r.handle)), unsafe.Pointer(&r.handle))
}

func (r *copiedRecords) begin(q cl.Queue) error {
	e, err := r.device.lib.Write(q, r.handle, 0, r.host.Bytes()[:4*r.head])
	if err == nil {
		r.device.lib.Release(e)
	}
	return err
}

func (r *copiedRecords) end(q cl.Queue) (cl.Event, error) {
	return r.device.lib.Read(q, r.handle, 0, r.host.Bytes()[:4*r.head], false)
}

func (r *copiedRecords) fetch(from, to int) error {
	e, err := r.device.lib.Read(r.device.aux, r.handle, int64(4*from), r.host.Bytes()[4*from:4*to], true)
	if err == nil {
		r.device.lib.Release(e)
	}
	return err
}

func (*copiedRecords) stop() {}

func (r *copiedRecords) free() {
	_ = r.device.lib.ReleaseBuffer(r.handle)
	_ = r.host.Free()
}

// take returns initialized records for a launch of a kernel.
func (l *lane) take(k *lower.Kernel, prints bool) (records, error) {
	class := classOf(k.PrintStart())
	if prints {
		class = max(class, printWords)
	}
	room := 0
	if prints {
		room = class - k.PrintStart()
	}
	l.mu.Lock()
	var r records
	if list := l.idle[class]; len(list) > 0 {
		r = list[len(list)-1]
		l.idle[class] = list[:len(list)-1]
	}
	l.mu.Unlock()
	if r == nil {
		var err error
		if r, err = l.device.newRecords(class); err != nil {
			return nil, err
		}
	}
	if c, ok := r.(*copiedRecords); ok {
		c.head = k.PrintStart()
	}
	words := r.words()
	clear(words[:k.PrintStart()])
	words[lower.CapacityWord] = uint32(room)
	return r, nil
}

// classOf returns the power of two that holds n words; launches of different kernels share records of a class.
func classOf(n int) int {
	class := 64
	for class < n {
		class *= 2
	}
	return class
}

// mostIdle bounds the idle records per class in a queue; those of kernels that print have 4 MiB.
const mostIdle = 8

// put keeps records for reuse, or frees them.
func (l *lane) put(r records) {
	class := len(r.words())
	l.mu.Lock()
	kept := len(l.idle[class]) < mostIdle
	if kept {
		l.idle[class] = append(l.idle[class], r)
	}
	l.mu.Unlock()
	if !kept {
		r.free()
	}
}

// kinds maps names to kinds of faults.
var kinds = func() map[string]interp.FaultKind {
	m := map[string]interp.FaultKind{}
	for k := interp.OutOfBounds; k <= interp.Unwritten; k++ {
		m[k.String()] = k
	}
	return m
}()

// outcome decodes the records of a launch and delivers its prints. It returns the launch's fault.
func (s *launch) outcome(r records) error {
	k := s.lowered
	words := r.words()
	words[lower.CapacityWord] = min(words[lower.CapacityWord], uint32(max(len(words)-k.PrintStart(), 0))) // the kernel may have written it
	if used := int(min(words[lower.CursorWord], words[lower.CapacityWord])); used > 0 {
		if err := r.fetch(k.PrintStart(), k.PrintStart()+used); err != nil {
			return s.located(s.device.failure("launch", "", err))
		}
	}
	fault, prints, lost := k.Read(words, lower.Geometry{Size: s.size, GroupSize: s.group})
	if s.services != nil {
		for _, p := range prints {
			at, _ := portable.Position(s.kernel.module, k.Source, p.Site)
			s.services.Print(&offload.Message{Device: s.device.id, Kernel: s.info.Name, Item: p.Item, Pos: at, Text: p.Text})
		}
	}
	switch {
	case fault != nil:
		f := &interp.Fault{Kind: kinds[fault.Kind], Site: fault.Site, Array: fault.Array, Axis: fault.Axis, Item: fault.Item, Text: fault.Text}
		if fault.Array != nil && len(fault.Bits) >= 2 {
			f.Index, f.Extent = int64(fault.Bits[0]), int64(fault.Bits[1])
		}
		grid := &interp.Launch{Size: s.size, GroupSize: s.group, Args: s.dims}
		out := portable.Fault(s.kernel.module, k.Source, f, grid, s.labels)
		e := s.located(offload.Errorf(out.Code, "launch", "%s", out))
		e.Fault = out
		return e
	case lost > 0:
		return s.located(offload.Errorf(offload.OutOfResources, "launch", "%d prints did not fit in %d MiB", lost, 4*printWords>>20).
			WithHint("print from fewer work-items, or in several launches; the results of this launch are complete"))
	}
	return nil
}
