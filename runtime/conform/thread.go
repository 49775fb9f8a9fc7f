package conform

import (
	"fmt"
	"sync"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
)

var threadCases = []testCase{
	{"threads/queues", threadsQueues},
	{"threads/one-queue", threadsOneQueue},
	{"threads/shared-buffer", threadsSharedBuffer},
	{"threads/objects", threadsObjects},
}

const threads = 8

// parallel runs fn on several goroutines and reports their failures as the case's.
func (t *T) parallel(fn func(t *T, i int)) {
	parts := make([]T, threads)
	var wg sync.WaitGroup
	for i := range parts {
		p := &parts[i]
		*p = T{ctx: t.ctx, session: t.session, device: t.device}
		wg.Go(func() {
			p.protect(func() { fn(p, i) })
			for i := len(p.cleanups) - 1; i >= 0; i-- {
				p.protect(p.cleanups[i])
			}
		})
	}
	wg.Wait()
	for i := range parts {
		t.failed = t.failed || parts[i].failed
		for _, line := range parts[i].output {
			t.output = append(t.output, fmt.Sprintf("goroutine %d: %s", i, line))
		}
	}
}

// threadsQueues runs goroutines with queues and buffers of their own.
func threadsQueues(t *T) {
	lib := t.library()
	t.parallel(func(t *T, i int) {
		k, err := lib.Kernel(t.ctx, t.device, "spin")
		t.check(err)
		const n = 500
		for round := range 4 {
			var queues [4]*session.Queue
			for j := range queues {
				queues[j] = t.queue()
			}
			b := t.buffer(offload.U32, n)
			for step := range 20 {
				t.launch(queues[step%len(queues)], k, config(n), session.I32(int32(i+1)), session.Buf(b))
			}
			got, want := make([]uint32, n), make([]uint32, n)
			t.check(queues[0].Read(session.Bytes(got), b, 0))
			t.check(queues[0].Sync(t.ctx))
			for j := range want {
				want[j] = spun(0, 20*(i+1))
			}
			equal(t, fmt.Sprintf("round %d", round), got, want)
		}
	})
}

// threadsOneQueue runs goroutines that issue commands to one queue.
func threadsOneQueue(t *T) {
	q, k := t.queue(), t.kernel("histogram")
	bins, want := t.buffer(offload.I32, 16), make([]int32, 16)
	t.parallel(func(t *T, _ int) {
		call := t.bind(k, config(160), session.Buf(bins))
		for range 200 {
			t.check(q.Launch(call))
		}
		t.check(q.Sync(t.ctx))
	})
	for i := range want {
		want[i] = threads * 200 * 10
	}
	equal(t, "bins", contents[int32](t, bins), want)
}

// threadsSharedBuffer updates one buffer from many queues without atomic operations; hazards order the kernels.
func threadsSharedBuffer(t *T) {
	k := t.kernel("sum")
	one, total := bufferOf(t, uint32(1)), t.buffer(offload.U32, 1)
	t.parallel(func(t *T, _ int) {
		q := t.queue()
		call := t.bind(k, config(1), session.Buf(total), session.Buf(one), session.Buf(total))
		for range 200 {
			t.check(q.Launch(call))
		}
		t.check(q.Sync(t.ctx))
	})
	equal(t, "updates", contents[uint32](t, total), []uint32{threads * 200})
}

// threadsObjects creates and closes objects of all kinds concurrently.
func threadsObjects(t *T) {
	t.parallel(func(t *T, i int) {
		for range 10 {
			lib, err := t.session.Register(t.ctx, "objects", kernelImage)
			t.check(err)
			k, err := lib.Kernel(t.ctx, t.device, "ids")
			t.check(err)
			q, err := t.device.NewQueue(session.QueueOptions{})
			t.check(err)
			b, err := t.device.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: sized(100), Queue: q})
			t.check(err)
			got := make([]int32, 100)
			t.launch(q, k, config(100), session.Buf(b))
			t.check(q.Read(session.Bytes(got), b, 0))
			t.check(b.Free())
			t.check(lib.Unregister(t.ctx))
			t.check(q.Close(t.ctx))
			equal(t, "ids", got, count(100))
		}
	})
}
