package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
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
	case <-time.After(time.Minute):
		t.Fatalf("%s did not return when its context ended", what)
		return nil
	}
}

// noQueues waits until no queue is left that was made.
func noQueues(t *testing.T, s *session.Session) {
	t.Helper()
	isQueue := func(o session.Object) bool { return o.Kind == "queue" }
	for end := time.Now().Add(time.Minute); slices.ContainsFunc(s.Live(), isQueue); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a queue does not end")
		}
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
	check(t, q.Write(b, 0, make([]byte, 4))) // keeps the memory alive after Free
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

// TestCloseDoesNotWaitForHostFunctions checks that a host function that does not return blocks neither the queue's
// Close nor the session's. Its resources are freed when it returns.
func TestCloseDoesNotWaitForHostFunctions(t *testing.T) {
	p := adder()
	s := session.Open(session.Options{Plugins: []offload.Plugin{p}})
	d := device(t, s, "cpu")
	buffer(t, d, 10)
	q := must(d.NewQueue(session.QueueOptions{}))(t)
	other := must(d.NewQueue(session.QueueOptions{}))(t)
	started, gate := make(chan struct{}), make(chan struct{})
	for _, q := range []*session.Queue{q, other} {
		check(t, q.Host(func() error { started <- struct{}{}; <-gate; return nil }))
		<-started // otherwise Close drops it
	}
	ended, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	wantCode(t, soon(t, "Queue.Close", func() error { return q.Close(ended) }), offload.Cancelled)
	wantCode(t, soon(t, "Session.Close", func() error { return s.Close(ended) }), offload.Timeout)
	if p.freed.Load() != 0 {
		t.Error("memory was freed while a queue runs")
	}
	close(gate)
	for end := time.Now().Add(time.Minute); p.freed.Load() != p.made.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("memory is left")
		}
	}
}

// TestCloseDoesNotWaitForOtherPlatforms checks that Close's context also ends the wait for another platform's queue.
func TestCloseDoesNotWaitForOtherPlatforms(t *testing.T) {
	s := open(t, adder(), &hostPlugin{name: "far", count: 1, hidden: true})
	near, far := device(t, s, "cpu"), device(t, s, "far")
	gate := make(chan struct{})
	check(t, defaultQueue(t, near).Host(func() error { <-gate; return nil }))
	ev := must(defaultQueue(t, near).Record(""))(t)
	q := must(far.NewQueue(session.QueueOptions{}))(t)
	check(t, q.Wait(ev))
	ended, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	wantCode(t, soon(t, "Close", func() error { return q.Close(ended) }), offload.Cancelled)
	noQueues(t, s)
	close(gate)
}

// TestWaitingForAQueueThatEnds checks that a queue that shares a buffer with a closing queue waits for it, without an
// error.
func TestWaitingForAQueueThatEnds(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	b := buffer(t, d, 10)
	ending, q := must(d.NewQueue(session.QueueOptions{}))(t), must(d.NewQueue(session.QueueOptions{}))(t)
	gate := make(chan struct{})
	check(t, ending.Host(func() error { <-gate; return nil }))
	check(t, ending.Write(b, 0, make([]byte, 40)))
	ended, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	wantCode(t, soon(t, "Close", func() error { return ending.Close(ended) }), offload.Cancelled)
	time.Sleep(5 * time.Millisecond) // the plugin's queue is closing
	check(t, q.Write(b, 0, make([]byte, 40)))
	check(t, b.Free())
	close(gate)
	check(t, q.Close(ctx))
	noQueues(t, s)
}

