package queue

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
)

// waiter is a goroutine that sleeps until a command has finished.
type waiter struct {
	target uint64 // the number of the awaited command
	wake   chan struct{}
}

// Sync waits until all commands issued before have run, and returns the first unreported failure. If ctx ends first, these
// commands are cancelled: the running one ends early, the others do not start, and the failure has the code Cancelled. A host
// function cannot be ended, so Sync returns while it runs.
func (q *Queue) Sync(ctx context.Context) error {
	target := q.tail.Load()
	if q.head.Load() >= target && !q.failed.Load() {
		return nil
	}
	return q.sync(ctx, target)
}

// sync implements Sync for the commands up to the number target.
func (q *Queue) sync(ctx context.Context, target uint64) error {
	reached := q.arrive(ctx, target)
	if ctx.Err() != nil {
		q.noteCancelled(target)
	}
	if err := q.take(target); err != nil {
		return err
	}
	if !reached {
		return q.leaveBehind(context.Cause(ctx))
	}
	return nil
}

// arrive waits for the commands up to target, and cancels them if ctx ends first. It reports whether they have finished.
func (q *Queue) arrive(ctx context.Context, target uint64) bool {
	if q.head.Load() >= target {
		return true
	}
	if ctx.Done() == nil {
		q.await(wait{target: target})
		return true
	}
	q.watch(ctx, target, wait{target: target, ctx: ctx})
	if q.head.Load() >= target {
		return true
	}
	q.cancel(target, context.Cause(ctx)) // the guard may have fired too late
	return false
}

// watch awaits w, and cancels the commands up to target if ctx ends first.
func (q *Queue) watch(ctx context.Context, target uint64, w wait) {
	g := q.guardFor(ctx)
	g.target.Store(target)
	if ctx.Err() != nil { // the guard has fired before the target was set
		q.cancel(target, context.Cause(ctx))
	}
	q.await(w)
	q.giveBack(g)
}

// WaitForSpace waits until the queue accepts commands without blocking: it implements [offload.Bounded]. If ctx ends first,
// the commands issued so far are cancelled as by Sync.
func (q *Queue) WaitForSpace(ctx context.Context) error {
	tail := q.tail.Load()
	n := tail - q.head.Load()
	if n < softSlots || n > tail { // the head may have passed the tail read before
		return nil
	}
	w := wait{target: tail - n + n/4, slotOnly: true, ctx: ctx} // waits for several slots, so that later commands need not wait
	if ctx.Done() == nil {
		q.await(w)
		return nil
	}
	q.watch(ctx, tail, w)
	if ctx.Err() == nil {
		return nil
	}
	return q.sync(ctx, tail)
}

// guard cancels commands when a context ends. A queue keeps the newest for the next Sync, which usually has the same context,
// because registering a new one costs more than a launch.
type guard struct {
	done   <-chan struct{} // the context's
	stop   func() bool     // ends the watch
	target atomic.Uint64   // the newest command to cancel; 0 while no Sync uses the guard
}

// guardFor returns a guard for ctx, for exclusive use by the caller.
func (q *Queue) guardFor(ctx context.Context) *guard {
	g := q.guard.Swap(nil)
	if g != nil && g.done == ctx.Done() {
		return g
	}
	if g != nil {
		g.stop()
	}
	g = &guard{done: ctx.Done()}
	g.stop = context.AfterFunc(ctx, func() {
		if n := g.target.Load(); n > 0 {
			q.cancel(n, context.Cause(ctx))
		}
	})
	return g
}

// giveBack keeps a guard for the next Sync. It stops a guard that was kept before.
func (q *Queue) giveBack(g *guard) {
	g.target.Store(0)
	if old := q.guard.Swap(g); old != nil {
		old.stop()
	}
}

// wait describes a wait for a command.
type wait struct {
	target   uint64          // the number of the command
	ctx      context.Context // nil if nothing ends the wait
	slotOnly bool            // for a slot only; ends when progress may depend on the caller
	passive  bool            // does not run commands, which ctx could not interrupt
}

