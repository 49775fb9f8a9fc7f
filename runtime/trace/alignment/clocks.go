package alignment

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// Clocks are the clocks of devices, related to that of a time line. All methods may be called by several goroutines.
type Clocks struct {
	line *trace.Recorder
	fine bool

	mu   sync.Mutex
	list []aligned
}

type aligned struct {
	id    string
	raw   offload.Device
	clock *Clock
}

// NewClocks returns clocks for the times of a time line. Fine clocks have small errors, which are written as a counter of each device.
func NewClocks(line *trace.Recorder, fine bool) *Clocks { return &Clocks{line: line, fine: fine} }

// Of returns the clock of a device, which the caller's slot keeps. The first call makes and measures the clock.
func (c *Clocks) Of(id string, raw offload.Device, slot *atomic.Pointer[Clock]) *Clock {
	if clock := slot.Load(); clock != nil {
		return clock
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if clock := slot.Load(); clock != nil {
		return clock
	}
	d := aligned{id, raw, New(raw, c.line.Now, c.fine)}
	c.list = append(c.list, d)
	slot.Store(d.clock)
	c.measured(d)
	return d.clock
}

// measured writes the error of a device's clock.
func (c *Clocks) measured(d aligned) {
	if bound, ok := d.clock.Bound(); ok && c.fine {
		c.line.Counter(c.line.Track(trace.DeviceProcess+d.id, "memory"), "clock error (µs)", float64(bound)/1e3)
	}
}

// Renew measures the clocks again whose last measurement is old. Other methods do not wait for it.
func (c *Clocks) Renew() {
	c.mu.Lock()
	list := slices.Clone(c.list)
	c.mu.Unlock()
	for _, d := range list {
		if !d.lost() && d.clock.Renew() {
			c.measured(d)
		}
	}
}

// lost reports whether the device has been lost.
func (d aligned) lost() bool {
	l, ok := d.raw.(offload.Losable)
	if !ok || l.Lost() == nil {
		return false
	}
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}
