package lang

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/lang/inspect"
	"github.com/orepl/orepl/runtime/stopwatch"
	"github.com/orepl/orepl/tests/allocs"
)

// testEngine returns an engine with a module "host" that exports print, sleep, fail and boom as globals.
func testEngine(t *testing.T, o Options) (*Engine, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	o.Modules = append(o.Modules, Module{
		Name:    "host",
		Globals: []string{"print", "sleep", "fail", "boom"},
		Instantiate: func(e *Engine) (*goja.Object, error) {
			x := e.VM().NewObject()
			set := func(name string, fn NativeFunc) { _ = x.Set(name, e.Func(name, fn)) }
			set("print", func(c goja.FunctionCall) (goja.Value, error) {
				for i, v := range c.Arguments {
					if i > 0 {
						out.WriteByte(' ')
					}
					out.WriteString(e.Inspect(v, inspect.Options{}))
				}
				out.WriteByte('\n')
				return nil, nil
			})
			set("sleep", func(c goja.FunctionCall) (goja.Value, error) {
				d, result := time.Duration(c.Argument(0).ToInteger())*time.Millisecond, c.Argument(1) // copied, because the interpreter reuses the arguments
				return e.Async("sleep", func(ctx context.Context) (func() (goja.Value, error), error) {
					select {
					case <-time.After(d):
						return func() (goja.Value, error) { return result, nil }, nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}), nil
			})
			set("fail", func(goja.FunctionCall) (goja.Value, error) { return nil, deviceError{} })
			set("boom", func(goja.FunctionCall) (goja.Value, error) { return nil, *(*error)(nil) })
			return x, nil
		},
	})
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, &out
}

// endsWith runs a script within limits and checks that it ends with an error of the given code, or none if empty. It then runs
// next, to which the resources used before must not count.
func endsWith(t *testing.T, limits Limits, script, code, next string) {
	t.Helper()
	e, _ := testEngine(t, Options{Limits: limits})
	if _, err := e.Run(t.Context(), "main.js", script); diag.Code(err) != code {
		t.Errorf("%s: %q, want %q: %v", script, diag.Code(err), code, err)
	}
	if _, err := e.Run(t.Context(), "next.js", next); err != nil {
		t.Errorf("after %s: %v", script, err)
	}
}

type deviceError struct{}

func (deviceError) Error() string { return "read: index 9 is out of bounds" }
func (deviceError) Code() string  { return "out-of-bounds" }
func (deviceError) Hint() string  { return "the buffer has 8 elements" }

// files writes a file tree and returns its directory.
func files(t *testing.T, tree map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tree {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestModules(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"kinds of import": {map[string]string{
			"main.js": `import d, { a, b as bee } from './m.js'; import * as ns from './m.js'; import './side.js'
				import cfg from './c.json'; import src from './k.cl'; import lib from './lib'; import { deep } from './d/e.mjs'
				print(d, a, bee, ns.b, cfg.x[0], src, lib, deep)`,
			"m.js": `export default 'D'; export const a = 1; export let b = 2`, "side.js": `print('side')`,
			"c.json": `{"x": [7]}`, "k.cl": "kernel", "lib.ts": `const n: number = 5; export default n`,
			"d/e.mjs": `export { deep } from '../f.js'`, "f.js": `export const deep = 'deep'`,
		}, "side\nD 1 2 2 7 kernel 5 deep\n"},
		"bindings are live": {map[string]string{
			"main.js": `import { n, inc } from './m.js'; print(n); inc(); print(n)`,
			"m.js":    `export let n = 0; export function inc() { n++ }`,
		}, "0\n1\n"},
		"circle": {map[string]string{
			"main.js": `import { b } from './b.js'; export function a() { return 'a' }; print(b())`,
			"b.js":    `import { a } from './main.js'; export function b() { return 'b' + a() }`,
		}, "ba\n"},
		"top-level await in order": {map[string]string{
			"main.js": `import { x } from './slow.js'; import './quick.js'; print('main', x); print(await sleep(1, 'slept'))`,
			"slow.js": `export const x = await sleep(20, 4); print('slow')`, "quick.js": `print('quick')`,
		}, "quick\nslow\nmain 4\nslept\n"},
		"star, names and dynamic": {map[string]string{
			"main.js": `const m = await import('./s.js'); print(m); print((await import('./t.txt')).default)
				try { await import('./none.js') } catch (e) { print(e.code, e.message) }`,
			"s.js": `export * from './m.js'; export * as sub from './m.js'; export { a as default } from './m.js'`,
			"m.js": `export const a = 1, b = 'x'`, "t.txt": "text",
		}, "[Module] { a: 1, b: 'x', default: 1, sub: [Module] { a: 1, b: 'x' } }\ntext\nnot-found import none.js: there is no such file\n"},
		"run once": {map[string]string{
			"main.js": `import './a.js'; import './b.js'; import './a'`, "a.js": `import './b.js'; print('a')`, "b.js": `print('b')`,
		}, "b\na\n"},
		"lowered syntax": {map[string]string{
			"main.js": `async function* g() { yield 1; yield 2 }
				for await (const x of g()) print(x)
				{ using r = { [Symbol.dispose]() { print('disposed') } }; print('in') }
				{ await using r = { async [Symbol.asyncDispose]() { await sleep(1); print('disposed later') } } }`,
		}, "1\n2\nin\ndisposed\ndisposed later\n"},
		"import.meta": {map[string]string{"main.js": `print(import.meta.url.startsWith('file:///'), import.meta.filename.endsWith('main.js'))`}, "true true\n"},
		"typescript": {map[string]string{
			"main.ts": `import type { P } from './p'; import { origin } from './p'; enum E { A = 'x' }
				class C { constructor(private readonly p: P) {} get x(): number { return this.p.x } }; print(new C(origin).x, E.A)`,
			"p.ts": `export interface P { x: number }; export const origin: P = { x: 3 }`,
		}, "3 x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e, out := testEngine(t, Options{Dir: files(t, c.files)})
			main := "main.js"
			if _, ok := c.files[main]; !ok {
				main = "main.ts"
			}
			if _, err := e.RunFile(context.Background(), main); err != nil {
				t.Fatal(diag.Format(err, false))
			}
			if out.String() != c.want {
				t.Errorf("got\n%swant\n%s", out, c.want)
			}
		})
	}
}

// TestErrors checks messages, source positions and hints of erroneous scripts.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // parts of the printed diagnostic
	}{
		"exception": {map[string]string{"main.js": "const o = {}\nfunction f() { return o.a.b }\nf()"},
			[]string{"TypeError: Cannot read property 'b': o.a is undefined or null", "main.js:2:27", "2 | function f() { return o.a.b }", "at f (main.js:2:27)", "at main.js:3:2"}},
		"typo": {map[string]string{"main.js": "prnt(1)"}, []string{"ReferenceError: prnt is not defined", "main.js:1:1", "^^^^", "did you mean print?"}},
		"go error": {map[string]string{"main.js": "let x = 1\n  fail()"},
			[]string{"error: read: index 9 is out of bounds [out-of-bounds]", "main.js:2:7", "hint: the buffer has 8 elements"}},
		"go panic": {map[string]string{"main.js": "boom()"}, []string{"internal error in boom: runtime error: invalid memory address or nil pointer dereference [internal]", "main.js:1:5"}},
		"caught go error": {map[string]string{"main.js": "try { fail() } catch (e) { throw new Error('wrapped', { cause: e }) }"},
			[]string{"Error: wrapped", "main.js:1:34", "caused by read: index 9 is out of bounds [out-of-bounds]", "main.js:1:11", "hint: the buffer"}},
		"rejection": {map[string]string{"main.js": "async function f() { throw new RangeError('late') }\nf()"},
			[]string{"RangeError: late", "main.js:1:28", "nothing handled it", "await"}},
		"rejected later": {map[string]string{"main.js": "sleep(1).then(() => { null.x })\nawait sleep(50)"},
			[]string{"TypeError", "main.js:1:28"}},
		"no error thrown": {map[string]string{"main.js": "\nthrow {custom: 1}"}, []string{"uncaught { custom: 1 }", "main.js:2:1", "throw an Error"}},
		"in imported typescript": {map[string]string{"main.js": "import { f } from './lib.ts'\nf(null)",
			"lib.ts": "interface X { a: number }\n\n\nexport function f(x: X): number {\n  return x.a\n}\n"},
			[]string{"TypeError", "lib.ts:5:12", "5 |   return x.a", "at f (lib.ts:5:12)", "at main.js:2:2"}},
		"syntax":           {map[string]string{"main.js": "const a = 1\nconst b = = 2"}, []string{"SyntaxError: Unexpected \"=\"", "main.js:2:11"}},
		"typescript in js": {map[string]string{"main.js": "const a: number = 1"}, []string{"SyntaxError", "main.js:1:8"}},
		"syntax in import": {map[string]string{"main.js": "import './m.js'", "m.js": "let a\nlet a"}, []string{"already been declared", "m.js:2:5"}},
		"missing file":     {map[string]string{"main.js": "import a from './nope.js'"}, []string{"import nope.js: there is no such file [not-found]", "main.js:1:1"}},
		"missing module":   {map[string]string{"main.js": "\nimport a from 'hots'"}, []string{`there is no module "hots"`, "main.js:2:1", `did you mean "host"?`}},
		"missing export": {map[string]string{"main.js": "import { alpa } from './m.js'", "m.js": "export const alpha = 1"},
			[]string{`"./m.js" has no export named "alpa"`, "main.js:1:10", "^^^^", `did you mean "alpha"?`}},
		"json in Latin-1":          {map[string]string{"main.js": "import c from './c.json'", "c.json": "{\n  \"a\": \"\xe9\"\n}"}, []string{"c.json:2:9", "not UTF-8"}},
		"text in Latin-1":          {map[string]string{"main.js": "import c from './c.txt'", "c.txt": "caf\xe9"}, []string{"c.txt:1:4", "not UTF-8"}},
		"bad json":                 {map[string]string{"main.js": "import c from './c.json'", "c.json": "{\n  \"a\": x\n}"}, []string{"c.json:2:8", "no JSON"}},
		"stack overflow":           {map[string]string{"main.js": "function f() { return f() + 1 }\nf()"}, []string{"RangeError: calls are nested more than", "main.js:1:"}},
		"never settles":            {map[string]string{"main.js": "await new Promise(() => {})"}, []string{"never-settles"}},
		"wide characters":          {map[string]string{"main.js": "const größe = 'ß'; null.x"}, []string{"main.js:1:25"}},
		"error getter that throws": {map[string]string{"main.js": "const e = new Error('m'); Object.defineProperty(e, 'name', { get() { throw 1 } }); throw e"}, []string{"error: m"}},
		"aggregate":                {map[string]string{"main.js": "await Promise.any([Promise.reject(new Error('one'))])"}, []string{"AggregateError", "Error: one"}},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := testEngine(t, Options{Dir: files(t, c.files)})
			_, err := e.RunFile(context.Background(), "main.js")
			if err == nil {
				t.Fatal("no error")
			}
			text := diag.Format(err, false)
			for _, part := range c.want {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in\n%s", part, text)
				}
			}
		})
	}
}

