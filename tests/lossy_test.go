package tests

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/remote"
	"github.com/orepl/orepl/runtime/session"
)

// lossyRun uses a device that may be lost or whose calls may fail, together with a reliable one. It records the first
// failure of the former.
type lossyRun struct {
	t       *testing.T
	ctx     context.Context
	session *session.Session
	id      string // id of the lossy device
	best    string // id of the best device before the loss
	codes   []offload.Code
	loss    *far.Loss
	used    int // number of calls before the run began to free its objects
	failed  error
}

// note records the first failure, which must have one of the codes. It reports whether err is nil.
func (r *lossyRun) note(what string, err error) bool {
	if err == nil {
		return true
	}
	if code := offload.CodeOf(err); !slices.Contains(r.codes, code) {
		r.t.Errorf("%s: %v, code %q", what, err, code)
	}
	if r.failed == nil {
		r.failed = err
	}
	return false
}

// must fails the test if a call on the reliable device returned an error.
func (r *lossyRun) must(what string, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%s on the device that stays: %v", what, err)
	}
}

func (r *lossyRun) run() {
	t, ctx := r.t, r.ctx
	best, err := r.session.Device(ctx, "")
	if !r.note("find", err) {
		return
	}
	if best.ID() != r.best {
		t.Fatalf("the best device is %s", best.ID())
	}
	lossy, err := r.session.Device(ctx, r.id)
	if !r.note("find", err) {
		return
	}
	stays, err := r.session.Device(ctx, "cpu:0")
	r.must("find", err)
	lib, err := r.session.RegisterFile(ctx, "conform", "../runtime/conform/testdata/kernels.irb")
	r.must("register", err)

	const n = 1000
	here, err := stays.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{n}})
	r.must("create", err)
	kernel, err := lib.Kernel(ctx, stays, "ids")
	r.must("kernel", err)
	call, err := kernel.Bind(session.Config{Size: []int{n}}, session.Buf(here))
	r.must("bind", err)
	q, err := stays.Queue()
	r.must("queue", err)
	r.must("launch", q.Launch(call))

	r.far(lossy, lib, here, n)

	// The reliable device must continue, even if its commands waited for the lossy one.
	r.must("launch", q.Launch(call))
	got, err := session.Read[int32](ctx, here, 0, -1)
	r.must("read", err)
	for i, v := range got {
		if v != int32(i)+1 {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	best, err = r.session.Device(ctx, "")
	r.must("find", err)
	if want := map[bool]string{true: "cpu:0", false: r.best}[lossy.IsLost()]; best.ID() != want {
		t.Errorf("the best device is %s, want %s", best.ID(), want)
	}
	r.must("free", here.Free())
	if err := lib.Unregister(ctx); slices.Contains(r.codes, offload.DeviceLost) {
		r.must("unregister", err)
	} else {
		r.note("unregister", err)
	}
}

// far uses all parts of the contract on the lossy device, and frees its objects.
func (r *lossyRun) far(d *session.Device, lib *session.Library, here *session.Buffer, n int) {
	ctx := r.ctx
	a, err := d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{n}})
	if !r.note("create", err) {
		return
	}
	defer func() { r.must("free", a.Free()) }()
	b, err := d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{n}})
	if !r.note("create", err) {
		return
	}
	defer func() { r.must("free", b.Free()) }()
	q, err := d.NewQueue(session.QueueOptions{})
	if !r.note("create queue", err) {
		return
	}
	defer func() { r.note("close", q.Close(ctx)) }()
	second, err := d.NewQueue(session.QueueOptions{})
	if !r.note("create queue", err) {
		return
	}
	defer func() { r.note("close", second.Close(ctx)) }()
	near, err := here.Device().Queue()
	r.must("queue", err)
	k, err := lib.Kernel(ctx, d, "ids")
	if !r.note("kernel", err) {
		return
	}
	call, err := k.Bind(session.Config{Size: []int{n}}, session.Buf(a))
	if !r.note("bind", err) {
		return
	}
	host := make([]byte, 4*n)
	for range 3 {
		r.note("launch", q.Launch(call))
		r.note("fill", second.Fill(b, []byte{1, 0, 0, 0}))
		r.note("copy", second.Copy(b, a)) // waits for q
		r.note("write", q.Write(b, 0, host))
		ev, err := q.Record("middle")
		r.note("record", err)
		if err == nil {
			r.must("wait", near.Wait(ev)) // a wait of another platform for the lossy device
			r.note("settle", ev.Settle(ctx))
			r.note("event", ev.Sync(ctx))
			if !ev.Done() {
				r.t.Error("an event was synced and is not done")
			}
		}
		r.note("copy between devices", q.Copy(a, here))
		r.note("read", q.Read(host, a, 0))
		r.note("host function", q.Host(func() error { return nil }))
		r.note("sync", q.Sync(ctx))
		r.note("sync", second.Sync(ctx))
	}
	r.compare(host)
	r.used = r.loss.Calls()
}

