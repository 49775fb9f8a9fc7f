package queue

import (
	"github.com/orepl/orepl/runtime/offload"
)

// maxFailures is how many failures a queue keeps for who asks. The first is what counts; later ones are for waiters
// that ask for a later part of the queue.
const maxFailures = 16

// failure is the failure of command number n.
type failure struct {
	n   uint64
	err error
}

// fail keeps the failure of command number n.
func (q *Queue) fail(n uint64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if n <= q.told && offload.CodeOf(err) == offload.Cancelled {
		return
	}
	if len(q.failures) < maxFailures {
		q.failures = append(q.failures, failure{n, err})
		q.failed.Store(true)
	}
}

// take gives the first failure up to command number n and forgets the others up to there.
func (q *Queue) take(n uint64) error {
	if !q.failed.Load() {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var err error
	for len(q.failures) > 0 && q.failures[0].n <= n {
		if err == nil {
			err = q.failures[0].err
		}
		q.failures = q.failures[1:]
	}
	if len(q.failures) == 0 {
		q.failures = nil
		q.failed.Store(false)
	}
	return err
}

func (q *Queue) refuse(code offload.Code, op, format string, args ...any) *offload.Error {
	return offload.Errorf(code, op, format, args...).On(q.opts.Device, q.opts.Label)
}

// droppedError is the failure of a command that was cancelled, while it ran or before it started.
func (q *Queue) droppedError(c *command) error {
	q.mu.Lock()
	cause := q.cause
	q.mu.Unlock()
	err := q.refuse(offload.Cancelled, c.op, "the command was cancelled")
	err.Err, err.Pos = cause, c.pos
	return err
}

// stoppedError is the failure of a command that ended early.
func (q *Queue) stoppedError(c *command, why reason) error {
	if why == cancelled {
		return q.droppedError(c)
	}
	err := q.refuse(offload.Timeout, c.op, "kernel %s ran longer than its time limit of %v", c.kernel.Info().Name, c.timeout)
	err.Pos = c.pos
	return err
}

// leaveBehind is the failure of a Sync whose context ended while a host function ran. That the commands up to number n
// will be dropped is no news to anybody then.
func (q *Queue) leaveBehind(n uint64, cause error) error {
	q.mu.Lock()
	q.told = max(q.told, n)
	q.mu.Unlock()
	err := q.refuse(offload.Cancelled, "sync", "the wait was cancelled; a host function still runs")
	err.Err = cause
	return err
}
