package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/allocs"
)

// host is a device whose memory is the test's and whose kernels are Go functions.
type host struct{}

type block struct {
	data  []byte
	freed bool
}

func (m *block) Size() int64              { return int64(len(m.data)) }
func (m *block) Kind() offload.MemoryKind { return offload.DeviceMemory }
func (m *block) Bytes() []byte            { return m.data }
func (m *block) Free() error              { m.freed = true; return nil }

func (host) Bytes(m offload.Memory) ([]byte, error) {
	if m := m.(*block); !m.freed {
		return m.data, nil
	}
	return nil, offload.Errorf(offload.Closed, "use", "the memory was freed")
}

func (host) Copy(dst, src []byte, _ *Stop) { copy(dst, src) }

func (host) Fill(dst, pattern []byte, _ *Stop) {
	for i := range dst {
		dst[i] = pattern[i%len(pattern)]
	}
}

func (host) NewLaunch() Launch { return &launch{} }

// kernel is a Go function as a kernel. cost is its estimate for the queue.
type kernel struct {
	cost time.Duration
	sure bool
	run  func(stop *Stop) error
	info offload.KernelInfo
}

func (k *kernel) Info() *offload.KernelInfo { return &k.info }

type launch struct{ k *kernel }

func (l *launch) Set(o *offload.Launch) error {
	k := o.Kernel.(*kernel)
	if k.run == nil {
		return offload.Errorf(offload.InvalidArgument, "launch", "no function")
	}
	l.k = k
	return nil
}
func (l *launch) Cost() (time.Duration, bool) { return l.k.cost, l.k.sure }
func (l *launch) Detach()                     {}
func (l *launch) Run(stop *Stop) error        { return l.k.run(stop) }
func (l *launch) Clear()                      { l.k = nil }

// RunAtOnce runs a prepared launch.
func (l *launch) RunAtOnce(o *offload.Launch) (bool, error) {
	k := o.Kernel.(*kernel)
	if o.Prepared == nil || !k.sure {
		return false, nil
	}
	return true, k.run(nil)
}

func newQueue(t testing.TB) *Queue {
	t.Helper()
	before := runtime.NumGoroutine()
	q := New(host{}, Options{Device: "test", Clock: NewClock()})
	t.Cleanup(func() {
		q.Close()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if runtime.NumGoroutine() <= before {
				return
			}
		}
		t.Errorf("%d goroutines before, %d after Close", before, runtime.NumGoroutine())
	})
	return q
}

// call makes a kernel of a function.
func call(fn func()) *offload.Launch {
	return &offload.Launch{Kernel: &kernel{run: func(*Stop) error { fn(); return nil }}}
}

// failing makes a kernel that fails.
func failing(text string) *offload.Launch {
	return &offload.Launch{Kernel: &kernel{info: offload.KernelInfo{Name: "failing"}, run: func(*Stop) error {
		return offload.Errorf(offload.Assertion, "launch", "%s", text)
	}}}
}

// endless returns a kernel that runs until it is stopped; started is closed when it runs.
func endless() (l *offload.Launch, started chan struct{}) {
	started = make(chan struct{})
	return &offload.Launch{Kernel: &kernel{info: offload.KernelInfo{Name: "endless"}, cost: time.Second, run: func(stop *Stop) error {
		close(started)
		for !stop.Requested() {
			runtime.Gosched()
		}
		return ErrStopped
	}}}, started
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check is must for other goroutines than the test's.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func wantCode(t testing.TB, err error, code offload.Code) {
	t.Helper()
	if offload.CodeOf(err) != code {
		t.Fatalf("got error %v, want one of code %s", err, code)
	}
}

func span(m *block) offload.Span { return offload.Span{Memory: m, Size: m.Size()} }

var background = context.Background()

func TestCopiesAndFillsRunInOrder(t *testing.T) {
	q := newQueue(t)
	a, b := &block{data: make([]byte, 8)}, &block{data: make([]byte, 8)}
	out := make([]byte, 8)
	must(t, q.Submit(span(a), []byte("abcdefgh")))
	must(t, q.Exchange(span(b), span(a)))
	must(t, q.Fill(offload.Span{Memory: b, Offset: 2, Size: 4}, []byte("xy")))
	must(t, q.Retrieve(out, span(b)))
	must(t, q.Fill(span(b), []byte{0}))
	must(t, q.Sync(background))
	if string(out) != "abxyxygh" || !bytes.Equal(b.data, make([]byte, 8)) {
		t.Errorf("got %q, then %q", out, b.data)
	}
}

