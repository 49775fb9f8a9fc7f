package session_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/session"
)

// TestHazardsOrderQueues adds to one buffer from many queues without events; hazard tracking alone must order them.
func TestHazardsOrderQueues(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	k := kernel(t, s, d, "add")
	x, y := buffer(t, d, 4), buffer(t, d, 4)
	call := func() *session.Call {
		return must(k.Bind(session.Config{Size: []int{1}}, session.Buf(x), session.Buf(y)))(t)
	}
	const workers, rounds = 8, 200
	var wg sync.WaitGroup
	for range workers {
		q, c := must(d.NewQueue(session.QueueOptions{}))(t), call()
		wg.Go(func() {
			for range rounds {
				if err := q.Launch(c); err != nil {
					t.Error(err)
				}
			}
			if err := q.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := must(session.Read[int32](ctx, y, 0, 1))(t); got[0] != workers*rounds {
		t.Errorf("%d updates of %d arrived", got[0], workers*rounds)
	}
}

// TestNoNeedlessWaits checks that commands without hazards run concurrently: readers of one buffer, and writers of separate
// views.
func TestNoNeedlessWaits(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	slow := kernel(t, s, d, "slow")
	b := buffer(t, d, 8)
	check(t, defaultQueue(t, d).Sync(ctx))
	q1, q2 := must(d.NewQueue(session.QueueOptions{}))(t), must(d.NewQueue(session.QueueOptions{}))(t)
	half := func(start int64) *session.Buffer {
		return must(b.View(session.ViewOptions{Start: start, Dims: []int{4}}))(t)
	}
	gate := make(chan struct{})
	check(t, q1.Host(func() error { <-gate; return nil }))
	bound := must(slow.Bind(session.Config{Size: []int{1}}, session.Buf(half(0))))(t)
	check(t, q1.Launch(bound))
	// The other half is free: this finishes while q1 is held.
	check(t, q2.Write(half(4), 0, make([]byte, 16)))
	check(t, q2.Sync(ctx))
	// The first half is not.
	dst := make([]byte, 4)
	check(t, q2.Read(dst, half(0), 0))
	time.Sleep(5 * time.Millisecond)
	if q2.Idle() {
		t.Error("a read did not wait for the kernel that writes")
	}
	close(gate)
	check(t, q2.Sync(ctx))
	if dst[0] != 1 {
		t.Errorf("read %v", dst)
	}
	check(t, q1.Close(ctx))
	check(t, q2.Close(ctx))
}

func TestHazardsCanBeSwitchedOff(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	b := buffer(t, d, 4)
	q1 := must(d.NewQueue(session.QueueOptions{}))(t)
	free := must(d.NewQueue(session.QueueOptions{NoHazards: true}))(t)
	gate := make(chan struct{})
	check(t, q1.Host(func() error { <-gate; return nil }))
	check(t, q1.Write(b, 0, make([]byte, 16)))
	check(t, free.Write(b, 0, make([]byte, 16)))
	check(t, free.Sync(ctx)) // does not hang
	close(gate)
	check(t, q1.Close(ctx))
	check(t, free.Close(ctx))
}

// TestNewBuffersAreZeroForAllQueues checks that each queue sees the zeros of a new buffer before later writes of other
// queues.
func TestNewBuffersAreZeroForAllQueues(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	gate := make(chan struct{})
	check(t, defaultQueue(t, d).Host(func() error { <-gate; return nil }))
	b := buffer(t, d, 4)
	q := must(d.NewQueue(session.QueueOptions{}))(t)
	free := must(d.NewQueue(session.QueueOptions{NoHazards: true}))(t)
	later := make(chan struct{})
	check(t, q.Host(func() error { <-later; return nil }))
	check(t, q.Write(b, 0, make([]byte, 16)))
	got := make([]byte, 16)
	check(t, free.Read(got, b, 0))
	time.Sleep(5 * time.Millisecond)
	if free.Idle() {
		t.Error("a read did not wait for the zeros")
	}
	close(gate)
	check(t, free.Close(ctx))
	close(later)
	check(t, q.Close(ctx))
	if !slices.Equal(got, make([]byte, 16)) {
		t.Errorf("read %v", got)
	}
}
