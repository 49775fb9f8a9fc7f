//go:build !nonative

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/plugins/internal/process"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/stopwatch"
	"github.com/orepl/orepl/tests/clang"
)

const faultySource = `
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
volatile int sink;
int64_t rounds;
void segv(int64_t f, int64_t l) { *(volatile int *)16 = 1; }
void fpe(int64_t f, int64_t l) { volatile int zero = 0; sink = sink / zero; }
void ill(int64_t f, int64_t l) { __builtin_trap(); }
void bus(int64_t f, int64_t l) {
  __asm__ volatile("pushf; orl $0x40000, (%rsp); popf");  // alignment check
  static char bytes[16] __attribute__((aligned(16)));
  *(volatile int *)(bytes + 1) = 1;
}
static int deep(volatile char *above) { volatile char here[4096]; here[0] = above[0]; return deep(here) + here[1]; }
void overflow(int64_t f, int64_t l) { volatile char top[1] = {0}; sink = deep(top); }
void aborts(int64_t f, int64_t l) { abort(); }
void wrong(int64_t f, int64_t l, int64_t *p) { *p = 1; }
void endless(int64_t f, int64_t l) { for (;;) sink++; }
void sleeps(int64_t f, int64_t l) { for (;;) pause(); }
void fine(int64_t f, int64_t l) { rounds++; }
`

// signals are the faults of faultySource's functions, as errors name them.
var signals = map[string]string{"segv": "SIGSEGV (invalid address 0x10)", "fpe": "SIGFPE", "ill": "SIGILL", "bus": "SIGBUS",
	"overflow": "stack overflow", "aborts": "SIGABRT (abort was called)"}

func newCaller(t testing.TB, img *Image) *Caller {
	t.Helper()
	c, err := img.NewCaller()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Free)
	return c
}

func load(t testing.TB, source string, flags ...string) *Image {
	t.Helper()
	img, err := Load(t.Context(), t.Name(), clang.SharedObject(t, source, flags...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := img.Close(); err != nil {
			t.Error(err)
		}
	})
	return img
}

