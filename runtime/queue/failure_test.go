package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// detail returns the detail of an error with the number of further failures.
func detail(err error) string {
	if e, ok := err.(*offload.Error); ok {
		return (&offload.Error{Detail: e.Detail, More: e.More}).Message()
	}
	return fmt.Sprint(err)
}

// TestEachEventHasItsOwnFailure checks that each event returns the failure of its own launch, in any order of calls.
func TestEachEventHasItsOwnFailure(t *testing.T) {
	q := newQueue(t)
	var events []offload.Event
	for i := range 40 {
		must(t, q.Launch(failing(fmt.Sprint("launch ", i))))
		mark, err := q.Mark() // a mark is no error boundary
		must(t, err)
		must(t, mark.Settle(background))
		ev, err := q.Record()
		must(t, err)
		events = append(events, ev)
	}
	must(t, q.Launch(call(func() {})))
	fine, _ := q.Record()
	for i := len(events) - 1; i >= 0; i-- {
		if got, want := detail(events[i].Sync(background)), fmt.Sprint("launch ", i); got != want {
			t.Errorf("event %d: %s", i, got)
		}
	}
	must(t, fine.Sync(background)) // all failures were returned
	must(t, q.Sync(background))
}

// TestAFailureSticksToTheQueue checks that an event of a successful launch returns an earlier failure that no event
// covers, once.
func TestAFailureSticksToTheQueue(t *testing.T) {
	q := newQueue(t)
	must(t, q.Launch(failing("lost")))
	bad, _ := q.Record()
	must(t, q.Launch(call(func() {})))
	fine, _ := q.Record()
	if got := detail(fine.Sync(background)); got != "lost" {
		t.Errorf("the later event: %s", got)
	}
	must(t, fine.Sync(background))
	must(t, q.Sync(background))
	if got := detail(bad.Sync(background)); got != "lost" {
		t.Errorf("its own event: %s", got)
	}
}

// TestAFailureGoesToWhoWaitsForItsEvent checks that the waiter for an event receives its failure, whichever other waits
// exist.
func TestAFailureGoesToWhoWaitsForItsEvent(t *testing.T) {
	q := newQueue(t)
	gate := make(chan struct{})
	must(t, q.Host(func() error { <-gate; return nil }))
	must(t, q.Launch(failing("mine")))
	ev, _ := q.Record()
	done := make(chan error)
	go func() { done <- ev.Sync(background) }()
	for ev.(*Event).asked.Load() == 0 {
		runtime.Gosched()
	}
	close(gate)
	must(t, q.Sync(background))
	if got := detail(<-done); got != "mine" {
		t.Errorf("the event: %s", got)
	}
	must(t, q.Sync(background))
}

func TestFailuresAreCounted(t *testing.T) {
	q := newQueue(t)
	for range maxFailures + 50 {
		must(t, q.Launch(failing("no")))
	}
	if got := detail(q.Sync(background)); got != fmt.Sprintf("no; and %d more commands failed", maxFailures+49) {
		t.Error(got)
	}
	must(t, q.Sync(background))
}

func TestALaunchIsCalledByItsKernel(t *testing.T) {
	q := newQueue(t)
	l, _ := endless()
	l.Timeout = time.Millisecond
	must(t, q.Launch(l))
	ctx, cancel := context.WithCancel(background)
	err := q.Sync(background)
	if e := err.(*offload.Error); e.Label != "endless" || e.Code != offload.Timeout {
		t.Errorf("a timeout: %v", err)
	}
	l, started := endless()
	must(t, q.Launch(l))
	go func() { <-started; cancel() }()
	err = q.Sync(ctx)
	if e := err.(*offload.Error); e.Label != "endless" || e.Code != offload.Cancelled {
		t.Errorf("a cancelled launch: %v", err)
	}
}

func TestSettleLeavesFailures(t *testing.T) {
	q := newQueue(t)
	must(t, q.Launch(failing("kept")))
	ev, _ := q.Record()
	must(t, ev.Settle(background))
	if got := detail(ev.Sync(background)); got != "kept" {
		t.Error(got)
	}
}

func TestSettleCancelsNothing(t *testing.T) {
	a, b := newQueue(t), newQueue(t)
	l, started := endless()
	must(t, a.Launch(l))
	ev, _ := a.Record()
	must(t, b.Wait(ev))
	behind, _ := b.Record()
	for _, ev := range []offload.Event{ev, behind} {
		ctx, cancel := context.WithCancel(background)
		go func() { <-started; cancel() }()
		wantCode(t, ev.Settle(ctx), offload.Cancelled)
	}
	if a.Idle() {
		t.Error("the kernel was cancelled")
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	wantCode(t, a.Sync(ctx), offload.Cancelled)
	must(t, behind.Settle(background))
}

// TestFailuresCanBeLookedAt checks that Failure does not consume a failure. A failure owned by a waiter for its event
// is not visible.
func TestFailuresCanBeLookedAt(t *testing.T) {
	q := newQueue(t)
	if err := q.Failure(); err != nil {
		t.Errorf("a new queue has failed: %v", err)
	}
	must(t, q.Launch(failing("lost")))
	bad, _ := q.Record()
	must(t, q.Launch(call(func() {})))
	fine, _ := q.Record()
	must(t, fine.Settle(background))
	for range 2 {
		if got := detail(q.Failure()); got != "lost" {
			t.Errorf("the queue tells %s", got)
		}
		if got := detail(bad.(*Event).Failure()); got != "lost" {
			t.Errorf("the event tells %s", got)
		}
	}
	if err := fine.(*Event).Failure(); err != nil {
		t.Errorf("the event behind it tells %v", err)
	}
	if got := detail(bad.Sync(background)); got != "lost" {
		t.Errorf("the event gives %s", got)
	}
	if err := q.Failure(); err != nil {
		t.Errorf("given, and still told: %v", err)
	}
	if got := detail(bad.(*Event).Failure()); got != "lost" {
		t.Errorf("the event tells %s, once it was given", got)
	}
}

// TestMoreFailuresFollowTheCause checks that an error has the number of further failures after the text of its cause.
func TestMoreFailuresFollowTheCause(t *testing.T) {
	err := offload.Errorf(offload.DeviceLost, "sync", "the device is lost")
	err.Err = errors.New("its process ended")
	more := withMore(err, 2)
	if text := more.Error(); !strings.Contains(text, "the device is lost: its process ended; and 2 more commands failed") || offload.CodeOf(more) != offload.DeviceLost {
		t.Error(text)
	}
}

// TestTakenFailure takes a failure. An event that was recorded before reports it, and one that is recorded later does not.
func TestTakenFailure(t *testing.T) {
	q := newQueue(t)
	for range 3 {
		must(t, q.Launch(failing("lost")))
		before, err := q.Record()
		must(t, err)
		must(t, q.Launch(failing("taken")))
		for !q.Idle() {
			runtime.Gosched()
		}
		if got := detail(q.TakeFailure()); got != "lost; and 1 more command failed" {
			t.Errorf("the failure is %q", got)
		}
		after, err := q.Record()
		must(t, err)
		must(t, after.Sync(background))
		if got := detail(before.Sync(background)); got != "lost" {
			t.Errorf("the earlier event has the failure %q", got)
		}
		must(t, q.Sync(background))
	}
}
