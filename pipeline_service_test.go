package orepl_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
)

// serving returns the text of a pipeline whose function run has a body with x, y, mode and queue.
func serving(above, body string) string {
	return `import { pipeline, kernel, rpc, f32, i32 } from 'offload'
` + above + `
const copy = kernel((g, x, y) => { y[g.x] = x[g.x] })
const endless = kernel((g, y) => { let i = 0; while (y[0] === 0) { i++; y[1] = i } })
export default pipeline({
  device: 'cpu', inputs: { x: [f32], mode: i32 }, outputs: { y: [f32, ({ x }) => x.shape] },
  run({ x, y, mode, queue }) { ` + body + ` },
})`
}

// TestPipelineServesItsScript runs pipelines whose commands wait for the script: host functions and services, awaited or not.
func TestPipelineServesItsScript(t *testing.T) {
	const service = `rpc.on('seven', { args: [], result: f32 }, () => 7)
const ask = kernel((g, y) => { y[g.x] = g.call('seven') })`
	rt := open(t)
	for _, c := range []struct {
		above, body string
		want        float32
	}{
		{"", "queue.host(() => {}); copy.launch({ size: 2 }, x, y)", 5},
		{"", "queue.host(async () => { await null }); return copy.launch({ size: 2 }, x, y)", 5},
		{"", "copy.launch({ size: 2 }, x, y); return queue.host(() => {})", 5},
		{service, "ask.launch({ size: 2 }, y)", 7},
		{service, "return ask.launch({ size: 2 }, y)", 7},
		{service, "return Promise.resolve().then(() => { ask.launch({ size: 2 }, y); queue.host(() => {}) })", 7},
	} {
		p := load(t, rt, serving(c.above, c.body), orepl.PipelineOptions{Instances: 1})
		for range 3 {
			var y []float32
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			err := p.Run(ctx, orepl.Data{"x": []float32{5, 5}, "mode": 0}, orepl.Data{"y": &y})
			cancel()
			if err != nil || len(y) != 2 || y[1] != c.want {
				t.Errorf("%s: %v, %v", c.body, y, err)
			}
		}
	}
	p := load(t, rt, serving(service, "ask.launch({ size: 1 }, y); queue.host(() => { throw new RangeError('no') })"), orepl.PipelineOptions{})
	if err := p.Run(context.Background(), orepl.Data{"x": []float32{1}, "mode": 0}, orepl.Data{"y": new([]float32)}); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("a host function that throws: %v", err)
	}
}

// TestTimeLimitOfPipelines bounds scripts and kernels, awaited or not, by the engine's limit of time.
func TestTimeLimitOfPipelines(t *testing.T) {
	rt := open(t)
	for _, body := range []string{
		"if (mode) endless.launch({ size: 1 }, y)",
		"if (mode) return endless.launch({ size: 1 }, y)",
		"if (mode) for (;;);",
		"if (mode) { queue.host(() => {}); endless.launch({ size: 1 }, y) }",
		"if (mode) queue.host(() => new Promise(() => {}))",
	} {
		p := load(t, rt, serving("", body), orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Time: 200 * time.Millisecond}}})
		if err := p.Run(context.Background(), orepl.Data{"x": []float32{0, 0}, "mode": 1}, orepl.Data{"y": new([]float32)}); diag.Code(err) != "timeout" {
			t.Errorf("%s: %v", body, err)
		}
		if err := p.Run(context.Background(), orepl.Data{"x": []float32{0, 0}, "mode": 0}, nil); err != nil && diag.Code(err) != "timeout" { // a busy machine may exceed the limit, too
			t.Errorf("after %s: %v", body, err)
		}
	}
}

