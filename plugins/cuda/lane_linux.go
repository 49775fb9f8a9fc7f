//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/lang/kernel/lower"
	"github.com/orepl/orepl/plugins/cuda/internal/driver"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

const (
	window = 256 // maximum number of commands in flight of a queue
	looks  = 200 // polls of a command before a goroutine sleeps
)

// lane implements [queue.Lane] on a stream.
type lane struct {
	device *device
	stream driver.Stream
	queue  *queue.Queue

	mu       sync.Mutex
	flying   []*flight // unfinished commands, in order
	carrying bool      // a goroutine enqueues a long transfer
	waiting  []*flight // commands queued behind the long transfer
	idle     map[int][]*records
	events   []driver.Event // events without timing, for reuse
	reached  atomic.Uint64
}

// flight is a command in flight.
type flight struct {
	command *queue.Command
	number  uint64
	event   driver.Event // recorded after the command; 0 if none is needed
	started bool         // the command is enqueued, and event is set; guarded by the lane
	err     error        // error of the command, set when it is settled
	records *records
	blocks  []*pinned  // pinned blocks that the command uses
	host    *hostRange // pinned memory of the caller that the command uses; may be nil
	after   func()     // runs on the host after the command; may be nil
	calls   *serving   // state of a launch that calls services
	prints  bool       // settling the command calls the host
	stop    atomic.Bool

	answers sync.Mutex // held while a call of a service is answered
	over    bool       // another launch may have the records; guarded by answers

	settle  sync.Once
	settled chan struct{} // closed after the command ended and its prints were delivered
	watched atomic.Bool   // a goroutine settles the command
}

func (l *lane) Check(m offload.Memory) error {
	b, ok := m.(*block)
	if !ok || b.device != l.device {
		return offload.Errorf(offload.InvalidDevice, "access", "the memory is of another device").WithHint("copy it through the host")
	}
	if b.freed.Load() {
		return offload.Errorf(offload.Closed, "access", "the memory was freed")
	}
	return nil
}

func (l *lane) NewLaunch() queue.LaneLaunch { return &launch{device: l.device} }
func (l *lane) Window() int                 { return window }
func (l *lane) Flush()                      {}

// newEvent returns a new or reused event. The context is current.
func (l *lane) newEvent(flags driver.EventFlags) (driver.Event, error) {
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
func (l *lane) mark(flags driver.EventFlags) (driver.Event, error) {
	e, err := l.newEvent(flags)
	if err != nil {
		return 0, err
	}
	if err := l.device.driver.Record(e, l.stream); err != nil {
		l.device.driver.DestroyEvent(e)
		return 0, err
	}
	return e, nil
}

func (l *lane) Begin(c *queue.Command) error {
	f := &flight{command: c, number: c.Number, settled: make(chan struct{})}
	t := transferOf(c)
	l.mu.Lock()
	if l.carrying || t.long() {
		l.flying = append(l.flying, f)
		l.waiting = append(l.waiting, f)
		if !l.carrying {
			l.carrying = true
			go l.carry()
		}
		l.mu.Unlock()
		return nil
	}
	l.mu.Unlock()
	if err := l.start(f); err != nil {
		return err
	}
	l.mu.Lock()
	l.flying = append(l.flying, f)
	l.mu.Unlock()
	return nil
}

// carry enqueues the waiting commands in order.
func (l *lane) carry() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.carrying = false
			l.mu.Unlock()
			return
		}
		f := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.mu.Unlock()
		if err := l.start(f); err != nil {
			f.settle.Do(func() {
				f.err = err
				close(f.settled)
			})
		}
	}
}

// start enqueues a command. It blocks during the host's part of a long transfer.
func (l *lane) start(f *flight) error {
	err := l.device.in(func() (err error) {
		c := f.command
		flags := driver.DisableTiming
		switch t := transferOf(c); {
		case t != nil:
			err = l.transfer(f, t)
		case c.Kind == queue.CopyBytes && c.Size > 0:
			err = l.device.driver.Copy(at(&c.Dst), at(&c.Src), c.Size, l.stream)
		case c.Kind == queue.CopyBox && !slices.Contains(c.Extent[:], 0):
			err = l.copyBox(c)
		case c.Kind == queue.FillBytes && c.Size > 0:
			err = l.fill(f, c)
		case c.Kind == queue.LaunchKernel:
			if s := c.Launch.(*launch); !slices.Contains(s.size[:], 0) {
				if f.records, err = s.enqueue(l); f.records != nil && s.services != nil { // Clear may be called as soon as the launch is started
					f.prints = s.info.Prints
					f.calls = s.serving()
				}
			}
		case c.Kind == queue.RecordEvent:
			flags = 0
		}
		if err != nil {
			return err
		}
		e, err := l.mark(flags)
		l.mu.Lock()
		f.event, f.started = e, err == nil
		l.mu.Unlock()
		return err
	})
	if err != nil {
		for _, b := range f.blocks {
			l.device.pinned.put(b)
		}
		f.blocks = nil
		f.unuse()
		return l.device.failure("enqueue", "", err)
	}
	if f.calls != nil {
		go f.calls.serve(f)
	}
	return nil
}

