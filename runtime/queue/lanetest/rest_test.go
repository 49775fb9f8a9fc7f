package lanetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// TestSlowHolder keeps the holder of a queue's role in a call of the lane for longer than the worker rests, while an event that the
// queue waits for is reached. The commands behind the event must run without further calls.
func TestSlowHolder(t *testing.T) {
	for round := range 12 {
		d := New(Options{Window: 2, Seed: uint64(round)})
		var slow atomic.Bool
		d.flushed = func() {
			if slow.Swap(false) {
				time.Sleep(40 * time.Millisecond)
			}
		}
		first, second, q := d.NewQueue("first"), d.NewQueue("second"), d.NewQueue("waits")
		one, two := make(chan struct{}), make(chan struct{})
		nothing := &Kernel{Name: "nothing", Do: func(func() bool) error { return nil }}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		waitFor := func(other *queue.Queue, gate chan struct{}) {
			check(other.Host(func() error { <-gate; return nil }))
			ev, err := other.Mark()
			check(err)
			check(q.Wait(ev))
		}
		waitFor(first, one)
		check(q.Launch(&offload.Launch{Kernel: nothing}))
		waitFor(second, two)
		check(q.Launch(&offload.Launch{Kernel: nothing}))
		ev, err := q.Record()
		check(err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- ev.Sync(ctx) }()
		time.Sleep(time.Duration(round%3) * 5 * time.Millisecond) // the worker rests, or not yet
		slow.Store(true)
		go func() {
			close(one)
			time.Sleep(2 * time.Millisecond)
			close(two) // while the holder of the role is in Flush
		}()
		for slow.Load() && len(ended) == 0 {
			_, err := q.Mark() // the issuer pumps
			check(err)
		}
		select {
		case err := <-ended:
			check(err)
		case <-time.After(30 * time.Second):
			t.Fatalf("round %d: the commands behind the events do not run", round)
		}
		cancel()
		for _, q := range []*queue.Queue{q, first, second} {
			check(q.Close())
			check(q.Close()) // does nothing
		}
		for _, v := range d.Close() {
			t.Error(v)
		}
	}
}
