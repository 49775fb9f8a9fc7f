package conform

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/stopwatch"
)

var faultCases = []testCase{
	{"fault/read", faultRead},
	{"fault/write", faultWrite},
	{"fault/division", faultDivision},
	{"fault/assert", faultAssert},
	{"fault/once", faultOnce},
	{"fault/large", faultLarge},
	{"fault/cancel", faultCancel},
	{"fault/cancel-blocked", faultCancelBlocked},
	{"fault/cancel-full", faultCancelFull},
	{"fault/timeout", faultTimeout},
}

// fault launches a kernel that must fail and returns the fault.
func (t *T) fault(q *session.Queue, call *session.Call) *offload.Fault {
	t.check(q.Launch(call))
	err := q.Sync(t.ctx)
	var e *offload.Error
	if !errors.As(err, &e) || e.Fault == nil {
		t.Fatalf("%sgot %v, want a fault", where(), err)
	}
	if e.Device != t.device.ID() {
		t.Errorf("the fault is on device %q", e.Device)
	}
	if e.Pos.File != "conform" || e.Pos.Line != 42 {
		t.Errorf("the launch's position is %v", e.Pos)
	}
	if e.Code != e.Fault.Code {
		t.Errorf("the error's code is %s, its fault's %s", e.Code, e.Fault.Code)
	}
	if !strings.Contains(e.Error(), e.Fault.Kernel) && !strings.Contains(e.Label, e.Fault.Kernel) {
		t.Errorf("%q does not name kernel %s", e.Error(), e.Fault.Kernel)
	}
	return e.Fault
}

// at returns the configuration of a launch at a known position.
func at(size ...int) session.Config {
	return session.Config{Size: size, Pos: offload.Position{File: "conform", Line: 42, Col: 1}}
}

func faultRead(t *T) {
	x := t.bufferWith(session.BufferOptions{Type: offload.I32, Dims: sized(50), Label: "fifty"})
	out := t.buffer(offload.I32, 64)
	q := t.queue()
	k := t.kernel("outside")
	f := t.fault(q, t.bind(k, at(1), session.Buf(x), session.Buf(out)))
	want := offload.Fault{Code: offload.OutOfBounds, Kernel: "outside", Pos: position("x[g.x + 100]"), Text: "x[g.x + 100]",
		Array: "x", Label: "fifty", Index: 100, Extent: 50, Bound: "x.length", Subscript: "g.x + 100"}
	if *f != want {
		t.Errorf("got %+v, want %+v", *f, want)
	}
	t.check(q.Sync(t.ctx)) // once
	equal(t, "a buffer after a fault", contents[int32](t, x), make([]int32, 50))
	equal(t, "what the item would have written", contents[int32](t, out), make([]int32, 64))
}

// faultWrite makes half of the items write outside a view in the middle of a buffer.
func faultWrite(t *T) {
	whole := t.buffer(offload.I32, 300)
	q := t.queue()
	t.check(q.Fill(whole, []byte{9, 9, 9, 9}))
	out, err := whole.View(session.ViewOptions{Start: 100, Dims: sized(100), Label: "middle"})
	t.check(err)
	f := t.fault(q, t.bind(t.kernel("scatter"), at(100), session.Buf(out)))
	if f.Code != offload.OutOfBounds || f.Label != "middle" || f.Extent != 100 || f.Index < 100 || f.Index != 2*int64(f.Item[0]) || f.Text != "out[g.x * 2]" ||
		f.Pos != position("out[g.x * 2]") {
		t.Errorf("%+v", *f)
	}
	for i, v := range contents[int32](t, whole) {
		inside := i >= 100 && i < 200 && i%2 == 0
		if v != 0x09090909 && !(inside && v == 1) {
			t.Errorf("element %d is %#x", i, v)
		}
	}
}

func faultDivision(t *T) {
	a, b := bufferOf(t, int32(7), -7, math.MinInt32, 1), bufferOf(t, int32(2), 2, -1, 1)
	out := t.buffer(offload.I32, 4)
	q, k := t.queue(), t.kernel("divide")
	t.launch(q, k, config(4), session.Buf(a), session.Buf(b), session.Buf(out))
	t.check(q.Sync(t.ctx))
	equal(t, "quotients", contents[int32](t, out), []int32{3, -3, math.MinInt32, 1})
	t.check(session.Write(t.ctx, b, 3, []int32{0}))
	f := t.fault(q, t.bind(k, at(4), session.Buf(a), session.Buf(b), session.Buf(out)))
	if f.Code != offload.DivisionByZero || f.Item != [3]int{3, 0, 0} || f.Kernel != "divide" || f.Pos.Line == 0 {
		t.Errorf("%+v", *f)
	}
}

func faultAssert(t *T) {
	b := t.buffer(offload.I32, 6)
	f := t.fault(t.queue(), t.bind(t.kernel("limited"), at(6), session.Buf(b)))
	if f.Code != offload.Assertion || f.Item != [3]int{5, 0, 0} || !strings.Contains(f.Text, "too far: 5") {
		t.Errorf("%+v", *f)
	}
	if got := contents[int32](t, b); got[5] != 0 {
		t.Errorf("an item wrote after its assertion had failed")
	}
}

