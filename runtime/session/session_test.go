package session_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/queue"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/tests/allocs"
)

var ctx = context.Background()

// adder has a kernel that adds 1 to the first element of y and stores the sum with x's; it takes some time, so that
// queues which do not wait for each other lose updates.
func adder() *hostPlugin {
	return &hostPlugin{name: "cpu", count: 1, class: offload.ClassCPU, kernels: map[string]hostKernel{
		"add": {
			info: offload.KernelInfo{Name: "add", Params: []offload.Param{i32Buffer("x", false), i32Buffer("y", true)}},
			run: func(args []offload.Arg, _ *queue.Stop) error {
				x, y := ints(args[0]), ints(args[1])
				sum := binary.LittleEndian.Uint32(x) + binary.LittleEndian.Uint32(y) + 1
				runtime.Gosched()
				binary.LittleEndian.PutUint32(y, sum)
				return nil
			},
		},
		"slow": {
			info: offload.KernelInfo{Name: "slow", Params: []offload.Param{i32Buffer("y", true)}},
			run: func(args []offload.Arg, stop *queue.Stop) error {
				for range 20 {
					if stop.Requested() {
						return queue.ErrStopped
					}
					time.Sleep(time.Millisecond)
				}
				ints(args[0])[0]++
				return nil
			},
		},
		"fail": {run: func([]offload.Arg, *queue.Stop) error {
			return offload.Errorf(offload.Assertion, "launch", "as asked")
		}},
	}}
}

// hold adds the kernel "held" to a plugin. It adds 1 to the first element of y after a call of end.
func hold(p *hostPlugin) (end func()) {
	gate := make(chan struct{})
	p.kernels["held"] = hostKernel{
		info: offload.KernelInfo{Name: "held", Params: []offload.Param{i32Buffer("y", true)}},
		run: func(args []offload.Arg, _ *queue.Stop) error {
			<-gate
			ints(args[0])[0]++
			return nil
		},
	}
	return func() { close(gate) }
}

func device(t testing.TB, s *session.Session, id string) *session.Device {
	t.Helper()
	return must(s.Device(ctx, id))(t)
}

func defaultQueue(t testing.TB, d *session.Device) *session.Queue {
	t.Helper()
	return must(d.Queue())(t)
}

func buffer(t testing.TB, d *session.Device, n int) *session.Buffer {
	t.Helper()
	return must(d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{n}}))(t)
}

func kernel(t testing.TB, s *session.Session, d *session.Device, name string) *session.Kernel {
	t.Helper()
	lib := must(s.Register(ctx, "lib", irImage))(t)
	return must(lib.Kernel(ctx, d, name))(t)
}

