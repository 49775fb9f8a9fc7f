// Package loop is the event loop of the script engine.
//
// Unlike a browser's loop, it ends when no callback is queued, no timer is set and no operation is held. A host operation that
// finishes later keeps the loop alive with [Loop.Hold] and delivers its result with [Pending.Resolve] from any goroutine. All
// callbacks run on the goroutine that called [Loop.Run], [Loop.RunUntil] or [Loop.Serve], so a single-threaded interpreter is
// safe.
//
// # Design
//
// Work belongs to the call that began it: each callback runs in the scope of the call that set it in motion. A failed call
// ends its own work and no other.
package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// ErrStalled reports that [Loop.RunUntil] can never finish: no callback is queued, no operation held and no timer set.
var ErrStalled = errors.New("nothing is left to run, but the awaited result never came")

// A Callback runs on the loop's goroutine. An error ends the run, unless [Loop.OnError] handles it.
type Callback func() error

// A PanicError is a Go panic of a callback, converted to an error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// A Scope identifies an owner of work, such as a call of the engine. Timers, operations and their callbacks inherit the scope
// of the callback that created them. A nil scope means no owner.
type Scope struct{ _ byte } // nonzero size, so that pointers differ

// Loop is an event loop. [New] creates one.
type Loop struct {
	// AfterTurn, if set, runs after every callback without an error. Its own error is treated like that of a callback. It must
	// be set before the loop runs.
	AfterTurn Callback
	// OnError, if set, receives the error of a callback or of AfterTurn, and the callback's scope. A non-nil result ends the
	// run. It must be set before the loop runs.
	OnError func(*Scope, error) error

	scope *Scope // scope of the running callback; used only by the loop's goroutine

	mu       sync.Mutex
	queue    []task // callbacks in order of arrival
	spare    []task // memory of the previous batch, for reuse
	sleeping bool
	wake     chan struct{}
	first    *Pending // held and watched operations, oldest first
	last     *Pending
	held     int // number of held operations
	timers   timerHeap
	lastID   int64
}

// A task is a queued callback.
type task struct {
	fn    Callback
	scope *Scope
}

// mostTasks is the maximum number of callbacks that run before timers are checked again.
const mostTasks = 64

// New returns an empty loop.
func New() *Loop {
	return &Loop{wake: make(chan struct{}, 1)}
}

// Scope returns the scope of the running callback. It must be called on the loop's goroutine.
func (l *Loop) Scope() *Scope { return l.scope }

// Post queues fn without a scope. It is safe for concurrent use. A queued callback keeps the loop alive.
func (l *Loop) Post(fn Callback) { l.PostFor(nil, fn) }

// PostFor queues fn for a scope, like Post.
func (l *Loop) PostFor(s *Scope, fn Callback) {
	l.mu.Lock()
	l.queue = append(l.queue, task{fn, s})
	l.rouse()
	l.mu.Unlock()
}

