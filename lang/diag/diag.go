// Package diag describes errors of a script so that a person can act on them: the cause, the position in the source as
// it was written, the code around it, and a hint. It depends neither on the interpreter nor on the terminal.
package diag

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Position is a place in a source file.
type Position struct {
	File   string // as the script was named; may be empty
	Line   int    // from 1; 0 if unknown
	Column int    // from 1, in characters; 0 if unknown
}

// IsValid reports whether the line is known.
func (p Position) IsValid() bool { return p.Line > 0 }

// String returns file:line:column, without the parts that are unknown.
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

// Excerpt is the code around a position.
type Excerpt struct {
	FirstLine int      // the number of Lines[0]
	Lines     []string // without line ends
	Width     int      // how many characters the marker covers; at least 1
}

// Frame is one call of a stack, innermost first.
type Frame struct {
	Function string // empty at the top level of a module
	Position
}

// Note explains a diagnostic further. Its position may be unknown.
type Note struct {
	Message string
	Position
	Excerpt *Excerpt
}

// Diagnostic is one problem, with all that [Print] needs.
type Diagnostic struct {
	ID      string // stable message ID or error code, lower-kebab, such as "syntax" or "out-of-bounds"
	Name    string // the class of the error in the script, such as "TypeError"; may be empty
	Message string // one sentence
	Hint    string // advice; may be empty

	Position
	Excerpt *Excerpt // nil if the source is unknown
	Stack   []Frame  // calls of the script, innermost first; no engine internals
	Notes   []Note
	Cause   error // the Go error or the diagnostic behind this one; may be nil
	Thrown  any   // the value that the script threw, as the engine knows it; nil if nothing was thrown
}

// Error returns position, class, message and ID in one line.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if p := d.Position.String(); p != "" {
		b.WriteString(p)
		b.WriteString(": ")
	}
	b.WriteString(d.headline())
	return b.String()
}

// Unwrap returns the cause, so that errors.Is and errors.As see through a script.
func (d *Diagnostic) Unwrap() error { return d.Cause }

// Code returns the ID: a diagnostic that passes through a script again keeps it.
func (d *Diagnostic) Code() string { return d.ID }

func (d *Diagnostic) headline() string {
	s := d.Message
	if d.Name != "" {
		s = d.Name + ": " + s
	}
	if d.ID != "" && d.ID != "exception" && d.ID != "syntax" {
		s += " [" + d.ID + "]"
	}
	return s
}

// Code finds the code that err or an error behind it carries in a method Code() string or, where Code is a field,
// ErrorCode() string.
func Code(err error) string {
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

// Hint finds the hint that err or an error behind it carries in a method Hint() string or, for a diagnostic, a field.
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

// Label finds the label of the object concerned that err or an error behind it carries in a method Label() string.
func Label(err error) string {
	var l interface{ Label() string }
	if errors.As(err, &l) {
		return l.Label()
	}
	return ""
}

// New makes a diagnostic without a position.
func New(id, format string, args ...any) *Diagnostic {
	return &Diagnostic{ID: id, Message: fmt.Sprintf(format, args...)}
}

// WithHint sets the hint and returns the diagnostic.
func (d *Diagnostic) WithHint(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}
