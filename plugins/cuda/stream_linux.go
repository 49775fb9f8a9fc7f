//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"runtime"
	"slices"
	"sync"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/plugins/internal/lane"
	"github.com/orepl/orepl/plugins/internal/lowered"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	window = 256 // maximum number of commands in flight of a queue
	looks  = 200 // polls of a command before a goroutine sleeps
)

// stream implements [lane.Stream].
type stream struct {
	device  *device
	handle  driver.Stream
	queue   *queue.Queue
	records *lowered.Pool[*records]

	mu     sync.Mutex
	events []driver.Event // events without timing, for reuse
}

// command is the stream's part of a command in flight.
type command struct {
	event     driver.Event // recorded after the command
	timing    bool         // the event is a stamp's
	blocks    []*pinned    // pinned blocks that the command uses
	host      *hostRange   // pinned memory of the caller that the command uses; may be nil
	unbounded bool         // a launch that the device counts as unbounded
}

// flight is a command in flight.
type flight = lane.Flight[command]

func (l *stream) Check(m offload.Memory) *offload.Error { return l.device.check(m) }
func (l *stream) NewLaunch() queue.LaneLaunch           { return &launch{device: l.device} }
func (l *stream) Flush()                                {}

// Blocks reports whether the command is a long transfer.
func (l *stream) Blocks(c *queue.Command) bool { return transferOf(c).long() }

// Prepare implements [lane.Preparer]. The driver loads no kernel before all running ones have ended. While one runs that may take
// long or wait for the host, a goroutine compiles the launch's variant.
func (l *stream) Prepare(c *queue.Command) <-chan struct{} {
	if c.Kind != queue.LaunchKernel || l.device.unbounded.Load() == 0 {
		return nil
	}
	s := c.Launch.(*launch)
	if s.kernel == nil || s.Empty() {
		return nil
	}
	k, choice := s.kernel, s.kernel.choose(s)
	if k.variants.Made(choice) {
		return nil
	}
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		_, _ = k.variant(choice) // Enqueue reports the error
	}()
	return ready
}

// newEvent returns a new or reused event. The context is current.
func (l *stream) newEvent(flags driver.EventFlags) (driver.Event, error) {
	l.mu.Lock()
	if n := len(l.events); n > 0 && flags == driver.DisableTiming {
		e := l.events[n-1]
		l.events = l.events[:n-1]
		l.mu.Unlock()
		return e, nil
	}
	l.mu.Unlock()
	if flags == 0 {
		if e, ok := l.device.stamps.take(); ok {
			return e, nil
		}
	}
	return l.device.driver.NewEvent(flags)
}

// mark records an event after the enqueued commands. The context is current.
func (l *stream) mark(flags driver.EventFlags) (driver.Event, error) {
	e, err := l.newEvent(flags)
	if err != nil {
		return 0, err
	}
	if err := l.device.driver.Record(e, l.handle); err != nil {
		l.device.driver.DestroyEvent(e)
		return 0, err
	}
	return e, nil
}

func (l *stream) Enqueue(f *flight) error {
	err := l.device.in(func() (err error) {
		c := f.Command
		flags := driver.DisableTiming
		switch t := transferOf(c); {
		case t != nil:
			err = l.transfer(f, t)
		case c.Kind == queue.CopyBytes && c.Size > 0:
			err = l.device.driver.Copy(at(&c.Dst), at(&c.Src), c.Size, l.handle)
		case c.Kind == queue.CopyBox && !slices.Contains(c.Extent[:], 0):
			err = l.copyBox(c)
		case c.Kind == queue.FillBytes && c.Size > 0:
			err = l.fill(f, c)
		case c.Kind == queue.LaunchKernel:
			if s := c.Launch.(*launch); !s.Empty() {
				err = s.enqueue(l, f)
			}
		case c.Kind == queue.RecordEvent:
			flags, f.State.timing = 0, true
		}
		if err != nil {
			return err
		}
		f.State.event, err = l.mark(flags)
		return err
	})
	if err != nil {
		f.State.release(l.device)
		return l.device.failure("enqueue", "", err)
	}
	return nil
}

// release releases the pinned memory that the command used, and no longer counts it as unbounded.
func (c *command) release(d *device) {
	for _, b := range c.blocks {
		d.pinned.put(b)
	}
	if c.host != nil {
		c.host.users.Done()
	}
	if c.unbounded {
		d.unbounded.Add(-1)
	}
}

func (l *stream) Query(f *flight) (ended bool, failed error) {
	err := l.device.in(func() error {
		if s := l.device.driver.Query(f.State.event); s != 0 {
			return s
		}
		return nil
	})
	return err != driver.NotReady, err
}

func (l *stream) Failure(_ *flight, failed error) error { return l.device.failure("run", "", failed) }

func (l *stream) Stamp(f *flight) any { return l.device.stamps.of(f.State.event) }

func (l *stream) Retire(f *flight) {
	if !f.State.timing {
		l.mu.Lock()
		l.events = append(l.events, f.State.event)
		l.mu.Unlock()
	}
	f.State.release(l.device)
}

func (l *stream) Since(later, earlier any) (int64, bool) {
	a, ok1 := later.(*stamp)
	b, ok2 := earlier.(*stamp)
	if !ok1 || !ok2 {
		return 0, false
	}
	var ms float32
	err := l.device.in(func() (err error) {
		ms, err = l.device.driver.Elapsed(b.event, a.event)
		return err
	})
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	return int64(float64(ms) * 1e6), err == nil
}

// Close frees the records. Unless the device is lost, it also destroys the stream and its events.
func (l *stream) Close() {
	d := l.device
	d.mu.Lock()
	delete(d.queues, l.queue)
	d.mu.Unlock()
	l.records.Free()
	if d.isLost.Load() {
		return
	}
	_ = d.in(func() error {
		for _, e := range l.events {
			d.driver.DestroyEvent(e)
		}
		d.driver.DestroyStream(l.handle)
		return nil
	})
}
