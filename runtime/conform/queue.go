package conform

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/stopwatch"
)

var queueCases = []testCase{
	{"queue/order", queueOrder},
	{"queue/many", queueMany},
	{"queue/many-blocked", queueManyBlocked},
	{"queue/fibonacci-by-events", fibonacciByEvents},
	{"queue/fibonacci-by-hazards", fibonacciByHazards},
	{"queue/random-hazards", randomHazards},
	{"queue/many-events", queueManyEvents},
	{"queue/host-functions", queueHost},
	{"queue/idle", queueIdle},
	{"queue/outstanding", queueOutstanding},
	{"queue/closed", queueClosed},
}

// queueOrder runs a long chain of kernels, each of which reads the previous result.
func queueOrder(t *T) {
	q, k := t.queue(), t.kernel("sum")
	ring := []*session.Buffer{bufferOf(t, uint32(0)), bufferOf(t, uint32(1)), t.buffer(offload.U32, 1)}
	var calls []*session.Call
	for i := range ring {
		calls = append(calls, t.bind(k, config(1), session.Buf(ring[i]), session.Buf(ring[(i+1)%3]), session.Buf(ring[(i+2)%3])))
	}
	const n = 3000
	for i := range n {
		t.check(q.Launch(calls[i%3]))
	}
	t.check(q.Sync(t.ctx))
	if got, want := contents[uint32](t, ring[(n+1)%3])[0], fibonacci(n+1); got != want {
		t.Errorf("after %d kernels: %d, want %d", n, got, want)
	}
}

// fibonacci returns the nth Fibonacci number, modulo 2^32.
func fibonacci(n int) uint32 {
	a, b := uint32(0), uint32(1)
	for range n {
		a, b = b, a+b
	}
	return a
}

func queueMany(t *T) {
	const queues, n = 64, 1000
	k := t.kernel("spin")
	var buffers []*session.Buffer
	for i := range queues {
		q := t.queue()
		b := t.bufferWith(session.BufferOptions{Type: offload.U32, Dims: sized(n), Queue: q})
		t.check(q.Fill(b, []byte{byte(i), 0, 0, 0}))
		t.launch(q, k, config(n), session.I32(3), session.Buf(b))
		buffers = append(buffers, b)
	}
	for i, b := range buffers {
		want := make([]uint32, n)
		for j := range want {
			want[j] = spun(uint32(i), 3)
		}
		equal(t, "what a queue did", contents[uint32](t, b), want)
	}
}

// queueManyBlocked makes many queues wait for one queue and then read one buffer at the same time.
func queueManyBlocked(t *T) {
	const queues, launches, n = 64, 20, 256
	gate, k := t.queue(), t.kernel("sum")
	release := make(chan struct{})
	released := false
	open := func() {
		if !released {
			released = true
			close(release)
		}
	}
	ones := make([]uint32, n)
	for i := range ones {
		ones[i] = 1
	}
	shared := bufferOf(t, ones...)
	t.check(gate.Host(func() error { <-release; return nil }))
	t.cleanup(open)
	ev, err := gate.Record("")
	t.check(err)
	var buffers []*session.Buffer
	for range queues {
		q := t.queue()
		t.cleanup(open) // before the queue is closed
		b := t.bufferWith(session.BufferOptions{Type: offload.U32, Dims: sized(n), Queue: q})
		t.check(q.Wait(ev))
		for range launches {
			t.launch(q, k, config(n), session.Buf(b), session.Buf(shared), session.Buf(b))
		}
		buffers = append(buffers, b)
	}
	open()
	want := make([]uint32, n)
	for i := range want {
		want[i] = launches
	}
	for _, b := range buffers {
		equal(t, "what a queue did", contents[uint32](t, b), want)
	}
}

// spun computes the result of kernel spin on the host.
func spun(v uint32, n int) uint32 {
	for range n {
		v = v*1664525 + 1013904223
	}
	return v
}

const chain = 16

