package offload

import (
	"context"
	"time"
)

// Plugin is a kind of device that this process can drive.
type Plugin interface {
	// Name returns the first part of the device ids.
	Name() string
	// Open finds the driver and its devices. Errors: NotFound with a hint if the driver is not installed.
	Open(ctx context.Context) (Platform, error)
}

// Unconfigured is implemented by plugins that find devices only after configuration, on workers for instance.
type Unconfigured interface {
	Plugin
	// Unconfigured returns advice for the user if the plugin needs configuration before it has devices, or "". Until then the
	// runtime does not open the plugin, and uses the text as the hint for its devices.
	Unconfigured() string
}

// Member is implemented by plugins whose process may be part of a larger whole that waits for its end, such as an MPI job.
type Member interface {
	Plugin
	// Leave ends the process's part, even if the plugin was never opened. Nothing of the plugin may be used afterwards.
	Leave() error
}

// Platform is an opened plugin. Its methods may be called by several goroutines. Platforms and devices are comparable values,
// such as pointers: the runtime keeps them as keys.
type Platform interface {
	Info() PlatformInfo
	// Devices returns the same objects at each call. The caller must not change the slice.
	Devices() []Device
	// CheckImage is the first of two checks: it returns an error if no device of this platform can load the image. It must not
	// load.
	CheckImage(img *Image) error
	// Close ends the platform. Its devices must not be used afterwards.
	Close() error
}

// Device is a device of a platform. Its methods may be called by several goroutines.
type Device interface {
	Info() *DeviceInfo
	// Allocate returns memory of size bytes, size > 0, aligned to at least 64 bytes, with unspecified contents.
	Allocate(size int64, kind MemoryKind) (Memory, error)
	// CheckImage is the second check: it returns how well the image fits this device, as a positive number, or an error. The
	// highest fit of a library wins, the first among equals. It must not load.
	CheckImage(img *Image) (fit int, err error)
	// Load makes a program from an image. It may take long; ctx cancels it.
	Load(ctx context.Context, img *Image) (Program, error)
	// NewQueue makes an in-order queue.
	NewQueue(opts QueueOptions) (Queue, error)
}

// QueueOptions are the options of a queue.
type QueueOptions struct {
	Label string
	// Deferred prevents commands from running on the goroutine that issues them.
	Deferred bool
}

// Memory is a block of memory of a device.
type Memory interface {
	Size() int64
	Kind() MemoryKind
	// Bytes returns the block in the host's address space, or nil if the host cannot access it. It is not Go memory.
	Bytes() []byte
	// Free releases the block. Commands that use it must have finished.
	Free() error
}

// Program is an image loaded on a device.
type Program interface {
	Symbols() []Symbol
	// Kernel returns a kernel. Errors: NotFound, and SymbolKind if the name is a variable's.
	Kernel(name string) (Kernel, error)
	// Global returns the memory of a global variable, which belongs to the program.
	Global(name string) (Memory, error)
	// Unload frees the program. Commands that use it must have finished.
	Unload() error
}

// Kernel is an entry point of a loaded program.
type Kernel interface {
	Info() *KernelInfo
}

// Arg is an argument of a launch: a scalar, a range of memory if Memory is not nil, or a struct by value if Data is not nil.
type Arg struct {
	Type   Type
	Bits   uint64 // scalar: its bits, zero-extended
	Data   []byte // struct by value: its bytes, which the queue copies; nil otherwise
	Memory Memory
	Offset int64    // bytes from the start of Memory; a multiple of the element's alignment
	Dims   [3]int32 // extents, outermost first; 0 above the rank
	Label  string   // label of the buffer, for faults
}

// Launch is a launch of a kernel. The queue copies the parts that it keeps; the caller may reuse the struct.
type Launch struct {
	Kernel    Kernel
	Size      [3]int // work-items along x, y, z; 0 on any axis does nothing
	GroupSize [3]int // 0 on all axes: the default size, or the plugin's choice if the kernel cannot observe it
	Args      []Arg
	Checks    Checks
	Pos       Position      // position of the launch in the script
	Timeout   time.Duration // 0: none
	Services  Services      // serves requests of device code; may be nil
	Prepared  Prepared      // result of [Preparer] for these values of Kernel, Size, GroupSize, Args and Checks; may be nil

	SharedBytes int  // shared memory of each group beyond the kernel's own, for kernels that take it; else 0
	Cooperative bool // all groups run at the same time, for kernels that synchronize across groups

	Teams       int // maximum number of teams of a league whose region states no num_teams; 0: OpenMP's default
	ThreadLimit int // maximum number of threads of each team of a target region; 0: no limit

	Joint Joint // of several devices; nil: no other device takes part
}

// Span is a range of a memory block.
type Span struct {
	Memory Memory
	Offset int64 // bytes
	Size   int64 // bytes
}

// Queue is an in-order queue of commands. Its methods may be called by several goroutines. A host slice passed to Submit
// or Retrieve belongs to the queue until the command has run. A failure is reported once: by the event that covers its
// command, or else by the next Sync.
type Queue interface {
	// Submit copies from the host to the device; dst.Size is len(src).
	Submit(dst Span, src []byte) error
	// Retrieve copies from the device to the host; src.Size is len(dst).
	Retrieve(dst []byte, src Span) error
	// Exchange copies between memories that this queue's device can access; the ranges do not overlap.
	Exchange(dst, src Span) error
	// Fill repeats pattern (1, 2, 4, 8 or 16 bytes) over dst, whose size is a multiple of the pattern's.
	Fill(dst Span, pattern []byte) error
	// Launch issues a launch of a kernel. It does not retain l: the caller may reuse it for the next launch.
	Launch(l *Launch) error
	// Host calls fn in order with the other commands. fn must not wait for this queue.
	Host(fn func() error) error
	// Record returns an event that completes when the commands before it have completed.
	Record() (Event, error)
	// Wait delays later commands until the event, of this or of another queue of the platform, is reached. A queue may refuse
	// an event that its device cannot wait for with Unsupported or InvalidEvent; the runtime then waits on the host.
	Wait(ev Event) error
	// Idle reports whether all commands have run.
	Idle() bool
	// Sync waits until all commands issued before have run. It returns the first failure that has not been reported and
	// that no event of a waiting caller covers, with the number of further ones. If ctx ends first, the running command is
	// cancelled where the device can, the others are dropped, and the error is Cancelled.
	Sync(ctx context.Context) error
	// Close waits for the commands and ends the queue. It returns the first failure that has not been reported.
	Close() error
}

// Event is a point in a queue's commands.
type Event interface {
	// Done reports whether the event has been reached.
	Done() bool
	// Sync waits until the event has been reached. It returns, at each call, the failure of the commands since the previous event
	// of the queue. If they succeeded, it returns the first earlier failure that has not been reported. Queue.Sync does not report
	// these failures again. If ctx ends first, Sync cancels as Queue.Sync does.
	Sync(ctx context.Context) error
	// Settle waits until the event has been reached and reports no failure of commands. If ctx ends first, it returns
	// Cancelled and cancels nothing.
	Settle(ctx context.Context) error
	// Since returns the nanoseconds on the device's clock from an earlier event to this one. The events may be of two queues
	// of the device. ok is false before both are reached, and on a device without a clock.
	Since(earlier Event) (ns int64, ok bool)
}
