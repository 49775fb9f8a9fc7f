package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/garbage"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session/retired"
	"github.com/orepl/orepl/runtime/trace/alignment"
)

// Device is a device of a session.
type Device struct {
	session  *Session
	platform *platform
	id       string
	raw      offload.Device
	losable  offload.Losable // raw; nil if it cannot be lost
	lost     <-chan struct{} // closed when the device is lost; nil if it cannot be lost

	clock     atomic.Pointer[alignment.Clock] // of the time line, once a command was issued
	allocated garbage.Meter
	peak      atomic.Int64

	mu          sync.Mutex
	queue       *Queue // the default queue, created on first use
	queues      []*Queue
	allocations map[*allocation]struct{}
	stages      []*stage // spare staging blocks
	staging     []*stage // staging blocks of copies that may not have finished, the one used last at the end

	retired retired.List[fence]
	pins    pins
}

// MemoryUse is the memory use of a device's buffers, in bytes.
type MemoryUse struct {
	Total     int64 // memory of the device
	Allocated int64 // currently allocated
	Peak      int64 // maximum of Allocated
}

func newDevice(p *platform, id string, raw offload.Device) *Device {
	d := &Device{session: p.session, platform: p, id: id, raw: raw, allocations: make(map[*allocation]struct{})}
	if l, ok := raw.(offload.Losable); ok {
		d.losable, d.lost = l, l.Lost()
	}
	return d
}

// IsLost reports whether the device has been lost.
func (d *Device) IsLost() bool {
	if d.lost == nil {
		return false
	}
	select {
	case <-d.lost:
		return true
	default:
		return false
	}
}

// checkLost returns an error for an operation on a lost device.
func (d *Device) checkLost(op, label string) error {
	if !d.IsLost() {
		return nil
	}
	e := &offload.Error{Code: offload.DeviceLost, Op: op, Device: d.id, Label: label, Detail: "the device has been lost", Err: d.losable.LostError()}
	return e.WithHint("use another device: device() returns the best of those that are left")
}

// ID returns the device's id, such as "cpu" or "cuda:0".
func (d *Device) ID() string { return d.id }

// Info returns the device's description, which must not be changed.
func (d *Device) Info() *offload.DeviceInfo { return d.raw.Info() }

// Platform returns the description of the device's platform.
func (d *Device) Platform() offload.PlatformInfo { return offload.PlatformOf(d.raw, d.platform.raw) }

// Session returns the device's session.
func (d *Device) Session() *Session { return d.session }

// Contract returns the plugin's device, for methods that the session does not wrap.
func (d *Device) Contract() offload.Device { return d.raw }

// Properties returns further properties of the device, if its plugin offers them.
func (d *Device) Properties() []offload.Property {
	if p, ok := d.raw.(offload.Describer); ok {
		return p.Describe()
	}
	return nil
}

// Memory returns the memory of the device's buffers.
func (d *Device) Memory() MemoryUse {
	return MemoryUse{Total: d.Info().MemoryBytes, Allocated: d.allocated.Load(), Peak: d.peak.Load()}
}

// Queue returns the device's default queue, which the first call creates.
func (d *Device) Queue() (*Queue, error) {
	d.mu.Lock()
	q := d.queue
	d.mu.Unlock()
	if q != nil {
		return q, nil
	}
	q, err := d.newQueue(QueueOptions{Label: d.id}, true)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queue == nil {
		d.queue = q
		return q, nil
	}
	extra := q
	d.queues = slices.DeleteFunc(d.queues, func(q *Queue) bool { return q == extra })
	return d.queue, extra.raw.Close()
}

func (d *Device) addQueue(q *Queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = append(d.queues, q)
}

func (d *Device) removeQueue(q *Queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = slices.DeleteFunc(d.queues, func(o *Queue) bool { return o == q })
}

func (d *Device) allQueues() []*Queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.queues)
}

// closeQueues closes all queues, and waits for those that another goroutine is closing. Then it closes the clock of the
// device's times.
func (d *Device) closeQueues(ctx context.Context) error {
	var errs []error
	for _, q := range d.allQueues() {
		if q.shut() {
			errs = append(errs, q.finish(ctx))
			continue
		}
		select {
		case <-q.ended:
		case <-ctx.Done():
			errs = append(errs, contextError(ctx, "close"))
		}
	}
	errs = append(errs, d.session.tracer.close(d))
	return errors.Join(errs...)
}

// freeAll frees all memory after the end of all queues.
func (d *Device) freeAll() {
	d.mu.Lock()
	list := make([]*allocation, 0, len(d.allocations))
	for a := range d.allocations {
		list = append(list, a)
	}
	d.mu.Unlock()
	for _, a := range list {
		a.release()
	}
	d.retired.Reap()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.freeStages()
}

// Range is a buffer's memory in the address space of a device.
type Range struct {
	Object  Object // the entry of the buffer in the table of live objects
	Kind    offload.MemoryKind
	Address uint64 // of the first byte
	Size    int64  // in bytes
}

// RangeAt returns the memory that contains an address, and false if no live buffer of the device does. Memory of devices without
// addresses is not found.
func (d *Device) RangeAt(address uint64) (Range, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for a := range d.allocations {
		raw, ok := a.raw.(offload.Addresser)
		if !ok {
			continue
		}
		start, err := raw.Address()
		if err == nil && address >= start && address-start < uint64(a.size) {
			return Range{a.object, a.raw.Kind(), start, a.size}, true
		}
	}
	return Range{}, false
}
