package queue

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// flight is the state of the commands in flight on a lane.
type flight struct {
	first   atomic.Uint64         // number of the oldest command in flight; 0 if none is
	watched atomic.Bool           // a goroutine waits for the lane
	changes atomic.Uint64         // counts changes that a holder of the role may have missed
	expired atomic.Uint64         // number of the newest command whose time limit passed
	lost    atomic.Pointer[error] // the error of the lost device, or nil

	// Written by the holder of the role:
	begun uint64      // the number of the newest command begun or dropped
	count int         // commands in flight
	calls int         // commands in flight that may call services of the host
	host  []hostRange // host memory of the commands in flight, in order

	nudged *Event // last blocking event whose queue was nudged
}

// NewOnLane returns a queue whose commands a lane executes.
func NewOnLane(lane Lane, opts Options) *Queue {
	q := New(nil, opts)
	q.lane = lane
	return q
}

// Lose makes the queue refuse new commands other than events, and fail the unfinished ones with DeviceLost, caused by err. Only the
// first call counts. The lane is to report the commands in flight as reached.
func (q *Queue) Lose(err error) {
	if q.flight.lost.CompareAndSwap(nil, &err) {
		q.abandon(everything, err)
	}
}

// lostError returns the error of the lost device for an operation of this queue.
func (q *Queue) lostError(op string, lost error) error {
	err := q.refuse(offload.DeviceLost, op, "the device is lost")
	err.Err = lost
	return err
}

func (q *Queue) closeLane() {
	if q.lane != nil {
		q.lane.Close()
	}
}

// launchOnLane implements Launch on a queue with a lane.
func (q *Queue) launchOnLane(op string, l *offload.Launch) error {
	c, err := q.begin(op)
	if err != nil {
		return err
	}
	g := c.forLane()
	if g.Launch == nil {
		g.Launch = q.lane.NewLaunch()
	}
	if err := g.Launch.Set(l); err != nil {
		q.mu.Unlock()
		return err
	}
	g.Kind = LaunchKernel
	c.kind, c.kernel, c.pos, c.timeout = launchKernel, l.Kernel, l.Pos, l.Timeout
	c.calls = l.Services != nil && l.Kernel.Info().CallsServices()
	q.publish(0, false)
	return nil
}

// publishToLane issues command n, whose slot is filled, and unlocks the queue. Then it pumps, or the worker does if the queue
// is deferred.
func (q *Queue) publishToLane(n uint64) {
	q.tail.Store(n)
	q.ensure(q.opts.Deferred)
	q.mu.Unlock()
	if !q.opts.Deferred {
		q.pump(issuer)
	}
}

// pumper is the kind of goroutine that pumps.
type pumper uint8

const (
	issuer  pumper = iota // returns at once
	waiting               // waits for the lane afterwards
	working               // the worker, which runs host functions
)

// pump finishes the commands that the lane has reached and begins further ones. It does not block on the lane. If another
// goroutine pumps, that goroutine continues instead.
func (q *Queue) pump(by pumper) {
	for q.pending() && q.role.CompareAndSwap(false, true) {
		tail, changes := q.tail.Load(), q.flight.changes.Load()
		reached, urgent := q.step(by)
		ev := q.blocked.Load()
		fresh := ev != nil && ev != q.flight.nudged
		q.flight.nudged = ev
		q.role.Store(false)
		if fresh {
			ev.queue.nudge() // after the release: the other queue may inspect this one
		}
		if urgent {
			q.mu.Lock()
			q.ensure(true)
			q.mu.Unlock()
		}
		if q.tail.Load() == tail && q.flight.changes.Load() == changes && q.lane.Reached() == reached {
			return
		}
	}
}

// step is one round of pump for the role's holder. It returns the number that the lane has reached, and whether the worker must continue.
func (q *Queue) step(by pumper) (reached uint64, urgent bool) {
	for {
		reached = q.lane.Reached()
		q.harvest(reached)
		begun, urgent := q.beginMany(by)
		if !begun {
			return reached, urgent
		}
	}
}

// harvest finishes begun commands up to the first in flight that is not reached. If that one is a launch with a time limit, the
// limit starts.
func (q *Queue) harvest(reached uint64) {
	f := &q.flight
	for h := q.head.Load(); h < f.begun; {
		n := h + 1
		c := q.ring.Load().at(n)
		if c.flying && n > reached {
			f.first.Store(n)
			if c.timeout > 0 && c.kind == launchKernel && q.timed.Load() != n {
				q.deadline.Store(q.opts.Clock.Now() + int64(c.timeout))
				q.timed.Store(n)
				q.timer.Reset(c.timeout)
			}
			return
		}
		q.finish(c, n)
		h = n
		q.head.Store(h)
		if q.waiting.Load() > 0 {
			q.notify(h)
		}
	}
	f.first.Store(0)
}

// finish ends command n, which the lane has reached or which was not in flight. It records the failure and completes the event of the
// command.
func (q *Queue) finish(c *command, n uint64) {
	f := &q.flight
	if c.skipped {
		q.drop(c, n)
		c.clear()
		return
	}
	err := c.err
	if c.flying {
		f.count--
		err = q.lane.Finish(c.onLane)
		f.releaseHost(n)
		if q.timed.CompareAndSwap(n, 0) {
			q.timer.Stop()
		}
		if c.calls {
			f.calls--
			q.calling.Store(f.calls > 0)
		}
	}
	if err == ErrStopped {
		why := cancelled
		if f.expired.Load() == n {
			why = timedOut
		}
		err = q.stoppedError(c, why)
	}
	if c.kind == recordEvent {
		if c.onLane != nil {
			c.event.stamp = c.onLane.Stamp
		}
		if err != nil && !c.isMark() {
			q.fail(c, n, err)
		}
		q.reach(c.event, err)
	} else if err != nil {
		q.fail(c, n, err)
	}
	c.clear()
}

