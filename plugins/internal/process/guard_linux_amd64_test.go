//go:build !nonative

package process

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/orepl/orepl/tests/allocs"
)

// Machine code of the tests. Each function has its argument in rdi.
const (
	add     = "\x8B\x07\x03\x47\x04\x89\x47\x08\xC3"                                                                                                         // arg[2] = arg[0] + arg[1]
	nop     = "\xC3"                                                                                                                                         // ret
	load    = "\x48\x8B\x04\x25\x10\x00\x00\x00\xC3"                                                                                                         // mov rax, [0x10]
	wild    = "\x48\xB8\x00\x00\x00\x00\x00\x00\x00\x80\x48\x8B\x00\xC3"                                                                                     // a non-canonical address
	divide  = "\x31\xC9\x31\xD2\xB8\x01\x00\x00\x00\xF7\xF1\xC3"                                                                                             // 1 / 0
	illegal = "\x90\x0F\x0B\xC3"                                                                                                                             // ud2
	recurse = "\x55\xE8\xFA\xFF\xFF\xFF\x5D\xC3"                                                                                                             // push rbp; call itself
	clobber = "\xFD\x31\xDB\x31\xED\x45\x31\xE4\x45\x31\xED\x45\x31\xF6\x45\x31\xFF\x0F\x0B"                                                                 // all saved registers, then ud2
	spin    = "\xC7\x47\x04\x01\x00\x00\x00\x8B\x07\x85\xC0\x74\xFA\xC3"                                                                                     // arg[1] = 1, then rounds until arg[0] is not 0
	waits   = "\x49\x89\xF8\x49\x8B\x38\x83\x3F\x00\x75\x10\xB8\xCA\x00\x00\x00\x31\xF6\x31\xD2\x45\x31\xD2\x0F\x05\xEB\xE8\x49\x8B\x40\x08\x48\x8B\x00\xC3" // futex until *arg[0] is not 0, then *arg[1]
	setMode = "\x0F\xAE\x17\xC3"                                                                                                                             // ldmxcsr [arg]
	getMode = "\x0F\xAE\x1F\xC3"                                                                                                                             // stmxcsr [arg]
	readArg = "\x48\x8B\x07\x48\x8B\x00\xC3"                                                                                                                 // **arg
)

func place(t testing.TB, code string) *Code {
	t.Helper()
	c, err := NewCode([]byte(code))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Free(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// newGuard returns a guard that is freed after the test.
func newGuard(t testing.TB) Guard {
	t.Helper()
	g, err := NewGuard()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Free)
	return g
}

// ways are the methods of calling code.
var ways = map[string]func(g Guard, entry uintptr, arg unsafe.Pointer) error{"Call": Guard.Call, "CallHere": Guard.CallHere}

func TestCall(t *testing.T) {
	c := place(t, add)
	arg := [3]int32{40, 2, 0}
	for name, call := range ways {
		arg[2] = 0
		if err := call(newGuard(t), c.Entry(0), unsafe.Pointer(&arg)); err != nil || arg[2] != 42 {
			t.Errorf("%s: %v, %v", name, arg, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, code string
		signal     int
		offset     int
		text       string
		deep       bool // the code needs a system stack
	}{
		{"load", load, sigSEGV, 0, "SIGSEGV (invalid address 0x10)", false},
		{"wild", wild, sigSEGV, 10, "non-canonical", false},
		{"divide", divide, sigFPE, 9, "integer division by zero", false},
		{"illegal", illegal, sigILL, 1, "illegal instruction", false},
		{"clobber", clobber, sigILL, 17, "illegal instruction", false},
		{"recurse", recurse, sigSEGV, -1, "stack overflow", true},
	} {
		code := place(t, c.code)
		for name, call := range ways {
			if c.deep && name != "Call" {
				continue
			}
			g := newGuard(t)
			for range 3 {
				err := call(g, code.Entry(0), nil)
				var f *Fault
				if !errors.As(err, &f) {
					t.Fatalf("%s: %s: %v", name, c.name, err)
				}
				offset, ok := code.Offset(f.PC)
				if f.Signal != c.signal || !ok || c.offset >= 0 && offset != c.offset || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%s: %s: %v (offset %d)", name, c.name, err, offset)
				}
			}
		}
	}
	for name, call := range ways {
		if err := call(newGuard(t), 0, nil); err == nil || !strings.Contains(err.Error(), "pc 0x0") {
			t.Errorf("%s: entry 0: %v", name, err)
		}
	}
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if _, ok := recover().(runtime.Error); !ok {
			t.Error("no runtime panic")
		}
	}()
	f()
}

var (
	nowhere *int
	zero    int
)

func TestGoPanicsStillWork(t *testing.T) {
	code, g := place(t, load), newGuard(t)
	for range 100 {
		if err := g.Call(code.Entry(0), nil); err == nil {
			t.Fatal("no fault")
		}
		if err := g.CallHere(code.Entry(0), nil); err == nil {
			t.Fatal("no fault")
		}
		mustPanic(t, func() { *nowhere = 1 })
		mustPanic(t, func() { zero = 1 / zero })
	}
}

// TestHammer runs faults, calls and panics on many threads during garbage collections.
func TestHammer(t *testing.T) {
	rounds := 5000
	if testing.Short() {
		rounds = 500
	}
	kinds := []*Code{place(t, load), place(t, divide), place(t, illegal), place(t, readArg)}
	sum := place(t, add)
	stop := make(chan struct{})
	var collector, workers sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
		}
	})
	for w := range 8 {
		g := newGuard(t)
		workers.Go(func() {
			for i := range rounds {
				call := g.Call
				if i%5 != 0 {
					call = g.CallHere
				}
				address := uintptr(1<<20 + 8*(w*rounds+i))
				err := call(kinds[3].Entry(0), unsafe.Pointer(&address))
				if f := (*Fault)(nil); !errors.As(err, &f) || f.Address != address {
					t.Errorf("%v, want address %#x", err, address)
					return
				}
				code := kinds[i%3]
				if f := (*Fault)(nil); !errors.As(call(code.Entry(0), nil), &f) || f.Signal != [3]int{sigSEGV, sigFPE, sigILL}[i%3] {
					t.Errorf("kind %d: %v", i%3, f)
					return
				}
				arg := [3]int32{int32(w), int32(i), 0}
				if err := call(sum.Entry(0), unsafe.Pointer(&arg)); err != nil || arg[2] != int32(w+i) {
					t.Errorf("%v, %v", arg, err)
					return
				}
				if i%100 == 0 {
					mustPanic(t, func() { *nowhere = i })
				}
			}
		})
	}
	workers.Wait()
	close(stop)
	collector.Wait()
	for p := table; p != nil; p = p.next {
		for i := range p.entries {
			if p.entries[i].thread != 0 {
				t.Fatalf("entry %d is left taken", i)
			}
		}
	}
}

