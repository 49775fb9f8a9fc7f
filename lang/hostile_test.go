package lang

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/diag"
)

// A getter that never ends runs under the limits of the call; describing an error does not run it.
func TestErrorsThatNeverEnd(t *testing.T) {
	for script, code := range map[string]string{
		"const e = new Error('m'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e": "exception",
		"const e = new Error('m'); Object.defineProperty(e, 'cause', { get() { for (;;); } }); throw e":   "exception",
		"const e = new Error('m'); e.name = { toString() { for (;;); } }; throw e":                        "exception",
		"Object.defineProperty(globalThis, 'missing', { get() { for (;;); } }); missing.x":                "timeout",
	} {
		endsWith(t, Limits{Time: 100 * time.Millisecond}, script, code, "print(1)")
	}
}

// The interpreter would follow a circle of prototypes through an object that Go code stands behind for ever.
func TestPrototypesOfHostObjectsStay(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for _, script := range []string{
		"Object.setPrototypeOf(Promise.prototype.__proto__, Promise.prototype)",
		"Reflect.setPrototypeOf(Promise.prototype.__proto__, Promise.prototype)",
		"Promise.prototype.__proto__.__proto__ = Promise.prototype",
		"Object.setPrototypeOf(new Proxy(new Proxy(Promise.prototype.__proto__, {}), {}), Promise.prototype)",
	} {
		_, err := e.Run(context.Background(), "main.js", script)
		if err == nil || !strings.Contains(err.Error(), "the prototype of this object cannot be changed") {
			t.Errorf("%s: %v", script, err)
		}
	}
	const fine = `const a = {}, b = Object.setPrototypeOf({ b: 1 }, a); a.__proto__ = { c: 2 }
		if (b.c !== 2 || !Reflect.setPrototypeOf({}, null) || ({ __proto__: null }) instanceof Object) throw new Error('no')
		try { a.__proto__ = b; throw new Error('a circle') } catch (e) { if (!(e instanceof TypeError)) throw e }`
	if _, err := e.Run(context.Background(), "fine.js", fine); err != nil {
		t.Error(diag.Format(err, false))
	}
}