// TestNumbersOfPipelines gives every type of Go's numbers.
func TestNumbersOfPipelines(t *testing.T) {
	p := load(t, open(t), `import { pipeline, kernel, i64, u64, u32 } from 'offload'
const k = kernel({ a: i64, b: u64, c: u32, o: [i64], p: [u64], q: [u32] }, (g, a, b, c, o, p, q) => { o[0] = a; p[0] = b; q[0] = c })
export default pipeline({ device: 'cpu', inputs: { a: i64, b: u64, c: u32 }, outputs: { o: [i64, 1], p: [u64, 1], q: [u32, 1] },
  run({ a, b, c, o, p, q }) { k.launch({ size: 1 }, a, b, c, o, p, q) } })`, orepl.PipelineOptions{})
	run := func(a, b, c any) (o []int64, p2 []uint64, q []uint32, err error) {
		err = p.Run(context.Background(), orepl.Data{"a": a, "b": b, "c": c}, orepl.Data{"o": &o, "p": &p2, "q": &q})
		return o, p2, q, err
	}
	for _, n := range []int64{0, -1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<60 + 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, -1<<53 - 1} {
		for _, a := range []any{n, int(n), big.NewInt(n), time.Duration(n)} {
			if o, _, _, err := run(a, 0, 0); err != nil || o[0] != n {
				t.Errorf("%T %d: %v, %v", a, n, o, err)
			}
		}
	}
	for _, n := range []uint64{0, 1<<53 + 1, 1<<63 + 1, math.MaxUint64} {
		for _, b := range []any{n, uint(n), new(big.Int).SetUint64(n)} {
			if _, p, _, err := run(0, b, 0); err != nil || p[0] != n {
				t.Errorf("%T %d: %v, %v", b, n, p, err)
			}
		}
	}
	for _, c := range []any{7, int8(7), int16(7), int32(7), int64(7), uint(7), uint8(7), uint16(7), uint32(7), uint64(7), float32(7), 7.0, time.Month(7)} {
		if _, _, q, err := run(0, 0, c); err != nil || q[0] != 7 {
			t.Errorf("%T: %v, %v", c, q, err)
		}
	}
	for _, c := range []any{-1, int64(1) << 32, 0.5, "7", true, nil, uint64(math.MaxUint64), (*big.Int)(nil), struct{}{}} {
		if _, _, q, err := run(0, 0, c); diag.Code(err) == "" || !strings.Contains(err.Error(), `input "c"`) {
			t.Errorf("%T %v: %v, %v", c, c, q, err)
		}
	}
}

// TestNumbersHaveTheDeclaredType passes small and large numbers to kernels without a signature: the declaration decides the type, not the
// value.
func TestNumbersHaveTheDeclaredType(t *testing.T) {
	rt := open(t)
	for _, typ := range []string{"i64", "u64"} {
		p := load(t, rt, `import { pipeline, kernel, `+typ+` } from 'offload'
const k = kernel((g, a, b, y) => { y[0] = a; y[1] = b + 1n })
export default pipeline({ device: 'cpu', inputs: { a: `+typ+` }, params: { b: { type: `+typ+`, default: 6 } }, outputs: { y: [`+typ+`, 2] },
  run({ a, b, y }) { if (typeof a !== 'bigint' || typeof b !== 'bigint') throw new Error('a Number'); k.launch({ size: 1 }, a, b, y) } })`, orepl.PipelineOptions{})
		for _, a := range []any{5, uint8(5), 5.0, big.NewInt(5), int64(1)<<60 + 1, float64(1 << 60)} {
			var want, got any = []int64{0, 7}, new([]int64)
			if typ == "u64" {
				want, got = []uint64{0, 7}, new([]uint64)
			}
			reflect.ValueOf(want).Index(0).Set(reflect.ValueOf(integer(a)).Convert(reflect.TypeOf(want).Elem()))
			if err := p.Run(t.Context(), orepl.Data{"a": a}, orepl.Data{"y": got}); err != nil || !reflect.DeepEqual(reflect.ValueOf(got).Elem().Interface(), want) {
				t.Errorf("%s of %T %v: %v, %v", typ, a, a, got, err)
			}
		}
	}
	for typ, want := range map[string]string{"bool": "expected true or false", "i32": "1152921504606846977 is outside the range of i32", "f64": "1152921504606846977 has more digits than f64 holds"} {
		var sample any = 1
		if typ == "bool" {
			sample = true
		}
		p := load(t, rt, `import { pipeline, `+typ+` } from 'offload'
export default pipeline({ inputs: { a: `+typ+` }, params: { b: { type: `+typ+`, default: `+fmt.Sprint(sample)+` } }, run({ a, b }) {} })`, orepl.PipelineOptions{})
		for _, in := range []orepl.Data{{"a": int64(1)<<60 + 1}, {"b": int64(1)<<60 + 1}} {
			if in["b"] != nil {
				in["a"] = sample
			}
			err := p.Run(t.Context(), in, nil)
			if !errors.Is(err, orepl.ErrRefused) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", typ, err)
			}
		}
	}
}

// integer returns a number as an int64.
func integer(x any) int64 {
	if n, ok := x.(*big.Int); ok {
		return n.Int64()
	}
	return reflect.ValueOf(x).Convert(reflect.TypeFor[int64]()).Int()
}

