package process

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	// Sets up the runtime for calls into C, also without cgo: thread-local storage, stacks and runtime.cgocall.
	_ "github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"
)

// Supported reports whether [Guard] and [NewCode] work on this platform.
func Supported() bool { return true }

// Guard runs native code. It has the entry in which the handler of a fault finds the call. It serves one call at
// a time, and any number of them one after the other.
type Guard struct{ place *guarded }

// NewGuard makes a guard, for Free to take back.
func NewGuard() (Guard, error) {
	if !installed.Load() {
		if err := install(); err != nil {
			return Guard{}, err
		}
	}
	places.Lock()
	defer places.Unlock()
	if len(places.free) == 0 {
		p := &page{next: table}
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&table)), unsafe.Pointer(p))
		for i := range p.entries {
			places.free = append(places.free, &p.entries[i])
		}
	}
	last := len(places.free) - 1
	g := Guard{places.free[last]}
	places.free = places.free[:last]
	return g, nil
}

// Free returns the guard back. It must not be used any more.
func (g Guard) Free() {
	places.Lock()
	defer places.Unlock()
	places.free = append(places.free, g.place)
}

// Call runs the native code at entry by the C calling convention as void(*)(void *arg), on a stack of the system (a few
// megabytes). The garbage collector and other goroutines continue meanwhile. A fault becomes a [*Fault]. The code finds the
// floating-point unit in its default mode, whatever other libraries set on the thread. It must not call back into Go if
// arg points to memory of Go. Call does not allocate unless there is a fault.
func (g Guard) Call(entry uintptr, arg unsafe.Pointer) error {
	c := call{g.place, entry, arg}
	if cgocall(guardEntry, unsafe.Pointer(&c)) != 0 {
		return g.place.fault()
	}
	return nil
}

// CallHere is Call on the goroutine's own stack, which takes a third of the time. It is for generated code that calls no
// functions, uses less than 256 bytes of the stack, and ends soon: until then the goroutine cannot be preempted, and the
// garbage collector has to wait for it, as for a copy of memory.
//
// A signal of the Go runtime that arrives meanwhile finds a place that is not Go's, and neither preempts nor unwinds it.
func (g Guard) CallHere(entry uintptr, arg unsafe.Pointer) error {
	if runHere(g.place, entry, arg) != 0 {
		return g.place.fault()
	}
	return nil
}

//go:noescape
func runHere(place *guarded, entry uintptr, arg unsafe.Pointer) int32

// call has the arguments of the guard, which reads them once, before the native code runs.
type call struct {
	guard *guarded
	entry uintptr
	arg   unsafe.Pointer
}

//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// guarded is an entry in the table of guarded calls. Its layout is known to guard_linux_amd64.s.
type guarded struct {
	thread  uint64 // the thread's control block while a call runs
	sp      uint64 //lint:ignore U1000 of the guard; the assembly's alone
	signal  uint64
	code    uint64
	address uint64
	pc      uint64
	faultSP uint64

	stop      uint64 // written by Interrupt: stopWithin, stopAnywhere, or 0
	low, high uint64 // the code in which stopWithin ends the call
	_         [6]uint64
}

// How a call is to be ended.
const (
	stopWithin   = 1 // while it is in code of a range
	stopAnywhere = 2

	siQueue = -1
	siTkill = -6
)

// fault returns the fault that the handler recorded.
func (g *guarded) fault() error {
	if g.signal == sigBUS && int32(g.code) == siQueue {
		return ErrInterrupted
	}
	return &Fault{
		Signal:  int(g.signal),
		Code:    int(int32(g.code)),
		Address: uintptr(g.address),
		PC:      uintptr(g.pc),
		SP:      uintptr(g.faultSP),
	}
}

// pageEntries is by how many entries the table grows.
const pageEntries = 64

// page is a part of the table. It stays for as long as the process: the handler may look at it at any time.
type page struct {
	entries [pageEntries]guarded
	next    *page
}

// table is found by the signal handler, which can be given nothing: it has to be global.
var table *page

// places are the entries that no guard has.
var places struct {
	sync.Mutex
	free []*guarded
}

var (
	installing sync.Mutex
	installed  atomic.Bool
	guardEntry uintptr

	// Read by the assembly.
	goHandlers [32]uintptr // by signal, where faults go that are not of guarded code
	hasAVX     bool        //lint:ignore U1000 the assembly's alone
	processID  uint32      //lint:ignore U1000 the assembly's alone
)

// addresses returns the guard's entry for cgocall and the signal handler.
func addresses() (guard, handler uintptr)

// guarding reports whether a handler is the guard's, in front of Go's.
func guarding(sig int, at uintptr) bool {
	_, handler := addresses()
	return sig < len(goHandlers) && at == handler && goHandlers[sig] == atStart[sig].handler
}

// install puts the handler in front of the present ones, which are Go's: libraries that replace them are loaded within
// KeepSignals.
func install() error {
	installing.Lock()
	defer installing.Unlock()
	if installed.Load() {
		return nil
	}
	hasAVX, processID = cpu.X86.HasAVX, uint32(os.Getpid())
	guard, handler := addresses()
	for _, sig := range [...]int{sigILL, sigABRT, sigBUS, sigFPE, sigSEGV} {
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
