package cpu_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/session"
	"github.com/orepl/orepl/tests/clang"
)

const nativeSource = `
#include <stdint.h>
#include <stdlib.h>
int64_t total;
static __thread int64_t local = 3;
int64_t *where(void) { return &local; }
void add(int64_t first, int64_t last, int64_t *x, int64_t k) { for (int64_t i = first; i < last; i++) x[i] += k + local; }
void empty(int64_t first, int64_t last) {}
void segv(int64_t first, int64_t last) { *(volatile int *)16 = 1; }
void fpe(int64_t first, int64_t last) { volatile int zero = 0; total = total / zero; }
void ill(int64_t first, int64_t last) { __builtin_trap(); }
void bus(int64_t first, int64_t last) {
  static char bytes[16] __attribute__((aligned(16)));
  __asm__ volatile("pushf; orl $0x40000, (%rsp); popf");  // alignment check
  *(volatile int *)(bytes + 1) = 1;
}
static int deep(volatile char *above) { volatile char here[4096]; here[0] = above[0]; return deep(here) + here[1]; }
void overflow(int64_t first, int64_t last) { volatile char top[1] = {0}; total = deep(top); }
void wrong(int64_t first, int64_t last, double a, int64_t *x) { *x = a; }
void slow(int64_t first, int64_t last, int64_t *x) { for (volatile int i = 0; i < 100000000; i++) {} *x = 1; }
void once(int32_t a, double b, int64_t *x, int32_t c, int32_t d, int32_t e, int32_t f, int32_t g, float h) { *x += a + b + c + d + e + f + g + h; }
void late(int64_t *x) { for (volatile int i = 0; i < 100000000; i++) {} *x = 1; }
void never(void) { for (volatile int i = 0;; i++) {} }
void endless(int64_t first, int64_t last) { for (volatile int i = 0;; i++) {} }
`

// long reports whether the test command runs with --long.
func long() bool { return os.Getenv("OREPL_TEST_LONG") == "1" }

func openNative(t testing.TB) (*session.Session, *session.Device) {
	t.Helper()
	s := session.Open(session.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	d, err := s.Device(context.Background(), "cpu")
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

func ranged(params ...offload.Param) *offload.Signature {
	return &offload.Signature{Convention: offload.PerRange, Params: params}
}

var anyBuffer = offload.Param{Buffer: true, Reads: true, Writes: true, Elem: 1}

// held counts the system resources of the process.
type held struct{ mappings, descriptors, kilobytes int }

func holds(t testing.TB) (h held) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	h.mappings = strings.Count(string(maps), "orepl-image")
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	h.descriptors = len(files)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		_, _ = fmt.Sscanf(line, "RssAnon: %d", &h.kilobytes) // other lines do not match
	}
	return h
}

// cycle registers the image, launches a kernel of it, checks the result and unregisters the image.
func cycle(ctx context.Context, s *session.Session, d *session.Device, q *session.Queue, data []byte, k int64) error {
	lib, err := s.Register(ctx, "cycle", data)
	if err != nil {
		return err
	}
	kernel, err := lib.KernelAs(ctx, d, "add", ranged(anyBuffer, offload.Param{Type: offload.I64}))
	if err != nil {
		return err
	}
	const n = 100
	b, err := d.NewBuffer(session.BufferOptions{Type: offload.I64, Dims: []int{n}})
	if err != nil {
		return err
	}
	defer b.Free()
	call, err := kernel.Bind(session.Config{Size: []int{n}}, session.Buf(b), session.I64(k))
	if err != nil {
		return err
	}
	if err := q.Launch(call); err != nil {
		return err
	}
	got := make([]byte, 8*n)
	if err := q.Read(got, b, 0); err != nil {
		return err
	}
	if err := q.Sync(ctx); err != nil {
		return err
	}
	for i := range n {
		if v := int64(binary.LittleEndian.Uint64(got[8*i:])); v != k+3 {
			return fmt.Errorf("element %d is %d, want %d", i, v, k+3)
		}
	}
	return lib.Unregister(ctx)
}

