package offload

import (
	"context"
	"encoding/json"
)

// The interfaces in this file are optional: the runtime finds them by type assertion and has a slower or a failing
// fallback for each.

// RectCopier is a [Queue] that copies boxes in one command. Default: one command per row. An extent is bytes per row,
// rows, and slices; exchanged boxes do not overlap.
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

// Partial is a [Platform] that may lack devices which the plugin's options name. Default: it lacks none.
type Partial interface {
	// Missing returns the groups of devices that could not be reached.
	Missing() []Missing
}

// Missing is a group of devices that could not be reached.
type Missing struct {
	Name string // before a slash in the names of the devices
	Err  error
}

// BoundedCommands is the number of outstanding commands that every [Bounded] queue accepts without blocking.
const BoundedCommands = 1024

// Bounded is a [Queue] whose commands block when too many are outstanding. Default: commands never block.
type Bounded interface {
	// WaitForSpace waits until the queue accepts commands without blocking. If ctx ends first, the outstanding commands
	// are cancelled as by Sync, whose error it returns.
	WaitForSpace(ctx context.Context) error
}

// Preparer is a [Device] that can check a launch once for many identical ones. Default: every launch is checked.
type Preparer interface {
	// Prepare validates l once and returns a token that identical launches on queues of the device may carry as Prepared
	// until their memory is freed; nil means none. reuse is nil, or a token that no launch carries any longer, whose
	// memory may be reused.
	Prepare(l *Launch, reuse Prepared) (Prepared, error)
}

// Prepared is a plugin's private token for launches that it has validated.
type Prepared any

// Marker creates fence-only events on a [Queue]; unlike Record they are not error boundaries. Default: Record.
type Marker interface {
	// Mark is Record for an event that covers no commands: their failures belong to the next recorded event.
	Mark() (Event, error)
}

// Forgetter is a [Queue] that skips fills of memory that is about to be freed. Default: it fills it.
type Forgetter interface {
	// Forget reports that of the commands issued so far none but fills uses m, and that no later command will. The fills
	// count as done, whatever they leave in m; they still use m until the queue has passed them.
	Forget(m Memory)
}

// FailurePeeker is a [Queue] that can return a pending failure without consuming it. Default: failures are not visible
// before they are reported.
type FailurePeeker interface {
	// Failure returns the first failure that has not been reported and that no event of a waiting caller covers, or nil.
	Failure() error
}

// CancelReporter is a [Queue] that reports which launch was running when its commands were cancelled. Default: unknown.
type CancelReporter interface {
	// Stopped returns, once, the failure of the launch that the last cancellation ended, with kernel and position, or nil.
	Stopped() error
}

// EventFailurePeeker is an [Event] that can return its failure without consuming it. Default as for [FailurePeeker].
type EventFailurePeeker interface {
	// Failure returns the failure of the commands that the reached event covers, or why they were dropped.
	Failure() error
}

// LibraryHooks is a [Platform] with calls for whole libraries: one before any image of the library is checked, and one
// after its last program was unloaded. A failure of RegisterLibrary must leave nothing behind. It is reported, and
// fails only operations that need this platform. If ctx had ended, the hook is called again when the library is needed.
// UnregisterLibrary follows only a RegisterLibrary that succeeded. Libraries end in the reverse order of registration.
type LibraryHooks interface {
	RegisterLibrary(ctx context.Context, lib *Library) error
	UnregisterLibrary(ctx context.Context, lib *Library) error
}

// PeerCopier is a [Device] whose queues can access memory of other devices. Default: copies are staged on the host.
type PeerCopier interface {
	CanExchange(with Device) bool
}

// Describer is a [Device] with properties beyond [DeviceInfo].
type Describer interface {
	Describe() []Property
}

// Property is a named fact of a device.
type Property struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // bool, number, string or []Property
	Unit  string `json:"unit,omitempty"`
}

// UnmarshalJSON reads a list as nested properties, and a number without a fraction as an int64.
func (p *Property) UnmarshalJSON(data []byte) error {
	var raw struct {
		Name, Unit string
		Value      json.RawMessage
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	p.Name, p.Unit, p.Value = raw.Name, raw.Unit, nil
	if len(raw.Value) == 0 {
		return nil
	}
	var nested []Property
	if json.Unmarshal(raw.Value, &nested) == nil && nested != nil {
		p.Value = nested
		return nil
	}
	var n int64
	if json.Unmarshal(raw.Value, &n) == nil && string(raw.Value) != "null" {
		p.Value = n
		return nil
	}
	return json.Unmarshal(raw.Value, &p.Value)
}

// Lister is a [Program] that shows its generated code.
type Lister interface {
	// Listing returns the code of a kernel as text. The format is "asm", "ptx" or "clc"; "engine" returns one line that
	// names the engine which runs the kernel and why no better one does.
	Listing(kernel, format string) (string, error)
}

// Named is a [Device] with a name of its own below the plugin's, such as "2/cuda:0" of the device "mpi:2/cuda:0". Default: the
// device's ordinal.
type Named interface {
	Named() string
}

// Losable is a [Device] that can be lost: the process, the machine or the driver behind it is gone. Default: never. The rules
// for lost devices are in the package comment.
type Losable interface {
	// Lost returns a channel that is closed when the device is lost. It is the same at each call.
	Lost() <-chan struct{}
	// LostError returns a DeviceLost error with the cause once the channel is closed.
	LostError() error
}

// ClassBounded is a [Plugin] that knows the best [DeviceInfo.Class] of its devices before it is opened. The choice of a
// default device opens only plugins that may win. Default: ClassGPU.
type ClassBounded interface {
	MaxClass() int
}

// Channeled is a [Program] whose code may call the host through ports. Default: it has none.
type Channeled interface {
	// Channel returns the state of the ports at this moment; nil without ports.
	Channel() *Channel
}

// Channel describes the ports between the code of a program and the host.
type Channel struct {
	Ports int
	Busy  []Port            // the ports that serve a call, in ascending order
	Calls map[string]uint64 // calls of each operation that was called, since the channel was made
}

// Port is a port that serves a call.
type Port struct {
	Index     int
	Operation string // the name of the service or, of a built-in operation, of that
	Waits     bool   // the host waits for the device code to go on with the call
}
