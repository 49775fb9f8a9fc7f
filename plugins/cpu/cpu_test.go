package cpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/tests/allocs"
)

const fixtureKernels = `orepl-ir 1
file 0 "test.js"

kernel empty() real f32 {
  return
}

kernel saxpy(a %a.0: f32, x: f32[*], y: f32[*]) real f32 {
  site 0 = 0:1:1 "saxpy"
  site 1 = 0:3:5 "y[g.x]"
  %i.1: i32 = item.global.x
  %2: f32 = load x[%i.1] !1
  %3: f32 = load y[%i.1] !1
  %4: f32 = fma %a.0, %2, %3
  store y[%i.1], %4 !1
  return
}

kernel fibonacci(a: u32[*], b: u32[*]) real f32 {
  %0: i32 = const 0
  %1: u32 = load a[%0]
  %2: u32 = load b[%0]
  %3: u32 = add %1, %2
  store a[%0], %2
  store b[%0], %3
  return
}

kernel endless(x: i32[*]) real f32 {
  %0: i32 = const 0
  loop @1 () {
    %1: i32 = load x[%0]
    %2: i32 = const 1
    %3: i32 = add %1, %2
    store x[%0], %3
    continue @1
  }
  unreachable
}

kernel groups(x: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = item.groupsize.x
  store x[%0], %1
  return
}

kernel ask(x: i32[*]) real f32 {
  %0: i32 = item.global.x
  %1: i32 = call.double %0
  store x[%0], %1
  print "item " %0 ""
  return
}

kernel check(x: i32[*]) real f32 {
  site 0 = 0:20:1 "check"
  site 1 = 0:21:3 "g.assert(g.x < 70000)"
  %0: i32 = item.global.x
  %1: i32 = const 70000
  %2: bool = lt %0, %1
  assert %2, "too far: " %0 "" !1
  return
}
`

var background = context.Background()

func image(t testing.TB, text string) *offload.Image {
	t.Helper()
	m, err := ir.ParseText("test.ir", text)
	must(t, err)
	data, err := m.MarshalBinary()
	must(t, err)
	return &offload.Image{Kind: offload.ImageIR, Label: "test", Data: data}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixture is an open device with a queue and the kernels of the tests.
type fixture struct {
	testing.TB
	dev   offload.Device
	queue offload.Queue
	prog  offload.Program
}

func open(t testing.TB, options Options) *fixture {
	t.Helper()
	before := runtime.NumGoroutine()
	p, err := New(options).Open(background)
	must(t, err)
	f := &fixture{TB: t, dev: p.Devices()[0]}
	f.queue, err = f.dev.NewQueue(offload.QueueOptions{})
	must(t, err)
	f.prog, err = f.dev.Load(background, image(t, fixtureKernels))
	must(t, err)
	t.Cleanup(func() {
		f.queue.Close()
		must(t, p.Close())
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if runtime.NumGoroutine() <= before {
				return
			}
		}
		t.Errorf("%d goroutines before, %d after Close", before, runtime.NumGoroutine())
	})
	return f
}

func (f *fixture) memory(size int64) offload.Memory {
	f.Helper()
	m, err := f.dev.Allocate(size, offload.DeviceMemory)
	must(f, err)
	f.Cleanup(func() { m.Free() })
	return m
}

func (f *fixture) kernel(name string) offload.Kernel {
	f.Helper()
	k, err := f.prog.Kernel(name)
	must(f, err)
	return k
}

func (f *fixture) buffer(t offload.Type, n int, label string) offload.Arg {
	f.Helper()
	m := f.memory(int64(max(n, 1) * t.Size()))
	clear(m.Bytes())
	return offload.Arg{Type: t, Memory: m, Dims: [3]int32{int32(n)}, Label: label}
}

func (f *fixture) sync() {
	f.Helper()
	must(f, f.queue.Sync(background))
}