// TestNativeCycles registers, launches and unregisters an image with thread-local storage repeatedly on several goroutines,
// and checks that nothing leaks.
func TestNativeCycles(t *testing.T) {
	data := clang.SharedObject(t, nativeSource)
	s, d := openNative(t)
	cycles := 10
	if long() {
		cycles = 2000
	}
	run := func(cycles int) {
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				q, err := d.NewQueue(session.QueueOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				defer q.Close(context.Background())
				for i := range cycles {
					if err := cycle(t.Context(), s, d, q, data, int64(1000*g+i)); err != nil {
						t.Errorf("goroutine %d, cycle %d: %v", g, i, err)
						return
					}
				}
			})
		}
		all.Wait()
	}
	run(cycles / 2) // lets pools and stacks grow
	before := holds(t)
	run(cycles / 2)
	after := holds(t)
	t.Logf("before %+v, after %+v", before, after)
	const noise = 8 << 10 // kilobytes, including the race detector's; a leaked image takes 16
	if after.mappings != 0 || after.descriptors > before.descriptors || after.kilobytes > before.kilobytes+noise {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// stacks bounds, in KiB, the stacks of threads on which kernels ended: a queue has few threads with 8 MiB each.
const stacks = 32 << 10

// TestNativeFaults launches kernels that fault in six ways. Each must return an error, and nothing may leak.
func TestNativeFaults(t *testing.T) {
	data := clang.SharedObject(t, nativeSource)
	s, d := openNative(t)
	lib, err := s.Register(t.Context(), "faulty", data)
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(session.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close(context.Background())
	launch := func(name string, cfg session.Config, sig *offload.Signature, args ...session.Arg) error {
		k, err := lib.KernelAs(t.Context(), d, name, sig)
		if err != nil {
			return err
		}
		call, err := k.Bind(cfg, args...)
		if err != nil {
			return err
		}
		if err := q.Launch(call); err != nil {
			return err
		}
		return q.Sync(t.Context())
	}
	config := session.Config{Size: []int{100}}
	kinds := []struct {
		name, want string
		sig        *offload.Signature
		args       []session.Arg
	}{
		{"segv", "SIGSEGV (invalid address 0x10)", ranged(), nil},
		{"fpe", "SIGFPE (integer division by zero", ranged(), nil},
		{"ill", "SIGILL", ranged(), nil},
		{"bus", "SIGBUS", ranged(), nil},
		{"overflow", "stack overflow", ranged(), nil},
		{"wrong", "SIGSEGV", ranged(offload.Param{Type: offload.I64}, offload.Param{Type: offload.F64}), []session.Arg{session.I64(7), session.F64(1)}},
	}
	run := func(faults int) {
		for i := range faults {
			k := &kinds[i%len(kinds)]
			err := launch(k.name, config, k.sig, k.args...)
			var e *offload.Error
			if !errors.As(err, &e) || e.Code != offload.BackendFailure || !strings.Contains(e.Detail, k.want) || e.Hint == "" {
				t.Fatalf("%s: %v, want %s", k.name, err, k.want)
			}
			if err := launch("empty", config, ranged()); err != nil {
				t.Fatalf("after %s: %v", k.name, err)
			}
		}
	}
	faults := 60
	if long() {
		faults = 500
	}
	run(12)
	before := holds(t)
	run(faults)
	after := holds(t)
	t.Logf("before %+v, after %+v", before, after)
	if after.mappings > before.mappings || after.descriptors > before.descriptors || after.kilobytes > before.kilobytes+stacks {
		t.Errorf("before %+v, after %+v", before, after)
	}
	for range 3 {
		config := session.Config{Size: []int{100}, Timeout: 30 * time.Millisecond}
		if err := launch("endless", config, ranged()); offload.CodeOf(err) != offload.Timeout {
			t.Errorf("an endless kernel: %v", err)
		}
	}
	k, err := lib.KernelAs(t.Context(), d, "endless", ranged())
	if err != nil {
		t.Fatal(err)
	}
	call, err := k.Bind(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Launch(call); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := q.Sync(ctx); offload.CodeOf(err) != offload.Cancelled {
		t.Errorf("a cancelled kernel: %v", err)
	}
	if err := launch("empty", config, ranged()); err != nil {
		t.Error(err)
	}
	if err := lib.Unregister(t.Context()); err != nil {
		t.Error(err)
	}
	if after := holds(t); after.mappings != 0 {
		t.Errorf("%d mappings of the image stay", after.mappings)
	}
}

// TestNativeRanges checks that every item is in exactly one range, and that group sizes bound ranges.
func TestNativeRanges(t *testing.T) {
	s, d := openNative(t)
	lib, err := s.Register(t.Context(), "ranges", clang.SharedObject(t, `
#include <stdint.h>
void mark(int64_t first, int64_t last, int32_t *x, int64_t group) {
  for (int64_t i = first; i < last; i++) __atomic_fetch_add(&x[i], 1, 0);
  if (group && (first % group || last - first > group)) __atomic_fetch_add(&x[first], 1000, 0);
}`))
	if err != nil {
		t.Fatal(err)
	}
	k, err := lib.KernelAs(t.Context(), d, "mark", ranged(anyBuffer, offload.Param{Type: offload.I64}))
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(session.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close(context.Background())
	for _, n := range []int{1, 63, 64, 65, 1000, 100_003} {
		for _, group := range []int{0, 1, 7, 64, 1000} {
			b, err := d.NewBuffer(session.BufferOptions{Type: offload.I32, Dims: []int{n}})
			if err != nil {
				t.Fatal(err)
			}
			cfg := session.Config{Size: []int{n}}
			if group > 0 {
				cfg.GroupSize = []int{group}
			}
			call, err := k.Bind(cfg, session.Buf(b), session.I64(int64(group)))
			if err != nil {
				t.Fatal(err)
			}
			const launches = 3
			for range launches {
				if err := q.Launch(call); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]byte, 4*n)
			if err := errors.Join(q.Read(got, b, 0), q.Sync(t.Context())); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if v := binary.LittleEndian.Uint32(got[4*i:]); v != launches {
					t.Fatalf("size %d, group %d: item %d ran %d times in %d launches", n, group, i, v, launches)
				}
			}
			_ = b.Free()
		}
	}
}

// TestNativeTarget checks that images for other machines and ISA levels are rejected with the reason.
func TestNativeTarget(t *testing.T) {
	p, err := cpu.New(cpu.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	d := p.Devices()[0]
	for _, c := range []struct{ target, arch, want string }{
		{"x86_64-pc-linux-gnu", "", ""},
		{"x86_64", "x86-64-v2", ""},
		{"x86_64", "znver5", ""},
		{"x86_64", "x86-64-v9", "the image is for x86-64-v9"},
		{"aarch64-linux-gnu", "", "the image is for aarch64-linux-gnu"},
	} {
		fit, err := d.CheckImage(&offload.Image{Kind: offload.ImageELF, Target: c.target, Arch: c.arch})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && fit <= 1 {
			t.Errorf("%s %s: %d, %v; want %q", c.target, c.arch, fit, err, c.want)
		}
	}
}

// TestNativeUnregisterWaits unregisters a library while its kernel runs, and checks that the kernel ends before the image is
// unmapped.
func TestNativeUnregisterWaits(t *testing.T) {
	s, d := openNative(t)
	lib, err := s.Register(t.Context(), "slow", clang.SharedObject(t, nativeSource))
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(session.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close(context.Background())
	k, err := lib.KernelAs(t.Context(), d, "slow", ranged(anyBuffer))
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.NewBuffer(session.BufferOptions{Type: offload.I64, Dims: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	call, err := k.Bind(session.Config{Size: []int{1}}, session.Buf(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Launch(call); err != nil {
		t.Fatal(err)
	}
	if err := lib.Unregister(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := holds(t); h.mappings != 0 {
		t.Errorf("%d mappings of the image stay", h.mappings)
	}
	got := make([]byte, 8)
	if err := errors.Join(q.Read(got, b, 0), q.Sync(t.Context())); err != nil || got[0] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if err := q.Launch(call); offload.CodeOf(err) != offload.Closed {
		t.Errorf("a launch after the end: %v", err)
	}
}

// TestNativeCalls checks that a function of the convention PerLaunch is called once, and returns before a limit of time ends it.
func TestNativeCalls(t *testing.T) {
	s, d := openNative(t)
	lib, err := s.Register(t.Context(), "calls", clang.SharedObject(t, nativeSource))
	if err != nil {
		t.Fatal(err)
	}
	q, err := d.NewQueue(session.QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.NewBuffer(session.BufferOptions{Type: offload.I64, Elem: 8, Dims: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	launch := func(name string, cfg session.Config, params []offload.Param, args ...session.Arg) error {
		k, err := lib.KernelAs(t.Context(), d, name, &offload.Signature{Convention: offload.PerLaunch, Params: params})
		if err != nil {
			t.Fatal(err)
		}
		call, err := k.Bind(cfg, args...)
		if err == nil {
			err = q.Launch(call)
		}
		if err == nil {
			err = q.Sync(t.Context())
		}
		return err
	}
	value := func() int64 {
		data := make([]byte, 8)
		if err := q.Read(data, b, 0); err != nil {
			t.Fatal(err)
		}
		if err := q.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		return int64(binary.LittleEndian.Uint64(data))
	}
	n := offload.Param{Type: offload.I32}
	params := []offload.Param{n, {Type: offload.F64}, anyBuffer, n, n, n, n, n, {Type: offload.F32}}
	i := func(n int) session.Arg { return session.Bits(offload.I32, uint64(uint32(int32(n)))) }
	args := []session.Arg{i(-1), session.F64(20), session.Buf(b), i(300), i(4000), i(50000), i(600000), i(-7000000), session.Bits(offload.F32, 0x41000000)}
	if err := launch("once", session.Config{Size: []int{1}}, params, args...); err != nil || value() != -1+20+300+4000+50000+600000-7000000+8 {
		t.Errorf("%v; the sum is %d", err, value())
	}
	if err := launch("once", session.Config{Size: []int{2}}, params, args...); offload.CodeOf(err) != offload.InvalidSize {
		t.Errorf("a launch of two items: %v", err)
	}
	limit := session.Config{Size: []int{1}, Timeout: 10 * time.Millisecond}
	if err := launch("late", limit, []offload.Param{anyBuffer}, session.Buf(b)); offload.CodeOf(err) != offload.Timeout || value() != 1 {
		t.Errorf("a function that returns after its limit: %v, stored %d", err, value())
	}
	if err := launch("never", limit, nil); offload.CodeOf(err) != offload.Timeout {
		t.Errorf("a function that does not return: %v", err)
	}
}