func TestDevicesAreFoundByID(t *testing.T) {
	cpu := &hostPlugin{name: "cpu", count: 1, class: offload.ClassCPU}
	gpu := &hostPlugin{name: "cuda", count: 2, class: offload.ClassGPU}
	none := &hostPlugin{name: "opencl", class: offload.ClassIntegratedGPU,
		err: offload.Errorf(offload.NotFound, "open", "libOpenCL.so.1 is not installed").WithHint("install it")}
	s := open(t, cpu, gpu, none)

	if got := device(t, s, "cpu").ID(); got != "cpu" || gpu.opened.Load() != 0 {
		t.Errorf("cpu is %q; cuda opened %d times", got, gpu.opened.Load())
	}
	for id, want := range map[string]string{"cpu:0": "cpu", "cuda": "cuda:0", "cuda:1": "cuda:1", "gpu": "cuda:0", "": "cuda:0"} {
		if got := device(t, s, id).ID(); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
	if none.opened.Load() != 0 {
		t.Error("a plugin that cannot have the best device was opened")
	}
	_, err := s.Device(ctx, "cuda:7")
	if e := wantCode(t, err, offload.NotFound); !strings.Contains(e.Hint, "cpu, cuda:0, cuda:1") && !strings.Contains(e.Hint, "cuda:0, cuda:1, cpu") {
		t.Errorf("hint: %s", e.Hint)
	}
	_, err = s.Device(ctx, "cdua:0")
	if e := wantCode(t, err, offload.NotFound); !strings.Contains(e.Hint, `did you mean "cuda:0"`) || !strings.Contains(e.Hint, "not asked: opencl") || none.opened.Load() != 0 {
		t.Errorf("hint: %s", e.Hint)
	}
	_, err = s.Device(ctx, "opencl:0")
	if e := wantCode(t, err, offload.NotFound); !strings.Contains(e.Error(), "libOpenCL") || e.Hint != "install it" {
		t.Errorf("%v; hint: %s", e, e.Hint)
	}
	var ids []string
	for _, d := range s.Devices(ctx) {
		ids = append(ids, d.ID())
	}
	if !slices.Equal(ids, []string{"cuda:0", "cuda:1", "cpu"}) {
		t.Errorf("devices: %v", ids)
	}
	_, err = open(t, none).Device(ctx, "")
	if e := wantCode(t, err, offload.NotFound); !strings.Contains(e.Error(), "opencl is not available: libOpenCL.so.1 is not installed") || e.Hint != "install it" {
		t.Errorf("%v; hint: %s", e, e.Hint)
	}
	status := s.Platforms(ctx)
	if len(status) != 3 || !status[0].Opened || status[2].Err == nil {
		t.Errorf("platforms: %+v", status)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	fresh := open(t, &hostPlugin{name: "cpu", count: 1})
	_, err = fresh.Device(cancelled, "")
	wantCode(t, err, offload.Cancelled)
	device(t, fresh, "") // the cancellation is not remembered
}

func TestDevicesBelowWorkersAreFoundByPrefix(t *testing.T) {
	cpu := &hostPlugin{name: "cpu", count: 1, class: offload.ClassCPU}
	mpi := &hostPlugin{name: "mpi", names: []string{"0/cpu", "2/cpu", "2/cuda:0", "2/cuda:1", "21/cpu"}, class: offload.ClassRemote}
	s := open(t, cpu, mpi)
	for _, id := range []string{"", "cpu"} {
		if got := device(t, s, id).ID(); got != "cpu" {
			t.Errorf("%q is %q", id, got)
		}
	}
	_, err := s.Device(ctx, "gpu")
	wantCode(t, err, offload.NotFound)
	_, err = s.Device(ctx, "cup")
	wantCode(t, err, offload.NotFound)
	lib := must(s.RegisterImages(ctx, "lib", offload.Position{}, &offload.Image{Kind: offload.ImageIR, Label: "lib"}))(t)
	if d := must(s.DeviceFor(ctx, lib))(t); d.ID() != "cpu" {
		t.Errorf("the library is for %s", d.ID())
	}
	if mpi.opened.Load() != 0 {
		t.Error("mpi was opened by ids that do not name it")
	}
	for id, want := range map[string]string{"mpi": "mpi:0/cpu", "mpi:2": "mpi:2/cpu", "mpi:2/cuda": "mpi:2/cuda:0", "mpi:2/cuda:1": "mpi:2/cuda:1", "mpi:21": "mpi:21/cpu"} {
		if got := device(t, s, id).ID(); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
	_, err = s.Device(ctx, "mpi:3")
	if e := wantCode(t, err, offload.NotFound); !strings.Contains(e.Hint, "mpi:21/cpu") {
		t.Errorf("hint: %s", e.Hint)
	}
}

func TestBuffersAreZeroAndTyped(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	b := must(d.NewBuffer(session.BufferOptions{Type: offload.F32, Dims: []int{3, 5}, Label: "m"}))(t)
	if b.Len() != 15 || b.Size() != 60 || b.Label() != "m" || fmt.Sprint(b) != `f32[3][5] "m" on cpu` {
		t.Errorf("%v: %d elements, %d bytes", b, b.Len(), b.Size())
	}
	got := must(session.Read[float32](ctx, b, 0, -1))(t)
	if !slices.Equal(got, make([]float32, 15)) {
		t.Errorf("a new buffer holds %v", got)
	}
	check(t, session.Write(ctx, b, 3, []float32{1, 2}))
	got = must(session.Read[float32](ctx, b, 2, 4))(t)
	if !slices.Equal(got, []float32{0, 1, 2, 0}) {
		t.Errorf("read %v", got)
	}
	v := must(b.View(session.ViewOptions{Start: 3, Dims: []int{2}, Type: offload.U32}))(t)
	check(t, defaultQueue(t, d).Fill(v, []byte{1, 0, 0, 0}))
	if bits := must(session.Read[uint32](ctx, v, 0, -1))(t); !slices.Equal(bits, []uint32{1, 1}) {
		t.Errorf("view holds %v", bits)
	}
	empty := must(d.NewBuffer(session.BufferOptions{Type: offload.F64, Dims: []int{0}}))(t)
	if got := must(session.Read[float64](ctx, empty, 0, -1))(t); len(got) != 0 {
		t.Errorf("an empty buffer holds %v", got)
	}
	if use := d.Memory(); use.Allocated != 61 || use.Peak != 61 {
		t.Errorf("memory: %+v", use)
	}
	check(t, v.Free())
	check(t, b.Free())
	check(t, empty.Free())
	check(t, defaultQueue(t, d).Sync(ctx))
	if use := d.Memory(); use.Allocated != 0 {
		t.Errorf("memory after free: %+v", use)
	}
}

func TestWrongUseIsRefused(t *testing.T) {
	other := &hostPlugin{name: "other", count: 1, class: 1}
	s := open(t, adder(), other)
	d, o := device(t, s, "cpu"), device(t, s, "other")
	q := defaultQueue(t, d)
	b, foreign := buffer(t, d, 8), buffer(t, o, 8)
	freed := buffer(t, d, 8)
	freedView := must(freed.View(session.ViewOptions{Dims: []int{4}}))(t)
	view := must(b.View(session.ViewOptions{Dims: []int{4}}))(t)
	check(t, view.Free())
	check(t, freed.Free())
	matrix := must(d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{2, 4}}))(t)
	floats := must(d.NewBuffer(session.BufferOptions{Type: offload.F32, Dims: []int{8}}))(t)
	add := kernel(t, s, d, "add")
	arg, row := session.Buf, make([]byte, 4)
	bind := func(cfg session.Config, args ...session.Arg) func() error {
		return func() error { _, err := add.Bind(cfg, args...); return err }
	}
	one := session.Config{Size: []int{1}}
	newBuffer := func(opts session.BufferOptions) func() error {
		return func() error { _, err := d.NewBuffer(opts); return err }
	}
	newView := func(opts session.ViewOptions) func() error {
		return func() error { _, err := b.View(opts); return err }
	}
	for _, c := range []struct {
		name string
		code offload.Code
		text string // in the error or its hint
		do   func() error
	}{
		{"no dimensions", offload.InvalidArgument, "1 to 3", newBuffer(session.BufferOptions{Type: offload.I32})},
		{"negative dimension", offload.InvalidSize, "-1", newBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{-1}})},
		{"dimension of 2^31", offload.InvalidSize, "2147483648", newBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{1 << 31}})},
		{"more than 2^63 bytes", offload.InvalidSize, "2^63", newBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{math.MaxInt32, math.MaxInt32, 8}})},
		{"dimension beyond the memory", offload.InvalidSize, "4000 GB are more than the 1.074 GB that the device allocates", newBuffer(session.BufferOptions{Type: offload.F32, Dims: []int{1e12}})},
		{"dimension within the memory", offload.InvalidSize, "split it over two dimensions", newBuffer(session.BufferOptions{Elem: 0, Type: offload.U8, Dims: []int{0, 1 << 31}})},
		{"more than the device gives", offload.InvalidSize, "1073741824", newBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{1<<30 + 1}})},
		{"no element type", offload.InvalidArgument, "type(99)", newBuffer(session.BufferOptions{Type: 99, Dims: []int{1}})},
		{"opaque without size", offload.InvalidArgument, "size", newBuffer(session.BufferOptions{Dims: []int{1}})},
		{"queue of another device", offload.InvalidQueue, "other", newBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{1}, Queue: defaultQueue(t, o)})},
		{"view too long", offload.InvalidSize, "needs 36 bytes", newView(session.ViewOptions{Dims: []int{9}})},
		{"view outside", offload.InvalidSize, "starts at", newView(session.ViewOptions{Start: 9, Dims: []int{0}})},
		{"view misaligned", offload.InvalidArgument, "aligned to 8", newView(session.ViewOptions{Start: 1, Type: offload.F64, Dims: []int{1}})},
		{"write beyond the end", offload.InvalidSize, "not all in", func() error { return q.Write(b, 8, row) }},
		{"write of half an element", offload.InvalidSize, "whole number", func() error { return q.Write(b, 0, row[:2]) }},
		{"read before the start", offload.InvalidSize, "not all in", func() error { return q.Read(row, b, -1) }},
		{"write to another device", offload.InvalidDevice, "other", func() error { return q.Write(foreign, 0, row) }},
		{"freed buffer", offload.Closed, "freed", func() error { return q.Write(freed, 0, row) }},
		{"view of a freed buffer", offload.Closed, "freed", func() error { return q.Read(row, freedView, 0) }},
		{"freed view", offload.Closed, "freed", func() error { return q.Read(row, view, 0) }},
		{"second free", offload.Closed, "freed", freed.Free},
		{"second free of a view", offload.Closed, "freed", view.Free},
		{"view of what was freed", offload.Closed, "freed", func() error { _, err := freed.View(session.ViewOptions{Dims: []int{1}}); return err }},
		{"fill with three bytes", offload.InvalidArgument, "3 bytes", func() error { return q.Fill(b, make([]byte, 3)) }},
		{"copy of another size", offload.InvalidSize, "views", func() error { return q.Copy(b, buffer(t, d, 7)) }},
		{"copy onto itself", offload.InvalidArgument, "overlap", func() error { return q.Copy(b, b) }},
		{"too few arguments", offload.InvalidArgument, "add(x: i32[], y: i32[])", bind(one, arg(b))},
		{"scalar for buffer", offload.InvalidArgument, "argument x must", bind(one, session.I32(1), arg(b))},
		{"wrong element type", offload.InvalidArgument, "f32", bind(one, arg(floats), arg(b))},
		{"wrong rank", offload.InvalidArgument, "1 dimension", bind(one, arg(b), arg(matrix))},
		{"argument of another device", offload.InvalidDevice, "copy", bind(one, arg(b), arg(foreign))},
		{"freed argument", offload.Closed, "freed", bind(one, arg(freed), arg(b))},
		{"size of 2^31", offload.InvalidSize, "2147483648", bind(session.Config{Size: []int{1 << 31}}, arg(b), arg(b))},
		{"negative size", offload.InvalidSize, "-1", bind(session.Config{Size: []int{1, -1}}, arg(b), arg(b))},
		{"no size", offload.InvalidArgument, "0 axes", bind(session.Config{}, arg(b), arg(b))},
		{"group of zero", offload.InvalidArgument, "default", bind(session.Config{Size: []int{1}, GroupSize: []int{0}}, arg(b), arg(b))},
		{"group too large", offload.InvalidSize, "1024", bind(session.Config{Size: []int{1}, GroupSize: []int{1024, 2}}, arg(b), arg(b))},
		{"too many groups", offload.InvalidSize, "groups", bind(session.Config{Size: []int{1 << 21}, GroupSize: []int{1}}, arg(b), arg(b))},
		{"negative timeout", offload.InvalidArgument, "timeout", bind(session.Config{Size: []int{1}, Timeout: -1}, arg(b), arg(b))},
		{"read of another type", offload.InvalidArgument, "f32", func() error { _, err := session.Read[float32](ctx, b, 0, 1); return err }},
		{"closing the default queue", offload.InvalidQueue, "session", func() error { return q.Close(ctx) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := wantCode(t, c.do(), c.code)
			if text := e.Error() + " " + e.Hint; !strings.Contains(text, c.text) {
				t.Errorf("%q is not in: %s", c.text, text)
			}
			if e.Device == "" {
				t.Errorf("no device in %v", e)
			}
		})
	}
	call := must(add.Bind(session.Config{Size: []int{1}, Pos: offload.Position{File: "s.js", Line: 3}}, arg(b), arg(matrixRow(t, matrix))))(t)
	wantCode(t, defaultQueue(t, o).Launch(call), offload.InvalidQueue)
	check(t, q.Launch(call))
	check(t, matrix.Free())
	if e := wantCode(t, q.Launch(call), offload.Closed); e.Pos.Line != 3 {
		t.Errorf("position: %v", e.Pos)
	}
	check(t, q.Sync(ctx))
}

