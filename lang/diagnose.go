package lang

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/esm"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/lang/loop"
	"github.com/orepl/orepl/lang/wording"
)

// Diagnose converts an error of a script to a diagnostic with source positions, excerpts and the stack of script calls. If err
// is or wraps a diagnostic, it returns that one, or for an error of an await a copy with the await's position. It must be
// called on the loop's goroutine or while no script runs.
func (e *Engine) Diagnose(err error) *diag.Diagnostic {
	if a, ok := find[*esm.AwaitedError](err); ok {
		return e.diagnoseAwaited(a)
	}
	if d, ok := find[*diag.Diagnostic](err); ok {
		return d
	}
	if rejection, ok := find[*unhandledRejection](err); ok {
		d := e.diagnosedAt(rejection.exception, rejection.place)
		d.Notes = append(d.Notes, diag.Note{Message: "a promise was rejected with this error and nothing handled it; is there an await missing?"})
		if d.Hint == "" {
			d.Hint = "await the call, or give its promise a .catch(error => …)"
		}
		return d
	}
	if cause, yes := ended(err); yes {
		return e.cutShort(err, cause)
	}
	if overflow, ok := find[*goja.StackOverflowError](err); ok {
		d := diag.New("stack-overflow", "calls are nested more than %d deep", e.opts.Limits.CallDepth)
		d.Name = "RangeError"
		e.locate(d, overflow.Stack())
		return d.WithHint("is there a recursion without an end?")
	}
	if exception, ok := find[*goja.Exception](err); ok {
		return e.diagnoseException(exception, nil)
	}
	var p *loop.PanicError
	if errors.As(err, &p) {
		e.opts.Logger.Error("panic in a callback", "value", p.Value, "stack", string(p.Stack))
		return &diag.Diagnostic{ID: "internal", Message: p.Error(), Cause: err, Hint: "this is a defect of the program, not of the script"}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return e.cutShort(err, err)
	}
	return &diag.Diagnostic{ID: diag.Code(err), Message: diag.Text(err), Hint: diag.Hint(err), Cause: err}
}

// diagnoseAwaited diagnoses an error that an await threw. It appends the await to the error's stack, unless the stack has a
// frame at the top level of the await's file. An error without a position gets the await's.
func (e *Engine) diagnoseAwaited(a *esm.AwaitedError) *diag.Diagnostic {
	d := *e.diagnosedAt(a.Unwrap(), a.Place)
	if !slices.ContainsFunc(d.Stack, func(f diag.Frame) bool { return f.Position.File == a.Place.File && f.Function == "" }) {
		d.Stack = append(slices.Clip(d.Stack), diag.Frame{Position: a.Place})
	}
	return &d
}

// diagnosedAt diagnoses an exception and uses place if the exception has no position.
func (e *Engine) diagnosedAt(exception error, place diag.Position) *diag.Diagnostic {
	d := e.Diagnose(exception)
	if !d.Position.IsValid() && place.IsValid() {
		e.place(d, place, 1)
	}
	return d
}

// find returns the first error of type T in the chain of err. Unlike errors.As it follows neither joined errors nor exceptions.
// Unwrapping an exception reads the prototypes of the thrown value, which may be proxies of the script.
func find[T error](err error) (found T, ok bool) {
	for err != nil {
		if found, ok = err.(T); ok {
			return found, true
		}
		if _, thrown := err.(*goja.Exception); thrown {
			break
		}
		err = errors.Unwrap(err)
	}
	return found, false
}

func isScriptException(err error) bool {
	_, yes := find[*goja.Exception](err)
	return yes
}

// cutShort describes the end of a call by its context or by a limit, for the reason cause. If err is an interrupt, the
// description has its stack.
func (e *Engine) cutShort(err, cause error) *diag.Diagnostic {
	d := Ended(cause)
	if interrupted, ok := find[*goja.InterruptedError](err); ok {
		e.locate(d, interrupted.Stack())
	}
	return d
}

// Ended describes the end of a context, or an exceeded limit, that ended a call. Calls of the engine return it; programs should
// return it for their own part of the work.
func Ended(cause error) *diag.Diagnostic {
	d := &diag.Diagnostic{ID: diag.Code(cause), Message: diag.Text(cause), Hint: diag.Hint(cause), Cause: cause}
	if d.ID == "" {
		d.ID = "cancelled"
		if errors.Is(cause, context.DeadlineExceeded) {
			d.ID = "timeout"
		}
		why := cause
		if e, ok := cause.(*endError); ok {
			why = e.cause
		}
		if errors.Is(why, context.DeadlineExceeded) {
			d.Message = "the script ran out of time"
		} else if errors.Is(why, context.Canceled) {
			d.Message = "the script was cancelled"
		}
	}
	return d
}

// EndOf describes the end of ctx, which must be done. Its code is that of the cause; if the cause has none, it is "timeout"
// after a deadline and else "cancelled". [errors.Is] finds the cause and the context's error, such as
// [context.DeadlineExceeded].
func EndOf(ctx context.Context) *diag.Diagnostic { return Ended(causeOf(ctx)) }

