package lang

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// watchPromises detects a forgotten await that causes no error: the elements and the length of a promise are undefined,
// in a loop as in arithmetic. The watcher is the prototype of Promise.prototype, and so it sees only properties that
// promises lack.
func (e *Engine) watchPromises() {
	promise, _ := e.vm.GlobalObject().Get("Promise").(*goja.Object)
	proto, _ := promise.Get("prototype").(*goja.Object)
	_ = proto.SetPrototype(e.vm.NewDynamicObject(&promiseWatcher{e})) // a new interpreter's refuses nothing
}

// promiseWatcher is an object without properties that sees for which it is asked.
type promiseWatcher struct{ engine *Engine }

// Get implements [goja.DynamicObject].
func (w *promiseWatcher) Get(key string) goja.Value {
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

// mostWarnings is the maximum number of places that an engine warns of.
const mostWarnings = 10

// Warn reports a doubtful use at the script's current call, once for each position.
func (e *Engine) Warn(message, hint string) {
	if d := e.warning(message, hint); d != nil {
		e.opts.OnWarning(d)
	}
}

// WarnAgain warns as Warn does, however often that place was warned of.
func (e *Engine) WarnAgain(message, hint string) {
	d := &diag.Diagnostic{Message: message, Hint: hint}
	if at := e.Caller(); at.IsValid() {
		e.place(d, at, 1)
	}
	e.opts.OnWarning(d)
}

// WarnOf warns of a place of the script that is no call, once for each place and kind of warning.
func (e *Engine) WarnOf(d *diag.Diagnostic) {
	key := placed{d.ID, d.Position}
	if e.report.told[key] {
		return
	}
	if e.report.told == nil {
		e.report.told = map[placed]bool{}
	}
	e.report.told[key] = true
	e.opts.OnWarning(d)
}

// placed is a kind of warning at a place.
type placed struct {
	id string
	at diag.Position
}

// warning makes a warning of the place where the script called; nil if that was warned of, or too much was.
func (e *Engine) warning(message, hint string) *diag.Diagnostic {
	at := e.Caller()
	if !at.IsValid() || e.report.warned[at] || len(e.report.warned) >= mostWarnings {
		return nil
	}
	e.report.warned[at] = true
	d := &diag.Diagnostic{Message: message, Hint: hint}
	e.place(d, at, 1)
	return d
}

// warnOfAwait warns of a promise that is used as an array.
func (e *Engine) warnOfAwait(key string) {
	d := e.warning(fmt.Sprintf("a promise has no %s: this is undefined", elementName(key)), "await the promise, and use what it gives")
	if d == nil {
		return
	}
	if d.Excerpt != nil {
		line := []rune(d.Excerpt.Lines[len(d.Excerpt.Lines)-1])
		column := min(max(d.Position.Column-1, 0), len(line))
		if object := strings.TrimRight(trailingExpression(string(line[:column])), "."); object != "" {
			d.Message = fmt.Sprintf("%s is a promise, which has no %s: this is undefined", object, elementName(key))
			d.Hint = fmt.Sprintf("write (await %s) instead, or await it where it is made", object)
			if strings.HasSuffix(object, ")") {
				d.Hint = fmt.Sprintf("write (await %s)%s instead, or await it where it is made", object, memberText(key))
			} else if hint := e.hintForAwait(d, object); hint != "" {
				d.Hint = strings.Replace(hint, fmt.Sprintf("if %s is a promise, write: ", object), "write: ", 1)
			}
		}
	}
	e.opts.OnWarning(d)
}

// memberText writes the access of a property as a script does.
func memberText(key string) string {
	if key == "length" {
		return ".length"
	}
	return "[" + key + "]"
}

func elementName(key string) string {
	if key == "length" {
		return "length"
	}
	return "elements"
}

// declaredBy finds the initializer of a variable, on its line.
func declaredBy(text, name string) string {
	if name == "" {
		return ""
	}
	declared, err := regexp.Compile(`(?:\b(?:const|let|var)\s+|\b(?:const|let|var)\s[^\n;]*,\s*)` + regexp.QuoteMeta(name) + `\s*=\s*([^\n;=>][^\n;]*)`)
	if err != nil {
		return ""
	}
	m := declared.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	depth := 0
	for i, r := range m[1] { // up to the next variable of the declaration
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r == ',' && depth == 0:
			return strings.TrimSpace(m[1][:i])
		}
	}
	return strings.TrimSpace(m[1])
}

// hintForAwait suggests an await, if a variable holds the promise of a call.
func (e *Engine) hintForAwait(d *diag.Diagnostic, expression string) string {
	if end := strings.IndexByte(expression, ')') + 1; end > 0 { // the variable is no promise, but the call may return one
		if givesPromise().MatchString(expression[:end]) {
			return fmt.Sprintf("it gives a promise: write (await %s)%s", expression[:end], expression[end:])
		}
		return ""
	}
	name := leadingWord(expression)
	if name == "" {
		return ""
	}
	text, _ := e.report.sources.get(d.File)
	if made := declaredBy(text, name); strings.Contains(made, "(") &&
		!strings.HasPrefix(made, "await") && !strings.HasPrefix(made, "(") && !strings.Contains(made, "=>") {
		return fmt.Sprintf("if %s is a promise, write: %s = await %s", name, name, made)
	}
	if _, isPromise := exportPromise(e.property(e.vm.GlobalObject(), name)); isPromise { // of an earlier line of the prompt
		return fmt.Sprintf("%s is a promise: write (await %s)", name, name)
	}
	return ""
}
