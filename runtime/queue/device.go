package queue

import (
	"errors"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Device is what a queue runs its commands on. Its methods are called by several queues at once.
type Device interface {
	// Bytes gives the memory's bytes, or refuses memory that the device does not reach or that was freed.
	Bytes(m offload.Memory) ([]byte, error)
	// Copy copies src to dst, which have the same length. It returns early when stop is requested.
	Copy(dst, src []byte, stop *Stop)
	// Fill repeats the pattern over dst, a multiple of its length. It returns early when stop is requested.
	Fill(dst, pattern []byte, stop *Stop)
	// NewLaunch makes room for a launch.
	NewLaunch() Launch
}

// Launch is room for one launch of a kernel at a time, used again and again. Its methods are called one at a time.
type Launch interface {
	// Set checks a launch for Run, which may rely on what the launch has as prepared until Detach is called. If it refuses the
	// launch it keeps nothing.
	Set(l *offload.Launch) error
	// Detach lets Run rely on nothing of the caller's any more.
	Detach()
	// Cost is about how long Run will take on one core. It is sure if that depends on nothing that memory or arguments
	// hold, and Run calls nobody: then a short launch may run on the goroutine that gives it, where nobody can end it.
	Cost() (about time.Duration, sure bool)
	// RunAtOnce runs a launch in place of Set, Cost and Run, if it was prepared and surely ends within a moment, and
	// reports whether it did. Nobody can end it. What it needs to run the same launch again soon it may keep. It must not
	// panic: the queue is locked.
	RunAtOnce(l *offload.Launch) (ran bool, err error)
	// Run runs the kernel. It gives [ErrStopped] if it ended early because stop was requested.
	Run(stop *Stop) error
	// Clear drops what Set kept, so that no memory is held by it.
	Clear()
}

// ErrStopped is the result of a [Launch.Run] that ended early because it was told to. The queue turns it into an error
// with the reason.
var ErrStopped = errors.New("stopped")

// Clock is a device's clock: nanoseconds since it was made. Queues of a device share it.
type Clock struct{ origin time.Time }

// NewClock makes a clock that starts now.
func NewClock() Clock { return Clock{time.Now()} }

// Now is the time on the clock. It never goes back.
func (c Clock) Now() int64 { return int64(time.Since(c.origin)) }
