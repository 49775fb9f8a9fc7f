package offload

import (
	"context"
	"io"
)

// Services are the requests that device code may make of the host while a kernel runs. Methods are called concurrently, on
// goroutines or threads of the plugin, never on a goroutine that issues commands or waits for them.
type Services interface {
	// Print receives a line that a work-item printed. The lines of one work-item arrive in program order.
	Print(m *Message)
	// Call serves a request and returns the bits of its result. ctx ends when the launch is cancelled or times out, or the
	// device is lost; the launch then stops waiting for Call. r is valid during the call. An error is a fault of the work-item.
	Call(ctx context.Context, r *Request) (uint64, error)
}

// ServiceChecker is a [Services] that can check a service's name in advance. Default: an unknown service fails the call.
type ServiceChecker interface {
	// CheckService returns NotFound with a hint if no service has that name. A kernel that calls the service is refused when it
	// is bound.
	CheckService(name string) error
}

// PromptServices is a [Services] that can declare services as non-blocking. Default: each may block.
type PromptServices interface {
	// ReturnsAtOnce reports whether Call of a service never blocks. A device may then call it on a thread of its own, and a
	// stopped launch waits for the call.
	ReturnsAtOnce(name string) bool
}

// FileServices is a [Services] whose device code may use files. The host's permissions apply; a refusal is PermissionDenied.
// Default: the device has no files.
type FileServices interface {
	// OpenFile opens a file with a mode of C's fopen. An unknown mode is InvalidArgument.
	OpenFile(name, mode string) (File, error)
	RemoveFile(name string) error
	RenameFile(from, to string) error
}

// File is an open file.
type File interface {
	io.ReadWriteSeeker
	io.Closer
}

// Warner is a [Services] that shows warnings. Default: warnings are dropped.
type Warner interface {
	Warn(text string)
}

// Message is a line printed by a work-item.
type Message struct {
	Device string // the plugin's id of the device
	Kernel string
	Item   [3]int   // global id of the work-item
	Pos    Position // position of the statement in the kernel's source; may be unknown
	Text   string
}

// Request is a call of a named service by a work-item.
type Request struct {
	Message        // origin of the call; Text is empty
	Name    string // name of the service
	Args    []Scalar
	Result  Type // Opaque: the call has no result
}

// Scalar is a value of a scalar type, by its bits, zero-extended.
type Scalar struct {
	Type Type
	Bits uint64
}
