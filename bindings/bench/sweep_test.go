package bench_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/orepl/orepl/lang/diag"
)

// TestSweep measures two variants of a kernel at the points of two axes.
func TestSweep(t *testing.T) {
	_, out, err := run(t, `
import { sweep, powers, linear, curves } from 'bench'
const plain = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] }), added = kernel((g, x, y) => { y[g.x] = x[g.x] + x[g.x] })
const made = [], freed = []
const rows = await sweep('double', {
  axes: { n: powers(64, 256), type: [f32, 'other'] }, filter: p => p.type === f32 || p.n > 64,
  setup: ({ n, type }) => { made.push(n); return { x: device('cpu').buffer(f32, n, i => i), y: device('cpu').buffer(f32, n) } },
  teardown: ({ x, y }, { n }) => { freed.push(n); x.free(); y.free() },
  variants: { plain: ({ x, y }, { n }) => plain.launch({ size: n }, x, y), added: ({ x, y }, { n }) => added.launch({ size: n }, x, y) },
  verify: async ({ y }, { n }, variant) => { if (!['plain', 'added'].includes(variant)) throw new Error(variant); const v = await y.read(); return v.length === n && v.every((v, i) => v === 2 * i) },
  bytes: ({ n }) => 8 * n, flops: p => p.n, thresholds: ({ n }) => ({ median: n > 64 ? 1e9 : 1e-9 }), repeats: 6, minTime: 0.01,
})
console.log(rows.map(r => r.name).join())
console.log(rows.every(r => r.verified && r.samples === 18 && r.times.length === 18 && r.device === 'cpu' && r.gigabytesPerSecond > 0 && r.gigaflops > 0))
console.log(rows.map(r => r.missed.length).join(''), rows.map(r => r.against?.variant ?? '-').join(), rows[1].against.test)
console.log(JSON.stringify(rows[2].params), rows[2].group, rows[3].variant, made.join(), freed.join())
const { x, series } = curves(rows, 'n', 'gigabytesPerSecond')
console.log(x.join(), Object.keys(series).join(), Object.values(series).map(s => s.map(v => v > 0 ? 1 : v)).join(' '))
console.log(powers(1, 1000, 10).join(), linear(0, 1, 0.25).join(), linear(3, 3).join(), powers(3, 20).join())
console.log(results.length, table(rows).split('\n')[0])`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	const want = `double/n=64/type=f32/plain,double/n=64/type=f32/added,double/n=128/type=f32/plain,double/n=128/type=f32/added,double/n=128/type=other/plain,double/n=128/type=other/added,double/n=256/type=f32/plain,double/n=256/type=f32/added,double/n=256/type=other/plain,double/n=256/type=other/added
true
1100000000 -,plain,-,plain,-,plain,-,plain,-,plain Wilcoxon signed-rank
{"n":128,"type":"f32"} double added 64,64,128,128,128,128,256,256,256,256 64,64,128,128,128,128,256,256,256,256
64,128,256 double f32 plain,double f32 added,double other plain,double other added 1,1,1 1,1,1 NaN,1,1 NaN,1,1
1,10,100,1000 0,0.25,0.5,0.75,1 3 3,6,12
10 name`
	if !strings.HasPrefix(out, want) {
		t.Errorf("%s", out)
	}
}

// TestVariantValues measures one function with values, such as kernels, and compares them.
func TestVariantValues(t *testing.T) {
	_, out, err := run(t, `
import { sweep } from 'bench'
const twice = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] }), thrice = kernel((g, x, y) => { y[g.x] = 3 * x[g.x] })
const rows = await sweep('s', {
  axes: { n: [64, 128] }, variants: { twice, thrice }, repeats: 3, minTime: 0,
  setup: ({ n }) => ({ x: device('cpu').buffer(f32, n, i => i), y: device('cpu').buffer(f32, n) }),
  run: ({ x, y }, { n }, k) => k.launch({ size: n }, x, y),
  verify: async ({ y }, _, variant) => (await y.read()).every((v, i) => v === (variant === 'twice' ? 2 : 3) * i),
})
for (const r of rows) console.log(r.name, r.variant, r.verified, r.clock, r.against?.variant)
await sweep('none', { variants: { twice }, run: (_, p, k) => { k.launch({ size: 1 }, 1, 2) } }).then(r => console.log(r[0].failed))`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	const want = `s/n=64/twice twice true device undefined
s/n=64/thrice thrice true device twice
s/n=128/twice twice true device undefined
s/n=128/thrice thrice true device twice
`
	if !strings.HasPrefix(out, want) {
		t.Errorf("%s", out)
	}
}

// TestSweepFailures checks that points that fail, in any of their functions, are rows with a reason, and that all others run.
func TestSweepFailures(t *testing.T) {
	_, out, err := run(t, `
import { sweep } from 'bench'
const k = kernel((g, x, at) => { x[at] = g.x })
let torn = 0
const rows = await sweep('s', {
  axes: { at: ['right', 'setup', 'verify', 'throws', 'run', 'fault', 'before', 'teardown', 'last'] }, repeats: 3, warmup: 1, minTime: 0,
  setup: ({ at }) => { if (at === 'setup') throw new Error('no memory'); return { x: device('cpu').buffer(f32, 4) } },
  before: (s, { at }) => { if (at === 'before') throw new Error('not before') },
  variants: {
    a: ({ x }, { at }) => { if (at === 'run') throw new Error('off by one'); return k.launch({ size: 1 }, x, at === 'fault' ? 9 : 0) },
    b: ({ x }) => k.launch({ size: 1 }, x, 0),
  },
  verify: (s, { at }, variant) => { if (at === 'throws' && variant === 'a') throw new Error('differs'); return at !== 'verify' || variant !== 'a' },
  teardown: (s, { at }) => { torn++; s.x.free(); if (at === 'teardown') throw new Error('stuck') },
})
for (const r of rows) console.log(r.name, r.failed ?? r.wrong ?? (r.verified && r.median >= 0), r.samples)
console.log(torn, JSON.stringify(rows[2].median))
console.log(table())`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	for _, want := range []string{
		"s/at=right/a true 9\ns/at=right/b true 9\n", "s/at=setup/a no memory at bench.js:9:50 0\ns/at=setup/b no memory at bench.js:9:50 0\n",
		"s/at=verify/a verify returned false at bench.js:15:11 0\ns/at=verify/b true 3\n", "s/at=throws/a differs at bench.js:15:83 0\ns/at=throws/b true 3\n",
		"s/at=run/a off by one at bench.js:12:53 0\ns/at=run/b true 3\n", "s/at=before/a not before at bench.js:10:55 0\ns/at=before/b not before at bench.js:10:55 0\n",
		"s/at=teardown/a stuck at bench.js:16:79 0\n", "s/at=last/a true 9\ns/at=last/b true 9\n", "16 null\n",
		"s/at=run/a failed: off by one at bench.js:12:53\n", "the result of s/at=verify/a is wrong: verify returned false at bench.js:15:11\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.Contains(out, "s/at=fault/b true 3\n") || strings.Contains(out, "s/at=fault/a true") {
		t.Error("a fault stays with its variant")
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestWrongOptionsOfPoints checks that a point fails for which a function computes wrong bytes, operations or thresholds, or throws, and
// that all others are measured.
func TestWrongOptionsOfPoints(t *testing.T) {
	for _, wrong := range []string{
		"bytes: ({ n }) => n === 2 ? NaN : 8", "bytes: ({ n }) => n === 2 ? -8 : 8", "flops: ({ n }) => n === 2 ? Infinity : 8", "bytes: ({ n }) => n === 2 ? Promise.resolve(8) : 8",
		"bytes: ({ n }) => { if (n === 2) throw new Error('bytes must be known'); return 8 }", "thresholds: ({ n }) => n === 2 ? { meadian: 3 } : { median: 1e6 }",
	} {
		_, out, err := run(t, `
import { sweep } from 'bench'
const rows = await sweep('s', { axes: { n: [1, 2, 3] }, variants: { a: () => {}, b: () => {} }, repeats: 2, warmup: 0, `+wrong+` })
for (const r of rows) console.log(r.name, r.samples > 0, (r.failed ?? '').replace(/^bench: /, '').slice(0, 5))`)
		if err != nil {
			t.Errorf("%s: %s", wrong, diag.Format(err, false))
			continue
		}
		name, _, _ := strings.Cut(wrong, ":")
		reason := map[string]string{"bytes": "bytes", "flops": "flops", "thresholds": "there"}[name]
		if want := "s/n=1/a true \ns/n=1/b true \ns/n=2/a false " + reason + "\ns/n=2/b false " + reason + "\ns/n=3/a true \ns/n=3/b true \n"; !strings.HasSuffix(out, want) {
			t.Errorf("%s: %s", wrong, out)
		}
	}
	_, out, err := run(t, `
import { sweep } from 'bench'
const options = { axes: { n: [1] }, run() {}, repeats: 1 }
const rows = [
  ...await sweep('bytes', { ...options, bytes: () => NaN }), ...await sweep('flops', { ...options, flops: () => { throw new Error('none') } }),
  ...await sweep('limits', { ...options, thresholds: () => ({ medain: 1 }) }), ...await sweep('rate', { ...options, bytes: () => 0, thresholds: { gigabytesPerSecond: 1 } }),
]
for (const r of rows) console.log(r.failed)`)
	want := `bench: bytes must be a number from 0 on, not NaN at bench.js:7:48
none at bench.js:7:121
bench: there is no threshold "medain" at bench.js:8:54 (hint: did you mean median? thresholds are of median, low, high, least, most, gigabytesPerSecond, gigaflops)
bench: the threshold of gigabytesPerSecond needs the option bytes at bench.js:8:94
`
	if err != nil || !strings.HasSuffix(out, want) || strings.Count(out, "warning: sweep: ") != 4 || strings.Contains(out, "undefined") {
		t.Errorf("%v\n%s", err, out)
	}
	for wrong, want := range map[string]string{"bytes: -8": "bytes must be", "filter: async () => false": "not a promise", "thresholds: { meadian: 3 }": "there is no threshold"} {
		if _, _, err := run(t, "import { sweep } from 'bench'\nawait sweep('s', { axes: { n: [1] }, variants: { a: () => {} }, "+wrong+" })"); err == nil || !strings.Contains(diag.Format(err, false), want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// TestTurns checks that every variant takes every position of a round equally often.
func TestTurns(t *testing.T) {
	_, out, err := run(t, `
import { compare } from 'bench'
let order = ''
const note = name => () => { order += name }
await compare('c', { a: note('a'), b: note('b'), c: note('c') }, { repeats: 4, warmup: 0, isolate: true })
const rounds = order.slice(3).match(/.../g), count = {}
for (const r of rounds) [...r].forEach((name, i) => { count[name + i] = (count[name + i] ?? 0) + 1 })
console.log(rounds.length, Object.values(count).join(''), new Set(rounds).size)`)
	if err != nil || out != "12 444444444 6\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompare checks what compare returns for its variants.
func TestCompare(t *testing.T) {
	_, out, err := run(t, `
import { compare, configure } from 'bench'
const spin = n => () => { let s = 0; for (let i = 0; i < n; i++) s += i }
const { once, twice } = await compare('sum', { once: spin(500), twice: spin(1500) }, { repeats: 12, minTime: 0.2 })
console.log(once.against, twice.against.variant, twice.against.verdict, twice.against.change > 0.5, twice.against.low <= twice.against.change, twice.against.p < 0.01)
configure({ filter: '/twice$' })
const only = await compare('sum', { once: spin(1), twice: spin(1) }, { repeats: 3 })
console.log(only.once.skipped, only.twice.samples, only.twice.against, (await bench('sum', () => {})).skipped)
configure({ filter: '', quick: true })
console.log((await bench('few', () => {})).samples)
console.log((await bench('time', () => new Promise(done => setTimeout(done, 1)), { time: 30 })).samples >= 5)
const long = await bench('precise', () => {}, { precision: 1e-9, repeats: 2 })
console.log(long.samples)`)
	const want = "undefined once slower true true true\ntrue 3 undefined true\n9\ntrue\n40\n"
	if err != nil || out != want {
		t.Errorf("%s\n%s", diag.Format(err, false), out)
	}
}

// TestCaches measures with caches that hold other data, and launches one by one, against a roofline.
func TestCaches(t *testing.T) {
	r, _, err := run(t, `
const n = 1 << 12, x = device('cpu').buffer(f32, n), k = kernel((g, x) => { x[g.x] += 1 })
const cold = await bench('cold', () => k.launch({ size: n }, x), { repeats: 3, caches: 'cold', bytes: 8 * n, roofline: { gigabytesPerSecond: 1e-3, gigaflops: 1 } })
if (cold.batch !== 1 || !(cold.roofline > 1)) throw new Error(cold.batch + ' calls, ' + cold.roofline)
export const r = await bench('one', () => k.launch({ size: n }, x), { repeats: 3, isolate: true })`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if r.Batch != 1 || len(r.Times) != 3 || r.Device != "cpu" {
		t.Errorf("%+v", r)
	}
}

func TestSweepMistakes(t *testing.T) {
	for _, c := range []struct{ script, message, hint string }{
		{"await sweep('s', { axes: {} })", "a sweep needs run or variants", "run: (state, { n })"},
		{"await sweep('s', { run() {}, variants: {} })", "there are no variants", "variants: { a, b }"},
		{"await sweep('s', { run() {}, variants: 5 })", "the variants must be an object of values for run", ""},
		{"await sweep('s', { run() {}, axis: {} })", `there is no option "axis"`, "did you mean axes?"},
		{"await sweep('s', { run() {}, bytes: ({ n }) => n, axes: undefined })", "axes must be an object of arrays, not undefined", "powers(1024"},
		{"await sweep('s', { run() {}, axes: [1] })", "axes must be an object of arrays", "powers(1024"},
		{"await sweep('s', { run() {}, axes: { n: 5 } })", `the axis "n" must be an array, not number`, ""},
		{"await sweep('s', { run() {}, axes: { n: 'abc' } })", `the axis "n" must be an array, not string`, ""},
		{"await sweep('s', { run() {}, axes: { n: [] } })", `the axis "n" has no values`, ""},
		{"await sweep('s', { run() {}, axes: { n: [1, 1] } })", `the axis "n" has the value 1 twice`, "leave one out"},
		{"await sweep('s', { run() {}, axes: { n: [{ a: 1 }, { a: 1 }] } })", "twice", "name of their own"},
		{"await sweep('s', { axes: { n: [1] }, run() {} }, { repeats: 3 })", "sweep takes a name and options, and nothing else", "write one object"},
		{"await sweep('s', { run() {}, axes: { n: [1] }, filter: () => false })", `the filter of "s" lets no point pass`, ""},
		{"await sweep('s', { run() {}, setup: 1 })", "setup must be a function, not number", ""},
		{"await sweep('s', { run: 1 })", "run must be a function, not number", ""},
		{"await sweep('s', { variants: { a: 1 } })", `the variant "a" must be a function, not number`, ""},
		{"await sweep('s', { variants: {} })", "there are no variants", ""},
		{"await sweep('s')", "the options must be an object", ""},
		{"await compare('c', { a() {} })", "one variant cannot be compared", "old:"},
		{"await compare('c', 5)", "the variants must be an object of functions", ""},
		{"await bench('b', () => {}, { caches: 'cold' })", "the caches of \"b\" cannot be emptied", "returns the event"},
		{"await bench('b', () => {}, { caches: 'hot' })", "caches must be 'warm' or 'cold', not hot", ""},
		{"await bench('b', () => {}, { time: 0 })", "time must be a number greater than 0", ""},
		{"await bench('b', () => {}, { precision: 5 })", "precision must be less than 1, not 5", "a share of the median"},
		{"await bench('b', () => {}, { noise: 5 })", "noise must be less than 1, not 5", "{ noise: 0.02 }"},
		{"await bench('b', () => {}, { noise: -1 })", "noise must be a number from 0 on, not -1", ""},
		{"configure({ noise: 2 })", "noise must be less than 1, not 2", "a share of the median"},
		{"configure({ precision: 1 })", "precision must be less than 1, not 1", ""},
		{"configure({ time: '5' })", `time must be a number, not "5"`, "in milliseconds"},
		{"configure({ time: -5 })", "time must be a number greater than 0, not -5", ""},
		{"configure({ quick: 'yes' })", `quick must be true or false, not "yes"`, "{ quick: true }"},
		{"configure({ json: true })", "json must be a string, not a boolean", "{ json: 'name' }"},
		{"configure({ save: null })", "save must be a string, not null", ""},
		{"configure({ failIf: 5 })", "failIf must be a string, not 5", "median > 5%"},
		{"configure({ failIf: ['median > 5ms', 5] })", "failIf must be strings, not 5", "median > 5%"},
		{"configure({ shuffle: 0.5 })", "shuffle must be an integer from 0 to 4294967295, not 0.5", "a seed"},
		{"await bench('', () => {})", "the name must be a string, not an empty one", ""},
		{"configure({ sav: 'a' })", `there is no setting "sav"`, "did you mean save?"},
		{"configure({ constructor: 1 })", `there is no setting "constructor"`, ""},
		{"configure({ filter: '(' }); await bench('b', () => {})", "no regular expression", "part of a name"},
		{"powers(5, Symbol('s'))", "to must be a number from 5 on, not a symbol", ""},
		{"linear(5, Symbol('s'))", "to must be a number, not a symbol", ""},
		{"powers(0, 4)", "from must be a number greater than 0", ""},
		{"powers(8, 4)", "to must be a number from 8 on, not 4", ""},
		{"linear(0, 1e9, 1)", "more than 100000 values", "larger step"},
		{"linear(0, NaN)", "to must be a number, not NaN", ""},
		{"curves([], 'n')", `no row has the parameter "n"`, "the parameters are none"},
		{"curves(5, 'n')", "curves needs an array of results, not 5", "curves(await sweep(…), 'n')"},
		{"curves([5], 'n')", "the element 0 is 5", ""},
		{"curves(sweep('s', { axes: { n: [1] }, run() {} }), 'n')", "curves needs results, not a promise", "await"},
		{"curves(await sweep('s', { axes: { n: [1] }, run() {}, repeats: 1 }), 'n', 'gbps')", `there is no value "gbps"`, "the values are median"},
		{"curves(await sweep('s', { axes: { n: [1] }, run() {}, repeats: 1 }), 'n', 'gigaflop')", `there is no value "gigaflop"`, "did you mean gigaflops?"},
		{"curves(await sweep('s', { axes: { n: [1] }, run() {}, repeats: 1 }), 'n', 'gigabytesPerSecond')", "no row has gigabytesPerSecond", "the option bytes"},
		{"curves(await sweep('s', { axes: { n: [1] }, run() {}, repeats: 1 }), 'n', 'gigaflops')", "no row has gigaflops", "the option flops"},
		{"curves(await sweep('s', { axes: { n: [1] }, run() {}, repeats: 1 }), 'n', 'roofline')", "no row has roofline", "the option roofline"},
		{"table('a')", "table needs an array of results, not a string", "table(await sweep(…))"},
		{"table([1])", "the element 0 is 1", "table([await bench(…)])"},
		{"table([{ name: 'a' }])", "the element 0 is an object without the members of a result", ""},
		{"table(sweep('s', { axes: { n: [1] }, run() {} }))", "table needs results, not a promise", "await"},
	} {
		_, _, err := run(t, "import { sweep, compare, configure, powers, linear, curves } from 'bench'\n"+c.script)
		if err == nil || !strings.Contains(err.Error(), c.message) || !strings.Contains(diag.Hint(err), c.hint) || !strings.Contains(diag.Format(err, false), "bench.js:4:") {
			t.Errorf("%s: %s", c.script, diag.Format(err, false))
		}
	}
}

// TestShuffle checks that a seed permutes the measurements and leaves the order of the rows.
func TestShuffle(t *testing.T) {
	_, out, err := run(t, `
import { sweep, configure, linear } from 'bench'
for (const seed of [1, 1, 2]) {
  configure({ shuffle: seed })
  const order = []
  const rows = await sweep('s', { axes: { n: linear(1, 8) }, setup: ({ n }) => { order.push(n) }, run() {}, repeats: 1, warmup: 0, minTime: 0 })
  console.log(order.join(''), rows.map(r => r.params.n).join(''))
}`)
	lines := strings.Fields(out)
	if err != nil || len(lines) != 6 || lines[0] != lines[2] || lines[0] == lines[4] || lines[1] != "12345678" || lines[5] != "12345678" || lines[0] == lines[1] {
		t.Errorf("%v\n%s", err, out)
	}
	if digits := strings.Split(lines[0], ""); len(digits) == 8 {
		slices.Sort(digits)
		if strings.Join(digits, "") != "12345678" {
			t.Error(out)
		}
	}
}

// TestResults checks that sweeps keep the results of measurements that their functions make, and of those at the same time.
func TestResults(t *testing.T) {
	_, out, err := run(t, `
import { sweep, compare } from 'bench'
const pause = () => new Promise(resolve => setTimeout(resolve, 1)), few = { repeats: 2, warmup: 0, minTime: 0 }
await sweep('a', { axes: { n: [1, 2] }, setup: () => bench('inner', () => {}, few), run() {}, ...few })
console.log(results.map(r => r.name).join(' '))
await Promise.all([
  sweep('b', { axes: { n: [1, 2, 3] }, run: pause, ...few }), sweep('c', { axes: { n: [1, 2] }, run: pause, ...few }),
  bench('d', pause, few), compare('e', { x: pause, y: pause }, few),
])
console.log(results.slice(4).map(r => r.name).sort().join(' '))
console.log(results.filter(r => r.group === 'b').map(r => r.name).join(' '))`)
	const want = "inner a/n=1 a/n=2 inner\nb/n=1 b/n=2 b/n=3 c/n=1 c/n=2 d e/x e/y\nb/n=1 b/n=2 b/n=3\n"
	if err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCurvesOfLikeValues checks that values of two parameters that read alike with a space between are different series.
func TestCurvesOfLikeValues(t *testing.T) {
	_, out, err := run(t, `
import { sweep, curves } from 'bench'
const rows = await sweep('s', { axes: { n: [1, 2], a: ['x y', 'x'], b: ['z', 'y z'] }, run() {}, repeats: 1, warmup: 0, minTime: 0 })
const { series, error } = curves(rows, 'n')
for (const [name, values] of Object.entries(series)) console.log(name, values.every((v, i) => v >= 0 && error[name].low[i] <= v))`)
	if want := "s x y z true\ns x y y z true\ns x z true\ns a=x b=y z true\n"; err != nil || out != want {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWarningsOfSweeps checks that rows without times are warned of: the first one with its reason, all in one line at the end, and
// again for each sweep of a loop.
func TestWarningsOfSweeps(t *testing.T) {
	_, out, err := run(t, `import { sweep } from 'bench'
const run = (_, { n }) => { if (n % 3 === 0) throw new Error('no third') }
for (const name of ['one', 'two']) await sweep(name, { axes: { n: [1, 2, 3, 4, 5, 6, 7] }, run, verify: (_, { n }) => n !== 4, repeats: 2, warmup: 0 })
await sweep('few', { axes: { n: [1, 3] }, run, repeats: 2, warmup: 0 })
await sweep('none', { axes: { n: [1, 2] }, run, repeats: 2, warmup: 0 })
await sweep('many', { axes: { n: [1, 2, 3, 4, 5, 6, 7] }, run, verify: () => false, repeats: 2, warmup: 0 })`)
	var lines []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "warning: ") {
			lines = append(lines, line)
		}
	}
	want := `warning: sweep: "one/n=3" failed: no third at bench.js:4:52
warning: sweep: 3 of 7 results of "one" are wrong or failed: "one/n=3", "one/n=4", "one/n=6"
warning: sweep: "two/n=3" failed: no third at bench.js:4:52
warning: sweep: 3 of 7 results of "two" are wrong or failed: "two/n=3", "two/n=4", "two/n=6"
warning: sweep: "few/n=3" failed: no third at bench.js:4:52
warning: sweep: the result of "many/n=1" is wrong: verify returned false at bench.js:8:72
warning: sweep: 7 of 7 results of "many" are wrong or failed: "many/n=1", "many/n=2", "many/n=3", "many/n=4", and 3 more
`
	if got := strings.Join(lines, ""); err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestReasons checks that a row that failed or is wrong has the place and the hint of what was thrown.
func TestReasons(t *testing.T) {
	_, out, err := run(t, `
import { sweep } from 'bench'
const k = kernel((g, x) => { x[g.x] = 1 })
const rows = await sweep('s', {
  axes: { at: ['device', 'text', 'arguments', 'await', 'five', 'object', 'function'] }, repeats: 1, minTime: 0,
  setup: ({ at }) => {
    if (at === 'device') return device('cup')
    if (at === 'text') return { x: device('cpu').buffer(f32, '64') }
    if (at === 'five') throw 5
    if (at === 'object') throw { a: 1 }
    return { x: device('cpu').buffer(f32, 4) }
  },
  run: ({ x }, { at }) => at === 'arguments' ? k.launch({ size: 4 }, x, x) : at === 'function' ? fail() : k.launch({ size: 4 }, x),
  verify: async ({ x }, { at }) => at === 'await' ? x.read().every(v => v === 1) : true,
})
function fail() {
  throw new Error('far away')
}
for (const r of rows) console.log(r.params.at + ': ' + (r.failed ?? r.wrong))`)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	for _, want := range []string{
		`device: find device: there is no device "cup" at bench.js:9:39 (hint: did you mean "cpu"?`, `text: create buffer: the extents: expected an integer from 0 on, not the string "64" at bench.js:10:56 (hint: write `,
		`arguments: launch "k": the kernel takes 1 argument (x), but 2 were given at bench.js:15:56 (hint: `, "await: x.read().every is not a function at bench.js:16:53 (hint: it returns a promise: write (await x.read()).every(…))\n",
		"five: 5 at bench.js:8:10\n", "object: { a: 1 } at bench.js:8:10\n", "function: far away at bench.js:19:9\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// TestNeverSettles checks that functions whose promises never settle are failed rows with the place of the function, and that all
// other benchmarks run.
func TestNeverSettles(t *testing.T) {
	_, out, err := run(t, `
import { sweep, compare } from 'bench'
const never = () => new Promise(() => {})
let calls = 0
const rows = await sweep('s', {
  axes: { at: ['first', 'setup', 'before', 'run', 'later', 'verify', 'teardown', 'last'] }, repeats: 3, warmup: 1, minTime: 0,
  setup: ({ at }) => at === 'setup' ? never() : {},
  before: (s, { at }) => at === 'before' ? never() : null,
  variants: {
    a: (s, { at }) => at === 'run' || at === 'later' && ++calls > 3 ? never() : null,
    b: () => {},
  },
  verify: async (s, { at }, variant) => { if (at === 'verify' && variant === 'b') await never(); return true },
  teardown: (s, { at }) => at === 'teardown' ? never() : null,
})
for (const r of rows) console.log(r.name, r.failed ?? (r.verified && r.median >= 0), r.samples)
const bad = await bench('bad', never), late = await bench('late', () => ++calls > 9 ? never() : null, { repeats: 30, isolate: true })
console.log(bad.failed, bad.samples, late.failed, late.samples, (await bench('good', () => {}, { repeats: 3 })).samples)
const { a, b, c } = await compare('c', { a: () => {}, b: never, c: () => {} }, { repeats: 3 })
console.log(a.samples > 0, b.failed, c.against.variant)
console.log(results.length, table())
sweep('left', { axes: { n: [1, 2] }, repeats: 3, run: (s, { n }) => n === 1 ? never() : null }).then(rows => console.log(rows.map(r => r.failed ?? 'ran').join()))`)
	if err != nil {
		t.Fatal(diag.Format(err, false), out)
	}
	stuck := func(part, place string) string {
		return "never-settles: " + part + " at /TMP/bench.js:" + place + " waits for a promise that can no longer settle (hint: is resolve ever called?)"
	}
	out = regexp.MustCompile(` at \S*bench\.js:`).ReplaceAllString(out, " at /TMP/bench.js:")
	for _, want := range []string{
		"s/at=first/a true 9\ns/at=first/b true 9\n",
		"s/at=setup/a " + stuck("setup", "9:10") + " 0\ns/at=setup/b " + stuck("setup", "9:10") + " 0\n",
		"s/at=before/a " + stuck("before", "10:11") + " 0\n", "s/at=run/a " + stuck("run", "12:8") + " 0\ns/at=run/b true 3\n",
		"s/at=later/a " + stuck("run", "12:8") + " 0\ns/at=later/b true 9\n",
		"s/at=verify/a true 3\ns/at=verify/b " + stuck("verify", "15:11") + " 0\n",
		"s/at=teardown/a " + stuck("teardown", "16:13") + " 0\n", "s/at=last/a true 9\ns/at=last/b true 9\n",
		"\n" + stuck("the function", "5:15") + " 0 " + stuck("the function", "19:67") + " 0 3\n",
		"\ntrue " + stuck("run", "5:15") + " a\n", "\n22 name", "\n" + stuck("run", "24:55") + ",ran\n",
		`bench: "bad" failed: ` + stuck("the function", "5:15"),
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}
