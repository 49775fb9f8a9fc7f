package queue

import (
	"testing"
)

// TestTimes checks that a queue keeps the times at which commands end: between the times before and after them, in order, and that it says
// which are outstanding and which it no longer keeps.
func TestTimes(t *testing.T) {
	q := newQueue(t)
	first, err := q.Record()
	must(t, err)
	now := func() (ns int64, newest uint64, idle bool) {
		ns, newest, idle, ok := q.Now(first)
		if !ok {
			t.Fatal("the queue tells no time")
		}
		return ns, newest, idle
	}
	begin, before, idle := now()
	if !idle {
		t.Error("the queue is not idle")
	}
	release := make(chan struct{})
	must(t, q.Host(func() error { <-release; return nil }))
	must(t, q.Host(func() error { return nil }))
	if _, newest, idle := now(); idle || newest != before+2 {
		t.Errorf("command %d is the newest, idle: %v", newest, idle)
	}
	if _, done, _ := q.Ended(before+1, first); done {
		t.Error("a command that waits has ended")
	}
	close(release)
	must(t, q.Sync(t.Context()))
	end, _, idle := now()
	one, done, ok := q.Ended(before+1, first)
	two, also, known := q.Ended(before+2, first)
	if !idle || !done || !ok || !also || !known || one < begin || two < one || end < two {
		t.Errorf("commands from %d to %d ended at %d and %d", begin, end, one, two)
	}
	for range keptTimes {
		must(t, q.Host(func() error { return nil }))
	}
	must(t, q.Sync(t.Context()))
	if _, done, ok := q.Ended(before+2, first); !done || ok {
		t.Errorf("done %v, and its time is kept: %v", done, ok)
	}
	if _, _, _, ok := q.Now(nil); ok {
		t.Error("there is a time since no event")
	}
}
