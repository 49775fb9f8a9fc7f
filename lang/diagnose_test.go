package lang

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/diag"
)

// TestErrorsAreDescribedWithoutTheScript checks that describing an error runs no getter, proxy or method of the script.
func TestErrorsAreDescribedWithoutTheScript(t *testing.T) {
	const forever = "{ for (;;); }"
	for name, c := range map[string]struct{ script, want string }{
		"errors with a getter":  {"const e = new AggregateError([], 'm'); Object.defineProperty(e, 'errors', { value: { get x() { throw 1 } } }); throw e", "AggregateError: m"},
		"errors behind a proxy": {"const e = new AggregateError([], 'm'); Object.defineProperty(e, 'errors', { value: new Proxy({}, { ownKeys() { throw 1 } }) }); throw e", "AggregateError: m"},
		"elements with getters": {"const e = new AggregateError([], 'm'); e.errors = [new Error('one')]; Object.defineProperty(e.errors, 1, { get() " + forever + " }); throw e", "Error: one"},
		"many errors":           {"throw new AggregateError(Array(80).fill(7), 'm')", "30 more errors"},
		"circle of causes":      {"const a = new Error('a'), b = new Error('b'); a.cause = b; b.cause = a; throw a", "caused by Error: b"},
		"long chain of causes":  {"let e = new Error('0'); for (let i = 1; i < 1e4; i++) e = new Error('n' + i, { cause: e }); throw e", "caused by Error: n9998"},
		"getter of the name":    {"class E extends Error { get name() " + forever + " }; throw new E('x')", "E: x"},
		"getter of the message": {"class E extends Error { get message() " + forever + " }; const e = new E(); throw e", "getter"},
		"toString of the hint":  {"const e = new Error('x'); e.hint = { toString() " + forever + " }; throw e", "Error: x"},
		"getter of the code":    {"const e = new Error('x'); Object.defineProperty(e, 'code', { get() " + forever + " }); throw e", "Error: x"},
		"proxy as prototype":    {"const e = new Error('x'); Object.setPrototypeOf(e, new Proxy({}, { get() " + forever + ", has() " + forever + " })); throw e", "x"},
		"proxy of an error":     {"throw new Proxy(new Error('x'), { get() " + forever + " })", "uncaught [Proxy]"},
		"revoked proxy":         {"const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy", "uncaught [Proxy]"},
		"object behind a proxy": {"throw Object.create(new Proxy({}, { get() " + forever + ", getPrototypeOf() " + forever + " }))", "uncaught"},
		"own way of printing":   {"throw { [Symbol.for('nodejs.util.inspect.custom')]() " + forever + " }", "uncaught"},
		"regular expression":    {"throw Object.defineProperty(/a/g, 'source', { get() " + forever + " })", "uncaught /a/g"},
		"typed array":           {"throw Object.defineProperty(new Uint8Array(1), 'length', { get() " + forever + " })", "uncaught Uint8Array(1) [ 0 ]"},
		"replaced globals":      {"Map = Symbol = RegExp = undefined; Object.getOwnPropertyDescriptor = () " + "=> " + forever + "; throw { a: 1 }", "uncaught { a: 1 }"},
		"getter of a global":    {"Object.defineProperty(globalThis, 'w', { configurable: true, get() { Object.defineProperty(globalThis, 'w', { get() " + forever + " }); return {} } }); w.f()", "w.f is not a function"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limits := range []Limits{{}, {Time: time.Minute}} {
				e, _ := testEngine(t, Options{Limits: limits})
				_, err := e.Run(context.Background(), "t.js", c.script)
				if err == nil {
					t.Fatal("no error")
				}
				if text := diag.Format(err, false); !strings.Contains(text, c.want) {
					t.Errorf("no %q in\n%s", c.want, text)
				}
			}
		})
	}
}
