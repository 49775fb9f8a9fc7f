package session_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/orepl/orepl/runtime/session"
)

// TestOutstandingCopies issues many copies between devices before the first can run. Their memory on the host is bounded by
// their bytes, or by a few blocks if they are large.
func TestOutstandingCopies(t *testing.T) {
	const copies = 200
	for _, c := range []struct {
		name             string
		hiddenA, hiddenB bool
		bytes            int
		most             int64 // bytes of memory on the host
	}{
		{"small, host sees both", false, false, 20, 1 << 20},
		{"small, host sees the source", false, true, 20, 1 << 20},
		{"small, host sees the destination", true, false, 20, 1 << 20},
		{"small", true, true, 20, 1 << 20},
		{"large, host sees the source", false, true, 1 << 20, 1 << 20},
		{"medium", true, true, 700 << 10, 4 << 20},
		{"large", true, true, 5 << 20, 34 << 20},
		{"several blocks", true, true, 17 << 20, 34 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, &hostPlugin{name: "a", count: 1, hidden: c.hiddenA}, &hostPlugin{name: "b", count: 1, hidden: c.hiddenB})
			a, b := device(t, s, "a"), device(t, s, "b")
			n := c.bytes / 4
			values := make([]int32, n)
			for i := range values {
				values[i] = int32(i * 7)
			}
			x, y := must(session.BufferOf(ctx, a, "x", values))(t), buffer(t, b, n)
			qa, qb := defaultQueue(t, a), defaultQueue(t, b)
			check(t, qb.Sync(ctx))
			gate := make(chan struct{})
			check(t, qa.Host(func() error { <-gate; return nil }))
			before := allocatedBytes()
			for i := range copies {
				check(t, []*session.Queue{qa, qb}[i/100].Copy(y, x))
			}
			if more := max(allocatedBytes()-before, a.StagingBytes()+b.StagingBytes()); more > c.most+1<<20 { // commands take some memory, too
				t.Errorf("%d copies of %d bytes took %d bytes", copies, c.bytes, more)
			}
			check(t, qa.Fill(x, []byte{1})) // after the copies
			check(t, qb.Copy(first(t, y), first(t, x)))
			close(gate)
			got := must(session.Read[int32](ctx, y, 0, -1))(t)
			if got[0] != 0x01010101 || !slices.Equal(got[1:], values[1:]) {
				t.Error("the copies and the fill are out of order")
			}
			check(t, qa.Sync(ctx))
			check(t, qb.Sync(ctx))
		})
	}
}

// allocatedBytes returns the number of bytes that Go has allocated so far.
func allocatedBytes() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}

// first returns a view of a buffer's first element.
func first(t *testing.T, b *session.Buffer) *session.Buffer {
	return must(b.View(session.ViewOptions{Dims: []int{1}}))(t)
}
