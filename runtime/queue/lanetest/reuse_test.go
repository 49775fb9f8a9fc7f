package lanetest

import (
	"context"
	"errors"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestSlotsOfDropped cancels host functions that have not begun, which the lane never has. Commands that later use their slots run and end
// as others do.
func TestSlotsOfDropped(t *testing.T) {
	const commands = 200 // more than a new queue has slots
	d := New(Options{Workers: 2, Window: 4, Seed: 1})
	q := d.NewQueue("q")
	gate := make(chan struct{})
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	begun := make(chan struct{})
	try(q.Host(func() error { close(begun); <-gate; return nil }))
	for range 8 {
		try(q.Host(func() error { return errors.New("it runs") }))
	}
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.Sync(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled wait returns %v", err)
	}
	close(gate)
	m := d.NewMemory(4 * commands)
	for i := range commands {
		try(q.Fill(offload.Span{Memory: m, Offset: int64(4 * i), Size: 4}, []byte{byte(i + 1)}))
	}
	if err := q.Sync(t.Context()); err != nil && offload.CodeOf(err) != offload.Cancelled {
		t.Error(err)
	}
	for i := range commands {
		if m.Data[4*i+3] != byte(i+1) {
			t.Errorf("fill %d has not run", i)
		}
	}
	try(q.Close())
	for _, violation := range d.Close() {
		t.Error(violation)
	}
}