func f32(x float32) offload.Arg {
	return offload.Arg{Type: offload.F32, Bits: uint64(math.Float32bits(x))}
}

func wantCode(t testing.TB, err error, code offload.Code) {
	t.Helper()
	if offload.CodeOf(err) != code {
		t.Fatalf("got error %v, want one of code %s", err, code)
	}
}

func TestInfo(t *testing.T) {
	f := open(t, Options{})
	info := f.dev.Info()
	if info.Name == "" || info.Type != offload.CPU || info.ComputeUnits < 1 || info.MemoryBytes < 1 || info.Limits.GroupItems < 256 {
		t.Errorf("%+v", info)
	}
	if runtime.GOARCH == "amd64" && (!strings.HasPrefix(info.Arch, "x86-64") || info.VectorBits < 128) {
		t.Errorf("architecture %q, %d vector bits", info.Arch, info.VectorBits)
	}
	if runtime.GOOS == "linux" && len(f.dev.(offload.Describer).Describe()) == 0 {
		t.Log("this machine does not tell its caches")
	}
}

func TestAllocate(t *testing.T) {
	f := open(t, Options{})
	for _, kind := range []offload.MemoryKind{offload.DeviceMemory, offload.HostMemory, offload.SharedMemory} {
		for _, size := range []int64{1, 63, 4096, 1<<20 + 1} {
			m, err := f.dev.Allocate(size, kind)
			must(t, err)
			if m.Size() != size || m.Kind() != kind || int64(len(m.Bytes())) != size {
				t.Errorf("%d bytes of kind %v: got %d of kind %v", size, kind, m.Size(), m.Kind())
			}
			must(t, m.Free())
			wantCode(t, m.Free(), offload.Closed)
			wantCode(t, f.queue.Fill(offload.Span{Memory: m, Size: 1}, []byte{1}), offload.Closed)
		}
	}
	_, err := f.dev.Allocate(0, offload.DeviceMemory)
	wantCode(t, err, offload.InvalidSize)
	_, err = f.dev.Allocate(1<<60, offload.DeviceMemory)
	wantCode(t, err, offload.OutOfResources)

	other := open(t, Options{})
	wantCode(t, f.queue.Fill(offload.Span{Memory: other.memory(8), Size: 8}, []byte{1}), offload.InvalidDevice)
}

func TestCopiesAndFillsOfAllSizes(t *testing.T) {
	f := open(t, Options{Cores: 3})
	sizes := []int{1, 16, 4096, 1<<20 + 16}
	if !raceEnabled { // the race detector makes this test slow and checks nothing more
		sizes = append(sizes, 8<<20+48, moveChunk+16)
	}
	for _, n := range sizes {
		a, b := f.memory(int64(n)), f.memory(int64(n))
		host, back := make([]byte, n), make([]byte, n)
		for i := range host {
			host[i] = byte(i * 7 >> 3)
		}
		all := func(m offload.Memory) offload.Span { return offload.Span{Memory: m, Size: int64(n)} }
		must(t, f.queue.Submit(all(a), host))
		must(t, f.queue.Exchange(all(b), all(a)))
		must(t, f.queue.Retrieve(back, all(b)))
		f.sync()
		if string(back) != string(host) {
			t.Errorf("%d bytes did not come back", n)
		}
		for _, pattern := range []string{"\x05", "ab", "abcd", "abcdefgh", "abcdefghijklmnop", "\x00\x00"} {
			if n%len(pattern) != 0 {
				continue
			}
			must(t, f.queue.Fill(all(a), []byte(pattern)))
			must(t, f.queue.Retrieve(back, all(a)))
			f.sync()
			if string(back) != strings.Repeat(pattern, n/len(pattern)) {
				t.Errorf("%d bytes of pattern %q", n, pattern)
			}
		}
	}
}

