//go:build linux && (amd64 || arm64) && !nonative

package cuda_test

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/kernel/irgen"
	"github.com/orepl/orepl/plugins/cuda"
	"github.com/orepl/orepl/runtime/offload"
)

// TestMissingLibrary checks that a missing library, and a library that is not a driver, are errors with a hint.
func TestMissingLibrary(t *testing.T) {
	for _, path := range []string{"/nonexistent/libcuda.so.1", "libc.so.6"} {
		_, err := cuda.New(cuda.Options{Library: path}).Open(t.Context())
		checkError(t, path, err, offload.NotFound, "libcuda.so.1")
	}
}

// checkError checks an error's code and a text in its message or hint.
func checkError(t *testing.T, what string, err error, code offload.Code, text string) {
	t.Helper()
	var e *offload.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Error()+e.Hint, text) {
		t.Errorf("%s: %v, want %s with %q", what, err, code, text)
	}
}

// TestNoDevice opens a driver without devices, and drivers that fail.
func TestNoDevice(t *testing.T) {
	s := newStandIn(t)
	const noDevice, notSupported = 100, 801
	s.set("init", noDevice)
	_, err := cuda.New(s.options()).Open(t.Context())
	checkError(t, "no device", err, offload.NotFound, "CUDA_VISIBLE_DEVICES")
	s.set("init", 0)
	s.set("devices", 0)
	_, err = cuda.New(s.options()).Open(t.Context())
	checkError(t, "no device", err, offload.NotFound, "CUDA_VISIBLE_DEVICES")
	s.set("devices", 1)
	for _, f := range []string{"cuInit", "cuDeviceGetCount", "cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuMemPoolCreate"} {
		s.fail(f, notSupported, 0)
		_, err := cuda.New(s.options()).Open(t.Context())
		checkError(t, f, err, offload.NotFound, "CUDA_ERROR_NOT_SUPPORTED (801)")
		s.checkLive(t)
	}
}

// TestDevices checks the properties of devices if one of them fails.
func TestDevices(t *testing.T) {
	s := newStandIn(t)
	s.set("devices", 3)
	s.fail("cuDevicePrimaryCtxRetain", 801, 1)
	p := s.open(t)
	list := p.Devices()
	if len(list) != 2 {
		t.Fatalf("%d devices", len(list))
	}
	if i := list[1].Info(); i.Name != "Stand-in 2" || i.Arch != "sm_80" || i.Type != offload.GPU || i.Limits.GroupItems != 1024 || i.Limits.Groups[1] != 65535 || i.UID == list[0].Info().UID {
		t.Errorf("%+v", i)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	s.checkLive(t)
}

// image returns the image of an empty kernel, whose return has line 7 and column 3.
func image(t *testing.T) *offload.Image {
	t.Helper()
	k := &ir.Kernel{Name: "k", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}, {Line: 7, Col: 3, Text: "x[i] = 1"}}}
	b := ir.Builder{Kernel: k, Block: k.Body, Site: 1}
	a := &ir.Array{Name: "x", Space: ir.Global, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1}
	k.Arrays, k.Params = []*ir.Array{a}, []ir.Param{{Name: "x", Array: a}}
	i := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	one := b.Emit(&ir.Instr{Op: ir.Const, Bits: 1}, ir.I32)
	b.Emit(&ir.Instr{Op: ir.Store, Array: a, Path: []ir.Step{{Kind: ir.StepIndex}}, Args: []*ir.Value{i, one}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	data, err := irgen.Module(k).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return &offload.Image{Kind: offload.ImageIR, Data: data, Label: "test"}
}

// TestOldDevice loads a kernel on a device that lacks required operations.
func TestOldDevice(t *testing.T) {
	s := newStandIn(t)
	s.set("capability", 61)
	p := s.open(t)
	_, err := p.Devices()[0].Load(t.Context(), image(t))
	checkError(t, "load", err, offload.Unsupported, "compute capability 6.1")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestCompilerLog checks that an error of the driver's compiler has the position of the statement.
func TestCompilerLog(t *testing.T) {
	s := newStandIn(t)
	p := s.open(t)
	defer func() { _ = p.Close() }()
	program, err := p.Devices()[0].Load(t.Context(), image(t))
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	if _, err = program.Kernel("k"); err == nil {
		source, err = program.(offload.Lister).Listing("k", "ptx")
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(source, "\n")
	store := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "st.global.s32") })
	if store < 0 {
		t.Fatal(source)
	}
	if err := program.Unload(); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	s.refuse = "ptxas application ptx input, line " + strconv.Itoa(store+1) + "; error   : Unknown symbol\nptxas fatal   : Ptx assembly aborted"
	s.mu.Unlock()
	if program, err = p.Devices()[0].Load(t.Context(), image(t)); err != nil {
		t.Fatal(err)
	}
	_, err = program.Kernel("k")
	checkError(t, "compile", err, offload.BackendFailure, "Unknown symbol")
	var e *offload.Error
	if errors.As(err, &e) && (e.Pos.Line != 7 || e.Pos.Col != 3 || !strings.Contains(e.Hint, "report")) {
		t.Errorf("%v, %s", e.Pos, e.Hint)
	}
}