func matrixRow(t testing.TB, m *session.Buffer) *session.Buffer {
	return must(m.View(session.ViewOptions{Start: 4, Dims: []int{4}}))(t)
}

// TestFreeIsDeferred checks that memory stays allocated until the commands that use it have run, and is then freed without a
// wait.
func TestFreeIsDeferred(t *testing.T) {
	p := adder()
	p.limit = 1 << 12
	end := hold(p)
	s := open(t, p)
	d := device(t, s, "cpu")
	b := buffer(t, d, 700) // 2800 bytes
	check(t, defaultQueue(t, d).Launch(must(kernel(t, s, d, "held").Bind(session.Config{Size: []int{1}}, session.Buf(b)))(t)))
	check(t, b.Free())
	if n := p.freed.Load(); n != 0 {
		t.Errorf("%d blocks were freed under a kernel", n)
	}
	time.AfterFunc(20*time.Millisecond, end)
	again := buffer(t, d, 700) // fits only when the first is back
	if n := p.freed.Load(); n != 1 {
		t.Errorf("%d blocks were freed", n)
	}
	_, err := d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{700}})
	if e := wantCode(t, err, offload.OutOfResources); !strings.Contains(e.Hint, "2800") {
		t.Errorf("hint: %s", e.Hint)
	}
	check(t, again.Free())
	check(t, defaultQueue(t, d).Sync(ctx))
}

