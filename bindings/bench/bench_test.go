package bench_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/bench"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

type result struct {
	Name               string
	Median, Low, High  float64
	Least, Most        float64
	Samples, Batch     int
	Clock              string
	Verified, Noisy    bool
	Missed             []string
	GigabytesPerSecond *float64
	Gigaflops          *float64
	Deviation          float64
	Outliers           map[string]int
	Modes, Times       []float64
	Interference       float64
	Others             float64
	Device             string
}

// run runs a script. It returns its export "r", if it has one, and its output.
func run(t *testing.T, script string) (r result, out string, err error) {
	t.Helper()
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	var text bytes.Buffer
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &text, Stderr: &text})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	m, err := e.Run(ctx, "bench.js", "import { bench, table, results } from 'bench'\nimport { device, kernel, f32 } from 'offload'\n"+script)
	if err != nil {
		return r, text.String(), err
	}
	if v, err := m.Get(ctx, "r"); err == nil && !v.IsUndefined() {
		if err := v.Decode(ctx, &r); err != nil {
			t.Error(err)
		}
	}
	return r, text.String(), nil
}

func TestHostClock(t *testing.T) {
	r, _, err := run(t, `
let calls = 0
const pause = () => { const end = performance.now() + 0.2; while (performance.now() < end); calls++ }
export const r = await bench('pause', pause, { repeats: 9, minTime: 1, flops: 200 })
if (calls < 9 * r.batch) throw new Error(calls + ' calls')`)
	if err != nil {
		t.Fatal(err)
	}
	// A busy machine makes a call longer, never shorter.
	if r.Median < 0.2 || r.Low > r.Median || r.High < r.Median || r.Least > r.Low || r.Most < r.High || r.Samples != 9 || r.Batch < 1 ||
		r.Clock != "host" || r.Verified || r.GigabytesPerSecond != nil || r.Gigaflops == nil || *r.Gigaflops > 200/0.2/1e6 {
		t.Errorf("%+v", r)
	}
}

