package remote_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
)

// copier returns a queue of a device in memory, and two memories of n bytes.
func copier(t *testing.T, n int64) (q offload.Queue, a, b offload.Span) {
	p, err := remote.NewPlugin("pipe", inMemory(t, cpu.Options{})).Open(t.Context())
	must(t, err)
	d := p.Devices()[0]
	spans := [2]offload.Span{}
	for i := range spans {
		m, err := d.Allocate(n, offload.DeviceMemory)
		must(t, err)
		spans[i] = offload.Span{Memory: m, Size: n}
	}
	q, err = d.NewQueue(offload.QueueOptions{})
	must(t, err)
	t.Cleanup(func() {
		must(t, q.Close())
		must(t, spans[0].Memory.Free())
		must(t, spans[1].Memory.Free())
		must(t, p.Close())
	})
	return q, spans[0], spans[1]
}

// TestCopiesAllocateLittle checks that copies are read from the stream directly into their destination, without allocations
// on either side.
func TestCopiesAllocateLittle(t *testing.T) {
	const n, rounds = 4 << 20, 20
	q, a, _ := copier(t, n)
	data, back := bytes.Repeat([]byte("0123456"), n/7+1)[:n], make([]byte, n)
	round := func() {
		must(t, q.Submit(a, data))
		must(t, q.Retrieve(back, a))
		must(t, q.Sync(t.Context()))
	}
	round()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		round()
	}
	runtime.ReadMemStats(&after)
	if !bytes.Equal(data, back) {
		t.Error("the bytes that came back differ")
	}
	if got := (after.TotalAlloc - before.TotalAlloc) / rounds; got > n/4 {
		t.Errorf("%d bytes are allocated for a copy of %d bytes and back", got, n)
	}
}

// TestCopiesStayInOrder checks that a copy waits for earlier commands that use its memory.
func TestCopiesStayInOrder(t *testing.T) {
	const n = 16 << 20
	q, a, b := copier(t, n)
	back := make([]byte, n)
	for i := range byte(10) {
		must(t, q.Submit(a, bytes.Repeat([]byte{2*i + 1}, n)))
		must(t, q.Exchange(b, a))
		must(t, q.Submit(a, bytes.Repeat([]byte{2*i + 2}, n)))
		must(t, q.Retrieve(back, b))
		must(t, q.Fill(b, []byte{0}))
		must(t, q.Sync(t.Context()))
		if at := bytes.IndexFunc(back, func(r rune) bool { return r != rune(2*i+1) }); at >= 0 {
			t.Fatalf("round %d: byte %d is %d, want %d", i, at, back[at], 2*i+1)
		}
	}
}