func TestLaunch(t *testing.T) {
	for _, cores := range []int{1, 2, 4} {
		f := open(t, Options{Cores: cores})
		for _, n := range []int{0, 1, 255, 256, 257, 100_000} {
			x, y := f.buffer(offload.F32, n, "x"), f.buffer(offload.F32, n, "y")
			for i := range n {
				binary.LittleEndian.PutUint32(x.Memory.Bytes()[4*i:], math.Float32bits(float32(i)))
				binary.LittleEndian.PutUint32(y.Memory.Bytes()[4*i:], math.Float32bits(1))
			}
			must(t, f.queue.Launch(&offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{n, 1, 1}, Args: []offload.Arg{f32(2), x, y}}))
			f.sync()
			for i := range n {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(y.Memory.Bytes()[4*i:])); got != 2*float32(i)+1 {
					t.Fatalf("%d cores, %d items: y[%d] is %v", cores, n, i, got)
				}
			}
		}
	}
}

func TestKernelInfo(t *testing.T) {
	f := open(t, Options{})
	info := f.kernel("saxpy").Info()
	want := []offload.Param{
		{Name: "a", Type: offload.F32, Elem: 4},
		{Name: "x", Buffer: true, Type: offload.F32, Elem: 4, Rank: 1, Reads: true},
		{Name: "y", Buffer: true, Type: offload.F32, Elem: 4, Rank: 1, Reads: true, Writes: true},
	}
	if fmt.Sprint(info.Params) != fmt.Sprint(want) || info.ObservesGroup {
		t.Errorf("%+v", info)
	}
	if !f.kernel("groups").Info().ObservesGroup {
		t.Error("groups does not observe its group")
	}
	_, err := f.prog.Kernel("nobody")
	wantCode(t, err, offload.NotFound)
	_, err = f.prog.Global("saxpy")
	wantCode(t, err, offload.SymbolKind)
	_, err = f.prog.Global("nobody")
	wantCode(t, err, offload.NotFound)
	if len(f.prog.Symbols()) != 7 {
		t.Errorf("symbols %v", f.prog.Symbols())
	}
	must(t, f.prog.Unload())
	wantCode(t, f.prog.Unload(), offload.Closed)
	_, err = f.prog.Kernel("saxpy")
	wantCode(t, err, offload.Closed)
}

func TestDefaultGroupSizes(t *testing.T) {
	f := open(t, Options{})
	x := f.buffer(offload.I32, 4096, "x")
	for _, c := range []struct {
		size, group [3]int
		want        byte
	}{
		{[3]int{16, 1, 1}, [3]int{}, 0},
		{[3]int{16, 4, 1}, [3]int{}, 16},
		{[3]int{16, 4, 2}, [3]int{}, 8},
		{[3]int{16, 1, 1}, [3]int{4, 1, 1}, 4},
	} {
		must(t, f.queue.Launch(&offload.Launch{Kernel: f.kernel("groups"), Size: c.size, GroupSize: c.group, Args: []offload.Arg{x}}))
		f.sync()
		if got := x.Memory.Bytes()[0]; got != c.want { // 256 has a zero byte first
			t.Errorf("size %v: group size %d, want %d", c.size, got, c.want)
		}
	}
}