func TestWrongCommandsAreRefused(t *testing.T) {
	q := newQueue(t)
	m := &block{data: make([]byte, 16)}
	freed := &block{data: make([]byte, 16), freed: true}
	for _, c := range []struct {
		name string
		err  error
		code offload.Code
	}{
		{"no memory", q.Submit(offload.Span{Size: 4}, make([]byte, 4)), offload.InvalidArgument},
		{"freed memory", q.Submit(span(freed), make([]byte, 16)), offload.Closed},
		{"lengths differ", q.Submit(span(m), make([]byte, 15)), offload.InvalidSize},
		{"negative offset", q.Retrieve(make([]byte, 4), offload.Span{Memory: m, Offset: -1, Size: 4}), offload.InvalidSize},
		{"beyond the end", q.Retrieve(make([]byte, 4), offload.Span{Memory: m, Offset: 13, Size: 4}), offload.InvalidSize},
		{"offset overflows", q.Retrieve(make([]byte, 4), offload.Span{Memory: m, Offset: 1<<63 - 1, Size: 4}), offload.InvalidSize},
		{"overlap", q.Exchange(offload.Span{Memory: m, Size: 8}, offload.Span{Memory: m, Offset: 4, Size: 8}), offload.InvalidArgument},
		{"pattern of 3", q.Fill(offload.Span{Memory: m, Size: 6}, []byte("abc")), offload.InvalidArgument},
		{"half a pattern", q.Fill(offload.Span{Memory: m, Size: 6}, []byte("abcd")), offload.InvalidSize},
		{"no kernel", q.Launch(&offload.Launch{}), offload.InvalidArgument},
		{"kernel refuses", q.Launch(&offload.Launch{Kernel: &kernel{}}), offload.InvalidArgument},
		{"no function", q.Host(nil), offload.InvalidArgument},
		{"foreign event", q.Wait(nil), offload.InvalidEvent},
	} {
		if offload.CodeOf(c.err) != c.code {
			t.Errorf("%s: got %v, want code %s", c.name, c.err, c.code)
		}
	}
	must(t, q.Sync(background)) // the refused calls are not failures of the queue
	must(t, q.Submit(offload.Span{Memory: m, Offset: 16}, nil))
}

func TestCommandsRunWithoutAWaiter(t *testing.T) {
	q := newQueue(t)
	ran := make(chan struct{})
	for _, cost := range []time.Duration{0, time.Second} {
		must(t, q.Launch(&offload.Launch{Kernel: &kernel{cost: cost, run: func(*Stop) error { ran <- struct{}{}; return nil }}}))
		select {
		case <-ran:
		case <-time.After(time.Minute):
			t.Fatalf("a command of cost %v was not run", cost)
		}
	}
}

func TestFirstFailureIsGivenOnce(t *testing.T) {
	q := newQueue(t)
	var ran atomic.Int32
	must(t, q.Launch(failing("one")))
	before, err := q.Record()
	must(t, err)
	must(t, q.Launch(failing("two")))
	must(t, q.Launch(call(func() { ran.Add(1) })))
	after, err := q.Record()
	must(t, err)

	if err := before.Sync(background); err == nil || err.(*offload.Error).Detail != "one" {
		t.Errorf("the event before: %v", err)
	}
	if err := before.Sync(background); err == nil { // each call returns the failure
		t.Error("asked again the event has no failure")
	}
	if err := after.Sync(background); err == nil || err.(*offload.Error).Detail != "two" {
		t.Errorf("the event after: %v", err)
	}
	must(t, q.Sync(background))
	if ran.Load() != 1 {
		t.Error("the command after the failures did not run")
	}

	must(t, q.Launch(failing("three")))
	must(t, q.Launch(failing("four")))
	if err := q.Sync(background); err == nil || detail(err) != "three; and 1 more command failed" {
		t.Errorf("sync: %v", err)
	}
	must(t, q.Sync(background))
}

