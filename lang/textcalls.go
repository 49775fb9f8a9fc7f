package lang

import (
	"cmp"
	"slices"

	"github.com/orepl/orepl/lang/diag"
)

// TextCall is a call that was replaced by the callee's code, so that stacks do not contain it.
type TextCall struct {
	Kernel   string        // name of the compiled kernel
	Name     string        // name of the callee; may be empty
	From, To diag.Position // range of the callee's source text, without the position To
	At       diag.Position // position of the call
}

// mostCalls is the maximum number of calls that an engine records.
const mostCalls = 1 << 14

// RecordCalls records calls for [Engine.CallNotes], except calls without positions, repeated ones, and those beyond mostCalls.
func (e *Engine) RecordCalls(calls ...TextCall) {
	for _, c := range calls {
		if len(e.report.calls) < mostCalls && c.From.IsValid() && c.At.IsValid() && !slices.Contains(e.report.calls, c) {
			e.report.calls = append(e.report.calls, c)
		}
	}
}

// CallNotes returns notes about the recorded calls of a kernel that lead to a position, innermost first, four at most. If a
// function has several calls, each gets a note, and the chain ends.
func (e *Engine) CallNotes(kernel string, at diag.Position) []diag.Note {
	const most = 4
	var notes []diag.Note
	for len(notes) < most {
		var around []TextCall // calls of the innermost function that contains the position
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

// contains reports whether a position is in the callee's text.
func (c *TextCall) contains(p diag.Position) bool {
	return p.File == c.From.File && !before(p, c.From) && before(p, c.To)
}

// before reports whether a precedes b in the same file.
func before(a, b diag.Position) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
}
