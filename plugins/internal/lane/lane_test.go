package lane_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/internal/lane"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
)

// toy is a driver whose stream runs commands on a goroutine, in order. Each of its methods fails the test when it is called
// with a command that the lane has retired.
type toy struct {
	t       *testing.T
	queued  chan func()
	blocks  bool // long copies block in Enqueue
	failing atomic.Bool
	live    atomic.Int64  // commands that are enqueued and not retired
	block   chan struct{} // blocking copies wait for it; nil: they take a moment
}

// command is the toy's part of a command in flight.
type command struct {
	ended   chan struct{}
	failed  error
	retired atomic.Bool
}

type flight = lane.Flight[command]

// memory is memory of the toy.
type memory struct{ data []byte }

func (m *memory) Size() int64            { return int64(len(m.data)) }
func (*memory) Kind() offload.MemoryKind { return offload.DeviceMemory }
func (*memory) Bytes() []byte            { return nil }
func (*memory) Free() error              { return nil }

// kernel runs do on the toy's goroutine until it returns or stop reports a request.
type kernel struct {
	do     func(stop func() bool)
	print  func()
	strong bool // cannot be stopped
}

func (*kernel) Info() *offload.KernelInfo { return &offload.KernelInfo{Name: "k"} }

// launch implements [queue.LaneLaunch].
type launch struct{ kernel *kernel }

func (s *launch) Set(o *offload.Launch) error {
	s.kernel = o.Kernel.(*kernel)
	return nil
}
func (s *launch) Clear() { s.kernel = nil }

// run implements [lane.Launch].
type run struct {
	kernel   *kernel
	stop     atomic.Bool
	ended    atomic.Bool
	released atomic.Bool
}

func (*run) Begun(<-chan struct{}) {}
func (r *run) Stoppable() bool     { return !r.kernel.strong }
func (r *run) Prints() bool        { return r.kernel.print != nil }

func (r *run) Stop() {
	if r.released.Load() {
		panic("a launch is stopped whose memory another one may have")
	}
	r.stop.Store(true)
}

func (r *run) End(ended bool) error {
	if r.ended.Swap(true) {
		panic("a launch ends twice")
	}
	if ended && r.kernel.print != nil {
		r.kernel.print()
	}
	return nil
}

func (r *run) Release() {
	if !r.ended.Load() || r.released.Swap(true) {
		panic("a launch is released before its end, or twice")
	}
}

func newToy(t *testing.T, blocks bool) *toy {
	s := &toy{t: t, queued: make(chan func(), 1000), blocks: blocks}
	go func() {
		for f := range s.queued {
			f()
		}
	}()
	return s
}

func (s *toy) use(f *flight) {
	if f.State.retired.Load() {
		s.t.Error("the driver is called with a retired command")
	}
}

func (s *toy) Check(m offload.Memory) *offload.Error {
	_, ok := m.(*memory)
	return queue.CheckMemory(ok, false)
}
func (*toy) NewLaunch() queue.LaneLaunch    { return &launch{} }
func (*toy) Flush()                         {}
func (*toy) Since(_, _ any) (int64, bool)   { return 0, false }
func (s *toy) Blocks(c *queue.Command) bool { return s.blocks && c.Size > 64 }

var errDriver = errors.New("the toy broke")

func (s *toy) Enqueue(f *flight) error {
	c := f.Command
	var do func()
	switch c.Kind {
	case queue.CopyBytes:
		to, from := c.Dst, c.Src
		bytesOf := func(p queue.Place) []byte {
			if m, ok := p.Memory.(*memory); ok {
				return m.data[p.Offset:][:c.Size]
			}
			return p.Host[:c.Size]
		}
		dst, src := bytesOf(to), bytesOf(from)
		if s.Blocks(c) {
			if time.Sleep(200 * time.Microsecond); s.block != nil {
				<-s.block
			}
		}
		do = func() { copy(dst, src) }
	case queue.FillBytes:
		dst, pattern := c.Dst.Memory.(*memory).data[c.Dst.Offset:][:c.Size], slices.Clone(c.Pattern)
		do = func() { copy(dst, bytes.Repeat(pattern, len(dst)/len(pattern))) }
	case queue.LaunchKernel:
		r := &run{kernel: c.Launch.(*launch).kernel}
		f.Launch = r
		do = func() { r.kernel.do(r.stop.Load) }
	default:
		do = func() {}
	}
	f.State.ended = make(chan struct{})
	s.live.Add(1)
	st := &f.State
	s.queued <- func() {
		if s.failing.Load() {
			st.failed = errDriver
		} else {
			do()
		}
		close(st.ended)
	}
	return nil
}

