package offloadjs_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/dop251/goja"

	"github.com/orepl/orepl/bindings/offloadjs/buffers"
)

// TestRepeatedLaunches launches a kernel again from one place, with what the launches before had and with other arguments,
// options, buffers and queues.
func TestRepeatedLaunches(t *testing.T) {
	const head = `
import { device, kernel, f32, f64 } from 'offload'
const d = device('cpu'), x = d.buffer(f64, 8), add = kernel((g, a, x) => { x[g.x] += a })
`
	for name, c := range map[string]struct{ script, want string }{
		"equal":          {"for (let i = 0; i < 100; i++) add.launch({ size: 8 }, 2, x)\nexport default [...await x.read()].join()", "200,200,200,200,200,200,200,200"},
		"turns":          {"const y = d.buffer(f64, 8)\nfor (let i = 0; i < 100; i++) add.launch({ size: 8 }, 1 + i % 2, i % 3 ? x : y)\nexport default [await x.at(0), await y.at(7)].join()", "99,51"},
		"many turns":     {"for (let i = 0; i < 100; i++) add.launch({ size: 8 }, i % 5, x)\nexport default await x.at(3)", "200"},
		"zeros":          {"const k = kernel((g, a, x) => { x[0] = 1 / a })\nlet r = ''\nfor (let i = 0; i < 12; i++) { k.launch({ size: 1 }, i % 4 < 2 ? 0 : -0, x); r += await x.at(0) < 0 ? '-' : '+' }\nexport default r", "++--++--++--"},
		"NaN":            {"const k = kernel((g, a, x) => { x[0] += a !== a ? 1 : 0 })\nfor (let i = 0; i < 20; i++) k.launch({ size: 1 }, NaN, x)\nexport default await x.at(0)", "20"},
		"true and 1":     {"const k = kernel((g, a, x) => { x[0] += a ? 1 : 0 })\nfor (let i = 0; i < 8; i++) k.launch({ size: 1 }, [true, 1][i % 2], x)\nexport default await x.at(0)", "8"},
		"size":           {"const o = { size: 8 }\nfor (let i = 0; i < 40; i++) { o.size = i < 20 ? 8 : 1 + i % 2; add.launch(o, 1, x) }\nexport default [...await x.read(0, 3)].join()", "40,30,20"},
		"one more key":   {"const o = { size: 8 }\nfor (let i = 0; i < 6; i++) { if (i === 4) o.groups = [1]; add.launch(o, 1, x) }", "!give size or groups, not both"},
		"no options":     {"const list = [{ size: 8 }, { size: 8 }, { size: 8 }, 5]\nfor (const o of list) add.launch(o, 1, x)", "!options"},
		"groups":         {"const o = { groups: [2], groupSize: [4] }\nfor (let i = 0; i < 9; i++) { if (i > 4) o.groups[0] = 1; add.launch(o, 1, x) }\nexport default [await x.at(0), await x.at(7)].join()", "9,5"},
		"queues":         {"const q = [d.queue, d.createQueue()], seen = []\nfor (let i = 0; i < 12; i++) { const e = add.launch({ size: 8, queue: q[i >> 2 & 1] }, 1, x); seen.push(q.indexOf(e.queue)) }\nexport default seen.join('') + await x.at(0)", "00001111000012"},
		"count":          {"for (let i = 0; i < 4; i++) add.launch({ size: 8 }, ...[1, x, 3].slice(0, i < 3 ? 2 : 3))", "!takes 2 arguments (a, x), but 3 were given"},
		"freed":          {"for (let i = 0; i < 4; i++) {\n  if (i === 3) x.free()\n  add.launch({ size: 8 }, 1, x)\n}", "!freed"},
		"closed queue":   {"const q = d.createQueue()\nfor (let i = 0; i < 4; i++) {\n  if (i === 3) await q.close()\n  add.launch({ size: 8, queue: q }, 1, x)\n}", "!closed"},
		"another kernel": {"const list = [add, kernel((g, a, x) => { x[g.x] -= a })]\nfor (let i = 0; i < 9; i++) list[+(i > 5)].launch({ size: 8 }, 1, x)\nexport default await x.at(0)", "3"},
		"bind":           {"const b = []\nfor (let i = 0; i < 6; i++) b.push(add.bind({ size: 8 }, 1 + (i >> 1), x))\nfor (const one of b) one.launch()\nb[0].mine = 1\nexport default [b[0] === b[1], b[1].mine, await x.at(0), b.length].join()", "false,,12,6"},
	} {
		t.Run(name, func(t *testing.T) {
			exports, err := newEngine(t).Run(context.Background(), "t.js", head+c.script)
			if want, fails := strings.CutPrefix(c.want, "!"); fails {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := exports.Get("default").String(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestPlacesOfRepeatedLaunches launches a kernel that fails from two places. Each error names its own place.
func TestPlacesOfRepeatedLaunches(t *testing.T) {
	exports, err := newEngine(t).Run(context.Background(), "t.js", `
import { device, kernel, f32 } from 'offload'
const x = device('cpu').buffer(f32, 4), k = kernel((g, x) => { x[g.x + 1] = 1 })
const places = []
export const at = async e => { try { await e } catch (e) { places.push(/t\.js:(\d+):\d+[^\n]*launch|launch[^\n]*t\.js:(\d+)/.exec(e.stack + String(e))?.[0] ?? e.stack) } }
for (let i = 0; i < 4; i++) {
  await at(k.launch({ size: 4 }, x))
  await at(k.launch({ size: 4 }, x))
}
export const lines = places.map(p => /:(7|8):/.exec(p)?.[1] ?? p).join(' ')`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := exports.Get("lines").String(), "7 8 7 8 7 8 7 8"; got != want {
		t.Errorf("the errors name %q, want the lines %q", got, want)
	}
}

// TestRepeatedLaunchesKeepNothing checks that a kernel does not keep the buffers of its launches.
func TestRepeatedLaunchesKeepNothing(t *testing.T) {
	e := newEngine(t)
	ctx := context.Background()
	exports, err := e.Run(ctx, "t.js", `
import { device, kernel, f32 } from 'offload'
const d = device('cpu'), k = kernel((g, x) => { x[g.x] += 1 })
export function made() {
  const x = d.buffer(f32, 4)
  for (let i = 0; i < 4; i++) k.launch({ size: 4 }, x)
  return x
}`)
	if err != nil {
		t.Fatal(err)
	}
	made, _ := goja.AssertFunction(exports.Get("made"))
	const n = 20
	var all [n]weak.Pointer[buffers.Buffer]
	for i := range all {
		v, err := e.Await(ctx, func(*goja.Runtime) (goja.Value, error) { return made(nil) })
		if err != nil {
			t.Fatal(err)
		}
		host, _ := e.HostValue(v)
		all[i] = weak.Make(host.(*buffers.Buffer))
	}
	kept := n
	for range 10 {
		runtime.GC()
		kept = 0
		for _, w := range all {
			if w.Value() != nil {
				kept++
			}
		}
		if kept <= 1 { // the interpreter's stack may hold the last one
			return
		}
	}
	t.Errorf("%d of %d buffers are kept", kept, n)
}
