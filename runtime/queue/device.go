package queue

import (
	"errors"
	"time"

	"github.com/orepl/orepl/runtime/offload"
)

// Device executes the commands of queues. Several queues call its methods at once.
type Device interface {
	// Bytes returns the memory's bytes. It returns an error if the device cannot access the memory, or if it was freed.
	Bytes(m offload.Memory) ([]byte, error)
	// Copy copies src to dst, which have the same length. It returns early when stop is requested.
	Copy(dst, src []byte, stop *Stop)
	// Fill repeats the pattern over dst, whose length is a multiple of the pattern's. It returns early when stop is requested.
	Fill(dst, pattern []byte, stop *Stop)
	// NewLaunch returns an empty launch.
	NewLaunch() Launch
}

// Launch holds one launch of a kernel at a time and is reused. Its methods are not called concurrently.
type Launch interface {
	// Set validates a launch for Run, which may use the launch's Prepared token until Detach is called. After an error it keeps
	// no references.
	Set(l *offload.Launch) error
	// Detach copies the parts of the launch that belong to the caller.
	Detach()
	// Cost estimates the time of Run on one core. sure reports that the time depends neither on memory nor on arguments, and
	// that Run does not call the host. Such a launch, if short, may run on the issuing goroutine, where it cannot be cancelled.
	Cost() (about time.Duration, sure bool)
	// RunAtOnce replaces Set, Cost and Run for a prepared launch that is surely short, and reports whether it ran. It cannot be
	// cancelled and must not panic, because the queue is locked. It may keep state for an identical launch.
	RunAtOnce(l *offload.Launch) (ran bool, err error)
	// Run runs the kernel. It returns [ErrStopped] if a stop request ended it early.
	Run(stop *Stop) error
	// Clear drops the references that Set kept.
	Clear()
}

// ErrStopped is the error of a [Launch.Run] that ended early on a stop request. The queue replaces it by an error with the
// reason.
var ErrStopped = errors.New("stopped")

// Clock is a device's clock: nanoseconds since its creation. Queues of a device share it.
type Clock struct{ origin time.Time }

// NewClock returns a clock that starts at 0.
func NewClock() Clock { return Clock{time.Now()} }

// Now returns the time on the clock, which is monotonic.
func (c Clock) Now() int64 { return int64(time.Since(c.origin)) }
