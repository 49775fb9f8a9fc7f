//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/offload"
)

// hostRanges lists the host memory that callers have pinned.
type hostRanges struct {
	mu   sync.Mutex
	list []*hostRange
}

// hostRange is pinned host memory. The list keeps it alive until it is unpinned.
type hostRange struct {
	data   []byte
	users  sync.WaitGroup // commands in flight that use it
	driver *driver.Driver
}

// PinHost implements [offload.HostPinner].
func (d *device) PinHost(data []byte) (release func() error, err error) {
	r := &hostRange{data: data, driver: d.driver}
	err = d.in(func() error { return d.driver.RegisterHost(unsafe.Pointer(unsafe.SliceData(data)), int64(len(data))) })
	switch {
	case err == driver.AlreadyRegistered:
		return nil, offload.Errorf(offload.InvalidArgument, "pin", "part of the memory's pages is pinned already").On(d.ID, "").
			WithHint("pin one array that holds both, or release the other one first")
	case err != nil:
		return nil, d.failure("pin", "", err)
	}
	d.ranges.mu.Lock()
	d.ranges.list = append(d.ranges.list, r)
	d.ranges.mu.Unlock()
	return func() error {
		if !d.ranges.remove(r) {
			return nil // unpinned before, perhaps since the device was closed
		}
		r.users.Wait()
		if d.isLost.Load() {
			return nil
		}
		if err := d.in(r.release); err != nil && !d.isLost.Load() {
			return d.failure("release", "", err)
		}
		return nil
	}, nil
}

// release unpins the range. The context is current.
func (r *hostRange) release() error {
	return r.driver.UnregisterHost(unsafe.Pointer(unsafe.SliceData(r.data)))
}

// remove removes a range, which then gets no further users. It returns false if the range is absent.
func (h *hostRanges) remove(r *hostRange) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.list, r)
	if i < 0 {
		return false
	}
	h.list = slices.Delete(h.list, i, i+1)
	return true
}

// use returns the range that holds data, with one more user, or nil if no range holds it.
func (h *hostRanges) use(data []byte) *hostRange {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	for _, r := range h.list {
		if from := uintptr(unsafe.Pointer(unsafe.SliceData(r.data))); at >= from && at+uintptr(len(data)) <= from+uintptr(len(r.data)) {
			r.users.Add(1)
			return r
		}
	}
	return nil
}

// free unpins all ranges. The context is current, and no command is in flight.
func (h *hostRanges) free() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.list {
		_ = r.release() // the device is closed
	}
	h.list = nil
}

// direct enqueues a copy of one row whose host memory the caller has pinned. For other copies it does nothing, and ok is false. The
// context is current.
func (l *stream) direct(f *flight, t *transfer) (ok bool, err error) {
	if t.extent[1] != 1 || t.extent[2] != 1 {
		return false, nil
	}
	host := t.host.Host[:t.extent[0]]
	if f.State.host = l.device.ranges.use(host); f.State.host == nil {
		return false, nil
	}
	p := unsafe.Pointer(unsafe.SliceData(host))
	if t.upload {
		return true, l.device.driver.Upload(at(&t.device), p, t.extent[0], l.handle)
	}
	return true, l.device.driver.Download(p, at(&t.device), t.extent[0], l.handle)
}