// setup returns a device with a queue, and closes both at the end of the test.
func setup(t *testing.T, s *standIn) (offload.Device, offload.Queue) {
	t.Helper()
	p := s.open(t)
	d := p.Devices()[0]
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(q.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	return d, q
}

func allocate(t *testing.T, d offload.Device, size int64) offload.Memory {
	t.Helper()
	m, err := d.Allocate(size, offload.DeviceMemory)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestOutOfMemory checks the error of each allocating function when memory is exhausted.
func TestOutOfMemory(t *testing.T) {
	s := newStandIn(t)
	d, q := setup(t, s)
	const outOfMemory = 2
	for f, kind := range map[string]offload.MemoryKind{"cuMemAllocFromPoolAsync": offload.DeviceMemory, "cuMemHostAlloc": offload.HostMemory, "cuMemAllocManaged": offload.SharedMemory} {
		s.fail(f, outOfMemory, 0)
		_, err := d.Allocate(100, kind)
		checkError(t, f, err, offload.OutOfResources, "free buffers")
	}
	m := allocate(t, d, 1<<20)
	s.fail("cuMemHostAlloc", outOfMemory, 0) // the pinned block of a copy
	err := q.Submit(offload.Span{Memory: m, Size: 1 << 20}, make([]byte, 1<<20))
	if err == nil {
		err = q.Sync(t.Context())
	}
	checkError(t, "copy", err, offload.OutOfResources, "CUDA_ERROR_OUT_OF_MEMORY (2)")
	if err := q.Submit(offload.Span{Memory: m, Size: 1 << 20}, make([]byte, 1<<20)); err != nil {
		t.Error(err)
	}
	if err := errors.Join(q.Sync(t.Context()), m.Free()); err != nil {
		t.Error(err)
	}
}

// TestFailedCalls fails driver functions of commands and of long transfers, and checks that the queue still works.
func TestFailedCalls(t *testing.T) {
	s := newStandIn(t)
	d, q := setup(t, s)
	const n = 30 << 20
	m := allocate(t, d, n)
	whole, data := offload.Span{Memory: m, Size: n}, make([]byte, n)
	commands := map[string]func() error{
		"cuMemcpyHtoDAsync": func() error { return q.Submit(whole, data) }, "cuMemcpyDtoHAsync": func() error { return q.Retrieve(data, whole) },
		"cuMemcpyDtoDAsync": func() error {
			return q.Exchange(offload.Span{Memory: m, Size: 64}, offload.Span{Memory: m, Offset: 64, Size: 64})
		},
		"cuMemsetD8Async": func() error { return q.Fill(whole, []byte{1}) }, "cuMemsetD2D32Async": func() error { return q.Fill(whole, []byte{1, 2, 3, 4, 5, 6, 7, 8}) },
		"cuEventRecord": func() error { return q.Fill(whole, []byte{1}) }, "cuEventCreate": func() error { return q.Submit(whole, data) },
	}
	for f, command := range commands {
		s.fail(f, 1, 0)
		err := command()
		if err == nil {
			err = q.Sync(t.Context())
		}
		s.fail("", 0, 0)
		if f == "cuEventCreate" && err == nil {
			continue // the queue reused one
		}
		checkError(t, f, err, offload.BackendFailure, "CUDA_ERROR_INVALID_VALUE (1)")
		if err := errors.Join(command(), q.Sync(t.Context())); err != nil {
			t.Errorf("after %s: %v", f, err)
		}
	}
	if err := m.Free(); err != nil {
		t.Error(err)
	}
}

// TestStickyError checks that the device is lost after a sticky error.
func TestStickyError(t *testing.T) {
	s := newStandIn(t)
	p := s.open(t)
	d := p.Devices()[0]
	q, err := d.NewQueue(offload.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := allocate(t, d, 1<<20)
	program, err := d.Load(t.Context(), image(t))
	if err != nil {
		t.Fatal(err)
	}
	k, err := program.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	const illegalAddress = 700
	s.fail("cuEventQuery", illegalAddress, 0)
	l := &offload.Launch{Kernel: k, Size: [3]int{10, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{10}}}}
	err = errors.Join(q.Launch(l), q.Sync(t.Context()))
	checkError(t, "sync", err, offload.DeviceLost, "ILLEGAL_ADDRESS (700)")
	select {
	case <-d.(offload.Losable).Lost():
	default:
		t.Error("the device does not say that it is lost")
	}
	checkError(t, "cause", d.(offload.Losable).LostError(), offload.DeviceLost, "ILLEGAL_ADDRESS (700)")
	_, err = d.Allocate(10, offload.DeviceMemory)
	checkError(t, "allocate", err, offload.DeviceLost, "lost")
	_, err = d.NewQueue(offload.QueueOptions{})
	checkError(t, "new queue", err, offload.DeviceLost, "lost")
	_, err = d.Load(t.Context(), image(t))
	checkError(t, "load", err, offload.DeviceLost, "lost")
	if err = q.Launch(l); err == nil {
		err = q.Sync(t.Context())
	}
	checkError(t, "launch", err, offload.DeviceLost, "lost")
	if err := errors.Join(m.Free(), program.Unload()); err != nil {
		t.Error(err)
	}
	_ = q.Sync(t.Context())
	if err := errors.Join(q.Close(), p.Close()); err != nil {
		t.Error(err)
	}
	if n := s.live(0); n != 0 {
		t.Errorf("%d contexts are retained", n)
	}
}

// TestCalls checks the sequence of driver calls for a launch and copies.
func TestCalls(t *testing.T) {
	s := newStandIn(t)
	d, q := setup(t, s)
	m := allocate(t, d, 64)
	program, err := d.Load(t.Context(), image(t))
	if err != nil {
		t.Fatal(err)
	}
	k, err := program.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	l := &offload.Launch{Kernel: k, Size: [3]int{16, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{16}}}}
	data := make([]byte, 64)
	all := func() error {
		return errors.Join(q.Submit(offload.Span{Memory: m, Size: 64}, data), q.Launch(l), q.Retrieve(data, offload.Span{Memory: m, Size: 64}), q.Sync(t.Context()))
	}
	want := []string{"cuMemcpyHtoDAsync", "cuEventRecord", "cuLaunchKernel", "cuEventRecord", "cuMemcpyDtoHAsync", "cuEventRecord"}
	var got []string
	for range 10 { // first rounds create events and pinned blocks, which are released some time after the sync
		s.calls()
		if err := all(); err != nil {
			t.Fatal(err)
		}
		if got = s.calls(); slices.Equal(got, want) {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, b := range data {
		if want := byte(1); i%4 == 0 && b != want || i%4 != 0 && b != 0 {
			t.Fatalf("% x", data)
		}
	}
	if err := errors.Join(program.Unload(), m.Free()); err != nil {
		t.Error(err)
	}
}

// TestVisibleDevices describes a device with and without CUDA_VISIBLE_DEVICES.
func TestVisibleDevices(t *testing.T) {
	for _, set := range []bool{false, true} {
		t.Run(strconv.FormatBool(set), func(t *testing.T) {
			t.Setenv("CUDA_VISIBLE_DEVICES", "2,GPU-1") // Setenv restores the variable after the test
			if !set {
				if err := os.Unsetenv("CUDA_VISIBLE_DEVICES"); err != nil {
					t.Fatal(err)
				}
			}
			p := newStandIn(t).open(t)
			found := slices.ContainsFunc(p.Devices()[0].(offload.Describer).Describe(), func(p offload.Property) bool {
				return p.Name == "CUDA_VISIBLE_DEVICES" && p.Value == "2,GPU-1"
			})
			if found != set {
				t.Errorf("set: %t, described: %t", set, found)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestParallelLoads loads and unloads programs concurrently, and checks that no module remains.
func TestParallelLoads(t *testing.T) {
	s := newStandIn(t)
	p := s.open(t)
	img := image(t)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for range 200 {
				program, err := p.Devices()[0].Load(t.Context(), img)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = program.Kernel("k")
				if err := errors.Join(err, program.Unload()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	s.checkLive(t)
}

// TestExact checks that a device with wrong sums loses the feature Exact at the first kernel.
func TestExact(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		s := newStandIn(t)
		s.mu.Lock()
		s.wrong32 = wrong
		s.mu.Unlock()
		p := s.open(t)
		d := p.Devices()[0]
		program, err := d.Load(t.Context(), image(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = program.Kernel("k"); err != nil {
			t.Fatal(err)
		}
		engine, err := program.(offload.Lister).Listing("k", "engine")
		if err != nil || strings.Contains(engine, "not exact: x + y in f32") != wrong || d.Info().Features.Exact == wrong {
			t.Errorf("wrong: %t, exact: %t, %q, %v", wrong, d.Info().Features.Exact, engine, err)
		}
		if err := errors.Join(program.Unload(), p.Close()); err != nil {
			t.Error(err)
		}
		s.checkLive(t)
	}
}

// TestReadOnlyLoads copies between separate blocks, parts of one block, and host memory. Only the first case may load by
// ld.global.nc, which the stand-in rejects for memory that the launch writes.
func TestReadOnlyLoads(t *testing.T) {
	s := newStandIn(t)
	d, q := setup(t, s)
	k := &ir.Kernel{Name: "k", Real: ir.F32, Body: &ir.Block{}, Sites: []ir.Site{{}, {Line: 1, Col: 1}}}
	b := ir.Builder{Kernel: k, Block: k.Body, Site: 1}
	for i, name := range []string{"x", "y"} {
		k.Arrays = append(k.Arrays, &ir.Array{Name: name, Space: ir.Global, Elem: ir.Elem{Scalar: ir.I32}, Rank: 1, ID: i})
		k.Params = append(k.Params, ir.Param{Name: name, Array: k.Arrays[i]})
	}
	path := []ir.Step{{Kind: ir.StepIndex}}
	i := b.Emit(&ir.Instr{Op: ir.Item}, ir.I32)
	v := b.Emit(&ir.Instr{Op: ir.Load, Array: k.Arrays[0], Path: path, Args: []*ir.Value{i}}, ir.I32)
	b.Emit(&ir.Instr{Op: ir.Store, Array: k.Arrays[1], Path: path, Args: []*ir.Value{i, v}}, ir.Void)
	b.Emit(&ir.Instr{Op: ir.Return}, ir.Void)
	data, err := irgen.Module(k).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	program, err := d.Load(t.Context(), &offload.Image{Kind: offload.ImageIR, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	copies, err := program.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	one, other := allocate(t, d, 64), allocate(t, d, 64)
	host, err := d.Allocate(64, offload.HostMemory)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y     offload.Memory
		offset   int64
		readOnly int
	}{{one, other, 0, 1}, {one, one, 32, 0}, {one, one, 4, 0}, {host, other, 0, 0}} {
		s.loads(t) // resets the count
		l := &offload.Launch{Kernel: copies, Size: [3]int{8, 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: c.x, Dims: [3]int32{8}}, {Type: offload.I32, Memory: c.y, Offset: c.offset, Dims: [3]int32{8}}}}
		if err := errors.Join(q.Launch(l), q.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
		if got := s.loads(t); got != c.readOnly {
			t.Errorf("%d kernels with ld.global.nc ran, want %d: %+v", got, c.readOnly, c)
		}
	}
	if err := errors.Join(program.Unload(), one.Free(), other.Free(), host.Free()); err != nil {
		t.Error(err)
	}
}

// TestInstance opens an instance of a partitioned GPU and a whole GPU.
func TestInstance(t *testing.T) {
	for _, instance := range []bool{false, true} {
		s := newStandIn(t)
		prefix := "GPU-"
		if instance {
			s.set("instance", 1)
			prefix = "MIG-"
		}
		p := s.open(t)
		d := p.Devices()[0]
		found, mode := false, any(nil)
		for _, property := range d.(offload.Describer).Describe() {
			switch property.Name {
			case "MIG instance":
				found = property.Value == d.Info().UID
			case "module loading":
				mode = property.Value
			}
		}
		if !strings.HasPrefix(d.Info().UID, prefix) || found != instance || mode != "lazy" {
			t.Errorf("%t: %s, %t, %v", instance, d.Info().UID, found, mode)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestGroups checks the group sizes that the plugin chooses for a kernel that cannot observe its groups.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ units, best, size, want int32 }{
		{2, 1024, 4096, 256}, {2, 128, 4096, 128}, {2, 96, 4096, 64}, {2, 32, 4096, 64}, {32, 1024, 4096, 128}, {132, 1024, 4096, 64}, {132, 1024, 100, 64},
	} {
		s := newStandIn(t)
		s.set("units", c.units)
		s.set("best", c.best)
		d, q := setup(t, s)
		m := allocate(t, d, 4*int64(c.size))
		program, err := d.Load(t.Context(), image(t))
		if err != nil {
			t.Fatal(err)
		}
		k, err := program.Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		l := &offload.Launch{Kernel: k, Size: [3]int{int(c.size), 1, 1}, Args: []offload.Arg{{Type: offload.I32, Memory: m, Dims: [3]int32{c.size}}}}
		if err := errors.Join(q.Launch(l), q.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		got := s.group
		s.mu.Unlock()
		if got != [3]uint32{uint32(c.want), 1, 1} {
			t.Errorf("%+v: groups of %v", c, got)
		}
		if err := errors.Join(program.Unload(), m.Free()); err != nil {
			t.Error(err)
		}
	}
}
