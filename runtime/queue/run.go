package queue

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// workerState is the state of the queue's worker goroutine.
type workerState uint8

const (
	noWorker workerState = iota
	asleep               // polls the queue when woken, or after a nap
	awake                // polls the queue before it sleeps
)

const (
	nap      = time.Millisecond // longest sleep of a worker before it polls the queue
	naps     = 8                // naps without new commands before the worker ends
	spins    = 200              // polls before a goroutine sleeps, with two or more processors
	spinWait = 20               // loop iterations between polls
	yieldAt  = 0x3f             // polls, less one, between yields to other goroutines
)

// ensure ensures that a goroutine runs the pending commands: at once if urgent, else within a nap. While an event blocks the
// queue and no command is in flight, it does nothing. The queue is locked.
func (q *Queue) ensure(urgent bool) {
	if q.lane != nil {
		q.ensureOnLane(urgent)
		return
	}
	if q.role.Load() || q.blocked.Load() != nil || !q.pending() {
		return
	}
	if urgent || q.worker == noWorker || q.waiting.Load() > 0 {
		q.rouse()
	}
}

// rouse starts or wakes the worker. An awake worker checks for work once more before it sleeps. The queue is locked.
func (q *Queue) rouse() {
	switch q.worker {
	case noWorker:
		q.worker = awake
		q.workers.Add(1)
		go q.work(false)
	case asleep:
		q.worker = awake
		q.wake <- struct{}{} // does not block: only the sender that finds the worker asleep sends
	default:
		q.kicked = q.lane != nil
	}
}

// nudge makes the pending commands of the queue run soon, if there are any.
func (q *Queue) nudge() {
	if q.lane != nil {
		q.nudgeLane()
		return
	}
	if q.role.Load() {
		return
	}
	if ev := q.blocked.Load(); ev != nil {
		ev.queue.nudge()
		return
	}
	q.mu.Lock()
	q.ensure(true)
	q.mu.Unlock()
}

// work is the body of the worker, which starts with a nap if napping is set.
func (q *Queue) work(napping bool) {
	defer q.workers.Done()
	timer := time.NewTimer(nap)
	defer timer.Stop()
	idle, seen := 0, uint64(0)
	if napping {
		q.sleepWorker(timer)
	}
	for {
		if q.lane != nil {
			q.serve()
		} else if q.takeRole() {
			q.drain(everything, true)
			q.release()
		}
		q.mu.Lock()
		if q.hasWork() {
			q.mu.Unlock()
			continue
		}
		if n := q.tail.Load(); n != seen {
			idle, seen = 0, n
		}
		if q.closed && !q.pending() || idle >= naps && q.restful() {
			q.worker = noWorker
			q.mu.Unlock()
			return
		}
		idle++
		q.worker = asleep
		q.mu.Unlock()
		q.sleepWorker(timer)
	}
}

// sleepWorker sleeps until the worker is woken or a nap ends. The caller has set the state to asleep.
func (q *Queue) sleepWorker(timer *time.Timer) {
	timer.Reset(nap)
	select {
	case <-q.wake:
		return // the sender has set awake
	case <-timer.C:
	}
	q.mu.Lock()
	if q.worker == awake { // woken at the same time
		<-q.wake
	}
	q.worker = awake
	q.mu.Unlock()
}

// hasWork reports whether the worker must check for work again. It consumes the kick of a queue with a lane. The queue is
// locked.
func (q *Queue) hasWork() bool {
	if q.lane != nil {
		kicked := q.kicked
		q.kicked = false
		return kicked || q.flight.first.Load() != 0 && !q.flight.watched.Load()
	}
	return q.pending() && !q.role.Load() && q.blocked.Load() == nil
}

// restful reports whether the pending commands need no worker. Without a lane, or without such commands, that is always so. With a lane,
// a goroutine awaits the lane, or an event will restart the queue. While another goroutine holds the role, the worker stays, since no
// goroutine may await what that one begins.
func (q *Queue) restful() bool {
	if q.lane == nil || !q.pending() {
		return true
	}
	blocked := q.blocked.Load() != nil
	if q.role.Load() {
		return false
	}
	if q.flight.first.Load() != 0 {
		return q.flight.watched.Load()
	}
	return blocked
}

// takeRole takes the role if it is free and a command may be runnable. It reports whether it has taken the role.
func (q *Queue) takeRole() bool {
	return q.pending() && q.blocked.Load() == nil && !q.role.Load() && q.role.CompareAndSwap(false, true)
}

// release releases the role, and ensures that another goroutine runs what is pending.
func (q *Queue) release() {
	q.role.Store(false)
	if q.pending() && q.blocked.Load() == nil {
		q.mu.Lock()
		q.ensure(q.backlog >= wakeUpCost)
		q.mu.Unlock()
	}
}

// drain runs commands up to number limit, for the role's holder; worker reports whether that is the worker. It returns false if
// another holder reaches a command that only the worker may run. Otherwise it returns true, also if the queue is blocked or has no
// further commands.
func (q *Queue) drain(limit uint64, worker bool) bool {
	h := q.head.Load()
	for look := 0; h < limit; look++ {
		if h == q.tail.Load() {
			if look == spins || !q.spin {
				return true
			}
			pause(look)
			continue
		}
		look = 0
		c := q.ring.Load().at(h + 1)
		if !worker && c.onWorker() {
			return false
		}
		if h+1 > q.dropped.Load() && !q.mayRun(c, h+1) {
			return true
		}
		q.run(c, h+1)
		h++
		if t := q.times.Load(); t != nil {
			t[h%keptTimes].Store(q.opts.Clock.Now())
		}
		q.head.Store(h)
		if q.waiting.Load() > 0 {
			q.notify(h)
		}
	}
	return true
}

