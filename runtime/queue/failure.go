package queue

import (
	"math"

	"github.com/orepl/orepl/runtime/offload"
)

// maxFailures is the number of unreported failures that a queue keeps one by one. One more entry keeps the next and counts
// those after it.
const maxFailures = 1000

// failure is the failure of command n, or of commands n to last if they were cancelled or exceed maxFailures.
type failure struct {
	n, last uint64
	err     error
	event   *Event // the reached event that covers the command
	more    int    // number of later failures that are only counted
	dropped bool   // the command was cancelled
}

func (f *failure) cancelled() bool { return f.dropped }

// Report is the error of a launch whose description is made only when the error is reported. If many launches fail, most of their
// errors are only counted.
type Report interface {
	error
	Describe() *offload.Error
}

// described returns the description of a report, or another error unchanged.
func described(err error) error {
	if r, ok := err.(Report); ok {
		return r.Describe()
	}
	return err
}

// fail records the failure of c, command n. The caller holds the role.
func (q *Queue) fail(c *command, n uint64, err error) {
	_, isReport := err.(Report)
	f := failure{n: n, last: n, err: err, dropped: !isReport && offload.CodeOf(err) == offload.Cancelled}
	if q.own == nil && !c.onlyOrders() {
		q.own, q.ownNumber = err, n
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	last := len(q.failures) - 1
	switch {
	case f.cancelled() && n <= q.cancelReported:
	case f.cancelled() && last >= 0 && q.failures[last].cancelled():
		q.failures[last].last = n
	case last >= maxFailures && !f.cancelled():
		q.failures[last].more++ // the last entry counts the rest
		q.failures[last].last = n
	default:
		q.failures = append(q.failures, f)
		q.failed.Store(true)
	}
}

// reach completes an event. An event other than a mark covers the commands since the previous one that is no mark. Their first
// failure becomes the event's, unless a caller has received it. dropped is the error of an event that was dropped, or nil. The caller
// holds the role.
func (q *Queue) reach(ev *Event, dropped error) {
	if !ev.mark && q.own != nil {
		own := described(q.own)
		q.own = nil
		q.mu.Lock()
		switch {
		case q.ownNumber <= q.taken && ev.number > q.takenBefore:
		case offload.CodeOf(own) != offload.Cancelled || q.ownNumber > q.cancelReported || ev.number <= q.cancelReported:
			ev.own = own // set first, since a later wait would report the failure instead
		}
		for i := len(q.failures) - 1; i >= 0 && q.failures[i].n > q.parted; i-- {
			if f := &q.failures[i]; !f.cancelled() && i < maxFailures {
				f.event = ev
			}
		}
		q.mu.Unlock()
	}
	if !ev.mark {
		q.parted = ev.number
	}
	ev.complete(q.opts.Clock.Now(), dropped)
}

// take removes the unreported failures up to command n. It returns the first, with the count of the others, or nil if there is none.
// Failures of an event whose Sync is running stay.
func (q *Queue) take(n uint64) error {
	count, first := q.collect(n, func(f *failure) bool { return f.event == nil || f.event.asked.Load() == 0 })
	return withMore(first, count-1)
}

// takeOwn removes the failures of an event's commands and earlier cancellations. Each call returns the event's failure.
func (q *Queue) takeOwn(ev *Event) error {
	count, _ := q.collect(ev.number, func(f *failure) bool { return f.event == ev || f.cancelled() })
	return withMore(ev.own, count-1)
}

// Failure implements [offload.FailurePeeker]: it returns the failure that Sync would return, without consuming it. Cancellations are
// no failures here.
func (q *Queue) Failure() error {
	if !q.failed.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var first error
	count := 0
	for i := range q.failures {
		f := &q.failures[i]
		if f.cancelled() || f.event != nil && f.event.asked.Load() != 0 {
			continue
		}
		if first == nil {
			first = f.err
		}
		count += 1 + f.more
	}
	return withMore(first, count-1)
}

// TakeFailure implements [offload.FailureTaker]. Events that are recorded later do not cover the failures.
func (q *Queue) TakeFailure() error {
	count, first := q.collect(math.MaxUint64, func(f *failure) bool {
		wanted := !f.cancelled() && (f.event == nil || f.event.asked.Load() == 0)
		if wanted {
			q.taken, q.takenBefore = max(q.taken, f.last), q.tail.Load()
		}
		return wanted
	})
	return withMore(first, count-1)
}

// collect removes the wanted failures up to command n. It returns the first of them and the number of those that are not
// cancellations.
func (q *Queue) collect(n uint64, wanted func(*failure) bool) (count int, first error) {
	if !q.failed.Load() {
		return 0, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.failures
	keep := all[:0]
	for i := range all {
		f := &all[i]
		if f.n > n || !wanted(f) {
			keep = append(keep, *f)
			continue
		}
		if first == nil {
			first = f.err
		}
		if !f.cancelled() {
			count++
		}
		count += f.more
		if f.last > n && f.cancelled() {
			keep = append(keep, failure{n: n + 1, last: f.last, err: f.err, dropped: true})
		}
	}
	clear(all[len(keep):])
	q.failures = keep
	q.failed.Store(len(keep) > 0)
	return count, first
}

// withMore returns a copy of err whose text states the number of further failures. If there are none, or err is no [offload.Error], it
// returns err itself. It replaces a [Report] by its description.
func withMore(err error, more int) error {
	err = described(err)
	e, ok := err.(*offload.Error)
	if !ok || more <= 0 {
		return err
	}
	c := *e
	c.More += more
	return &c
}

func (q *Queue) refuse(code offload.Code, op, format string, args ...any) *offload.Error {
	return offload.Errorf(code, op, format, args...).On(q.opts.Device, q.opts.Label)
}

// refuseCommand returns an error like refuse, for an accepted command. The label of a launch is the name of its kernel.
func (q *Queue) refuseCommand(c *command, code offload.Code, format string, args ...any) *offload.Error {
	err := q.refuse(code, c.op, format, args...)
	if c.kind == launchKernel {
		err.Label, err.Pos = c.kernel.Info().Name, c.pos
	}
	return err
}

// droppedError returns the failure of a command that was cancelled, while it ran or before it started, or whose device is lost.
func (q *Queue) droppedError(c *command) error {
	if lost := q.flight.lost.Load(); lost != nil {
		err := q.refuseCommand(c, offload.DeviceLost, "the device is lost")
		err.Err = *lost
		return err
	}
	q.mu.Lock()
	cause := q.cause
	q.mu.Unlock()
	err := q.refuseCommand(c, offload.Cancelled, "the command was cancelled")
	err.Err = cause
	return err
}

// stoppedError returns the failure of a command that ended early for the reason why. It keeps that of a cancelled launch for Stopped.
func (q *Queue) stoppedError(c *command, why reason) error {
	if why == cancelled {
		err := q.droppedError(c)
		if c.kind == launchKernel {
			q.mu.Lock()
			q.stopped = err
			q.mu.Unlock()
		}
		return err
	}
	return q.refuseCommand(c, offload.Timeout, "the kernel ran longer than its time limit of %v", c.timeout)
}

// Stopped implements [offload.CancelReporter].
func (q *Queue) Stopped() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.stopped
	q.stopped = nil
	return err
}

// noteCancelled records that a wait reports the cancellation of commands up to n. Those of them that are dropped later do not
// report it again.
func (q *Queue) noteCancelled(n uint64) {
	q.mu.Lock()
	q.cancelReported = max(q.cancelReported, n)
	q.mu.Unlock()
}

// leaveBehind returns the failure of a wait whose context ended, with cause, before its commands had run.
func (q *Queue) leaveBehind(cause error) error {
	detail := "the wait was cancelled"
	if q.hosting.Load() {
		detail += "; a host function still runs"
	}
	err := q.refuse(offload.Cancelled, "sync", "%s", detail)
	err.Err = cause
	return err
}
