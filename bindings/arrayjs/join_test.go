package arrayjs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/orepl/orepl/plugins/cpu"
)

// TestChained compares calls in a chain, which are joined, with the same calls on variables, which are not.
func TestChained(t *testing.T) {
	script := `
import { device, f32, f64, i32 } from 'offload'
import { explain } from 'array'
const d = device('cpu')
const x = d.random(f32, [70, 300], { seed: 1, from: -1 }), w = d.random(f32, 300, { seed: 2 }), k = d.arange(i32, 1000)
const value = async v => { v = await v; return typeof v === 'object' ? v.shape + ': ' + await v.read() : v }
const same = async (chained, apart, what) => {
  const a = await value(chained()), b = await value(apart())
  console.log(what, Object.is(a, b))
}
await same(() => x.map(v => v * 0.1).sum(), () => { const y = x.map(v => v * 0.1); return y.sum() }, 'sum')
await same(() => x.zip(w, (a, b) => a * b).sum(0), () => { const y = x.zip(w, (a, b) => a * b); return y.sum(0) }, 'sum along an axis')
await same(() => x.map(v => v * v).map(v => 1 - v).max({ axis: 1, keepDims: true }),
  () => { let y = x.map(v => v * v); y = y.map(v => 1 - v); return y.max({ axis: 1, keepDims: true }) }, 'max')
await same(() => k.map(v => v / 3).mean(), () => { const y = k.map(v => v / 3); return y.mean() }, 'mean')
await same(() => k.map(v => v % 7).reduce((a, b) => a * 3 + b), () => { const y = k.map(v => v % 7); return y.reduce((a, b) => a * 3 + b) }, 'reduce')
await same(() => x.map((v, i, j) => v * j).norm(), () => { const y = x.map((v, i, j) => v * j); return y.norm() }, 'norm')
await same(() => x.map(v => v > 0).all(), () => { const y = x.map(v => v > 0); return y.all() }, 'all')
for (let i = 0; i < 2; i++) await same(() => x.map(v => v * 0.1).map(v => f64(v)).zip(3, (a, b) => a * b).mean(0), () => { let y = x.map(v => v * 0.1); y = y.map(v => f64(v)); return y.map(v => v * 3).mean(0) }, 'real types')
await same(() => x.map(v => v + 1).zip(w, (a, b) => a * b), () => { const y = x.map(v => v + 1); return y.zip(w, (a, b) => a * b) }, 'zip')
await same(() => k.map(v => v % 7).reduce((a, b) => a ^ b, { order: 'any' }), () => k.map(v => v % 7).reduce((a, b) => a ^ b, 0), 'any order')
for (const n of [1, 2, 255, 257, 16384, 40000]) {
  const y = d.random(i32, [2, n], { seed: n, from: -9, to: 9 })
  await same(() => y.reduce((a, b) => a + b, { axis: 1, order: 'any' }), () => y.sum(1).map(v => i32(v)), 'any order of ' + n)
}
const z = d.full(f32, 5, 1)
console.log(await z.map(v => v + 1).zip(z.fill(3), (a, b) => a * b).sum()) // map has run before fill
console.log(explain(() => x.zip(w, (a, b) => a - b).map(v => v * v).sum(0)))
console.log(explain(() => { const y = x.map(v => v * 2); return y.sum(0) }))
console.log(explain(() => x.map(v => v * 2).sum([0, 1])))
for (const f of [() => x.map(v => v.z).sum(), () => x.zip(d.ones(f32, 7), (a, b) => a).sum(), () => x.map(v => v).sum(5), () => x.map(v => v).sum({ axi: 1 }), () => explain(3), () => k.reduce((a, b) => a, { order: 'all' })]) {
  try { f() } catch (e) { console.log(e.message) }
}
`
	got := strings.Split(run(t, place{"cpu", "cpu", cpu.New(cpu.Options{})}, script), "\n")
	want := []string{"sum true", "sum along an axis true", "max true", "mean true", "reduce true", "norm true", "all true", "real types true", "real types true", "zip true", "any order true", "any order of 1 true", "any order of 2 true", "any order of 255 true", "any order of 257 true",
		"any order of 16384 true", "any order of 40000 true", "30",
		`sum: zip, map, sum in one launch, \[300, 1, 1\] work-items, sum\(a: f32\[\]\[\]\[\], b: f32\[\]\[\]\[\], out: f32\[\]\[\]\[\]\)`,
		`map, \[21000\] work-items, map\(out: f32\[\], a: f32\[\]\)`, `sum, \[300, 1, 1\] work-items, .*`,
		`map, \[21000\] work-items, map\(out: f32\[\], a: f32\[\]\)`, `sum, .*`, `sum, .*`,
		"`v` is a number, which has no property in a kernel", `zip on cpu: the shapes \[70, 300\] and \[7\] do not match: axis -1 has the extents 300 and 7`,
		`sum on cpu: axis 5 is outside of the shape \[70, 300\]`, `sum on cpu: there is no option "axi"`, "explain: expected a function, not 3",
		`reduce on cpu: order must be one of \["fixed" "any"\], not .*`, ""}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !regexp.MustCompile("^" + want[i] + "$").MatchString(got[i]) {
			t.Errorf("line %d is %q, want %q", i+1, got[i], want[i])
		}
	}
}
