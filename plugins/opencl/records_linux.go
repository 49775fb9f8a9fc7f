//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"unsafe"

	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/lang/later"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
)

// records are the device's records of one launch at a time.
type records interface {
	lowered.Records
	// bind sets the records as the argument of a kernel at an index.
	bind(k cl.Kernel, index int) error
	// begin enqueues the commands before a launch of a kernel, end those after it. end returns event 0 if it enqueues none.
	begin(q cl.Queue, k *lower.Kernel) error
	end(q cl.Queue) (cl.Event, error)
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
	host, err := staging.Get().Get(int64(4*words), true)
	if err != nil {
		_ = d.lib.ReleaseBuffer(m)
		return nil, err
	}
	return &copiedRecords{device: d, handle: m, host: host}, nil
}

// staging is host memory off the Go heap for asynchronous copies of drivers.
var staging = later.Value[*memory.Pool]{Make: func() *memory.Pool { return memory.NewPool(memory.Options{}) }}

// sharedRecords are in memory that the host accesses while the kernel runs.
type sharedRecords struct {
	device *device
	data   []uint32
}

func (r *sharedRecords) Words() []uint32 { return r.data }
func (r *sharedRecords) bind(k cl.Kernel, index int) error {
	return r.device.lib.SetShared(k, index, unsafe.Pointer(unsafe.SliceData(r.data)))
}
func (*sharedRecords) begin(cl.Queue, *lower.Kernel) error { return nil }
func (*sharedRecords) end(cl.Queue) (cl.Event, error)      { return 0, nil }
func (*sharedRecords) Fetch(int, int) *offload.Error       { return nil }
func (r *sharedRecords) Stoppable() bool                   { return r.device.Info().Features.Cancel }
func (r *sharedRecords) Free() {
	r.device.lib.ReleaseShared(r.device.context, unsafe.Pointer(unsafe.SliceData(r.data)))
}

// copiedRecords are copied to the device before a launch and back after it.
type copiedRecords struct {
	device *device
	handle cl.Mem
	host   *memory.Block
	head   int // number of words that are copied with each launch
}

func (r *copiedRecords) Words() []uint32 {
	b := r.host.Bytes()
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func (r *copiedRecords) bind(k cl.Kernel, index int) error {
	return r.device.lib.SetArg(k, index, int(unsafe.Sizeof(r.handle)), unsafe.Pointer(&r.handle))
}

func (r *copiedRecords) begin(q cl.Queue, k *lower.Kernel) error {
	r.head = k.PrintStart()
	e, err := r.device.lib.Write(q, r.handle, 0, r.host.Bytes()[:4*r.head])
	if err == nil {
		r.device.lib.Release(e)
	}
	return err
}

func (r *copiedRecords) end(q cl.Queue) (cl.Event, error) {
	return r.device.lib.Read(q, r.handle, 0, r.host.Bytes()[:4*r.head], false)
}

func (r *copiedRecords) Fetch(from, to int) *offload.Error {
	e, err := r.device.lib.Read(r.device.aux, r.handle, int64(4*from), r.host.Bytes()[4*from:4*to], true)
	if err != nil {
		return r.device.failure("launch", "", err)
	}
	r.device.lib.Release(e)
	return nil
}

func (*copiedRecords) Stoppable() bool { return false }

func (r *copiedRecords) Free() {
	_ = r.device.lib.ReleaseBuffer(r.handle)
	_ = r.host.Free()
}
