//go:build !nonative

package process

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	// Initializes the runtime for calls of C without cgo: thread-local storage, stacks and runtime.cgocall.
	_ "github.com/ebitengine/purego"
	"golang.org/x/sys/cpu"
)

// Supported reports whether [Guard] and [NewCode] work in this build.
func Supported() bool { return true }

// Guard runs native code, one call at a time. It owns the table entry by which the fault handler finds the call.
type Guard struct{ place *guarded }

// NewGuard returns a new guard, which Free releases. It installs the handlers of faults unless an earlier call or [KeepSignals] has. It
// returns an error that names a signal if a library has replaced Go's handler, or if the signal is ignored.
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

// Free releases the guard, which must not be used any more.
func (g Guard) Free() {
	places.Lock()
	defer places.Unlock()
	places.free = append(places.free, g.place)
}

// Call runs the native code at entry as void(*)(void *arg) by the C calling convention, on a system stack of a few
// megabytes. The garbage collector and other goroutines continue meanwhile. It returns a fault as a [*Fault]. The code
// starts with the default mode of the floating-point unit, even if other libraries changed it on the thread. It must not
// call back into Go if arg points to Go memory. Call allocates only after a fault.
func (g Guard) Call(entry uintptr, arg unsafe.Pointer) error { return g.call(entry, arg, 0) }

// CallSuspect calls code like Call, and restores the thread's signal mask and signal stack. The code may change them by
// system calls of its own.
func (g Guard) CallSuspect(entry uintptr, arg unsafe.Pointer) error {
	return g.call(entry, arg, changesMask|changesStack)
}

func (g Guard) call(entry uintptr, arg unsafe.Pointer, changes uint64) error {
	c := call{g.place, entry, arg, changes}
	if cgocall(guardEntry, unsafe.Pointer(&c)) != 0 {
		return g.place.fault()
	}
	return nil
}

// CallHere is Call on the goroutine's stack, in a third of the time. It is for generated code that calls no functions, uses
// less than 256 bytes of stack, and ends soon: until then the goroutine cannot be preempted, which delays the garbage
// collector.
//
// A signal of the Go runtime that arrives meanwhile has a PC outside of Go, and neither preempts nor unwinds the code.
func (g Guard) CallHere(entry uintptr, arg unsafe.Pointer) error {
	if runHere(g.place, entry, arg) != 0 {
		return g.place.fault()
	}
	return nil
}

//go:noescape
func runHere(place *guarded, entry uintptr, arg unsafe.Pointer) int32

// call has the arguments of the guard's assembly, which reads them before the native code runs.
type call struct {
	guard   *guarded
	entry   uintptr
	arg     unsafe.Pointer
	changes uint64 // state of the thread that the code may change
}

//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// guarded is an entry in the table of guarded calls. guard_linux_amd64.s depends on its layout.
type guarded struct {
	thread  uint64 // the thread's control block during a call
	sp      uint64 //lint:ignore U1000 of the guard; the assembly's alone
	signal  uint64
	code    uint64
	address uint64
	pc      uint64
	faultSP uint64

	stop      uint64 // request of Interrupt: stopWithin or stopAnywhere; 0 for none
	low, high uint64 // address range in which stopWithin ends the call

	id      uint64    // system's number of the thread; 0 if unknown
	changed uint64    // state of the thread to restore after the call
	stack   [3]uint64 // the thread's signal stack before the call
	_       uint64
}

// Bits of guarded.changed.
const (
	changesMask  = 1 // the signal mask, or a fork
	changesStack = 2 // the signal stack
)

// Values of guarded.stop, and of si_code for signals that a process sends.
const (
	stopWithin   = 1 // end the call when it is in the address range
	stopAnywhere = 2

	siUser  = 0
	siQueue = -1
	siTkill = -6
)

// fault returns the fault that the handler recorded, or [ErrInterrupted] if the request of [Guard.Interrupt] ended the call.
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

// pageEntries is the number of entries by which the table grows.
const pageEntries = 64

// page is a part of the table. It is never freed, since the handler may read it at any time.
type page struct {
	entries [pageEntries]guarded
	next    *page
}

// table is the table of guarded calls. It is global, since a signal handler has no arguments of its own.
var table *page

// places are the unused entries of the table.
var places struct {
	sync.Mutex
	free []*guarded
}

var (
	installing sync.Mutex
	installed  atomic.Bool
	guardEntry uintptr

	// The assembly reads these.
	goHandlers [32]uintptr // handlers, by signal, of faults outside of guarded code
	hasAVX     bool        //lint:ignore U1000 the assembly's alone
	processID  uint32      //lint:ignore U1000 the assembly's alone
	goMask     uint64      // signal mask of Go's threads
	idOffset   uintptr     //lint:ignore U1000 the assembly's alone. Offset of the thread's number in its control block; 0 for a number that is always 0
)

// addresses returns the entry points of the guard, for cgocall, and of the signal handler.
func addresses() (guard, handler uintptr)

// guarding reports whether the handler of a signal at an address is the guard's, installed in front of Go's.
func guarding(sig int, at uintptr) bool {
	_, handler := addresses()
	return sig < len(goHandlers) && at == handler && goHandlers[sig] == atStart[sig].handler
}

// faultSignals are the signals of faults, for which the handler is installed.
var faultSignals = [...]int{sigILL, sigTRAP, sigABRT, sigBUS, sigFPE, sigSEGV, sigSYS}

// install installs the handler in front of Go's, for all signals or none. It returns an error if a handler is not Go's.
func install() error {
	installing.Lock()
	defer installing.Unlock()
	if installed.Load() {
		return nil
	}
	hasAVX, processID = cpu.X86.HasAVX, uint32(os.Getpid())
	if err := readThread(); err != nil {
		return err
	}
	guard, handler := addresses()
	var before [len(faultSignals)]action
	for i, sig := range faultSignals {
		a, err := getAction(sig)
		if err != nil {
			return fmt.Errorf("native code: reading the action of %s: %w", nameOf(sig), err)
		}
		if a.handler <= 1 || a.flags&saSigInfo == 0 || a.handler != atStart[sig].handler {
			return fmt.Errorf("native code: the handler of %s is not Go's: load the library that replaced it after the first launch, or restore Go's handler", nameOf(sig))
		}
		before[i], goHandlers[sig] = a, a.handler
	}
	for i, sig := range faultSignals {
		a := before[i]
		a.handler = handler
		a.flags |= saOnStack
		if err := setAction(sig, &a); err != nil {
			for i, sig := range faultSignals[:i] {
				_ = setAction(sig, &before[i]) // was valid before
			}
			return fmt.Errorf("native code: setting the action of %s: %w", nameOf(sig), err)
		}
	}
	guardEntry = guard
	installed.Store(true)
	return nil
}