// TestFreedMemoryIsAskedForOnce frees many buffers under commands of two queues, of which one is held: an allocation asks for one
// event of each queue, and takes back the memory of the other queue.
func TestFreedMemoryIsAskedForOnce(t *testing.T) {
	p := adder()
	p.asked = &atomic.Int32{}
	end := hold(p)
	s := open(t, p)
	d := device(t, s, "cpu")
	slow, fast := defaultQueue(t, d), must(d.NewQueue(session.QueueOptions{}))(t)
	const count = 50
	list := make([]*session.Buffer, 0, 2*count)
	for range 2 * count {
		list = append(list, buffer(t, d, 4))
	}
	check(t, slow.Sync(ctx))
	check(t, slow.Launch(must(kernel(t, s, d, "held").Bind(session.Config{Size: []int{1}}, session.Buf(buffer(t, d, 4))))(t)))
	done := make(chan struct{})
	check(t, fast.Host(func() error { <-done; return nil }))
	for i, b := range list {
		check(t, []*session.Queue{slow, fast}[i%2].Fill(b, []byte{1}))
		check(t, b.Free())
	}
	before := p.asked.Load()
	buffer(t, d, 4)
	if n := p.asked.Load() - before; n != 2 {
		t.Errorf("an allocation asked %d events, with %d buffers that wait for commands", n, len(list))
	}
	close(done)
	check(t, fast.Sync(ctx))
	if n := p.freed.Load(); n != count {
		t.Errorf("%d blocks were freed at the end of a queue, want %d", n, count)
	}
	end()
	check(t, slow.Sync(ctx))
	if n := p.freed.Load(); n != 2*count {
		t.Errorf("%d blocks were freed at the end, want %d", n, 2*count)
	}
}