func TestGoErrorsPassThroughScripts(t *testing.T) {
	e, _ := testEngine(t, Options{})
	for _, script := range []string{"fail()", "try { fail() } catch (e) { throw e }", "await (async () => { await sleep(1); fail() })()"} {
		_, err := e.Run(context.Background(), "t.js", script)
		var d deviceError
		if !errors.As(err, &d) || diag.Code(err) != "out-of-bounds" {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestEvalRedeclares(t *testing.T) {
	e, _ := testEngine(t, Options{Prompt: true})
	for _, c := range []struct{ line, want string }{
		{"let a = 1", "undefined"}, {"let a = a + 1; a", "2"}, {"const a = 'c'; a", "c"}, {"a", "c"},
		{"const bad = null.x", "!TypeError"}, {"const bad = 5; bad", "5"},
		{"class A { x = 1 }", "undefined"}, {"class A { x = 2 }; new A().x", "2"},
		{"function f() { return 1 }", "undefined"}, {"function f() { return 2 }", "undefined"}, {"f()", "2"},
		{"const {x, y: [z]} = await sleep(1, {x: 1, y: [2]})", "undefined"}, {"x + z", "3"},
		{"await sleep(1, 'late')", "late"}, {"for (let i = 0; i < 2; i++) a", "undefined"},
		{"import { print as show } from 'host'", "undefined"}, {"show.name", "print"},
		{"import host, * as h from 'host'; host === h", "true"},
		{"const n: number = 3; n", "3"}, {"for await (const v of [1, 2]) globalThis.last = v", "undefined"}, {"last", "2"},
		{"g = () => f", "() => f"}, {"const f = () => 9; g()()", "9"}, {"nope", "!nope is not defined"}, {"var v; v", "undefined"},
		{"throw 5", "!uncaught 5"}, {"1 +", "!Unexpected end of input"}, {"Promise.reject(new Error('lost'))", "!lost"}, {"f()", "9"},
	} {
		v, err := e.Eval(context.Background(), "<prompt>", c.line)
		got := "undefined"
		if err != nil {
			got = "!" + err.Error()
			if !strings.HasPrefix(c.want, "!") || !strings.Contains(got, c.want[1:]) {
				t.Errorf("%s: %s", c.line, diag.Format(err, false))
			}
			continue
		}
		if v != nil {
			got = v.String()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.line, got, c.want)
		}
	}
}

func TestContextAndLimitsEndCalls(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		limits Limits
		code   string
	}{
		"loop":          {"for (;;);", Limits{Time: 20 * time.Millisecond}, "timeout"},
		"caught loop":   {"for (;;) { try { for (;;); } catch {} finally { } }", Limits{Time: 20 * time.Millisecond}, "timeout"},
		"pending await": {"await sleep(600000)", Limits{Time: 20 * time.Millisecond}, "timeout"},
		"memory":        {"const a = []; for (;;) a.push(new Array(1000).fill(1))", Limits{Memory: 64 << 20}, "out-of-memory"},
		"depth":         {"(function f() { f() })()", Limits{CallDepth: 100}, "stack-overflow"},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := testEngine(t, Options{Limits: c.limits})
			begin := stopwatch.Start()
			_, err := e.Run(context.Background(), "t.js", c.script)
			if diag.Code(err) != c.code || diag.Hint(err) == "" {
				t.Errorf("got %v", err)
			}
			if d := begin.Elapsed(); c.limits.Time > 0 && d > time.Minute {
				t.Errorf("it took %v", d)
			}
			_, err = e.Eval(context.Background(), "t", "1")
			for tries := 0; diag.Code(err) == "timeout" && tries < 50; tries++ { // a busy machine may exceed the limit
				_, err = e.Eval(context.Background(), "t", "1")
			}
			if err != nil {
				t.Errorf("the engine is dead: %v", err)
			}
		})
	}
	e, _ := testEngine(t, Options{})
	cause := errors.New("Ctrl-C")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	if _, err := e.Eval(ctx, "t", "for (;;);"); !errors.Is(err, cause) || diag.Code(err) != "cancelled" {
		t.Errorf("got %v", err)
	}
}