// beginMany begins commands in order while the window has space and their host memory is free. It reports whether it began any, and
// whether the worker must continue.
func (q *Queue) beginMany(by pumper) (begun, urgent bool) {
	f := &q.flight
	flown := false
	defer func() {
		if flown {
			q.lane.Flush()
		}
	}()
	for f.begun < q.tail.Load() {
		n := f.begun + 1
		c := q.ring.Load().at(n)
		if n <= q.dropped.Load() {
			q.owe(c)
			c.skipped = true
			f.begun, begun = n, true
			continue
		}
		if !q.mayRun(c, n) {
			return begun, false
		}
		if n <= q.dropped.Load() {
			continue
		}
		switch {
		case c.kind == callHost:
			if q.head.Load() != n-1 {
				return begun, false
			}
			if by != working {
				return begun, true
			}
			c.err = q.host(c, n)
		case c.onlyOrders() && !c.isStamp():
		case c.kind == fillBytes && q.forgotten.holds(c.memory, n):
		case f.count >= max(1, q.lane.Window()) || f.count > 0 && f.hostInUse(c.onLane):
			return begun, by == issuer && !f.watched.Load()
		default:
			q.fly(c, n)
			flown = true
		}
		f.begun, begun = n, true
		if c.kind == callHost {
			return begun, false // the head advances before the next command
		}
	}
	return begun, false
}

// fly begins command n on the lane. If the lane refuses the command, fly keeps the error for finish.
func (q *Queue) fly(c *command, n uint64) {
	f := &q.flight
	c.onLane.Number = n
	c.flying = true
	if c.calls {
		f.calls++
		q.calling.Store(true)
		if q.waiting.Load() > 0 {
			q.notify(everything) // some waiters return during service calls
		}
	}
	if err := q.lane.Begin(c.onLane); err != nil {
		c.flying, c.err = false, err
		if c.calls {
			f.calls--
			q.calling.Store(f.calls > 0)
		}
		return
	}
	f.count++
	f.useHost(c.onLane, n)
	if n <= q.dropped.Load() { // cancelled concurrently, before the lane had the command
		q.lane.Stop(n)
	}
}

// expireOnLane requests that command n, whose time limit has passed, end early.
func (q *Queue) expireOnLane(n uint64) {
	q.flight.expired.Store(n)
	q.lane.Stop(n)
}

// mayWatch reports whether a command is in flight that no goroutine awaits.
func (q *Queue) mayWatch() bool { return q.flight.first.Load() != 0 && !q.flight.watched.Load() }

// watchLane waits until the oldest command in flight is reached or ctx ends. It returns false at once if another goroutine waits, or no
// command is in flight.
func (q *Queue) watchLane(ctx context.Context) bool {
	f := &q.flight
	if f.first.Load() == 0 || !f.watched.CompareAndSwap(false, true) {
		return false
	}
	if n := f.first.Load(); n != 0 {
		q.lane.Await(ctx, n)
	}
	f.watched.Store(false)
	return true
}

// leaveWatch makes another goroutine drive the pending commands: this one waited for the lane, or unblock left them to it.
func (q *Queue) leaveWatch() {
	if !q.pending() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.parked {
		w.signal()
	}
	if len(q.parked) == 0 {
		q.ensure(false)
	}
}

// awaitLane implements await on a queue with a lane.
func (q *Queue) awaitLane(w wait) {
	ctx := context.Background()
	if w.passive {
		ctx = w.ctx
	}
	for look := 0; q.head.Load() < w.target; look++ {
		q.pump(waiting)
		if q.head.Load() >= w.target || q.endsEarly(w) {
			break
		}
		if q.watchLane(ctx) {
			look = 0
			continue
		}
		if q.role.Load() && !q.hosting.Load() && look < spins {
			runtime.Gosched()
			continue
		}
		look = 0
		ev := q.blocked.Load()
		switch {
		case q.flight.first.Load() != 0:
			q.sleep(w, false)
		case ev != nil && w.ctx == nil && !w.passive:
			q.helping.Add(1)
			ev.queue.await(wait{target: ev.number})
			q.helping.Add(-1)
		case ev != nil:
			ev.queue.nudge()
			q.sleep(w, false)
		default:
			q.sleep(w, true)
		}
	}
	q.leaveWatch()
}

// serve runs the worker of a queue with a lane. It continues until nothing is in flight or another goroutine waits for the
// lane.
func (q *Queue) serve() {
	for {
		q.pump(working)
		if !q.watchLane(context.Background()) {
			return
		}
	}
}

// ensureOnLane ensures that a goroutine drives the pending commands: at once if urgent, else within a nap. While an event
// blocks the queue and no command is in flight, it does nothing. The queue is locked.
func (q *Queue) ensureOnLane(urgent bool) {
	if !q.pending() || q.blocked.Load() != nil && q.flight.first.Load() == 0 {
		return
	}
	switch {
	case urgent:
		q.rouse()
	case q.worker == noWorker:
		q.worker = asleep // a goroutine in Sync waits on the lane itself
		q.workers.Add(1)
		go q.work(true)
	}
}

// nudgeLane implements nudge on a queue with a lane.
func (q *Queue) nudgeLane() {
	if !q.opts.Deferred {
		q.pump(issuer)
	}
	if q.role.Load() {
		return // the holder continues
	}
	ev := q.blocked.Load()
	if ev != nil && !ev.done.Load() && q.flight.first.Load() == 0 {
		ev.queue.nudge()
		return
	}
	if q.flight.watched.Load() || !q.pending() {
		return
	}
	q.mu.Lock()
	q.ensure(true)
	q.mu.Unlock()
}
