package tests

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/memory"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/runtime/trace"
	"github.com/orepl/orepl/tests/allocs"
)

// openCPU returns a session with the CPU device.
func openCPU(t testing.TB) (*session.Session, *session.Device, *session.Queue) {
	t.Helper()
	return openCores(t, 0)
}

// openCores is openCPU with a number of cores; 0 means all.
func openCores(t testing.TB, cores int) (*session.Session, *session.Device, *session.Queue) {
	t.Helper()
	ctx := context.Background()
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{Cores: cores})}})
	t.Cleanup(func() {
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	d, err := s.Device(ctx, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.Queue()
	if err != nil {
		t.Fatal(err)
	}
	return s, d, q
}

func emptyKernel(t testing.TB, ctx context.Context, s *session.Session, d *session.Device) *session.Call {
	t.Helper()
	lib, err := s.RegisterFile(ctx, "", "../runtime/conform/testdata/kernels.irb")
	if err != nil {
		t.Fatal(err)
	}
	k, err := lib.Kernel(ctx, d, "empty")
	if err != nil {
		t.Fatal(err)
	}
	call, err := k.Bind(session.Config{Size: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func TestLaunchFromGoAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	s, d, q := openCPU(t)
	call := emptyKernel(t, ctx, s, d)
	if n := allocs.PerRun(1000, func() {
		_ = q.Launch(call)
		_ = q.Sync(ctx)
	}); n != 0 {
		t.Errorf("launch and sync: %v allocations", n)
	}
}

func BenchmarkLaunchAndSync(b *testing.B) {
	ctx := context.Background()
	s, d, q := openCPU(b)
	call := emptyKernel(b, ctx, s, d)
	b.ReportAllocs()
	for b.Loop() {
		_ = q.Launch(call)
		_ = q.Sync(ctx)
	}
}

// BenchmarkLaunchesPipelined waits once per 1000 launches.
func BenchmarkLaunchesPipelined(b *testing.B) {
	ctx := context.Background()
	s, d, q := openCPU(b)
	call := emptyKernel(b, ctx, s, d)
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		_ = q.Launch(call)
		if i%1000 == 0 {
			_ = q.Sync(ctx)
		}
	}
}

// processorTime returns the processor time of all threads in nanoseconds.
func processorTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkLaunchesTraced measures what a time line in a file adds to launches, of which some take no time and others about 10 µs: the
// time of their issue, and the processor time of all.
func BenchmarkLaunchesTraced(b *testing.B) {
	for _, kernel := range []string{"empty", "sum"} {
		for _, traced := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/traced=%v", kernel, traced), func(b *testing.B) { launchesTraced(b, kernel, traced) })
		}
	}
}

func launchesTraced(b *testing.B, kernel string, traced bool) {
	ctx := context.Background()
	opts := session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}}
	if traced {
		file, err := os.Create(filepath.Join(b.TempDir(), "line.json"))
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		opts.Trace = trace.New(file)
		defer opts.Trace.Close()
	}
	s := session.Open(opts)
	defer s.Close(ctx)
	d, err := s.Device(ctx, "cpu")
	if err != nil {
		b.Fatal(err)
	}
	q, err := d.Queue()
	if err != nil {
		b.Fatal(err)
	}
	call := emptyKernel(b, ctx, s, d)
	if kernel == "sum" {
		call = sumKernel(b, ctx, s, d)
	}
	_ = q.Launch(call) // aligns the clocks
	n, before := 0, processorTime()
	for b.Loop() {
		_ = q.Launch(call)
		if n++; n%100 == 0 {
			_ = q.Sync(ctx)
		}
	}
	_ = q.Sync(ctx)
	b.ReportMetric(float64(processorTime()-before)/float64(n), "cpu-ns/op")
}

// sumKernel returns a launch that adds two arrays in about 10 µs.
func sumKernel(t testing.TB, ctx context.Context, s *session.Session, d *session.Device) *session.Call {
	t.Helper()
	lib, err := s.RegisterFile(ctx, "", "../runtime/conform/testdata/kernels.irb")
	if err != nil {
		t.Fatal(err)
	}
	k, err := lib.Kernel(ctx, d, "sum")
	if err != nil {
		t.Fatal(err)
	}
	const n = 1 << 15
	args := make([]session.Arg, 3)
	for i := range args {
		buf, err := d.NewBuffer(session.BufferOptions{Type: offload.U32, Dims: []int{n}})
		if err != nil {
			t.Fatal(err)
		}
		args[i] = session.Buf(buf)
	}
	call, err := k.Bind(session.Config{Size: []int{n}}, args...)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

// BenchmarkTransfers alternates copies to and from a buffer with Go's copy of the same size, and reports the best of each,
// which is least affected by other load.
func BenchmarkTransfers(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{1 << 20, 256 << 20} {
		b.Run(fmt.Sprintf("%dMiB", n>>20), func(b *testing.B) {
			_, d, q := openCPU(b)
			buf, err := d.NewBuffer(session.BufferOptions{Type: offload.U8, Dims: []int{n}})
			if err != nil {
				b.Fatal(err)
			}
			pool := memory.NewPool(memory.Options{})
			defer pool.Close()
			host, err1 := pool.Get(int64(n), true)
			other, err2 := pool.Get(int64(n), true)
			if err1 != nil || err2 != nil {
				b.Fatal(err1, err2)
			}
			memory.Fill(host.Bytes(), []byte{1})
			memory.Fill(other.Bytes(), []byte{2})
			ways := []struct {
				name  string
				do    func()
				times []float64
			}{
				{name: "copy", do: func() { copy(other.Bytes(), host.Bytes()) }},
				{name: "submit", do: func() { _ = q.Write(buf, 0, host.Bytes()); _ = q.Sync(ctx) }},
				{name: "retrieve", do: func() { _ = q.Read(other.Bytes(), buf, 0); _ = q.Sync(ctx) }},
			}
			for b.Loop() {
				for i := range ways {
					start := time.Now()
					ways[i].do()
					ways[i].times = append(ways[i].times, float64(n)/float64(time.Since(start).Nanoseconds()))
				}
			}
			for _, w := range ways {
				b.ReportMetric(slices.Max(w.times), w.name+"-GB/s")
			}
			_, _ = host.Free(), other.Free()
		})
	}
}