// fibonacciByEvents issues each kernel of a chain to its own queue; only events order them.
func fibonacciByEvents(t *T) {
	k := t.kernel("sum")
	for range 10 {
		buffers := fibonacciBuffers(t)
		t.check(t.defaultQueue().Sync(t.ctx))
		var last *session.Event
		for i := range chain {
			q := t.queueWith(session.QueueOptions{NoHazards: true})
			if last != nil {
				t.check(q.Wait(last))
			}
			t.launch(q, k, config(1), session.Buf(buffers[i]), session.Buf(buffers[i+1]), session.Buf(buffers[i+2]))
			ev, err := q.Record("")
			t.check(err)
			last = ev
		}
		t.check(last.Sync(t.ctx))
		checkFibonacci(t, buffers)
	}
}

// fibonacciByHazards issues the same chain without events: only hazards on the buffers order the queues.
func fibonacciByHazards(t *T) {
	k := t.kernel("sum")
	for range 10 {
		buffers := fibonacciBuffers(t)
		for i := range chain {
			t.launch(t.queue(), k, config(1), session.Buf(buffers[i]), session.Buf(buffers[i+1]), session.Buf(buffers[i+2]))
		}
		checkFibonacci(t, buffers)
	}
}

func fibonacciBuffers(t *T) []*session.Buffer {
	list := []*session.Buffer{bufferOf(t, uint32(0)), bufferOf(t, uint32(1))}
	for range chain {
		list = append(list, t.buffer(offload.U32, 1))
	}
	return list
}

func checkFibonacci(t *T, buffers []*session.Buffer) {
	for i, b := range buffers {
		equal(t, "a number of the chain", contents[uint32](t, b), []uint32{fibonacci(i)})
	}
}

// randomHazards issues random commands on views of a few buffers to many queues, and applies them to slices in order of issue.
// Only hazards order the queues; buffers and slices must be equal.
func randomHazards(t *T) {
	const n = 256
	rng := random()
	var queues [6]*session.Queue
	for i := range queues {
		queues[i] = t.queue()
	}
	var dev [3]*session.Buffer
	var host [3][]uint32
	for i := range dev {
		dev[i], host[i] = t.buffer(offload.U32, n), make([]uint32, n)
	}
	sum, spin := t.kernel("sum"), t.kernel("spin")
	part := func(size int) (b *session.Buffer, h []uint32, which, at int) {
		which, at = rng.IntN(len(dev)), rng.IntN(n-size+1)
		v, err := dev[which].View(session.ViewOptions{Start: int64(at), Dims: sized(size)})
		t.check(err)
		return v, host[which][at : at+size], which, at
	}
	for step := range 1500 {
		q := queues[rng.IntN(len(queues))]
		size := 1 + rng.IntN(64)
		a, ha, wa, ia := part(size)
		b, hb, wb, ib := part(size)
		switch rng.IntN(4) {
		case 0:
			v := byte(step)
			t.check(q.Fill(a, []byte{v, 0, 0, 0}))
			for i := range ha {
				ha[i] = uint32(v)
			}
		case 1:
			t.launch(q, spin, config(size), session.I32(int32(step%50)), session.Buf(a))
			for i := range ha {
				ha[i] = spun(ha[i], step%50)
			}
		case 2:
			if wa == wb && ia < ib+size && ib < ia+size {
				continue // the language leaves the result of overlapping arguments open
			}
			t.check(q.Copy(a, b))
			copy(ha, hb)
		case 3:
			if wa == wb && ia != ib && ia < ib+size && ib < ia+size {
				continue
			}
			t.launch(q, sum, config(size), session.Buf(a), session.Buf(b), session.Buf(a))
			for i := range ha {
				ha[i] += hb[i]
			}
		}
	}
	for i := range dev {
		equal(t, "a buffer", contents[uint32](t, dev[i]), host[i])
	}
}

// queueManyEvents makes one queue wait for many events.
func queueManyEvents(t *T) {
	const queues = 16
	k := t.kernel("spin")
	all := t.bufferWith(session.BufferOptions{Type: offload.U32, Dims: sized(queues * 64)})
	t.check(t.defaultQueue().Sync(t.ctx))
	waiter := t.queueWith(session.QueueOptions{NoHazards: true})
	for i := range queues {
		q := t.queueWith(session.QueueOptions{NoHazards: true})
		part, err := all.View(session.ViewOptions{Start: int64(i * 64), Dims: sized(64)})
		t.check(err)
		t.launch(q, k, config(64), session.I32(1000+100*int32(i)), session.Buf(part))
		for range 5 { // more events than needed
			ev, err := q.Record("")
			t.check(err)
			t.check(waiter.Wait(ev))
		}
	}
	got, want := make([]uint32, queues*64), make([]uint32, queues*64)
	t.check(waiter.Read(session.Bytes(got), all, 0))
	t.check(waiter.Sync(t.ctx))
	for i := range want {
		want[i] = spun(0, 1000+100*(i/64))
	}
	equal(t, "what the queues did", got, want)
}

