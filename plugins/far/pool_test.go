package far_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/plugins/far"
	"github.com/orepl/orepl/runtime/offload"
)

// TestPoolSurvivesWorker kills one of two workers while a pool maps over both. Every item must have its result, and the
// other worker must run the items of the lost one.
func TestPoolSurvivesWorker(t *testing.T) {
	spawn := "spawn:" + os.Args[0]
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{far.New(far.Options{Workers: []string{spawn, spawn}})}})
	defer func() { must(t, rt.Shutdown(context.Background())) }() // returns failures that no queue's sync returned
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, OnError: func(err error) { t.Error(err) }})
	must(t, err)
	defer func() { must(t, e.Close()) }()
	must(t, e.VM().Set("killWorker", func(goja.FunctionCall) goja.Value {
		kill(t, worker(t))
		return goja.Undefined()
	}))
	_, err = e.Run(t.Context(), "pool.js", `
import { pool, kernel, i32 } from 'offload'
const count = kernel((g, n, x) => { for (let i = 0; i < 4000000; i++) x[g.x] += n * (i & 7) })
const p = pool(['far:0/cpu:0', 'far:1/cpu:0'])
let calls = 0, killed
const gate = new Promise(resolve => { killed = resolve })
const sums = await p.map(Array.from({ length: 24 }, (_, i) => i), async (n, { device, queue }) => {
  const x = device.buffer(i32, 16, { queue })
  count.launch({ size: 16, queue }, n, x) // not awaited: its failure is not told beside that of the read
  if (++calls === 4) killed(killWorker()) // two tasks run on each device
  await gate // the tasks of the lost device read after its end, however fast their kernels were
  return (await x.read()).reduce((a, b) => a + b)
})
const expected = n => 16 * n * 14e6
console.log(sums.every((sum, n) => sum === expected(n)), sums.length, calls > 24)
const lost = p.devices.filter(d => d.lost).length, done = p.devices.reduce((n, d) => n + d.done, 0)
console.log(lost, done)
console.log(await p.run(({ device }) => device.id) === p.devices.find(d => !d.lost).device)
p.close()
`)
	must(t, err)
	if want := "true 24 true\n1 24\ntrue\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// TestPoolWithoutDevices loses all devices: each waiting task must fail.
func TestPoolWithoutDevices(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}})}})
	defer func() { _ = rt.Close() }()
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out})
	must(t, err)
	defer func() { must(t, e.Close()) }()
	must(t, e.VM().Set("killWorker", func(goja.FunctionCall) goja.Value {
		kill(t, worker(t))
		return goja.Undefined()
	}))
	_, err = e.Run(t.Context(), "pool.js", `
import { pool, i32 } from 'offload'
const p = pool(['far:cpu:0'], { tasks: 1 })
const task = async ({ device }) => {
  const x = device.buffer(i32, 16)
  killWorker()
  for (;;) await x.read()
}
const ends = await Promise.allSettled([p.run(task), p.run(task)])
console.log(ends.map(e => e.reason.code).join(), ends[1].reason.message, p.devices[0].done)
`)
	must(t, err)
	if want := "device-lost,device-lost pool: every device of the pool has been lost 0\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

// TestPoolKeepsFailures loses a worker after a command of the script failed on its queue, or while a task succeeds without
// the lost command. The pool must report both failures.
func TestPoolKeepsFailures(t *testing.T) {
	for _, test := range []struct{ name, before, task, want string }{
		{"before", `const failed = broken.launch({ size: 64 }, x0); while (!failed.done) await new Promise(r => setTimeout(r, 5))`, `{ if (device === d) { killWorker(); await x0.read() } }`, "out-of-bounds"},
		{"own", ``, `{ if (device !== d) return; work.launch({ size: 16 }, x0); killWorker(); await x0.read().catch(() => {}) }`, "device-lost"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{far.New(far.Options{Workers: []string{"spawn:" + os.Args[0]}}), cpu.New(cpu.Options{})}})
			var told []error
			var out strings.Builder
			e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, OnError: func(err error) { told = append(told, err) }})
			must(t, err)
			must(t, e.VM().Set("killWorker", func(goja.FunctionCall) goja.Value {
				kill(t, worker(t))
				return goja.Undefined()
			}))
			_, err = e.Run(t.Context(), "pool.js", `
import { device, pool, kernel, i32 } from 'offload'
const d = device('far:cpu:0'), x0 = d.buffer(i32, 16)
const broken = kernel((g, x) => { x[g.x * 9] = 1 }), work = kernel((g, x) => { for (let i = 0; x[g.x] === 0; i++) x[g.x] -= i & 0 }) // ends by its worker's end only
`+test.before+`
const p = pool(['far:cpu:0', 'cpu:0'], { tasks: 1 })
await p.run(async ({ device }) => `+test.task+`, { near: x0 })
console.log(p.devices[0].lost)
`)
			must(t, errors.Join(err, e.Close()))
			told = append(told, rt.Shutdown(context.Background()))
			if err := errors.Join(told...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("told %v, want %s", err, test.want)
			}
			if out.String() != "true\n" {
				t.Errorf("printed %q", out.String())
			}
		})
	}
}