func TestForgottenBuffersAreCollected(t *testing.T) {
	p := adder()
	p.limit = 1 << 12
	s := open(t, p)
	d := device(t, s, "cpu")
	for range 50 {
		buffer(t, d, 700)
		check(t, defaultQueue(t, d).Sync(ctx))
	}
	if s.Collected() < 40 {
		t.Errorf("%d buffers were collected", s.Collected())
	}
}

func TestFailuresAreGivenOnce(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	q := defaultQueue(t, d)
	fail := must(kernel(t, s, d, "fail").Bind(session.Config{Size: []int{1}}))(t)
	check(t, q.Launch(fail))
	if e := wantCode(t, q.Sync(ctx), offload.Assertion); e.Device != "cpu" {
		t.Errorf("device %q", e.Device)
	}
	check(t, q.Sync(ctx))
	check(t, q.Launch(fail))
	ev := must(q.Record("after"))(t)
	wantCode(t, ev.Sync(ctx), offload.Assertion)
	check(t, q.Sync(ctx))
	check(t, q.Host(func() error { panic("no") }))
	if err := q.Sync(ctx); err == nil || !strings.Contains(err.Error(), "panic: no") {
		t.Errorf("a panic gave %v", err)
	}
	check(t, q.Host(func() error { return errors.New("yes") }))
	if err := q.Sync(ctx); err == nil || !strings.Contains(err.Error(), "yes") {
		t.Errorf("an error gave %v", err)
	}
}

// TestWaitsThatThePluginRefuses checks that a queue waits on the host for an event that its plugin rejects.
func TestWaitsThatThePluginRefuses(t *testing.T) {
	s := open(t, &hostPlugin{name: "cpu", count: 1, class: offload.ClassCPU, apart: true})
	d, err := s.Device(t.Context(), "cpu")
	check(t, err)
	first, err := d.NewQueue(session.QueueOptions{})
	check(t, err)
	second, err := d.NewQueue(session.QueueOptions{})
	check(t, err)
	gate := make(chan struct{})
	var order []string
	check(t, first.Host(func() error { <-gate; order = append(order, "first"); return nil }))
	ev, err := first.Record("")
	check(t, err)
	check(t, second.Wait(ev))
	check(t, second.Host(func() error { order = append(order, "second"); return nil }))
	time.Sleep(10 * time.Millisecond)
	if second.Idle() {
		t.Error("the second queue did not wait")
	}
	close(gate)
	check(t, second.Sync(t.Context()))
	if !slices.Equal(order, []string{"first", "second"}) {
		t.Errorf("order %q", order)
	}
	check(t, first.Close(t.Context()))
	check(t, second.Close(t.Context()))
}