// causeOf returns the cause of a context's end, joined with the context's error unless the cause is that error. It returns nil
// if the context is not done.
func causeOf(ctx context.Context) error {
	cause, end := context.Cause(ctx), ctx.Err()
	if cause == nil || errors.Is(cause, end) {
		return cause
	}
	return &endError{cause, end}
}

// WasCut reports whether err, the error of work with the context ctx, is the end of ctx and no failure of the work itself. The
// code of err cannot show that: it is the code of the cause, which may be any error.
func WasCut(ctx context.Context, err error) bool {
	end := ctx.Err()
	return end != nil && errors.Is(err, end)
}

// endError holds the cause of a context's end, whose text it has, and the error of the context.
type endError struct{ cause, end error }

func (e *endError) Error() string   { return e.cause.Error() }
func (e *endError) Unwrap() []error { return []error{e.cause, e.end} }

// Limits on the description of an error.
const (
	maxCauses = 10 // a chain of causes may contain a cycle
	maxErrors = 50 // errors of an AggregateError
)

// diagnoseException describes an exception of a script. above holds the errors whose chain of causes led to it, outermost
// first. It runs no code of the script, because a limit or the context may have ended the call.
func (e *Engine) diagnoseException(ex *goja.Exception, above []*goja.Object) *diag.Diagnostic {
	d := &diag.Diagnostic{ID: "exception", Thrown: ex.Value()}
	if o, ok := errorObject(ex.Value()); ok {
		e.describeError(d, o, above)
	} else {
		d.Message = "uncaught " + e.InspectValue(ex.Value(), inspect.Options{Depth: 2, Passive: true})
		d.Hint = "throw an Error, as in throw new Error('…'): it knows where it was made"
	}
	e.locate(d, ex.Stack())
	e.adopt(d)
	if d.Name == "ReferenceError" {
		e.explainer.Name(d)
	}
	if d.Cause == nil && !wording.Builtin(d, builtinOf(ex.Stack())) {
		e.explainer.Explain(d)
	}
	return d
}

// errorObject returns v as an object, and reports whether it is an Error that no proxy hides.
func errorObject(v goja.Value) (*goja.Object, bool) {
	o, ok := v.(*goja.Object)
	return o, ok && o.ExportType() != typeProxy && o.ClassName() == "Error"
}

// describeError sets the fields of d from an Error of the script, without running getters. above is as for diagnoseException.
func (e *Engine) describeError(d *diag.Diagnostic, o *goja.Object, above []*goja.Object) {
	if d.Name = e.textOf(o, "name"); d.Name == "" { // a class may define a getter for it
		if class := e.inspector.ClassName(o); class != "Error" {
			d.Name = class
		}
	}
	if message := e.property(o, "message"); message != nil {
		d.Message = e.report.caught.original(o, e.textOf(o, "message"))
	} else {
		d.Message = "the error's message is a getter or behind a proxy, which are not called once the script has failed"
	}
	if code := e.textOf(o, "code"); code != "" {
		d.ID = code
	}
	d.Hint = e.textOf(o, "hint")
	if err := e.goError(o); err != nil {
		d.Cause = err
		var known *diag.Diagnostic
		if errors.As(err, &known) { // the inner error may have a more exact position, such as one inside a kernel
			d.Position, d.Excerpt, d.Notes, d.Cause = known.Position, known.Excerpt, known.Notes, known.Cause
		}
	} else if above = append(above, o); len(above) <= maxCauses {
		if cause, ok := errorObject(e.property(o, "cause")); ok && !slices.Contains(above, cause) {
			if ex, ok := e.exceptionOf(cause).(*goja.Exception); ok {
				d.Cause = e.diagnoseException(ex, above)
			}
		}
	}
	if d.Name == "Error" && d.ID != "exception" {
		d.Name = "" // the code is more specific
	}
	if d.Name == "AggregateError" {
		e.noteErrors(d, e.property(o, "errors"))
	}
}

// noteErrors adds the first maxErrors errors of an AggregateError as notes, and the number of the others. held is the value of
// the property errors.
func (e *Engine) noteErrors(d *diag.Diagnostic, held goja.Value) {
	errs, ok := held.(*goja.Object)
	if !ok || errs.ExportType() == typeProxy || errs.ClassName() != "Array" {
		return
	}
	n := int64(0)
	if length := e.property(errs, "length"); length != nil {
		n = length.ToInteger()
	}
	for i := range min(n, maxErrors) {
		if v := e.property(errs, strconv.FormatInt(i, 10)); v != nil {
			d.Notes = append(d.Notes, diag.Note{Message: e.InspectValue(v, inspect.Options{Depth: 1, Passive: true})})
		}
	}
	if n > maxErrors {
		d.Notes = append(d.Notes, diag.Note{Message: fmt.Sprintf("%d more errors", n-maxErrors)})
	}
}

