package tracejs_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
	"github.com/orepl/orepl/runtime/trace"
)

// event is an event of a time line.
type event struct {
	Name, Cat, Ph string
	Ts, Dur       float64
	Pid, Tid      int
	ID            string
	Args          map[string]any
	Bind          int  `json:"bind_id"` // of an arrow
	Out           bool `json:"flow_out"`
	In            bool `json:"flow_in"`
}

// record runs a script with a time line and returns its events, and the output of the script.
func record(t *testing.T, script string) ([]event, string) {
	t.Helper()
	var line, out bytes.Buffer
	rec := trace.New(&line)
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}, Trace: rec})
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), "t.js", script); err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := rt.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := rec.Close(); err != nil {
		t.Error(err)
	}
	var events []event
	if err := json.Unmarshal(line.Bytes(), &events); err != nil {
		t.Fatalf("%v\n%s", err, line.String())
	}
	return events, out.String()
}

// TestCommands checks that every launch and copy is present once, in order on its queue, with an arrow from its issue.
func TestCommands(t *testing.T) {
	events, _ := record(t, `
import { device, kernel, f32, u8 } from 'offload'
const d = device('cpu'), n = 1000
const x = d.buffer(f32, n), y = d.buffer(f32, n)
const k = kernel(function add(g, x, y) { y[g.x] += x[g.x] })
const q = d.createQueue({ label: 'second' })
x.write(new Float32Array(n))
for (let i = 0; i < 5; i++) k.launch({ size: n }, x, y)
k.launch({ size: n, queue: q }, x, y)
const b = k.bind({ size: n }, x, y)
for (let i = 0; i < 4; i++) b.launch()
x.copyTo(y)
y.fill(3)
d.queue.host(() => {})
await y.read()`)
	threads := map[int]string{}
	count, bytesOf := map[string]int{}, map[string]float64{}
	last := map[int]float64{}
	starts, ends := map[int]string{}, map[int]string{}
	for _, e := range events {
		switch {
		case e.Name == "thread_name":
			if threads[e.Tid] = "default"; e.Args["name"] == "second" || e.Args["name"] == "memory" {
				threads[e.Tid] = e.Args["name"].(string)
			}
		case e.Ph == "X":
			if e.Out {
				starts[e.Bind] = e.Name
			}
			if e.In {
				ends[e.Bind] = e.Name
			}
			if e.Cat == "issue" {
				continue
			}
			count[e.Cat+" "+e.Name+" "+threads[e.Tid]]++
			if n, ok := e.Args["bytes"].(float64); ok {
				bytesOf[e.Name] += n
			}
			if e.Ts < last[e.Tid]-0.001 {
				t.Errorf("%s begins at %v on %s, before the end of the previous command at %v", e.Name, e.Ts, threads[e.Tid], last[e.Tid])
			}
			last[e.Tid] = e.Ts + e.Dur
		}
	}
	want := map[string]int{"kernel add default": 9, "kernel add second": 1, "copy write default": 1, "copy copy default": 1, "copy fill default": 1, "copy read default": 1, "host function host function default": 1, "copy zero default": 2}
	for key, n := range want {
		if count[key] != n {
			t.Errorf("%s: %d times, want %d", key, count[key], n)
		}
	}
	if len(count) != len(want) {
		t.Errorf("%v", count)
	}
	for _, name := range []string{"write", "copy", "fill", "read"} {
		if bytesOf[name] != 4000 {
			t.Errorf("%s: %v bytes", name, bytesOf[name])
		}
	}
	commands := 0
	for _, n := range want {
		commands += n
	}
	if len(starts) != commands || !maps.Equal(starts, ends) {
		t.Errorf("of %d commands, arrows begin at %v and end at %v", commands, starts, ends)
	}
	var text bytes.Buffer
	for _, e := range events {
		if e.Ph == "C" {
			text.WriteString(e.Name + " ")
		}
	}
	if strings.Count(text.String(), "allocated bytes ") < 2 || !strings.Contains(text.String(), "clock error (µs)") {
		t.Errorf("counters: %s", text.String())
	}
}