// rouse wakes the loop if it sleeps. The caller must hold the lock.
func (l *Loop) rouse() {
	if l.sleeping {
		l.sleeping = false
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Run runs callbacks until none is queued, no operation is held and no timer keeps the loop alive; see [Timer.KeepAlive] and
// [Loop.Watch]. It returns the first error that ends the run, or the context's cause.
func (l *Loop) Run(ctx context.Context) error {
	return l.run(ctx, func() bool { return false }, untilQuiet)
}

// RunUntil runs callbacks until done returns true. done is called at the start and after every callback. RunUntil returns
// [ErrStalled] if the loop becomes idle first. It returns other errors as Run does.
func (l *Loop) RunUntil(ctx context.Context, done func() bool) error {
	return l.run(ctx, done, untilDone)
}

// Serve runs callbacks until the context is cancelled, even while the loop is idle. onError receives the errors of callbacks,
// which do not end the loop.
func (l *Loop) Serve(ctx context.Context, onError func(error)) {
	for {
		err := l.run(ctx, func() bool { return false }, untilCancelled)
		if err != context.Cause(ctx) { // the error came from a callback
			onError(err)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

type mode int

const (
	untilQuiet mode = iota
	untilDone
	untilCancelled
)

func (l *Loop) run(ctx context.Context, done func() bool, m mode) error {
	var rest []task                    // after the callback that runs
	defer func() { l.putBack(rest) }() // if the callback ends the goroutine
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if m == untilDone && done() {
			return nil
		}
		batch := l.take()
		for i := range batch {
			rest = batch[i+1:]
			err := l.turn(batch[i])
			rest = nil
			if err != nil {
				l.putBack(batch[i+1:])
				return err
			}
			if ctx.Err() != nil || (m == untilDone && done()) {
				l.putBack(batch[i+1:])
				break
			}
		}
		if len(batch) > 0 {
			l.recycle(batch)
			continue
		}
		wait, alive := l.sleepFor(m)
		if wait == 0 {
			continue
		}
		if !alive && m != untilCancelled {
			l.stayAwake()
			if l.unstick() {
				continue
			}
			if m == untilDone {
				return ErrStalled
			}
			return nil
		}
		if err := l.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// take returns callbacks that are ready: a bounded number of queued ones, then those of expired timers.
func (l *Loop) take() []task {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.queue
	l.queue = l.spare[:0]
	l.spare = nil
	if len(batch) > mostTasks {
		l.queue = append(l.queue, batch[:mostTasks]...)
		l.queue, batch = batch[mostTasks:], l.queue
	}
	if len(l.timers) > 0 {
		batch = l.timers.due(time.Now(), batch)
	}
	return batch
}

// putBack inserts the callbacks that a batch did not reach at the front of the queue.
func (l *Loop) putBack(rest []task) {
	if len(rest) == 0 {
		return
	}
	l.mu.Lock()
	l.queue = append(append(make([]task, 0, len(rest)+len(l.queue)), rest...), l.queue...)
	l.mu.Unlock()
}

// recycle keeps the memory of a finished batch for the next one, unless the batch was unusually large.
func (l *Loop) recycle(batch []task) {
	const keep = 4096
	clear(batch)
	if cap(batch) <= keep {
		l.mu.Lock()
		l.spare = batch[:0]
		l.mu.Unlock()
	}
}

// turn runs one callback, then AfterTurn unless the callback failed, and passes their error to OnError. It returns the error
// that ends the run.
func (l *Loop) turn(t task) error {
	l.scope = t.scope
	err := l.guarded(t.fn)
	if err == nil && l.AfterTurn != nil {
		err = l.guarded(l.AfterTurn)
	}
	if err != nil && l.OnError != nil {
		err = l.guarded(func() error { return l.OnError(t.scope, err) })
	}
	l.scope = nil
	return err
}

// guarded runs a callback and converts a panic to an error.
func (l *Loop) guarded(fn Callback) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &PanicError{Value: x, Stack: debug.Stack()}
		}
	}()
	return fn()
}

const forever = time.Duration(1<<63 - 1)

// sleepFor returns the time until the next timer, or forever if there is none, and whether any callback can still arrive. In the mode
// untilQuiet, timers count only if one of them keeps the loop alive. If a callback is ready, the time is 0. Otherwise sleepFor marks the
// loop as sleeping, so that Post wakes it.
func (l *Loop) sleepFor(m mode) (wait time.Duration, alive bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 0 {
		return 0, true
	}
	l.sleeping = true
	if len(l.timers) == 0 {
		return forever, l.held > 0
	}
	wait = time.Until(l.timers[0].at)
	if wait <= 0 {
		l.sleeping = false
		return 0, true
	}
	return wait, m != untilQuiet || l.held > 0 || l.timers.keepsAlive() // any timer may complete an awaited operation
}

func (l *Loop) stayAwake() {
	l.mu.Lock()
	l.sleeping = false
	l.mu.Unlock()
}

func (l *Loop) sleep(ctx context.Context, wait time.Duration) error {
	var alarm <-chan time.Time
	if wait != forever {
		t := time.NewTimer(wait)
		defer t.Stop()
		alarm = t.C
	}
	defer l.stayAwake()
	select {
	case <-l.wake:
	case <-alarm:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
