package cpu

import (
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// ranAtOnce reports whether RunAtOnce ran the launch.
func ranAtOnce(f *fixture, l *offload.Launch) bool {
	f.Helper()
	at := f.dev.(*device).NewLaunch().(*launch)
	ran, err := at.RunAtOnce(l)
	must(f, err)
	return ran
}

// saxpy returns a prepared launch of y = a·x + y that has run once. It sets the kernel's measured cost to the minimum.
func (f *fixture) saxpy(a float32, x, y offload.Arg, n int) *offload.Launch {
	f.Helper()
	l := &offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{n, 1, 1}, Args: []offload.Arg{f32(a), x, y}}
	l.Prepared = f.prepare(l, nil)
	must(f, f.queue.Launch(l))
	f.sync()
	f.variant("saxpy").cost.Store(1)
	return l
}

func (f *fixture) variant(name string) *variant {
	f.Helper()
	v, err := f.kernel(name).(*kernel).variant(offload.ChecksOn)
	must(f, err)
	return v
}

// isCompiled reports whether the variant has compiled code.
func (v *variant) isCompiled() bool { return v.executable != executable(interpreterOf(v)) }

func TestWhatRunsAtOnce(t *testing.T) {
	f := open(t, Options{})
	x, y := f.buffer(offload.F32, 100_000, "x"), f.buffer(offload.F32, 100_000, "y")
	l := &offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{10, 1, 1}, Args: []offload.Arg{f32(1), x, y}}
	if ranAtOnce(f, l) {
		t.Error("a launch ran that was not prepared")
	}
	l.Prepared = f.prepare(l, nil)
	v := f.variant("saxpy")
	if ranAtOnce(f, l) {
		t.Error("a launch ran whose kernel was not measured")
	}
	v.cost.Store(costScale) // a nanosecond a unit
	if ranAtOnce(f, l) != v.isCompiled() {
		t.Error("a brief launch of compiled code did not run, or one of the interpreter did")
	}
	units := l.Prepared.(*plan).units
	v.cost.Store(int64(measureAbove)*costScale/int64(units) + 1)
	if ranAtOnce(f, l) {
		t.Error("a launch ran that takes long")
	}
	v.cost.Store(1)
	l.Size[0] = 100_000
	l.Prepared = f.prepare(l, l.Prepared)
	if ranAtOnce(f, l) {
		t.Error("a launch of many units ran")
	}
	v.cost.Store(math.MaxInt64)
	l.Size[0] = 10
	l.Prepared = f.prepare(l, l.Prepared)
	if ranAtOnce(f, l) {
		t.Error("a launch ran that takes for ever")
	}
	v.cost.Store(1)
	l.Size[0] = 0
	l.Prepared = f.prepare(l, l.Prepared)
	if ranAtOnce(f, l) {
		t.Error("a launch of no units ran")
	}
	asks := &offload.Launch{Kernel: f.kernel("ask"), Size: [3]int{1, 1, 1}, Args: []offload.Arg{f.buffer(offload.I32, 1, "x")}}
	asks.Prepared = f.prepare(asks, nil)
	f.variant("ask").cost.Store(1)
	if ranAtOnce(f, asks) {
		t.Error("a launch ran that calls the host")
	}
}

// TestAPreparedLaunchChangesBetweenRuns checks that a reused worker does not keep the arguments of an earlier launch.
func TestAPreparedLaunchChangesBetweenRuns(t *testing.T) {
	f := open(t, Options{})
	const n = 100
	x, y, z := f.buffer(offload.F32, n, "x"), f.buffer(offload.F32, n, "y"), f.buffer(offload.F32, n, "z")
	must(t, f.queue.Fill(offload.Span{Memory: x.Memory, Size: 4 * n}, []byte{0, 0, 0x80, 0x3f}))
	l := f.saxpy(2, x, y, n)
	must(t, f.queue.Launch(l))
	l.Args[0], l.Args[2], l.Size[0] = f32(5), z, n/2
	l.Prepared = f.prepare(l, l.Prepared) // the same memory
	must(t, f.queue.Launch(l))
	other := f.saxpy(7, x, y, n)
	for range 2 { // in turn
		must(t, f.queue.Launch(other))
		must(t, f.queue.Launch(l))
	}
	f.sync()
	if got := floats(y); got[0] != 2+2+7+7+7 || got[n-1] != got[0] {
		t.Errorf("y is %v", got)
	}
	if got := floats(z); got[0] != 5+5+5 || got[n/2-1] != got[0] || got[n/2] != 0 {
		t.Errorf("z is %v", got)
	}
}