func TestEventTimes(t *testing.T) {
	q := newQueue(t)
	first, _ := q.Record()
	must(t, q.Launch(call(func() { time.Sleep(2 * time.Millisecond) })))
	second, _ := q.Record()
	must(t, second.Sync(background))
	ns, ok := second.Since(first)
	if !ok || ns < int64(2*time.Millisecond) || ns > int64(time.Minute) {
		t.Errorf("%d ns, %v", ns, ok)
	}
	if !first.Done() || !q.Idle() {
		t.Error("not done")
	}
}

func TestPollingStartsCheapCommands(t *testing.T) {
	q := newQueue(t)
	must(t, q.Launch(call(func() {})))
	ev, _ := q.Record()
	for deadline := time.Now().Add(time.Minute); !ev.Done(); {
		if time.Now().After(deadline) {
			t.Fatal("the event never came")
		}
		runtime.Gosched()
	}
}

func TestHostFunctions(t *testing.T) {
	q := newQueue(t)
	var order []int
	must(t, q.Launch(call(func() { order = append(order, 1) })))
	must(t, q.Host(func() error { order = append(order, 2); return nil }))
	must(t, q.Launch(call(func() { order = append(order, 3) })))
	must(t, q.Sync(background))
	if fmt.Sprint(order) != "[1 2 3]" {
		t.Errorf("order %v", order)
	}

	cause := errors.New("no")
	must(t, q.Host(func() error { return cause }))
	err := q.Sync(background)
	wantCode(t, err, offload.BackendFailure)
	if !errors.Is(err, cause) {
		t.Errorf("%v does not wrap the cause", err)
	}
	must(t, q.Host(func() error { panic("oh") }))
	wantCode(t, q.Sync(background), offload.BackendFailure)
	must(t, q.Launch(call(func() { panic("oh") })))
	wantCode(t, q.Sync(background), offload.BackendFailure)

	must(t, q.Host(func() error { return q.Host(func() error { order = append(order, 4); return nil }) }))
	must(t, q.Sync(background))
	must(t, q.Sync(background))
	if len(order) != 4 {
		t.Error("a host function that gives commands")
	}
}

func TestCancellation(t *testing.T) {
	q := newQueue(t)
	var ran atomic.Bool
	run, started := endless()
	must(t, q.Launch(run))
	must(t, q.Launch(call(func() { ran.Store(true) })))
	ev, _ := q.Record()
	ctx, cancel := context.WithCancel(background)
	go func() { <-started; cancel() }()
	err := q.Sync(ctx)
	wantCode(t, err, offload.Cancelled)
	if !errors.Is(err, context.Canceled) || ran.Load() || !ev.Done() {
		t.Errorf("%v, ran %v, done %v", err, ran.Load(), ev.Done())
	}
	wantCode(t, ev.Sync(background), offload.Cancelled)
	must(t, q.Sync(background)) // returned once

	must(t, q.Launch(call(func() { ran.Store(true) })))
	must(t, q.Sync(background))
	if !ran.Load() {
		t.Error("the queue does not go on after a cancellation")
	}
	must(t, q.Sync(ctx)) // there is no command to cancel
}

func TestCancellationDoesNotWaitForHostFunctions(t *testing.T) {
	q := newQueue(t)
	release := make(chan struct{})
	started := make(chan struct{})
	must(t, q.Host(func() error { close(started); <-release; return nil }))
	must(t, q.Launch(call(func() { t.Error("a cancelled command ran") })))
	ctx, cancel := context.WithCancel(background)
	go func() { <-started; cancel() }()
	wantCode(t, q.Sync(ctx), offload.Cancelled)
	close(release)
	must(t, q.Sync(background)) // the failure was reported
}

func TestCancellationWhileAwaitingAnEvent(t *testing.T) {
	a, b := newQueue(t), newQueue(t)
	run, started := endless()
	must(t, a.Launch(run))
	ev, _ := a.Record()
	must(t, b.Wait(ev))
	must(t, b.Launch(call(func() { t.Error("a cancelled command ran") })))
	ctx, cancel := context.WithCancel(background)
	go func() { <-started; cancel() }()
	wantCode(t, b.Sync(ctx), offload.Cancelled)
	if a.Idle() {
		t.Error("the other queue was cancelled")
	}
	wantCode(t, a.Sync(ctx), offload.Cancelled)
}

