// Package alignment relates the clocks of devices to the host's.
//
// # Design
//
// The time of an event lies between two times of the host, so that many events bound the difference of two clocks from both sides:
// the shortest ways there and back count, which may be those of two events. Clocks drift apart, so that bounds widen with time and
// measurements are repeated.
package alignment

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

const (
	exactTries  = 10                     // comparisons with a clock that runs as the host's
	tries       = 3                      // measurements at a device's first command
	mostTries   = 300                    // maximum number of measurements at a time, until the error is below enough
	enough      = 10 * time.Microsecond  // error above which a fine clock measures again
	mostTime    = 100 * time.Millisecond // time after which it no longer does; in New only if the error is below poor
	poor        = 40 * time.Microsecond  // error of a busy machine, where the other process seldom runs at once
	poorTime    = time.Second            // time after which the first measurements end in any case
	poorPause   = 2 * time.Millisecond   // pause before each of them after mostTime: systems run a process that has slept before others
	every       = 500 * time.Millisecond // time between measurements
	soon        = 50 * time.Millisecond  // the same, while the error is above enough
	pollTime    = 200 * time.Microsecond // time for which a measurement polls
	longestWait = time.Second            // time to wait for an event
	drift       = 50e-6                  // maximum relative difference of the rates of two quartz clocks
)

// Clock maps times of a device to a clock of the host. All methods may be called by several goroutines.
type Clock struct {
	queue offload.Queue // of its own, since others may wait for the program; nil if there is none. Close sets it under both locks.
	now   func() time.Duration
	fine  bool
	exact *exact // nil: the device's queues keep no times

	measuring sync.Mutex
	mu        sync.Mutex
	bounds    bounds
	measured  time.Duration // when the last measurement ended
}

// New measures the clock of a device by now, the host's. A fine clock takes up to a tenth of a second to make the error small, on a
// busy machine up to poorTime. A device that makes no queue, or has no clock, has no times.
func New(d offload.Device, now func() time.Duration, fine bool) *Clock {
	c := &Clock{now: now, fine: fine}
	q, err := d.NewQueue(offload.QueueOptions{Label: "time line"})
	if err != nil {
		return c
	}
	c.queue = q
	c.refine(1, 0)
	switch c.exact = c.same(); {
	case c.exact != nil:
	case fine:
		c.refine(tries-1, poorTime)
	default:
		c.refine(tries-1, 0)
	}
	return c
}

// exact relates a device's clock that runs as the host's does, so that one comparison suffices.
type exact struct {
	reference offload.Event
	host      time.Duration // at the reference
	bound     time.Duration // the maximum error of host
}

// same relates the clock of a device of this process, whose queues tell the time. It returns nil for others.
func (c *Clock) same() *exact {
	q, ok := c.queue.(offload.Timekeeper)
	if !ok || c.bounds.reference == nil {
		return nil
	}
	e, shortest := &exact{reference: c.bounds.reference}, time.Duration(math.MaxInt64)
	for range exactTries {
		before := c.now()
		ns, _, _, ok := q.Now(e.reference)
		after := c.now()
		if !ok {
			return nil
		}
		if after-before < shortest {
			shortest, e.host = after-before, before+(after-before)/2-time.Duration(ns)
			e.bound = (shortest + 1) / 2
		}
	}
	return e
}

// time returns the host's time of an event of the device. ok is false if the device has no clock.
func (c *Clock) time(ev offload.Event) (at time.Duration, ok bool) {
	if c.exact != nil {
		ns, ok := ev.Since(c.exact.reference)
		return c.exact.host + time.Duration(ns), ok
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bounds.reference == nil {
		return 0, false
	}
	ns, ok := ev.Since(c.bounds.reference)
	return c.bounds.host() + time.Duration(ns), ok
}

// Bound returns the maximum error of the clock's times. ok is false if the device has no clock.
func (c *Clock) Bound() (d time.Duration, ok bool) {
	if c.exact != nil {
		return c.exact.bound, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bounds.bound(), c.bounds.reference != nil
}

// Renew measures again if the last measurement is older than every, or than soon if the error of a fine clock is large. It
// reports whether it was due. Exact and closed clocks are never due.
func (c *Clock) Renew() bool {
	c.mu.Lock()
	age := every
	if c.fine && c.bounds.bound() > enough {
		age = soon
	}
	due := c.queue != nil && c.exact == nil && c.now()-c.measured > age
	c.mu.Unlock()
	switch {
	case due && c.fine:
		c.refine(1, mostTime)
	case due:
		c.refine(1, 0)
	}
	return due
}

// Close closes the clock's queue. A nil clock has none.
func (c *Clock) Close() error {
	if c == nil {
		return nil
	}
	c.measuring.Lock()
	defer c.measuring.Unlock()
	c.mu.Lock()
	q := c.queue
	c.queue = nil
	c.mu.Unlock()
	if q == nil {
		return nil
	}
	return q.Close()
}

// refine measures the clock at least least times, and further until its error is small or limit has passed. It ends if a measurement
// fails.
func (c *Clock) refine(least int, limit time.Duration) {
	c.measuring.Lock()
	defer c.measuring.Unlock()
	began := c.now()
	for i := 0; i < least || c.repeats(i, c.now()-began, limit); i++ {
		if c.queue == nil || !c.measure() {
			break
		}
	}
	c.mu.Lock()
	c.measured = c.now()
	c.mu.Unlock()
}

// repeats reports whether refine goes on after done measurements in the time took. If the error is above poor after mostTime,
// refine goes on until limit, and repeats first sleeps for poorPause. The caller holds measuring.
func (c *Clock) repeats(done int, took, limit time.Duration) bool {
	bound := c.bounds.bound()
	if bound <= poor || took < mostTime {
		return done < mostTries && bound > enough && took < min(limit, mostTime)
	}
	if took < limit {
		time.Sleep(poorPause)
	}
	return took < limit
}

// measure compares the clocks once. It returns false if the device has no times or takes too long. The caller holds measuring.
func (c *Clock) measure() bool {
	ctx, cancel := context.WithTimeout(context.Background(), longestWait)
	defer cancel()
	sent := c.now()
	ev, err := c.queue.Record()
	if err != nil {
		return false
	}
	for !ev.Done() && c.now()-sent < pollTime { // waking a goroutine would take longer than the way
		runtime.Gosched()
	}
	if ev.Settle(ctx) != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bounds.add(ev, sent, c.now())
}

// bounds are the times of the host between which an event of the device was reached.
type bounds struct {
	reference offload.Event // the event; nil before the first measurement
	low, high time.Duration
	at        time.Duration // the time of the host for which they hold
}

// host returns the time of the host at which the reference was reached.
func (b *bounds) host() time.Duration { return b.low + (b.high-b.low)/2 }

// bound returns the maximum error of the time that host returns.
func (b *bounds) bound() time.Duration { return (b.high - b.low + 1) / 2 }

// add narrows the bounds, widened by the drift since they were measured, by those of another event. If they contradict each other, a
// clock was set, and only the new ones count. It returns false if the events have no times.
func (b *bounds) add(ev offload.Event, low, high time.Duration) bool {
	now := high
	if b.reference == nil {
		*b = bounds{ev, low, high, now}
		return true
	}
	ns, ok := ev.Since(b.reference)
	if !ok {
		return false
	}
	low, high = low-time.Duration(ns), high-time.Duration(ns)
	wider := time.Duration(drift * float64(now-b.at))
	if b.low-wider <= high && low <= b.high+wider {
		low, high = max(low, b.low-wider), min(high, b.high+wider)
	}
	b.low, b.high, b.at = low, high, now
	return true
}
