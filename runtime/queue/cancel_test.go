package queue

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// TestCancellationWhileGettingBlocked checks that a cancellation is not lost while the queue becomes blocked.
func TestCancellationWhileGettingBlocked(t *testing.T) {
	a, b := newQueue(t), newQueue(t)
	gate := make(chan struct{})
	must(t, a.Host(func() error { <-gate; return nil }))
	ev, _ := a.Record()
	end := time.Now().Add(2 * time.Second)
	for i := 0; time.Now().Before(end); i++ {
		ctx, cancel := context.WithCancel(background)
		must(t, b.Host(func() error { return nil }))
		must(t, b.Wait(ev))
		must(t, b.Host(func() error { return nil }))
		go func(n int) {
			for range n {
			}
			cancel()
		}(i % 4000)
		done := make(chan error, 1)
		go func() { done <- b.Sync(ctx) }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Errorf("iteration %d: Sync did not come back 5 s after its context ended", i)
			close(gate)
			<-done
			return
		}
	}
	close(gate)
}

// TestACancelledWaitIsOwed checks that a command issued after a cancellation runs after the events that earlier
// commands waited for.
func TestACancelledWaitIsOwed(t *testing.T) {
	a, b := newQueue(t), newQueue(t)
	var first atomic.Bool
	gate := make(chan struct{})
	must(t, a.Host(func() error { <-gate; first.Store(true); return nil }))
	ev, _ := a.Record()
	must(t, b.Wait(ev))
	ctx, cancel := context.WithCancel(background)
	cancel()
	wantCode(t, b.Sync(ctx), offload.Cancelled)
	must(t, b.Launch(call(func() {
		if !first.Load() {
			t.Error("it overtook what its queue waits for")
		}
	})))
	time.AfterFunc(5*time.Millisecond, func() { close(gate) })
	must(t, b.Sync(background))
}

func TestRoomEndsWithItsContext(t *testing.T) {
	q := newQueue(t)
	must(t, q.WaitForSpace(background))
	l, started := endless()
	must(t, q.Launch(l))
	for range softSlots {
		must(t, q.Launch(call(func() { t.Error("a cancelled command ran") })))
	}
	ctx, cancel := context.WithCancel(background)
	go func() { <-started; cancel() }()
	err := q.WaitForSpace(ctx)
	wantCode(t, err, offload.Cancelled)
	must(t, q.Sync(background))
	must(t, q.WaitForSpace(ctx)) // there is room
}

// TestABriefLaunchWaitsForWhatIsOwed checks that a brief launch does not overtake an event for which its queue waits, after
// a cancelled Sync.
func TestABriefLaunchWaitsForWhatIsOwed(t *testing.T) { eachBrief(t, aBriefLaunchWaitsForWhatIsOwed) }

func aBriefLaunchWaitsForWhatIsOwed(t *testing.T, brief func(run func() error) *offload.Launch) {
	a, b := newQueue(t), newQueue(t)
	var first atomic.Bool
	gate := make(chan struct{})
	must(t, a.Host(func() error { <-gate; first.Store(true); return nil }))
	ev, err := a.Record()
	must(t, err)
	must(t, b.Wait(ev))
	ctx, cancel := context.WithCancel(background)
	cancel()
	_ = b.Sync(ctx)
	for !b.Idle() {
		time.Sleep(time.Millisecond)
	}
	go func() { time.Sleep(20 * time.Millisecond); close(gate) }()
	must(t, b.Launch(brief(func() error {
		if !first.Load() {
			t.Error("it overtook what its queue waits for")
		}
		return nil
	})))
	must(t, b.Sync(background))
}

// TestCancellationIsReportedOnce checks that a wait that returns the failure of one cancelled command reports the
// cancellation of all, so that the next wait does not.
func TestCancellationIsReportedOnce(t *testing.T) {
	for range 200 {
		q := newQueue(t)
		l, started := endless()
		must(t, q.Launch(l))
		for range 20 {
			must(t, q.Host(func() error { return nil }))
		}
		ctx, cancel := context.WithCancel(background)
		go func() { <-started; cancel() }()
		wantCode(t, q.Sync(ctx), offload.Cancelled)
		must(t, q.Host(func() error { return nil }))
		ev, err := q.Record()
		must(t, err)
		must(t, ev.Sync(background))
		must(t, q.Sync(background))
	}
}