func TestTimeout(t *testing.T) {
	q := newQueue(t)
	var ran atomic.Bool
	run, _ := endless()
	run.Timeout = 5 * time.Millisecond
	run.Pos = offload.Position{File: "a.js", Line: 3, Col: 1}
	must(t, q.Launch(run))
	must(t, q.Launch(call(func() { ran.Store(true) })))
	err := q.Sync(background)
	wantCode(t, err, offload.Timeout)
	if err.(*offload.Error).Pos.Line != 3 || !ran.Load() {
		t.Errorf("position %v, later command ran: %v", err.(*offload.Error).Pos, ran.Load())
	}
	quick := call(func() {})
	quick.Timeout = time.Hour
	for range 100 {
		must(t, q.Launch(quick))
	}
	must(t, q.Sync(background))
}

func TestWaitAcrossQueues(t *testing.T) {
	for _, waitFor := range []string{"last", "first"} {
		t.Run(waitFor, func(t *testing.T) {
			a, b := newQueue(t), newQueue(t)
			var trace []string
			for i := range 100 {
				must(t, a.Launch(call(func() { trace = append(trace, fmt.Sprint("a", i)) })))
				ev, _ := a.Record()
				must(t, b.Wait(ev))
				must(t, b.Launch(call(func() { trace = append(trace, fmt.Sprint("b", i)) })))
				ev, _ = b.Record()
				must(t, a.Wait(ev))
			}
			if waitFor == "first" {
				must(t, a.Sync(background))
			}
			must(t, b.Sync(background))
			for i := range 100 {
				if trace[2*i] != fmt.Sprint("a", i) || trace[2*i+1] != fmt.Sprint("b", i) {
					t.Fatalf("at %d: %s %s", i, trace[2*i], trace[2*i+1])
				}
			}
		})
	}
}

func TestABlockedQueueHoldsNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	gate := New(host{}, Options{})
	release := make(chan struct{})
	must(t, gate.Host(func() error { <-release; return nil }))
	ev, _ := gate.Record()
	var queues []*Queue
	var ran atomic.Int32
	for range 100 {
		q := New(host{}, Options{})
		queues = append(queues, q)
		must(t, q.Wait(ev))
		must(t, q.Launch(call(func() { ran.Add(1) })))
	}
	// The workers end a while after their queues became blocked.
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+1 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before+1 {
		t.Errorf("%d goroutines before, %d while 100 queues wait for an event", before, n)
	}
	close(release)
	for _, q := range queues {
		must(t, q.Close())
	}
	must(t, gate.Close())
	if ran.Load() != 100 {
		t.Errorf("%d of 100 queues went on", ran.Load())
	}
}

func TestManyOutstandingCommands(t *testing.T) {
	q := newQueue(t)
	n := 0
	for range 3*softSlots + 7 {
		must(t, q.Launch(call(func() { n++ })))
	}
	must(t, q.Sync(background))
	if n != 3*softSlots+7 {
		t.Errorf("%d commands ran", n)
	}
}

// TestRoomDoesNotWaitForHostFunctions issues commands on the goroutine that a host function waits for, as scripts do.
func TestRoomDoesNotWaitForHostFunctions(t *testing.T) {
	q := newQueue(t)
	release := make(chan struct{})
	must(t, q.Launch(call(func() { time.Sleep(20 * time.Millisecond) })))
	must(t, q.Host(func() error { <-release; return nil }))
	n := 0
	for range 2 * softSlots {
		must(t, q.Launch(call(func() { n++ })))
	}
	close(release)
	must(t, q.Sync(background))
	if n != 2*softSlots {
		t.Errorf("%d commands ran", n)
	}
}

// TestDeferred checks that commands of a deferred queue, even short ones, do not run on the goroutine that issues them.
func TestDeferred(t *testing.T) {
	q := New(host{}, Options{Device: "test", Clock: NewClock(), Deferred: true})
	for range 100 {
		issued := make(chan struct{})
		k := &kernel{sure: true, run: func(*Stop) error { <-issued; return nil }}
		must(t, q.Launch(&offload.Launch{Kernel: k}))
		must(t, q.Launch(&offload.Launch{Kernel: k, Prepared: k}))
		close(issued)
		must(t, q.Sync(background))
	}
	must(t, q.Close())
}

