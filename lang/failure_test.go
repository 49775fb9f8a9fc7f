package lang

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

// operationEngine returns an engine with hold(), an operation that ends some time after its cancellation.
func operationEngine(t *testing.T, o Options) (*Engine, *bytes.Buffer, *atomic.Int32) {
	t.Helper()
	var running atomic.Int32
	o.Modules = append(o.Modules, Module{Name: "op", Globals: []string{"hold", "later", "leave"}, Instantiate: func(e *Engine) (*goja.Object, error) {
		x := e.VM().NewObject()
		_ = x.Set("hold", e.Func("hold", func(goja.FunctionCall) (goja.Value, error) {
			running.Add(1)
			return e.Async("hold", func(ctx context.Context) (func() (goja.Value, error), error) {
				<-ctx.Done()
				time.Sleep(20 * time.Millisecond)
				running.Add(-1)
				return nil, context.Cause(ctx)
			}), nil
		}))
		_ = x.Set("later", e.Func("later", func(c goja.FunctionCall) (goja.Value, error) {
			fn, _ := goja.AssertFunction(c.Argument(0))
			e.Loop().After(time.Duration(c.Argument(1).ToInteger())*time.Millisecond, func() error { _, err := fn(nil); return err })
			return nil, nil
		}))
		return x, x.Set("leave", e.Func("leave", func(goja.FunctionCall) (goja.Value, error) {
			return e.Async("leave", func(context.Context) (func() (goja.Value, error), error) {
				runtime.Goexit()
				return nil, nil
			}), nil
		}))
	}})
	e, out := testEngine(t, o)
	return e, out, &running
}