// TestRunNeverSettles runs scripts that await what never comes, which fail at once, and one that awaits a call of a running kernel.
func TestRunNeverSettles(t *testing.T) {
	p := load(t, open(t), `import { pipeline, kernel, rpc, i32 } from 'offload'
const k = kernel((g, y) => { y[0] = g.call('done') })
rpc.on('done', { result: i32 }, () => { heard?.(); return 7 })
let heard
export default pipeline({ device: 'cpu', inputs: { mode: i32 }, outputs: { y: [i32, 1] },
  async run({ mode, y }) {
    if (mode === 0) await new Promise(() => {})
    const came = new Promise(resolve => { heard = resolve })
    k.launch({ size: 1 }, y)
    await came
  } })`, orepl.PipelineOptions{Instances: 1})
	for range 2 {
		if err := p.Run(t.Context(), orepl.Data{"mode": 0}, nil); orepl.CodeOf(err) != "never-settles" {
			t.Errorf("a promise without an end: %v", err)
		}
		var y []int32
		if err := p.Run(t.Context(), orepl.Data{"mode": 1}, orepl.Data{"y": &y}); err != nil || y[0] != 7 {
			t.Errorf("a call of a kernel: %v, %v", y, err)
		}
	}
}

// TestCloseWhileRunsWait closes a pipeline while one run is busy and another waits for the instance.
func TestCloseWhileRunsWait(t *testing.T) {
	p := load(t, open(t), serving("", "endless.launch({ size: 1 }, y)"), orepl.PipelineOptions{Instances: 1})
	one := func(ctx context.Context) chan error {
		done := make(chan error, 1)
		go func() {
			done <- p.Run(ctx, orepl.Data{"x": []float32{0, 0}, "mode": 0}, orepl.Data{"y": new([]float32)})
		}()
		return done
	}
	hold, release := context.WithCancel(context.Background())
	busy := one(hold)
	for p.Stats().Running == 0 {
		time.Sleep(time.Millisecond)
	}
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := <-one(short); diag.Code(err) != "timeout" {
		t.Fatalf("a run on a busy instance: %v", err)
	}
	waiting := one(context.Background())
	time.Sleep(20 * time.Millisecond) // in most runs it waits by then
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for name, done := range map[string]chan error{"waiting": waiting, "later": one(context.Background())} {
		if err := <-done; !errors.Is(err, orepl.ErrClosed) {
			t.Errorf("the %s run: %v", name, err)
		}
	}
	ended, end := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer end()
	if err := p.Shutdown(ended); diag.Code(err) != "timeout" {
		t.Errorf("Shutdown beside a busy run: %v", err)
	}
	release()
	if err := <-busy; diag.Code(err) != "cancelled" {
		t.Errorf("the busy run: %v", err)
	}
	if err := p.Shutdown(context.Background()); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

// TestFailedRunsKeepTheInstance counts how often the script is loaded.
func TestFailedRunsKeepTheInstance(t *testing.T) {
	loads := 0
	counter := orepl.Module{Name: "count", Functions: []orepl.Function{{Name: "load", Func: func() { loads++ }}}}
	p := load(t, open(t), serving("import { load } from 'count'\nload()", "if (mode === 1) throw new Error('no'); if (mode === 2) copy.launch({ size: 3 }, x, y); if (mode === 3) for (;;);"),
		orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Modules: []orepl.Module{counter}}})
	for _, data := range []orepl.Data{
		{"x": []float32{1, 2}},
		{"x": []float64{1, 2}, "mode": 0},
		{"x": []float32{1, 2}, "mode": 0.5},
		{"x": []float32{1, 2}, "mode": 1},
		{"x": []float32{1, 2}, "mode": 2},
	} {
		if err := p.Run(context.Background(), data, orepl.Data{"y": new([]float32)}); err == nil || loads != 1 {
			t.Errorf("%v: %v; loaded %d times", data, err, loads)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Run(ctx, orepl.Data{"x": []float32{1, 2}, "mode": 3}, nil); diag.Code(err) != "timeout" {
		t.Error(err)
	}
	if err := p.Run(context.Background(), orepl.Data{"x": []float32{1, 2}, "mode": 0}, nil); err != nil || loads != 2 {
		t.Errorf("after a run that was stopped: %v; loaded %d times", err, loads)
	}
}

// TestOutputsAreCleared checks that a run does not return data of the run before.
func TestOutputsAreCleared(t *testing.T) {
	for _, above := range []string{"", "let runs = 0"} { // with the latter runs are not replayed
		body := "copy.launch({ size: mode }, x, y)"
		if above != "" {
			body = "runs++; " + body
		}
		p := load(t, open(t), serving(above, body), orepl.PipelineOptions{Instances: 1})
		for run, mode := range []int{0, 2, 0, 1, 2, 1, 0, 1} {
			for _, size := range []int{2, 3} {
				x, y := []float32{5, 5, 5}[:size], []float32{9, 9, 9, 9}
				want := make([]float32, size)
				copy(want, x[:mode])
				if err := p.Run(context.Background(), orepl.Data{"x": x, "mode": mode}, orepl.Data{"y": &y}); err != nil || !slices.Equal(y, want) {
					t.Errorf("%s, run %d: %v, want %v, %v", body, run, y, want, err)
				}
			}
		}
	}
}

// TestCausesOfEndedCalls ends calls by contexts with causes.
func TestCausesOfEndedCalls(t *testing.T) {
	rt := open(t)
	gone := errors.New("the client has gone")
	p := load(t, rt, serving("", "endless.launch({ size: 1 }, y)"), orepl.PipelineOptions{Instances: 1})
	e, err := rt.Engine(orepl.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for name, call := range map[string]func(context.Context) error{
		"Pipeline.Run": func(ctx context.Context) error {
			return p.Run(ctx, orepl.Data{"x": []float32{0, 0}, "mode": 0}, orepl.Data{"y": new([]float32)})
		},
		"Engine.Run": func(ctx context.Context) error { _, err := e.Run(ctx, "a.js", "for (;;);"); return err },
		"awaited": func(ctx context.Context) error {
			_, err := e.Run(ctx, "a.js", "await new Promise(() => setTimeout(() => {}, 1e9))")
			return err
		},
		"Engine.Eval": func(ctx context.Context) error { _, err := e.Eval(ctx, "a", "for (;;);"); return err },
	} {
		cancelled, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(20*time.Millisecond, func() { cancel(gone) })
		if err := call(cancelled); diag.Code(err) != "cancelled" || !errors.Is(err, gone) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %q %v", name, diag.Code(err), err)
		}
		late, stop := context.WithTimeoutCause(context.Background(), 20*time.Millisecond, gone)
		if err := call(late); diag.Code(err) != "timeout" || !errors.Is(err, gone) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, late: %q %v", name, diag.Code(err), err)
		}
		stop()
		before, cancel2 := context.WithCancelCause(context.Background())
		cancel2(gone)
		if err := call(before); diag.Code(err) != "cancelled" || !errors.Is(err, gone) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled before: %q %v", name, diag.Code(err), err)
		}
	}
	limited, err := rt.Engine(orepl.EngineOptions{Limits: lang.Limits{Iterations: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer limited.Close()
	if _, err := limited.Run(context.Background(), "a.js", "for (;;);"); err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an exceeded limit: %v", err)
	}
}

type keyOfTest struct{}

// TestValuesOfContexts checks that Go functions and services see the values of the running call's context.
func TestValuesOfContexts(t *testing.T) {
	rt := open(t)
	var seen []any
	see := func(ctx context.Context) { seen = append(seen, ctx.Value(keyOfTest{})) }
	opts := orepl.EngineOptions{
		Modules:  []orepl.Module{{Name: "see", Functions: []orepl.Function{{Name: "now", Func: see}, {Name: "later", Func: see, Async: true}}}},
		Services: []orepl.Service{{Name: "rate", Func: func(ctx context.Context, v float32) float32 { see(ctx); return 2 * v }}},
	}
	p := load(t, rt, serving("import { now, later } from 'see'\nconst ask = kernel((g, x, y) => { y[g.x] = g.call('rate', x[g.x]) })",
		"now(); return later().then(() => { ask.launch({ size: 1 }, x, y) })"), orepl.PipelineOptions{Engine: opts, Instances: 1})
	for _, who := range []string{"acme", "zenith"} {
		seen = nil
		var y []float32
		err := p.Run(context.WithValue(context.Background(), keyOfTest{}, who), orepl.Data{"x": []float32{4}, "mode": 0}, orepl.Data{"y": &y})
		if err != nil || y[0] != 8 || len(seen) != 3 || seen[0] != who || seen[1] != who || seen[2] != who {
			t.Errorf("%s: %v, %v, %v", who, seen, y, err)
		}
	}
}

// TestReplayedServices calls services from runs that are replayed: they see the values of the run's context, and a nested run that
// would wait for itself is refused.
func TestReplayedServices(t *testing.T) {
	rt := open(t)
	var seen []any
	var p *orepl.Pipeline
	nested := false
	service := func(ctx context.Context, v float32) (float32, error) {
		seen = append(seen, ctx.Value(keyOfTest{}))
		if nested {
			return 0, p.Run(ctx, orepl.Data{"x": []float32{1}, "mode": 0}, nil)
		}
		return 2 * v, nil
	}
	p = load(t, rt, serving("const ask = kernel((g, x, y) => { y[g.x] = g.call('rate', x[g.x]) })", "ask.launch({ size: 1 }, x, y)"),
		orepl.PipelineOptions{Engine: orepl.EngineOptions{Services: []orepl.Service{{Name: "rate", Func: service}}}, Instances: 1})
	for i, who := range []string{"acme", "zenith", "acme", "zenith"} {
		seen = nil
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), keyOfTest{}, who), time.Minute)
		var y []float32
		if err := p.Run(ctx, orepl.Data{"x": []float32{4}, "mode": 0}, orepl.Data{"y": &y}); err != nil || len(y) != 1 || y[0] != 8 || len(seen) != 1 || seen[0] != who {
			t.Errorf("run %d: %v saw %v, %v, %v", i, who, seen, y, err)
		}
		nested = true
		if err := p.Run(ctx, orepl.Data{"x": []float32{4}, "mode": 0}, nil); err == nil || !strings.Contains(err.Error(), "wait for itself") {
			t.Errorf("run %d: a nested run: %v", i, err)
		}
		nested = false
		cancel()
	}
}

