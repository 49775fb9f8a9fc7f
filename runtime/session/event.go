package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Event is a point in the commands of a queue.
type Event struct {
	queue   *Queue
	raw     offload.Event
	seq, id uint64
	label   string
}

// Needs reports whether the event depends on a command of q, in its own queue or through waits. It returns false once the event has been
// reached.
func (ev *Event) Needs(q *Queue) bool { return ev.queue.needs(ev.seq, q) }

// Record returns an event that is reached when the commands before it have run. The label may be empty.
func (q *Queue) Record(label string) (*Event, error) {
	if err := q.enter("record", nil, false); err != nil {
		return nil, err
	}
	raw, err := q.raw.Record()
	if err != nil {
		q.exit(nil, false)
		return nil, located(err, q.device.id, q.object.Label)
	}
	ev := &Event{queue: q, raw: raw, seq: q.issued.Load(), id: q.device.session.serial.Add(1), label: label}
	if len(q.pending) == cap(q.pending) { // drops reached events instead of growing the slice
		q.pending = slices.DeleteFunc(q.pending, (*Event).Done)
	}
	q.pending = append(q.pending, ev)
	q.exit(nil, false)
	return ev, nil
}

// pendingEvents returns the events that have not been reached.
func (q *Queue) pendingEvents() []Object {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pending = slices.DeleteFunc(q.pending, (*Event).Done)
	var list []Object
	for _, ev := range q.pending {
		list = append(list, ev.object())
	}
	return list
}

// Queue returns the queue in which the event was recorded.
func (ev *Event) Queue() *Queue { return ev.queue }
func (ev *Event) object() Object {
	return Object{ID: ev.id, Kind: "event", Label: ev.label, Device: ev.queue.device.id, Owner: ev.queue.object.Owner}
}

// Done reports whether the event has been reached.
func (ev *Event) Done() bool {
	done := ev.raw.Done()
	if done {
		ev.queue.advance(ev.seq)
	}
	return done
}

// Sync waits until the event has been reached. It returns, at each call, the failure of the commands issued since the previous
// event. If they succeeded, it returns the first earlier failure that has not been reported. [Queue.Sync] does not report these
// failures again. If ctx ends first, the commands before the event are cancelled.
func (ev *Event) Sync(ctx context.Context) error {
	err := ev.raw.Sync(ctx)
	if ctx.Err() == nil {
		ev.queue.advance(ev.seq)
	}
	return located(err, ev.queue.device.id, ev.label)
}

// Failure returns the failure of the commands that a reached event covers, without consuming it. It is nil if there is none, or
// the plugin does not support the query.
func (ev *Event) Failure() error {
	if peeker, ok := ev.raw.(offload.EventFailurePeeker); ok {
		return located(peeker.Failure(), ev.queue.device.id, ev.label)
	}
	return nil
}

// Settle waits until the event has been reached, and reports no failure of commands. If ctx ends first, it returns Cancelled
// or Timeout and cancels nothing.
func (ev *Event) Settle(ctx context.Context) error {
	if err := (fence{ev.raw, ev.seq, ev.queue}).Await(ctx); err != nil {
		return located(err, ev.queue.device.id, ev.label)
	}
	ev.queue.advance(ev.seq)
	return nil
}

// Since returns the time from an earlier event of the same device to this one, on the device's clock. Errors: InvalidEvent for a
// nil event, one of another device, or one that has not been reached; Unsupported for a device without a clock.
func (ev *Event) Since(earlier *Event) (time.Duration, error) {
	fail := func(code offload.Code, format string, args ...any) *offload.Error {
		return offload.Errorf(code, "elapsed time", format, args...).On(ev.queue.device.id, ev.label)
	}
	switch {
	case earlier == nil:
		return 0, fail(offload.InvalidEvent, "the earlier event is missing")
	case earlier.queue.device != ev.queue.device:
		return 0, fail(offload.InvalidEvent, "the events are of two devices, %s and %s, whose clocks differ", earlier.queue.device.id, ev.queue.device.id)
	}
	for i, e := range []*Event{earlier, ev} {
		if !e.raw.Done() {
			return 0, fail(offload.InvalidEvent, "the %s event has not been reached", [2]string{"earlier", "later"}[i]).
				WithHint("wait for it first")
		}
	}
	if ns, ok := ev.raw.Since(earlier.raw); ok {
		return time.Duration(ns), nil
	}
	return 0, fail(offload.Unsupported, "the device has no clock")
}

// String returns the event as text for logs.
func (ev *Event) String() string {
	return fmt.Sprintf("%v (command %d of %s)", ev.object(), ev.seq, ev.queue.object.Label)
}
