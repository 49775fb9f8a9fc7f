package offload

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Code is the class of an error. The codes are liboffload's, as words in lower case joined by hyphens, and a few of our own.
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

// String returns file:line:col. It returns only the file if the line is unknown, and only line:col without a file.
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
	Detail string   // what is wrong, with the figures; if empty, the text of Fault
	Hint   string   // the remedy; may be empty
	Pos    Position // position in the script; may be unknown
	Fault  *Fault   // fault of the kernel; nil if no kernel failed
	Err    error    // the error that caused this one; may be nil
	More   int      // the number of later commands of the queue that failed, too
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

// Error returns one line: operation, object, device, detail, cause, the number of further failures, and code. It omits hint and
// position, which callers print separately.
func (e *Error) Error() string { return fmt.Sprintf("%s [%s]", e.Message(), e.Code) }

// Message returns the text of Error without the code.
func (e *Error) Message() string {
	b := append(make([]byte, 0, textRoom), e.Op...)
	if e.Label != "" {
		b = strconv.AppendQuote(append(b, ' '), e.Label)
	}
	if e.Device != "" {
		b = join(b, " on ", e.Device)
	}
	if len(b) > 0 {
		b = append(b, ": "...)
	}
	if e.Detail == "" && e.Fault != nil {
		b = e.Fault.append(b)
	} else {
		b = append(b, e.Detail...)
	}
	if e.Err != nil && e.Fault == nil { // a fault describes its cause
		if e.Detail != "" {
			b = append(b, ": "...)
		}
		b = append(b, e.Err.Error()...)
	}
	b = bytes.TrimSuffix(b, []byte(" ["+e.Code+"]")) // of the cause
	switch {
	case e.More == 1:
		b = append(b, "; and 1 more command failed"...)
	case e.More > 1:
		b = append(strconv.AppendInt(append(b, "; and "...), int64(e.More), 10), " more commands failed"...)
	}
	return string(b)
}

// Text returns the detail, or the text of the fault if there is none. The text of a fault is made at each call, since few
// faults are printed.
func (e *Error) Text() string {
	if e.Detail == "" && e.Fault != nil {
		return e.Fault.String()
	}
	return e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code. ErrorCode and ErrorHint serve callers that use errors by interface only.
func (e *Error) ErrorCode() string { return string(e.Code) }

// ErrorHint returns the hint.
func (e *Error) ErrorHint() string { return e.Hint }

// CodeOf returns the code of the first [*Error] in err's chain, or "" if there is none.
func CodeOf(err error) Code {
	if e, ok := err.(*Error); ok {
		return e.Code
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Nameless returns a copy of the first [*Error] in err's chain without the name of its device. It returns err itself if there is no
// such name. It serves callers that know the device by another name.
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
	Index     int64    // OutOfBounds: the index; the bits of one that is Unsigned
	Unsigned  bool     // OutOfBounds: the index is a u64
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
func (f *Fault) String() string { return string(f.append(make([]byte, 0, textRoom))) }

// textRoom is the size in bytes that the texts of most errors do not exceed.
const textRoom = 256

// append appends the fault in one line. It does not use package fmt, since services report many faults.
func (f *Fault) append(b []byte) []byte {
	switch {
	case f.Cause != "" && f.Text != "":
		b = join(b, f.Cause, ",")
	case f.Cause != "":
		b = append(b, f.Cause...)
	default:
		b = f.describe(b)
	}
	switch {
	case f.Text == "":
	case f.Code == Assertion:
		b = join(b, ": ", f.Text)
	default:
		b = join(b, " in `", f.Text, "`")
	}
	b = appendItem(join(b, ", kernel ", f.Kernel, ", "), f.Item)
	if o := f.Other; o != nil {
		b = append(appendItem(join(b, "; `", o.Text, "` of "), o.Item), " is not ordered with it"...)
	}
	return b
}

func join(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = append(b, t...)
	}
	return b
}

func appendItem(b []byte, item [3]int) []byte {
	b = append(b, "work-item ["...)
	for axis, n := range item {
		if axis > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

// describe appends the fault's text, which depends on its code.
func (f *Fault) describe(b []byte) []byte {
	switch f.Code {
	case OutOfBounds:
		extent := "extent"
		if of, ok := strings.CutPrefix(f.Bound, f.Array+"."); ok && of != "length" {
			extent = of // the extent of one dimension
		}
		b = append(b, "index "...)
		if f.Unsigned {
			b = strconv.AppendUint(b, uint64(f.Index), 10)
		} else {
			b = strconv.AppendInt(b, f.Index, 10)
		}
		b = strconv.AppendInt(join(b, " is outside ", f.Array, ", whose ", extent, " is "), f.Extent, 10)
		if f.Label != "" && f.Label != f.Array {
			b = append(strconv.AppendQuote(append(b, " (buffer "...), f.Label), ')')
		}
		return b
	case DivisionByZero:
		return append(b, "integer division by zero"...)
	case Divergence:
		return append(b, "g.uniform of a value that differs within the work-group"...)
	case Assertion:
		return append(b, "assertion failed"...)
	case Overflow:
		return join(b, "an integer wraps: ", f.Values, ",")
	case Race:
		return join(b, "race on ", f.Array)
	case Uninitialized:
		return join(b, "an element of the shared array ", f.Array, " is read that no work-item has written")
	}
	return append(b, f.Code...)
}
