package ranks

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// lent returns a payload with a copy of data in a buffer that the operation may keep.
func (g *Group) lent(t offload.Type, data []byte) *Payload {
	b := g.Buffer(len(data))
	copy(b, data)
	p := payload(t, b)
	p.Lend()
	return p
}

// TestReusedBuffers runs several operations at once, whose payloads and results use buffers of earlier ones, and compares all results.
func TestReusedBuffers(t *testing.T) {
	for _, size := range []int{1, 2, 3, directRanks + 1} {
		n := (wholeBytes/4 + size) / size * size
		for rank, err := range job(t, size, func(ctx context.Context, g *Group) error {
			mine, whole, sum := bits(values(g.Rank(), n)), all(size, n), bits(sums(size-1, n))
			var across []byte // this member's part of each member's data
			for r := range size {
				across = append(across, divide(bits(values(r, n)), size)[g.Rank()]...)
			}
			for range 8 {
				p := func() *Payload { return g.lent(offload.F32, mine) }
				scattered := nothing()
				if g.Rank() == 0 {
					scattered = g.lent(offload.F32, mine)
				}
				source := nothing()
				if g.Rank() == size-1 {
					source = p()
				}
				type test struct {
					run  Operation
					want []byte
				}
				bytesOf := func(run func(context.Context) (Data, error)) Operation {
					return func(ctx context.Context) ([]byte, error) {
						d, err := run(ctx)
						return d.Bytes, err
					}
				}
				tests := []test{
					{g.AllReduce(p(), Sum), sum},
					{g.Reduce(0, p(), Sum), sum},
					{g.Scan(p(), Sum), bits(sums(g.Rank(), n))},
					{g.Gather(0, p()), whole},
					{g.AllGather(p()), whole},
					{g.AllToAll(p()), across},
					{bytesOf(g.Scatter(0, scattered)), divide(bits(values(0, n)), size)[g.Rank()]},
					{bytesOf(g.Broadcast(size-1, source)), bits(values(size-1, n))},
				}
				to, from := (g.Rank()+1)%size, (g.Rank()+size-1)%size
				g.Send(to, 0, p())
				tests = append(tests, test{bytesOf(g.Receive(from, 0).Data), bits(values(from, n))})
				errs := make([]error, len(tests))
				var running sync.WaitGroup
				for i, c := range tests {
					running.Go(func() {
						got, err := c.run(ctx)
						if err != nil || got != nil && !bytes.Equal(got, c.want) {
							errs[i] = fmt.Errorf("operation %d: %d bytes: %v", i, len(got), err)
						}
						g.Free(got)
					})
				}
				running.Wait()
				for _, err := range errs {
					if err != nil {
						return err
					}
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, size, err)
			}
		}
	}
}

// TestAllocations counts the bytes that operations on large arrays allocate: those of the first operations serve all others.
func TestAllocations(t *testing.T) {
	const n, count = 1 << 20, 40
	data := make([]byte, n)
	for name, begin := range map[string]func(*Group) Operation{
		"allReduce": func(g *Group) Operation { return g.AllReduce(g.lent(offload.F32, data), Sum) },
		"allGather": func(g *Group) Operation { return g.AllGather(g.lent(offload.F32, data)) },
		"allToAll":  func(g *Group) Operation { return g.AllToAll(g.lent(offload.F32, data)) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, err := range job(t, 2, func(ctx context.Context, g *Group) error {
			for range count {
				result, err := begin(g)(ctx)
				if err != nil {
					return err
				}
				g.Free(result)
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > count*n/2 {
			t.Errorf("%s: %d operations on %d bytes allocated %d bytes", name, count, n, got)
		}
	}
}

// TestSpares compares which buffers are kept, and which are taken again.
func TestSpares(t *testing.T) {
	var s spares
	s.put(make([]byte, spareFrom-1))
	if len(s.list) != 0 {
		t.Error("a small buffer is kept")
	}
	for i := range maxSpares + 1 {
		s.put(make([]byte, spareFrom+i))
	}
	if len(s.list) != maxSpares || cap(s.take(spareFrom)) != spareFrom+1 {
		t.Error("the oldest buffer is kept")
	}
	if b := s.take(spareFrom + 4); len(b) != spareFrom+4 || cap(b) != spareFrom+4 {
		t.Errorf("the buffer has %d of %d bytes", len(b), cap(b))
	}
	if b := s.take(2 * spareFrom); cap(b) < 2*spareFrom || len(s.list) != maxSpares-2 {
		t.Error("a buffer that is too small is taken")
	}
	s.put(make([]byte, spareBytes/2))
	s.put(make([]byte, spareBytes))
	if len(s.list) != 1 || s.bytes != spareBytes {
		t.Errorf("%d buffers of %d bytes are kept", len(s.list), s.bytes)
	}
	if b := s.take(spareBytes / 2); cap(b) == spareBytes {
		t.Error("a buffer that is too large is taken")
	}
}
