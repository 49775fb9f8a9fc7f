package alignment

import (
	"errors"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Point is where a command begins or ends: where an event is reached, or where a command of a queue that keeps times has ended. The zero
// value is a point that was reached when it was made.
type Point struct {
	event  offload.Event
	number uint64
}

// Point returns the host's time and a point behind all commands of a queue of the device. ok is false if the queue has no points.
func (c *Clock) Point(q offload.Queue) (now time.Duration, p Point, ok bool) {
	if k, kept := q.(offload.Timekeeper); kept && c.exact != nil {
		if ns, newest, idle, ok := k.Now(c.exact.reference); ok {
			if !idle {
				p.number = newest
			}
			return c.exact.host + time.Duration(ns), p, true
		}
	}
	now = c.now()
	err := errors.ErrUnsupported
	switch q := q.(type) {
	case offload.Stamper:
		p.event, err = q.Stamp()
	case offload.Marker:
		p.event, err = q.Mark()
	}
	return now, p, err == nil
}

// Reached returns the host's time at which a point of a queue was reached; made is the time at which the point was made. done is false
// if it has not been reached. ok is false then, too, and if the time is not known.
func (c *Clock) Reached(q offload.Queue, p Point, made time.Duration) (at time.Duration, done, ok bool) {
	switch {
	case p.number > 0:
		ns, done, ok := q.(offload.Timekeeper).Ended(p.number, c.exact.reference)
		return c.exact.host + time.Duration(ns), done, ok
	case p.event == nil:
		return made, true, true
	case !p.event.Done():
		return 0, false, false
	}
	at, ok = c.time(p.event)
	return at, true, ok
}
