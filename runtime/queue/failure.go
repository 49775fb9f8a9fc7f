package queue

import (
	"fmt"

	"github.com/orepl/orepl/runtime/offload"
)

// maxFailures is how many failures a queue keeps one by one until somebody is given them. Further ones are counted.
const maxFailures = 1000

// failure is the failure of the commands from number n to last: of one, unless they were cancelled or too many.
type failure struct {
	n, last uint64
	err     error
	event   *Event // that stands for the command, once it was reached
	more    int    // how many later ones are not kept
}

func (f *failure) cancelled() bool { return offload.CodeOf(f.err) == offload.Cancelled }

// fail keeps the failure of c, command number n, for the role's holder.
func (q *Queue) fail(c *command, n uint64, err error) {
	f := &failure{n: n, last: n, err: err}
	if q.own == nil && !c.onlyOrders() {
		q.own = err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	last := len(q.failures) - 1
	switch {
	case f.cancelled() && n <= q.told:
	case f.cancelled() && last >= 0 && q.failures[last].cancelled():
		q.failures[last].last = n
	case last >= maxFailures && !f.cancelled():
		q.failures[last].more++ // the last stands for all the rest
		q.failures[last].last = n
	default:
		q.failures = append(q.failures, f)
		q.failed.Store(true)
	}
}

// reach completes an event, for the role's holder. Unless it is a mark it stands for the commands since the event
// before it: what failed among them is its own failure.
func (q *Queue) reach(ev *Event, dropped error) {
	if !ev.mark && q.own != nil {
		ev.own, q.own = q.own, nil
		q.mu.Lock()
		for i := len(q.failures) - 1; i >= 0 && q.failures[i].n > q.parted; i-- {
			if f := q.failures[i]; !f.cancelled() && i < maxFailures {
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

// take gives the first failure up to command number n that nobody was given, says how many there are besides, and
// forgets them. It leaves those that somebody will be given who waits for their event.
func (q *Queue) take(n uint64) error {
	count, first := q.collect(n, func(f *failure) bool { return f.event == nil || f.event.asked.Load() == 0 })
	return withMore(first, count-1)
}

// takeOwn gives an event's own failure, however often it is asked for.
func (q *Queue) takeOwn(ev *Event) error {
	count, _ := q.collect(ev.number, func(f *failure) bool { return f.event == ev || f.cancelled() })
	return withMore(ev.own, count-1)
}

// Failure is the first failure that nobody was given or waits for at its event. It stays to be given.
func (q *Queue) Failure() error {
	if !q.failed.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range q.failures {
		if !f.cancelled() && (f.event == nil || f.event.asked.Load() == 0) {
			return f.err
		}
	}
	return nil
}

// collect gives the first failure that is wanted, up to command number n, and forgets all such. Of those that are no
// cancellations it gives the number.
func (q *Queue) collect(n uint64, wanted func(*failure) bool) (count int, first error) {
	if !q.failed.Load() {
		return 0, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	keep := make([]*failure, 0, len(q.failures))
	for _, f := range q.failures {
		if f.n > n || !wanted(f) {
			keep = append(keep, f)
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
			keep = append(keep, &failure{n: n + 1, last: f.last, err: f.err})
		}
	}
	q.failures = keep
	q.failed.Store(len(keep) > 0)
	return count, first
}

// withMore says how many failures there are besides. The error is copied: an event may give it again.
func withMore(err error, more int) error {
	e, ok := err.(*offload.Error)
	if !ok || more <= 0 {
		return err
	}
	c := *e
	if c.Detail != "" {
		c.Detail += "; "
	}
	c.Detail += fmt.Sprintf("and %d more failed", more)
	return &c
}

func (q *Queue) refuse(code offload.Code, op, format string, args ...any) *offload.Error {
	return offload.Errorf(code, op, format, args...).On(q.opts.Device, q.opts.Label)
}

// refuseCommand is refuse for a command that was taken: a launch is called by its kernel.
func (q *Queue) refuseCommand(c *command, code offload.Code, format string, args ...any) *offload.Error {
	err := q.refuse(code, c.op, format, args...)
	if c.kind == launchKernel {
		err.Label, err.Pos = c.kernel.Info().Name, c.pos
	}
	return err
}

// droppedError is the failure of a command that was cancelled, while it ran or before it started.
func (q *Queue) droppedError(c *command) error {
	q.mu.Lock()
	cause := q.cause
	q.mu.Unlock()
	err := q.refuseCommand(c, offload.Cancelled, "the command was cancelled")
	err.Err = cause
	return err
}

// stoppedError is the failure of a command that ended early.
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

// leaveBehind is the failure of a wait whose context ended before the commands up to number n had run. That they will be
// dropped is no news to anybody then.
func (q *Queue) leaveBehind(n uint64, cause error) error {
	q.mu.Lock()
	q.told = max(q.told, n)
	q.mu.Unlock()
	detail := "the wait was cancelled"
	if q.hosting.Load() {
		detail += "; a host function still runs"
	}
	err := q.refuse(offload.Cancelled, "sync", "%s", detail)
	err.Err = cause
	return err
}
