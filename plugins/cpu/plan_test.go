package cpu

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/orepl/orepl/runtime/offload"
)

// floats returns the elements of a buffer.
func floats(a offload.Arg) []float32 {
	b := a.Memory.Bytes()
	list := make([]float32, len(b)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return list
}

func (f *fixture) prepare(l *offload.Launch, again offload.Prepared) offload.Prepared {
	f.Helper()
	ready, err := f.dev.(offload.Preparer).Prepare(l, again)
	must(f, err)
	return ready
}

// TestPreparedLaunches reuses a prepared launch for different arguments while launches that hold it are queued.
func TestPreparedLaunches(t *testing.T) {
	f := open(t, Options{})
	const n = 100
	x, y, z := f.buffer(offload.F32, n, "x"), f.buffer(offload.F32, n, "y"), f.buffer(offload.F32, n, "z")
	must(t, f.queue.Fill(offload.Span{Memory: x.Memory, Size: 4 * n}, []byte{0, 0, 0x80, 0x3f}))
	f.sync()
	l := &offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{n, 1, 1}, Args: []offload.Arg{f32(2), x, y}}
	l.Prepared = f.prepare(l, nil)
	for range 2 { // run at once, if the cost is known
		must(t, f.queue.Launch(l))
	}
	f.sync()
	if got := floats(y); got[0] != 4 || got[n-1] != 4 {
		t.Fatalf("after two launches: %v", got)
	}

	gate := make(chan struct{})
	must(t, f.queue.Host(func() error { <-gate; return nil }))
	must(t, f.queue.Launch(l))
	l.Args[0], l.Args[2], l.Size = f32(5), z, [3]int{n / 2, 1, 1}
	l.Prepared = f.prepare(l, l.Prepared)
	must(t, f.queue.Launch(l))
	l.Args[0], l.Args[2] = f32(7), y
	l.Prepared = f.prepare(l, l.Prepared)
	close(gate)
	f.sync()
	if got := floats(y); got[0] != 6 || got[n-1] != 6 {
		t.Errorf("y is %v", got)
	}
	if got := floats(z); got[0] != 5 || got[n/2-1] != 5 || got[n/2] != 0 {
		t.Errorf("z is %v", got)
	}
}

// TestPreparedLaunchesFail checks that faults and services work in prepared launches.
func TestPreparedLaunchesFail(t *testing.T) {
	f := open(t, Options{})
	x, y := f.buffer(offload.F32, 10, "x"), f.buffer(offload.F32, 10, "y")
	l := &offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{11, 1, 1}, Args: []offload.Arg{f32(1), x, y},
		Pos: offload.Position{File: "a.js", Line: 1, Col: 1}}
	l.Prepared = f.prepare(l, nil)
	l.Pos.Line = 2
	for range 3 {
		must(t, f.queue.Launch(l))
		err := f.queue.Sync(background)
		wantCode(t, err, offload.OutOfBounds)
		e := err.(*offload.Error)
		if e.Pos.Line != 2 || e.Fault == nil || e.Fault.Label != "x" || e.Fault.Item != [3]int{10, 0, 0} {
			t.Fatalf("the fault is %+v, of %v", e.Fault, e)
		}
	}

	h := &host{}
	l = &offload.Launch{Kernel: f.kernel("ask"), Size: [3]int{2, 1, 1}, Args: []offload.Arg{f.buffer(offload.I32, 2, "x")}, Services: h}
	l.Prepared = f.prepare(l, nil)
	for range 2 {
		must(t, f.queue.Launch(l))
	}
	f.sync()
	if len(h.lines) != 4 {
		t.Errorf("the items printed %v", h.lines)
	}

	if _, err := f.dev.(offload.Preparer).Prepare(&offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{1, 1, 1}}, nil); err == nil {
		t.Error("a launch without arguments was prepared")
	}
	l = &offload.Launch{Kernel: f.kernel("empty"), Size: [3]int{1, 1, 1}, Checks: offload.ChecksRaces}
	if ready := f.prepare(l, nil); ready != nil {
		t.Error("a launch was prepared that looks for races")
	}
}

// TestSteadyKernels checks that kernels without loops and calls are steady.
func TestSteadyKernels(t *testing.T) {
	f := open(t, Options{})
	for name, want := range map[string]bool{"empty": true, "saxpy": true, "check": true, "endless": false, "ask": false} {
		v, err := f.kernel(name).(*kernel).variant(offload.ChecksOn)
		must(t, err)
		if v.steady != want {
			t.Errorf("%s: steady is %v", name, v.steady)
		}
	}
}
