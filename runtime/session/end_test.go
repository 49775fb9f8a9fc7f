package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

// soon fails the test if fn takes long.
func soon(t *testing.T, what string, fn func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		t.Fatalf("%s did not return when its context ended", what)
		return nil
	}
}

func TestMakingABufferEndsWithItsContext(t *testing.T) {
	p := adder()
	p.limit = 1 << 12
	s := open(t, p)
	d := device(t, s, "cpu")
	q := defaultQueue(t, d)
	gate := make(chan struct{})
	b := buffer(t, d, 700)
	check(t, q.Sync(ctx))
	check(t, q.Host(func() error { <-gate; return nil }))
	check(t, q.Write(b, 0, make([]byte, 4))) // holds the memory after Free
	check(t, b.Free())
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	err := soon(t, "NewBuffer", func() error {
		_, err := d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{700}, Context: short})
		return err
	})
	wantCode(t, err, offload.Timeout)
	close(gate)
	check(t, q.Sync(ctx))
}
