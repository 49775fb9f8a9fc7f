package lang

import (
	"cmp"
	"slices"

	"github.com/orepl/orepl/lang/diag"
)

// TextCall is a call of a function whose code was compiled in place of the call, so that no stack has the call.
type TextCall struct {
	Kernel   string        // the kernel that was compiled
	Name     string        // of the function; may be empty
	From, To diag.Position // the function's text
	At       diag.Position // the call
}

// mostCalls bounds the calls that an engine keeps.
const mostCalls = 1 << 14

// RecordCalls makes calls known to [Engine.CallNotes].
func (e *Engine) RecordCalls(calls ...TextCall) {
	for _, c := range calls {
		if len(e.report.calls) < mostCalls && c.From.IsValid() && c.At.IsValid() && !slices.Contains(e.report.calls, c) {
			e.report.calls = append(e.report.calls, c)
		}
	}
}

// CallNotes returns notes of the recorded calls of a kernel that lead to a place, innermost first. Several calls of one function
// all have a note, and end the chain.
func (e *Engine) CallNotes(kernel string, at diag.Position) []diag.Note {
	const most = 4
	var notes []diag.Note
	for len(notes) < most {
		var around []TextCall // of the innermost function around the place
		for _, c := range e.report.calls {
			if c.Kernel != kernel || !c.contains(at) {
				continue
			}
			if len(around) > 0 && around[0].From != c.From {
				if before(c.From, around[0].From) {
					continue
				}
				around = around[:0]
			}
			around = append(around, c)
		}
		for _, c := range around {
			message := "in the call of " + cmp.Or(c.Name, "a helper")
			if len(around) > 1 {
				message = "in a call of " + cmp.Or(c.Name, "a helper") + ", this one or another"
			}
			n := diag.Note{Message: message, Position: c.At}
			if text, ok := e.SourceText(c.At.File); ok {
				n.Excerpt = diag.Excerpted(text, c.At, 1)
			}
			if notes = append(notes, n); len(notes) == most {
				return notes
			}
		}
		if len(around) != 1 || around[0].contains(around[0].At) {
			return notes
		}
		at = around[0].At
	}
	return notes
}

// contains reports whether a place is in the function.
func (c *TextCall) contains(p diag.Position) bool {
	return p.File == c.From.File && !before(p, c.From) && before(p, c.To)
}

// before reports whether a place is in front of another one of the same file.
func before(a, b diag.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}