// TestCollectionDuringCall checks that native code does not delay the collector, and that preemption signals do not disturb
// the code.
func TestCollectionDuringCall(t *testing.T) {
	code, g := place(t, spin), newGuard(t)
	arg := new([2]uint32)
	done := make(chan error, 1)
	go func() { done <- g.Call(code.Entry(0), unsafe.Pointer(arg)) }()
	for atomic.LoadUint32(&arg[1]) == 0 {
		select {
		case err := <-done:
			t.Fatalf("the call ended before its code ran: %v", err)
		default:
			runtime.Gosched()
		}
	}
	for range 20 {
		runtime.GC()
	}
	select {
	case err := <-done:
		t.Errorf("the call ended before it was told to: %v", err)
	default:
		atomic.StoreUint32(&arg[0], 1)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestCallDoesNotAllocate(t *testing.T) {
	code, g := place(t, nop), newGuard(t)
	arg := new(int)
	for name, call := range ways {
		if n := allocs.PerRun(100, func() { _ = call(g, code.Entry(0), unsafe.Pointer(arg)) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestManyCalls runs more concurrent calls than the initial table has entries. Each ends with a fault, which the handler
// must assign to its entry.
func TestManyCalls(t *testing.T) {
	const n = 3 * pageEntries
	guards := make([]Guard, n)
	for i := range guards {
		guards[i] = newGuard(t)
	}
	code := place(t, waits)
	var gate uint32
	var running atomic.Int32
	var calls sync.WaitGroup
	for i, g := range guards {
		calls.Go(func() {
			arg := [2]uintptr{uintptr(unsafe.Pointer(&gate)), uintptr(1<<20 + 8*i)}
			running.Add(1)
			err := g.Call(code.Entry(0), unsafe.Pointer(&arg))
			if f := (*Fault)(nil); !errors.As(err, &f) || f.Address != arg[1] {
				t.Errorf("%v, want address %#x", err, arg[1])
			}
		})
	}
	for running.Load() < n {
		time.Sleep(time.Millisecond)
	}
	atomic.StoreUint32(&gate, 1)
	if _, _, errno := unix.Syscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&gate)), 1, n); errno != 0 {
		t.Error(errno)
	}
	calls.Wait()
}

// TestKeepSignals simulates a library that replaces signal handlers, and checks that faults still become panics and errors.
func TestKeepSignals(t *testing.T) {
	code, g := place(t, load), newGuard(t)
	usr, err := getAction(int(unix.SIGUSR1))
	if err != nil {
		t.Fatal(err)
	}
	defer setAction(int(unix.SIGUSR1), &usr)
	wrong := errors.New("what the library says")
	err = KeepSignals(func() error {
		for _, sig := range []unix.Signal{unix.SIGSEGV, unix.SIGFPE, unix.SIGBUS, unix.SIGILL, unix.SIGTERM, unix.SIGURG} {
			if err := setAction(int(sig), &action{}); err != nil {
				t.Error(err)
			}
		}
		theirs := usr
		theirs.flags &^= saOnStack
		if err := setAction(int(unix.SIGUSR1), &theirs); err != nil {
			t.Error(err)
		}
		for n := 0; ; n++ { // the signal can arrive before the library has begun
			if a, _ := getAction(int(unix.SIGUSR1)); a.flags&saOnStack != 0 {
				break
			}
			if n == 5000 {
				t.Error("the handler runs on the stack of a goroutine while the library begins")
				break
			}
			time.Sleep(time.Millisecond)
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
	if err := g.Call(code.Entry(0), nil); err == nil {
		t.Error("no fault")
	}
	mustPanic(t, func() { *nowhere = 1 })
	if a, _ := getAction(int(unix.SIGUSR1)); a.flags&saOnStack == 0 {
		t.Error("a library's handler may run on the stack of a goroutine")
	}
}

// TestCheckSignals simulates a library that replaces signal handlers outside of KeepSignals.
func TestCheckSignals(t *testing.T) {
	newGuard(t)
	if err := CheckSignals(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sig    unix.Signal
		change func(a *action)
		want   string
	}{
		{unix.SIGSEGV, func(a *action) { a.handler = atStart[unix.SIGUSR1].handler + 1 }, "SIGSEGV: the handler"},
		{unix.SIGTERM, func(a *action) { *a = action{} }, "SIGTERM: the handler at 0x0 is neither"},
		{unix.SIGUSR1, func(a *action) { a.flags &^= saOnStack }, "SIGUSR1: the handler"},
		{unix.SIGURG, func(a *action) { a.flags &^= saOnStack }, "SIGURG: the handler"},
	} {
		before, err := getAction(int(c.sig))
		if err != nil {
			t.Fatal(err)
		}
		theirs := before
		if c.change(&theirs); theirs == before {
			t.Fatalf("%v: the action is the same", c.sig)
		}
		if err := setAction(int(c.sig), &theirs); err != nil {
			t.Fatal(err)
		}
		err = CheckSignals()
		if failed := setAction(int(c.sig), &before); failed != nil {
			t.Fatal(failed)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.sig, err, c.want)
		}
	}
	if err := CheckSignals(); err != nil {
		t.Error(err)
	}
}

func TestKeepSignalsRestoresAfterPanic(t *testing.T) {
	before, err := getAction(sigSEGV)
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = KeepSignals(func() error {
			_ = setAction(sigSEGV, &action{})
			panic("loading failed")
		})
	}()
	if after, _ := getAction(sigSEGV); after != before {
		t.Errorf("%+v, before %+v", after, before)
	}
}

func TestCode(t *testing.T) {
	if _, err := NewCode(nil); err == nil {
		t.Error("no error for no code")
	}
	c, err := NewCode([]byte(nop))
	if err != nil {
		t.Fatal(err)
	}
	entry := c.Entry(0)
	if entry == 0 || entry%64 != 0 || c.Entry(1) != 0 || c.Entry(-1) != 0 {
		t.Errorf("entry %#x", entry)
	}
	if _, ok := c.Offset(entry + 1); ok {
		t.Error("an address after the end is within")
	}
	// Native code does the write, so that the fault becomes an error.
	write := place(t, "\xC6\x07\x00\xC3") // mov byte ptr [rdi], 0
	var f *Fault
	if err := newGuard(t).Call(write.Entry(0), unsafe.Pointer(&c.mapping[0])); !errors.As(err, &f) || f.Address != entry {
		t.Errorf("executable memory can be written: %v", err)
	}
	if err := c.Free(); err != nil {
		t.Error(err)
	}
	if err := c.Free(); err != nil {
		t.Error(err)
	}
	if c.Entry(0) != 0 {
		t.Error("freed code has an entry")
	}
	if err := newGuard(t).Call(entry, nil); err == nil {
		t.Error("freed code runs")
	}
}

func BenchmarkCall(b *testing.B) {
	entry, g := place(b, nop).Entry(0), newGuard(b)
	for name, call := range ways {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_ = call(g, entry, nil)
			}
		})
	}
}

func BenchmarkFault(b *testing.B) {
	entry, g := place(b, load).Entry(0), newGuard(b)
	for b.Loop() {
		_ = g.Call(entry, nil)
	}
}

// TestForeignFaultEnds requires that a fault of a foreign thread in a target region is not reported to later calls.
func TestForeignFaultEnds(t *testing.T) {
	before := atomic.LoadUint32(&foreignCalls)
	t.Cleanup(func() {
		watchingEver.Store(before >= foreignEver)
		atomic.StoreUint32(&foreignCalls, before)
		clearForeign()
	})
	region := WatchForeign()
	atomic.StoreUint32(&foreignTaken, 1)
	atomic.StoreUint32(&foreignDone, 1)
	if err := EnterForeign().Fault(); err == nil {
		t.Error("a call beside the region does not see its fault")
	}
	LeaveForeign()
	if region.Fault() == nil {
		t.Error("the region lost its fault")
	}
	LeaveForeign()
	if err := EnterForeign().Fault(); err != nil {
		t.Errorf("a later call has the fault of the region: %v", err)
	}
	LeaveForeign()
}
