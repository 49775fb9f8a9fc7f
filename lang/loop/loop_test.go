package loop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/tests/allocs"
)

func TestRunEndsWhenQuiet(t *testing.T) {
	l := New()
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var got []int
	l.Post(func() error {
		got = append(got, 1)
		l.Post(func() error { got = append(got, 2); return nil })
		return nil
	})
	if err := l.Run(context.Background()); err != nil || !slices.Equal(got, []int{1, 2}) {
		t.Fatalf("got %v, %v", got, err)
	}
}

func TestHeldOperationKeepsLoopAlive(t *testing.T) {
	l := New()
	p := l.Hold("read file")
	if got := l.Pending(); !slices.Equal(got, []string{"read file"}) {
		t.Fatalf("pending %q", got)
	}
	ran := false
	go func() {
		time.Sleep(20 * time.Millisecond)
		p.Resolve(func() error { ran = true; return nil })
	}()
	if err := l.Run(context.Background()); err != nil || !ran {
		t.Fatalf("ran %v, %v", ran, err)
	}
	if p.Resolve(nil) {
		t.Error("a second Resolve counted")
	}
}

// TestResolveWithoutCallbackWakes checks that a resolution without a callback wakes the loop.
func TestResolveWithoutCallbackWakes(t *testing.T) {
	l := New()
	p := l.Hold("x")
	time.AfterFunc(10*time.Millisecond, func() { p.Resolve(nil) })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestTimersFireInOrder(t *testing.T) {
	l := New()
	var got []string
	add := func(s string) Callback { return func() error { got = append(got, s); return nil } }
	l.After(20*time.Millisecond, add("late"))
	l.After(0, add("a"))
	l.After(0, add("b"))
	stop := l.After(5*time.Millisecond, add("stopped"))
	stop.Stop()
	stop.Stop()
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"a", "b", "late"}) {
		t.Fatalf("got %v", got)
	}
}

// TestStopOfDueTimer checks that a timer stopped by a callback of its own batch does not run.
func TestStopOfDueTimer(t *testing.T) {
	l := New()
	fired := false
	var second *Timer
	l.After(0, func() error { second.Stop(); return nil })
	second = l.After(0, func() error { fired = true; return nil })
	time.Sleep(2 * time.Millisecond)
	if err := l.Run(context.Background()); err != nil || fired {
		t.Fatalf("fired %v, %v", fired, err)
	}
}

func TestEvery(t *testing.T) {
	l := New()
	n := 0
	var timer *Timer
	timer = l.Every(0, func() error {
		if n++; n == 3 {
			timer.Stop()
		}
		return nil
	})
	if err := l.Run(context.Background()); err != nil || n != 3 {
		t.Fatalf("n %d, %v", n, err)
	}
}

func TestRunUntil(t *testing.T) {
	l := New()
	done := false
	l.Post(func() error { done = true; return nil })
	left := false
	l.Post(func() error { left = true; return nil })
	if err := l.RunUntil(context.Background(), func() bool { return done }); err != nil || left {
		t.Fatalf("left %v, %v", left, err)
	}
	if err := l.Run(context.Background()); err != nil || !left {
		t.Fatal("the callback behind was lost")
	}
	if err := l.RunUntil(context.Background(), func() bool { return false }); !errors.Is(err, ErrStalled) {
		t.Fatalf("got %v", err)
	}
}

func TestErrorsEndTheRunAndKeepTheRest(t *testing.T) {
	l := New()
	boom := errors.New("boom")
	ran := false
	l.Post(func() error { return boom })
	l.Post(func() error { panic("ouch") })
	l.Post(func() error { ran = true; return nil })
	if err := l.Run(context.Background()); err != boom {
		t.Fatalf("got %v", err)
	}
	var p *PanicError
	if err := l.Run(context.Background()); !errors.As(err, &p) || !strings.Contains(string(p.Stack), "TestErrorsEnd") {
		t.Fatalf("got %v", err)
	}
	if err := l.Run(context.Background()); err != nil || !ran {
		t.Fatalf("ran %v, %v", ran, err)
	}
}

