//go:build linux && (amd64 || arm64) && !nonative

package opencl

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/internal/lane"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/plugins/opencl/internal/cl"
	"github.com/orepl/orepl/plugins/opencl/internal/kept"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// device implements [offload.Device].
type device struct {
	lowered.Device
	lib     *cl.Library
	handle  cl.Device
	context cl.Context
	aux     cl.Queue // for copies of records, beside the queues of callers
	target  *lower.Target
	options string // options of the driver's compiler
	rounded string // its option for correctly rounded f32 divisions and roots, with a leading space; "" if it has none
	pocl    bool   // the driver is PoCL
	cache   *cache
	driver  string // name and version
	clock   queue.Clock
	shared  bool // records are in fine-grained shared virtual memory
	atomics bool // shared virtual memory has atomics
	align   int  // alignment of sub-buffers, in bytes
	kept    *kept.Pool[cl.Mem]
}

// describe reads the properties of the device from the driver. Unless share is set, it ignores shared virtual memory.
func (d *device) describe(share bool) {
	l, id := d.lib, d.handle
	extensions := " " + l.DeviceText(id, cl.DeviceExtensions) + " "
	has := func(name string) bool { return strings.Contains(extensions, " "+name+" ") }
	kind := l.DeviceNumber(id, cl.DeviceType)
	svm := uint64(0)
	if share && l.HasSVM() {
		svm = l.DeviceNumber(id, cl.SVMCapabilities)
	}
	d.shared, d.atomics = svm&cl.SVMFineGrainBuffer != 0, svm&cl.SVMAtomics != 0
	const exact = cl.FPDenorm | cl.FPInfNaN | cl.FPNearest | cl.FPFMA
	f64 := has("cl_khr_fp64") || l.DeviceNumber(id, cl.DoubleFPConfig) != 0
	items := int(min(l.DeviceNumber(id, cl.MaxWorkGroupSize), lower.MaxGroupItems))
	if l.DeviceNumber(id, cl.SingleFPConfig)&cl.FPRounded != 0 {
		// NVIDIA's compiler narrows divisions in f64 whose result becomes f32, and would then approximate them.
		d.rounded = " -cl-fp32-correctly-rounded-divide-sqrt"
	}
	d.clock, d.align = queue.NewClock(), max(1, int(l.DeviceNumber(id, cl.MemBaseAddrAlign)&math.MaxUint32)/8)
	info := offload.DeviceInfo{
		Name: l.DeviceText(id, cl.DeviceName), Vendor: l.DeviceText(id, cl.DeviceVendor), Arch: l.DeviceText(id, cl.DeviceVersion),
		DriverVersion: l.DeviceText(id, cl.DriverVersion), Type: offload.Accelerator, Class: offload.ClassEmulated,
		ComputeUnits: int(l.DeviceNumber(id, cl.MaxComputeUnits) & math.MaxUint32), ClockMHz: int(l.DeviceNumber(id, cl.MaxClockFrequency) & math.MaxUint32),
		MemoryBytes: int64(min(l.DeviceNumber(id, cl.GlobalMemSize), math.MaxInt64)),
		VectorBits:  32 * int(l.DeviceNumber(id, cl.PreferredVectorWidthInt)&math.MaxUint32),
		Limits: offload.Limits{
			AllocationBytes: int64(min(l.DeviceNumber(id, cl.MaxMemAllocSize), math.MaxInt64)), SharedBytes: int(min(l.DeviceNumber(id, cl.LocalMemSize), math.MaxInt32)),
			GroupItems: items, Groups: [3]int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, SubgroupSizes: []int{lowered.SubgroupSize},
		},
		Features: offload.Features{
			Exact: l.DeviceNumber(id, cl.SingleFPConfig)&exact == exact && l.DeviceNumber(id, cl.DoubleFPConfig)&exact == exact,
			F64:   f64, Atomics64: has("cl_khr_int64_base_atomics"), FloatAtomic: true, Subgroups: true, Prints: true, Clock: true,
			Unified: l.DeviceNumber(id, cl.HostUnifiedMemory)&1 != 0,
			Cancel:  d.shared && (d.atomics || kind&cl.TypeCPU != 0),
		},
	}
	for axis, n := range l.DeviceNumbers(id, cl.MaxWorkItemSizes) {
		info.Limits.GroupSize[axis] = int(min(n, uint64(items)))
	}
	switch {
	case kind&cl.TypeGPU != 0:
		info.Type, info.Class = offload.GPU, offload.ClassGPU
		if info.Features.Unified {
			info.Class = offload.ClassIntegratedGPU
		}
	case kind&cl.TypeCPU != 0:
		info.Type = offload.CPU
	}
	d.Properties.Store(&info)
	d.kept = kept.New(info.MemoryBytes/keptShare, d.lib.ReleaseBuffer)
}