// compare fails the test for wrong elements, unless a call has failed.
func (r *lossyRun) compare(read []byte) {
	for i := range len(read) / 4 {
		if got := binary.LittleEndian.Uint32(read[4*i:]); r.failed == nil && got != uint32(i)+1 {
			r.t.Fatalf("element %d of what was read is %d", i, got)
		}
	}
}

// TestMishapAtEveryCall repeats a run with a failure or a device loss at each call: commands, allocations, loads, queues,
// events and library hooks.
func TestMishapAtEveryCall(t *testing.T) {
	before := runtime.NumGoroutine()
	calls, used, _, failed := mishap(t, 0, far.DeviceLost, 0)
	if failed != nil || calls < 30 {
		t.Fatalf("%d calls without a mishap: %v", calls, failed)
	}
	const delay = 400 * time.Microsecond // delay of every other run
	step := 1
	if testing.Short() {
		step = 5
	}
	kinds := map[string]bool{}
	for _, how := range []far.Mishap{far.DeviceLost, far.Once, far.Always, far.Late} {
		for at := range slices.Values(stepped(1, calls, step)) {
			t.Run(fmt.Sprintf("%v/%d", how, at), func(t *testing.T) {
				_, _, kind, failed := mishap(t, at, how, time.Duration(at%2)*delay)
				kinds[kind] = true
				switch {
				case how == far.Once && kind == "allocate": // the runtime may retry
				case at > used && kind == "record": // the runtime tolerates this failure
				case how == far.DeviceLost && kind == "unregister library": // the call succeeds on a lost device
				case failed == nil:
					t.Errorf("nobody was told that %q went wrong", kind)
				}
			})
		}
	}
	if step == 1 && len(kinds) != 7 {
		t.Errorf("mishaps of %d kinds of calls only: %v", len(kinds), kinds)
	}
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// mishap performs a run with a mishap at call number at, and another one if the device is still usable. It returns the
// number of calls, the number before freeing began, the kind of the affected call, and the first failure.
func mishap(t *testing.T, at int, how far.Mishap, delay time.Duration) (calls, used int, kind string, failed error) {
	loss := far.NewMishap(at, how)
	loss.Delay = delay
	s := session.Open(session.Options{Plugins: []offload.Plugin{
		far.WrapLossy("far", cpu.New(cpu.Options{}), loss), cpu.New(cpu.Options{Devices: 2})}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	codes := []offload.Code{offload.BackendFailure, offload.OutOfResources}
	if how == far.DeviceLost {
		codes = []offload.Code{offload.DeviceLost}
	}
	r := &lossyRun{t: t, ctx: ctx, session: s, id: "far:0", best: "far:0", codes: codes, loss: loss}
	r.run()
	calls = loss.Calls()
	if how == far.Once || how == far.Late {
		again := &lossyRun{t: t, ctx: ctx, session: s, id: "far:0", best: "far:0", codes: codes, loss: loss}
		if again.run(); again.failed != nil {
			t.Errorf("the next run failed, too: %v", again.failed)
		}
	}
	if live := s.Live(); len(live) > 0 {
		t.Errorf("left alive: %v", live)
	}
	r.note("close the session", s.Close(ctx))
	if leaks := loss.Leaks(); len(leaks) > 0 {
		t.Errorf("the plugin counts %v", leaks)
	}
	return calls, r.used, loss.Kind(), r.failed
}

// stepped returns the numbers from first to last in steps.
func stepped(first, last, step int) (list []int) {
	for i := first; i <= last; i += step {
		list = append(list, i)
	}
	return list
}

// TestDeviceLostUnderARunningKernel loses a device during an endless kernel, with commands queued behind it.
func TestDeviceLostUnderARunningKernel(t *testing.T) {
	t.Run("in this process", func(t *testing.T) {
		loss := far.NewLoss(0)
		lostUnderARunningKernel(t, far.WrapLossy("far", cpu.New(cpu.Options{}), loss), "far:0", loss.Lose)
	})
	t.Run("behind a stream", func(t *testing.T) {
		var served sync.WaitGroup
		here, there := net.Pipe()
		served.Go(func() { _ = remote.Serve(context.Background(), there, cpu.New(cpu.Options{})) }) // returns an error when the stream is cut
		dial := func(context.Context) (io.ReadWriteCloser, error) { return here, nil }
		lostUnderARunningKernel(t, remote.NewPlugin("far", dial), "far:cpu:0", func() { _ = here.Close() })
		served.Wait() // waits for the end of the kernel, too
	})
}

func lostUnderARunningKernel(t *testing.T, plugin offload.Plugin, id string, lose func()) {
	s := session.Open(session.Options{Plugins: []offload.Plugin{plugin, cpu.New(cpu.Options{Devices: 2})}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	lost := func(what string, err error) {
		t.Helper()
		if offload.CodeOf(err) != offload.DeviceLost {
			t.Errorf("%s: %v, want a device that is lost", what, err)
		}
	}
	d, err := s.Device(ctx, id)
	check("find", err)
	stays, err := s.Device(ctx, "cpu:0")
	check("find", err)
	lib, err := s.RegisterFile(ctx, "conform", "../runtime/conform/testdata/kernels.irb")
	check("register", err)
	b, err := d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{2}})
	check("create", err)
	k, err := lib.Kernel(ctx, d, "endless")
	check("kernel", err)
	call, err := k.Bind(session.Config{Size: []int{1}}, session.Buf(b))
	check("bind", err)
	q, err := d.NewQueue(session.QueueOptions{})
	check("create queue", err)
	near, err := stays.Queue()
	check("queue", err)

	check("launch", q.Launch(call))
	host := make([]byte, 8)
	check("read", q.Read(host, b, 0))
	ev, err := q.Record("behind")
	check("record", err)
	check("wait", near.Wait(ev))
	after, err := near.Record("after")
	check("record", err)
	if ev.Done() || after.Done() {
		t.Fatal("the kernel has ended")
	}
	time.AfterFunc(20*time.Millisecond, lose)
	lost("the event behind the kernel", ev.Sync(ctx))
	check("the queue that waited for the event", after.Sync(ctx))
	if err := q.Sync(ctx); err != nil { // the event may have consumed all failures
		lost("sync", err)
	}
	check("a second sync", q.Sync(ctx))
	lost("a launch", q.Launch(call))
	_, err = d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{2}})
	lost("an allocation", err)
	_, err = d.NewQueue(session.QueueOptions{})
	lost("a queue", err)
	check("free", b.Free())
	check("close", q.Close(ctx))
	check("unregister", lib.Unregister(ctx))
	if live := s.Live(); len(live) > 0 {
		t.Errorf("left alive: %v", live)
	}
	check("close the session", s.Close(ctx))
}
