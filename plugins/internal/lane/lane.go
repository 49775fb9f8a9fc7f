// Package lane implements [queue.Lane] on streams of asynchronous drivers. A plugin supplies a [Stream], which enqueues a
// command, queries whether it has ended, and may wait for it. [Lane] keeps the list of commands in flight and settles each
// ended command once.
//
// # Design
//
// No driver is called under the lane's lock, since a driver may block behind its own threads. A goroutine that queries or
// waits for a command counts as its user, and the lane retires an ended command only after its last user.
//
// Settling a command may call the host, to deliver prints. Such a command is settled on a goroutine of its own, so that
// polling never blocks on the host.
//
// A stream may enqueue some commands only by blocking, for example long copies through pinned memory, or after a preparation. The
// lane enqueues these and the commands behind them on a goroutine, and a launch that is cancelled there is never enqueued.
package lane

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// Stream is a driver's in-order stream of commands. T is the stream's part of a command in flight.
type Stream[T any] interface {
	// Check, NewLaunch, Flush and Since are as in [queue.Lane].
	Check(m offload.Memory) *offload.Error
	NewLaunch() queue.LaneLaunch
	Flush()
	Since(later, earlier any) (ns int64, ok bool)

	// Blocks reports whether Enqueue blocks for long for this command.
	Blocks(c *queue.Command) bool
	// Enqueue enqueues the command and sets State, After and Launch. After an error it has released all of them.
	Enqueue(f *Flight[T]) error
	// Query reports whether an enqueued command has ended, and the driver's error if it failed. A lost device has ended all of
	// its commands. Query must not use f.Command.
	Query(f *Flight[T]) (ended bool, failed error)
	// Failure returns the error of a command from the error of Query.
	Failure(f *Flight[T], failed error) error
	// Stamp returns the time of a settled RecordEvent command, nil if the driver has no clock.
	Stamp(f *Flight[T]) any
	// Retire releases the stream's part of a command. A command that was not enqueued has none.
	Retire(f *Flight[T])
	// Close releases the stream.
	Close()
}

// Waiter is a stream that blocks in the driver until commands end. Lanes of other streams poll.
type Waiter[T any] interface {
	// Wait blocks until an enqueued command has ended. It may return early.
	Wait(f *Flight[T])
}

// Launch is the host's part of a launch in flight.
type Launch interface {
	// Begun is called after the launch was enqueued. settled is closed when the launch is settled.
	Begun(settled <-chan struct{})
	// Stoppable reports whether the device can end the launch on request. Stop is such a request.
	Stoppable() bool
	Stop()
	// Prints reports whether End calls the host.
	Prints() bool
	// End returns the error that the launch recorded. ended is false if the driver failed to run it.
	End(ended bool) error
	// Release makes the launch's memory available to other launches.
	Release()
}

// Preparer is a stream that may have to prepare a command before it enqueues it.
type Preparer interface {
	// Prepare returns a channel that is closed when Enqueue no longer blocks for the command, nil if it does not block now. It
	// must not block, nor use the command after its return.
	Prepare(c *queue.Command) (ready <-chan struct{})
}

// Options configure a lane.
type Options struct {
	Window int    // maximum number of commands in flight
	Looks  int    // number of polls of a command before a goroutine sleeps or waits
	Device string // ID for errors
	Prompt bool   // copies end soon, whatever other processes do
}

// Flight is a command in flight.
type Flight[T any] struct {
	Command *queue.Command // valid until the command is settled
	State   T
	After   func() // runs on the host after the command, unless that failed; may be nil
	Launch  Launch // nil for other commands and for launches without a part of the host

	kind    queue.Kind
	number  uint64
	started bool            // enqueued; guarded by the lane
	stopped bool            // requested to stop; guarded by the lane
	ready   <-chan struct{} // closed when the command can be enqueued; nil if it can be now
	stop    chan struct{}   // closed at a request to stop while ready is awaited; nil without ready
	users   int             // goroutines that query or wait; guarded by the lane
	retired bool            // finished; guarded by the lane

	err     error // set when the command is settled
	settle  sync.Once
	settled chan struct{}
	watched atomic.Bool // a goroutine settles the command
}

// Lane implements [queue.Lane].
type Lane[T any] struct {
	Stream[T]
	options Options

	mu      sync.Mutex
	unused  *sync.Cond    // signalled when users becomes 0
	users   int           // sum of the users of all flights
	flying  []*Flight[T]  // commands that are not finished, in order
	waiting []*Flight[T]  // commands that the carrying goroutine will enqueue
	carries bool          // a goroutine enqueues commands
	reached atomic.Uint64 // number of the last command that is known to be settled
}

// New returns a lane that enqueues commands on a stream.
func New[T any](s Stream[T], o Options) *Lane[T] {
	l := &Lane[T]{Stream: s, options: o}
	l.unused = sync.NewCond(&l.mu)
	return l
}