func (s *toy) Query(f *flight) (bool, error) {
	s.use(f)
	select {
	case <-f.State.ended:
		return true, f.State.failed
	default:
		return false, nil
	}
}

func (s *toy) Failure(_ *flight, failed error) error {
	e := offload.Errorf(offload.BackendFailure, "run", "the driver refused")
	e.Err = failed
	return e
}

func (s *toy) Stamp(*flight) any { return nil }

func (s *toy) Retire(f *flight) {
	if f.State.retired.Swap(true) {
		s.t.Error("a command is retired twice")
	}
	s.live.Add(-1)
}

func (s *toy) Close() {
	if n := s.live.Load(); n != 0 {
		s.t.Errorf("%d commands are live after the stream was closed", n)
	}
	close(s.queued)
}

// waiting is a toy with a wait in the driver.
type waiting struct{ *toy }

func (s waiting) Wait(f *flight) {
	s.use(f)
	<-f.State.ended
}

// preparing is a toy that prepares launches.
type preparing struct {
	*toy
	prepare func() <-chan struct{}
}

func (s preparing) Prepare(c *queue.Command) <-chan struct{} {
	if c.Kind != queue.LaunchKernel {
		return nil
	}
	return s.prepare()
}

// eachToy runs a test on a toy that polls, one that waits, one that blocks in Enqueue, and one that prepares launches.
func eachToy(t *testing.T, f func(t *testing.T, s *toy, q *queue.Queue)) {
	for name, waits := range map[string]bool{"polls": false, "waits": true, "blocks": false, "prepares": false} {
		t.Run(name, func(t *testing.T) {
			s := newToy(t, name == "blocks")
			options := lane.Options{Window: 8, Looks: 3, Device: "toy:0"}
			var l queue.Lane = lane.New[command](s, options)
			if waits {
				l = lane.New[command](waiting{s}, options)
			}
			if turn := 0; name == "prepares" {
				l = lane.New[command](preparing{s, func() <-chan struct{} {
					if turn++; turn%2 == 0 {
						return nil
					}
					ready := make(chan struct{})
					time.AfterFunc(time.Duration(turn%5)*50*time.Microsecond, func() { close(ready) })
					return ready
				}}, options)
			}
			q := queue.NewOnLane(l, queue.Options{Label: "q", Device: "toy:0", Clock: queue.NewClock()})
			f(t, s, q)
			if err := q.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCommands compares random copies, fills, launches, events and waits with a sequential model.
func TestCommands(t *testing.T) {
	eachToy(t, func(t *testing.T, _ *toy, q *queue.Queue) {
		rng := rand.New(rand.NewPCG(1, 2))
		m, want := &memory{make([]byte, 256)}, make([]byte, 256)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		prints, printed := 0, 0
		for step := range 600 {
			at, size := rng.IntN(128), 1+rng.IntN(128)
			span := offload.Span{Memory: m, Offset: int64(at), Size: int64(size)}
			switch rng.IntN(6) {
			case 0:
				data := make([]byte, size)
				for i := range data {
					data[i] = byte(step + i)
				}
				check(q.Submit(span, data))
				copy(want[at:], data)
			case 1:
				got := make([]byte, size)
				check(q.Retrieve(got, span))
				check(q.Sync(ctx))
				if !bytes.Equal(got, want[at:][:size]) {
					t.Fatalf("step %d: %x, want %x", step, got, want[at:][:size])
				}
			case 2:
				check(q.Fill(span, []byte{byte(step)}))
				for i := range size {
					want[at+i] = byte(step)
				}
			case 3, 4:
				k := &kernel{do: func(func() bool) { m.data[at]++ }}
				if rng.IntN(2) == 0 {
					prints++
					k.print = func() { printed++ }
				}
				check(q.Launch(&offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}}))
				want[at]++
			case 5:
				ev, err := q.Record()
				check(err)
				if rng.IntN(2) == 0 {
					check(ev.Sync(context.Background()))
				} else {
					check(ev.Sync(ctx))
				}
			}
		}
		check(q.Sync(context.Background()))
		if !bytes.Equal(m.data, want) || printed != prints {
			t.Errorf("%x, want %x; %d prints, want %d", m.data, want, printed, prints)
		}
	})
}

// endless runs until it is asked to stop.
func endless(stop func() bool) {
	for !stop() {
		time.Sleep(20 * time.Microsecond)
	}
}

// TestStops cancels launches that run, that wait behind a blocking copy, and that have ended.
func TestStops(t *testing.T) {
	eachToy(t, func(t *testing.T, s *toy, q *queue.Queue) {
		m := &memory{make([]byte, 256)}
		for range 30 {
			launch := func(k *kernel) {
				if err := q.Launch(&offload.Launch{Kernel: k, Size: [3]int{1, 1, 1}}); err != nil {
					t.Fatal(err)
				}
			}
			launch(&kernel{do: func(func() bool) {}})
			if err := q.Submit(offload.Span{Memory: m, Size: 200}, make([]byte, 200)); err != nil {
				t.Fatal(err)
			}
			launch(&kernel{do: endless})
			launch(&kernel{do: func(func() bool) {}})
			launch(&kernel{do: endless})
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(100+rand.IntN(300))*time.Microsecond)
			err := q.Sync(ctx)
			cancel()
			if err != nil && offload.CodeOf(err) != offload.Cancelled {
				t.Fatal(err)
			}
			if err := q.Sync(context.Background()); err != nil && offload.CodeOf(err) != offload.Cancelled {
				t.Fatal(err)
			}
		}
	})
}

// TestStopBehind stops a launch behind a copy that the lane still enqueues. The launch never runs.
func TestStopBehind(t *testing.T) {
	s := newToy(t, true)
	s.block = make(chan struct{})
	l := lane.New[command](s, lane.Options{Window: 8, Device: "toy:0"})
	m := &memory{make([]byte, 256)}
	list := []*queue.Command{
		{Kind: queue.CopyBytes, Number: 3, Size: 200, Dst: queue.Place{Memory: m}, Src: queue.Place{Host: make([]byte, 200)}},
		{Kind: queue.LaunchKernel, Number: 5, Launch: &launch{&kernel{do: func(func() bool) { t.Error("a stopped launch runs") }}}},
		{Kind: queue.CopyBytes, Number: 7, Size: 8, Dst: queue.Place{Memory: m}, Src: queue.Place{Host: make([]byte, 8)}},
	}
	for _, c := range list {
		if err := l.Begin(c); err != nil {
			t.Fatal(err)
		}
	}
	l.Stop(6)
	close(s.block)
	l.Await(t.Context(), 7)
	for i, want := range []error{nil, queue.ErrStopped, nil} {
		if err := l.Finish(list[i]); err != want {
			t.Errorf("command %d: %v, want %v", i, err, want)
		}
	}
	l.Close()
}

// TestStopUnprepared stops a launch whose preparation does not end. The commands behind it run.
func TestStopUnprepared(t *testing.T) {
	l := lane.New[command](preparing{newToy(t, false), func() <-chan struct{} { return make(chan struct{}) }}, lane.Options{Window: 8, Device: "toy:0"})
	m := &memory{make([]byte, 8)}
	list := []*queue.Command{
		{Kind: queue.LaunchKernel, Number: 3, Launch: &launch{&kernel{do: func(func() bool) { t.Error("a stopped launch runs") }}}},
		{Kind: queue.CopyBytes, Number: 5, Size: 8, Dst: queue.Place{Memory: m}, Src: queue.Place{Host: []byte("12345678")}},
	}
	for _, c := range list {
		if err := l.Begin(c); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Reached(); n != 0 {
		t.Errorf("command %d was reached before the preparation", n)
	}
	l.Stop(3)
	l.Stop(3)
	l.Await(t.Context(), 5)
	for i, want := range []error{queue.ErrStopped, nil} {
		if err := l.Finish(list[i]); err != want {
			t.Errorf("command %d: %v, want %v", i, err, want)
		}
	}
	if string(m.data) != "12345678" {
		t.Errorf("the copy left %q", m.data)
	}
	l.Close()
}

// TestPrompt checks that an idle queue on a prompt lane waits for long copies from memory that the caller may change, and reports
// their failure later.
func TestPrompt(t *testing.T) {
	for _, prompt := range []bool{false, true} {
		s := newToy(t, true)
		q := queue.NewOnLane(lane.New[command](s, lane.Options{Window: 8, Device: "toy:0", Prompt: prompt}), queue.Options{Label: "q", Device: "toy:0", Clock: queue.NewClock()})
		data := bytes.Repeat([]byte{7}, 1<<20)
		m := &memory{make([]byte, len(data))}
		span := offload.Span{Memory: m, Size: int64(len(data))}
		if err := q.SubmitNow(span, data); err != nil {
			t.Fatal(err)
		}
		if !q.Idle() == prompt {
			t.Errorf("prompt %t: the queue is idle after the copy: %t", prompt, q.Idle())
		}
		clear(data)
		if err := q.Sync(t.Context()); err != nil || m.data[0] != 7 || m.data[len(data)-1] != 7 {
			t.Errorf("prompt %t: %v, the copy left %d … %d", prompt, err, m.data[0], m.data[len(data)-1])
		}
		s.failing.Store(true)
		if err := q.SubmitNow(span, data); err != nil {
			t.Errorf("prompt %t: %v", prompt, err)
		}
		if err := q.Sync(t.Context()); !errors.Is(err, errDriver) {
			t.Errorf("prompt %t: a failed copy: %v", prompt, err)
		}
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestUnstoppable checks that a launch that the device cannot stop runs to its end and succeeds.
func TestUnstoppable(t *testing.T) {
	eachToy(t, func(t *testing.T, _ *toy, q *queue.Queue) {
		begun, end := make(chan struct{}), make(chan struct{})
		err := q.Launch(&offload.Launch{Size: [3]int{1, 1, 1}, Kernel: &kernel{strong: true, do: func(stop func() bool) {
			close(begun)
			<-end
			if stop() {
				t.Error("the launch was asked to stop")
			}
		}}})
		if err != nil {
			t.Fatal(err)
		}
		q.Idle()
		<-begun
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(time.Millisecond)
			cancel()
			time.Sleep(time.Millisecond)
			close(end)
		}()
		if err := q.Sync(ctx); err != nil && offload.CodeOf(err) != offload.Cancelled {
			t.Fatal(err)
		}
		if err := q.Sync(context.Background()); err != nil && offload.CodeOf(err) != offload.Cancelled {
			t.Fatal(err)
		}
	})
}

// TestFails checks that an error of the driver, and a panic of the host's writer, are the failure of the launch.
func TestFails(t *testing.T) {
	eachToy(t, func(t *testing.T, s *toy, q *queue.Queue) {
		launch := func(print func()) error {
			err := q.Launch(&offload.Launch{Size: [3]int{1, 1, 1}, Kernel: &kernel{do: func(func() bool) {}, print: print}})
			if err != nil {
				t.Fatal(err)
			}
			return q.Sync(context.Background())
		}
		if err := launch(func() { panic("a writer") }); offload.CodeOf(err) != offload.BackendFailure {
			t.Errorf("a panic: %v", err)
		}
		s.failing.Store(true)
		if err := launch(nil); !errors.Is(err, errDriver) || offload.CodeOf(err) != offload.BackendFailure {
			t.Errorf("a failure: %v", err)
		}
		if err := launch(func() { t.Error("a failed launch prints") }); !errors.Is(err, errDriver) {
			t.Errorf("a failure: %v", err)
		}
	})
}