func TestWrongLaunchesAreRefused(t *testing.T) {
	f := open(t, Options{})
	x, y := f.buffer(offload.F32, 8, "x"), f.buffer(offload.F32, 8, "y")
	long := y
	long.Dims[0] = 9
	huge := y
	huge.Dims[0] = math.MaxInt32
	negative := y
	negative.Dims[0] = -1
	beyond := y
	beyond.Offset = 33
	freed := f.buffer(offload.F32, 8, "freed")
	must(t, freed.Memory.Free())
	k := f.kernel("saxpy")
	for _, c := range []struct {
		name string
		l    offload.Launch
		code offload.Code
	}{
		{"too few arguments", offload.Launch{Args: []offload.Arg{f32(1), x}}, offload.InvalidArgument},
		{"a buffer for a scalar", offload.Launch{Args: []offload.Arg{x, x, y}}, offload.InvalidArgument},
		{"a scalar for a buffer", offload.Launch{Args: []offload.Arg{f32(1), f32(1), y}}, offload.InvalidArgument},
		{"scalar type", offload.Launch{Args: []offload.Arg{{Type: offload.I32}, x, y}}, offload.InvalidArgument},
		{"element type", offload.Launch{Args: []offload.Arg{f32(1), f.buffer(offload.I32, 8, ""), y}}, offload.InvalidArgument},
		{"extent too large", offload.Launch{Args: []offload.Arg{f32(1), x, long}}, offload.InvalidSize},
		{"extent far too large", offload.Launch{Args: []offload.Arg{f32(1), x, huge}}, offload.InvalidSize},
		{"negative extent", offload.Launch{Args: []offload.Arg{f32(1), x, negative}}, offload.InvalidSize},
		{"offset", offload.Launch{Args: []offload.Arg{f32(1), x, beyond}}, offload.InvalidSize},
		{"freed", offload.Launch{Args: []offload.Arg{f32(1), x, freed}}, offload.Closed},
		{"negative size", offload.Launch{Size: [3]int{-1, 1, 1}, Args: []offload.Arg{f32(1), x, y}}, offload.InvalidSize},
		{"size of 2^31", offload.Launch{Size: [3]int{1 << 31, 1, 1}, Args: []offload.Arg{f32(1), x, y}}, offload.InvalidSize},
		{"half a group size", offload.Launch{GroupSize: [3]int{8, 0, 0}, Args: []offload.Arg{f32(1), x, y}}, offload.InvalidSize},
		{"group too large", offload.Launch{GroupSize: [3]int{64, 64, 1}, Args: []offload.Arg{f32(1), x, y}}, offload.InvalidSize},
		{"checks", offload.Launch{Checks: 9, Args: []offload.Arg{f32(1), x, y}}, offload.InvalidArgument},
	} {
		c.l.Kernel = k
		if c.l.Size == [3]int{} {
			c.l.Size = [3]int{8, 1, 1}
		}
		if err := f.queue.Launch(&c.l); offload.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %s", c.name, err, c.code)
		}
	}
	f.sync()
}

func TestFaults(t *testing.T) {
	for _, cores := range []int{1, 2} {
		f := open(t, Options{Cores: cores})
		x, y := f.buffer(offload.F32, 70000, "x"), f.buffer(offload.F32, 60000, "out")
		must(t, f.queue.Launch(&offload.Launch{
			Kernel: f.kernel("saxpy"), Size: [3]int{70000, 1, 1}, Args: []offload.Arg{f32(1), x, y},
			Pos: offload.Position{File: "main.js", Line: 99, Col: 1},
		}))
		err := f.queue.Sync(background)
		var e *offload.Error
		if !errors.As(err, &e) || e.Fault == nil {
			t.Fatalf("got %v", err)
		}
		want := offload.Fault{Code: offload.OutOfBounds, Kernel: "saxpy", Pos: offload.Position{File: "test.js", Line: 3, Col: 5},
			Text: "y[g.x]", Array: "y", Label: "out", Index: 60000, Extent: 60000, Bound: "y.length", Subscript: "g.x", Item: [3]int{60000, 0, 0}}
		if *e.Fault != want || e.Pos.File != "main.js" || e.Pos.Line != 99 || e.Code != offload.OutOfBounds {
			t.Errorf("%d cores: fault %+v", cores, *e.Fault)
		}
		f.sync()

		must(t, f.queue.Launch(&offload.Launch{Kernel: f.kernel("check"), Size: [3]int{200_000, 1, 1}, Args: []offload.Arg{x0(f)}}))
		err = f.queue.Sync(background)
		if !errors.As(err, &e) || e.Fault == nil || e.Code != offload.Assertion || e.Fault.Item[0] != 70000 ||
			!strings.Contains(err.Error(), "too far: 70000") {
			t.Errorf("%d cores: %v", cores, err)
		}
	}
}

