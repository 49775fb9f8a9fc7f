package offload

import (
	"context"
	"encoding/json"
)

// The interfaces in this file are optional. The runtime finds them by type assertion and has a slower or a failing fallback for
// each.

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
	Offset     int64 // offset of the box's first byte
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

// Partial is a [Platform] that may lack devices which the plugin's options name. Default: none is missing.
type Partial interface {
	// Missing returns the groups of devices that could not be reached.
	Missing() []Missing
}

// Missing is a group of devices that could not be reached.
type Missing struct {
	Name string // the part of the devices' names before a slash
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
	// Prepare validates l once and returns a token. Identical launches on queues of the device may have it as Prepared until
	// their memory is freed; nil means none. reuse is nil or an unused token, whose memory Prepare may reuse.
	Prepare(l *Launch, reuse Prepared) (Prepared, error)
}

// Prepared is a plugin's private token for launches that it has validated.
type Prepared any

// Marker is a [Queue] that makes events which cover no commands, only to wait for. Default: Record.
type Marker interface {
	// Mark is like Record, but the event covers no commands: the failures of those before it belong to the next recorded event.
	Mark() (Event, error)
}

// Stamper is a [Queue] that makes marks with a time, for a device that has a clock of its own. Default: Mark.
type Stamper interface {
	// Stamp is like Mark, but the device itself reaches the event, which therefore has a time on the device's clock.
	Stamp() (Event, error)
}

// Timekeeper is a [Queue] that keeps the times of its commands. Default: Stamp or Mark.
type Timekeeper interface {
	// Now returns the time from an earlier event of the device to now, and the number of the newest command; idle means that it
	// has ended. ok is false without such a time. From the first call on, the queue keeps the times at which commands end.
	Now(since Event) (ns int64, newest uint64, idle, ok bool)
	// Ended returns the time from an earlier event of the device to the end of the command with this number. done is false while the
	// command is outstanding. ok is false while it is, and if its time is not kept.
	Ended(number uint64, since Event) (ns int64, done, ok bool)
}

// PromptSubmitter is a [Queue] that can copy from memory of the host that is about to change. Default: Submit of a copy.
type PromptSubmitter interface {
	// SubmitNow is like Submit, but the caller may change src after the return.
	SubmitNow(dst Span, src []byte) error
}

// Forgetter is a [Queue] that skips fills of memory that is about to be freed. Default: no fill is skipped.
type Forgetter interface {
	// Forget declares that only fills among the outstanding commands use m, and that no later command will. The fills count as
	// done with any contents of m; m stays in use until the queue has passed them.
	Forget(m Memory)
}

// FailurePeeker is a [Queue] that can return a pending failure without consuming it. Default: failures are not visible
// before they are reported.
type FailurePeeker interface {
	// Failure returns the first failure that has not been reported and that no event of a waiting caller covers, or nil.
	Failure() error
}

// FailureTaker is a [Queue] whose pending failures can be consumed without a wait. Default: only waits consume them.
type FailureTaker interface {
	// TakeFailure returns and consumes the failures of [FailurePeeker.Failure]: the first one, with the number of the others.
	TakeFailure() error
}

// CancelReporter is a [Queue] that reports which launch was running when its commands were cancelled. Default: unknown.
type CancelReporter interface {
	// Stopped returns, once, the failure of the launch that the last cancellation ended, with kernel and position, or nil.
	Stopped() error
}

// EventFailurePeeker is an [Event] that can return its failure without consuming it. Default as for [FailurePeeker].
type EventFailurePeeker interface {
	// Failure returns the failure of the commands that the reached event covers, or the error of dropped commands.
	Failure() error
}

// LibraryHooks is a [Platform] with hooks for whole libraries. RegisterLibrary is called before any image of the library is
// checked, UnregisterLibrary after its last program was unloaded. A failed RegisterLibrary must leave nothing behind; the
// failure affects only operations that need this platform. If ctx had ended, the hook is called again when the library is
// needed. UnregisterLibrary follows only a successful RegisterLibrary. Libraries end in the reverse order of registration.
type LibraryHooks interface {
	RegisterLibrary(ctx context.Context, lib *Library) error
	UnregisterLibrary(ctx context.Context, lib *Library) error
}

