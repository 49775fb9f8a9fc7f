package offload

import "context"

// The interfaces in this file are optional: the runtime finds them by type assertion and has a slower or a failing
// default for each.

// RectCopier is a [Queue] that copies boxes in one command. Default: a command for each row. An extent is bytes per row,
// rows, and slices; boxes that are exchanged do not overlap.
type RectCopier interface {
	SubmitRect(dst Rect, src HostRect, extent [3]int64) error
	RetrieveRect(dst HostRect, src Rect, extent [3]int64) error
	ExchangeRect(dst, src Rect, extent [3]int64) error
}

// Rect places a box of extent {bytes per row, rows, slices} in device memory.
type Rect struct {
	Memory     Memory
	Offset     int64 // of the box's first byte
	RowPitch   int64 // bytes from row to row
	SlicePitch int64 // bytes from slice to slice
}

// HostRect places a box in host memory.
type HostRect struct {
	Data       []byte
	Offset     int64
	RowPitch   int64
	SlicePitch int64
}

// BoundedRoom is how many commands may be outstanding in every [Bounded] queue before its commands wait.
const BoundedRoom = 1024

// Bounded is a [Queue] whose commands wait when too many are outstanding. Default: commands never wait.
type Bounded interface {
	// Room waits until the queue takes commands without waiting. If ctx ends first, the commands given so far are
	// cancelled as Sync does, which it gives as its failure.
	Room(ctx context.Context) error
}

// Preparer is a [Device] that can check a launch once and take the result for many. Default: every launch is checked.
type Preparer interface {
	// Prepare gives what the launch, and others like it on queues of the device, may have as Prepared as long as their
	// memory is not freed; nil if they shall have nothing. A result that no launch has any more can be given to be used again, instead of nil.
	Prepare(l *Launch, again Prepared) (Prepared, error)
}

// Prepared is what a plugin knows of launches before they are given: its own.
type Prepared any

// Marker is a [Queue] with events for waits between queues only. Default: Record, whose events part the failures.
type Marker interface {
	// Mark is Record for an event that stands for no commands: their failures are those of the next event.
	Mark() (Event, error)
}

// Telling is a [Queue] whose failures can be looked at without being given. Default: nobody knows of a failure before it
// is given.
type Telling interface {
	// Failure is the first failure that nobody was given or waits for at its event; nil if there is none.
	Failure() error
}

// Stopping is a [Queue] that tells what it was that a cancellation ended. Default: nobody learns it.
type Stopping interface {
	// Stopped gives the failure of the launch that ran last when commands were cancelled, with its kernel and position,
	// once; nil if there is none.
	Stopped() error
}

// TellingEvent is an [Event] whose failure can be looked at without being given. Default as for [Telling].
type TellingEvent interface {
	// Failure is the failure of the commands that the event stands for, or why they were dropped, once it was reached.
	Failure() error
}

// LibraryHooks is a [Platform] that is told of whole libraries: once before any image of the library is checked, and
// once after its last program was unloaded. A failure of RegisterLibrary must leave nothing behind; it is reported, and
// fails only what needs this platform. If ctx had ended, the hook is called again when the library is needed.
// UnregisterLibrary follows only a RegisterLibrary that succeeded. Libraries end in the reverse order of registration.
type LibraryHooks interface {
	RegisterLibrary(ctx context.Context, lib *Library) error
	UnregisterLibrary(ctx context.Context, lib *Library) error
}

// PeerCopier is a [Device] whose queues reach memory of other devices. Default: a bounce through the host.
type PeerCopier interface {
	CanExchange(with Device) bool
}

// Describer is a [Device] that has more to tell than [DeviceInfo].
type Describer interface {
	Describe() []Property
}

// Property is a named fact of a device.
type Property struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // bool, number, string or []Property
	Unit  string `json:"unit,omitempty"`
}

// Lister is a [Program] that shows the code it was compiled to.
type Lister interface {
	// Listing gives readable code of a kernel: format "asm", "ptx" or "clc"; or, as "engine", a line that says what runs
	// it and, where that is not the best there is, why.
	Listing(kernel, format string) (string, error)
}

// Named is a [Device] with a name of its own below the plugin's, such as "2/cuda:0" of the device "mpi:2/cuda:0". Default: the
// device's ordinal.
type Named interface {
	Named() string
}

// ClassBounded is a [Plugin] that knows, before it is opened, the best [DeviceInfo.Class] that its devices can have, so
// that the choice of a default device need not open it. Default: ClassGPU.
type ClassBounded interface {
	MaxClass() int
}
