package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/observe"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/registry"
	"github.com/orepl/orepl/runtime/trace"
)

// Options are the options of a session.
type Options struct {
	Plugins []offload.Plugin // in order of preference among equals; names are unique
	Logger  *slog.Logger     // nil: no logging
	Trace   *trace.Recorder  // nil: no time line
	Observe observe.Hook     // nil: none
}

// Session owns plugins, devices and the objects made on them.
type Session struct {
	log       *slog.Logger
	tracer    *tracer                // nil: no time line
	platforms []*platform            // one for each plugin, in order
	unready   map[string]string      // hints for plugins without devices, by name
	first     atomic.Pointer[Device] // the best device of all, once searched
	registry  *registry.Registry
	live      liveTable
	serial    atomic.Uint64 // identities of objects; also the order in which resources are locked
	owners    atomic.Uint64 // the last owner
	spans     *observe.Sink // nil: no hook
	collected atomic.Int64  // buffers that the garbage collector freed
	watchers  atomic.Pointer[[]*watcher]

	stagingOnce sync.Once
	stagingPool atomic.Pointer[memory.Pool]

	mu     sync.RWMutex // read-locked while an object is created or freed, so that Close and the operation observe each other
	closed atomic.Bool
}

// Open returns a session. It opens no plugin yet.
func Open(opts Options) *Session {
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Session{log: log, spans: observe.NewSink(opts.Observe), registry: registry.New(log)}
	s.tracer = newTracer(opts.Trace, s.spans)
	for _, p := range opts.Plugins {
		if u, ok := p.(offload.Unconfigured); ok && u.Unconfigured() != "" {
			if s.unready == nil {
				s.unready = map[string]string{}
			}
			s.unready[p.Name()] = u.Unconfigured()
			continue
		}
		s.platforms = append(s.platforms, &platform{session: s, plugin: p})
	}
	return s
}

// Logger returns the session's logger.
func (s *Session) Logger() *slog.Logger { return s.log }

// Failures returns the failure of each queue that its next Sync would report, without consuming it. A prompt displays them.
func (s *Session) Failures() []error {
	var list []error
	for _, q := range s.queues() {
		if err := q.Failure(); err != nil {
			list = append(list, err)
		}
	}
	return list
}

// queues returns the open queues of all devices.
func (s *Session) queues() (list []*Queue) {
	for _, d := range s.Opened() {
		list = append(list, d.allQueues()...)
	}
	return list
}

// Acknowledge consumes the failures of [Session.Failures] for which seen returns true, without waiting for commands. Later
// waits do not report them; the events that cover them still do.
func (s *Session) Acknowledge(seen func(error) bool) {
	for _, q := range s.queues() {
		if err := q.Failure(); err != nil && seen(err) {
			_ = q.takeFailure() // the caller has seen it
		}
	}
}

// TakeFailures returns and consumes the failures of the queues whose commands have all run.
func (s *Session) TakeFailures(ctx context.Context) []error {
	var list []error
	for _, q := range s.queues() {
		if q.Failure() == nil || !q.Idle() {
			continue
		}
		if err := q.Sync(ctx); err != nil {
			list = append(list, err)
		}
	}
	return list
}

// Cancel cancels the commands of all queues and waits until the running ones, other than host functions, have ended. It returns
// the first unreported failure of each queue, without those of cancelled commands. stopped has, for each queue, the failure of the
// launch that a cancellation ended last, unless an earlier call returned it.
func (s *Session) Cancel(cause error) (failures, stopped []error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	for _, q := range s.queues() {
		if err := q.Sync(ctx); err != nil && offload.CodeOf(err) != offload.Cancelled {
			failures = append(failures, err)
		}
		if err := q.stopped(); err != nil {
			stopped = append(stopped, err)
		}
	}
	return failures, stopped
}

// Close waits for all commands, logs and frees the live objects, and closes the platforms. If ctx ends first, it cancels running
// commands. While a host function runs, Close returns, and a goroutine completes it afterwards. Close returns the failures that had
// not been reported, the first one of each queue. A second call is a Closed error.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	again := s.closed.Swap(true)
	s.mu.Unlock()
	if again {
		return closedError("close", "session", "")
	}
	s.first.Store(nil)

	for _, o := range s.Live() {
		s.log.Warn("left alive at the end of the session", "object", o)
	}
	var errs []error
	for _, d := range s.Opened() {
		errs = append(errs, d.closeQueues(ctx))
	}
	left := s.queues()
	if len(left) == 0 {
		return errors.Join(append(errs, s.end(ctx))...)
	}
	go func() {
		for _, q := range left {
			<-q.ended
		}
		if err := s.end(context.WithoutCancel(ctx)); err != nil {
			s.log.Error("closing the session failed after Close had returned", "error", err)
		}
	}()
	return errors.Join(errs...)
}

// end unregisters the libraries in reverse order of registration. Then it closes the platforms in reverse order of the plugins in
// Options. All queues have ended.
func (s *Session) end(ctx context.Context) error {
	var errs []error
	for _, l := range slices.Backward(s.live.libraries()) {
		switch err := l.Unregister(ctx); offload.CodeOf(err) {
		case offload.Closed: // its owner is unregistering it
		case offload.OutOfResources: // it stays in memory, which the end of the session makes no failure
			s.log.Warn("a library stays in memory", "library", l.object.Label, "reason", err)
		default:
			errs = append(errs, err)
		}
	}
	for _, p := range slices.Backward(s.opened()) {
		errs = append(errs, p.close(ctx))
	}
	s.tracer.drop()
	s.live.clear()
	s.closeStaging()
	return errors.Join(errs...)
}

// acquire begins to create or free an object. If it returns nil, the caller must call release. Calls must not nest.
func (s *Session) acquire(op, device, label string) error {
	if !s.tryAcquire() {
		return closedError(op, "session", "").On(device, label)
	}
	return nil
}

// tryAcquire acquires the session like acquire, or returns false if it is closed.
func (s *Session) tryAcquire() bool {
	s.mu.RLock()
	if s.closed.Load() {
		s.mu.RUnlock()
		return false
	}
	return true
}

func (s *Session) release() { s.mu.RUnlock() }
