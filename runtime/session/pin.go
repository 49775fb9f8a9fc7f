package session

import (
	"context"
	"slices"
	"sync"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
)

// PinnedHost is host memory that a device was told to pin, for faster copies.
type PinnedHost struct {
	device  *Device
	data    []byte
	release func() error // nil if the device pins no memory
}

// pins is the host memory that is pinned for a device.
type pins struct {
	sync.Mutex
	list []*PinnedHost
}

// PinHost pins host memory for copies of the device until Release; such memory must not be changed during the copies. Devices that
// have no use for it leave it as it is. Errors: InvalidSize for no bytes; InvalidArgument if part of it is pinned for the device
// already; OutOfResources if the system pins no more.
func (d *Device) PinHost(data []byte) (*PinnedHost, error) {
	const op = "pin"
	if err := d.session.acquire(op, d.id, ""); err != nil {
		return nil, err
	}
	defer d.session.release()
	if len(data) == 0 {
		return nil, offload.Errorf(offload.InvalidSize, op, "there are no bytes to pin").On(d.id, "")
	}
	p := &PinnedHost{device: d, data: data}
	d.pins.Lock()
	defer d.pins.Unlock()
	for _, other := range d.pins.list {
		if from, to := startOf(data), startOf(other.data); from < to+uintptr(len(other.data)) && to < from+uintptr(len(data)) {
			return nil, offload.Errorf(offload.InvalidArgument, op, "part of the memory is pinned already").On(d.id, "").WithHint("release the other one first")
		}
	}
	if pinner, ok := d.raw.(offload.HostPinner); ok {
		var err error
		if p.release, err = pinner.PinHost(data); err != nil {
			return nil, located(err, d.id, "")
		}
	}
	d.pins.list = append(d.pins.list, p)
	return p, nil
}

func startOf(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }

// IsPinned reports whether data is not empty and lies in one range that the device's driver has pinned.
func (d *Device) IsPinned(data []byte) bool {
	d.pins.Lock()
	defer d.pins.Unlock()
	return len(data) > 0 && slices.ContainsFunc(d.pins.list, func(p *PinnedHost) bool {
		from := startOf(p.data)
		return p.release != nil && startOf(data) >= from && startOf(data)+uintptr(len(data)) <= from+uintptr(len(p.data))
	})
}

// Pinned reports whether the device's driver has pinned the memory. Release does not change the answer.
func (p *PinnedHost) Pinned() bool { return p.release != nil }

// Size returns the number of bytes.
func (p *PinnedHost) Size() int { return len(p.data) }

// Device returns the device.
func (p *PinnedHost) Device() *Device { return p.device }

// issued returns fences behind the commands that the device's queues have not finished.
func (d *Device) issued() (pending []fence) {
	d.mu.Lock()
	queues := slices.Clone(d.queues)
	d.mu.Unlock()
	for _, q := range queues {
		if seq := q.issued.Load(); !q.reached(seq) {
			if f, err := q.fence(seq); err == nil { // a closed queue has run all commands
				pending = append(pending, f)
			}
		}
	}
	return pending
}

// Release ends the pinning after the commands of the device's queues that were issued before. Errors: Closed if it was released
// before; Cancelled if ctx ends first, and the memory is released later.
func (p *PinnedHost) Release(ctx context.Context) error {
	const op = "release"
	d := p.device
	if err := d.session.acquire(op, d.id, ""); err != nil {
		return err
	}
	defer d.session.release()
	d.pins.Lock()
	i := slices.Index(d.pins.list, p)
	if i < 0 {
		d.pins.Unlock()
		return offload.Errorf(offload.Closed, op, "the pinned memory was released before").On(d.id, "")
	}
	d.pins.list = slices.Delete(d.pins.list, i, i+1)
	d.pins.Unlock()
	if p.release == nil {
		return nil
	}
	pending := d.issued()
	done := make(chan error, 1)
	go func() {
		for _, f := range pending {
			_ = f.event.Settle(context.Background()) // failures are the queue's
		}
		done <- p.release()
	}()
	select {
	case err := <-done:
		return located(err, d.id, "")
	case <-ctx.Done():
		return offload.Errorf(offload.Cancelled, op, "the wait for copies of the pinned memory was cancelled").On(d.id, "")
	}
}