// PeerCopier is a [Device] whose queues can access memory of other devices. Default: copies are staged on the host.
type PeerCopier interface {
	CanExchange(with Device) bool
}

// Joiner is a [Device] that combines its memory with that of others. Default: the runtime copies the operands.
type Joiner interface {
	// Join returns a joint launch of these devices in this order, or nil if they cannot make one.
	Join(members []Device) Joint
}

// Mover is a [Device] that copies between its memory and that of others by one command of each. Default: the runtime copies
// between pairs.
type Mover interface {
	// Move returns the launches of these devices that make the copies flows between their memories. Each launch lacks its only
	// argument, the device's memory. Move returns nil if the devices cannot copy so. op is the name of their kernel. Ranges of a
	// member that flows write share no bytes. If a member sends bytes that it receives, it sends them after they have arrived.
	Move(op string, members []Device, flows []Flow) []Launch
}

// Flow is a copy from the memory of a member to that of another one.
type Flow struct {
	From, To             int   // indexes of the members
	Source, Target, Size int64 // offset in the memory of From, offset in that of To, and size, in bytes; offsets are from the arguments' beginnings
}

// Joint is a launch of several devices, on a queue of each. That of a [Mover] copies. That of a [Joiner] runs a kernel reduce(y, x) of two
// buffers, which computes y[i] = y[i] op x[i]. Both arguments are the device's memory. Afterwards all memories have ((m0 op m1) op m2) …,
// in the order of the devices.
//
// A part may wait until all others have begun. If one fails, the others fail.
type Joint interface {
	// Fail makes all parts fail, for a device whose part cannot be issued.
	Fail(why error)
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
	// Listing returns the code of a kernel as text. The format is "asm", "ptx" or "clc". Format "engine" returns one line with
	// the engine that runs the kernel and the reason against a better one.
	Listing(kernel, format string) (string, error)
}

// Named is a [Device] with a name below the plugin's: "2/cuda:0" of the device "mpi:2/cuda:0". Default: the device's ordinal.
type Named interface {
	Named() string
}

// Placed is a [Device] of another platform than that of its plugin, such as one of a worker's platforms. Default: the plugin's.
type Placed interface {
	Platform() PlatformInfo
}

// PlatformOf describes the platform of a device, which is by default that of its plugin.
func PlatformOf(d Device, plugin Platform) PlatformInfo {
	if p, ok := d.(Placed); ok {
		return p.Platform()
	}
	return plugin.Info()
}

// Losable is a [Device] that can be lost, with its process, machine or driver. Default: never. The package comment states the
// rules for lost devices.
type Losable interface {
	// Lost returns a channel that is closed when the device is lost. All calls return the same channel.
	Lost() <-chan struct{}
	// LostError returns a DeviceLost error with the cause once the channel is closed.
	LostError() error
}

// Growing is a [Platform] to which parts may be added while it is open. Default: its devices are those of Devices.
type Growing interface {
	// Joined returns the parts so far, oldest first: each has devices of its own. more is closed when the next part has joined. Close of
	// the whole platform closes the parts.
	Joined() (parts []Platform, more <-chan struct{})
}

// ClassBounded is a [Plugin] with a bound on the [DeviceInfo.Class] of its devices before it is opened. The choice of a default
// device opens only plugins that may win. Default: ClassGPU.
type ClassBounded interface {
	MaxClass() int
}

// Channeled is a [Program] whose code may call the host through ports. Default: it has none.
type Channeled interface {
	// Channel returns the current state of the ports, or nil without ports.
	Channel() *Channel
}

// Channel describes the ports between the code of a program and the host.
type Channel struct {
	Ports int
	Busy  []Port            // the ports that serve a call, in ascending order
	Calls map[string]uint64 // number of calls by operation, since the channel was created
}

// Port is a port that serves a call.
type Port struct {
	Index     int
	Operation string // name of the service or of the built-in operation
	Waits     bool   // the host waits for the device code to continue the call
}