// keptShare determines the memory that may be kept for reuse: one part in keptShare of the device's.
const keptShare = 8

func (d *device) close() {
	_ = d.kept.End() // what the driver does not release ends with the context
	d.lib.ReleaseQueue(d.aux)
	d.lib.ReleaseContext(d.context)
}

// failure returns the driver's error as an error of package offload.
func (d *device) failure(op, label string, err error) *offload.Error {
	code := offload.BackendFailure
	var s cl.Status
	hint := ""
	if errors.As(err, &s) {
		switch s {
		case cl.MemObjectAllocationFailure, cl.OutOfResources, cl.OutOfHostMemory, cl.InvalidBufferSize:
			code, hint = offload.OutOfResources, "free buffers, or use smaller ones"
		case cl.DeviceNotAvailable:
			code = offload.DeviceLost
		}
	}
	e := offload.Errorf(code, op, "the OpenCL driver refused").On(d.ID, label)
	e.Err, e.Hint = err, hint
	return e
}

// block implements [offload.Memory] for memory that the host cannot access.
type block struct {
	device *device
	handle cl.Mem
	size   int64
	kind   offload.MemoryKind
	class  kept.Class
	freed  atomic.Bool
}

// check returns an error for freed memory, and for memory of other devices.
func (d *device) check(m offload.Memory) *offload.Error {
	b, ok := m.(*block)
	return queue.CheckMemory(ok && b.device == d, ok && b.freed.Load())
}

func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	if size <= 0 {
		return nil, offload.Errorf(offload.InvalidSize, "allocate", "%d bytes", size).On(d.ID, "")
	}
	if most := d.Info().Limits.AllocationBytes; size > most {
		return nil, offload.Errorf(offload.OutOfResources, "allocate", "%d bytes are more than the %d of the device's largest block", size, most).On(d.ID, "")
	}
	flags := uintptr(cl.MemReadWrite)
	if kind != offload.DeviceMemory {
		flags |= cl.MemAllocHostPtr
	}
	c := kept.Class{Flags: flags, Size: min(memory.Capacity(size), d.Info().Limits.AllocationBytes)}
	m, ok := d.kept.Take(c)
	if !ok {
		var err error
		if m, err = d.lib.NewBuffer(d.context, flags, c.Size); err != nil {
			if n, _ := d.kept.Trim(); n > 0 {
				m, err = d.lib.NewBuffer(d.context, flags, c.Size)
			}
		}
		if err != nil {
			return nil, d.failure("allocate", "", err)
		}
	}
	return &block{device: d, handle: m, size: size, kind: kind, class: c}, nil
}

func (b *block) Size() int64              { return b.size }
func (b *block) Kind() offload.MemoryKind { return b.kind }
func (b *block) Bytes() []byte            { return nil }

func (b *block) Free() error {
	if b.freed.Swap(true) {
		return offload.Errorf(offload.Closed, "free", "the memory was freed before").On(b.device.ID, "")
	}
	return b.device.kept.Keep(b.class, b.handle)
}

// CheckImage returns a lower fit for portable IR than for OpenCL images.
func (d *device) CheckImage(img *offload.Image) (fit int, err error) {
	if img.Kind == offload.ImageOpenCLC || img.Kind == offload.ImageSPIRV {
		return d.checkForeign(img)
	}
	if !ir.IsBinary(img.Data) {
		return 0, offload.Errorf(offload.InvalidBinary, "load", "this is not portable kernel IR").On(d.ID, img.Label)
	}
	return fitIR, nil
}

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	if _, err := d.CheckImage(img); err != nil {
		return nil, err
	}
	if img.Kind != offload.ImageIR {
		return d.loadForeign(img)
	}
	return load(ctx, d, img)
}

func (d *device) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	q, err := d.lib.NewQueue(d.context, d.handle)
	if err != nil {
		return nil, d.failure("create queue", o.Label, err)
	}
	l := &stream{device: d, queue: q, records: lowered.NewPool(d.newRecords)}
	return queue.NewOnLane(lane.New(l, lane.Options{Window: window, Looks: looks, Device: d.ID}), queue.Options{Label: o.Label, Device: d.ID, Clock: d.clock, Deferred: o.Deferred}), nil
}
