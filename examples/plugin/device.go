package main

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/interp"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// plugin is a kind of device: here one that this file invents. A plugin for hardware would load its driver in Open.
type plugin struct{}

func (plugin) Name() string { return "slate" }

// MaxClass implements [offload.ClassBounded]: a search for the best device opens this plugin last.
func (plugin) MaxClass() int { return offload.ClassEmulated }

func (plugin) Open(context.Context) (offload.Platform, error) {
	return &platform{newDevice("slate:0")}, nil
}

type platform struct{ device *device }

func (p *platform) Info() offload.PlatformInfo {
	return offload.PlatformInfo{Name: "slate", Vendor: "the orepl examples", Version: "1"}
}

func (p *platform) Devices() []offload.Device { return []offload.Device{p.device} }

func (p *platform) Close() error { p.device.memory.Close(); return nil }

// CheckImage refuses images that no device here can load. Scripts and orepl image list --devices show the reason.
func (p *platform) CheckImage(img *offload.Image) error {
	if img.Kind == offload.ImageIR {
		return nil
	}
	return offload.Errorf(offload.Unsupported, "load", "slates load portable kernel IR, not %s", img.Kind).On("slate", img.Label)
}

// capacity is the memory of a device.
const capacity = 1 << 30

// device implements [offload.Device]. As it is synchronous, it is a [queue.Device] too: package queue makes a queue of it.
type device struct {
	id     string
	info   offload.DeviceInfo
	clock  queue.Clock
	memory *memory.Pool // stands for the device's own memory
}

func newDevice(id string) *device {
	const most = interp.MaxGroupItems
	d := &device{id: id, clock: queue.NewClock(), memory: memory.NewPool(memory.Options{Limit: capacity})}
	d.info = offload.DeviceInfo{
		Name: "Slate", Vendor: "the orepl examples", Type: offload.Accelerator, Arch: "slate", Class: offload.ClassEmulated,
		ComputeUnits: 1, MemoryBytes: capacity,
		Limits: offload.Limits{
			AllocationBytes: capacity, SharedBytes: 64 << 10, GroupItems: most, GroupSize: [3]int{most, most, most},
			Groups: [3]int{math.MaxInt32, math.MaxInt32, math.MaxInt32}, SubgroupSizes: []int{32},
		},
		// A false feature is left out of the conformance suite, and refused by the runtime with a hint.
		Features: offload.Features{Exact: true, F64: true, Atomics64: true, FloatAtomic: true, Subgroups: true, Cancel: true, Clock: true},
	}
	return d
}

func (d *device) Info() *offload.DeviceInfo { return &d.info }

// block is memory of a device. The host does not see it: Bytes is nil.
type block struct {
	device *device
	kind   offload.MemoryKind
	memory *memory.Block
	freed  atomic.Bool
}

func (d *device) Allocate(size int64, kind offload.MemoryKind) (offload.Memory, error) {
	m, err := d.memory.Get(size, false)
	if err != nil {
		return nil, err
	}
	return &block{device: d, kind: kind, memory: m}, nil
}

func (b *block) Size() int64              { return int64(len(b.memory.Bytes())) }
func (b *block) Kind() offload.MemoryKind { return b.kind }
func (b *block) Bytes() []byte            { return nil }

func (b *block) Free() error { b.freed.Store(true); return b.memory.Free() }

func (d *device) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	return queue.New(d, queue.Options{Label: o.Label, Device: d.id, Clock: d.clock, Deferred: o.Deferred}), nil
}

// Bytes implements [queue.Device]. Package queue checks ranges, and calls Copy and Fill with parts of the result.
func (d *device) Bytes(m offload.Memory) ([]byte, error) {
	b, ok := m.(*block)
	if !ok || b.device != d {
		return nil, offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").On(d.id, "")
	}
	if b.freed.Load() {
		return nil, offload.Errorf(offload.Closed, "access", "the memory was freed").On(d.id, "")
	}
	return b.memory.Bytes(), nil
}

// part is the maximum number of bytes that are copied or filled between two checks whether to stop.
const part = 16 << 20

// Copy implements [queue.Device]. A device would start its copy engine here.
func (d *device) Copy(dst, src []byte, stop *queue.Stop) {
	for len(dst) > 0 && !stop.Requested() {
		n := memory.Copy(dst[:min(part, len(dst))], src)
		dst, src = dst[n:], src[n:]
	}
}

// Fill implements [queue.Device].
func (d *device) Fill(dst, pattern []byte, stop *queue.Stop) {
	for ; len(dst) > 0 && !stop.Requested(); dst = dst[min(part, len(dst)):] { // part is a multiple of every pattern's length
		memory.Fill(dst[:min(part, len(dst))], pattern)
	}
}

// NewLaunch implements [queue.Device].
func (d *device) NewLaunch() queue.Launch { return &launch{device: d} }
