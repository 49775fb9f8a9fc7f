package queue

import (
	"context"
	"sync"
	"sync/atomic"
)

// Event is a point in a queue's commands: it implements [offload.Event].
type Event struct {
	queue  *Queue
	number uint64 // of the command that completes it
	done   atomic.Bool
	time   int64 // set before done
	err    error // set before done: why the command was dropped

	mu     sync.Mutex
	queues []*Queue // that are blocked until it is done
}

// Done reports whether the event has been reached.
func (ev *Event) Done() bool {
	if ev.done.Load() {
		return true
	}
	ev.queue.nudge()
	return false
}

// Sync waits until the event has been reached, and gives the failure of the commands before it unless somebody was
// given it already. If ctx ends first, those commands are cancelled as [Queue.Sync] does.
func (ev *Event) Sync(ctx context.Context) error {
	err := ev.queue.sync(ctx, ev.number)
	if err == nil && ev.done.Load() {
		err = ev.err
	}
	return err
}

// Time is when the event was reached, on the device's clock.
func (ev *Event) Time() (ns int64, ok bool) {
	if !ev.Done() {
		return 0, false
	}
	return ev.time, true
}

// complete says that the event has been reached, or dropped.
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

// tell has the queue unblocked when the event is reached. If it is already, it gives false.
func (ev *Event) tell(q *Queue) bool {
	ev.mu.Lock()
	defer ev.mu.Unlock()
	if ev.done.Load() {
		return false
	}
	ev.queues = append(ev.queues, q)
	return true
}
