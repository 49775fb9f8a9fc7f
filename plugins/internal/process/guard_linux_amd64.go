package process

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	// Sets up the runtime for calls into C, also without cgo: thread-local storage, stacks and runtime.cgocall.
	_ "github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"
)

// Supported reports whether [Call] and [NewCode] work on this platform.
func Supported() bool { return true }

// Call runs the native code at entry by the C calling convention as void(*)(void *arg), on a stack of the system (a few
// megabytes), while the garbage collector and other goroutines go on. A fault becomes a [*Fault]. The code must not
// call back into Go if arg points to memory of Go. Call does not allocate unless there is a fault.
func Call(entry uintptr, arg unsafe.Pointer) error {
	if !installed.Load() {
		if err := install(); err != nil {
			return err
		}
	}
	c := call{entry, arg}
	if r := cgocall(guardEntry, unsafe.Pointer(&c)); r != 0 {
		return takeFault(r)
	}
	return nil
}

// call is what the guard needs; it reads it once, before the native code runs.
type call struct {
	entry uintptr
	arg   unsafe.Pointer
}

//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// guarded is an entry in the table of guarded calls. Its layout is known to guard_linux_amd64.s.
type guarded struct {
	thread  uint64 // the thread's control block; 0 if free, reporting if a fault is to be taken
	sp      uint64 //lint:ignore U1000 of the guard; the assembly's alone
	signal  uint64
	code    uint64
	address uint64
	pc      uint64
	faultSP uint64
	_       uint64
}

// calls is found by the signal handler, which can be given nothing: it has to be global.
var calls [maxCalls]guarded

// takeFault gives the fault that the guard left in entry r-1, and frees the entry.
func takeFault(r int32) error {
	if r < 0 {
		return ErrTooManyCalls
	}
	g := &calls[r-1]
	f := &Fault{
		Signal:  int(g.signal),
		Code:    int(int32(g.code)),
		Address: uintptr(g.address),
		PC:      uintptr(g.pc),
		SP:      uintptr(g.faultSP),
	}
	atomic.StoreUint64(&g.thread, 0)
	return f
}

var (
	installing sync.Mutex
	installed  atomic.Bool
	guardEntry uintptr

	// Read by the assembly.
	goHandlers [32]uintptr // by signal, where faults go that are not of guarded code
	hasAVX     bool        //lint:ignore U1000 the assembly's alone
)

// addresses gives the guard's entry for cgocall and the signal handler.
func addresses() (guard, handler uintptr)

// install puts the handler in front of the present ones, which are Go's: libraries that replace them are loaded within
// KeepSignals.
func install() error {
	installing.Lock()
	defer installing.Unlock()
	if installed.Load() {
		return nil
	}
	hasAVX = cpu.X86.HasAVX
	guard, handler := addresses()
	for _, sig := range [...]int{sigILL, sigBUS, sigFPE, sigSEGV} {
		action, err := getAction(sig)
		if err != nil {
			return fmt.Errorf("native code: reading the action of signal %d: %w", sig, err)
		}
		if action.handler <= 1 || action.flags&saSigInfo == 0 {
			return fmt.Errorf("native code: signal %d is not handled by Go: a library was loaded outside KeepSignals", sig)
		}
		goHandlers[sig] = action.handler
		action.handler = handler
		action.flags |= saOnStack
		if err := setAction(sig, &action); err != nil {
			return fmt.Errorf("native code: setting the action of signal %d: %w", sig, err)
		}
	}
	guardEntry = guard
	installed.Store(true)
	return nil
}