func TestExit(t *testing.T) {
	e, out := testEngine(t, Options{Modules: []Module{{Name: "p", Globals: []string{"exit"}, Instantiate: func(e *Engine) (*goja.Object, error) {
		x := e.VM().NewObject()
		return x, x.Set("exit", e.Func("exit", func(c goja.FunctionCall) (goja.Value, error) { e.Exit(int(c.Argument(0).ToInteger())); return nil, nil }))
	}}}})
	for _, script := range []string{"try { exit(3) } finally { print('no') }; print('no')", "sleep(1).then(() => exit(3)); await sleep(9000)", "exit(3)"} {
		_, err := e.Run(context.Background(), "t.js", script)
		var exit *ExitError
		if !errors.As(err, &exit) || exit.Code != 3 || out.Len() > 0 {
			t.Errorf("%s: %v %s", script, err, out)
		}
	}
	if _, err := e.Run(context.Background(), "t.js", "print('alive')"); err != nil || out.String() != "alive\n" {
		t.Errorf("%v %s", err, out)
	}
}

func TestServeRunsBackgroundWork(t *testing.T) {
	var reported []error
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, out := testEngine(t, Options{OnError: func(err error) { reported = append(reported, err); cancel() }})
	if _, err := e.Eval(context.Background(), "t", "sleep(5).then(() => { print('later'); null.x }); 0"); err != nil {
		t.Fatal(err)
	}
	e.Serve(ctx)
	if out.String() != "later\n" || len(reported) != 1 || !strings.Contains(reported[0].Error(), "t:1:") {
		t.Errorf("%q %v", out, reported)
	}
}

