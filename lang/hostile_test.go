package lang

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl/lang/diag"
)

// TestErrorsThatNeverEnd checks that an endless getter runs under the limits of the call, and that describing an error does not
// run it.
func TestErrorsThatNeverEnd(t *testing.T) {
	for script, code := range map[string]string{
		"const e = new Error('m'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e": "exception",
		"const e = new Error('m'); Object.defineProperty(e, 'cause', { get() { for (;;); } }); throw e":   "exception",
		"const e = new Error('m'); e.name = { toString() { for (;;); } }; throw e":                        "exception",
		"Object.defineProperty(globalThis, 'missing', { get() { for (;;); } }); missing.x":                "timeout",
	} {
		endsWith(t, Limits{Time: 3 * time.Second}, script, code, "print(1)")
	}
}

// TestPrototypesOfHostObjectsStay checks that prototype cycles through host objects are rejected, which the interpreter would
// follow forever.
func TestPrototypesOfHostObjectsStay(t *testing.T) {
	e, _ := testEngine(t, Options{})
	if err := e.vm.Set("host", e.vm.NewDynamicObject(&promiseWatcher{e})); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{
		"Object.setPrototypeOf(host, Object.create(host))",
		"Reflect.setPrototypeOf(host, Object.create(host))",
		"host.__proto__ = Object.create(host)",
		"Object.setPrototypeOf(new Proxy(new Proxy(host, {}), {}), Object.create(host))",
	} {
		_, err := e.Run(context.Background(), "main.js", script)
		if err == nil || !strings.Contains(err.Error(), "the prototype of this object cannot be changed") {
			t.Errorf("%s: %v", script, err)
		}
	}
	for script, want := range map[string]string{ // what scripts see behind Promise.prototype is an ordinary object
		"Object.setPrototypeOf(Promise.prototype.__proto__, Promise.prototype)":                                          "TypeError",
		"if (Reflect.setPrototypeOf(Promise.prototype.__proto__, Promise.prototype)) 1; else throw new RangeError('no')": "RangeError",
		"Promise.prototype.__proto__.__proto__ = Promise.prototype":                                                      "TypeError",
		"Object.setPrototypeOf(Promise.prototype, Object.prototype); await 1; throw new RangeError('yes')":               "RangeError",
	} {
		if _, err := e.Run(context.Background(), "main.js", script); err == nil || !strings.Contains(err.Error(), want) {
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

// TestNativesAreFound checks that New finds the builtins to check, or fails with the name of a missing one.
func TestNativesAreFound(t *testing.T) {
	e, _ := testEngine(t, Options{})
	if n, err := e.native("eval"); err != nil || n.Call == nil {
		t.Errorf("eval is not found: %v", err)
	}
	for _, expression := range []string{"1", "() => 1", "({})"} {
		if _, err := e.native(expression); err == nil || !strings.Contains(err.Error(), "lang/internals does not find the function of "+expression) {
			t.Errorf("%s: %v", expression, err)
		}
	}
}

// TestOverdue checks that a call that does not end is reported once with the exceeded limit, and that one that ends in time is
// not reported.
func TestOverdue(t *testing.T) {
	told := make(chan error, 2)
	e, _ := testEngine(t, Options{Limits: Limits{Time: 50 * time.Millisecond}, OnOverdue: func(cause error) { told <- cause }})
	for {
		began := time.Now()
		if _, err := e.Run(context.Background(), "a.js", "for (;;);"); diag.Code(err) != "timeout" {
			t.Error(err)
		}
		if time.Since(began) < overdueTime {
			break
		}
		select { // the machine was too busy for the call to end in time
		case <-told:
		default:
		}
	}
	release := make(chan struct{})
	if err := e.VM().Set("block", func() { <-release }); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := e.Run(context.Background(), "b.js", "block()")
		ended <- err
	}()
	select {
	case cause := <-told:
		if diag.Code(cause) != "timeout" {
			t.Error(cause)
		}
	case <-time.After(time.Minute):
		t.Error("nothing is reported")
	}
	close(release)
	if err := <-ended; diag.Code(err) != "timeout" {
		t.Error(err)
	}
	if len(told) > 0 {
		t.Error("a call is reported that ended in time, or one twice")
	}
}