func TestEvents(t *testing.T) {
	s := open(t, adder(), &hostPlugin{name: "far", count: 1, hidden: true})
	d, far := device(t, s, "cpu"), device(t, s, "far")
	q, fq := defaultQueue(t, d), defaultQueue(t, far)
	first := must(q.Record("first"))(t)
	gate := make(chan struct{})
	check(t, q.Host(func() error { <-gate; return nil }))
	last := must(q.Record("last"))(t)
	if live := s.Live(); len(live) == 0 || live[len(live)-1].Label != "last" {
		t.Errorf("live: %v", live)
	}
	_, err := last.Since(first)
	wantCode(t, err, offload.InvalidEvent)
	check(t, fq.Wait(last)) // waits for an event of another platform
	order := make(chan bool, 1)
	check(t, fq.Host(func() error { order <- last.Done(); return nil }))
	check(t, fq.Wait(first))
	close(gate)
	check(t, fq.Sync(ctx))
	if !<-order {
		t.Error("the wait did not hold")
	}
	check(t, last.Sync(ctx))
	if took := must(last.Since(first))(t); took <= 0 {
		t.Errorf("elapsed %v", took)
	}
	_, err = must(fq.Record(""))(t).Since(first)
	wantCode(t, err, offload.InvalidEvent)
	stuck := make(chan struct{})
	check(t, q.Host(func() error { <-stuck; return nil }))
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := q.Sync(short); offload.CodeOf(err) != offload.Timeout && offload.CodeOf(err) != offload.Cancelled {
		t.Errorf("a sync that ended gave %v", err)
	}
	close(stuck)
	_ = q.Sync(ctx)
}

func TestCopiesBetweenDevices(t *testing.T) {
	for _, c := range []struct {
		name             string
		hiddenA, hiddenB bool
	}{{"host sees both", false, false}, {"host sees one", false, true}, {"the other one", true, false}, {"host sees none", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, &hostPlugin{name: "a", count: 1, hidden: c.hiddenA}, &hostPlugin{name: "b", count: 1, hidden: c.hiddenB})
			a, b := device(t, s, "a"), device(t, s, "b")
			n := 1000
			if c.hiddenA && c.hiddenB {
				n = 4<<20 + 3 // more than two blocks of staging
			}
			src := make([]int32, n)
			for i := range src {
				src[i] = int32(i * 7)
			}
			x := must(session.BufferOf(ctx, a, "x", src))(t)
			y, z := buffer(t, b, n), buffer(t, a, n)
			qa, qb := defaultQueue(t, a), defaultQueue(t, b)
			check(t, qa.Copy(y, x)) // an exchange by the source's queue
			check(t, qa.Copy(z, y)) // an exchange by the destination's queue
			check(t, qa.Sync(ctx))
			if got := must(session.Read[int32](ctx, z, 0, -1))(t); !slices.Equal(got, src) {
				t.Error("what came back differs")
			}
			check(t, qb.Fill(y, []byte{0}))
			check(t, qb.Copy(x, y))
			if got := must(session.Read[int32](ctx, x, int64(n-1), 1))(t); got[0] != 0 {
				t.Error("a copy over another queue was not waited for")
			}
			check(t, qb.Sync(ctx))
		})
	}
}

func TestRectangles(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	q := defaultQueue(t, d)
	m := must(d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{3, 4, 5}}))(t)
	all := make([]int32, 60)
	for i := range all {
		all[i] = int32(i)
	}
	check(t, session.Write(ctx, m, 0, all))
	dst := make([]int32, 2*2*3)
	box := session.Rect{Origin: []int{1, 2, 1}, Extent: []int{2, 2, 3}}
	check(t, q.ReadRect(session.Bytes(dst), m, box))
	check(t, q.Sync(ctx))
	if want := []int32{31, 32, 33, 36, 37, 38, 51, 52, 53, 56, 57, 58}; !slices.Equal(dst, want) {
		t.Errorf("read %v, want %v", dst, want)
	}
	flat := must(d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{4, 4}}))(t)
	check(t, q.CopyRect(flat, []int{1, 1}, m, session.Rect{Origin: []int{2, 0, 0}, Extent: []int{1, 2, 3}}))
	check(t, q.WriteRect(flat, session.Rect{Origin: []int{3, 0}, Extent: []int{1, 2}}, session.Bytes([]int32{-1, -2})))
	got := must(session.Read[int32](ctx, flat, 0, -1))(t)
	if want := []int32{0, 0, 0, 0, 0, 40, 41, 42, 0, 45, 46, 47, -1, -2, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	empty := session.Rect{Origin: []int{0, 0, 0}, Extent: []int{0, 4, 5}}
	check(t, q.ReadRect(nil, m, empty))
	wantCode(t, q.ReadRect(nil, m, box), offload.InvalidSize)
	wantCode(t, q.ReadRect(nil, m, session.Rect{Origin: []int{0, 0, 3}, Extent: []int{1, 1, 3}}), offload.InvalidSize)
	wantCode(t, q.ReadRect(nil, m, session.Rect{Origin: []int{0}, Extent: []int{1}}), offload.InvalidArgument)
	wantCode(t, q.CopyRect(flat, []int{0, 0}, m, box), offload.InvalidArgument)
	wantCode(t, q.CopyRect(m, []int{1, 2, 3}, m, box), offload.InvalidSize)
	wantCode(t, q.CopyRect(m, []int{1, 1, 1}, m, box), offload.InvalidArgument)
}

