// Package diag contains the diagnostics of the kernel language: errors and warnings with a stable ID, a position in the script,
// and a suggested rewrite.
package diag

import (
	"fmt"
	"sort"
	"strings"

	scripts "github.com/orepl/orepl/lang/diag"
)

// Position is a position in a script.
type Position = scripts.Position

// Note is a second position that explains a diagnostic, such as the declaration of the variable.
type Note struct {
	Position
	Message string
}

// Diagnostic is an error or warning in the text of a kernel.
type Diagnostic struct {
	ID      ID
	Message string // one sentence without a full stop
	Rewrite string // suggested replacement; may be empty
	Notes   []Note

	Position          // position of the first marked character
	End      Position // after the last marked character
	Excerpt  string   // marked source text
}

// Code returns the stable ID.
func (d *Diagnostic) Code() string { return string(d.ID) }

// Hint returns the suggested rewrite, or "".
func (d *Diagnostic) Hint() string { return d.Rewrite }

// Error returns position, message, ID and hint on one line, and each note on a further line.
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

// List holds the diagnostics of a compilation, in source order. A List that is returned as an error is not empty.
type List []*Diagnostic

// Error returns the diagnostics, one per line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Code returns the ID of the first diagnostic. The list must not be empty.
func (l List) Code() string { return l[0].Code() }

// Hint returns the rewrite of the first diagnostic. The list must not be empty.
func (l List) Hint() string { return l[0].Hint() }

// Unwrap returns the diagnostics, so that errors.As finds each.
func (l List) Unwrap() []error {
	errs := make([]error, len(l))
	for i, d := range l {
		errs[i] = d
	}
	return errs
}

// Sort sorts the list by line and column, stably, and removes each diagnostic that repeats the one before it. It returns the list.
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
