package tests

import (
	"context"
	"math"
	"testing"
	"time"
	"unsafe"

	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/tests/clang"
)

const nativeBenchSource = `
#include <stdint.h>
#include <time.h>
void empty(int64_t first, int64_t last) {}
void saxpy(int64_t first, int64_t last, float a, const float *x, float *y) {
  for (int64_t i = first; i < last; i++) y[i] = a * x[i] + y[i];
}
// peer measures the best of the runs of a loop over saxpy, called from C, in nanoseconds.
void peer(int64_t first, int64_t last, float a, const float *x, float *y, int64_t n, int64_t runs, double *best) {
  void (*volatile f)(int64_t, int64_t, float, const float *, float *) = saxpy;
  for (int64_t i = 0; i < runs; i++) {
    struct timespec b, e;
    clock_gettime(CLOCK_MONOTONIC, &b);
    f(0, n, a, x, y);
    clock_gettime(CLOCK_MONOTONIC, &e);
    double t = (e.tv_sec - b.tv_sec) * 1e9 + (e.tv_nsec - b.tv_nsec);
    if (t < *best) *best = t;
  }
}
`

func nativeCall(b *testing.B, lib *session.Library, d *session.Device, name string, size int, params []offload.Param, args ...session.Arg) *session.Call {
	b.Helper()
	k, err := lib.KernelAs(context.Background(), d, name, &offload.Signature{Convention: offload.PerRange, Params: params})
	if err != nil {
		b.Fatal(err)
	}
	call, err := k.Bind(session.Config{Size: []int{size}}, args...)
	if err != nil {
		b.Fatal(err)
	}
	return call
}

// BenchmarkNativeLaunch alternates launches of an empty native kernel and an empty compiled one, each with a wait. It
// reports the best batch of each, which is least affected by other load.
func BenchmarkNativeLaunch(b *testing.B) {
	ctx := context.Background()
	s, d, q := openCPU(b)
	lib, err := s.Register(ctx, "bench", clang.SharedObject(b, nativeBenchSource, "-O3", "-march=native"))
	if err != nil {
		b.Fatal(err)
	}
	calls := []*session.Call{emptyKernel(b, ctx, s, d), nativeCall(b, lib, d, "empty", 1, nil)}
	best := []float64{math.Inf(1), math.Inf(1)}
	const batch = 500
	for b.Loop() {
		for i, call := range calls {
			start := time.Now()
			for range batch {
				_ = q.Launch(call)
				_ = q.Sync(ctx)
			}
			best[i] = min(best[i], float64(time.Since(start))/batch)
		}
	}
	b.ReportMetric(best[0], "compiled-ns")
	b.ReportMetric(best[1], "native-ns")
	b.ReportMetric(best[1]-best[0], "difference-ns")
}

// BenchmarkNativeSaxpy alternates launches of a native saxpy on a one-core device with calls of the same function from C,
// and reports the best of each.
func BenchmarkNativeSaxpy(b *testing.B) {
	ctx := context.Background()
	s, d, q := openCores(b, 1)
	lib, err := s.Register(ctx, "bench", clang.SharedObject(b, nativeBenchSource, "-O3", "-march=native"))
	if err != nil {
		b.Fatal(err)
	}
	const n = 1 << 20
	buffer := func(n int, t offload.Type) *session.Buffer {
		x, err := d.NewBuffer(session.BufferOptions{Type: t, Dims: []int{n}})
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	x, y, result := buffer(n, offload.F32), buffer(n, offload.F32), buffer(1, offload.F64)
	anyBuffer := offload.Param{Buffer: true, Reads: true, Writes: true, Elem: 1}
	f32, i64 := offload.Param{Type: offload.F32}, offload.Param{Type: offload.I64}
	ours := nativeCall(b, lib, d, "saxpy", n, []offload.Param{f32, anyBuffer, anyBuffer}, session.F32(2), session.Buf(x), session.Buf(y))
	theirs := nativeCall(b, lib, d, "peer", 1, []offload.Param{f32, anyBuffer, anyBuffer, i64, i64, anyBuffer},
		session.F32(2), session.Buf(x), session.Buf(y), session.I64(n), session.I64(20), session.Buf(result))
	infinite := math.Inf(1)
	if err := q.Write(result, 0, unsafe.Slice((*byte)(unsafe.Pointer(&infinite)), 8)); err != nil {
		b.Fatal(err)
	}
	best := math.Inf(1)
	for b.Loop() {
		for range 20 {
			start := time.Now()
			_ = q.Launch(ours)
			_ = q.Sync(ctx)
			best = min(best, float64(time.Since(start)))
		}
		_ = q.Launch(theirs)
		_ = q.Sync(ctx)
	}
	var peer float64
	if err := q.Read(unsafe.Slice((*byte)(unsafe.Pointer(&peer)), 8), result, 0); err != nil {
		b.Fatal(err)
	}
	if err := q.Sync(ctx); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(best, "launch-ns")
	b.ReportMetric(peer, "c-ns")
	b.ReportMetric(peer/best, "c/launch")
}