// adopt sets d's position to that of the Go error behind d, which may be inside a kernel. The error is a diagnostic with the
// message of d, or a placedError. adopt does nothing for a list of diagnostics.
func (e *Engine) adopt(d *diag.Diagnostic) {
	var list diag.List
	var described *diag.Diagnostic
	if errors.As(d.Cause, &list) { // d stands for all of them
		return
	}
	if errors.As(d.Cause, &described) && described.Position.IsValid() && described.Message == d.Message {
		d.Position, d.Excerpt, d.Notes = described.Position, described.Excerpt, described.Notes
		return
	}
	var placed *placedError
	if errors.As(d.Cause, &placed) {
		e.place(d, placed.place, 1)
	}
}

// property returns a property of o or its prototypes without running script code. It returns nil for a getter, a proxy or a missing
// property.
func (e *Engine) property(o *goja.Object, name string) goja.Value {
	return e.inspector.Data(o, e.vm.ToValue(name))
}

// textOf returns a property as text, or "" if it is missing, undefined or null. Objects are printed, because their toString
// may be defined by the script.
func (e *Engine) textOf(o *goja.Object, name string) string {
	v := e.property(o, name)
	switch v := v.(type) {
	case *goja.Object:
		return e.InspectValue(v, inspect.Options{Depth: 1, Passive: true})
	case *goja.Symbol:
		return e.InspectValue(v, inspect.Options{})
	}
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return ""
	}
	return v.String()
}

// locate sets the stack of a diagnostic. If the diagnostic has no position, it gets that of the innermost call.
func (e *Engine) locate(d *diag.Diagnostic, frames []goja.StackFrame) {
	d.Stack = e.frames(frames)
	if len(d.Stack) > 0 && !d.Position.IsValid() {
		e.place(d, d.Stack[0].Position, 1)
	}
}

// place sets the position of a diagnostic, and its excerpt if the text of the file is known. width is the number of characters
// to mark; 1 stands for the whole word at the position.
func (e *Engine) place(d *diag.Diagnostic, p diag.Position, width int) {
	d.Position = p
	if text, ok := e.report.sources.Get(p.File); ok {
		if width == 1 {
			width = wordAt(text, p)
		}
		d.Excerpt = diag.Excerpted(text, p, width)
	}
}

// frames converts the interpreter's stack, innermost call first, and omits calls whose source text is unknown, such as internal ones.
func (e *Engine) frames(frames []goja.StackFrame) []diag.Frame {
	var out []diag.Frame
	for i := range frames {
		f := &frames[i]
		p := f.Position()
		text, known := e.report.sources.Get(p.Filename)
		if p.Line == 0 || !known {
			continue
		}
		name := f.FuncName()
		if name == "<anonymous>" {
			name = ""
		}
		pos := diag.InCharacters(text, diag.Position{File: p.Filename, Line: p.Line, Column: p.Column})
		out = append(out, diag.Frame{Function: name, Position: pos})
	}
	return out
}

// callerFrames is the maximum number of frames that Caller searches: native functions may call each other.
const callerFrames = 4

// maxPlaces is the maximum size of the cache of call positions, which avoids counting columns again.
const maxPlaces = 256

// Caller returns the position of the script's call of the running native function. It is the zero position if none of the
// innermost callerFrames frames is in a script. Caller is cheap enough to run at every launch.
func (e *Engine) Caller() diag.Position {
	r := &e.report
	r.stack = e.vm.CaptureCallStack(callerFrames, r.stack[:0])
	if r.called.IsValid() && slices.Equal(r.stack, r.lastStack) { // a loop often calls from one place
		return r.called
	}
	at := r.placeOfCall()
	r.lastStack, r.called = append(r.lastStack[:0], r.stack...), at
	return at
}

// placeOfCall returns the position of the innermost frame of the captured stack that is in a script, or the zero position.
func (r *reports) placeOfCall() diag.Position {
	for _, frame := range r.stack {
		if known, ok := r.places[frame]; ok {
			return known
		}
		p := frame.Position()
		text, ok := r.sources.Get(p.Filename)
		if p.Line == 0 || !ok {
			continue
		}
		if len(r.places) == maxPlaces { // entries of earlier prompt lines may be obsolete
			clear(r.places)
		}
		at := diag.InCharacters(text, diag.Position{File: p.Filename, Line: p.Line, Column: p.Column})
		r.places[frame] = at
		return at
	}
	return diag.Position{}
}

// SourceText returns the text of a loaded file as written, or false if none with this name has been loaded.
func (e *Engine) SourceText(file string) (string, bool) {
	return e.report.sources.Get(file)
}

// wordAt returns the number of characters from a position to the end of the word there; the minimum is 1.
func wordAt(text string, p diag.Position) int {
	ex := diag.Excerpted(text, p, 1)
	if ex == nil {
		return 1
	}
	line := []rune(ex.Lines[len(ex.Lines)-1])
	n := 0
	for i := p.Column - 1; i >= 0 && i < len(line) && wording.IsWordRune(line[i]); i++ {
		n++
	}
	return max(n, 1)
}

// Stack returns the script's call stack at the running native function, innermost call first.
func (e *Engine) Stack() []diag.Frame { return e.frames(e.vm.CaptureCallStack(0, nil)) }
