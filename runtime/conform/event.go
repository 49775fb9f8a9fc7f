package conform

import (
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var eventCases = []testCase{
	{"event/done", eventDone},
	{"event/elapsed", eventElapsed},
	{"event/many", eventMany},
}

func eventDone(t *T) {
	q := t.queue()
	before, err := q.Record("before")
	t.check(err)
	gate := make(chan struct{})
	t.check(q.Host(func() error { <-gate; return nil }))
	after, err := q.Record("after")
	t.check(err)
	t.check(before.Sync(t.ctx))
	if !before.Done() || after.Done() {
		t.Errorf("before the gate is %v, behind it %v", before.Done(), after.Done())
	}
	close(gate)
	t.check(after.Sync(t.ctx))
	if !after.Done() {
		t.Errorf("an event is not done after it was waited for")
	}
	t.check(after.Sync(t.ctx)) // a second wait succeeds, too
}

func eventElapsed(t *T) {
	q := t.queue()
	b := t.buffer(offload.U32, 64)
	k := t.kernel("spin")
	var events []*session.Event
	record := func() {
		ev, err := q.Record("")
		t.check(err)
		events = append(events, ev)
	}
	start := time.Now()
	record()
	for i := range 5 {
		t.launch(q, k, config(64), session.I32(1000<<i), session.Buf(b))
		record()
	}
	t.check(q.Host(func() error { time.Sleep(20 * time.Millisecond); return nil }))
	record()
	t.check(q.Sync(t.ctx))
	whole := time.Since(start)
	for i := 1; i < len(events); i++ {
		took, err := events[i].Since(events[i-1])
		if offload.CodeOf(err) == offload.Unsupported && !t.device.Info().Features.Clock {
			t.skipf("the device lacks the feature clock")
		}
		t.check(err)
		if took < 0 {
			t.Errorf("time goes back by %v", -took)
		}
		if sleep := i == len(events)-1; sleep && (took < 19*time.Millisecond || took > whole+time.Second) {
			t.Errorf("20 ms took %v on the device's clock", took)
		}
	}
	other := t.queue()
	ev, err := other.Record("")
	t.check(err)
	t.check(ev.Sync(t.ctx))
	took, err := ev.Since(events[len(events)-1])
	t.check(err)
	if took < 0 {
		t.Errorf("the clocks of two queues differ by %v", -took)
	}
}

func eventMany(t *T) {
	q := t.queue()
	var events []*session.Event
	for range 5000 {
		ev, err := q.Record("")
		t.check(err)
		events = append(events, ev)
	}
	t.check(events[len(events)-1].Sync(t.ctx))
	for i, ev := range events {
		if !ev.Done() {
			t.Fatalf("event %d is not done, but the last one is", i)
		}
	}
}