// TestRoomDoesNotWaitForEvents checks that a command that waits for space continues when the queue becomes blocked by an
// event, since the event may depend on its goroutine.
func TestRoomDoesNotWaitForEvents(t *testing.T) {
	q, other := newQueue(t), newQueue(t)
	running, end, gate := make(chan struct{}), make(chan struct{}), make(chan struct{})
	must(t, other.Host(func() error { <-gate; return nil }))
	ev, err := other.Record()
	must(t, err)
	must(t, q.Launch(&offload.Launch{Kernel: &kernel{cost: time.Second, run: func(*Stop) error { close(running); <-end; return nil }}}))
	<-running
	must(t, q.Wait(ev))
	issued := make(chan struct{})
	go func() {
		defer close(issued)
		for range 2 * fullSlots {
			check(t, q.Launch(call(func() {})))
		}
	}()
	for start := time.Now(); q.waiting.Load() == 0 && time.Since(start) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	close(end)
	select {
	case <-issued:
	case <-time.After(time.Minute):
		t.Error("the issuer waits for a queue that waits for it")
	}
	close(gate)
	<-issued
	must(t, q.Sync(background))
}

func TestClose(t *testing.T) {
	q := New(host{}, Options{Device: "test", Label: "q"})
	ran := false
	must(t, q.Launch(call(func() { time.Sleep(time.Millisecond); ran = true })))
	ev, _ := q.Record()
	must(t, q.Launch(failing("late")))
	wantCode(t, q.Close(), offload.Assertion)
	if !ran || !ev.Done() {
		t.Error("Close did not wait")
	}
	must(t, q.Close())
	wantCode(t, q.Launch(call(func() {})), offload.Closed)
	wantCode(t, q.Submit(span(&block{data: make([]byte, 1)}), []byte{1}), offload.Closed)
	_, err := q.Record()
	wantCode(t, err, offload.Closed)
	must(t, q.Sync(background))
}

func TestNothingIsAllocated(t *testing.T) {
	q := newQueue(t)
	m := &block{data: make([]byte, 64)}
	data := make([]byte, 64)
	empty := call(func() {})
	timed := call(func() {})
	timed.Timeout = time.Minute
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"launch", func() error { return q.Launch(empty) }},
		{"launch with a time limit", func() error { return q.Launch(timed) }},
		{"submit", func() error { return q.Submit(span(m), data) }},
		{"retrieve", func() error { return q.Retrieve(data, span(m)) }},
		{"fill", func() error { return q.Fill(span(m), data[:4]) }},
	} {
		both := func() {
			must(t, c.do())
			must(t, q.Sync(background))
		}
		for range 2 * firstSlots {
			both()
		}
		if n := allocs.PerRun(1000, both); n != 0 {
			t.Errorf("%s and sync: %v allocations", c.name, n)
		}
		ctx, cancel := context.WithCancel(background)
		under := func() {
			must(t, c.do())
			must(t, q.Sync(ctx))
		}
		under()
		if n := allocs.PerRun(100, under); n != 0 {
			t.Errorf("%s and sync under a context: %v allocations", c.name, n)
		}
		cancel()
		many := func() {
			for range 50 {
				must(t, c.do())
			}
			must(t, q.Sync(background))
		}
		if n := allocs.PerRun(100, many); n != 0 {
			t.Errorf("%s, 50 times, and sync: %v allocations", c.name, n)
		}
	}
}

