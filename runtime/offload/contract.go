package offload

import (
	"context"
	"time"
)

// Plugin is a kind of device that this process can drive.
type Plugin interface {
	// Name is the first part of its devices' ids.
	Name() string
	// Open finds the driver and its devices. It gives NotFound with a hint if the driver is not installed.
	Open(ctx context.Context) (Platform, error)
}

// Platform is an opened plugin. Its methods may be called by several goroutines. Platforms and devices are comparable values,
// such as pointers: the runtime keeps them as keys.
type Platform interface {
	Info() PlatformInfo
	// Devices returns the same objects at each call. The caller must not change the slice.
	Devices() []Device
	// CheckImage is the first of two steps: could any device of this platform load the image? A refusal is an error
	// that says why. It must not load.
	CheckImage(img *Image) error
	// Close ends the platform. Devices must not be used any more.
	Close() error
}

// Device is a device of a platform. Its methods may be called by several goroutines.
type Device interface {
	Info() *DeviceInfo
	// Allocate gives memory of size bytes, size > 0, aligned to at least 64 bytes, with unspecified contents.
	Allocate(size int64, kind MemoryKind) (Memory, error)
	// CheckImage is the second step: how well does the image fit this device? The fit is positive; the best wins, and
	// the first of equals. A refusal is an error that says why. It must not load.
	CheckImage(img *Image) (fit int, err error)
	// Load makes a program of an image. It may take long; ctx ends it.
	Load(ctx context.Context, img *Image) (Program, error)
	// NewQueue makes an in-order queue.
	NewQueue(opts QueueOptions) (Queue, error)
}

// QueueOptions are the options of a queue.
type QueueOptions struct {
	Label string
}

// Memory is a block of memory of a device.
type Memory interface {
	Size() int64
	Kind() MemoryKind
	// Bytes is the block as the host sees it, or nil if the host cannot reach it. It is not Go memory.
	Bytes() []byte
	// Free gives the block back. Commands that use it must have finished.
	Free() error
}

// Program is an image loaded on a device.
type Program interface {
	Symbols() []Symbol
	// Kernel gives a kernel, NotFound, or SymbolKind if the name is a variable's.
	Kernel(name string) (Kernel, error)
	// Global gives the memory of a global variable, which belongs to the program.
	Global(name string) (Memory, error)
	// Unload frees the program. Commands that use it must have finished.
	Unload() error
}

// Kernel is an entry point of a loaded program.
type Kernel interface {
	Info() *KernelInfo
}

// Arg is an argument of a launch: a scalar, or a range of memory if Memory is not nil.
type Arg struct {
	Type   Type
	Bits   uint64 // scalar: its bits, zero-extended
	Memory Memory
	Offset int64    // bytes from the start of Memory; a multiple of the element's alignment
	Dims   [3]int32 // extents, outermost first; 0 beyond the rank
	Label  string   // of the buffer, for faults
}

// Launch is a launch of a kernel. The queue copies what it keeps; the caller may use the struct again.
type Launch struct {
	Kernel    Kernel
	Size      [3]int // work-items along x, y, z; 0 on any axis does nothing
	GroupSize [3]int // 0 on all axes: the language's default, or the plugin's choice where it cannot be observed
	Args      []Arg
	Checks    Checks
	Pos       Position      // of the launch, in the script
	Timeout   time.Duration // 0: none
	Services  Services      // what device code may ask of the host; may be nil
	Prepared  Prepared      // by [Preparer] for these values of Kernel, Size, GroupSize, Args and Checks; may be nil
}

// Span is a range of a memory block.
type Span struct {
	Memory Memory
	Offset int64 // bytes
	Size   int64 // bytes
}

// Queue is an in-order queue of commands. Its methods may be called by several goroutines. A host slice given to
// Submit or Retrieve belongs to the queue until the command has run.
type Queue interface {
	// Submit copies from the host to the device; dst.Size is len(src).
	Submit(dst Span, src []byte) error
	// Retrieve copies from the device to the host; src.Size is len(dst).
	Retrieve(dst []byte, src Span) error
	// Exchange copies between memories that this queue's device reaches; the ranges do not overlap.
	Exchange(dst, src Span) error
	// Fill repeats pattern (1, 2, 4, 8 or 16 bytes) over dst.
	Fill(dst Span, pattern []byte) error
	// Launch starts a kernel. It keeps nothing of l: the caller fills it anew for the next launch.
	Launch(l *Launch) error
	// Host calls fn in order with the other commands. fn must not wait for this queue.
	Host(fn func() error) error
	// Record gives an event that completes when the commands before it have.
	Record() (Event, error)
	// Wait lets later commands wait for the event, of this or of another queue of the platform.
	Wait(ev Event) error
	// Idle reports whether all commands have run.
	Idle() bool
	// Sync waits until all commands given before have run, and gives the first failure that nobody was given or waits
	// for at its event; of those besides it says how many. If ctx
	// ends first, the running command is cancelled where the device can, and the rest is dropped with Cancelled.
	Sync(ctx context.Context) error
	// Close waits for the commands and ends the queue.
	Close() error
}

// Event is a point in a queue's commands.
type Event interface {
	// Done reports whether it has been reached.
	Done() bool
	// Sync waits until it has been reached, and gives the failure of the commands that it stands for, those since the
	// event before it in the queue, each time; if they have not failed, the first failure before them that nobody was
	// given. What is given here Queue.Sync does not give any more. If ctx ends first it cancels as Queue.Sync does.
	Sync(ctx context.Context) error
	// Settle waits until it has been reached, and leaves failures to others. If ctx ends first it gives Cancelled, and
	// cancels nothing.
	Settle(ctx context.Context) error
	// Time is the device's clock when it was reached, in nanoseconds since an arbitrary origin, the same for all
	// queues of a device; ok is false if it has not been reached or the device has no clock.
	Time() (ns int64, ok bool)
}
