//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/lane"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// device implements [offload.Device] and [offload.Losable].
type device struct {
	lowered.Device
	driver    *driver.Driver
	handle    driver.Device
	context   driver.Context
	target    *lower.Target
	clock     queue.Clock
	major     int // compute capability
	minor     int
	instance  bool // an instance of a partitioned GPU (MIG)
	managed   bool // the host may access managed memory while kernels run
	aux       driver.Stream
	pool      driver.Pool
	pinned    pinnedPool
	ranges    hostRanges
	stamps    stamps
	unbounded atomic.Int32 // number of launches in flight that may run for long or wait for the host

	lost    chan struct{}
	losing  sync.Once
	isLost  atomic.Bool
	mu      sync.Mutex
	lostWhy error
	queues  map[*queue.Queue]bool
}

// open retains the context of device n and reads its properties from the driver.
func (d *device) open(n int) (err error) {
	if d.handle, err = d.driver.Device(n); err != nil {
		return err
	}
	if d.context, err = d.driver.Retain(d.handle); err != nil {
		return err
	}
	d.queues, d.pinned.device, d.clock = map[*queue.Queue]bool{}, d, queue.NewClock()
	err = d.driver.In(d.context, func() (err error) {
		if d.aux, err = d.driver.NewStream(); err != nil {
			return err
		}
		if d.driver.Attribute(d.handle, driver.MemoryPoolsSupported) != 0 {
			if d.pool, err = d.driver.NewPool(d.handle); err != nil {
				d.driver.DestroyStream(d.aux)
			}
		}
		return err
	})
	if err != nil {
		_ = d.driver.Release(d.handle)
		return err
	}
	d.describe()
	return nil
}

func (d *device) describe() {
	get := func(a driver.Attribute) int { return d.driver.Attribute(d.handle, a) }
	d.major, d.minor = get(driver.ComputeCapabilityMajor), get(driver.ComputeCapabilityMinor)
	d.managed = get(driver.ConcurrentManagedAccess) != 0
	integrated := get(driver.Integrated) != 0
	total := d.driver.TotalMemory(d.handle)
	items := min(get(driver.MaxThreadsPerBlock), lower.MaxGroupItems)
	uid, instance := d.driver.UUID(d.handle)
	d.instance = instance
	info := offload.DeviceInfo{
		Name: d.driver.Name(d.handle), Vendor: "NVIDIA", Type: offload.GPU, Arch: fmt.Sprintf("sm_%d%d", d.major, d.minor), UID: uid,
		DriverVersion: versionText(d.driver.Version), Class: offload.ClassGPU, ComputeUnits: get(driver.MultiprocessorCount), ClockMHz: get(driver.ClockRate) / 1000,
		MemoryBytes: total,
		Limits:      offload.Limits{AllocationBytes: total, SharedBytes: get(driver.MaxSharedPerBlock), GroupItems: items, SubgroupSizes: []int{lowered.SubgroupSize}},
		Features: offload.Features{Exact: true, F64: true, Atomics64: true, FloatAtomic: true, Subgroups: true, Prints: true, Clock: true, Cancel: true, Calls: true,
			HostVisible: true, Unified: integrated},
	}
	if integrated {
		info.Class = offload.ClassIntegratedGPU
	}
	for axis := range 3 {
		info.Limits.GroupSize[axis] = min(get(driver.MaxBlockDimX+driver.Attribute(axis)), items)
		info.Limits.Groups[axis] = min(get(driver.MaxGridDimX+driver.Attribute(axis)), math.MaxInt32)
	}
	d.Properties.Store(&info)
}

// Describe implements [offload.Describer].
func (d *device) Describe() []offload.Property {
	get := func(a driver.Attribute) int { return d.driver.Attribute(d.handle, a) }
	list := []offload.Property{
		{Name: "compute capability", Value: fmt.Sprintf("%d.%d", d.major, d.minor)},
		{Name: "PCI", Value: fmt.Sprintf("%02x:%02x", get(driver.PCIBus), get(driver.PCIDevice))},
		{Name: "memory clock", Value: get(driver.MemoryClockRate) / 1000, Unit: "MHz"},
		{Name: "memory bus", Value: get(driver.MemoryBusWidth), Unit: "bits"},
		{Name: "L2 cache", Value: get(driver.L2CacheSize), Unit: "bytes"},
		{Name: "items per compute unit", Value: get(driver.MaxThreadsPerProcessor)},
		{Name: "managed memory", Value: d.managed},
		{Name: "memory pool", Value: d.pool != 0},
	}
	if d.instance {
		list = append(list, offload.Property{Name: "MIG instance", Value: d.Info().UID})
	}
	if mode := d.driver.LoadingMode(); mode != "" {
		list = append(list, offload.Property{Name: "module loading", Value: mode})
	}
	if visible, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		list = append(list, offload.Property{Name: "CUDA_VISIBLE_DEVICES", Value: visible})
	}
	return list
}

