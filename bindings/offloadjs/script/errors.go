package script

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/kernel"
	kerneldiag "github.com/orepl/orepl/lang/kernel/diag"
	"github.com/orepl/orepl/lang/spelling"
	contract "github.com/orepl/orepl/runtime/offload"
)

// Explain converts an error of the runtime or the kernel compiler to a diagnostic with position, excerpt and hint. It returns
// other errors unchanged.
func Explain(e *lang.Engine, err error) error {
	if oe, ok := err.(*contract.Error); ok && oe.Err == nil {
		return explainRuntime(e, oe)
	}
	var explained diag.List
	if errors.As(err, &explained) {
		return err
	}
	var list kerneldiag.List
	if errors.As(err, &list) {
		return ExplainKernel(e, list)
	}
	var one *kerneldiag.Diagnostic
	if errors.As(err, &one) {
		return ExplainKernel(e, kerneldiag.List{one})
	}
	var oe *contract.Error
	if errors.As(err, &oe) {
		d := explainRuntime(e, oe)
		var refused *RefusedLaunch
		if errors.As(err, &refused) && refused.At.IsValid() {
			d.Notes = append(d.Notes, Note(e, "launched here", refused.At))
		}
		return d
	}
	return err
}

// ExplainStop adds notes of the launches that [session.Session.Cancel] stopped to the error that ended the script.
func ExplainStop(e *lang.Engine, err error, stopped []error) error {
	if len(stopped) == 0 {
		return err
	}
	d := &diag.Diagnostic{ID: diag.Code(err), Message: diag.Text(err), Hint: diag.Hint(err), Cause: err}
	var known *diag.Diagnostic
	if errors.As(err, &known) {
		c := *known
		d = &c
	}
	d.Notes = slices.Clone(d.Notes)
	for _, err := range stopped {
		var oe *contract.Error
		if errors.As(err, &oe) && oe.Op == "launch" {
			message := fmt.Sprintf("kernel %s was running on %s, launched here", oe.Label, oe.Device)
			d.Notes = append(d.Notes, Note(e, message, Position(oe.Pos)))
		}
	}
	return d
}

// Position converts a position of the contract to one of diagnostics.
func Position(p contract.Position) diag.Position {
	return diag.Position{File: p.File, Line: p.Line, Column: p.Col}
}

// Limits on the notes of a kernel's error: in total, and per kind.
const (
	mostMistakes = 12
	mostAlike    = 3
)

// withoutCode removes the quoted code from a message.
func withoutCode(message string) string {
	parts := strings.Split(message, "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	return strings.Join(parts, "`")
}

// ExplainKernel returns a diagnostic of the first error, with the others as notes. Beyond mostMistakes and mostAlike they are counted
// only. The list must not be empty.
func ExplainKernel(e *lang.Engine, list kerneldiag.List) error {
	first := list[0]
	d := &diag.Diagnostic{ID: string(first.ID), Message: first.Message, Hint: first.Rewrite, Cause: list}
	width := 1
	if first.End.Line == first.Line && first.End.Column > first.Column {
		width = first.End.Column - first.Column
	}
	Place(e, d, first.Position, width)
	for _, n := range first.Notes {
		d.Notes = append(d.Notes, Note(e, n.Message, n.Position))
	}
	alike, hidden := map[string]int{withoutCode(first.Message): 1}, 0
	for i, other := range list[1:] {
		kind := withoutCode(other.Message)
		if alike[kind]++; i >= mostMistakes || alike[kind] > mostAlike {
			hidden++
			continue
		}
		text := fmt.Sprintf("%s [%s]", other.Message, other.ID)
		if other.Rewrite != "" {
			text += "; " + other.Rewrite
		}
		d.Notes = append(d.Notes, Note(e, text, other.Position))
	}
	if hidden > 0 {
		d.Notes = append(d.Notes, diag.Note{Message: spelling.Count(hidden, "more mistake") + " like these"})
	}
	return d
}

// explainRuntime converts a runtime error to a diagnostic. A fault has its position in the kernel and a note with the launch's
// position. Other errors have the position of the script's call.
func explainRuntime(e *lang.Engine, oe *contract.Error) *diag.Diagnostic {
	d := &diag.Diagnostic{ID: string(oe.Code), Message: oe.Message(), Hint: cmp.Or(oe.Hint, hintFor(oe)), Cause: oe}
	launched := Position(oe.Pos)
	if oe.Fault != nil {
		p := oe.Fault.Pos
		width := utf8.RuneCountInString(oe.Fault.Text)
		if oe.Code == contract.Assertion { // the fault's text is the assertion's message
			width = len("g.assert")
		}
		if !Position(p).IsValid() { // a native kernel has no positions
			p, launched, width = oe.Pos, diag.Position{}, 1
		}
		Place(e, d, Position(p), width)
		d.Notes = append(d.Notes, e.CallNotes(oe.Fault.Kernel, Position(p))...)
		if o := oe.Fault.Other; o != nil {
			message := fmt.Sprintf("the other access, of work-item [%d, %d, %d]", o.Item[0], o.Item[1], o.Item[2])
			d.Notes = append(d.Notes, Note(e, message, Position(o.Pos)))
		}
		var thrown *diag.Diagnostic
		if oe.Fault.Cause != "" && errors.As(oe.Err, &thrown) && thrown.Position.IsValid() {
			d.Notes = append(d.Notes, Note(e, "the handler failed here", thrown.Position))
		}
		if launched.IsValid() {
			d.Notes = append(d.Notes, Note(e, "launched here", launched))
		}
		return d
	}
	if launched.IsValid() {
		Place(e, d, launched, 1)
	}
	return d
}

// RecordInlined registers the inlined helper calls of a kernel with the engine, for the notes of faults.
func RecordInlined(e *lang.Engine, of string, calls []kernel.InlinedCall) {
	for _, c := range calls {
		e.RecordCalls(lang.TextCall{Kernel: of, Name: c.Name, From: c.From, To: c.To, At: c.At})
	}
}

// Place sets the position of a diagnostic, and its excerpt if the engine has the source.
func Place(e *lang.Engine, d *diag.Diagnostic, p diag.Position, width int) {
	d.Position = p
	if text, ok := e.SourceText(p.File); ok {
		d.Excerpt = diag.Excerpted(text, p, width)
	}
}

// Note returns a note at a position, with an excerpt if the engine has the source.
func Note(e *lang.Engine, message string, p diag.Position) diag.Note {
	n := diag.Note{Message: message, Position: p}
	if text, ok := e.SourceText(p.File); ok {
		n.Excerpt = diag.Excerpted(text, p, 1)
	}
	return n
}

// WithLabel sets the label in an error of the runtime that has none. Errors of device lookup name no object and stay unchanged.
func WithLabel(err error, label string) error {
	if err == nil {
		return nil
	}
	var oe *contract.Error
	if errors.As(err, &oe) && oe.Label == "" && oe.Op != "find device" {
		oe.Label = label
	}
	return err
}

// RefusedLaunch is the error of a launch whose kernel calls a service that is missing or has another signature. Cause has the position
// of the call in the kernel, and At is that of the launch.
type RefusedLaunch struct {
	Cause error
	At    diag.Position
}

// Error returns the text of the call's error.
func (r *RefusedLaunch) Error() string { return r.Cause.Error() }

// Unwrap returns the error of the call.
func (r *RefusedLaunch) Unwrap() error { return r.Cause }
