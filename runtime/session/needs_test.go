package session_test

import (
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/stopwatch"
)

// TestNeeds checks which commands wait for a queue, through replaced waits and over several paths.
func TestNeeds(t *testing.T) {
	s := open(t, &hostPlugin{name: "cpu", count: 1, class: offload.ClassCPU})
	d := device(t, s, "cpu")
	gate := make(chan struct{})
	queues := make([]*session.Queue, 40)
	for i := range queues {
		queues[i] = must(d.NewQueue(session.QueueOptions{}))(t)
	}
	pass := func() error { return nil }
	hold := func() error { <-gate; return nil }
	a, b, other := queues[0], queues[1], queues[2]
	check(t, b.Host(hold))
	check(t, a.Wait(must(b.Record(""))(t)))
	check(t, a.Host(pass))
	early := must(a.Record(""))(t)
	check(t, b.Host(pass))
	check(t, a.Wait(must(b.Record(""))(t)))
	check(t, a.Host(pass))
	check(t, other.Host(hold))
	if !early.Needs(b) || !a.Needs(b) || early.Needs(other) || b.Needs(a) {
		t.Error(early.Needs(b), a.Needs(b), early.Needs(other), b.Needs(a))
	}
	for i := 3; i < len(queues); i++ {
		for _, q := range queues[3:i] {
			check(t, queues[i].Wait(must(q.Record(""))(t)))
		}
		check(t, queues[i].Wait(must(a.Record(""))(t)))
		check(t, queues[i].Host(pass))
	}
	last := queues[len(queues)-1]
	begin := stopwatch.Start()
	if !last.Needs(b) || last.Needs(other) {
		t.Error("the last queue waits for the second one alone")
	}
	if d := begin.Elapsed(); d > 10*time.Second {
		t.Errorf("asked for %v", d)
	}
	close(gate)
	for _, q := range queues {
		check(t, q.Close(ctx))
	}
	if early.Needs(b) || last.Needs(b) {
		t.Error("commands that have run wait for nothing")
	}
}