func (d *device) close() {
	if !d.isLost.Load() {
		_ = d.driver.In(d.context, func() error {
			d.ranges.free()
			d.pinned.free()
			d.stamps.free(d.driver)
			if d.pool != 0 {
				d.driver.DestroyPool(d.pool)
			}
			d.driver.DestroyStream(d.aux)
			return nil
		})
	}
	_ = d.driver.Release(d.handle)
}

// in calls f with the device's context current. A sticky error makes the device lost. On a lost
// device, in returns an error without calling f.
func (d *device) in(f func() error) error {
	if d.isLost.Load() {
		return d.LostError()
	}
	err := d.driver.In(d.context, f)
	var s driver.Status
	if errors.As(err, &s) && s.Sticky() {
		d.lose(s)
		return d.LostError()
	}
	return err
}

// lose marks the device as lost. It does not reset the context, which others in the process may share.
func (d *device) lose(why error) {
	d.losing.Do(func() {
		d.mu.Lock()
		d.lostWhy = why
		list := make([]*queue.Queue, 0, len(d.queues))
		for q := range d.queues {
			list = append(list, q)
		}
		d.isLost.Store(true)
		d.mu.Unlock()
		close(d.lost)
		go func() { // on another goroutine, since the caller may hold a queue's lock
			for _, q := range list {
				q.Lose(why)
			}
		}()
	})
}

// Lost implements [offload.Losable].
func (d *device) Lost() <-chan struct{} { return d.lost }

// LostError implements [offload.Losable].
func (d *device) LostError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := offload.Errorf(offload.DeviceLost, "run", "the device is lost: after this error the driver refuses all calls of the process").On(d.ID, "")
	e.Err = d.lostWhy
	return e.WithHint("start the script again; a kernel with checks: 'off', or an image of another compiler, may have used a wrong address")
}

// failure returns a driver's error as an error of package offload. Errors of that package remain
// unchanged.
func (d *device) failure(op, label string, err error) error {
	var own *offload.Error
	if errors.As(err, &own) {
		return err
	}
	code, hint := offload.BackendFailure, ""
	var s driver.Status
	if errors.As(err, &s) && s == driver.OutOfMemory {
		code, hint = offload.OutOfResources, "free buffers, or use smaller ones"
	}
	e := offload.Errorf(code, op, "the CUDA driver refused").On(d.ID, label)
	e.Err, e.Hint = err, hint
	return e
}

// CheckImage returns a lower fit for portable IR than for images of this device. Portable IR is Unsupported below compute
// capability 7.0.
func (d *device) CheckImage(img *offload.Image) (fit int, err error) {
	switch {
	case img.Kind != offload.ImageIR:
		return d.checkNative(img)
	case !ir.IsBinary(img.Data):
		return 0, offload.Errorf(offload.InvalidBinary, "load", "this is not portable kernel IR").On(d.ID, img.Label)
	case d.major < 7:
		return 0, offload.Errorf(offload.Unsupported, "load", "the device has compute capability %d.%d, and kernels need 7.0", d.major, d.minor).On(d.ID, img.Label)
	}
	return 1, nil
}

func (d *device) Load(ctx context.Context, img *offload.Image) (offload.Program, error) {
	if _, err := d.CheckImage(img); err != nil {
		return nil, err
	}
	if d.isLost.Load() {
		return nil, d.LostError()
	}
	if img.Kind != offload.ImageIR {
		return d.loadNative(img)
	}
	return load(ctx, d, img)
}

// check returns an error for freed memory, and for memory of other devices.
func (d *device) check(m offload.Memory) *offload.Error {
	b, ok := m.(*block)
	return queue.CheckMemory(ok && b.device == d, ok && b.freed.Load())
}

func (d *device) NewQueue(o offload.QueueOptions) (offload.Queue, error) {
	l := &stream{device: d, records: lowered.NewPool(d.newRecords)}
	err := d.in(func() (err error) {
		l.handle, err = d.driver.NewStream()
		return err
	})
	if err != nil {
		return nil, d.failure("create queue", o.Label, err)
	}
	l.queue = queue.NewOnLane(lane.New(l, lane.Options{Window: window, Looks: looks, Device: d.ID, Prompt: true}), queue.Options{Label: o.Label, Device: d.ID, Clock: d.clock, Deferred: o.Deferred})
	d.mu.Lock()
	d.queues[l.queue] = true
	lost := d.isLost.Load()
	d.mu.Unlock()
	if lost {
		l.queue.Lose(d.LostError())
	}
	return l.queue, nil
}
