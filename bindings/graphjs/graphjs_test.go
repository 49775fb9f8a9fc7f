package graphjs_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/conform/far"
	"github.com/orepl/orepl/runtime/offload"
)

// run runs a script with a device of the host, cpu, and one with memory of its own, far.
func run(t *testing.T, opts lang.Options, script string) (string, error) {
	t.Helper()
	ctx := context.Background()
	host := cpu.New(cpu.Options{})
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{host, far.Wrap("remote", cpu.New(cpu.Options{}))}})
	defer rt.Close()
	var out bytes.Buffer
	opts.Stdout = &out
	e, err := inside.Of(rt).NewEngine(opts)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(ctx, "graph.js", "import { device, devices, kernel, graph, f32, i32, rpc } from 'offload'\n"+script)
	return out.String(), err
}

// TestReplay changes what a graph's launches use, and replays it.
func TestReplay(t *testing.T) {
	out, err := run(t, lang.Options{}, `
const d = device('cpu'), n = 8, x = d.buffer(f32, n, i => i), y = d.buffer(f32, n), other = d.buffer(f32, n, i => 100)
const scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] }), add = kernel((g, x, y) => { y[g.x] += x[g.x] })
const g = await graph(async () => {
  y.fill(0)
  scale.launch({ size: n }, 2, x, y); add.launch({ size: n }, x, y)
  const t = x.zip(y, (a, b) => a + b)
  await t.sum()
  y.view(0, 2).write(new Float32Array([7, 8]))
  add.launch({ size: 4 }, t, y)
  t.free()
})
const show = async b => console.log((await (b ?? y).read()).join())
console.log(String(g).trimEnd())
await show()
await g.replay(); await show()
g.set('scale', { a: 10, size: 4 }).set(3, { a: other })
await g.replay(); await show()
const z = d.buffer(f32, n)
g.replace(y, z)
await g.replay(); await show(z); await show()
console.log(g.nodes.map(n => n.name + '/' + n.kind + '/' + n.after).join(' '))
console.log(g.dot().split('\n')[2], g.nodes.length)
g.free()
try { g.replay() } catch (e) { console.log(e.code, e.message) }`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	const want = `graph of 7 commands on cpu
   0  fill   y
   1  scale  8, a = 2, x, y            after 0
   2  add    8, x, y                   after 1
   3  zip    8, out = t, a = x, b = y  after 2
   4  sum    256, x = t, out = buffer 11  after 3
   5  write  8 bytes → y               after 3
   6  add#2  4, x = t, y               after 5
`
	lines := strings.SplitN(out, "\n", 9)
	if len(lines) < 9 || lines[0] != strings.SplitN(want, "\n", 2)[0] {
		t.Fatal(out)
	}
	for i, w := range strings.Split(want, "\n")[:8] {
		if i == 5 { // the name of a temporary depends on the objects before it
			continue
		}
		if strings.Join(strings.Fields(lines[i]), " ") != strings.Join(strings.Fields(w), " ") {
			t.Errorf("%q, not %q", lines[i], w)
		}
	}
	const rest = `7,12,14,21,12,15,18,21
7,12,14,21,12,15,18,21
107,119,144,166,4,5,6,7
107,119,144,166,4,5,6,7
107,119,144,166,4,5,6,7
`
	if !strings.HasPrefix(lines[8], rest) || !strings.Contains(lines[8], "fill/fill/ scale/launch/0 add/launch/1") ||
		!strings.Contains(lines[8], "n0 [label=\"fill\\nz\"]") || !strings.Contains(lines[8], "the graph was freed") {
		t.Errorf("%s", lines[8])
	}
}

// TestDevices captures queues of two devices with copies between them and a wait, and draws them.
func TestDevices(t *testing.T) {
	out, err := run(t, lang.Options{}, `
const a = device('cpu'), b = device('remote'), n = 100
const x = a.buffer(f32, n, i => i), far = b.buffer(f32, n), back = a.buffer(f32, n)
const twice = kernel((g, x) => { x[g.x] *= 2 })
const q = a.createQueue({ label: 'second', hazards: 'off' })
const g = await graph(async () => {
  x.copyTo(far)
  const ev = twice.launch({ size: n }, far)
  far.copyTo(back)
  const done = twice.launch({ size: n }, back)
  q.wait(done)
  twice.launch({ size: n, queue: q }, back)
})
await g.replay()
console.log((await back.read(0, 4)).join(), g.nodes.map(n => n.name + ' ' + n.device + ' ' + n.after.join('+')).join(', '))
x.fill(1)
await g.replay()
console.log((await back.read(0, 4)).join())
console.log(g.svg())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if !strings.HasPrefix(out, "0,8,16,24 copy ") || !strings.Contains(out, "\n8,8,8,8\n") || !strings.Contains(out, "twice remote:0 0,") {
		t.Errorf("%.300s", out)
	}
	drawing := out[strings.Index(out, "<svg"):]
	d := xml.NewDecoder(strings.NewReader(drawing))
	boxes, arrows := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "rect":
				boxes++
			case "path":
				arrows++
			}
		}
	}
	if boxes < 5+3 || arrows < 4 {
		t.Errorf("%d boxes, %d arrows in %s", boxes, arrows, drawing)
	}
}

// TestRefusals checks the errors of functions that cannot be captured, and of changes that do not fit.
func TestRefusals(t *testing.T) {
	out, err := run(t, lang.Options{}, `
const d = device('cpu'), x = d.buffer(f32, 8), k = kernel((g, a, x) => { x[g.x] = a })
rpc.on('price', { args: [i32], result: i32 }, i => i)
const calls = kernel((g, x) => { x[g.x] = g.call('price', 1) })
const tried = async fn => { try { await fn(); console.log('no error') } catch (e) { console.log(e.message + (e.hint ? '; ' + e.hint : '')) } }
await tried(() => graph())
await tried(() => graph(() => { throw new Error('mine') }))
await tried(() => graph(async () => { await 1; throw new Error('later') }))
await tried(() => graph(() => d.createQueue().host(() => {})))
await tried(() => graph(() => { const t = d.buffer(f32, 8); k.launch({ size: 8 }, 1, x); x.free() }))
const y = d.buffer(f32, 8), g = await graph(() => k.launch({ size: 8 }, 1, y))
await tried(() => g.set('k', { a: 'x' }))
await tried(() => g.set('k', { x: 1 }))
await tried(() => g.set('k', { x: d.buffer(f32, [2, 4]) }))
await tried(() => g.set('k', { b: 1 }))
await tried(() => g.set('kk', { a: 1 }))
await tried(() => g.set(7, { a: 1 }))
await tried(() => g.set('k'))
await tried(() => g.replace(y, d.buffer(f32, 4)))
await tried(() => g.replace(d.buffer(f32, 8), y))
await tried(() => g.replace(1, y))
const empty = await graph(() => {})
await tried(() => empty.replay())
y.free()
await tried(() => g.replay())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if strings.Contains(out, "no error") || strings.Count(strings.TrimSpace(out), "\n") != 16 {
		t.Error(out)
	}
	for _, want := range []string{"mine\n", "later\n", "cannot be part of a graph", "the buffer was freed", `did you mean "k"?`, "its parameters are a, x", "there is no node 7 of 1", "has no commands"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// TestLimit checks that replays count as launches.
func TestLimit(t *testing.T) {
	_, err := run(t, lang.Options{Limits: lang.Limits{Launches: 20}}, `
const x = device('cpu').buffer(f32, 8), k = kernel((g, x) => { x[g.x] = 1 })
const g = await graph(() => { for (let i = 0; i < 5; i++) k.launch({ size: 8 }, x) })
for (let i = 0; i < 3; i++) g.replay()
g.replay()`)
	var oe *offload.Error
	if err == nil || !strings.Contains(diag.Format(err, false), "more are not allowed") {
		t.Errorf("%v %v", err, errors.As(err, &oe))
	}
}

// TestOwners checks that a graph of one engine of a program holds no commands of another engine.
func TestOwners(t *testing.T) {
	ctx := context.Background()
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	const head = "import { device, kernel, graph, f32 } from 'offload'\nconst x = device('cpu').buffer(f32, 8), k = kernel((g, x) => { x[g.x] = 1 })\n"
	var engines [2]*orepl.Engine
	var out bytes.Buffer
	for i := range engines {
		e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Stdout: &out})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		engines[i] = e
	}
	begun, issued := make(chan struct{}), make(chan struct{})
	if _, err := engines[0].Run(ctx, "warm.js", head+"await k.launch({ size: 8 }, x)"); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(issued)
		<-begun
		if _, err := engines[1].Run(ctx, "other.js", head+"await k.launch({ size: 8 }, x)"); err != nil {
			t.Error(err)
		}
	}()
	close(begun)
	if _, err := engines[0].Run(ctx, "mine.js", head+`
const g = await graph(async () => { k.launch({ size: 8 }, x); await new Promise(done => setTimeout(done, 200)) })
console.log(g.nodes.length)`); err != nil {
		t.Fatal(err)
	}
	<-issued
	if out.String() != "1\n" {
		t.Errorf("%s", out.String())
	}
}

// TestForgottenKernel replays a graph after the script has dropped its kernel, and collected it.
func TestForgottenKernel(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer rt.Close()
	var out bytes.Buffer
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, text := range []string{`import { device, kernel, graph, f32 } from 'offload'
globalThis.x = device('cpu').buffer(f32, 4)
globalThis.g = await graph(() => { kernel((g, x) => { x[g.x] += 1 }).launch({ size: 4 }, x) })`,
		`await g.replay(); console.log((await x.read()).join())`} {
		if _, err := e.Run(t.Context(), "g.js", text); err != nil {
			t.Fatal(diag.Format(err, false))
		}
		for range 3 {
			runtime.GC()
			time.Sleep(10 * time.Millisecond) // for cleanups
		}
	}
	if out.String() != "2,2,2,2\n" {
		t.Errorf("%q", out.String())
	}
}
