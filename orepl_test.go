package orepl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/convert"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/stopwatch"
)

func open(t testing.TB) *orepl.Runtime {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	t.Cleanup(func() {
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func engine(t testing.TB, rt *orepl.Runtime, opts orepl.EngineOptions) *orepl.Engine {
	t.Helper()
	e, err := rt.Engine(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// write writes a script to a temporary folder and returns its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDecodeSaysWhere(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	path := write(t, "config.ts", `interface Stage { name: string; size: number }
export const config = {
  title: 'edges',
  stages: [{ name: 'a', size: 1 }, { name: 'b', size: 2 }, { name: 'c', size: 'big' as any }] as Stage[],
}
`)
	ctx := context.Background()
	module, err := e.RunFile(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	value, err := module.Get(ctx, "config")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Title  string
		Stages []struct {
			Name string
			Size int
		}
	}
	err = value.Decode(ctx, &config)
	var misfit *convert.Error
	if !errors.As(err, &misfit) || misfit.Path != ".stages[2].size" {
		t.Fatalf("%v", err)
	}
	if text := diag.Format(err, false); !strings.Contains(text, "config.ts:4:79") || !strings.Contains(text, "size: 'big'") {
		t.Errorf("no place in\n%s", text)
	}
}

// TestDecodeEndsWithItsContext checks that the context of Decode ends an endless getter.
func TestDecodeEndsWithItsContext(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	v, err := e.Eval(context.Background(), "line", "({ get size() { for (;;); } })")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var config struct{ Size int }
	if err := v.Decode(ctx, &config); diag.Code(err) != "timeout" || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if v, err = e.Eval(context.Background(), "line", "({ size: 3 })"); err != nil {
		t.Fatal(err)
	}
	if err := v.Decode(context.Background(), &config); err != nil || config.Size != 3 {
		t.Errorf("afterwards: %v, %+v", err, config)
	}
}

func TestGetOfAGetterThatThrows(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	ctx := context.Background()
	v, err := e.Eval(ctx, "line", "({ get x() { throw new RangeError('no') }, f: x => x })")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Get(ctx, "x"); diag.Code(err) != "exception" || !strings.Contains(diag.Format(err, false), "RangeError: no") {
		t.Errorf("%v", err)
	}
	f, err := v.Get(ctx, "f")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Call(ctx, (*orepl.Value)(nil))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := got.Text(ctx); err != nil || text != "null" {
		t.Errorf("%s, %v", text, err)
	}
}

// TestDecodeTakesTheExportsThatItNeeds checks that a script may export more names than are decoded, and that a misspelled
// export is an error.
func TestDecodeTakesTheExportsThatItNeeds(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	ctx := context.Background()
	for _, c := range []struct{ script, message, hint string }{
		{"export const size = 4, title = 'a'; export function helper() {}; export const other = { size: 'x' }", "", ""},
		{"export const size = 4, titel = 'a'", ".titel: there is no field for it", "did you mean title?"},
		{"export const size = 4, title = 'a', titel = 'b'", "", ""},
		{"export const sise = 4", ".sise: there is no field for it", "did you mean size?"},
		{"export const title = 'a'", ".size: is missing", "write: export const size = …"},
		{"export const size = 4, limits = { hihg: 3 }", ".limits.hihg: there is no field for it", "did you mean high?"},
	} {
		module, err := e.Run(ctx, "config.js", c.script)
		if err != nil {
			t.Fatal(err)
		}
		var config struct {
			Size   int `orepl:"size,required"`
			Title  string
			Limits struct{ High int }
		}
		err = module.Decode(ctx, &config)
		if c.message == "" {
			if err != nil || config.Size != 4 || config.Title != "a" {
				t.Errorf("%s: %+v, %v", c.script, config, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.message) || diag.Hint(err) != c.hint {
			t.Errorf("%s: %v, hint %q", c.script, err, diag.Hint(err))
		}
	}
}

func TestModules(t *testing.T) {
	type order struct {
		Item  string
		Count int
	}
	var out bytes.Buffer
	e := engine(t, open(t), orepl.EngineOptions{
		Stdout:  &out,
		Globals: map[string]any{"limit": 3, "double": func(x float64) float64 { return 2 * x }},
		Modules: []orepl.Module{{
			Name: "shop", Help: "Takes orders.",
			Functions: []orepl.Function{
				{Name: "price", Help: "Gives the price of an order.", Func: func(o order) (float64, error) {
					if o.Item != "tea" {
						return 0, fmt.Errorf("there is no %s", o.Item)
					}
					return 2.5 * float64(o.Count), nil
				}},
				{Name: "slow", Async: true, Help: "Waits.", Func: func(ctx context.Context, ms int) (string, error) {
					select {
					case <-time.After(time.Duration(ms) * time.Millisecond):
						return "done", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}},
			},
			Values: map[string]any{"currency": "EUR"},
		}},
	})
	ctx := context.Background()
	_, err := e.Run(ctx, "shop.js", `import { price, slow, currency } from 'shop'
console.log(price({ item: 'tea', count: limit }), currency, double(4), await slow(1))
try { price({ item: 'tea', cuont: 1 }) } catch (e) { console.log(e.message, '|', e.hint) }
try { price({ item: 'milk' }) } catch (e) { console.log(e.message) }
help('shop.price'); help(slow)`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	for _, want := range []string{
		"7.5 EUR 8 done\n", "shop.price: argument 1 .cuont: there is no field for it | did you mean count?\n", "there is no milk\n",
		"price(a0: { item: string; count: number }): number\n", "slow(a0: number): Promise<string>\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	start := stopwatch.Start()
	if _, err := e.Run(short, "slow.js", `import { slow } from 'shop'; await slow(600000)`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if _, err := e.Run(ctx, "again.js", `export const x = 1`); err != nil {
		t.Errorf("the engine does not go on: %v", err)
	}
	if start.Elapsed() > time.Minute {
		t.Error("cancelling did not end the call")
	}
}

func TestBadModules(t *testing.T) {
	rt := open(t)
	for _, m := range []orepl.Module{
		{Name: "fs"},
		{Name: "m", Functions: []orepl.Function{{Name: "f"}}},
	} {
		if _, err := rt.Engine(orepl.EngineOptions{Modules: []orepl.Module{m}}); err == nil {
			t.Errorf("%+v was accepted", m)
		}
	}
	if _, err := rt.Engine(orepl.EngineOptions{Globals: map[string]any{"c": make(chan int)}}); err == nil {
		t.Error("a channel became a global")
	}
}

func TestCallAndText(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	ctx := context.Background()
	m, err := e.Run(ctx, "f.js", `export const add = async (a, b) => a + b.n; export const made = { n: 5 }; export const no = () => { throw new RangeError('no') }`)
	if err != nil {
		t.Fatal(err)
	}
	add, _ := m.Get(ctx, "add")
	made, _ := m.Get(ctx, "made")
	sum, err := add.Call(ctx, 2, made)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := sum.Decode(ctx, &n); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	if text, err := made.Text(ctx); err != nil || text != "{ n: 5 }" {
		t.Errorf("%q, %v", text, err)
	}
	no, _ := m.Get(ctx, "no")
	if _, err := no.Call(ctx); err == nil || !strings.Contains(diag.Format(err, false), "f.js:1:") {
		t.Errorf("%v", err)
	}
	if _, err := made.Call(ctx); err == nil {
		t.Error("an object was called")
	}
	if missing, err := made.Get(ctx, "missing"); err != nil || !missing.IsUndefined() {
		t.Errorf("%v", err)
	}
	other := engine(t, open(t), orepl.EngineOptions{})
	foreign, err := other.Eval(ctx, "x.js", "({})")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := add.Call(ctx, 1, foreign); err == nil || !strings.Contains(err.Error(), "another engine") {
		t.Errorf("a value of another engine: %v", err)
	}
}

// TestEnginesAreApart checks that a fault of one engine's kernel does not affect other engines on the same device.
func TestEnginesAreApart(t *testing.T) {
	rt := open(t)
	var wg sync.WaitGroup
	for i := range 8 {
		e := engine(t, rt, orepl.EngineOptions{})
		wg.Go(func() {
			script := `import { device, kernel, f32 } from 'offload'
const x = device('cpu').buffer(f32, 64)
for (let i = 0; i < 20; i++) kernel((g, x) => { x[g.x] += 1 }).launch({ size: 64 }, x)
export const sum = (await x.read()).reduce((a, b) => a + b)`
			if i%2 == 1 {
				script = strings.ReplaceAll(script, "x[g.x] +=", "x[g.x + 1] +=")
			}
			m, err := e.Run(context.Background(), "engine.js", script)
			if i%2 == 1 {
				if diag.Code(err) != "out-of-bounds" {
					t.Errorf("engine %d: %v", i, err)
				}
				return
			}
			if err != nil {
				t.Errorf("engine %d: %v", i, err)
				return
			}
			var sum struct{ Sum float64 }
			if err := m.Decode(context.Background(), &sum); err != nil || sum.Sum != 64*20 {
				t.Errorf("engine %d: %v, %v", i, sum, err)
			}
		})
	}
	wg.Wait()
}

func TestExitAndLimits(t *testing.T) {
	rt := open(t)
	var exit *lang.ExitError
	if _, err := engine(t, rt, orepl.EngineOptions{}).Run(context.Background(), "exit.js", "process.exit(3)"); !errors.As(err, &exit) || exit.Code != 3 {
		t.Errorf("%v", err)
	}
	e := engine(t, rt, orepl.EngineOptions{Limits: lang.Limits{Time: 50 * time.Millisecond}})
	if _, err := e.Run(context.Background(), "loop.js", "for (;;);"); diag.Code(err) != "timeout" {
		t.Errorf("%v", err)
	}
}

// TestKernelsOfAFailedCallEndWithIt checks that the kernels of a failed call have ended when it returns, and that the next
// call does not report their faults.
func TestKernelsOfAFailedCallEndWithIt(t *testing.T) {
	rt := open(t)
	e := engine(t, rt, orepl.EngineOptions{})
	ctx := t.Context()
	if _, err := e.Eval(ctx, "setup.js", `import { device, kernel, i32 } from 'offload'
		const x = device().buffer(i32, 4), y = device().buffer(i32, 4), queue = device().createQueue()
		const endless = kernel((g, x) => { while (Atomics.load(x, 0) === 0) Atomics.add(x, 1, 1) })
		const wrong = kernel((g, x) => { x[g.x + 100] = 1 })
		const one = kernel((g, x) => { x[g.x] = 1 })
		await one.launch({ size: 4 }, y)`); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"endless":         "endless.launch({ size: 1 }, x); one.launch({ size: 4 }, x); throw new Error('mine')",
		"another queue":   "endless.launch({ size: 1, queue }, x); throw new Error('mine')",
		"a fault":         "wrong.launch({ size: 1 }, x); throw new Error('mine')",
		"a host function": "device().queue.host(() => new Promise(() => {})); throw new Error('mine')",
	} {
		if _, err := e.Eval(ctx, "bad.js", text); err == nil || !strings.Contains(err.Error(), "mine") {
			t.Errorf("%s: %v", name, err)
		}
		short, cancel := context.WithTimeout(ctx, time.Minute)
		v, err := e.Eval(short, "next.js", "await queue.sync(); await device().queue.sync(); (await y.read()).join() + (await x.read())[0]")
		cancel()
		if err != nil {
			t.Fatalf("after %s: %v", name, err)
		}
		if text, _ := v.Text(ctx); text != "1,1,1,10" {
			t.Errorf("after %s: %s", name, text)
		}
	}
}

// TestErrorsInTheBackground checks that work of an earlier call does not fail later calls.
func TestErrorsInTheBackground(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		told := make(chan error, 4)
		e := engine(t, open(t), orepl.EngineOptions{Isolate: isolated, OnError: func(err error) { told <- err }})
		if _, err := e.Eval(t.Context(), "before.js", "setTimeout(() => { throw new RangeError('late') }, 1); 0"); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), "next.js", "await new Promise(resolve => setTimeout(resolve, 30))"); err != nil {
			t.Errorf("isolated %v: %v", isolated, err)
		}
		select {
		case err := <-told:
			if diag.Code(err) != "exception" || !strings.Contains(err.Error(), "before.js:1:26: RangeError: late") {
				t.Errorf("isolated %v: %v", isolated, err)
			}
		case <-time.After(time.Minute):
			t.Errorf("isolated %v: nothing was told", isolated)
		}
	}
}

const unawaitedFault = `import { device, kernel, i32 } from 'offload'
const bad = device('cpu').buffer(i32, 4), wrong = kernel((g, x) => { x[g.x + 100] = 1 })
`

// TestRunWaitsForKernels checks that Run returns the failure of kernels that the module did not await, and that the next
// call does not report it.
func TestRunWaitsForKernels(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		for name, queue := range map[string]string{"default queue": "device('cpu').queue", "own queue": "device('cpu').createQueue()"} {
			e := engine(t, open(t), orepl.EngineOptions{Isolate: isolated, OnError: func(err error) { t.Errorf("%s, isolated %v: told %v", name, isolated, err) }})
			text := unawaitedFault + "wrong.launch({ size: 1, queue: " + queue + " }, bad)"
			for _, run := range []func() (*orepl.Value, error){
				func() (*orepl.Value, error) { return e.Run(t.Context(), "bad.js", text) },
				func() (*orepl.Value, error) { return e.RunFile(t.Context(), write(t, "bad.js", text)) },
			} {
				if _, err := run(); diag.Code(err) != "out-of-bounds" || !strings.Contains(err.Error(), "bad.js:2:") {
					t.Errorf("%s, isolated %v: %v", name, isolated, err)
				}
				if _, err := e.Run(t.Context(), "next.js", `import { device, i32 } from 'offload'
					await device('cpu').buffer(i32, 4, i => i).read(); await device('cpu').queue.sync()`); err != nil {
					t.Errorf("%s, isolated %v: the next call: %v", name, isolated, err)
				}
			}
		}
	}
}

// TestRunEndsUnawaitedKernels checks that unawaited kernels have ended when Run returns, and end with the call's context.
func TestRunEndsUnawaitedKernels(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	v, err := e.Run(t.Context(), "slow.js", `import { device, kernel, i32 } from 'offload'
		const x = device('cpu').buffer(i32, 1)
		export const launched = kernel((g, x) => { for (let i = 0; i < 3000000; i++) Atomics.add(x, 0, 1) }).launch({ size: 1 }, x)
		export const reached = () => launched.done`)
	if err != nil {
		t.Fatal(err)
	}
	reached, err := v.Get(t.Context(), "reached")
	if err != nil {
		t.Fatal(err)
	}
	if done, err := reached.Call(t.Context()); err != nil {
		t.Error(err)
	} else if text, _ := done.Text(t.Context()); text != "true" {
		t.Errorf("Run returned while its kernel ran: %s", text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Run(ctx, "endless.js", `import { device, kernel, i32 } from 'offload'
		kernel((g, x) => { while (Atomics.load(x, 0) === 0) Atomics.add(x, 1, 1) }).launch({ size: 1 }, device('cpu').buffer(i32, 4))`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestCloseTellsOfFailures checks that OnError receives unreported failures when the engine closes.
func TestCloseTellsOfFailures(t *testing.T) {
	for _, isolated := range []bool{false, true} {
		for name, queue := range map[string]string{"default queue": "device('cpu').queue", "own queue": "device('cpu').createQueue()"} {
			told := make(chan error, 4)
			e := engine(t, open(t), orepl.EngineOptions{Isolate: isolated, OnError: func(err error) { told <- err }})
			if _, err := e.Eval(t.Context(), "bad.js", unawaitedFault+"const launched = wrong.launch({ size: 1, queue: "+queue+` }, bad)
				while (!launched.done) await new Promise(resolve => setTimeout(resolve, 1))
				0`); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Errorf("%s, isolated %v: %v", name, isolated, err)
			}
			select {
			case err := <-told:
				if diag.Code(err) != "out-of-bounds" {
					t.Errorf("%s, isolated %v: %v", name, isolated, err)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s, isolated %v: nothing was told", name, isolated)
			}
		}
	}
}

// TestSignalsEndKernels checks that a signal ends a wait for a device and the running kernel.
func TestSignalsEndKernels(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v, err := e.Eval(ctx, "t.js", `import { device, kernel, i32 } from 'offload'
		const x = device().buffer(i32, 4), queue = device().queue, list = []
		const endless = kernel((g, x) => { while (Atomics.load(x, 0) === 0) Atomics.add(x, 1, 1) })
		endless.launch({ size: 1 }, x)
		await x.read(0, 4, { signal: AbortSignal.timeout(10) }).catch(e => list.push(e.name))
		endless.launch({ size: 1 }, x)
		const c = new AbortController()
		setTimeout(() => c.abort('enough'), 10)
		await queue.sync({ signal: c.signal }).catch(reason => list.push(reason))
		await queue.sync({ signal: 'no' }).catch(e => list.push(e.name))
		await x.read(0, 4, { sigmal: 1 }).catch(e => list.push(e.hint.slice(0, 20)))
		await queue.sync()
		list.push((await x.read(0, 1, { signal: new AbortController().signal }))[0])
		list.join()`)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := v.Text(ctx); text != "TimeoutError,enough,TypeError,did you mean signal?,0" {
		t.Error(text)
	}
}

// TestGlobalFunctionsHaveNames checks that errors name Go functions in globals, with a hint about the call.
func TestGlobalFunctionsHaveNames(t *testing.T) {
	e := engine(t, open(t), orepl.EngineOptions{Globals: map[string]any{
		"twice": func(x int) int { return 2 * x },
		"tools": map[string]any{"halve": func(x int) int { return x / 2 }},
	}})
	for script, want := range map[string][2]string{
		"twice('a')":          {`twice: argument 1 expected an integer, not the string "a"`, "write twice(a0: number): number"},
		"tools.halve('a')":    {`tools.halve: argument 1 expected an integer`, "write tools.halve(a0: number): number"},
		"twice(1, 2)":         {"twice: argument 2 is one too many", "twice takes 1"},
		"twice.name.absent.x": {"absent", ""},
	} {
		_, err := e.Eval(context.Background(), "line.js", script)
		if err == nil || !strings.Contains(err.Error(), want[0]) || !strings.Contains(diag.Hint(err), want[1]) {
			t.Errorf("%s: %v, hint %q", script, err, diag.Hint(err))
		}
	}
}
