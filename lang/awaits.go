package lang

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/wording"
)

// watchPromises detects a forgotten await that throws no error: elements and length of a promise are undefined. The watcher is
// the prototype of Promise.prototype, so only lookups of missing properties reach it. For Promise.prototype, functions that return
// prototypes return the one behind the watcher.
func (e *Engine) watchPromises() {
	promise, _ := e.vm.GlobalObject().Get("Promise").(*goja.Object)
	proto, _ := promise.Get("prototype").(*goja.Object)
	watcher, behind := e.vm.NewDynamicObject(&promiseWatcher{e}), proto.Prototype()
	_ = proto.SetPrototype(watcher) // cannot fail in a new interpreter
	for _, text := range []string{"Object.getPrototypeOf", "Reflect.getPrototypeOf", "Object.getOwnPropertyDescriptor(Object.prototype, '__proto__').get"} {
		native, err := e.native(text)
		if err != nil {
			continue // scripts see the watcher
		}
		get := *native.Call
		*native.Call = func(c goja.FunctionCall) goja.Value {
			v := get(c)
			if o, ok := v.(*goja.Object); ok && o == watcher {
				return behind
			}
			return v
		}
	}
}

// promiseWatcher is an object without properties that observes property lookups.
type promiseWatcher struct{ engine *Engine }

// Get implements [goja.DynamicObject] and returns nil. It notes the key for later explanations, and warns if the key is
// "length" or an index, since the awaited result may be an array.
func (w *promiseWatcher) Get(key string) goja.Value {
	w.engine.explainer.Missed("Promise", key)
	if key == "length" || key != "" && strings.Trim(key, "0123456789") == "" {
		w.engine.warnOfAwait(key)
	}
	return nil
}

// Has implements [goja.DynamicObject].
func (*promiseWatcher) Has(string) bool { return false }

// Set implements [goja.DynamicObject].
func (*promiseWatcher) Set(string, goja.Value) bool { return false }

// Delete implements [goja.DynamicObject].
func (*promiseWatcher) Delete(string) bool { return true }

// Keys implements [goja.DynamicObject].
func (*promiseWatcher) Keys() []string { return nil }

// mostWarnings is the maximum number of positions for which one engine reports the warnings of Warn and of forgotten awaits.
// There is no maximum at a prompt.
const mostWarnings = 10

// Warn reports a doubtful use at the script's current call, once per position, and except at a prompt for at most mostWarnings
// positions. It reports nothing if the position is unknown.
func (e *Engine) Warn(message, hint string) {
	if d := e.warning(message, hint); d != nil {
		e.opts.OnWarning(d)
	}
}

// WarnAlways reports a doubtful use like Warn, but always, also at a position that is unknown or has been reported before.
func (e *Engine) WarnAlways(message, hint string) {
	d := &diag.Diagnostic{Message: message, Hint: hint}
	if at := e.Caller(); at.IsValid() {
		e.place(d, at, 1)
	}
	e.opts.OnWarning(d)
}

// WarnOf reports a warning with a position of its own. It ignores a warning if one with the same position and code was
// reported, or the same message if it has no code.
func (e *Engine) WarnOf(d *diag.Diagnostic) {
	key := placed{cmp.Or(d.ID, d.Message), d.Position}
	if e.report.reported[key] {
		return
	}
	if e.report.reported == nil {
		e.report.reported = map[placed]bool{}
	}
	e.report.reported[key] = true
	e.opts.OnWarning(d)
}

// placed is the key of a reported warning: its code or message, and its position.
type placed struct {
	what string
	at   diag.Position
}

// warning returns a warning at the script's current call, and records the position. It returns nil if the position is unknown or
// was recorded before. Except at a prompt, it also returns nil after mostWarnings warnings.
func (e *Engine) warning(message, hint string) *diag.Diagnostic {
	at := e.Caller()
	if !at.IsValid() || e.report.warned[at] || len(e.report.warned) >= mostWarnings && !e.opts.Prompt {
		return nil
	}
	e.report.warned[at] = true
	d := &diag.Diagnostic{Message: message, Hint: hint}
	e.place(d, at, 1)
	return d
}

// warnOfAwait warns of a read of key, which is "length" or an index, from a promise, where it is always undefined. The
// conditions of warning apply.
func (e *Engine) warnOfAwait(key string) {
	d := e.warning(fmt.Sprintf("a promise has no %s: this is undefined", elementName(key)), "await the promise, and use its result")
	if d == nil {
		return
	}
	if d.Excerpt != nil {
		line := []rune(d.Excerpt.Lines[len(d.Excerpt.Lines)-1])
		column := min(max(d.Position.Column-1, 0), len(line))
		if object := strings.TrimRight(wording.TrailingExpression(string(line[:column])), "."); object != "" {
			d.Message = fmt.Sprintf("%s is a promise, which has no %s: this is undefined", object, elementName(key))
			d.Hint = fmt.Sprintf("write (await %s) instead, or await it where it is made", object)
			if strings.HasSuffix(object, ")") {
				d.Hint = fmt.Sprintf("write (await %s)%s instead, or await it where it is made", object, memberText(key))
			} else if hint := e.explainer.Await(d, object); hint != "" {
				d.Hint = strings.Replace(hint, fmt.Sprintf("if %s is a promise, write: ", object), "write: ", 1)
			}
		}
	}
	e.opts.OnWarning(d)
}

// memberText returns the access of the property key, "length" or an index, in the script's syntax.
func memberText(key string) string {
	if key == "length" {
		return ".length"
	}
	return "[" + key + "]"
}

// elementName returns what a message calls the property key, "length" or an index.
func elementName(key string) string {
	if key == "length" {
		return "length"
	}
	return "elements"
}