// endsEarly reports whether the wait ends before the command has finished. A wait for a slot ends if a host function or a service call
// runs, or the queue is blocked. A passive wait ends if its context has ended, any other one then only while a host function runs.
func (q *Queue) endsEarly(w wait) bool {
	switch {
	case w.slotOnly:
		return q.hosting.Load() || q.calling.Load() || q.blocked.Load() != nil
	case w.passive:
		return w.ctx.Err() != nil
	case w.ctx != nil:
		return q.hosting.Load() && w.ctx.Err() != nil
	}
	return false
}

// await returns when the command has finished or the wait ends without it. Unless w is passive, it runs the commands itself if no
// other goroutine does.
func (q *Queue) await(w wait) {
	if q.lane != nil {
		q.awaitLane(w)
		return
	}
	for look := 0; q.head.Load() < w.target; look++ {
		if !w.passive && q.takeRole() {
			finished := q.drain(w.target, false)
			q.release()
			if !finished {
				q.sleep(w, true)
			}
			look = 0
			continue
		}
		if q.endsEarly(w) {
			return
		}
		if ev := q.blocked.Load(); ev != nil {
			if w.ctx == nil && !w.passive {
				q.helping.Add(1)
				ev.queue.await(wait{target: ev.number})
				q.helping.Add(-1)
			} else { // this goroutine must not run commands of the other queue, which ctx must not cancel
				ev.queue.nudge()
				q.sleep(w, w.passive)
			}
			continue
		}
		if look < spins && q.spin {
			pause(look)
			continue
		}
		q.sleep(w, w.passive)
		look = 0
	}
	if q.pending() && q.blocked.Load() == nil && !q.role.Load() { // unblock may have left the commands behind to this goroutine
		q.mu.Lock()
		q.ensure(false)
		q.mu.Unlock()
	}
}

// sleep waits until the command has finished or the state has changed. worker is set if only the worker may run the next
// command.
func (q *Queue) sleep(w wait, worker bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var p *waiter
	if n := len(q.spare); n > 0 {
		p, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		p = &waiter{wake: make(chan struct{}, 1)}
	}
	p.target = w.target
	q.parked = append(q.parked, p)
	q.waiting.Add(1)
	if worker {
		q.ensure(true)
	}
	free := !worker && !q.role.Load() && q.blocked.Load() == nil
	if q.lane != nil {
		free = q.mayWatch() || !worker && !q.flight.watched.Load() && q.blocked.Load() == nil
	}
	if q.head.Load() < w.target && !free && !q.endsEarly(w) {
		q.mu.Unlock()
		<-p.wake
		q.mu.Lock()
	}
	q.waiting.Add(-1)
	q.parked = slices.DeleteFunc(q.parked, func(o *waiter) bool { return o == p })
	select {
	case <-p.wake:
	default:
	}
	q.spare = append(q.spare, p)
}

// everything is greater than every command number.
const everything = math.MaxUint64

// notify wakes the waiters for commands up to n.
func (q *Queue) notify(n uint64) {
	q.mu.Lock()
	for _, w := range q.parked {
		if w.target <= n {
			w.signal()
		}
	}
	q.mu.Unlock()
}

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // already awake
	}
}

// unblock resumes a queue that was blocked by ev, on a waiting goroutine if there is one, else on the worker.
func (q *Queue) unblock(ev *Event) {
	if !q.blocked.CompareAndSwap(ev, nil) {
		return
	}
	q.flight.changes.Add(1)
	if q.helping.Load() > 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.parked) == 0 {
		q.ensure(true)
		return
	}
	for _, w := range q.parked {
		w.signal()
	}
}

// cancel requests the commands up to target to end: it drops those that have not begun, and asks the device to end the others.
func (q *Queue) cancel(target uint64, cause error) {
	q.abandon(target, cause)
	if q.lane != nil {
		q.lane.Stop(target)
	}
}

// abandon drops the commands up to target, and requests the running one of a synchronous device to end.
func (q *Queue) abandon(target uint64, cause error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped.Load() < target {
		q.dropped.Store(target)
		q.cause = cause
	}
	q.stop.request(1, target, cancelled)
	q.blocked.Store(nil)
	q.flight.changes.Add(1)
	for _, w := range q.parked {
		w.signal()
	}
	q.ensure(true)
}
