package offload

import (
	"errors"
	"fmt"
	"strings"
)

// Code is the class of an error. The names are liboffload's in lower-kebab form, and a few of our own.
type Code string

// The error codes.
const (
	InvalidArgument  Code = "invalid-argument"
	InvalidBinary    Code = "invalid-binary"
	InvalidSize      Code = "invalid-size"
	InvalidDevice    Code = "invalid-device"
	InvalidQueue     Code = "invalid-queue"
	InvalidEvent     Code = "invalid-event"
	NotFound         Code = "not-found"
	SymbolKind       Code = "symbol-kind"
	OutOfResources   Code = "out-of-resources"
	Unsupported      Code = "unsupported"
	PermissionDenied Code = "permission-denied"
	Unimplemented    Code = "unimplemented"
	HostIO           Code = "host-io"
	HostToolNotFound Code = "host-tool-not-found"
	AssembleFailure  Code = "assemble-failure"
	LinkFailure      Code = "link-failure"
	BackendFailure   Code = "backend-failure"
	Uninitialized    Code = "uninitialized"

	OutOfBounds    Code = "out-of-bounds"    // a kernel's access left its buffer
	DivisionByZero Code = "division-by-zero" // an integer division by zero in a kernel
	Assertion      Code = "assertion"        // g.assert in a kernel
	Overflow       Code = "overflow"         // an integer beyond its type, in a kernel compiled to detect overflow
	Divergence     Code = "divergence"       // g.uniform of a value that was not uniform
	Race           Code = "race"             // ChecksRaces found that work-items race
	DeviceLost     Code = "device-lost"
	Timeout        Code = "timeout"
	Cancelled      Code = "cancelled"
	Closed         Code = "closed"        // the object was freed or closed before
	CompileError   Code = "compile-error" // the compiler refused the kernel
)

// Position is a position in a source text. Line and Col count from 1; the zero value means unknown.
type Position struct {
	File string
	Line int
	Col  int
}

// String returns file:line:col without the unknown parts.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Error is the error type of the whole runtime.
type Error struct {
	Code   Code
	Op     string   // the operation, such as "launch" or "allocate"
	Device string   // the device's id, such as "cpu" or "cuda:0"; may be empty
	Label  string   // the object: a buffer's or kernel's label; may be empty
	Detail string   // the cause, with the figures
	Hint   string   // the remedy; may be empty
	Pos    Position // position in the script; may be unknown
	Fault  *Fault   // fault of the kernel; nil if no kernel failed
	Err    error    // the cause; may be nil
}

// Errorf makes an error; the detail is formatted.
func Errorf(code Code, op, format string, args ...any) *Error {
	return &Error{Code: code, Op: op, Detail: fmt.Sprintf(format, args...)}
}

// WithHint sets the hint and returns the error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// On sets device and label and returns the error.
func (e *Error) On(device, label string) *Error {
	e.Device, e.Label = device, label
	return e
}

// Error returns one line: operation, object, device, detail and code. It omits hint and position, which callers print
// separately.
func (e *Error) Error() string { return fmt.Sprintf("%s [%s]", e.Message(), e.Code) }

// Message returns the text of Error without the code.
func (e *Error) Message() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Label != "" {
		fmt.Fprintf(&b, " %q", e.Label)
	}
	if e.Device != "" {
		fmt.Fprintf(&b, " on %s", e.Device)
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Detail)
	if e.Err != nil && e.Fault == nil { // a fault describes its cause
		if e.Detail != "" {
			b.WriteString(": ")
		}
		if cause, ok := e.Err.(*Error); ok && cause.Code == e.Code {
			b.WriteString(cause.Message())
		} else {
			b.WriteString(e.Err.Error())
		}
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code. ErrorCode and ErrorHint serve callers that use errors by interface only.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorHint returns the hint.
func (e *Error) ErrorHint() string { return e.Hint }

// CodeOf returns the code of the first [*Error] in err's chain, or "" if there is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Nameless returns err without the name of its device, for a caller that knows the device by another name.
func Nameless(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Device == "" {
		return err
	}
	c := *e
	c.Device = ""
	return &c
}

// Fault is the first error of a work-item that a launch recorded.
type Fault struct {
	Code      Code
	Kernel    string
	Pos       Position // in the kernel's source
	Text      string   // the expression, or the assertion's message
	Array     string   // the array's name in the kernel, for OutOfBounds
	Label     string   // the label of the buffer bound to it, if any
	Index     int64    // OutOfBounds: the index
	Extent    int64    // OutOfBounds: the extent that it exceeds
	Bound     string   // OutOfBounds: the extent in the kernel's source: x.length, m.shape[1], or a number
	Subscript string   // OutOfBounds: the index expression in the source; "" if unknown
	Item      [3]int   // the global id of the work-item
	Other     *Access  // Race: the earlier of the two accesses
	Values    string   // Overflow: the operands and the result, as in "65536 * 65536 is 4294967296, beyond i32"
	Ragged    bool     // Uninitialized: the launch's size is no multiple of its group size
	Cause     string   // why a service of the host failed; "" for other faults
	Swapped   bool     // OutOfBounds: the launch's size, x first, is the array's shape, outermost first
}

// Access is an access to memory by a work-item.
type Access struct {
	Pos  Position // in the kernel's source
	Text string   // the expression
	Item [3]int   // the global id of the work-item

	SameGroup bool // the item is in the same group as the other access's
}

// String returns the fault in one line.
func (f *Fault) String() string {
	var b strings.Builder
	switch {
	case f.Cause != "" && f.Text != "":
		b.WriteString(f.Cause + ",")
	case f.Cause != "":
		b.WriteString(f.Cause)
	default:
		f.describe(&b)
	}
	switch {
	case f.Text == "":
	case f.Code == Assertion:
		b.WriteString(": " + f.Text)
	default:
		fmt.Fprintf(&b, " in `%s`", f.Text)
	}
	fmt.Fprintf(&b, ", kernel %s, work-item [%d, %d, %d]", f.Kernel, f.Item[0], f.Item[1], f.Item[2])
	if o := f.Other; o != nil {
		fmt.Fprintf(&b, "; `%s` of work-item [%d, %d, %d] is not ordered with it", o.Text, o.Item[0], o.Item[1], o.Item[2])
	}
	return b.String()
}

// describe writes the fault's text, which depends on its code.
func (f *Fault) describe(b *strings.Builder) {
	switch f.Code {
	case OutOfBounds:
		extent := "extent"
		if of, ok := strings.CutPrefix(f.Bound, f.Array+"."); ok && of != "length" {
			extent = of // the extent of one dimension
		}
		fmt.Fprintf(b, "index %d is outside %s, whose %s is %d", f.Index, f.Array, extent, f.Extent)
		if f.Label != "" && f.Label != f.Array {
			fmt.Fprintf(b, " (buffer %q)", f.Label)
		}
	case DivisionByZero:
		b.WriteString("integer division by zero")
	case Divergence:
		b.WriteString("g.uniform of a value that differs within the work-group")
	case Assertion:
		b.WriteString("assertion failed")
	case Overflow:
		b.WriteString("an integer wraps: " + f.Values + ",")
	case Race:
		fmt.Fprintf(b, "race on %s", f.Array)
	case Uninitialized:
		fmt.Fprintf(b, "an element of the shared array %s is read that no work-item has written", f.Array)
	default:
		b.WriteString(string(f.Code))
	}
}