// TestSpans checks spans of functions that return, throw and await, and that their values pass.
func TestSpans(t *testing.T) {
	events, out := record(t, `
import { span, enabled } from 'trace'
console.log(enabled, span('plain', () => 5))
try { span('throws', () => { throw new Error('no') }) } catch (e) { console.log(e.message) }
console.log(await span('async', async () => { await new Promise(done => setTimeout(done, 5)); return 7 }))
await span('rejects', async () => { throw new Error('later') }).catch(e => console.log(e.message))`)
	if out != "true 5\nno\n7\nlater\n" {
		t.Errorf("%q", out)
	}
	begun, lengths := map[string]event{}, map[string]float64{}
	for _, e := range events {
		switch e.Ph {
		case "b":
			begun[e.ID] = e
		case "e":
			lengths[begun[e.ID].Name] = e.Ts - begun[e.ID].Ts
		}
	}
	if len(lengths) != 4 || lengths["async"] < 4900 {
		t.Errorf("%v", lengths)
	}
}

// TestRows checks that benchmarks have spans with the names of their rows, so that variants with kernels without names differ.
func TestRows(t *testing.T) {
	events, _ := record(t, `
import { device, kernel, f32 } from 'offload'
import { sweep, bench, compare } from 'bench'
await sweep('add', {
  axes: { n: [64, 128] }, repeats: 3, minTime: 0, warmup: 1,
  variants: { one: kernel((g, x) => { x[g.x] += 1 }), two: kernel((g, x) => { x[g.x] += 2 }) },
  setup: ({ n }) => ({ x: device('cpu').buffer(f32, n) }),
  run: ({ x }, { n }, k) => k.launch({ size: n }, x),
})
await bench('alone', () => {}, { repeats: 3, minTime: 0 })
await compare('two', { a: () => {}, b: () => {} }, { repeats: 3, minTime: 0 })`)
	count := map[string]int{}
	for _, e := range events {
		if e.Ph == "b" && e.Cat == "span" {
			count[e.Name]++
		}
	}
	for name, samples := range map[string]int{"add/n=64/one": 9, "add/n=64/two": 9, "add/n=128/one": 9, "add/n=128/two": 9, "alone": 3, "two/a": 9, "two/b": 9} {
		if count[name] != samples || count[name+": first call"] != 1 || count[name+": warm-up"] != 1 {
			t.Errorf("%s: %v", name, count)
		}
	}
}

// TestWithoutTimeLine checks that spans only call their function if there is no time line, and what they reject.
func TestWithoutTimeLine(t *testing.T) {
	rt := orepl.Open(orepl.Options{})
	defer rt.Close()
	var out bytes.Buffer
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Run(t.Context(), "t.js", "import { span, enabled } from 'trace'; console.log(enabled, span('a', () => 5), await span('b', async () => 6))"); err != nil || out.String() != "false 5 6\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	if _, err := e.Run(t.Context(), "t.js", "import { span } from 'trace'; span(() => 5)"); err == nil || !strings.Contains(err.Error(), "name") {
		t.Errorf("%v", err)
	}
}

// TestServicesAndSteps checks that calls of services and the steps of a kernel's compilation are in the time line, and that the
// slices of queues with one label are on tracks of their own.
func TestServicesAndSteps(t *testing.T) {
	events, out := record(t, `
import { device, kernel, rpc, f32, i32 } from 'offload'
const d = device('cpu'), x = d.buffer(f32, 3)
rpc.on('price', { args: [i32], result: f32 }, i => 2 * i)
const k = kernel(function shop(g, x) { x[g.x] = g.call('price', g.x) })
await k.launch({ size: 3 }, x)
for (let i = 0; i < 2; i++) await k.launch({ size: 3, queue: d.createQueue({ label: 'same' }) }, x)
console.log(await x.read())`)
	if out != "Float32Array(3) [ 0, 2, 4 ]\n" {
		t.Errorf("%q", out)
	}
	begun, ended, threads := map[string]event{}, map[string]int{}, map[string]int{}
	for _, e := range events {
		switch {
		case e.Ph == "b":
			begun[e.ID] = e
		case e.Ph == "e":
			b := begun[e.ID]
			if e.Ts < b.Ts || e.Tid != b.Tid {
				t.Errorf("%s begins at %v and ends at %v", b.Name, b.Ts, e.Ts)
			}
			ended[b.Cat+" "+b.Name]++
		case e.Name == "thread_name":
			threads[e.Args["name"].(string)]++
		}
	}
	if len(begun) != 11 || ended["service price"] != 9 || ended["compile compile shop"] != 1 || ended["compile load shop"] != 1 {
		t.Errorf("%v of %d", ended, len(begun))
	}
	for _, name := range []string{"services", "same", "same (2)"} {
		if threads[name] != 1 {
			t.Errorf("%d tracks are %s", threads[name], name)
		}
	}
}