func x0(f *fixture) offload.Arg { return f.buffer(offload.I32, 1, "x") }

func TestTimeoutAndCancellation(t *testing.T) {
	f := open(t, Options{})
	l := &offload.Launch{Kernel: f.kernel("endless"), Size: [3]int{10_000, 1, 1}, Args: []offload.Arg{x0(f)}, Timeout: 10 * time.Millisecond}
	must(t, f.queue.Launch(l))
	wantCode(t, f.queue.Sync(background), offload.Timeout)

	l.Timeout = 0
	must(t, f.queue.Launch(l))
	ctx, cancel := context.WithTimeout(background, 10*time.Millisecond)
	defer cancel()
	wantCode(t, f.queue.Sync(ctx), offload.Cancelled)
	f.sync()
}

type host struct {
	mu    sync.Mutex
	lines []string
	fail  bool
}

func (h *host) Print(m *offload.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, m.Kernel+" "+m.Text)
}

func (h *host) Call(_ context.Context, r *offload.Request) (uint64, error) {
	if r.Name != "double" || h.fail {
		return 0, errors.New("out of order")
	}
	return r.Args[0].Bits * 2, nil
}

func TestServices(t *testing.T) {
	f := open(t, Options{})
	x, h := f.buffer(offload.I32, 4, "x"), &host{}
	l := &offload.Launch{Kernel: f.kernel("ask"), Size: [3]int{4, 1, 1}, Args: []offload.Arg{x}, Services: h}
	must(t, f.queue.Launch(l))
	f.sync()
	if x.Memory.Bytes()[12] != 6 || strings.Join(h.lines, ",") != "ask item 0,ask item 1,ask item 2,ask item 3" {
		t.Errorf("%v, printed %q", x.Memory.Bytes(), h.lines)
	}
	h.fail = true
	must(t, f.queue.Launch(l))
	err := f.queue.Sync(background)
	wantCode(t, err, offload.BackendFailure)
	if !strings.Contains(err.Error(), "out of order") {
		t.Error(err)
	}
}

func TestImages(t *testing.T) {
	f := open(t, Options{})
	good := image(t, fixtureKernels)
	for _, c := range []struct {
		name string
		img  *offload.Image
		code offload.Code
	}{
		{"kind", &offload.Image{Kind: offload.ImagePTX, Data: good.Data}, offload.Unsupported},
		{"not IR", &offload.Image{Kind: offload.ImageIR, Data: []byte("hello")}, offload.InvalidBinary},
		{"cut off", &offload.Image{Kind: offload.ImageIR, Data: good.Data[:len(good.Data)-7]}, offload.InvalidBinary},
	} {
		_, err := f.dev.Load(background, c.img)
		if offload.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %s", c.name, err, c.code)
		}
	}
	ctx, cancel := context.WithCancel(background)
	cancel()
	fresh := image(t, strings.Replace(fixtureKernels, "kernel empty", "kernel nothing", 1))
	_, err := f.dev.Load(ctx, fresh)
	wantCode(t, err, offload.Cancelled)
	_, err = f.dev.Load(background, fresh)
	must(t, err)
}

func TestUnsupportedKernels(t *testing.T) {
	f := open(t, Options{})
	unknown := "kernel odd(x: f32[*]) real f32 {\n  site 0 = 0:1:1 \"odd\"\n  site 1 = 0:7:3 \"Math.odd(1)\"\n" +
		"  %0: f32 = const 1\n  %1: f32 = math.no_such_function %0 !1\n  %2: i32 = const 0\n  store x[%2], %1\n  return\n}\n"
	_, err := f.dev.Load(background, image(t, "orepl-ir 1\nfile 0 \"odd.js\"\n\n"+unknown))
	wantCode(t, err, offload.Unsupported)
	if e := err.(*offload.Error); e.Pos.Line != 7 || e.Pos.File != "odd.js" {
		t.Errorf("position %v of %v", e.Pos, err)
	}
	p, err := f.dev.Load(background, image(t, fixtureKernels+"\n"+unknown))
	must(t, err)
	_, err = p.Kernel("odd")
	wantCode(t, err, offload.Unsupported)
	_, err = p.Kernel("saxpy")
	must(t, err)
}

