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

// Caller calls functions of an image, one at a time. A call whose stop flag is set ends with [process.ErrInterrupted].
type Caller struct {
	image   *Image
	guard   process.Guard
	block   block
	enter   uintptr                     // a function that each call calls before, on the same thread; 0: none
	number  uint64                      // its argument
	running atomic.Pointer[atomic.Bool] // the stop flag of the call that runs; nil between calls
	since   time.Time                   // of the first interrupt of the call; the watcher's
	seen    *atomic.Bool                // the flag of the call at the last poll; the watcher's
	seenAt  time.Time                   // when it was first seen

	foreign atomic.Pointer[process.Foreign] // watched during a target region, whose threads are not the caller's

	mu sync.Mutex // held while the call is interrupted or marked as ended
}

// block has the arguments of invoke. Its layout is known to call_linux_amd64.s.
type block struct {
	fn         uintptr
	stack      unsafe.Pointer // to the words on the stack
	stackWords uint64         // an even number
	count      uint64         // items
	stop       *atomic.Bool   // ends the call between two items
	size       [2]uint64      // extents of x and y
	words      [firstStack]uint64
}

// NewCaller returns a caller of the image's functions, for Free to release.
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

// set prepares the block for a call of fn.
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

// Items calls fn(x, args…), with as many coordinates as the layout has, for each item in [first, last) of a launch of the
// given size; x varies fastest.
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

// Plain calls fn with three words.
func (c *Caller) Plain(fn uintptr, words [3]uint64, stop *atomic.Bool) error {
	c.block = block{fn: fn, count: 1, stop: stop}
	copy(c.block.words[:], words[:])
	return c.run()
}

// Enter makes each later call begin with a call of enter(number) on the thread that it runs on. 0 ends that.
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

func (c *Caller) guarded() error {
	stop := c.block.stop
	c.begin(stop)
	err := c.guard.Call(invokeEntry, unsafe.Pointer(&c.block))
	c.end(stop)
	return err
}

var invokeEntry = invokeAddress()

// invokeAddress returns the address of invoke, which calls the block's function for count items.
func invokeAddress() uintptr