// TestLimitOfLaunches checks that the limit of launches is one of each run.
func TestLimitOfLaunches(t *testing.T) {
	p := load(t, open(t), serving("", "for (let i = 0; i < mode; i++) copy.launch({ size: 2 }, x, y)"),
		orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Limits: lang.Limits{Launches: 3}}})
	for i := range 20 {
		for mode, want := range map[int]string{3: "", 2: "", 4: "out-of-resources"} {
			err := p.Run(context.Background(), orepl.Data{"x": []float32{1, 2}, "mode": mode}, orepl.Data{"y": new([]float32)})
			if diag.Code(err) != want {
				t.Errorf("run %d of %d launches: %v", i, mode, err)
			}
		}
	}
}

// TestNestedRuns runs a pipeline from a function that it calls.
func TestNestedRuns(t *testing.T) {
	rt := open(t)
	for instances := 1; instances <= 2; instances++ {
		var p *orepl.Pipeline
		nested := func(ctx context.Context) error {
			return p.Run(ctx, orepl.Data{"x": []float32{1}, "mode": 0}, orepl.Data{"y": new([]float32)})
		}
		p = load(t, rt, serving("import { nested } from 'nest'", "if (mode) nested()"), orepl.PipelineOptions{Instances: instances,
			Engine: orepl.EngineOptions{Modules: []orepl.Module{{Name: "nest", Functions: []orepl.Function{{Name: "nested", Func: nested}}}}}})
		err := p.Run(context.Background(), orepl.Data{"x": []float32{1}, "mode": 1}, nil)
		if instances == 1 && (err == nil || !strings.Contains(err.Error(), "wait for itself")) || instances == 2 && err != nil {
			t.Errorf("%d instances: %v", instances, err)
		}
	}
}