func TestEqualImagesAreCompiledOnce(t *testing.T) {
	f := open(t, Options{})
	again, err := f.dev.Load(background, image(t, fixtureKernels))
	must(t, err)
	k, err := again.Kernel("saxpy")
	must(t, err)
	if k != f.kernel("saxpy") {
		t.Error("compiled twice")
	}
	must(t, again.Unload())
}

// TestFibonacciOverQueues runs a chain of additions over 16 queues, ordered by events.
func TestFibonacciOverQueues(t *testing.T) {
	f := open(t, Options{})
	a, b := f.buffer(offload.U32, 1, "a"), f.buffer(offload.U32, 1, "b")
	b.Memory.Bytes()[0] = 1
	l := &offload.Launch{Kernel: f.kernel("fibonacci"), Size: [3]int{1, 1, 1}, Args: []offload.Arg{a, b}}
	var last offload.Event
	for range 16 {
		q, err := f.dev.NewQueue(offload.QueueOptions{})
		must(t, err)
		defer q.Close()
		if last != nil {
			must(t, q.Wait(last))
		}
		for range 2 {
			must(t, q.Launch(l))
		}
		last, err = q.Record()
		must(t, err)
	}
	must(t, last.Sync(background))
	if got := binary.LittleEndian.Uint32(a.Memory.Bytes()); got != 2178309 {
		t.Errorf("the 32nd Fibonacci number is %d", got)
	}
}