// waitFor returns work that takes ms milliseconds unless it is cancelled.
func waitFor(ms int64) func(context.Context) (func() (goja.Value, error), error) {
	return func(ctx context.Context) (func() (goja.Value, error), error) {
		select {
		case <-time.After(time.Duration(ms) * time.Millisecond):
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// TestAFailedCallLeavesNothing checks that all work started directly or indirectly by a failed call ends before the call
// returns.
func TestAFailedCallLeavesNothing(t *testing.T) {
	const begin = `globalThis.next = false; let begun = false; hold()
		const tick = () => { if (next) print('a timer of the failed call'); else later(tick, 1) }
		sleep(1).then(() => { hold(); tick(); begun = true });
		(async () => { while (!next) await sleep(1); print('a promise of the failed call') })()
		while (!begun) await sleep(1)
		throw new Error('mine')`
	for name, call := range map[string]func(*Engine) error{
		"Run": func(e *Engine) error {
			_, err := e.Run(t.Context(), "t.js", begin)
			return err
		},
		"Eval": func(e *Engine) error {
			_, err := e.Eval(t.Context(), "t.js", begin)
			return err
		},
		"Await": func(e *Engine) error {
			v, err := e.Eval(t.Context(), "t.js", "(async () => {"+begin+"})")
			if err != nil {
				return err
			}
			f, _ := goja.AssertFunction(v)
			_, err = e.Await(t.Context(), func(*goja.Runtime) (goja.Value, error) { return f(nil) })
			return err
		},
	} {
		e, out, running := operationEngine(t, Options{})
		if err := call(e); err == nil || !strings.Contains(err.Error(), "mine") {
			t.Errorf("%s: %v", name, err)
		}
		if n := running.Load(); n != 0 {
			t.Errorf("%s: %d operations go on", name, n)
		}
		if _, err := e.Run(t.Context(), "next.js", "globalThis.next = true; await sleep(30); print('next')"); err != nil || out.String() != "next\n" {
			t.Errorf("%s: %v, printed %q", name, err, out)
		}
	}
}

func TestACancelledCallLeavesNothing(t *testing.T) {
	e, out, running := operationEngine(t, Options{Prompt: true})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Eval(ctx, "t.js", "globalThis.next = false; (async () => { while (!next) await sleep(1); print('no') })(); await hold()"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if n := running.Load(); n != 0 {
		t.Errorf("%d operations go on", n)
	}
	if _, err := e.Eval(t.Context(), "t.js", "globalThis.next = true; await sleep(30)"); err != nil || out.Len() > 0 {
		t.Errorf("%v, printed %q", err, out)
	}
}

// TestCallsFailOnlyThroughTheirOwn checks that work of an earlier call survives the failure of a later one, and that its own
// failure does not affect later calls.
func TestCallsFailOnlyThroughTheirOwn(t *testing.T) {
	var reported []error
	e, out, _ := operationEngine(t, Options{OnError: func(err error) { reported = append(reported, err) }})
	eval := func(text string) {
		t.Helper()
		if _, err := e.Eval(t.Context(), "before.js", text); err != nil {
			t.Fatal(err)
		}
	}
	eval("globalThis.failed = globalThis.survived = false; (async () => { while (!failed) await sleep(1); survived = true; print('survived') })(); 0")
	if _, err := e.Run(t.Context(), "bad.js", "globalThis.failed = true; throw new Error('mine')"); err == nil {
		t.Error("no error")
	}
	eval("later(() => { throw new Error('of a timer') })")
	eval("sleep(1).then(() => { throw new Error('of a promise') }); 0")
	for end := time.Now().Add(time.Minute); (len(reported) < 2 || out.Len() == 0) && time.Now().Before(end); {
		if _, err := e.Run(t.Context(), "good.js", "await sleep(2)"); err != nil {
			t.Error(diag.Format(err, false))
		}
	}
	if _, err := e.Run(t.Context(), "good.js", "print('well')"); err != nil {
		t.Error(diag.Format(err, false))
	}
	if out.String() != "survived\nwell\n" {
		t.Errorf("printed %q", out)
	}
	if len(reported) != 2 || !strings.Contains(reported[0].Error(), "of a timer") || !strings.Contains(reported[1].Error(), "before.js:1:29: Error: of a promise") {
		t.Errorf("reported %q", reported)
	}
	// Timers and promises that the call started directly or indirectly fail the call.
	for _, text := range []string{"later(() => later(() => { throw new Error('own') })); await sleep(500)", "sleep(1).then(() => { throw new Error('own') }); await sleep(500)"} {
		if _, err := e.Run(t.Context(), "own.js", text); err == nil || !strings.Contains(err.Error(), "own") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if len(reported) != 2 {
		t.Errorf("reported %q", reported[2:])
	}
}

func TestBackgroundErrorsAreToldSomewhere(t *testing.T) {
	for _, logged := range []bool{false, true} {
		var stderr, log bytes.Buffer
		o := Options{Stderr: &stderr}
		if logged {
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		}
		e, _, _ := operationEngine(t, o)
		if _, err := e.Eval(t.Context(), "before.js", "later(() => { throw new Error('late') })"); err != nil {
			t.Fatal(err)
		}
		told, silent := &stderr, &log
		if logged {
			told, silent = silent, told
		}
		for end := time.Now().Add(time.Minute); told.Len() == 0 && time.Now().Before(end); {
			if _, err := e.Eval(t.Context(), "t.js", "await sleep(5)"); err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(told.String(), "late") || !strings.Contains(told.String(), "before.js:1:21") || silent.Len() > 0 {
			t.Errorf("logged %v: stderr %q, log %q", logged, &stderr, &log)
		}
	}
}

func TestGoexitRejects(t *testing.T) {
	e, _, _ := operationEngine(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := e.Run(ctx, "t.js", "await leave()"); diag.Code(err) != "internal" || !strings.Contains(err.Error(), "ended its goroutine") {
		t.Error(err)
	}
}

// TestGoexitEndsTheCall checks that a function of the program which ends its goroutine ends the call alone: the engine, the work of
// earlier calls and later calls remain.
func TestGoexitEndsTheCall(t *testing.T) {
	const limit = 2 * time.Second
	for _, text := range []string{
		"exit()",
		"Promise.resolve().then(() => { globalThis.late = true }); exit()",
		"await 1; Promise.resolve().then(() => { globalThis.late = true }); exit()",
		"(function f(n) { n ? [n].map(() => f(n - 1)) : exit() })(20)",
		"(async () => { await sleep(1); try { for (const x of [1, 2]) exit() } finally { globalThis.late = true } })(); await sleep(60000)",
		"function* g() { yield exit() } [...g()]",
		"for await (const x of (async function* () { yield exit() })()) 0",
		"new Proxy({}, { get: exit }).x",
	} {
		for _, run := range []bool{false, true} {
			t.Run(text, func(t *testing.T) {
				t.Parallel()
				e, _ := testEngine(t, Options{Prompt: !run, Limits: Limits{Time: limit}})
				if err := e.Do(t.Context(), func(vm *goja.Runtime) error {
					return vm.Set("exit", e.Func("exit", func(goja.FunctionCall) (goja.Value, error) { runtime.Goexit(); return nil, nil }))
				}); err != nil {
					t.Fatal(err)
				}
				if _, err := e.Eval(t.Context(), "before.js", "globalThis.ticks = 0; sleep(2).then(() => ticks++); 0"); err != nil {
					t.Fatal(err)
				}
				returned, left := false, make(chan bool)
				go func() {
					defer close(left)
					if run {
						_, _ = e.Run(t.Context(), "t.js", text)
					} else {
						_, _ = e.Eval(t.Context(), "t.js", text)
					}
					returned = true
				}()
				<-left
				if returned {
					t.Errorf("%s: the call returned", text)
				}
				v, err := e.Eval(t.Context(), "next.js", "while (!ticks) await sleep(1); const fn = async () => { await 1; return `${typeof globalThis.late} ${ticks}` }; await fn()")
				if err != nil || v.String() != "undefined 1" {
					t.Errorf("after %s: %v, %v", text, v, err)
				}
				time.Sleep(limit / 2)
				v, err = e.Eval(t.Context(), "next.js", "await sleep(1200); 5") // beyond the first call's end of time
				if err != nil || v.String() != "5" {
					t.Errorf("later after %s: %v, %v", text, v, err)
				}
			})
		}
	}
}