func TestContextEndsSleep(t *testing.T) {
	l := New()
	l.Hold("for ever")
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
	if err := l.Run(ctx); err != cause {
		t.Fatalf("got %v", err)
	}
}

func TestCancelForgetsEverything(t *testing.T) {
	l := New()
	var told error
	p := l.Hold("op").OnCancel(func(err error) { told = err })
	l.Post(func() error { t.Error("dropped callback ran"); return nil })
	timer := l.After(0, func() error { t.Error("dropped timer ran"); return nil })
	cause := errors.New("stop")
	l.Cancel(cause)
	timer.Stop()
	if told != cause || p.Resolve(func() error { return nil }) {
		t.Errorf("told %v", told)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestServeOutlivesErrorsAndQuiet(t *testing.T) {
	l := New()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	boom := errors.New("boom")
	var got []error
	go func() {
		l.Post(func() error { return boom })
		time.Sleep(5 * time.Millisecond)
		l.Post(func() error { cancel(); return nil })
	}()
	l.Serve(ctx, func(err error) { got = append(got, err) })
	if len(got) != 1 || got[0] != boom {
		t.Fatalf("got %v", got)
	}
}

func TestManyGoroutines(t *testing.T) {
	l := New()
	const workers, each = 8, 500
	var wg sync.WaitGroup
	n := 0 // accessed only by the loop's goroutine, as the race detector checks
	for range workers {
		held := make([]*Pending, each)
		for i := range held {
			held[i] = l.Hold("op")
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, p := range held {
				p.Resolve(func() error { n++; return nil })
				l.Post(func() error { n++; return nil })
			}
		}()
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err := l.Run(context.Background()); err != nil || n != 2*workers*each {
		t.Fatalf("n %d, %v", n, err)
	}
}

func TestPostAllocatesNothing(t *testing.T) {
	l := New()
	fn := func() error { return nil }
	ctx := context.Background()
	if n := allocs.PerRun(100, func() { l.Post(fn); _ = l.Run(ctx) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPost(b *testing.B) {
	l := New()
	fn := func() error { return nil }
	for i := 0; b.Loop(); i++ {
		l.Post(fn)
		if i%1000 == 999 {
			_ = l.Run(context.Background())
		}
	}
}

func TestServeReportsTheErrorOfItsLastTurn(t *testing.T) {
	l := New()
	ctx, cancel := context.WithCancel(context.Background())
	want := errors.New("the last")
	l.Post(func() error { cancel(); return want })
	var got []error
	l.Serve(ctx, func(err error) { got = append(got, err) })
	if len(got) != 1 || got[0] != want {
		t.Errorf("got %v", got)
	}
}

// TestScopes checks that work started by a callback belongs to the callback's scope and is cancelled with it.
func TestScopes(t *testing.T) {
	l := New()
	mine, other := &Scope{}, &Scope{}
	var told []error
	var ran []string
	note := func(text string) Callback { return func() error { ran = append(ran, text); return nil } }
	begin := func(name string) Callback {
		return func() error {
			l.After(0, func() error { // a timer and an operation started by a timer
				l.After(time.Hour, note(name+"'s late timer"))
				p := l.Hold(name).OnCancel(func(err error) { told = append(told, err) })
				p.Post(note(name + "'s news"))
				return nil
			})
			return nil
		}
	}
	l.PostFor(mine, begin("mine"))
	l.PostFor(other, begin("other"))
	if err := l.RunUntil(context.Background(), func() bool { return len(ran) == 2 }); err != nil {
		t.Fatal(err)
	}
	l.PostFor(mine, note("mine, too late"))
	l.Post(note("nobody's"))
	cause := errors.New("enough")
	l.CancelScope(mine, cause)
	if len(told) != 1 || told[0] != cause || !slices.Equal(l.Pending(), []string{"other"}) {
		t.Errorf("told %v, pending %v", told, l.Pending())
	}
	if err := l.RunUntil(context.Background(), func() bool { return len(ran) == 3 }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"mine's news", "other's news", "nobody's"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q", ran)
	}
	if n := len(l.timers); n != 1 || l.timers[0].scope != other {
		t.Errorf("%d timers are left", n)
	}
}

func TestErrorsHaveTheirScope(t *testing.T) {
	l := New()
	mine, other := &Scope{}, &Scope{}
	boom, quiet := errors.New("boom"), errors.New("quiet")
	var passed []error
	l.OnError = func(s *Scope, err error) error {
		if s == mine {
			return err
		}
		passed = append(passed, err)
		return nil
	}
	l.PostFor(other, func() error { return quiet })
	l.PostFor(other, func() error { l.After(0, func() error { panic("late") }); return nil })
	l.PostFor(mine, func() error { l.Hold("op").Resolve(func() error { return boom }); return nil })
	if err := l.Run(context.Background()); err != boom {
		t.Errorf("got %v", err)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Errorf("got %v", err)
	}
	if len(passed) != 2 || passed[0] != quiet {
		t.Errorf("passed %v", passed)
	}
}

// TestTimersAmongManyCallbacks checks that endlessly queued callbacks do not starve timers.
func TestTimersAmongManyCallbacks(t *testing.T) {
	l := New()
	fired, n := false, 0
	for range 100 * mostTasks {
		l.Post(func() error { n++; return nil })
	}
	l.After(0, func() error { fired = true; return nil })
	if err := l.RunUntil(context.Background(), func() bool { return fired }); err != nil || n != mostTasks {
		t.Errorf("fired %v after %d callbacks, %v", fired, n, err)
	}
	if err := l.Run(context.Background()); err != nil || n != 100*mostTasks {
		t.Errorf("%d callbacks ran, %v", n, err)
	}
}

// TestIdleTimers checks that a timer that does not keep the loop alive fires while other work is pending, and does not delay
// the loop's end.
func TestIdleTimers(t *testing.T) {
	l := New()
	var order []string
	note := func(what string) Callback {
		return func() error { order = append(order, what); return nil }
	}
	never := l.After(time.Hour, note("never"))
	never.KeepAlive(false)
	soon := l.After(0, note("soon"))
	soon.KeepAlive(false)
	l.After(2*time.Millisecond, note("kept"))
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, " "); got != "soon kept" || never.KeepsAlive() {
		t.Errorf("%s", got)
	}
	never.Stop() // stopped or expired timers do not fire again
	never.Restart()
	soon.Restart()
	if err := l.RunUntil(t.Context(), func() bool { return len(order) == 3 }); err != nil || strings.Join(order, " ") != "soon kept soon" {
		t.Errorf("%v %v", order, err)
	}
}

// TestWatch ends watched operations, the last one first, when the loop has nothing left to run, and none that has ended.
func TestWatch(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		l := New()
		var got []string
		watch := func(name string) *Pending { return l.Watch(func() error { got = append(got, name); return nil }) }
		first, ended := watch("first"), watch("ended")
		held := l.Hold("read file")
		l.Watch(func() error {
			got = append(got, "last")
			ended.Resolve(nil)
			return nil
		})
		if !slices.Equal(l.Pending(), []string{"read file"}) {
			t.Errorf("pending %q", l.Pending())
		}
		go held.Resolve(func() error { got = append(got, "held"); return nil })
		var err error
		if quiet {
			err = l.Run(t.Context())
		} else if err = l.RunUntil(t.Context(), func() bool { return false }); err == ErrStalled {
			err = nil
		}
		if err != nil || !slices.Equal(got, []string{"held", "last", "first"}) || first.Resolve(nil) {
			t.Errorf("quiet %v: %q, %v", quiet, got, err)
		}
	}
	l := New()
	l.Watch(func() error { t.Error("a cancelled operation ended"); return nil })
	l.Cancel(errors.New("over"))
	if err := l.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
