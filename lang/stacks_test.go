package lang

import (
	"context"
	"regexp"
	"testing"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
)

// TestStacks checks that the stack of each error has the script's calls only, in the form of V8.
func TestStacks(t *testing.T) {
	form := regexp.MustCompile(`^(\w+)(: .*)?(\n    at (\w+ \(t\.js:\d+:\d+\)|t\.js:\d+:\d+))+$`)
	for _, text := range []string{
		"throw new Error('a')", "throw Error('a')", "null.x", "'a'.repeat(-1)", "nope", "JSON.parse('{')", "eval('throw new EvalError(1)')", "decodeURIComponent('%')",
		"throw new AggregateError([1], 'm')", "throw new SuppressedError(1, 2, 'm')", "Function('throw new Error(1)')()", "[1].map(f)", "JSON.parse('1', f)", "[2, 1].sort(f)",
		"'a'.replace(/a/, f)", "Array.from([1], f)", "new Map([[1, 2]]).forEach(f)", "Reflect.construct(f, [])", "await null; f()", "await Promise.resolve().then(f)",
		"class Own extends TypeError {}; throw new Own('own')", "const e = {}; Error.captureStackTrace(e); throw e", "throw structuredClone(new RangeError('c'))",
	} {
		e, _ := testEngine(t, Options{})
		_, err := e.Run(context.Background(), "t.js", "function f() { throw new Error('f') }\nglobalThis.structuredClone ??= e => e\nasync function run() {\n"+text+
			"\n}\ntry { await run() } catch (e) { globalThis.stack = e.stack }")
		if got := e.VM().Get("stack").String(); err != nil || !form.MatchString(got) {
			t.Errorf("%s: %v\n%s", text, err, got)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestStackIsAProperty checks that stack can be read, set and deleted like a property, and is printed.
func TestStackIsAProperty(t *testing.T) {
	e, _ := testEngine(t, Options{})
	_, err := e.Run(context.Background(), "t.js", `const e = new Error('x'), lines = []
const log = (...list) => lines.push(list.join(' '))
log(Object.keys(e).length, JSON.stringify(e), 'stack' in e, Object.freeze(new Error('frozen')).stack.split('\n')[0])
e.name = 'Other'
log(e.stack.split('\n')[0])
e.stack = 'mine'
log(e.stack, Object.keys(e))
try { new Error().stack = 5 } catch (e) { log(e.message) }
delete e.stack
log(e.stack.split('\n')[1])
log(Error.prototype.stack, Object.create(e).stack)
for (const f of [() => { Error.prototype.stack = 1 }, () => Error.captureStackTrace(1), () => Reflect.get(Error.prototype, 'stack', 5)])
  try { log(f()) } catch (e) { log(e.message) }
function outer() { return inner() }
function inner() { const o = {}; Error.captureStackTrace(o, inner); return o.stack }
log(outer())
globalThis.text = lines.join('\n')
globalThis.shown = new Error('printed')`)
	want := `0 {} true Error: frozen
Other: x
mine name,stack
stack is a string, not 5
    at t.js:1:11
 
Error.prototype.stack cannot be set: set the stack of an error
stack belongs to an object, not to 1
stack belongs to an object, not to 5
Error
    at outer (t.js:14:32)
    at t.js:16:10`
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if got := e.VM().Get("text").String(); got != want {
		t.Error(got)
	}
	if got := e.Inspect(e.VM().Get("shown"), inspect.Options{}); got != "Error: printed\n    at t.js:18:20" {
		t.Error(got)
	}
}