// TestManyQueues launches from several goroutines, each with its own queue.
func TestManyQueues(t *testing.T) {
	f := open(t, Options{Cores: 4})
	var wg sync.WaitGroup
	var failed atomic.Bool
	for range 8 {
		wg.Go(func() {
			q, _ := f.dev.NewQueue(offload.QueueOptions{})
			defer q.Close()
			const n = 5000
			x, _ := f.dev.Allocate(4*n, offload.DeviceMemory)
			defer x.Free()
			arg := offload.Arg{Type: offload.I32, Memory: x, Dims: [3]int32{n}}
			host := make([]byte, 4*n)
			for i := range 20 {
				group := 30 + i%7
				q.Fill(offload.Span{Memory: x, Size: 4 * n}, []byte{0, 0, 0, 0})
				q.Launch(&offload.Launch{Kernel: f.kernel("groups"), Size: [3]int{n, 1, 1}, GroupSize: [3]int{group, 1, 1}, Args: []offload.Arg{arg}})
				q.Retrieve(host, offload.Span{Memory: x, Size: 4 * n})
				if q.Sync(background) != nil || host[0] != byte(group) || host[4*n-4] != byte(group) {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if failed.Load() {
		t.Error("wrong results")
	}
}

// TestEverythingAtOnce runs kernels that are stopped, that fail and that succeed concurrently, and checks the result of
// each.
func TestEverythingAtOnce(t *testing.T) {
	f := open(t, Options{Cores: 3})
	var wg sync.WaitGroup
	for g := range 6 {
		q, err := f.dev.NewQueue(offload.QueueOptions{})
		must(t, err)
		x, small := f.buffer(offload.I32, 20_000, "x"), f.buffer(offload.I32, 100, "small")
		endless, groups := f.kernel("endless"), f.kernel("groups")
		wg.Go(func() {
			defer q.Close()
			for i := range 15 {
				ctx, cancel := background, context.CancelFunc(func() {})
				l, want := offload.Launch{Kernel: groups, Size: [3]int{20_000, 1, 1}, Args: []offload.Arg{x}}, offload.Code("")
				switch (g + i) % 4 {
				case 0:
					l.Kernel, l.Timeout, want = endless, time.Millisecond, offload.Timeout
				case 1:
					l.Kernel, want = endless, offload.Cancelled
					ctx, cancel = context.WithTimeout(background, time.Millisecond)
				case 2:
					l.Args, want = []offload.Arg{small}, offload.OutOfBounds
				}
				if err := q.Launch(&l); err != nil {
					t.Error(err)
				}
				if err := q.Sync(ctx); offload.CodeOf(err) != want {
					t.Errorf("got %v, want code %q", err, want)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

func TestNothingIsAllocated(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes pools forget at random")
	}
	f := open(t, Options{})
	x, y := f.buffer(offload.F32, 1000, "x"), f.buffer(offload.F32, 1000, "y")
	for _, l := range []*offload.Launch{
		{Kernel: f.kernel("empty"), Size: [3]int{1, 1, 1}},
		{Kernel: f.kernel("saxpy"), Size: [3]int{1000, 1, 1}, Args: []offload.Arg{f32(2), x, y}},
	} {
		once := func() {
			must(t, f.queue.Launch(l))
			f.sync()
		}
		for range 200 {
			once()
		}
		if n := allocs.PerRun(500, once); n != 0 {
			t.Errorf("%s: %v allocations", l.Kernel.Info().Name, n)
		}
	}
}

// check fails the benchmark on an error.
func check(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

func TestCopiesAllocateNothing(t *testing.T) {
	f := open(t, Options{})
	m, host := f.memory(1<<20), make([]byte, 1<<20)
	all := offload.Span{Memory: m, Size: 1 << 20}
	for name, do := range map[string]func() error{
		"submit":   func() error { return f.queue.Submit(all, host) },
		"retrieve": func() error { return f.queue.Retrieve(host, all) },
		"fill":     func() error { return f.queue.Fill(all, host[:4]) },
	} {
		if n := allocs.PerRun(200, func() { must(t, do()); f.sync() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLaunchAndSync(b *testing.B) {
	f := open(b, Options{})
	l := &offload.Launch{Kernel: f.kernel("empty"), Size: [3]int{1, 1, 1}}
	b.ReportAllocs()
	for b.Loop() {
		check(b, f.queue.Launch(l))
		check(b, f.queue.Sync(background))
	}
}

func BenchmarkLaunchPipelined(b *testing.B) {
	f := open(b, Options{})
	l := &offload.Launch{Kernel: f.kernel("empty"), Size: [3]int{1, 1, 1}}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		check(b, f.queue.Launch(l))
		if n++; n%1000 == 0 {
			check(b, f.queue.Sync(background))
		}
	}
}

func BenchmarkSaxpy(b *testing.B) {
	for _, n := range []int{1000, 10_000, 1 << 20, -1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cores := 0
			if n < 0 { // on one core
				n, cores = -n, 1
			}
			f := open(b, Options{Cores: cores})
			x, y := f.buffer(offload.F32, n, "x"), f.buffer(offload.F32, n, "y")
			l := &offload.Launch{Kernel: f.kernel("saxpy"), Size: [3]int{n, 1, 1}, Args: []offload.Arg{f32(2), x, y}}
			b.SetBytes(int64(12 * n))
			for b.Loop() {
				check(b, f.queue.Launch(l))
				check(b, f.queue.Sync(background))
			}
		})
	}
}

func BenchmarkSubmit(b *testing.B) {
	for _, n := range []int64{8, 1 << 20, 256 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := open(b, Options{})
			m, host := f.memory(n), make([]byte, n)
			for i := range host {
				host[i] = 1
			}
			clear(m.Bytes())
			b.SetBytes(n)
			for b.Loop() {
				check(b, f.queue.Submit(offload.Span{Memory: m, Size: n}, host))
				check(b, f.queue.Sync(background))
			}
		})
	}
}