func layout(t testing.TB, params ...offload.Param) *Layout {
	t.Helper()
	l, err := NewLayout(&offload.Signature{Convention: offload.PerRange, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFaults checks that each kind of fault becomes an error that names it, and that the image still works afterwards.
func TestFaults(t *testing.T) {
	img := load(t, faultySource)
	c := newCaller(t, img)
	var stop atomic.Bool
	var w Words
	w.Set(layout(t), nil)
	for range 3 {
		for name, want := range signals {
			_, fn, _ := img.Lookup(name)
			err := c.Range(fn, &w, 0, 1, &stop)
			var f *process.Fault
			if !errors.As(err, &f) || !strings.Contains(err.Error(), want) {
				t.Fatalf("%s: %v, want %s", name, err, want)
			}
			if _, within := img.Offset(f.PC); !within && name != "aborts" {
				t.Errorf("%s: pc %#x is not in the image", name, f.PC)
			}
		}
		_, fn, _ := img.Lookup("fine")
		if err := c.Range(fn, &w, 0, 1, &stop); err != nil {
			t.Fatal(err)
		}
	}
	w.Set(layout(t, offload.Param{Type: offload.I64}), []Value{{Bits: 24}})
	_, fn, _ := img.Lookup("wrong")
	if err := c.Range(fn, &w, 0, 1, &stop); err == nil || !strings.Contains(err.Error(), "0x18") {
		t.Errorf("a wrong signature: %v", err)
	}
}

// TestStop stops endless calls in the image's code and in a system call, and calls again.
func TestStop(t *testing.T) {
	img := load(t, faultySource)
	c := newCaller(t, img)
	var w Words
	w.Set(layout(t), nil)
	for range 5 {
		for _, name := range []string{"endless", "sleeps"} {
			var stop atomic.Bool
			timer := time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
			begin := stopwatch.Start()
			_, fn, _ := img.Lookup(name)
			err := c.Range(fn, &w, 0, 1, &stop)
			timer.Stop()
			if !errors.Is(err, process.ErrInterrupted) {
				t.Fatalf("%s: %v", name, err)
			}
			if d := begin.Elapsed(); d > 5*time.Second {
				t.Errorf("%s ended after %v", name, d)
			}
		}
		var stop atomic.Bool
		_, fn, _ := img.Lookup("fine")
		for range 1000 {
			if err := c.Range(fn, &w, 0, 1, &stop); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestStopMissesNobody stops calls at the moment at which they end, and checks that no later call is interrupted instead.
func TestStopMissesNobody(t *testing.T) {
	img := load(t, `
#include <stdint.h>
volatile int sink;
void busy(int64_t f, int64_t l) { for (int i = 0; i < l; i++) sink++; }`)
	c := newCaller(t, img)
	var w Words
	w.Set(layout(t), nil)
	_, fn, _ := img.Lookup("busy")
	interrupted := 0
	for i := range 100 {
		var stop atomic.Bool
		timer := time.AfterFunc(time.Duration(i%20)*time.Millisecond, func() { stop.Store(true) })
		switch err := c.Range(fn, &w, 0, 1<<25, &stop); {
		case err == nil:
		case errors.Is(err, process.ErrInterrupted) && stop.Load():
			interrupted++
		default:
			t.Fatal(err)
		}
		timer.Stop()
		var calm atomic.Bool
		if err := c.Range(fn, &w, 0, 1<<10, &calm); err != nil {
			t.Fatalf("a call that nobody stops: %v", err)
		}
	}
	t.Log(interrupted, "of 100 were interrupted")
}

// TestConstructors checks the order of constructors, a fault in one, and the cancellation of an endless one.
func TestConstructors(t *testing.T) {
	t.Setenv("CONSTRUCTORS", "") // not in the environment of the process's start
	img := load(t, `
#include <elf.h>
#include <stdint.h>
#include <string.h>
int order[4], n;
// find looks for the page size in the auxiliary vector, which follows the environment.
static int find(char **envp) {
  while (*envp) envp++;
  for (Elf64_auxv_t *a = (Elf64_auxv_t *)(envp + 1); a->a_type != AT_NULL; a++) if (a->a_type == AT_PAGESZ) return a->a_un.a_val == 4096;
  return 0;
}
__attribute__((constructor(201))) static void a(int argc, char **argv, char **envp) { order[n++] = argc == ARGC && argv[0] && argv[0][0] && !argv[argc] && envp == argv + argc + 1 && find(envp) ? 1 : -1; }
__attribute__((constructor(202))) static void b(void) { order[n++] = 2; }
__attribute__((constructor)) static void c(void) { order[n++] = 3; }
`, fmt.Sprintf("-DARGC=%d", len(os.Args)))
	s, _, _ := img.Lookup("order")
	if got := img.Memory(s); got[0] != 1 || got[4] != 2 || got[8] != 3 {
		t.Errorf("constructors ran in order %v", got)
	}
	data := clang.SharedObject(t, `
int x;
__attribute__((constructor)) static void c(void) { *(volatile int *)8 = 1; }`)
	for range 20 {
		_, err := Load(t.Context(), "faulty", data)
		if err == nil || !strings.Contains(err.Error(), "constructor") || !strings.Contains(err.Error(), "SIGSEGV") {
			t.Fatalf("a constructor that faults: %v", err)
		}
	}
	data = clang.SharedObject(t, `
volatile int x;
__attribute__((constructor)) static void c(void) { for (;;) x++; }`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Load(ctx, "endless", data); offload.CodeOf(err) != offload.Cancelled {
		t.Fatalf("an endless constructor: %v", err)
	}
}

// TestDestructorFault checks that a faulting destructor is reported and the image is unloaded.
func TestDestructorFault(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	img, err := Load(t.Context(), "destructor", clang.SharedObject(t, fmt.Sprintf(`
#include <fcntl.h>
int x;
__attribute__((destructor(300))) static void first(void) { *(volatile int *)8 = 1; }
__attribute__((destructor(200))) static void second(void) { creat(%q, 0600); }`, mark)))
	if err != nil {
		t.Fatal(err)
	}
	if err := img.Close(); err == nil || !strings.Contains(err.Error(), "destructor") || !strings.Contains(err.Error(), "SIGSEGV") {
		t.Errorf("%v", err)
	}
	if img.handle != 0 || img.file != -1 {
		t.Errorf("handle %#x, file %d", img.handle, img.file)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("the destructor after the one that faulted did not run: %v", err)
	}
}

// anonymousMemory returns memory off the Go heap.
func anonymousMemory(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func address(data []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(data)))) }

// TestRegionsTakeTurns stops a target region that waits for an endless one.
func TestRegionsTakeTurns(t *testing.T) {
	img := load(t, faultySource)
	c := newCaller(t, img)
	region.Lock() // like a running region
	defer region.Unlock()
	var stop atomic.Bool
	time.AfterFunc(20*time.Millisecond, func() { stop.Store(true) })
	_, fn, _ := img.Lookup("fine")
	var w Words
	if err := c.Region(fn, &w, League{Threads: 1}, &stop); !errors.Is(err, process.ErrInterrupted) {
		t.Errorf("%v", err)
	}
}
