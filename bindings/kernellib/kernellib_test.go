package kernellib_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// TestFunctions runs the example that compares each function with JavaScript: compiled, and in the interpreter, which reports races
// and reads of elements that were never written.
func TestFunctions(t *testing.T) {
	const folder = "../../examples/kernels"
	data, err := os.ReadFile(filepath.Join(folder, "library.js"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "n = 20000", "n = 4000")
	printed := map[string]string{}
	for name, text := range map[string]string{
		"compiled":    text,
		"interpreted": strings.NewReplacer("launch({ size", "launch({ checks: 'races', size", "launch({ groups", "launch({ checks: 'races', groups", "= { size: ", "= { checks: 'races', size: ", "{ size, ", "{ checks: 'races', size, ").Replace(text),
	} {
		rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
		var out strings.Builder
		e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, Dir: folder, OnWarning: func(d *diag.Diagnostic) { t.Error(name, d) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Run(t.Context(), filepath.Join(folder, "library.js"), text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := strings.Count(out.String(), "as expected"); n < 45 {
			t.Errorf("%s: %d comparisons", name, n)
		}
		printed[name] = out.String()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if err := rt.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if printed["compiled"] != printed["interpreted"] {
		t.Errorf("compiled:\n%s\ninterpreted:\n%s", printed["compiled"], printed["interpreted"])
	}
}

// TestSubgroups combines values over subgroups of the device's size. The last subgroup is incomplete.
func TestSubgroups(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer func() {
		if err := rt.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "subgroups.js", `
import { device, kernel, i32 } from 'offload'
import { subgroupReduce, subgroupScan } from 'kernels'
const join = (a, b) => i32(a / 1000) * 1000 + b % 1000 // the first of a and the last of b: it does not commute
const k = kernel((g, x, total, wrong) => {
  const sum = subgroupReduce(g, x[g.x], (a, b) => (a + b) | 0), scan = subgroupScan(g, x[g.x], (a, b) => (a + b) | 0)
  const ends = subgroupReduce(g, g.x * 1000 + g.x, join), lanes = g.subgroup.add(1)
  if (g.lane === 0) Atomics.add(total, 0, sum)
  if (g.lane === lanes - 1 && scan !== sum) Atomics.add(wrong, 0, 1)
  if (ends !== (g.x - g.lane) * 1000 + g.x - g.lane + lanes - 1) Atomics.add(wrong, 1, 1)
})
const dev = device('cpu'), total = dev.buffer(i32, 1), wrong = dev.buffer(i32, 2)
k.launch({ size: 997, groupSize: 96 }, dev.buffer(i32, 997, i => i), total, wrong)
console.log((await total.read())[0], (await wrong.read()).join())
// Items outside of the launch lie between the lanes of a group of several axes, and a device may have wide subgroups.
const rows = kernel((g, reduced, scanned, lanes) => {
  const id = (g.local.z * 16 + g.local.y) * 16 + g.local.x, ends = id * 10000 + id
  const first = (a, b) => i32(a / 10000) * 10000 + b % 10000
  reduced[g.z][g.y][g.x] = subgroupReduce(g, ends, first)
  scanned[g.z][g.y][g.x] = subgroupScan(g, ends, first)
  lanes[g.z][g.y][g.x] = i32((g.local.x + g.groupSize.x * (g.local.y + g.groupSize.y * g.local.z)) / g.subgroupSize)
})
let compared = 0
for (const [size, groupSize] of [[[13, 6, 1], [8, 8, 1]], [[4, 3, 1], [6, 5, 1]], [[5, 7, 5], [3, 4, 4]], [[1, 9, 1], [16, 16, 1]], [[17, 17, 1], [16, 16, 1]]]) {
  const [nx, ny, nz] = size, out = [0, 1, 2].map(() => dev.buffer(i32, [nz, ny, nx]))
  rows.launch({ size, groupSize }, ...out)
  const [reduced, scanned, subgroup] = await Promise.all(out.map(b => b.read()))
  const members = new Map()
  const each = f => { for (let z = 0; z < nz; z++) for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) {
    const at = (z * ny + y) * nx + x, group = [x, y, z].map((c, i) => Math.floor(c / groupSize[i]))
    f(at, [...group, subgroup[at]].join(), (z % groupSize[2] * 16 + y % groupSize[1]) * 16 + x % groupSize[0])
  } }
  each((at, key, id) => members.set(key, [...(members.get(key) ?? []), id]))
  each((at, key, id) => {
    const list = members.get(key), first = Math.min(...list)
    if (reduced[at] !== first * 10000 + Math.max(...list) || scanned[at] !== first * 10000 + id) console.log('differs', size, at, reduced[at], scanned[at])
    compared++
  })
}
console.log(compared)
`)
	if err != nil || out.String() != "496506 0,0\n563\n" {
		t.Errorf("%v, printed %q", err, out.String())
	}
}

// TestArguments passes valid but unusual arguments, and an invalid one.
func TestArguments(t *testing.T) {
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	defer func() {
		if err := rt.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	var out strings.Builder
	e, err := inside.Of(rt).NewEngine(lang.Options{Stdout: &out, OnWarning: func(d *diag.Diagnostic) { t.Error(d) }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "kernels.js", `
import { device, kernel, i32 } from 'offload'
import { groupSort, groupReduce, groupBroadcast } from 'kernels'
const dev = device('cpu'), x = dev.buffer(i32, 100, i => (i * 37) % 101), o = dev.buffer(i32, 64)
const part = kernel((g, x, n) => { // the count is not known before the launch
  const keys = g.shared(i32, 100)
  keys[g.local.x] = x[g.x]
  groupSort(g, keys, n[0], (a, b) => a > b)
  x[g.x] = keys[g.local.x]
})
await part.launch({ size: 100, groupSize: 100 }, x, dev.buffer(i32, 1, () => 50))
const sorted = Array.from({ length: 50 }, (_, i) => (i * 37) % 101).sort((a, b) => b - a)
console.log((await x.read()).every((v, i) => v === (i < 50 ? sorted[i] : (i * 37) % 101)))
const again = kernel((g, x, o) => { // other items may still read scratch when the first one calls
  const scratch = g.shared(i32, 64)
  scratch[g.x] = x[g.x]
  g.barrier()
  o[g.x] = scratch[(g.x + 1) % 64] + 1000 * groupReduce(g, scratch, g.x, (a, b) => Math.max(a, b))
  o[g.x] += groupBroadcast(g, scratch, 100000 * g.x, 63)
})
await again.launch({ size: 64, checks: 'races' }, x, o)
const values = await x.read()
console.log((await o.read()).every((v, i) => v === values[(i + 1) % 64] + 63000 + 6300000))
const far = kernel((g, o, from) => { o[g.x % 64] = groupBroadcast(g, g.shared(i32, 64), g.x, from) })
await far.launch({ size: 100, groupSize: 64 }, o, 40).catch(e => console.log(e.message))
`)
	if err != nil {
		t.Error(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) < 3 || lines[0] != "true" || lines[1] != "true" || !strings.Contains(lines[2], "groupBroadcast: the group has 36 items, and none of number 40") {
		t.Errorf("printed %q", out.String())
	}
}
