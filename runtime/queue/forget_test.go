package queue

import (
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// TestForget checks that pending fills of forgotten memory are skipped, but not fills of other memory and later fills of the
// same.
func TestForget(t *testing.T) {
	q := New(host{}, Options{})
	defer q.Close()
	gate := make(chan struct{})
	fill := func(m *block, value byte) {
		if err := q.Fill(offload.Span{Memory: m, Size: m.Size()}, []byte{value}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Host(func() error { <-gate; return nil }); err != nil {
		t.Fatal(err)
	}
	all := make([]byte, 192)
	before, gone, after := &block{data: all[:64:64]}, &block{data: all[64:128:128]}, &block{data: all[128:]}
	for _, m := range []*block{before, gone, after} {
		fill(m, 1)
	}
	q.Forget(gone)
	again := &block{data: gone.data[32:]} // the memory has been freed and was allocated once more
	fill(again, 2)
	close(gate)
	if err := q.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, want := range []byte{1, 1, 0, 2, 1, 1} {
		if got := all[32*i]; got != want {
			t.Errorf("byte %d is %d, want %d", 32*i, got, want)
		}
	}
	fill(gone, 3)
	if err := q.Sync(t.Context()); err != nil || gone.data[0] != 3 {
		t.Errorf("a fill after Forget left %d: %v", gone.data[0], err)
	}
}
