package queue

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// Event is a point in a queue's commands: it implements [offload.Event].
type Event struct {
	queue   *Queue
	number  uint64 // number of the command that records the event; if no command does, that of the last command before the event
	mark    bool   // covers no commands
	stamped bool   // a mark that the lane reaches
	done    atomic.Bool
	time    int64        // set before done
	stamp   any          // set before done: the lane's point on the device's clock
	err     error        // set before done: the error of a dropped command
	own     error        // set before done: the first failure of the covered commands
	asked   atomic.Int32 // number of callers in Sync, which will return own

	mu     sync.Mutex
	queues []*Queue // blocked until the event is done
}

// Done reports whether the event has been reached. If not, it also makes the queue's pending commands run soon.
func (ev *Event) Done() bool {
	if ev.done.Load() {
		return true
	}
	ev.queue.nudge()
	return ev.done.Load()
}

// Sync waits until the event has been reached and returns the failure of the commands since the previous event. If they succeeded,
// it returns the first unreported failure before them. If ctx ends first, all commands before the event are cancelled as by
// [Queue.Sync].
func (ev *Event) Sync(ctx context.Context) error {
	q := ev.queue
	ev.asked.Add(1)
	defer ev.asked.Add(-1)
	if !ev.done.Load() && !q.arrive(ctx, ev.number) {
		q.noteCancelled(ev.number)
		if err := q.take(ev.number); err != nil {
			return err
		}
		return q.leaveBehind(context.Cause(ctx))
	}
	if ctx.Err() != nil {
		q.noteCancelled(ev.number)
	}
	if ev.own != nil {
		return q.takeOwn(ev)
	}
	if err := q.take(ev.number); err != nil {
		return err
	}
	return ev.err
}

// Settle waits until the event has been reached and reports no failure of commands. If ctx ends first, it returns an error of code
// [offload.Cancelled], and cancels no commands.
func (ev *Event) Settle(ctx context.Context) error {
	if ev.done.Load() {
		return nil
	}
	q := ev.queue
	w := wait{target: ev.number, ctx: ctx, passive: true}
	if ctx.Done() == nil {
		q.await(w)
		return nil
	}
	stop := context.AfterFunc(ctx, func() { q.notify(everything) })
	q.await(w)
	stop()
	if ev.done.Load() {
		return nil
	}
	err := q.refuse(offload.Cancelled, "wait", "the wait was cancelled")
	err.Err = context.Cause(ctx)
	return err
}

// Failure returns the failure of the commands that the event covers, or why they were dropped, without consuming it. It returns nil if
// there is none, or the event has not been reached.
func (ev *Event) Failure() error {
	if !ev.done.Load() {
		return nil
	}
	return cmp.Or(ev.own, ev.err)
}

// Since returns the time from an earlier event of the device to this one, in nanoseconds. It returns false unless both are
// done and have times of the same clock.
func (ev *Event) Since(earlier offload.Event) (ns int64, ok bool) {
	e, same := earlier.(*Event)
	if !same || !ev.Done() || !e.Done() || (e.queue.lane == nil) != (ev.queue.lane == nil) {
		return 0, false
	}
	if lane := ev.queue.lane; lane != nil {
		return lane.Since(ev.stamp, e.stamp)
	}
	return ev.time - e.time, true
}

// complete marks the event as reached or dropped, and unblocks the queues that wait for it.
func (ev *Event) complete(now int64, err error) {
	ev.time, ev.err = now, err
	ev.done.Store(true)
	ev.mu.Lock()
	queues := ev.queues
	ev.queues = nil
	ev.mu.Unlock()
	for _, q := range queues {
		q.unblock(ev)
	}
}

// subscribe registers q to be unblocked when the event is reached. It returns false if the event has been reached.
func (ev *Event) subscribe(q *Queue) bool {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if ev.done.Load() {
		return false
	}
	if !slices.Contains(ev.queues, q) { // an earlier, cancelled wait may have registered q
		ev.queues = append(ev.queues, q)
	}
	return true
}