func TestLibraries(t *testing.T) {
	var mu sync.Mutex
	var log []string
	p, late := adder(), &hostPlugin{name: "late", count: 1}
	end := hold(p)
	for _, h := range []*hostPlugin{p, late} {
		h.log = func(line string) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, h.name+" "+line)
		}
	}
	s := open(t, p, late)
	d := device(t, s, "cpu")
	lib := must(s.Register(ctx, "one", irImage))(t)
	images := lib.Images()
	if len(images) != 1 || len(images[0].Devices) != 1 || !images[0].Devices[0].Chosen || images[0].Devices[0].Loaded {
		t.Errorf("images: %+v", images)
	}
	held := must(lib.Kernel(ctx, d, "held"))(t)
	_, err := lib.Kernel(ctx, d, "heeld")
	if e := wantCode(t, err, offload.NotFound); !strings.Contains(e.Hint, `"held"`) {
		t.Errorf("hint: %s", e.Hint)
	}
	_, err = lib.Kernel(ctx, d, "table")
	wantCode(t, err, offload.SymbolKind)
	g := must(lib.Global(ctx, d, "table"))(t)
	check(t, session.Write(ctx, must(g.View(session.ViewOptions{Type: offload.F32, Dims: []int{16}}))(t), 0, []float32{1}))
	wantCode(t, g.Free(), offload.InvalidArgument)
	device(t, s, "late") // comes after the library

	b := buffer(t, d, 1)
	call := must(held.Bind(session.Config{Size: []int{1}}, session.Buf(b)))(t)
	check(t, defaultQueue(t, d).Launch(call))
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	wantCode(t, lib.Unregister(short), offload.Timeout)
	wantCode(t, defaultQueue(t, d).Launch(call), offload.Closed)
	time.AfterFunc(20*time.Millisecond, end)
	check(t, lib.Unregister(ctx))
	wantCode(t, lib.Unregister(ctx), offload.Closed)
	wantCode(t, defaultQueue(t, d).Write(g, 0, make([]byte, 4)), offload.Closed)
	_, err = lib.Kernel(ctx, d, "held")
	wantCode(t, err, offload.Closed)
	check(t, defaultQueue(t, d).Sync(ctx))
	if got := must(session.Read[int32](ctx, b, 0, 1))(t); got[0] != 1 {
		t.Error("the kernel in flight did not finish before the library ended")
	}
	want := []string{"cpu register one", "late register one", "late unregister one", "cpu unload", "cpu unregister one"}
	if !slices.Equal(log, want) {
		t.Errorf("hooks: %q, want %q", log, want)
	}
}

func TestLiveObjects(t *testing.T) {
	s := open(t, adder())
	d := device(t, s, "cpu")
	pos := offload.Position{File: "a.js", Line: 7, Col: 3}
	b := must(d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{10}, Label: "b", Pos: pos}))(t)
	q := must(d.NewQueue(session.QueueOptions{Label: "q"}))(t)
	kernel(t, s, d, "add")
	var text strings.Builder
	check(t, session.WriteObjects(&text, s.Live()))
	var kinds []string
	for _, o := range s.Live() {
		kinds = append(kinds, o.Kind)
	}
	if !slices.Equal(kinds, []string{"buffer", "queue", "library", "program"}) || !strings.Contains(text.String(), "a.js:7:3") {
		t.Errorf("%v\n%s", kinds, &text)
	}
	check(t, b.Free())
	check(t, q.Close(ctx))
	wantCode(t, q.Close(ctx), offload.Closed)
	wantCode(t, q.Host(func() error { return nil }), offload.Closed)
	check(t, s.Close(ctx)) // unregisters the library
	_, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{10}})
	wantCode(t, err, offload.Closed)
	wantCode(t, s.Close(ctx), offload.Closed)
}

// TestNothingOutlivesClose creates objects while the session closes. Each must be freed or refused.
func TestNothingOutlivesClose(t *testing.T) {
	for range 50 {
		p := adder()
		s := session.Open(session.Options{Plugins: []offload.Plugin{p}})
		d := device(t, s, "cpu")
		var makers sync.WaitGroup
		for range 4 {
			makers.Go(func() {
				for {
					if _, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{10}}); err != nil {
						wantCode(t, err, offload.Closed)
						return
					}
				}
			})
			makers.Go(func() {
				for {
					if _, err := d.NewQueue(session.QueueOptions{}); err != nil {
						wantCode(t, err, offload.Closed)
						return
					}
				}
			})
		}
		time.Sleep(100 * time.Microsecond)
		check(t, s.Close(ctx))
		makers.Wait()
		if made, freed := p.made.Load(), p.freed.Load(); made != freed {
			t.Fatalf("%d memories were made, %d freed", made, freed)
		}
	}
}