// Check implements [queue.Lane].
func (l *Lane[T]) Check(m offload.Memory) error {
	if err := l.Stream.Check(m); err != nil {
		return err
	}
	return nil
}

// Window implements [queue.Lane].
func (l *Lane[T]) Window() int { return l.options.Window }

// Prompt implements [queue.PromptLane].
func (l *Lane[T]) Prompt() bool { return l.options.Prompt }

// Begin implements [queue.Lane].
func (l *Lane[T]) Begin(c *queue.Command) error {
	f := &Flight[T]{Command: c, kind: c.Kind, number: c.Number, settled: make(chan struct{})}
	blocks := l.Blocks(c)
	if p, ok := l.Stream.(Preparer); ok && !blocks {
		if f.ready = p.Prepare(c); f.ready != nil {
			f.stop, blocks = make(chan struct{}), true
		}
	}
	l.mu.Lock()
	if l.carries || blocks {
		l.flying, l.waiting = append(l.flying, f), append(l.waiting, f)
		if !l.carries {
			l.carries = true
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

// carry enqueues the waiting commands in order, each when it is ready. It settles one that was stopped before with [queue.ErrStopped],
// and one that the stream does not enqueue with the stream's error.
func (l *Lane[T]) carry() {
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.carries = false
			l.mu.Unlock()
			return
		}
		f := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.use(f)
		l.mu.Unlock()
		if f.ready != nil {
			select {
			case <-f.ready:
			case <-f.stop:
			}
		}
		l.mu.Lock()
		stopped := f.stopped
		l.mu.Unlock()
		err := error(queue.ErrStopped)
		if !stopped {
			err = l.start(f)
		}
		if err != nil {
			f.settle.Do(func() {
				f.err = err
				close(f.settled)
			})
		}
		l.drop(f)
	}
}

// start enqueues a command, and stops a launch if that was requested meanwhile and the device can end it on request.
func (l *Lane[T]) start(f *Flight[T]) error {
	if err := l.Enqueue(f); err != nil {
		return err
	}
	if f.Launch != nil {
		f.Launch.Begun(f.settled)
	}
	l.mu.Lock()
	f.started = true
	f.stopped = f.stopped && f.Launch != nil && f.Launch.Stoppable() // the stop was requested during Enqueue
	if f.stopped {
		f.Launch.Stop()
	}
	l.mu.Unlock()
	return nil
}

// use adds a user of a command. The lane is locked.
func (l *Lane[T]) use(f *Flight[T]) {
	f.users++
	l.users++
}

// drop removes a user of a command.
func (l *Lane[T]) drop(f *Flight[T]) {
	l.mu.Lock()
	last := l.dropUser(f)
	l.mu.Unlock()
	if last {
		l.retire(f)
	}
}

// dropUser removes a user of a command. It reports whether the caller must retire the command. The lane is locked.
func (l *Lane[T]) dropUser(f *Flight[T]) (last bool) {
	f.users--
	last = f.users == 0 && f.retired
	if !last { // otherwise retire removes the user from the lane
		l.release()
	}
	return last
}

// release removes a user from the lane, which is locked.
func (l *Lane[T]) release() {
	if l.users--; l.users == 0 {
		l.unused.Broadcast()
	}
}

// retire releases a finished command without users, and removes its last user from the lane.
func (l *Lane[T]) retire(f *Flight[T]) {
	if f.started {
		l.Retire(f)
		if f.Launch != nil {
			f.Launch.Release()
		}
	}
	l.mu.Lock()
	l.release()
	l.mu.Unlock()
}

// end settles a command after its end. failed is the driver's error, nil if the command succeeded. end completes the host's
// part, and reads the records of a launch. Further calls wait for the first one.
func (l *Lane[T]) end(f *Flight[T], failed error) {
	f.settle.Do(func() {
		defer close(f.settled)
		defer func() {
			if p := recover(); p != nil { // a panic of the host's writer
				f.err = offload.Errorf(offload.BackendFailure, "launch", "printing panicked: %v", p).On(l.options.Device, "")
			}
		}()
		if failed == nil && f.After != nil {
			f.After()
		}
		if f.Launch != nil {
			f.err = f.Launch.End(failed == nil)
		}
		if failed != nil {
			f.err = l.Failure(f, failed)
		}
	})
}

// done reports whether a command is settled, and settles a command that has ended. It leaves a launch that prints to a goroutine and
// returns false. started reports whether the driver has the command; otherwise it cannot have ended. The caller is a user of the
// command.
func (l *Lane[T]) done(f *Flight[T], started bool) bool {
	select {
	case <-f.settled:
		return true
	default:
	}
	if !started {
		return false
	}
	ended, failed := l.Query(f)
	if !ended {
		return false
	}
	if failed == nil && f.Launch != nil && f.Launch.Prints() {
		l.watch(f, func() { l.end(f, nil) })
		return false
	}
	l.end(f, failed)
	return true
}

// watch calls settle on a goroutine that settles the command, unless there is one already.
func (l *Lane[T]) watch(f *Flight[T], settle func()) {
	if f.watched.Swap(true) {
		return
	}
	l.mu.Lock()
	l.use(f)
	l.mu.Unlock()
	go func() {
		settle()
		l.drop(f)
	}()
}

// Reached implements [queue.Lane].
func (l *Lane[T]) Reached() uint64 {
	var polled *Flight[T]
	for {
		reached := l.reached.Load()
		l.mu.Lock()
		last := polled
		if polled != nil && !l.dropUser(polled) {
			last = nil
		}
		i := slices.IndexFunc(l.flying, func(f *Flight[T]) bool { return f.number > reached })
		var started bool
		if polled = nil; i >= 0 {
			polled, started = l.flying[i], l.flying[i].started
			l.use(polled)
		}
		l.mu.Unlock()
		if last != nil {
			l.retire(last)
		}
		if polled == nil {
			return l.reached.Load()
		}
		if !l.done(polled, started) {
			l.drop(polled)
			return l.reached.Load()
		}
		for old := l.reached.Load(); polled.number > old && !l.reached.CompareAndSwap(old, polled.number); old = l.reached.Load() {
		}
	}
}

// Await implements [queue.Lane].
func (l *Lane[T]) Await(ctx context.Context, n uint64) {
	for range l.options.Looks {
		if l.Reached() >= n {
			return
		}
		runtime.Gosched()
	}
	if w, ok := l.Stream.(Waiter[T]); !ok || !l.wait(ctx, w, n) {
		l.poll(ctx, n)
	}
}

// poll polls with growing pauses until command n is reached or ctx ends.
func (l *Lane[T]) poll(ctx context.Context, n uint64) {
	for pause := 20 * time.Microsecond; l.Reached() < n; pause = min(2*pause, time.Millisecond) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// wait blocks in the driver for command n, on a goroutine if ctx can end or the host takes part. It returns false if the
// command is not enqueued yet. It may return true before the command has ended.
func (l *Lane[T]) wait(ctx context.Context, w Waiter[T], n uint64) bool {
	l.mu.Lock()
	i := slices.IndexFunc(l.flying, func(f *Flight[T]) bool { return f.number >= n })
	if i < 0 || !l.flying[i].started {
		l.mu.Unlock()
		return i < 0
	}
	f := l.flying[i]
	l.use(f)
	l.mu.Unlock()
	defer l.drop(f)
	if ctx.Done() == nil && (f.Launch == nil || !f.Launch.Prints()) {
		w.Wait(f)
		return true
	}
	l.watch(f, func() {
		for {
			w.Wait(f)
			if ended, failed := l.Query(f); ended {
				l.end(f, failed)
				return
			}
			time.Sleep(time.Millisecond) // a wait may fail while the command runs
		}
	})
	select {
	case <-f.settled:
	case <-ctx.Done():
	}
	return true
}

// Finish implements [queue.Lane].
func (l *Lane[T]) Finish(c *queue.Command) error {
	l.mu.Lock()
	f := l.flying[0]
	stopped, started := f.stopped, f.started
	l.mu.Unlock()
	if c.Kind == queue.RecordEvent && started {
		c.Stamp = l.Stamp(f)
	}
	l.mu.Lock()
	l.flying = slices.Delete(l.flying, 0, 1)
	f.retired = true
	l.use(f)
	l.mu.Unlock()
	l.drop(f)
	if stopped && f.err == nil {
		return queue.ErrStopped
	}
	return f.err
}

// Stop implements [queue.Lane]. It stops launches only, and none that has ended.
func (l *Lane[T]) Stop(n uint64) {
	l.mu.Lock()
	var running []*Flight[T]
	for _, f := range l.flying {
		switch {
		case f.number > n || f.number <= l.reached.Load() || f.kind != queue.LaunchKernel:
		case !f.started:
			if f.stop != nil && !f.stopped {
				close(f.stop)
			}
			f.stopped = true
		case f.Launch != nil && f.Launch.Stoppable():
			l.use(f)
			running = append(running, f)
		}
	}
	l.mu.Unlock()
	for _, f := range running {
		if ended, _ := l.Query(f); !ended {
			l.mu.Lock()
			f.stopped = true // before the launch can end early
			l.mu.Unlock()
			f.Launch.Stop()
		}
		l.drop(f)
	}
}

// Close implements [queue.Lane].
func (l *Lane[T]) Close() {
	l.mu.Lock()
	for l.users > 0 {
		l.unused.Wait()
	}
	l.mu.Unlock()
	l.Stream.Close()
}
