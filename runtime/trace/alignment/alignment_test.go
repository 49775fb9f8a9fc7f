package alignment

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// clockEvent is an event of a simulated device: a time on its clock.
type clockEvent struct {
	offload.Event
	at time.Duration
}

func (e clockEvent) Since(earlier offload.Event) (int64, bool) {
	return int64(e.at - earlier.(clockEvent).at), true
}

// TestAlignment aligns a simulated clock that runs 30 ppm fast, over a way whose directions take unlike times: the true difference
// must lie within the bounds, and they must be narrower than the shortest way there and back.
func TestAlignment(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	device := func(host time.Duration) time.Duration { return 7*time.Hour + host + host*30/1e6 }
	var a bounds
	host, shortest := time.Duration(0), time.Hour
	for i := range 300 {
		host += time.Duration(rng.IntN(50e3))
		there, back := time.Duration(20e3+rng.ExpFloat64()*300e3), time.Duration(5e3+rng.ExpFloat64()*900e3)
		reached := host + there
		a.add(clockEvent{at: device(reached)}, host, reached+back)
		shortest = min(shortest, there+back)
		reference := a.reference.(clockEvent).at
		// The alignment maps the device's present time to the host's.
		mapped := a.host() + device(reached) - reference
		if off := (mapped - reached).Abs(); off > a.bound()+time.Microsecond {
			t.Fatalf("measurement %d: %v wrong, the bound is %v", i, off, a.bound())
		}
		host = reached + back
	}
	if a.bound() > shortest/2 {
		t.Errorf("the bound is %v, the shortest way %v", a.bound(), shortest)
	}
	// A clock that was set contradicts the bounds.
	a.add(clockEvent{at: device(host) + time.Second}, host, host+50*time.Microsecond)
	if a.bound() != 25*time.Microsecond {
		t.Errorf("%v", a.bound())
	}
}

// device is a device whose queues keep times, or not.
type device struct {
	offload.Device
	keeps bool
}

func (d device) NewQueue(offload.QueueOptions) (offload.Queue, error) {
	if d.keeps {
		return keeper{}, nil
	}
	return plain{}, nil
}

// plain is a queue whose events are reached at once.
type plain struct{ offload.Queue }

var start = time.Now()

func (plain) Record() (offload.Event, error) { return settled{clockEvent{at: time.Since(start)}}, nil }
func (q plain) Mark() (offload.Event, error) { return q.Record() }

type settled struct{ clockEvent }

func (settled) Done() bool                   { return true }
func (settled) Settle(context.Context) error { return nil }
func (e settled) Since(earlier offload.Event) (int64, bool) {
	return int64(e.at - earlier.(settled).at), true
}

// keeper is a queue with an outstanding command, number 7, of 6 that have ended.
type keeper struct{ plain }

func (keeper) Now(since offload.Event) (int64, uint64, bool, bool) {
	return int64(time.Since(start) - since.(settled).at), 7, false, true
}

func (keeper) Ended(number uint64, since offload.Event) (int64, bool, bool) {
	return int64(time.Second - since.(settled).at), number < 7, number > 2
}

// TestPoints checks the times of points of queues that keep times, and of others.
func TestPoints(t *testing.T) {
	now := func() time.Duration { return time.Since(start) + time.Hour }
	for _, keeps := range []bool{false, true} {
		c := New(device{keeps: keeps}, now, true)
		q, _ := device{keeps: keeps}.NewQueue(offload.QueueOptions{})
		before := now()
		at, p, ok := c.Point(q)
		after := now()
		bound, fine := c.Bound()
		if !ok || !fine || at < before-bound || at > after+bound {
			t.Errorf("keeps %v: the point is at %v, between %v and %v", keeps, at, before, after)
		}
		then, done, ok := c.Reached(q, p, at)
		if keeps {
			if done {
				t.Error("an outstanding command has ended")
			}
			if then, done, ok = c.Reached(q, Point{number: 6}, at); !done || !ok || (then-time.Hour-time.Second).Abs() > bound {
				t.Errorf("it ended at %v", then)
			}
			if _, done, ok = c.Reached(q, Point{number: 1}, at); !done || ok {
				t.Error("a time that is no longer kept is known")
			}
			if c.Renew() {
				t.Error("a clock that runs as the host's is measured again")
			}
		} else if !done || !ok || (then-at).Abs() > bound+after-before {
			t.Errorf("it was reached at %v, not %v", then, at)
		}
		if then, done, ok = c.Reached(q, Point{}, 5); then != 5 || !done || !ok {
			t.Errorf("%v %v %v", then, done, ok)
		}
	}
}

// busy is a device whose queue answers after 3 ms while other programs run, and after 20 µs once they have ended.
type busy struct {
	offload.Device
	offload.Queue
	host *time.Duration
	left int // measurements while others run
}

func (b *busy) NewQueue(offload.QueueOptions) (offload.Queue, error) { return b, nil }

func (b *busy) Record() (offload.Event, error) {
	way := 10 * time.Microsecond
	if b.left--; b.left >= 0 {
		way = 1500 * time.Microsecond
	}
	*b.host += way
	ev := settled{clockEvent{at: *b.host}}
	*b.host += way
	return ev, nil
}

// TestBusyMachine checks that the first measurements of a fine clock go on while other programs run, and that later ones, and those of
// other clocks, end soon.
func TestBusyMachine(t *testing.T) {
	for _, c := range []struct {
		fine bool
		busy int
		want time.Duration
	}{
		{true, 100, 10 * time.Microsecond},
		{true, 1000, 1500 * time.Microsecond},
		{false, 100, 1500 * time.Microsecond},
	} {
		host := time.Duration(0)
		d := &busy{host: &host, left: c.busy}
		clock := New(d, func() time.Duration { return host }, c.fine)
		if bound, ok := clock.Bound(); !ok || bound != c.want {
			t.Errorf("fine %v, %d slow measurements: the error is %v after %v", c.fine, c.busy, bound, host)
		}
		if most := poorTime + 10*time.Millisecond; host > most {
			t.Errorf("they took %v", host)
		}
		before := host + time.Second
		host = before
		if d.left += 1000; clock.Renew() && host-before > mostTime+10*time.Millisecond {
			t.Errorf("later ones took %v", host-before)
		}
	}
}
