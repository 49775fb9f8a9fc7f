package queue

import (
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/allocs"
)

// brief makes a launch of a function that surely takes no time.
func brief(run func() error) *offload.Launch {
	return &offload.Launch{Kernel: &kernel{info: offload.KernelInfo{Name: "brief"}, sure: true, run: func(*Stop) error { return run() }}}
}

func TestAnIdleQueueRunsBriefLaunchesAtOnce(t *testing.T) {
	q := newQueue(t)
	ran := 0 // without a lock: nobody else than this goroutine runs them
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
		returned := make(chan struct{})
		l := brief(func() error {
			select {
			case <-returned:
			case <-time.After(10 * time.Second):
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

func TestFailuresOfBriefLaunches(t *testing.T) {
	q := newQueue(t)
	fail := brief(func() error { return offload.Errorf(offload.Assertion, "launch", "wrong") })
	must(t, q.Launch(fail)) // it is told as one that ran later
	wantCode(t, q.Failure(), offload.Assertion)
	wantCode(t, q.Sync(background), offload.Assertion)
	must(t, q.Sync(background))

	must(t, q.Launch(fail))
	ev, err := q.Record()
	must(t, err)
	must(t, q.Launch(fail))
	wantCode(t, ev.Sync(background), offload.Assertion)
	wantCode(t, q.Sync(background), offload.Assertion)

	must(t, q.Launch(brief(func() error { panic("wrong") })))
	err = q.Sync(background)
	wantCode(t, err, offload.BackendFailure)
	if e := err.(*offload.Error); e.Op != "launch" {
		t.Errorf("the failure of a panic is %v", e)
	}
	must(t, q.Launch(brief(func() error { return nil }))) // the queue is not locked
	must(t, q.Sync(background))
}