// pause delays the poll after the one with number look, or yields to other goroutines.
func pause(look int) {
	if look&yieldAt == yieldAt {
		runtime.Gosched()
		return
	}
	for range spinWait {
	}
}

// mayRun reports whether the events that command n waits for have been reached, or the command was cancelled. If not, the queue is
// blocked.
func (q *Queue) mayRun(c *command, n uint64) bool {
	for len(q.owed) > 0 {
		if !q.reached(q.owed[0], n) {
			return false
		}
		if n <= q.dropped.Load() {
			return true // the wait was dropped
		}
		q.owed = q.owed[1:]
	}
	return c.kind != awaitEvent || q.reached(c.event, n)
}

// reached reports whether the event is done or command n, which waits for it, was cancelled. If not, the queue is blocked
// until then.
func (q *Queue) reached(ev *Event, n uint64) bool {
	if ev.done.Load() {
		return true
	}
	q.blocked.Store(ev)
	if !ev.subscribe(q) {
		q.blocked.Store(nil)
		return true
	}
	if n <= q.dropped.Load() { // cancelled concurrently; cancel may have seen the queue unblocked
		q.blocked.CompareAndSwap(ev, nil)
		return true
	}
	if q.lane == nil {
		ev.queue.nudge()
	}
	if q.waiting.Load() > 0 {
		q.notify(everything) // some waiters return when the queue is blocked
	}
	return false
}

// run runs command n, or drops it if it was cancelled. It records a failure of the command.
func (q *Queue) run(c *command, n uint64) {
	q.stop.begin(n)
	if n <= q.dropped.Load() {
		q.owe(c)
		q.drop(c, n)
		c.clear()
		return
	}
	var err error
	switch c.kind {
	case copyBytes:
		q.dev.Copy(c.dst, c.src, &q.stop)
	case copyBox:
		c.rows.run(q.dev, c.dst, c.src, &q.stop)
	case fillBytes:
		q.fill(c, n)
	case launchKernel:
		err = q.launch(c, n)
	case callHost:
		err = q.host(c, n)
	case recordEvent:
		q.reach(c.event, nil)
	case reportFailure:
		err = c.err
	}
	if why := q.stop.why(); err == ErrStopped || why != 0 && (c.kind == copyBytes || c.kind == copyBox || c.kind == fillBytes) {
		err = q.stoppedError(c, why)
	}
	if err != nil {
		q.fail(c, n, err)
	}
	c.clear()
}

// drop handles command n, which was cancelled before it ran. It records the failure, except for a mark, and completes the event
// of the command with it.
func (q *Queue) drop(c *command, n uint64) {
	err := q.droppedError(c)
	if !c.isMark() {
		q.fail(c, n, err)
	}
	if c.kind == recordEvent {
		q.reach(c.event, err)
	}
}

// owe keeps the event of a dropped wait, because later commands still depend on it.
func (q *Queue) owe(c *command) {
	if c.kind == awaitEvent && !c.event.done.Load() {
		q.owed = append(q.owed, c.event)
	}
}

// launch runs the kernel of command n.
func (q *Queue) launch(c *command, n uint64) error {
	if c.timeout > 0 {
		q.deadline.Store(q.opts.Clock.Now() + int64(c.timeout))
		q.timed.Store(n)
		q.timer.Reset(c.timeout)
		defer func() {
			q.timer.Stop()
			q.timed.Store(0)
		}()
	}
	if c.calls {
		q.calling.Store(true)
		defer q.calling.Store(false)
		if q.waiting.Load() > 0 {
			q.notify(everything) // some waiters return during service calls
		}
	}
	return q.runKernel(c, &q.stop)
}

func (q *Queue) runKernel(c *command, stop *Stop) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = q.refuse(offload.BackendFailure, c.op, "kernel %s made the device panic: %v\n%s", c.kernel.Info().Name, p, debug.Stack())
		}
	}()
	return c.launch.Run(stop)
}

// expire ends the running launch if its time limit has passed. It checks the clock, since a timer stopped too late may fire
// during a later launch.
func (q *Queue) expire() {
	if n := q.timed.Load(); n != 0 && q.opts.Clock.Now() >= q.deadline.Load() {
		if q.lane != nil {
			q.expireOnLane(n)
			return
		}
		q.stop.request(n, n, timedOut)
	}
}

// host calls the host function of command n, unless the command was dropped. A panic of the function becomes an error of code
// BackendFailure, as does an error without a code.
func (q *Queue) host(c *command, n uint64) (err error) {
	q.hosting.Store(true)
	defer q.hosting.Store(false)
	if n <= q.dropped.Load() { // a canceller that saw hosting unset waits for the command
		return q.droppedError(c)
	}
	if q.waiting.Load() > 0 {
		q.notify(everything) // some waiters return during host functions
	}
	defer func() {
		if p := recover(); p != nil {
			err = q.refuse(offload.BackendFailure, c.op, "the host function panicked: %v\n%s", p, debug.Stack())
		}
	}()
	err = c.fn()
	if err != nil && offload.CodeOf(err) == "" {
		e := q.refuse(offload.BackendFailure, c.op, "the host function failed")
		e.Err, err = err, e
	}
	return err
}
