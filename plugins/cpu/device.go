package cpu

import (
	"context"
	"fmt"
	"math"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/plugins/cpu/internal/machine"
	"github.com/orepl/orepl/plugins/cpu/internal/sched"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// subgroupSize is the number of work-items of a subgroup.
const subgroupSize = 32

// device implements [offload.Device], and [queue.Device] for its queues.
type device struct {
	id   string // the device's name in sessions
	info offload.DeviceInfo
	pool *sched.Pool
	shared
}

// shared is the state that the devices of one platform share.
type shared struct {
	machine machine.Info
	clock   queue.Clock
	modules *modules
	memory  *memory.Pool
}

func newDevice(with shared, id string, cores int, choices choices) *device {
	m := with.machine
	name := m.Model
	if name == "" {
		name = "CPU"
	}
	d := &device{id: id, pool: sched.NewPool(cores), shared: with}
	d.info = offload.DeviceInfo{
		Name: name, Vendor: m.Vendor, Type: offload.CPU, Arch: machine.Arch(), Class: offload.ClassCPU,
		ComputeUnits: cores, ClockMHz: m.MHz, MemoryBytes: m.MemoryBytes, VectorBits: choices.vectorBits(), Notice: choices.notice(),
		Limits: offload.Limits{
			AllocationBytes: d.memory.Stats().Limit,
			SharedBytes:     ir.MaxSharedBytes,
			GroupItems:      interp.MaxGroupItems,
			GroupSize:       [3]int{interp.MaxGroupItems, interp.MaxGroupItems, interp.MaxGroupItems},
			Groups:          [3]int{math.MaxInt32, math.MaxInt32, math.MaxInt32},
			SubgroupSizes:   []int{subgroupSize},
		},
		Features: offload.Features{Exact: true, F64: true, Atomics64: true, FloatAtomic: true, Unified: true, HostVisible: true, Subgroups: true,
			Cancel: true, Calls: true, Prints: true, Clock: true},
	}
	return d
}

func (d *device) Info() *offload.DeviceInfo { return &d.info }

// Describe implements [offload.Describer]. It describes the caches.
func (d *device) Describe() []offload.Property {
	var list []offload.Property
	for _, c := range d.machine.Caches {
		list = append(list, offload.Property{Name: fmt.Sprintf("cache.l%d.%s", c.Level, c.Type), Value: []offload.Property{
			{Name: "size", Value: c.Bytes, Unit: "bytes"},
			{Name: "line", Value: c.LineBytes, Unit: "bytes"},
			{Name: "cores", Value: c.Cores},
		}})
	}
	return list
}

// CheckImage accepts shared objects for this processor, which fit better, and portable kernel IR of any version. Load reports
// an IR version that it cannot read.
func (d *device) CheckImage(img *offload.Image) (fit int, err error) {
	switch {
	case img.Kind == offload.ImageELF:
		return fitNative, d.checkNative(img)
	case img.Kind != offload.ImageIR:
		return 0, offload.Errorf(offload.Unsupported, "load", "images of kind %q cannot be loaded", img.Kind).On(d.id, img.Label)
	case !ir.IsBinary(img.Data):
		return 0, offload.Errorf(offload.InvalidBinary, "load", "this is not portable kernel IR in its binary form").On(d.id, img.Label)
	}
	return fitIR, nil
}

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	if _, err := d.CheckImage(img); err != nil {
		return nil, err
	}
	if img.Kind == offload.ImageELF {
		return d.loadNative(ctx, img)
	}
	m, err := d.modules.Get(ctx, img)
	if err != nil {
		return nil, err
	}
	return &program{device: d, module: m}, nil
}

func (d *device) NewQueue(opts offload.QueueOptions) (offload.Queue, error) {
	return queue.New(d, queue.Options{Label: opts.Label, Device: d.id, Clock: d.clock, Deferred: opts.Deferred}), nil
}

// NewLaunch implements [queue.Device].
func (d *device) NewLaunch() queue.Launch {
	l := &launch{own: plan{device: d}}
	l.plan = &l.own
	return l
}
