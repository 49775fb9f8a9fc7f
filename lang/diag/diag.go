// Package diag describes errors of a script: the cause, the position in the source as written, the code around it, and a hint.
// It depends neither on the interpreter nor on the terminal.
package diag

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/orepl/orepl/lang/printable"
)

// Position is a position in a source file.
type Position struct {
	File   string // name of the script; may be empty
	Line   int    // 1-based; 0 if unknown
	Column int    // 1-based, in characters; 0 if unknown
}

// IsValid reports whether the line is known.
func (p Position) IsValid() bool { return p.Line > 0 }

// String returns file:line:column without the unknown parts.
func (p Position) String() string {
	s := p.File
	if p.Line > 0 {
		if s != "" {
			s += ":"
		}
		s += strconv.Itoa(p.Line)
		if p.Column > 0 {
			s += ":" + strconv.Itoa(p.Column)
		}
	}
	return s
}

// Excerpt holds the line of a position, which is the last one, and a few lines before it.
type Excerpt struct {
	FirstLine int      // line number of Lines[0]
	Lines     []string // without line ends
	Width     int      // characters under the marker; at least 1
}

// Frame is one call of a stack.
type Frame struct {
	Function string // empty at the top level of a module, and for a function without a name
	Position
}

// Note adds information to a diagnostic. Its position may be unknown.
type Note struct {
	Message string
	Position
	Excerpt *Excerpt
}

// Diagnostic describes one error or warning for [Print].
type Diagnostic struct {
	ID      string // stable message ID or error code, lower-kebab, such as "syntax" or "out-of-bounds"
	Name    string // class of the error in the script, such as "TypeError"; may be empty
	Message string // one sentence
	Hint    string // advice; may be empty

	Position
	Excerpt *Excerpt // nil if the source is unknown
	Stack   []Frame  // calls of the script, innermost first, without engine internals
	Notes   []Note
	Cause   error // underlying Go error or diagnostic; may be nil
	Thrown  any   // value that the script threw, as an engine value; nil if it threw none
}

// Error returns position, class, message and ID on one line, as far as they are known. It leaves out the IDs exception and syntax. A
// space replaces each newline, and U+FFFD replaces other characters that a terminal obeys.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if p := d.Position.String(); p != "" {
		b.WriteString(p)
		b.WriteString(": ")
	}
	b.WriteString(d.headline())
	return printable.Line(strings.ReplaceAll(b.String(), "\n", " "))
}

// Unwrap returns the cause, so that errors.Is and errors.As find Go errors behind script errors.
func (d *Diagnostic) Unwrap() error { return d.Cause }

// Code returns the ID, so that a diagnostic rethrown by a script keeps it.
func (d *Diagnostic) Code() string { return d.ID }

// headline returns the message with the error's name before it and the ID after it. It leaves out the IDs exception and syntax.
func (d *Diagnostic) headline() string {
	s := d.Message
	if d.Name != "" {
		s = d.Name + ": " + s
	}
	code := " [" + d.ID + "]"
	if d.ID != "" && d.ID != "exception" && d.ID != "syntax" && !strings.HasSuffix(s, code) {
		s += code
	}
	return s
}

// Code returns the code of err or of an error in its chain, from a method Code() string or ErrorCode() string. It returns
// "" if none has one.
func Code(err error) string {
	if c, ok := err.(interface{ Code() string }); ok {
		return c.Code()
	}
	var c interface{ Code() string }
	if errors.As(err, &c) {
		return c.Code()
	}
	var field interface{ ErrorCode() string }
	if errors.As(err, &field) {
		return field.ErrorCode()
	}
	return ""
}

// Text returns the text of err, which must not be nil, without the code at its end. [Diagnostic.Error] adds the code to messages.
func Text(err error) string { return strings.TrimSuffix(err.Error(), " ["+Code(err)+"]") }

// Hint returns the hint of err or of an error in its chain. It comes from a method Hint() string or ErrorHint() string, or
// from a diagnostic's field. Hint returns "" if none has one.
func Hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	var field interface{ ErrorHint() string }
	if errors.As(err, &field) && field.ErrorHint() != "" {
		return field.ErrorHint()
	}
	var d *Diagnostic
	if errors.As(err, &d) {
		return d.Hint
	}
	return ""
}

// Label returns the label of the object concerned, from a method Label() string of err or of an error in its chain. It
// returns "" if none has one.
func Label(err error) string {
	var l interface{ Label() string }
	if errors.As(err, &l) {
		return l.Label()
	}
	return ""
}

// ErrNoContext is the error of a call with a context that is nil.
var ErrNoContext error = &Diagnostic{ID: "invalid-argument", Message: "the context is nil", Hint: "pass the caller's context, or context.Background()"}

// CheckContext returns [ErrNoContext] for a context that is nil, and nil for any other.
func CheckContext(ctx context.Context) error {
	if ctx == nil {
		return ErrNoContext
	}
	return nil
}

// New returns a diagnostic without a position.
func New(id, format string, args ...any) *Diagnostic {
	return &Diagnostic{ID: id, Message: fmt.Sprintf(format, args...)}
}

// WithHint sets the hint and returns the diagnostic.
func (d *Diagnostic) WithHint(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}