func TestPolicy(t *testing.T) {
	dir := files(t, map[string]string{"ok/m.js": "export const a = 1", "secret.js": "export const a = 2"})
	e, _ := testEngine(t, Options{Dir: dir, Policy: Policy{Read: func(path string) error {
		if !strings.HasPrefix(path, filepath.Join(dir, "ok")) {
			return errors.New("outside the sandbox")
		}
		return nil
	}}})
	if _, err := e.Import(context.Background(), "./ok/m.js"); err != nil {
		t.Error(err)
	}
	for _, script := range []string{"import './secret.js'", "await import('./ok/../secret.js')", "await import('./secret')"} {
		if _, err := e.Run(context.Background(), "t.js", script); diag.Code(err) != "permission-denied" {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestCloseEndsPendingWork(t *testing.T) {
	e, _ := testEngine(t, Options{})
	go func() { time.Sleep(20 * time.Millisecond); _ = e.Close() }()
	if _, err := e.Run(context.Background(), "t.js", "await sleep(600000)"); err == nil {
		t.Error("no error")
	}
	if _, err := e.Run(context.Background(), "t.js", ""); err == nil {
		t.Error("a closed engine runs")
	}
}

func TestNativeCallsDoNotAllocate(t *testing.T) {
	e, _ := testEngine(t, Options{})
	_ = e.VM().Set("nop", e.Func("nop", func(goja.FunctionCall) (goja.Value, error) { return nil, nil }))
	v, err := e.Eval(context.Background(), "t", "(function () { for (let i = 0; i < 100; i++) nop() })")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := goja.AssertFunction(v)
	if n := allocs.PerRun(10, func() { _, _ = f(nil) }); n > 20 {
		t.Errorf("%v allocations in 100 calls", n)
	}
}

// TestNewAllocatesLittle checks that engines share compiled texts and do not replace builtins by new functions.
func TestNewAllocatesLittle(t *testing.T) {
	if n := allocs.PerRun(10, func() { e, _ := New(Options{}); _ = e.Close() }); n > 4400 {
		t.Errorf("New allocates %v times", n)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		e, _ := New(Options{})
		_ = e.Close()
	}
}

func TestEveryUnhandledRejectionIsReported(t *testing.T) {
	var got []string
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	e, err := New(Options{Prompt: true, OnError: func(err error) {
		if got = append(got, err.Error()); len(got) == 2 {
			time.AfterFunc(20*time.Millisecond, cancel) // a third report would come by then
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Eval(ctx, "line.js", "Promise.reject(new Error('one')); Promise.reject(new Error('two')); 1"); err != nil {
		t.Fatal(err)
	}
	e.Serve(ctx)
	if len(got) != 2 || !strings.Contains(got[1], "two") {
		t.Errorf("got %q", got)
	}
}

func TestRunningEndsWithTheCallAndTheEngine(t *testing.T) {
	for _, closing := range []bool{false, true} {
		e, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		_ = e.Do(ctx, func(*goja.Runtime) error {
			if closing {
				go e.Close()
			} else {
				cancel()
			}
			select {
			case <-e.Running().Done():
			case <-time.After(time.Minute):
				t.Errorf("closing %v: the context of a native function did not end", closing)
			}
			return nil
		})
		cancel()
		_ = e.Close()
	}
}

func TestTheEndOfACallInterruptsOnlyIt(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for range 300 {
		ctx, cancel := context.WithCancel(context.Background())
		e.Post(func() error { cancel(); return nil })
		e.Serve(ctx)
		if _, err := e.Eval(context.Background(), "line.js", "for (let i = 0; i < 200; i++);"); err != nil {
			t.Fatal(err)
		}
	}
}
