package lang

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
)

func TestWaitingForTheTurnEndsWithTheContext(t *testing.T) {
	e, _ := testEngine(t, Options{})
	running, stop := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- e.Do(context.Background(), func(*goja.Runtime) error { close(running); <-stop; return nil })
	}()
	<-running
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := e.Eval(ctx, "t", "1"); diag.Code(err) != "timeout" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	e.Serve(ctx)
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := e.Eval(context.Background(), "t", "1"); err != nil {
		t.Error(err)
	}
}

func TestCallsFromWithinACallFail(t *testing.T) {
	e, _ := testEngine(t, Options{})
	err := e.Do(context.Background(), func(*goja.Runtime) error {
		_, err := e.Eval(context.Background(), "t", "1")
		if diag.Code(err) != "reentrant" {
			t.Errorf("Eval: %v", err)
		}
		if err := e.Close(); diag.Code(err) != "reentrant" {
			t.Errorf("Close: %v", err)
		}
		e.Serve(context.Background())
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := e.Eval(context.Background(), "t", "1"); err != nil {
		t.Error(err)
	}
}

// TestFailedCallsLeaveNoWork checks that a call that fails before its work starts does not leave the work to the next call.
func TestFailedCallsLeaveNoWork(t *testing.T) {
	e, _ := testEngine(t, Options{})
	early := &ExitError{3}
	for name, call := range map[string]func(ran *bool) error{
		"Do": func(ran *bool) error {
			return e.Do(context.Background(), func(*goja.Runtime) error { *ran = true; return nil })
		},
		"Await": func(ran *bool) error {
			_, err := e.Await(context.Background(), func(*goja.Runtime) (goja.Value, error) { *ran = true; return nil, nil })
			return err
		},
		"Eval": func(ran *bool) error {
			_ = e.VM().Set("note", func() { *ran = true })
			_, err := e.Eval(context.Background(), "t", "note()")
			return err
		},
	} {
		var ran bool
		e.Post(func() error { return early }) // a background error that ends the running call
		if err := call(&ran); !errors.Is(err, early) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := e.Eval(context.Background(), "t", "1"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ran {
			t.Errorf("the work of %s ran in the next call", name)
		}
	}
}

func TestTimersOfAFailedRunEndWithIt(t *testing.T) {
	e, out := testEngine(t, Options{})
	if _, err := e.Run(context.Background(), "t.js", "setInterval(() => print('on'), 1); throw new Error('x')"); err == nil {
		t.Fatal("no error")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := e.Run(ctx, "t.js", "await sleep(20); print('next')"); err != nil || out.String() != "next\n" {
		t.Errorf("%v %s", err, out)
	}
}

// TestModulesAreTriedAgain checks that an interrupted module, or one with a missing import, is loaded again by the next import.
func TestModulesAreTriedAgain(t *testing.T) {
	dir := files(t, map[string]string{
		"loop.js":   "if (globalThis.first !== false) { globalThis.first = false; cut(); for (;;); }; export const a = 1",
		"user.js":   "import { a } from './loop.js'; export const b = a",
		"wait.js":   "if (globalThis.waited !== true) { globalThis.waited = true; cut(); await sleep(60000) }; export const c = 1",
		"lack.js":   "import './circle.js'; import { d } from './none.js'; export const e = d",
		"circle.js": "import { e } from './lack.js'; export const f = () => e",
	})
	e, out := testEngine(t, Options{Dir: dir})
	for _, c := range []struct{ script, want string }{
		{"import { b } from './user.js'; print(b)", "1\n"},
		{"import { c } from './wait.js'; print(c)", "1\n"},
	} {
		ctx, cut := context.WithCancel(t.Context())
		if err := e.VM().Set("cut", cut); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(ctx, "t.js", c.script); diag.Code(err) != "cancelled" {
			t.Errorf("%s: %v", c.script, err)
		}
		cut()
		out.Reset()
		if _, err := e.Run(context.Background(), "t.js", c.script); err != nil || out.String() != c.want {
			t.Errorf("%s again: %v %s", c.script, err, out)
		}
	}
	const script = "import { e } from './lack.js'; import { f } from './circle.js'; print(e, f())"
	if _, err := e.Run(context.Background(), "t.js", script); diag.Code(err) != "not-found" {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "none.js"), []byte("export const d = 4"), 0o666); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if _, err := e.Run(context.Background(), "t.js", script); err != nil || out.String() != "4 4\n" {
		t.Errorf("%v %s", err, out)
	}
}

func TestGettersThatThrowInDo(t *testing.T) {
	e, _ := testEngine(t, Options{})
	v, err := e.Eval(context.Background(), "line", "({ get x() { throw new RangeError('no') } })")
	if err != nil {
		t.Fatal(err)
	}
	err = e.Do(context.Background(), func(*goja.Runtime) error { _ = v.(*goja.Object).Get("x"); return nil })
	if err == nil || !strings.Contains(diag.Format(err, false), "RangeError: no") || !strings.Contains(err.Error(), "line:1:") {
		t.Errorf("got %v", err)
	}
}

// TestInterruptsLeaveTheEngineWell checks that promises of the next call settle after an interrupt at any position.
func TestInterruptsLeaveTheEngineWell(t *testing.T) {
	for _, text := range []string{
		"for (;;);", "await sleep(1); for (;;);", "sleep(1).then(() => { for (;;); }); await sleep(60000)",
		"(async () => { await sleep(1); for (;;); })(); await sleep(60000)",
		"(async () => { await sleep(1); await f() })(); async function f() { await 1; try { for (;;); } finally { print('no') } }; await sleep(60000)",
		"const g = (function* () { yield 1; for (;;); })(); g.next(); await sleep(1); [1].map(() => g.next())",
		"await sleep(1); for (const x of [1, 2]) { try { for (;;); } catch {} }",
		"(async () => { const secret = 1, use = () => secret; await sleep(1); { let secret = 2; (() => secret)(); for (;;) use() } })(); await sleep(60000)",
	} {
		for _, run := range []bool{false, true} {
			e, out := testEngine(t, Options{})
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				var err error
				if run {
					_, err = e.Run(ctx, "t.js", text)
				} else {
					_, err = e.Eval(ctx, "t.js", text)
				}
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", text, err)
				}
				v, err := e.Eval(t.Context(), "next.js", "await sleep(1); await 1; const list = []; for (const x of [1, 2]) list.push(await x); list.join() + (() => { try { null.x } catch (e) { return e.name } })() + typeof secret + (() => typeof use)()")
				if err != nil || v.String() != "1,2TypeErrorundefinedundefined" {
					t.Errorf("after %s: %v, %v", text, v, err)
				}
			}
			if out.Len() > 0 {
				t.Errorf("%s printed %q", text, out)
			}
		}
	}
	e, _ := testEngine(t, Options{})
	if !e.limit.unwinder.Complete() {
		t.Error("the interpreter lacks a stack: look at its fields")
	}
}

// TestInterruptsDropJobs checks that no promise job of an interrupted call runs in a later call, which it would not let end.
func TestInterruptsDropJobs(t *testing.T) {
	const late = "Promise.resolve().then(() => { globalThis.late = true }); "
	for _, text := range []string{
		late + "for (;;);",
		"await 1; " + late + "for (;;);",
		"await sleep(1); " + late + "for (;;);",
		"(async () => { await 1; " + late + "for (;;); })(); await sleep(60000)",
		"(async () => { await 1; f(); for (;;); })(); await sleep(60000); async function f() { await 2; globalThis.late = true }",
		"(async () => { for await (const x of [1]) { " + late + "for (;;); } })(); await sleep(60000)",
	} {
		for _, run := range []bool{false, true} {
			e, _ := testEngine(t, Options{})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			var err error
			if run {
				_, err = e.Run(ctx, "t.js", text)
			} else {
				_, err = e.Eval(ctx, "t.js", text)
			}
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", text, err)
			}
			if v, err := e.Eval(t.Context(), "next.js", "await sleep(1); typeof globalThis.late"); err != nil || v.String() != "undefined" {
				t.Errorf("after %s: %v, %v", text, v, err)
			}
		}
	}
}

// TestAwaitAllocations compares the memory of an await at the top level of a module with that in a function.
func TestAwaitAllocations(t *testing.T) {
	bytes := func(text string) uint64 {
		e, _ := testEngine(t, Options{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Run(t.Context(), "main.js", text); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	const loop = "for (let i = 0; i < 10000; i++) await i"
	top, function := bytes(loop), bytes("async function f() { "+loop+" }; await f()")
	t.Logf("%d bytes at the top level, %d in a function", top, function)
	if top > 2*function {
		t.Errorf("%d bytes at the top level, %d in a function", top, function)
	}
}
