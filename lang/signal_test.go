package lang

import (
	"strings"
	"testing"

	"github.com/dop251/goja"
)

// signals creates objects that operations accept as an AbortSignal of package web.
const signals = `function signal() {
	const listeners = new Set()
	return { aborted: false, reason: undefined, listeners, addEventListener: (type, fn) => listeners.add(fn), removeEventListener: (type, fn) => listeners.delete(fn),
		abort(reason) { this.aborted = true; this.reason = reason; for (const fn of listeners) fn({ type: 'abort' }) } }
}
`

func TestSignals(t *testing.T) {
	e, out, running := operationEngine(t, Options{Modules: []Module{{Name: "until", Globals: []string{"until"}, Instantiate: func(e *Engine) (*goja.Object, error) {
		x := e.VM().NewObject()
		return x, x.Set("until", e.Func("until", e.Promised(func(c goja.FunctionCall) (goja.Value, error) {
			s, err := e.Signal(c.Argument(0))
			if err != nil {
				return nil, err
			}
			return e.AsyncUntil(s, "until", waitFor(c.Argument(1).ToInteger())), nil
		})))
	}}}})
	_, err := e.Run(t.Context(), "t.js", signals+`
		const s = signal(), ended = until(s, 60000).then(() => print('no'), reason => print(reason, s.listeners.size))
		sleep(2).then(() => s.abort('enough'))
		await ended
		await until(s, 60000).catch(reason => print('at once', reason))
		const quick = signal()
		print(await until(quick, 1), quick.listeners.size)
		for (const wrong of [5, {}, null, { aborted: 1, addEventListener() {}, removeEventListener() {} }])
			await until(wrong, 1).catch(e => print(e.name, e.message.slice(0, 34)))
		await until({ ...signal(), addEventListener() { throw new Error('odd') } }, 60000).catch(e => print(e.message))`)
	wrong := strings.Repeat("TypeError signal must be an AbortSignal, not\n", 4)
	if want := "enough 0\nat once enough\nundefined 0\n" + wrong + "odd\n"; err != nil || out.String() != want {
		t.Errorf("%v\ngot\n%swant\n%s", err, out, want)
	}
	if running.Load() != 0 {
		t.Error("an operation runs")
	}
}