// faultOnce checks that the first failure is reported once, only on its queue, and that later commands run.
func faultOnce(t *T) {
	q, other := t.queue(), t.queue()
	b, one := t.buffer(offload.I32, 6), t.buffer(offload.I32, 6)
	bad := t.bind(t.kernel("limited"), at(6), session.Buf(b))
	t.check(q.Launch(bad))
	t.launch(q, t.kernel("ids"), config(6), session.Buf(one))
	t.check(q.Launch(bad))
	ev, err := q.Record("")
	t.check(err)
	t.refused("the event", ev.Sync(t.ctx), offload.Assertion)
	t.check(q.Sync(t.ctx))
	t.check(other.Sync(t.ctx))
	equal(t, "a kernel between two faults", contents[int32](t, one), count(6))
	t.check(q.Launch(bad))
	t.refused("the next fault", q.Sync(t.ctx), offload.Assertion)
	t.check(q.Sync(t.ctx))
}

// faultLarge makes nearly a million items fail at once.
func faultLarge(t *T) {
	b := t.buffer(offload.I32, 10)
	f := t.fault(t.queue(), t.bind(t.kernel("scatter"), at(1_000_000), session.Buf(b)))
	if f.Index != 2*int64(f.Item[0]) || f.Index < 10 {
		t.Errorf("%+v", *f)
	}
}

// faultCancel cancels an endless kernel by a context.
func faultCancel(t *T) {
	t.needCancel()
	q := t.queue()
	b := t.buffer(offload.I32, 2)
	t.check(t.defaultQueue().Sync(t.ctx))
	t.launch(q, t.kernel("endless"), config(1), session.Buf(b))
	short, cancel := context.WithTimeout(t.ctx, 100*time.Millisecond)
	defer cancel()
	start := stopwatch.Start()
	t.refused("a sync whose time is up", q.Sync(short), offload.Timeout, offload.Cancelled)
	if took := start.Elapsed(); took > 5*time.Second {
		t.Errorf("cancelling took %v", took)
	}
	t.survives(q)
}

// faultCancelBlocked cancels a queue that waits for another queue, which must go on.
func faultCancelBlocked(t *T) {
	t.needCancel()
	running, blocked := t.queue(), t.queue()
	b, c := t.buffer(offload.I32, 2), t.buffer(offload.I32, 16)
	t.check(t.defaultQueue().Sync(t.ctx))
	t.launch(running, t.kernel("endless"), config(1), session.Buf(b))
	ev, err := running.Record("")
	t.check(err)
	t.check(blocked.Wait(ev))
	t.launch(blocked, t.kernel("ids"), config(16), session.Buf(c))
	for _, q := range []*session.Queue{blocked, running} {
		if ev.Done() {
			t.Errorf("the queue that is waited for was cancelled too")
		}
		short, cancel := context.WithTimeout(t.ctx, 100*time.Millisecond)
		start := stopwatch.Start()
		t.refused("a sync whose time is up", q.Sync(short), offload.Timeout, offload.Cancelled)
		cancel()
		if took := start.Elapsed(); took > 5*time.Second {
			t.Errorf("cancelling took %v", took)
		}
	}
	t.survives(blocked)
	t.survives(running)
}

// faultCancelFull cancels a full queue on the goroutine that issues its commands.
func faultCancelFull(t *T) {
	t.needCancel()
	q := t.queue()
	b, c := t.buffer(offload.I32, 2), t.buffer(offload.I32, 16)
	t.check(t.defaultQueue().Sync(t.ctx))
	call := t.bind(t.kernel("ids"), config(16), session.Buf(c))
	t.launch(q, t.kernel("endless"), config(1), session.Buf(b))
	short, cancel := context.WithTimeout(t.ctx, 500*time.Millisecond)
	defer cancel()
	start := stopwatch.Start()
	var err error
	for i := 0; i < 6000 && err == nil; i++ {
		if err = q.WaitForSpace(short); err == nil {
			t.check(q.Launch(call))
		}
	}
	if err == nil { // the queue accepted all commands
		err = q.Sync(short)
	}
	t.refused("a full queue whose time is up", err, offload.Timeout, offload.Cancelled)
	if took := start.Elapsed(); took > 10*time.Second {
		t.Errorf("cancelling took %v", took)
	}
	t.survives(q)
}

// faultTimeout launches an endless kernel with a time limit.
func faultTimeout(t *T) {
	t.needCancel()
	q := t.queue()
	b := t.buffer(offload.I32, 2)
	t.launch(q, t.kernel("endless"), session.Config{Size: sized(1), Timeout: 100 * time.Millisecond}, session.Buf(b))
	start := stopwatch.Start()
	t.refused("a kernel whose time is up", q.Sync(t.ctx), offload.Timeout)
	if took := start.Elapsed(); took > 5*time.Second {
		t.Errorf("the time limit took %v", took)
	}
	t.survives(q)
}

// needCancel skips the case on a device that cannot end a running kernel.
func (t *T) needCancel() {
	if !t.device.Info().Features.Cancel {
		t.skipf("the device lacks the feature cancel")
	}
}

// survives checks that queue and device still work.
func (t *T) survives(q *session.Queue) {
	for start := stopwatch.Start(); ; time.Sleep(time.Millisecond) {
		if err := q.Sync(t.ctx); err == nil { // may report dropped commands
			break
		}
		if start.Elapsed() > 5*time.Second {
			t.Fatalf("the queue does not come back")
		}
	}
	for _, q := range []*session.Queue{q, t.queue()} {
		b := t.buffer(offload.I32, 100)
		t.launch(q, t.kernel("ids"), config(100), session.Buf(b))
		t.check(q.Sync(t.ctx))
		equal(t, "ids afterwards", contents[int32](t, b), count(100))
	}
}

// position returns the position of a text's first occurrence in the kernels' source, or the zero Position if there is none.
func position(text string) offload.Position {
	for i, line := range strings.Split(kernelSource, "\n") {
		if col := strings.Index(line, text); col >= 0 {
			return offload.Position{File: "kernels.js", Line: i + 1, Col: col + 1}
		}
	}
	return offload.Position{}
}