// TestHammer issues all kinds of commands on many queues from many goroutines, and waits, polls and cancels.
func TestHammer(t *testing.T) {
	const goroutines, queues = 8, 5
	rounds := 300
	if testing.Short() {
		rounds = 100
	}
	var qs [queues]*Queue
	var busy [queues]atomic.Bool // a command of the queue runs
	for i := range qs {
		qs[i] = newQueue(t)
	}
	var events [queues]atomic.Pointer[Event]
	var given, ran atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			for range rounds {
				i := rng.IntN(queues)
				q := qs[i]
				work := rng.IntN(100)
				body := func() {
					if busy[i].Swap(true) {
						t.Error("two commands of a queue at once")
					}
					if work > 90 {
						runtime.Gosched()
					}
					ran.Add(1)
					busy[i].Store(false)
				}
				cost := time.Duration(rng.IntN(2)) * time.Millisecond
				switch rng.IntN(10) {
				case 0:
					given.Add(1)
					check(t, q.Host(func() error { body(); return nil }))
				case 1:
					ev, err := q.Record()
					check(t, err)
					events[i].Store(ev.(*Event))
				case 2:
					if ev := events[rng.IntN(queues)].Load(); ev != nil {
						check(t, q.Wait(ev))
					}
				case 3:
					check(t, q.Sync(background))
				case 4:
					if ev := events[i].Load(); ev != nil {
						check(t, ev.Sync(background))
						if !ev.Done() {
							t.Error("an awaited event is not done")
						}
					}
				case 5:
					ctx, cancel := context.WithTimeout(background, time.Hour)
					check(t, q.Sync(ctx))
					cancel()
				case 6:
					q.Idle()
				default:
					given.Add(1)
					check(t, q.Launch(&offload.Launch{Kernel: &kernel{cost: cost, run: func(*Stop) error { body(); return nil }}}))
				}
			}
		})
	}
	wg.Wait()
	for _, q := range qs {
		check(t, q.Sync(background))
	}
	if given.Load() != ran.Load() {
		t.Errorf("%d commands given, %d ran", given.Load(), ran.Load())
	}
}

// TestHammerCancellation repeats TestHammer with contexts that end and endless kernels.
func TestHammerCancellation(t *testing.T) {
	const goroutines, queues = 6, 3
	var qs [queues]*Queue
	for i := range qs {
		qs[i] = newQueue(t)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 2))
			for range 60 {
				q, other := qs[rng.IntN(queues)], qs[rng.IntN(queues)]
				run, _ := endless()
				if rng.IntN(2) == 0 {
					run.Timeout = time.Duration(rng.IntN(300)) * time.Microsecond
				}
				check(t, q.Launch(run))
				ev, err := q.Record()
				check(t, err)
				check(t, other.Wait(ev))
				check(t, other.Launch(call(func() {})))
				ctx, cancel := context.WithTimeout(background, time.Duration(rng.IntN(500))*time.Microsecond)
				switch err := q.Sync(ctx); offload.CodeOf(err) {
				case "", offload.Cancelled, offload.Timeout:
				default:
					t.Error(err)
				}
				if !ev.Done() {
					t.Error("Sync gave up before the command had ended")
				}
				cancel()
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(background)
	cancel()
	for _, q := range qs {
		if err := q.Sync(ctx); err != nil && offload.CodeOf(err) != offload.Cancelled && offload.CodeOf(err) != offload.Timeout {
			t.Error(err)
		}
	}
}

func BenchmarkLaunchAndSync(b *testing.B) {
	q := newQueue(b)
	l := call(func() {})
	b.ReportAllocs()
	for b.Loop() {
		if err := q.Launch(l); err != nil {
			b.Fatal(err)
		}
		if err := q.Sync(background); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLaunchAndSyncUnderContext(b *testing.B) {
	q := newQueue(b)
	l := call(func() {})
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if err := q.Launch(l); err != nil {
			b.Fatal(err)
		}
		if err := q.Sync(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLaunchPipelined(b *testing.B) {
	for _, batch := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			q := newQueue(b)
			k := &kernel{cost: 50, run: func(*Stop) error { return nil }}
			l := &offload.Launch{Kernel: k}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if err := q.Launch(l); err != nil {
					b.Fatal(err)
				}
				if n++; n%batch == 0 {
					if err := q.Sync(background); err != nil {
						b.Fatal(err)
					}
				}
			}
			q.Sync(background)
		})
	}
}

// BenchmarkEventChain passes a token between two queues.
func BenchmarkEventChain(b *testing.B) {
	p, q := newQueue(b), newQueue(b)
	l := call(func() {})
	step := func(from, to *Queue) {
		from.Launch(l)
		ev, err := from.Record()
		if err == nil {
			err = to.Wait(ev)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		step(p, q)
		step(q, p)
		if err := q.Sync(background); err != nil {
			b.Fatal(err)
		}
	}
}
