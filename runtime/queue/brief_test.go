package queue

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/allocs"
)

// brief makes a launch of a function that surely takes no time.
func brief(run func() error) *offload.Launch {
	return &offload.Launch{Kernel: &kernel{info: offload.KernelInfo{Name: "brief"}, sure: true, run: func(*Stop) error { return run() }}}
}

// prepared is brief for a launch that the device has prepared.
func prepared(run func() error) *offload.Launch {
	l := brief(run)
	l.Prepared = run
	return l
}

// briefs are the ways to make brief launches.
var briefs = map[string]func(run func() error) *offload.Launch{"brief": brief, "prepared": prepared}

func eachBrief(t *testing.T, test func(t *testing.T, brief func(run func() error) *offload.Launch)) {
	for name, brief := range briefs {
		t.Run(name, func(t *testing.T) { test(t, brief) })
	}
}

func TestAnIdleQueueRunsBriefLaunchesAtOnce(t *testing.T) {
	eachBrief(t, anIdleQueueRunsBriefLaunchesAtOnce)
}

func anIdleQueueRunsBriefLaunchesAtOnce(t *testing.T, brief func(run func() error) *offload.Launch) {
	q := newQueue(t)
	ran := 0 // without a lock: only this goroutine runs them
	count := brief(func() error { ran++; return nil })
	must(t, q.Launch(count))
	if ran != 1 {
		t.Fatal("the launch returned before it had run")
	}
	if n := allocs.PerRun(100, func() { must(t, q.Launch(count)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if ev, err := q.Record(); err != nil || !ev.Done() {
		t.Errorf("an event of an idle queue is not done, or failed: %v", err)
	}

	for name, change := range map[string]func(k *kernel){
		"may be long": func(k *kernel) { k.sure = false },
		"is long":     func(k *kernel) { k.cost = 2 * briefLaunches },
	} {
		if name == "is long" && count.Prepared != nil {
			continue // the device decides about the launch
		}
		returned := make(chan struct{})
		l := brief(func() error {
			select {
			case <-returned:
			case <-time.After(time.Minute):
				t.Errorf("a launch that %s ran on the caller's goroutine", name)
			}
			return nil
		})
		change(l.Kernel.(*kernel))
		must(t, q.Launch(l))
		close(returned)
		must(t, q.Sync(background))
	}
}

func TestBriefLaunchesComeAfterEarlierCommands(t *testing.T) {
	eachBrief(t, briefLaunchesComeAfterEarlierCommands)
}

func briefLaunchesComeAfterEarlierCommands(t *testing.T, brief func(run func() error) *offload.Launch) {
	q := newQueue(t)
	gate := make(chan struct{})
	var order []int
	must(t, q.Host(func() error { <-gate; order = append(order, 1); return nil }))
	must(t, q.Launch(brief(func() error { order = append(order, 2); return nil })))
	ev, err := q.Record()
	must(t, err)
	if ev.Done() {
		t.Error("the event is done before the commands")
	}
	close(gate)
	must(t, q.Sync(background))
	if len(order) != 2 || order[0] != 1 {
		t.Errorf("the commands ran in the order %v", order)
	}
}

func TestFailuresOfBriefLaunches(t *testing.T) { eachBrief(t, failuresOfBriefLaunches) }

func failuresOfBriefLaunches(t *testing.T, brief func(run func() error) *offload.Launch) {
	q := newQueue(t)
	fail := brief(func() error { return offload.Errorf(offload.Assertion, "launch", "wrong") })
	must(t, q.Launch(fail)) // reported like a launch that runs later
	wantCode(t, q.Failure(), offload.Assertion)
	wantCode(t, q.Sync(background), offload.Assertion)
	must(t, q.Sync(background))

	must(t, q.Launch(fail))
	ev, err := q.Record()
	must(t, err)
	must(t, q.Launch(fail))
	wantCode(t, ev.Sync(background), offload.Assertion)
	wantCode(t, q.Sync(background), offload.Assertion)

	if fail.Prepared != nil {
		return // the device must not panic on the caller's goroutine
	}
	must(t, q.Launch(brief(func() error { panic("wrong") })))
	err = q.Sync(background)
	wantCode(t, err, offload.BackendFailure)
	if e := err.(*offload.Error); e.Op != "launch" {
		t.Errorf("the failure of a panic is %v", e)
	}
	must(t, q.Launch(brief(func() error { return nil }))) // the queue is not locked
	must(t, q.Sync(background))
}

// TestCancellationAmongBriefLaunches checks that a cancelled wait neither undoes earlier launches nor drops later ones.
func TestCancellationAmongBriefLaunches(t *testing.T) {
	eachBrief(t, func(t *testing.T, brief func(run func() error) *offload.Launch) {
		q := newQueue(t)
		ran := 0
		count := brief(func() error { ran++; return nil })
		ended, cancel := context.WithCancel(background)
		cancel()
		must(t, q.Launch(count))
		must(t, q.Sync(ended)) // there is nothing to wait for
		must(t, q.Launch(count))
		if ran != 2 {
			t.Fatalf("%d of 2 launches ran", ran)
		}

		gate := make(chan struct{})
		must(t, q.Host(func() error { <-gate; return nil }))
		must(t, q.Launch(count))
		wantCode(t, q.Sync(ended), offload.Cancelled)
		close(gate)
		must(t, q.Launch(count))
		must(t, q.Sync(background))
		if ran != 3 {
			t.Errorf("%d launches ran, want the two before and the one after the cancellation", ran)
		}
	})
}

// TestBriefLaunchesAfterATimeout checks that the time limit of an earlier launch does not end a later one.
func TestBriefLaunchesAfterATimeout(t *testing.T) {
	eachBrief(t, func(t *testing.T, brief func(run func() error) *offload.Launch) {
		q := newQueue(t)
		l, _ := endless()
		l.Timeout = time.Millisecond
		must(t, q.Launch(l))
		wantCode(t, q.Sync(background), offload.Timeout)
		next := brief(func() error { return nil })
		next.Timeout = time.Nanosecond
		must(t, q.Launch(next))
		must(t, q.Sync(background))
	})
}

// TestBriefLaunchesTakeTurns launches from several goroutines: the launches run one at a time.
func TestBriefLaunchesTakeTurns(t *testing.T) {
	eachBrief(t, func(t *testing.T, brief func(run func() error) *offload.Launch) {
		q := newQueue(t)
		ran := 0 // without a lock: the race detector would tell
		var all sync.WaitGroup
		const each = 500
		for range 4 {
			all.Go(func() {
				l := brief(func() error { ran++; return nil })
				for i := range each {
					if err := q.Launch(l); err != nil {
						t.Error(err)
					}
					if i%7 == 0 {
						if err := q.Host(func() error { ran++; ran--; return nil }); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		must(t, q.Sync(background))
		if ran != 4*each {
			t.Errorf("%d of %d launches ran", ran, 4*each)
		}
	})
}

// TestEventsOfAnIdleQueue checks that an event of an idle queue is reached immediately, without a command, and still
// separates failures.
func TestEventsOfAnIdleQueue(t *testing.T) {
	q := newQueue(t)
	first, err := q.Record()
	must(t, err)
	fail := brief(func() error { return offload.Errorf(offload.Assertion, "launch", "wrong") })
	must(t, q.Launch(fail))
	second, err := q.Record()
	must(t, err)
	third, err := q.Record()
	must(t, err)
	if !first.Done() || !second.Done() || !third.Done() {
		t.Fatal("an event of an idle queue is not done")
	}
	if q.tail.Load() != 2 {
		t.Errorf("%d commands, want the failure and the event that has it", q.tail.Load())
	}
	must(t, first.Sync(background))
	must(t, first.Settle(background))
	wantCode(t, second.(*Event).Failure(), offload.Assertion)
	must(t, third.(*Event).Failure())
	for i, ev := range []offload.Event{second, third} {
		if ns, ok := ev.Since(first); !ok || ns < 0 {
			t.Errorf("event %d was reached %d ns after the first, %v", i+1, ns, ok)
		}
	}
	wantCode(t, second.Sync(background), offload.Assertion)
	must(t, third.Sync(background))
	other := newQueue(t)
	must(t, other.Wait(third))
	must(t, other.Sync(background))
}