func TestGroupsRunAtOnce(t *testing.T) {
	f := open(t, Options{})
	x := f.buffer(offload.I32, 1000, "x")
	l := &offload.Launch{Kernel: f.kernel("groups"), Size: [3]int{1000, 1, 1}, GroupSize: [3]int{24, 1, 1}, Args: []offload.Arg{x}}
	l.Prepared = f.prepare(l, nil)
	for range 3 {
		must(t, f.queue.Launch(l))
		f.sync()
		for i := range 1000 {
			if got := binary.LittleEndian.Uint32(x.Memory.Bytes()[4*i:]); got != 24 {
				t.Fatalf("x[%d] is %d", i, got)
			}
		}
		clear(x.Memory.Bytes())
	}
}

// TestBriefLaunchesUnderSignals runs brief launches, some of which fault, on goroutines whose stacks grow, while the profiler
// and the collector interrupt them.
func TestBriefLaunchesUnderSignals(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err == nil { // otherwise the tests are being profiled
		defer pprof.StopCPUProfile()
	}
	f := open(t, Options{})
	const n = 100
	x := f.buffer(offload.F32, n, "x")
	for i := range n {
		binary.LittleEndian.PutUint32(x.Memory.Bytes()[4*i:], math.Float32bits(float32(i)))
	}
	f.saxpy(0, x, f.buffer(offload.F32, n, "y"), n) // is measured
	end := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for range 4 {
		q, err := f.dev.NewQueue(offload.QueueOptions{})
		must(t, err)
		y := f.buffer(offload.F32, n, "y")
		good := &offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{n, 1, 1}, Args: []offload.Arg{f32(1), x, y}}
		good.Prepared = f.prepare(good, nil)
		bad := *good
		bad.Size[0] = n + 1
		bad.Prepared = f.prepare(&bad, nil)
		all.Go(func() {
			defer q.Close()
			clear(y.Memory.Bytes())
			for sum, round := float32(0), 0; time.Now().Before(end); round++ {
				grown := make(chan struct{})
				go func() { // a new goroutine has a small stack
					defer close(grown)
					deeper(round%60, func() {
						for range 20 {
							if err := q.Launch(good); err != nil {
								t.Error(err)
							}
						}
					})
				}()
				<-grown
				sum += 20
				if err := q.Sync(background); err != nil {
					t.Error(err)
				}
				if got := floats(y); got[1] != sum || got[n-1] != (n-1)*sum {
					t.Errorf("round %d: y is %v", round, got)
					return
				}
				if round%16 == 0 {
					if err := q.Launch(&bad); err != nil {
						t.Error(err)
					}
					if err := q.Sync(background); offload.CodeOf(err) != offload.OutOfBounds {
						t.Errorf("round %d: %v", round, err)
					}
					clear(y.Memory.Bytes())
					sum = 0
				}
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(end) {
			runtime.GC()
		}
	})
	all.Wait()
}

// deeper calls f from a stack that is deeper by the number of frames.
func deeper(frames int, f func()) byte {
	var frame [100]byte
	if frames == 0 {
		f()
		return frame[0]
	}
	frame[frames] = deeper(frames-1, f)
	return frame[frames]
}

// TestACompilerThatPanicsAtLaunch checks that a panic of the compiler during a launch leaves no lock held.
func TestACompilerThatPanicsAtLaunch(t *testing.T) {
	f := open(t, Options{})
	k := f.kernel("groups").(*kernel)
	v := f.variant("groups")
	broken := &variant{executable: &vectorized{slow: interpreterOf(v)}, steady: true}
	k.variants[offload.ChecksOn].Store(broken)
	x := f.buffer(offload.I32, 10, "x")
	l := &offload.Launch{Kernel: k, Size: [3]int{10, 1, 1}, Args: []offload.Arg{x}}
	for range 2 {
		wantCode(t, f.queue.Launch(l), offload.BackendFailure)
	}
	if _, err := f.dev.(offload.Preparer).Prepare(l, nil); offload.CodeOf(err) != offload.BackendFailure {
		t.Errorf("preparing it gives %v", err)
	}
	k.variants[offload.ChecksOn].Store(v)
	must(t, f.queue.Launch(l))
	f.sync()
}

// interpreterOf returns the interpreter's form of a kernel, which every variant has.
func interpreterOf(v *variant) *interpreted {
	if x, ok := v.executable.(*vectorized); ok {
		return x.slow
	}
	return v.executable.(*interpreted)
}
