// Package diag holds the diagnostics of the kernel language: errors and warnings with a stable ID, a position in the
// script, and the rewrite that works.
package diag

import (
	"fmt"
	"sort"
	"strings"

	scripts "github.com/orepl/orepl/lang/diag"
)

// Position is a place in a script, as in all diagnostics of scripts.
type Position = scripts.Position

// Note points at a second place that explains a diagnostic, such as the declaration of the variable concerned.
type Note struct {
	Position
	Message string
}

// Diagnostic is one error or warning about the text of a kernel.
type Diagnostic struct {
	ID      ID
	Message string // one sentence, no final stop
	Rewrite string // what to write instead; may be empty
	Notes   []Note

	Position          // of the first character concerned
	End      Position // behind the last one
	Excerpt  string   // the text concerned, as written
}

// Code returns the stable ID.
func (d *Diagnostic) Code() string { return string(d.ID) }

// Hint returns the rewrite that works, or an empty string.
func (d *Diagnostic) Hint() string { return d.Rewrite }

// Error returns position, message, ID and hint in one line, and a further line for each note.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if p := d.Position.String(); p != "" {
		b.WriteString(p)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s [%s]", d.Message, d.ID)
	if d.Rewrite != "" {
		b.WriteString("; ")
		b.WriteString(d.Rewrite)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "\n    %s: %s", n.Position, n.Message)
	}
	return b.String()
}

// List is the diagnostics of one compilation, in the order of the text. It is never empty where it is used as error.
type List []*Diagnostic

// Error returns the diagnostics, one per line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Code returns the ID of the first diagnostic.
func (l List) Code() string { return l[0].Code() }

// Hint returns the rewrite of the first diagnostic.
func (l List) Hint() string { return l[0].Hint() }

// Unwrap lets errors.As find each diagnostic.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, d := range l {
		errs[i] = d
	}
	return errs
}

// Sort orders the list by position and drops what says the same at the same place twice.
func (l List) Sort() List {
	sort.SliceStable(l, func(i, j int) bool {
		a, b := l[i].Position, l[j].Position
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
	out := l[:0]
	for i, d := range l {
		if i > 0 {
			last := out[len(out)-1]
			if last.ID == d.ID && last.Position == d.Position && last.Message == d.Message {
				continue
			}
		}
		out = append(out, d)
	}
	return out
}