func TestUnlistedLibrary(t *testing.T) {
	p := adder()
	s := open(t, p)
	d := device(t, s, "cpu")
	lib := must(s.RegisterUnlisted(ctx, "hidden", &offload.Image{Kind: offload.ImageIR, Label: "hidden"}))(t)
	must(lib.Kernel(ctx, d, "add"))(t)
	if live := s.Live(); len(live) > 0 {
		t.Errorf("live: %v", live)
	}
	check(t, s.Close(ctx))
	_, err := lib.Kernel(ctx, d, "add")
	wantCode(t, err, offload.Closed)
}

// TestBoundCallsChange checks that a bound call launches with its latest changes, with or without Prepare, and that
// queued launches keep their arguments.
func TestBoundCallsChange(t *testing.T) {
	p := adder()
	for _, name := range []string{"ready", "unready"} {
		p.kernels[name] = hostKernel{info: offload.KernelInfo{Name: name, Params: []offload.Param{i32Buffer("x", true), {Name: "by", Type: offload.I32}}},
			run: func(args []offload.Arg, _ *queue.Stop) error { ints(args[0])[0] += byte(args[1].Bits); return nil }}
	}
	s := open(t, p)
	d := device(t, s, "cpu")
	q := defaultQueue(t, d)
	for _, name := range []string{"ready", "unready"} {
		x, y := buffer(t, d, 4), buffer(t, d, 4)
		gate := make(chan struct{})
		check(t, q.Host(func() error { <-gate; return nil }))
		call := must(kernel(t, s, d, name).Bind(session.Config{Size: []int{1}}, session.Buf(x), session.I32(1)))(t)
		check(t, q.Launch(call))
		check(t, call.SetArg(1, session.I32(2)))
		check(t, q.Launch(call))
		check(t, call.SetArg(0, session.Buf(y)))
		check(t, q.Launch(call))
		check(t, call.SetSize(0))
		check(t, q.Launch(call))
		check(t, call.SetSize(1))
		check(t, call.Rebind(session.Config{Size: []int{1}}, session.Buf(y), session.I32(40)))
		check(t, q.Launch(call))
		close(gate)
		check(t, q.Sync(ctx))
		if gotX, gotY := x.Mapped()[0], y.Mapped()[0]; gotX != 3 || gotY != 42 {
			t.Errorf("%s: %d and %d were added, not 3 and 42", name, gotX, gotY)
		}
		check(t, y.Free())
		wantCode(t, q.Launch(call), offload.Closed)
	}
}

func TestLaunchAllocatesNothing(t *testing.T) {
	p := adder()
	p.kernels["nothing"] = hostKernel{info: offload.KernelInfo{Name: "nothing", Params: []offload.Param{i32Buffer("x", true)}},
		run: func([]offload.Arg, *queue.Stop) error { return nil }}
	s := open(t, p)
	d := device(t, s, "cpu")
	b := buffer(t, d, 16)
	q := defaultQueue(t, d)
	call := must(kernel(t, s, d, "nothing").Bind(session.Config{Size: []int{1}}, session.Buf(b)))(t)
	data := make([]byte, 64)
	if n := allocs.PerRun(1000, func() {
		_ = q.Launch(call)
		_ = q.Sync(ctx)
	}); n != 0 {
		t.Errorf("launch and sync: %v allocations", n)
	}
	if n := allocs.PerRun(1000, func() {
		_ = q.Write(b, 0, data)
		_ = q.Read(data, b, 0)
		_ = q.Sync(ctx)
	}); n != 0 {
		t.Errorf("write, read and sync: %v allocations", n)
	}
}

func BenchmarkLaunchAndSync(b *testing.B) {
	p := adder()
	p.kernels["nothing"] = hostKernel{info: offload.KernelInfo{Name: "nothing", Params: []offload.Param{i32Buffer("x", true)}},
		run: func([]offload.Arg, *queue.Stop) error { return nil }}
	s := open(b, p)
	d := device(b, s, "cpu")
	q := defaultQueue(b, d)
	call := must(kernel(b, s, d, "nothing").Bind(session.Config{Size: []int{1}}, session.Buf(buffer(b, d, 16))))(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = q.Launch(call)
		_ = q.Sync(ctx)
	}
}
