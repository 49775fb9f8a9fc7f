package queue

import (
	"bytes"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/allocs"
)

// TestSubmitNow checks that the bytes may change after the return, and that an idle queue makes no copy of them.
func TestSubmitNow(t *testing.T) {
	q := newQueue(t)
	m := &block{data: make([]byte, 64)}
	data := bytes.Repeat([]byte{1}, 64)
	want := func(when string, value byte) {
		t.Helper()
		must(t, q.Sync(background))
		if m.data[0] != value || m.data[63] != value {
			t.Errorf("%s: the memory has %d and %d, not %d", when, m.data[0], m.data[63], value)
		}
	}
	if n := allocs.PerRun(100, func() { must(t, q.SubmitNow(span(m), data)) }); n != 0 {
		t.Errorf("an idle queue: %v allocations", n)
	}
	data[0], data[63] = 9, 9
	want("idle", 1)

	gate := make(chan struct{})
	must(t, q.Host(func() error { <-gate; return nil }))
	must(t, q.Fill(span(m), []byte{7}))
	data[0], data[63] = 2, 2
	must(t, q.SubmitNow(span(m), data))
	data[0], data[63] = 9, 9
	if m.data[0] != 1 {
		t.Error("the bytes were copied before the commands that precede them")
	}
	close(gate)
	want("busy", 2)

	wantCode(t, q.SubmitNow(span(m), data[:8]), offload.InvalidSize)
	must(t, q.Close())
	wantCode(t, q.SubmitNow(span(m), data), offload.Closed)
}