// TestCancelEndsWhatRuns checks that Cancel ends running commands, reports them, and leaves the queues usable.
func TestCancelEndsWhatRuns(t *testing.T) {
	started := make(chan struct{})
	plugin := adder()
	plugin.tells = true
	plugin.kernels["endless"] = hostKernel{
		info: offload.KernelInfo{Name: "endless"},
		run: func(_ []offload.Arg, stop *queue.Stop) error {
			close(started)
			for !stop.Requested() {
				time.Sleep(time.Millisecond)
			}
			return queue.ErrStopped
		},
	}
	s := open(t, plugin)
	d := device(t, s, "cpu")
	if failures, stopped := s.Cancel(errors.New("nothing runs")); len(failures)+len(stopped) > 0 {
		t.Errorf("idle: failed %v, stopped %v", failures, stopped)
	}
	failing, busy := must(d.NewQueue(session.QueueOptions{}))(t), must(d.NewQueue(session.QueueOptions{}))(t)
	check(t, failing.Launch(must(kernel(t, s, d, "fail").Bind(session.Config{Size: []int{1}}))(t)))
	pos := offload.Position{File: "s.js", Line: 7, Col: 2}
	check(t, busy.Launch(must(kernel(t, s, d, "endless").Bind(session.Config{Size: []int{1}, Pos: pos}))(t)))
	<-started
	check(t, failing.Settle(ctx))
	failures, stopped := s.Cancel(errors.New("enough"))
	if len(failures) != 1 || offload.CodeOf(failures[0]) != offload.Assertion {
		t.Errorf("failed: %v", failures)
	}
	var e *offload.Error
	if len(stopped) != 1 || !errors.As(stopped[0], &e) || e.Label != "endless" || e.Pos != pos || e.Device != "cpu" || e.Code != offload.Cancelled {
		t.Errorf("stopped: %v", stopped)
	}
	x, y := buffer(t, d, 1), buffer(t, d, 1)
	check(t, busy.Launch(must(kernel(t, s, d, "add").Bind(session.Config{Size: []int{1}}, session.Buf(x), session.Buf(y)))(t)))
	check(t, busy.Sync(ctx))
	if failures, stopped := s.Cancel(errors.New("once more")); len(failures)+len(stopped) > 0 {
		t.Errorf("told twice: failed %v, stopped %v", failures, stopped)
	}
}

// BenchmarkLaunchOnManyQueues measures launches on many busy queues. Their cost must not grow with the number, except
// by cache misses.
func BenchmarkLaunchOnManyQueues(b *testing.B) {
	for _, n := range []int{1, 64, 256} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := session.Open(session.Options{Plugins: []offload.Plugin{adder()}})
			d := device(b, s, "cpu")
			add := kernel(b, s, d, "add")
			gate := make(chan struct{})
			ev := must(func() (*session.Event, error) {
				q := must(d.NewQueue(session.QueueOptions{}))(b)
				check(b, q.Host(func() error { <-gate; return nil }))
				return q.Record("")
			}())(b)
			var queues []*session.Queue
			var calls []*session.Call
			for range n {
				x, y := buffer(b, d, 1), buffer(b, d, 1)
				check(b, defaultQueue(b, d).Sync(ctx))
				q := must(d.NewQueue(session.QueueOptions{}))(b)
				check(b, q.Wait(ev))
				queues, calls = append(queues, q), append(calls, must(add.Bind(session.Config{Size: []int{1}}, session.Buf(x), session.Buf(y)))(b))
			}
			i := 0
			for b.Loop() {
				check(b, queues[i%n].Launch(calls[i%n]))
				i++
			}
			b.StopTimer()
			close(gate)
			check(b, s.Close(ctx))
		})
	}
}

func TestLibrariesEndInReverseOrder(t *testing.T) {
	var log []string
	p := adder()
	p.log = func(line string) { log = append(log, line) }
	s := session.Open(session.Options{Plugins: []offload.Plugin{p}})
	device(t, s, "cpu")
	for _, label := range []string{"first", "second", "third"} {
		must(s.RegisterImages(ctx, label, offload.Position{}, &offload.Image{Kind: offload.ImageIR, Label: label}))(t)
	}
	check(t, s.Close(ctx))
	want := []string{"register first", "register second", "register third", "unregister third", "unregister second", "unregister first"}
	if !slices.Equal(log, want) {
		t.Errorf("%q", log)
	}
}
