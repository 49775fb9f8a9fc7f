package queue

import (
	"sync/atomic"

	"github.com/orepl/orepl/runtime/offload"
)

// keptTimes is the number of the latest commands whose end times are kept: more than fullSlots.
const keptTimes = 1 << 14

// times are the times at which the latest commands ended, by their numbers.
type times [keptTimes]atomic.Int64

// Now implements [offload.Timekeeper]. ok is false on queues of asynchronous devices, and for events that are not done. The first call
// makes the queue keep the times at which commands end.
func (q *Queue) Now(since offload.Event) (ns int64, newest uint64, idle, ok bool) {
	e, same := since.(*Event)
	if !same || q.lane != nil || e.queue.lane != nil || !e.done.Load() {
		return 0, 0, false, false
	}
	if q.times.Load() == nil {
		q.times.CompareAndSwap(nil, new(times))
	}
	newest = q.tail.Load()
	return q.opts.Clock.Now() - e.time, newest, q.head.Load() == newest, true
}

// Ended implements [offload.Timekeeper]. The queue keeps the times of the last keptTimes commands since the first call of
// Now; ok is false for earlier ones.
func (r *runner) Ended(number uint64, since offload.Event) (ns int64, done, ok bool) {
	e, same := since.(*Event)
	t := r.times.Load()
	if !same || t == nil {
		return 0, true, false
	}
	if r.head.Load() < number {
		return 0, false, false
	}
	at := t[number%keptTimes].Load()
	return at - e.time, true, at != 0 && r.head.Load()-number < keptTimes // a later command may end meanwhile
}