// finished settles a command after its end: it completes the host's part, reads the launch's records and delivers its
// prints. Further calls do nothing.
func (f *flight) finished(l *lane, failed error) {
	f.settle.Do(func() {
		defer close(f.settled)
		f.answers.Lock()
		f.over = true
		f.answers.Unlock()
		defer func() {
			if p := recover(); p != nil { // a panic of the host's writer
				f.err = offload.Errorf(offload.BackendFailure, "launch", "printing panicked: %v", p).On(l.device.id, "")
			}
		}()
		if failed != nil {
			f.err = l.device.failure("run", "", failed)
			return
		}
		if f.after != nil {
			f.after()
		}
		if f.records != nil {
			f.err = f.command.Launch.(*launch).outcome(f.records)
		}
	})
}

// next returns a waiting call of a service. ok is false if there is none or the command has ended.
func (f *flight) next() (c lower.Call, ok bool) {
	f.answers.Lock()
	defer f.answers.Unlock()
	if f.over {
		return c, false
	}
	return f.calls.calls.Next()
}

// answer calls the function, which answers a call of a service, unless the command has ended.
func (f *flight) answer(give func()) {
	f.answers.Lock()
	defer f.answers.Unlock()
	if !f.over {
		give()
	}
}

// done reports whether a command is settled, and settles a command that has ended. A command whose settling calls the host
// is settled on another goroutine.
func (f *flight) done(l *lane, started bool, e driver.Event) bool {
	select {
	case <-f.settled:
		return true
	default:
	}
	var failed error
	switch {
	case l.device.isLost.Load():
		failed = l.device.LostError()
	case !started:
		return false
	default:
		failed = l.device.in(func() error {
			if s := l.device.driver.Query(e); s != 0 {
				return s
			}
			return nil
		})
		var s driver.Status
		if errors.As(failed, &s) && s == driver.NotReady {
			return false
		}
	}
	if failed == nil && f.prints {
		if !f.watched.Swap(true) {
			go f.finished(l, nil)
		}
		return false
	}
	f.finished(l, failed)
	return true
}

func (l *lane) Reached() uint64 {
	for {
		l.mu.Lock()
		var next *flight
		var started bool
		var e driver.Event
		for _, f := range l.flying {
			if f.number > l.reached.Load() {
				next, started, e = f, f.started, f.event
				break
			}
		}
		l.mu.Unlock()
		if next == nil || !next.done(l, started, e) {
			return l.reached.Load()
		}
		for old := l.reached.Load(); next.number > old && !l.reached.CompareAndSwap(old, next.number); old = l.reached.Load() {
		}
	}
}

func (l *lane) Await(ctx context.Context, n uint64) {
	for range looks {
		if l.Reached() >= n {
			return
		}
		runtime.Gosched()
	}
	pause := 20 * time.Microsecond
	for l.Reached() < n {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Millisecond)
	}
}

func (l *lane) Finish(c *queue.Command) error {
	l.mu.Lock()
	f := l.flying[0]
	l.flying = slices.Delete(l.flying, 0, 1)
	switch {
	case f.event == 0:
	case c.Kind == queue.RecordEvent:
		c.Stamp = l.device.stamps.of(f.event)
	default:
		l.events = append(l.events, f.event)
	}
	if f.records != nil {
		l.idle[len(f.records.words)] = append(l.idle[len(f.records.words)], f.records)
	}
	l.mu.Unlock()
	for _, b := range f.blocks {
		l.device.pinned.put(b)
	}
	f.unuse()
	if f.stop.Load() && f.err == nil {
		return queue.ErrStopped
	}
	return f.err
}

func (l *lane) Stop(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.flying {
		select {
		case <-f.settled:
			continue
		default:
		}
		if f.number > n || f.number <= l.reached.Load() {
			continue
		}
		if f.records != nil {
			f.records.stop()
			f.stop.Store(true)
		}
	}
}

func (l *lane) Since(later, earlier any) (int64, bool) {
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

// Close destroys the stream and the events, and releases the records.
func (l *lane) Close() {
	d := l.device
	d.mu.Lock()
	delete(d.queues, l.queue)
	d.mu.Unlock()
	for _, list := range l.idle {
		for _, r := range list {
			d.pinned.put(r.memory)
		}
	}
	if d.isLost.Load() {
		return
	}
	_ = d.in(func() error {
		for _, e := range l.events {
			d.driver.DestroyEvent(e)
		}
		d.driver.DestroyStream(l.stream)
		return nil
	})
}
