package session_test

import (
	"context"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

func TestSettleLeavesFailures(t *testing.T) {
	d := device(t, open(t, adder()), "cpu")
	q := must(d.NewQueue(session.QueueOptions{}))(t)
	check(t, q.Host(func() error { return offload.Errorf(offload.Assertion, "host", "kept") }))
	ev := must(q.Record(""))(t)
	check(t, q.Settle(ctx))
	check(t, ev.Settle(ctx))
	if err := q.Sync(ctx); offload.CodeOf(err) != offload.Assertion {
		t.Errorf("sync after settle: %v", err)
	}
	check(t, q.Settle(ctx)) // no command is left

	gate := make(chan struct{})
	check(t, q.Host(func() error { <-gate; return nil }))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := q.Settle(ended); offload.CodeOf(err) != offload.Cancelled {
		t.Errorf("settle with an ended context: %v", err)
	}
	close(gate)
	check(t, q.Close(ctx))
}
