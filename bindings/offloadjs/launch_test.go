package offloadjs_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// newEngine makes an engine on two CPU devices that ends with the test.
func newEngine(t testing.TB) *lang.Engine { return newEngineWith(t, lang.Options{}) }

func newEngineWith(t testing.TB, opts lang.Options) *lang.Engine {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{Devices: 2})}})
	e, err := inside.Of(rt).NewEngine(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// BenchmarkLaunchFromScript measures launches without await, with a sync every 1000 launches. The options are the same
// object each time, a new one, or bound.
func BenchmarkLaunchFromScript(b *testing.B) {
	e := newEngine(b)
	ctx := context.Background()
	exports, err := e.Run(ctx, "launch.js", `
import { device, kernel, f32 } from 'offload'
const k = kernel((g, a, x) => { x[g.x] = a })
const dev = device('cpu'), x = dev.buffer(f32, 16), options = { size: 16 }
export async function kept(n) {
  for (let i = 0; i < n; i++) k.launch(options, 2, x)
  await dev.queue.sync()
}
export async function fresh(n) {
  for (let i = 0; i < n; i++) k.launch({ size: 16 }, 2, x)
  await dev.queue.sync()
}
const call = k.bind({ size: 16 }, 2, x)
export async function bound(n) {
  for (let i = 0; i < n; i++) call.launch()
  await dev.queue.sync()
}`)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"kept", "fresh", "bound"} {
		fn, _ := goja.AssertFunction(exports.Get(name))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := b.N; n > 0; n -= 1000 {
				_, err := e.Await(ctx, func(vm *goja.Runtime) (goja.Value, error) { return fn(nil, vm.ToValue(min(n, 1000))) })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestAwaitedHostFunction checks that a queue waits for the promise of its host function, and has its rejection.
func TestAwaitedHostFunction(t *testing.T) {
	e := newEngine(t)
	exports, err := e.Run(context.Background(), "host.js", `
import { device, kernel, f32 } from 'offload'
const dev = device('cpu'), q = dev.queue, x = dev.buffer(f32, 1)
let seen
q.host(async () => { await new Promise((done) => setTimeout(done, 20)); seen = 'late' })
q.host(() => { seen += ' then' })
await q.sync()
export let failed
q.host(async () => { await null; throw new RangeError('no') })
try { await q.sync() } catch (e) { failed = e.message }
export { seen }`)
	if err != nil {
		t.Fatal(err)
	}
	if got := exports.Get("seen").String(); got != "late then" {
		t.Errorf("got %q: the queue went on before the promise was settled", got)
	}
	if got := exports.Get("failed").String(); !strings.Contains(got, "no") {
		t.Errorf("the rejection became %q", got)
	}
}

// TestDroppedHostFunction cancels a queue whose host function has not begun. The function is not called, the script can block
// again, and it ends.
func TestDroppedHostFunction(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	exports, err := newEngine(t).Run(ctx, "dropped.js", `
import { device, f32 } from 'offload'
const dev = device('cpu'), q = dev.createQueue(), x = dev.buffer(f32, 1)
const gate = Promise.withResolvers(), abort = new AbortController()
export let called = false, name
q.host(() => gate.promise)
q.host(() => { called = true })
const synced = q.sync({ signal: abort.signal })
abort.abort()
try { await synced } catch (e) { name = e.name }
gate.resolve()
await q.sync().catch(() => {})
while (true) {
  try { x.readSync(); break } catch (e) { await new Promise(done => setTimeout(done, 1)) }
}`)
	if err != nil {
		t.Fatal(err)
	}
	if called, name := exports.Get("called").ToBoolean(), exports.Get("name").String(); called || name != "AbortError" {
		t.Errorf("called: %v, the sync ended with %s", called, name)
	}
}

// TestEventsTakeProperties checks the operations on events, which are light objects.
func TestEventsTakeProperties(t *testing.T) {
	e := newEngine(t)
	exports, err := e.Run(context.Background(), "event.js", `
import { device, Event } from 'offload'
const ev = device('cpu').queue.record()
ev.tag = 'a'; ev.note = 1; delete ev.note
const set = new WeakMap([[ev, 'kept']])
export const result = [ev.tag, 'note' in ev, Object.keys(ev), ev instanceof Event, set.get(ev), typeof ev.then, ev.queue === device('cpu').queue,
  Object.prototype.toString.call(ev)].join()`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := exports.Get("result").String(), "a,false,tag,true,kept,function,true,[object Event]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