// TestBefore measures a function that changes its input, which the option before resets.
func TestBefore(t *testing.T) {
	r, _, err := run(t, `
const x = device('cpu').buffer(f32, 8), k = kernel((g, x) => { x[g.x] += 1 })
let resets = 0
const before = () => { resets++; return x.fill(1) }, verify = async () => (await x.read()).every(v => v === 2)
export const r = await bench('increment', () => k.launch({ size: 8 }, x), { before, verify, repeats: 5, warmup: 2 })
if (resets !== 8 || !await verify()) throw new Error(resets + ' resets, then ' + await x.read())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if r.Batch != 1 || r.Samples != 5 || !r.Verified || r.Clock != "device" {
		t.Errorf("%+v", r)
	}
}

func TestDeviceClock(t *testing.T) {
	r, out, err := run(t, `
const n = 1 << 14, dev = device('cpu'), x = dev.buffer(f32, n)
const k = kernel((g, x) => { x[g.x] += 1 })
export const r = await bench('increment', () => k.launch({ size: n }, x),
  { repeats: 5, bytes: 8 * n, flops: n, verify: async () => (await x.read()).every(v => v === 1) })
console.log(table())
console.log(JSON.parse(JSON.stringify(results))[0].name)`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if r.Clock != "device" || !r.Verified || !(r.Median > 0) || *r.GigabytesPerSecond != 8*float64(1<<14)/r.Median/1e6 {
		t.Errorf("%+v", r)
	}
	lines := strings.Split(out, "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "name") || !strings.Contains(lines[0], "GFLOP/s") || !strings.HasPrefix(lines[1], "increment") || lines[len(lines)-2] != "increment" {
		t.Error(out)
	}
}

func TestPromisesAreAwaited(t *testing.T) {
	r, _, err := run(t, `export const r = await bench('sleep', () => new Promise(done => setTimeout(done, 2)), { repeats: 3, warmup: 0 })`)
	if err != nil || r.Median < 1.9 || r.Batch != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestThresholds measures against limits that no machine misses, and limits that every machine does.
func TestThresholds(t *testing.T) {
	r, out, err := run(t, `
await bench('met', () => {}, { repeats: 3, flops: 1, thresholds: { median: 1e6, gigaflops: 1e-12 } })
export const r = await bench('missed', () => {}, { repeats: 3, flops: 1, thresholds: { median: 1e-9, gigaflops: 1e9, most: 1e6 } })
console.log(table())
console.log(JSON.stringify(results[0].missed))`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if len(r.Missed) != 2 || !strings.HasSuffix(r.Missed[0], ", threshold 0.001000 ns") || !strings.HasSuffix(r.Missed[1], ", threshold 1000000000.00 GFLOP/s") {
		t.Errorf("missed %q", r.Missed)
	}
	for _, want := range []string{"thresholds\nmet ", " met\nmissed ", " missed\n", "missed missed a threshold: median ", "\n[]\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestNoise measures calls of which some take far longer than the others.
func TestNoise(t *testing.T) {
	r, out, err := run(t, `
let n = 0
const pause = () => { const end = performance.now() + (n++ % 4 === 0 ? 0.1 : 3); while (performance.now() < end); }
export const r = await bench('uneven', pause, { repeats: 8, minTime: 0, warmup: 0 })
console.log(table())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if !r.Noisy || r.Least >= 3 || r.Median < 3 || !strings.Contains(out, "  noisy  ") || !strings.Contains(out, "\nnoisy: the median is over 1.2 times") {
		t.Errorf("%+v\n%s", r, out)
	}
}

// TestFunctionsThatWait measures by the host's clock a launch whose function waits for the result itself.
func TestFunctionsThatWait(t *testing.T) {
	r, _, err := run(t, `
const x = device('cpu').buffer(f32, 8), k = kernel((g, x) => { x[g.x] += 1 })
export const r = await bench('increment', () => { k.launch({ size: 8 }, x); x.readSync() }, { repeats: 3 })`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if r.Clock != "host" || r.Samples != 3 {
		t.Errorf("%+v", r)
	}
}

func TestWatch(t *testing.T) {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	e, err := inside.Of(rt).NewEngine(lang.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var seen []string
	if err := e.Do(ctx, func(*goja.Runtime) error {
		return bench.Watch(e, func(p bench.Progress) {
			seen = append(seen, fmt.Sprintf("%s %d/%d", p.Name, p.Done, p.Samples))
		})
	}); err != nil {
		t.Fatal(err)
	}
	_, err = e.Eval(ctx, "p", "import { bench } from 'bench'; await bench('a', () => {}, { repeats: 2 }); await bench('b', () => { throw new Error('no') }, { repeats: 1 })")
	if want := "a 0/2, a 1/2, a 2/2, b 0/1"; err == nil || strings.Join(seen, ", ") != want {
		t.Errorf("saw %q, %v; want %q", seen, err, want)
	}
}

// TestVerifyReturns checks that results count as verified only if verify returns true or nothing, of all values that it may return.
func TestVerifyReturns(t *testing.T) {
	_, out, err := run(t, `
for (const value of [undefined, true, false, 0, 1, NaN, 3n, '', 'x', null, [], {}, () => true, Symbol('s')]) {
  for (const verify of [() => value, async () => value]) {
    const r = await bench('a', () => {}, { repeats: 2, warmup: 0, verify })
    console.log(r.verified, r.wrong ?? '')
  }
}`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	want := ""
	for _, reason := range []string{"", "", "false", "0", "1", "NaN", "3", "a string", "a string", "null", "an array", "an object", "a function", "a symbol"} {
		line := "true \n"
		switch reason {
		case "":
		case "false":
			line = "false verify returned false\n"
		default:
			line = "false verify returned " + reason + ", not true or false\n"
		}
		want += line + line
	}
	var lines strings.Builder // without the warnings
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "true ") || strings.HasPrefix(line, "false ") {
			lines.WriteString(regexp.MustCompile(`,? at bench\.js:5:\d+`).ReplaceAllString(line, ""))
		}
	}
	if lines.String() != want {
		t.Errorf("%s\nwant\n%s", lines.String(), want)
	}
}

// TestNamesOfOneLine checks that names in results have no control characters, whether of benchmarks, axes or variants.
func TestNamesOfOneLine(t *testing.T) {
	_, out, err := run(t, `
import { sweep } from 'bench'
const opts = { repeats: 2, warmup: 0 }
const a = await bench('ü\n\u0001|', () => {}, opts)
const [b] = await sweep('s\t', { axes: { 'n\r': ['x\u2028y'] }, variants: { 'v\u001b[1m': () => {} }, ...opts })
console.log(a.name + '\n' + b.name)`)
	if err != nil || !strings.HasSuffix(out, "ü |\ns /n =x y/v [1m\n") {
		t.Errorf("%q, %v", out, err)
	}
}

// TestWrongResults checks that a wrong result is a row, after which further ones are measured, and that only verified results
// say whether they are right.
func TestWrongResults(t *testing.T) {
	_, out, err := run(t, `
const opts = { repeats: 2, warmup: 0 }
const a = await bench('a', () => {}, { ...opts, verify: () => false })
const b = await bench('b', () => {}, { ...opts, verify: async () => { throw new Error('off by one') } })
const c = await bench('c', () => {}, { ...opts, verify: () => true })
const d = await bench('d', () => {}, opts)
console.log(a.verified, b.verified, c.verified, 'verified' in d)
console.log(a.wrong, '/', b.wrong, '/', c.wrong)
console.log(a)
console.log(table())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	for _, want := range []string{"false false true false\n", "verify returned false at bench.js:5:57 / off by one at bench.js:6:77 / undefined\n", ", WRONG", "the result is wrong: verify returned false at bench.js:5:57\n",
		"the result of a is wrong: verify returned false at bench.js:5:57\nthe result of b is wrong: off by one at bench.js:6:77\n",
		"warning: bench: the result of \"a\" is wrong: verify returned false at bench.js:5:57\n  --> bench.js:5:22\n", "bench: the result of \"b\" is wrong: off by one at bench.js:6:77\n  --> bench.js:6:22\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ script, message, hint string }{
		{"await bench('x', () => {}, { repeat: 3 })", `there is no option "repeat"`, "did you mean repeats? the options are warmup, repeats"},
		{"await bench('x', () => {}, { nothing: 3 })", `there is no option "nothing"`, "the options are warmup, repeats"},
		{"await bench('x', () => {}, { repeats: 0 })", "repeats must be a number from 1 on", ""},
		{"await bench('x', () => {}, { flops: NaN })", "flops must be a number", ""},
		{"await bench('x', () => {}, { clock: 'device' })", "needs a function that returns an event", "launch"},
		{"await bench('x', () => { kernel(g => {}).launch({ size: 1 }) })", "returns nothing, so that only the time to queue it", "return the event of"},
		{"await bench('x', () => { kernel(g => {}).launch({ size: 1 }); device().readings }, {})", "returns nothing, so that only the time to queue it", "return the event of"},
		{"let e = kernel(g => {}).launch({ size: 1 }); await bench('x', () => { const last = e; e = undefined; return last })", "the function returned an event in its first call and undefined in a later one", "or write clock: 'host'"},
		{"await bench('x', () => {}, { thresholds: 2 })", "thresholds must be an object", "{ thresholds: { median: 2 } }"},
		{"await bench('x', () => {}, { thresholds: { medain: 2 } })", `there is no threshold "medain"`, "did you mean median? thresholds are of median, low,"},
		{"await bench('x', () => {}, { thresholds: { median: '<2' } })", "the threshold of median must be a number greater than 0, not <2", ""},
		{"await bench('x', () => {}, { thresholds: { gigaflops: 2 } })", "the threshold of gigaflops needs the option flops", ""},
		{"await bench('x', () => {}, { bytes: 0, thresholds: { gigabytesPerSecond: 2 } })", "the threshold of gigabytesPerSecond needs the option bytes", ""},
		{"await bench('x', () => {}, { before: 1 })", "before must be a function, not number", ""},
		{"await bench('x', { axes: { n: [1] } }, () => 1)", "expected a function to measure, not object", "axes are for sweep('name', { axes, run })"},
		{"await bench('x', () => 1, { roofline: 5 })", "roofline must be an object with the rates of the device, not 5", "{ gigabytesPerSecond: 20, gigaflops: 100 }"},
		{"await bench('x', () => 1, { roofline: null })", "roofline must be an object with the rates of the device, not null", ""},
		{"await bench('x', 5)", "expected a function to measure", "kernel.launch"},
		{"await bench(() => {})", "the name must be a string", "bench('name', () => kernel.launch(…))"},
		{"await bench('x', () => { throw new Error('no') })", "no", ""},
	} {
		_, _, err := run(t, c.script)
		if err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(diag.Hint(err), c.hint) || !strings.Contains(diag.Format(err, false), "bench.js:3:") {
			t.Errorf("%s: %s", c.script, diag.Format(err, false))
		}
	}
}