func queueHost(t *T) {
	q := t.queue()
	b := bufferOf(t, int32(0))
	first, second := make([]int32, 1), make([]int32, 1)
	var seen []int32 // written by host functions in order
	t.check(q.Read(session.Bytes(first), b, 0))
	t.check(q.Host(func() error { seen = append(seen, first[0]); return nil }))
	t.check(q.Fill(b, []byte{7, 0, 0, 0}))
	t.check(q.Read(session.Bytes(second), b, 0))
	t.check(q.Host(func() error { seen = append(seen, second[0]); return nil }))
	t.check(q.Sync(t.ctx))
	equal(t, "what host functions saw", seen, []int32{0, 7})

	t.check(q.Host(func() error { return errors.New("as asked") }))
	ran := false
	t.check(q.Host(func() error { ran = true; return nil }))
	if err := q.Sync(t.ctx); err == nil || !strings.Contains(err.Error(), "as asked") {
		t.Errorf("a failing host function gave %v", err)
	}
	if !ran {
		t.Errorf("what came after a failing host function did not run")
	}
	t.check(q.Sync(t.ctx))
	t.check(q.Host(func() error { panic("as asked") }))
	if err := q.Sync(t.ctx); err == nil || !strings.Contains(err.Error(), "as asked") {
		t.Errorf("a panicking host function gave %v", err)
	}
}

func queueIdle(t *T) {
	q := t.queue()
	t.check(q.Sync(t.ctx))
	if !q.Idle() {
		t.Errorf("a queue without commands is not idle")
	}
	gate := make(chan struct{})
	t.check(q.Host(func() error { <-gate; return nil }))
	if q.Idle() {
		t.Errorf("a queue with a command that waits is idle")
	}
	close(gate)
	t.check(q.Sync(t.ctx))
	if !q.Idle() {
		t.Errorf("a queue is not idle after sync")
	}
	b := t.buffer(offload.U32, 64)
	t.launch(q, t.kernel("spin"), config(64), session.I32(1000), session.Buf(b))
	for start := stopwatch.Start(); !q.Idle(); time.Sleep(time.Millisecond) {
		if start.Elapsed() > 10*time.Second {
			t.Fatalf("a queue does not get idle unless it is waited for")
		}
	}
}

// queueOutstanding issues more commands than a queue has slots.
func queueOutstanding(t *T) {
	q := t.queue()
	b := t.buffer(offload.I32, 16)
	t.check(t.defaultQueue().Sync(t.ctx))
	call := t.bind(t.kernel("ids"), config(16), session.Buf(b))
	for range 20000 {
		t.check(q.Launch(call))
	}
	t.check(q.Sync(t.ctx))
	equal(t, "ids", contents[int32](t, b), count(16))
}

func queueClosed(t *T) {
	q, err := t.device.NewQueue(session.QueueOptions{Label: "short-lived"})
	t.check(err)
	b := t.buffer(offload.U32, 64)
	t.launch(q, t.kernel("spin"), config(64), session.I32(100000), session.Buf(b))
	ev, err := q.Record("end")
	t.check(err)
	t.check(q.Close(t.ctx)) // Close waits for the commands
	if !ev.Done() {
		t.Errorf("close did not wait for the commands")
	}
	want := make([]uint32, 64)
	for i := range want {
		want[i] = spun(0, 100000)
	}
	equal(t, "what the queue did", contents[uint32](t, b), want)
	t.refused("a second close", q.Close(t.ctx), offload.Closed)
	t.refused("a command for a closed queue", q.Write(b, 0, make([]byte, 4)), offload.Closed)
	cancelled, cancel := context.WithCancel(t.ctx)
	cancel()
	q = t.queue()
	gate := make(chan struct{})
	t.check(q.Host(func() error { <-gate; return nil }))
	t.refused("a sync whose context has ended", q.Sync(cancelled), offload.Cancelled)
	close(gate)
	_ = q.Sync(t.ctx) // may report the cancellation again
}
