package offload

import (
	"context"
	"io"
)

// Services are the requests that device code may make of the host while a kernel runs. Methods are called on goroutines or
// threads of the plugin, several at once. These are never goroutines that issued a command or wait for one.
type Services interface {
	// Print receives a line that a work-item printed. The lines of one work-item arrive in program order.
	Print(m *Message)
	// Call serves a request and returns the bits of its result. ctx ends when the launch is cancelled, when its time limit
	// passes and when the device is lost; the launch does not wait for a Call any longer then. r is valid during the call.
	// An error is a fault of the work-item.
	Call(ctx context.Context, r *Request) (uint64, error)
}

// ServiceChecker is a [Services] that knows which services it offers. Default: an unknown service fails the call.
type ServiceChecker interface {
	// CheckService returns NotFound with a hint if no service has that name. A kernel that calls it is refused when it is bound.
	CheckService(name string) error
}

// PromptServices is a [Services] that knows services which return at once. Default: each may wait.
type PromptServices interface {
	// ReturnsAtOnce reports whether Call of a service never waits. A device may then call it on a thread of its own, and a
	// launch that is stopped waits for the call.
	ReturnsAtOnce(name string) bool
}

// FileServices is a [Services] whose device code may use files. The host's rules for files hold; a refusal is PermissionDenied.
// Default: the device has no files.
type FileServices interface {
	// OpenFile opens a file with a mode of C's fopen. A mode that does not exist is InvalidArgument.
	OpenFile(name, mode string) (File, error)
	RemoveFile(name string) error
	RenameFile(from, to string) error
}

// File is an open file.
type File interface {
	io.ReadWriteSeeker
	io.Closer
}

// Warner is a [Services] that shows warnings. Default: there are none.
type Warner interface {
	Warn(text string)
}

// Message is a line printed by a work-item.
type Message struct {
	Device string // id, as the plugin has it
	Kernel string
	Item   [3]int   // global id of the work-item
	Pos    Position // of the statement in the kernel's source; may be unknown
	Text   string
}

// Request is a call of a named service by a work-item.
type Request struct {
	Message        // where it comes from; Text is empty
	Name    string // of the service
	Args    []Scalar
	Result  Type // Opaque: the call has no result
}

// Scalar is a value of a scalar type, by its bits, zero-extended.
type Scalar struct {
	Type Type
	Bits uint64
}
