//go:build !nonative

package native

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/orepl/orepl/plugins/internal/process"
)

// Caller calls functions of an image, one at a time. Setting the stop flag of a call ends it with [process.ErrInterrupted].
type Caller struct {
	image   *Image
	guard   process.Guard
	block   block
	enter   uintptr                     // function that is called before each call, on the same thread; 0 for none
	number  uint64                      // argument of enter
	running atomic.Pointer[atomic.Bool] // stop flag of the current call; nil between calls
	since   time.Time                   // time of the call's first interrupt; owned by the watcher
	seen    *atomic.Bool                // value of running at the last poll; owned by the watcher
	seenAt  time.Time                   // time of the first poll with this flag
	lost    bool                        // the call will not return; owned by the watcher

	foreign atomic.Pointer[process.Foreign] // threads that native code created, during a call; nil between calls

	mu sync.Mutex // held while the call is interrupted or marked as ended
}

// block has the arguments of invoke. call_linux_amd64.s depends on its layout.
type block struct {
	fn         uintptr
	stack      unsafe.Pointer // points to the stack words
	stackWords uint64         // even
	count      uint64         // number of items
	stop       *atomic.Bool   // checked between items
	size       [2]uint64      // extents of x and y
	words      [firstStack]uint64
	result     uint64 // integer result of the last call
}

// NewCaller returns a caller for the image's functions. Free releases it.
func (img *Image) NewCaller() (*Caller, error) {
	g, err := process.NewGuard()
	if err != nil {
		return nil, err
	}
	c := &Caller{image: img, guard: g}
	watched(c)
	return c, nil
}

// Free releases the caller.
func (c *Caller) Free() {
	unwatched(c)
	c.guard.Free()
}

// set fills the block for a call of fn.
func (c *Caller) set(fn uintptr, w *Words, stop *atomic.Bool) {
	b := &c.block
	b.fn, b.stackWords, b.stop, b.count = fn, uint64(w.layout.stack), stop, 1
	copy(b.words[:], w.words)
	b.stack = nil
	if b.stackWords > 0 {
		b.stack = unsafe.Pointer(&w.words[firstStack])
	}
}

// Range calls fn(first, last, args…).
func (c *Caller) Range(fn uintptr, w *Words, first, last int, stop *atomic.Bool) error {
	c.set(fn, w, stop)
	c.block.words[0], c.block.words[1] = uint64(first), uint64(last)
	return c.run()
}

// Once calls fn(args…).
func (c *Caller) Once(fn uintptr, w *Words, stop *atomic.Bool) error {
	c.set(fn, w, stop)
	return c.run()
}

// Items calls fn(x, args…) for each item in [first, last) of a launch of this size. The layout sets the number of
// coordinates; x varies fastest.
func (c *Caller) Items(fn uintptr, w *Words, size [3]int, first, last int, stop *atomic.Bool) error {
	c.set(fn, w, stop)
	b := &c.block
	b.count = uint64(last - first)
	b.size = [2]uint64{uint64(size[0]), uint64(size[1])}
	switch w.layout.leading {
	case 1:
		b.size[0] = math.MaxUint64
		b.words[0] = uint64(first)
	case 2:
		b.words[0], b.words[1] = uint64(first%size[0]), uint64(first/size[0])
		b.size[1] = math.MaxUint64
	default:
		b.words[0], b.words[1], b.words[2] = uint64(first%size[0]), uint64(first/size[0]%size[1]), uint64(first/size[0]/size[1])
	}
	return c.run()
}

// Plain calls fn with three words as arguments. The block has its result afterwards.
func (c *Caller) Plain(fn uintptr, words [3]uint64, stop *atomic.Bool) error {
	c.block = block{fn: fn, count: 1, stop: stop}
	copy(c.block.words[:], words[:])
	return c.run()
}

// Enter makes later calls begin with enter(number) on their thread. An enter of 0 ends that.
func (c *Caller) Enter(enter uintptr, number uint64) { c.enter, c.number = enter, number }

func (c *Caller) run() error {
	if c.block.fn == 0 {
		return errors.New("a call of address 0")
	}
	if enter := c.enter; enter != 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		work := c.block
		c.block = block{fn: enter, count: 1, stop: work.stop}
		c.block.words[0] = c.number
		err := c.guarded()
		c.block = work
		if err != nil {
			return err
		}
	}
	return c.guarded()
}

// guarded calls the block's function. If the call was interrupted because a thread that native code created has faulted,
// guarded returns that fault.
func (c *Caller) guarded() error {
	if c.foreign.Load() != nil { // a call of a target region, which looks for faults itself
		return c.guardedHere()
	}
	stray := process.EnterForeign()
	defer process.LeaveForeign()
	c.foreign.Store(stray)
	err := c.guardedHere()
	c.foreign.Store(nil)
	if c.image.threads && (err != nil || !c.image.openmp) {
		c.image.held.Store(true)
	}
	if f := stray.Fault(); f != nil && errors.Is(err, process.ErrInterrupted) && !c.block.stop.Load() {
		return f
	}
	return err
}

func (c *Caller) guardedHere() error {
	stop := c.block.stop
	c.begin(stop)
	if !c.image.suspect {
		err := c.guard.Call(invokeEntry, unsafe.Pointer(&c.block))
		c.end(stop)
		return err
	}
	process.HoldSignals()
	err := c.guard.CallSuspect(invokeEntry, unsafe.Pointer(&c.block))
	process.ReleaseSignals()
	c.end(stop)
	return err
}

var invokeEntry = invokeAddress()

// invokeAddress returns the address of invoke, which calls the block's function for count items.
func invokeAddress() uintptr