// TestShutdownInARun shuts pipelines down from functions that their runs call, with the context of the run and with another one, which
// is refused at once. A script that ignores it ends well.
func TestShutdownInARun(t *testing.T) {
	rt := open(t)
	for _, watched := range []bool{false, true} {
		var target interface {
			Run(ctx context.Context, in, out orepl.Data) error
			Shutdown(ctx context.Context) error
		}
		var refused []error
		end := func(ctx context.Context) { refused = append(refused, target.Shutdown(ctx)) }
		opts := orepl.PipelineOptions{Instances: 1, Engine: orepl.EngineOptions{Modules: []orepl.Module{{Name: "ends", Functions: []orepl.Function{
			{Name: "own", Func: end}, {Name: "later", Func: end, Async: true},
			{Name: "other", Func: func() { end(context.Background()) }},
		}}}}}
		path := write(t, "p.js", `import { own, later, other } from 'ends'
import { pipeline, kernel, rpc, i32 } from 'offload'
rpc.on('ask', { result: i32 }, () => { own(); return 7 })
const k = kernel((g, y) => { y[0] = g.call('ask') })
export default pipeline({ device: 'cpu', inputs: {}, outputs: { y: [i32, 1] }, async run({ y }) { own(); other(); await later(); k.launch({ size: 1 }, y) } })`)
		if watched {
			w, err := rt.Watch(t.Context(), path, orepl.WatchOptions{Pipeline: opts})
			if err != nil {
				t.Fatal(diag.Format(err, false))
			}
			target = w
		} else {
			p, err := rt.LoadPipeline(t.Context(), path, opts)
			if err != nil {
				t.Fatal(diag.Format(err, false))
			}
			target = p
		}
		for range 2 {
			var y []int32
			if err := target.Run(t.Context(), nil, orepl.Data{"y": &y}); err != nil || y[0] != 7 {
				t.Errorf("watched %v: %v, %v", watched, y, err)
			}
		}
		for i, err := range refused {
			if orepl.CodeOf(err) != orepl.CodeInvalidArgument || !strings.Contains(err.Error(), "would wait for the run") || !strings.Contains(diag.Hint(err), "call Close") {
				t.Errorf("watched %v, call %d: %v", watched, i, err)
			}
		}
		if err := target.Shutdown(t.Context()); err != nil || len(refused) != 8 {
			t.Errorf("watched %v: %v, %d calls", watched, err, len(refused))
		}
		if err := target.Run(t.Context(), nil, nil); err != orepl.ErrClosed {
			t.Errorf("watched %v: after its end: %v", watched, err)
		}
	}
	var e *orepl.Engine
	var got, closed error
	e = engine(t, rt, orepl.EngineOptions{Modules: []orepl.Module{{Name: "ends", Functions: []orepl.Function{{Name: "end", Func: func() {
		got, closed = e.Shutdown(context.Background()), e.Close()
	}}}}}})
	if _, err := e.Run(t.Context(), "a.js", "import { end } from 'ends'\nend()"); err != nil || diag.Code(got) != "reentrant" || strings.Contains(got.Error(), "\n") {
		t.Errorf("engine: %v, %v", got, err)
	}
	if diag.Code(closed) != "reentrant" {
		t.Errorf("Close of a running engine: %v", closed)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := e.Eval(t.Context(), "line", "1"); err == nil {
		t.Error("Shutdown did not close an engine whose script had called Close")
	}
}

// TestRefusedOptions checks options of pipelines and shapes that overflow.
func TestRefusedOptions(t *testing.T) {
	rt := open(t)
	path := write(t, "p.js", serving("", ""))
	if _, err := rt.LoadPipeline(context.Background(), path, orepl.PipelineOptions{Instances: -1}); diag.Code(err) != "invalid-argument" {
		t.Errorf("Instances: -1: %v", err)
	}
	for name, opts := range map[string]orepl.EngineOptions{
		"Dir":       {Dir: "/no/such/folder"},
		"Dir, file": {Dir: path},
		"Func":      {Modules: []orepl.Module{{Name: "m", Functions: []orepl.Function{{Name: "f", Func: 3}}}}},
	} {
		if _, err := rt.LoadPipeline(context.Background(), path, orepl.PipelineOptions{Engine: opts}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if e, err := rt.Engine(opts); err == nil {
			t.Errorf("%s: accepted by Engine", name)
			e.Close()
		}
	}
	p := load(t, rt, `import { pipeline, u8 } from 'offload'
export default pipeline({ device: 'cpu', inputs: { v: [u8, 3] }, outputs: {}, run() {} })`, orepl.PipelineOptions{})
	for _, shape := range [][]int{{1 << 32, 1 << 32, 1}, {1 << 30, 1 << 30, 16}, {1 << 21, 1 << 21, 1 << 22}, {1 << 62, 4, 1}, {-1, 1, 1}, {math.MaxInt, math.MaxInt, 0}} {
		err := p.Run(context.Background(), orepl.Data{"v": orepl.Array[uint8]{Shape: shape}}, nil)
		if shape[2] == 0 && err != nil {
			continue // a device may have a limit of extents
		}
		if err == nil || strings.Contains(err.Error(), " 0 bytes, but 0") {
			t.Errorf("%v: %v", shape, err)
		}
	}
}
