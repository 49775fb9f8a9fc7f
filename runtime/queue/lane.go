package queue

import (
	"context"

	"github.com/orepl/orepl/runtime/offload"
)

// Lane executes the commands of one queue on an asynchronous device, such as a driver's stream or a connection to another
// process. Commands take effect in the order of Begin. The queue calls Begin, Flush and Finish on one goroutine at a time and
// holds no lock meanwhile; the other methods may be called at any time.
//
// Commands in flight share no host memory that one of them writes: a lane may copy the bytes of such memory at any time between
// Begin and Finish.
//
// Numbers of commands grow and have gaps: the queue itself runs host functions, waits and marks.
type Lane interface {
	// Check returns an error if the device cannot access m, such as memory of another device or freed memory.
	Check(m offload.Memory) error
	// NewLaunch returns an empty launch.
	NewLaunch() LaneLaunch
	// Window returns the maximum number of commands in flight, at least 1. Begin must not block below it. Cancellation drops
	// the commands beyond the window.
	Window() int
	// Begin starts c. The lane may use c, and the host memory of c, until Finish. An error is the failure of c, which then is
	// not in flight.
	Begin(c *Command) error
	// Flush makes the device start the commands begun so far.
	Flush()
	// Reached returns the number of the newest command that has ended, together with all before it. It never decreases.
	Reached() uint64
	// Await blocks until command n, which was begun, is reached, or ctx ends. It may return early.
	Await(ctx context.Context, n uint64)
	// Finish is called once for each command in flight, in order, after it was reached. It returns the command's failure, or
	// [ErrStopped] if a request ended it.
	Finish(c *Command) error
	// Stop requests that the commands in flight up to number n end early. A lane of a device that cannot cancel ignores it.
	// Stop may be called during and after Close, by a goroutine that cancels.
	Stop(n uint64)
	// Since returns the device time between two stamps of records, which may be of two lanes of the device. ok is false if
	// the device has no clock.
	Since(later, earlier any) (ns int64, ok bool)
	// Close releases the lane. No command is in flight.
	Close()
}

// PromptLane is a lane whose copies may be awaited without a limit.
type PromptLane interface {
	Lane
	// Prompt reports whether copies end soon, whatever other processes do.
	Prompt() bool
}

// LaneLaunch holds one launch of a kernel at a time and is reused.
type LaneLaunch interface {
	// Set checks a launch and copies the caller's data. After an error it keeps no references. The queue is locked, so Set must
	// not call a driver.
	Set(l *offload.Launch) error
	// Clear drops the references that Set kept.
	Clear()
}

// Kind is the kind of a command of a lane.
type Kind uint8

// The kinds of commands that a lane executes.
const (
	CopyBytes    Kind = iota // copies Size bytes from Src to Dst, at most one of which is on the host
	CopyBox                  // copies a box of Extent from Src to Dst, at most one of which is on the host
	FillBytes                // repeats Pattern over Size bytes of Dst
	LaunchKernel             // runs Launch
	RecordEvent              // sets Stamp; it has no other effect
)

// Command is a command in flight.
type Command struct {
	Kind     Kind
	Number   uint64
	Dst, Src Place
	Size     int64    // bytes of CopyBytes and FillBytes
	Extent   [3]int64 // for CopyBox: bytes per row, rows, slices
	Pattern  []byte   // for FillBytes: 1, 2, 4, 8 or 16 bytes
	Launch   LaneLaunch
	Stamp    any // for RecordEvent: the time on the device's clock, set by the lane before Finish returns
	State    any // private to the lane; kept when the command is reused
}

// Place is an operand of a copy or a fill: device memory, or host memory if Memory is nil.
type Place struct {
	Memory               offload.Memory
	Offset               int64  // in Memory
	Host                 []byte // host memory from the operand's first byte to its last
	RowPitch, SlicePitch int64  // for CopyBox
}
