package scripts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/bindings/inside"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	contract "github.com/orepl/orepl/runtime/offload"
)

// newEngine returns an engine on the CPU device with its output buffer.
func newEngine(t testing.TB, opts lang.Options) (*lang.Engine, *bytes.Buffer) {
	t.Helper()
	rt := orepl.Open(orepl.Options{Plugins: []contract.Plugin{cpu.New(cpu.Options{})}})
	var out bytes.Buffer
	opts.Stdout, opts.Prompt = &out, true
	e, err := inside.Of(rt).NewEngine(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		_ = rt.Close() // ignores the faults that tests cause
	})
	return e, &out
}

// diagnosed returns the diagnostic of an error.
func diagnosed(t testing.TB, e *lang.Engine, err error) *diag.Diagnostic {
	t.Helper()
	var d *diag.Diagnostic
	if errors.As(err, &d) {
		return d
	}
	return e.Diagnose(err)
}

const imports = "import { kernel, device, struct, f32, f64, i32, u32, i64, u64, u8 } from 'offload'\n"

// script is a script with its expected result: its export named result, or its error as "ID LINE:COL", with lines counted
// after the imports.
type script struct {
	name, text string
	files      map[string]string
	want       string
}

var scripts = []script{
	// [2.1] a binding is read at kernel()
	{name: "read once", want: "7", text: `
let n = [7]
const N = n[0]
const k = kernel((g, x) => { x[0] = N })
n[0] = 8
const b = device('cpu').buffer(f32, 1)
await k.launch({ size: 1 }, b)
export const result = (await b.read())[0]`},
	// [2.1] at kernel(), not at the launch
	{name: "read early", want: "not-capturable 1:37", text: `
const k = kernel((g, x) => { x[0] = N })
const N = 7
await k.launch({ size: 1 }, device('cpu').buffer(f32, 1))
export const result = 'read late'`},
	// [15.7] [15.8] NaNs as the compiled engine stores them
	{name: "NaNs", want: "7fc00000 ff812345 7fc00000 7ff8000000000000 fff123456789abcd", text: `
const d = device('cpu')
const x = d.buffer(new Float32Array(Uint32Array.of(0x7fffffff, 0xff812345).buffer))
const z = d.buffer(new Float64Array(BigUint64Array.of(0xfff8000000000000n, 0xfff123456789abcdn).buffer))
const y = d.buffer(f32, 3), w = d.buffer(f64, 2)
await kernel((g, x, y, z, w) => {
  y[0] = x[0] * 2; y[1] = x[1]; y[2] = Math.sqrt(-1 - g.x)
  w[0] = z[0] + 1; w[1] = z[1]
}).launch({ size: 1 }, x, y, z, w)
const hex = list => [...list].map(n => n.toString(16)).join(' ')
export const result = [hex(new Uint32Array((await y.read()).buffer)), hex(new BigUint64Array((await w.read()).buffer))].join(' ')`},
	// [15.7] a NaN of the host is the canonical one
	{name: "NaN of the host", want: "7ff8000000000000 7ff8000000000000 7ff8000000000000", text: `
const b = device('cpu').buffer(f64, 3)
const table = [0.5, NaN]
await kernel((g, a, b) => { b[0] = a; b[1] = table[1 + (g.x & 0)]; b[2] = NaN }).launch({ size: 1 }, 0 / 0, b)
export const result = [...new BigUint64Array((await b.read()).buffer)].map(n => n.toString(16)).join(' ')`},
	// [2.4] fields of plain objects
	{name: "fields", want: "2.5", text: `
const cfg = { radius: 2, deep: { half: 0.5 }, name: 'unused' }
const b = device('cpu').buffer(f32, 1)
await kernel((g, x) => { x[0] = cfg.radius + cfg.deep.half }).launch({ size: 1 }, b)
export const result = (await b.read())[0]`},
	// [2.1] fields of objects and elements of arrays are read once for all signatures
	{name: "fields once", want: "2,1,2,1", text: `
const cfg = { n: 2 }, list = [1, 5]
const k = kernel((g, x) => { x[0] = cfg.n; x[1] = list[0] })
const a = device('cpu').buffer(f32, 2), b = device('cpu').buffer(f64, 2)
await k.launch({ size: 1 }, a)
cfg.n = 3
list[0] = 7
await k.launch({ size: 1 }, b)
export const result = [...await a.read(), ...await b.read()].join()`},
	// [2.4] the static fields of a class, and its methods; [2.8] a namespace of TypeScript
	{name: "classes", want: "16", files: map[string]string{
		"names.ts": "export namespace Names { export const seven: number = 7; export function inc(v: number) { return v + seven } }\n" +
			"export class Config { static readonly size: number = 4; static twice(v: number) { return 2 * v } }\n",
	}, text: `
import { Names, Config } from './names.ts'
const b = device('cpu').buffer(f32, 1)
await kernel((g, x) => { x[0] = Names.inc(1) + Config.twice(Config.size) }).launch({ size: 1 }, b)
export const result = (await b.read())[0]`},
	{name: "a class called", want: "not-callable 2:41", text: `
class C { static k = 1 }
kernel({ x: [f32] }, (g, x) => { x[0] = C(3) })`},
	// A class method has no position of its own, but its call has.
	{name: "in a method of a class", want: "not-capturable 2:41", text: `
class C { static twice(v) { return v * nowhere } }
kernel({ x: [f32] }, (g, x) => { x[0] = C.twice(3) })`},
	{name: "a method of a class with an error", want: "no-var 2:44", text: `
class C { static twice(v) { var n = v; return n } }
kernel({ x: [f32] }, (g, x) => { x[0] = (C.twice)(3) })`},
	// [2.9] functions without a file
	{name: "eval and Function", want: "3,Infinity,8", text: `
const b = device('cpu').buffer(f32, 3)
const half = (0, eval)('(v) => Math.sqrt(v) + f32(NaN === NaN) * 1')
await kernel(new Function('g', 'x', 'x[1] = Infinity; x[2] = f32(Math.max(8, 7))')).launch({ size: 1 }, b)
await kernel((g, x) => { x[0] = half(9) }).launch({ size: 1 }, b)
export const result = (await b.read()).join()`},
	{name: "what Function cannot see", want: "not-capturable 2:7", text: `
const n = 1
kernel({ x: [f32] }, new Function('g', 'x', 'x[0] = n'))`},
	// [1.1] a function of the host
	{name: "a native kernel", want: "not-a-function 1:7", text: `
kernel(Math.sin)`},
	// [2.6] assigned after its definition
	{name: "assigned", want: "not-capturable 3:41", text: `
let n = 1
n = 2
kernel({ x: [f32] }, (g, x) => { x[0] = n })`},
	// [2.7] a string, and a buffer
	{name: "a string", want: "not-capturable 2:41", text: `
const s = 'text'
kernel({ x: [f32] }, (g, x) => { x[0] = s })`},
	{name: "a buffer", want: "not-capturable 2:41", text: `
const s = device('cpu').buffer(f32, 1)
kernel({ x: [f32] }, (g, x) => { x[0] = s[0] })`},
	// [2.8] [2.3] across modules
	{name: "modules", want: "42", files: map[string]string{
		"helper.js": "const six = 6\nexport const times = (x) => x * six\n",
		"typed.ts":  "export function add(x: number, y: number): number { return x + y }\nexport const bias: number = 0\n",
	}, text: `
import { times } from './helper.js'
import { add, bias } from './typed.ts'
const b = device('cpu').buffer(f32, 1)
await kernel((g, x) => { x[0] = times(add(3, 4)) + bias }).launch({ size: 1 }, b)
export const result = (await b.read())[0]`},
	// [7.7] a fraction for an integer parameter
	{name: "a fraction", want: "fraction-for-integer-parameter 2:15", text: `
const b = device('cpu').buffer(f32, 1)
kernel((g, x, n) => { x[n] = 1 }).launch({ size: 1 }, b, 0.5)`},
	// [5.1] the layout of a record
	{name: "layout", want: "0,8,16", text: `
const P = struct({ a: u8, b: f64, c: [i32, 2] })
export const result = [P.layout.a, P.layout.b, P.layout.c].join()`},
	// [6.1] records in a buffer
	{name: "records", want: "3", text: `
const P = struct({ a: f32, b: f32 })
const b = device('cpu').buffer(P, 4), y = device('cpu').buffer(f32, 1)
await kernel((g, ps) => { ps[g.x].b = g.x }).launch({ size: 4 }, b)
await kernel((g, ps, y) => { y[0] = ps[3].b }).launch({ size: 1 }, b, y)
export const result = (await y.read())[0]`},
	// [5.5] values are read before fields are written
	{name: "fields that swap", want: "3,1,6,5,4,2 3,1,8,7", text: `
const V = struct({ x: f32 }), P = struct({ u: V, v: V, a: [f32, 2], m: [V, 2] }), Q = struct({ u: V, v: V, a: [f32, 2] })
const b = device('cpu').buffer(P, 1), c = device('cpu').buffer(Q, 1), y = device('cpu').buffer(f32, 10)
await kernel((g, ps, qs, y) => {
  const p = ps[0], q = qs[0]
  p.u.x = 1; p.v.x = 3; p.a[0] = 5; p.a[1] = 6; p.m[0].x = 2; p.m[1].x = 4
  ps[0] = { u: p.v, v: p.u, a: [p.a[1], p.a[0]], m: [p.m[1], p.m[0]] }
  q.u.x = 1; q.v.x = 3; q.a[0] = 7; q.a[1] = 8
  q.a = [q.a[1], q.a[0]]
  qs[0] = { v: q.u, a: q.a, u: q.v }
  y[0] = p.u.x; y[1] = p.v.x; y[2] = p.a[0]; y[3] = p.a[1]; y[4] = p.m[0].x; y[5] = p.m[1].x
  y[6] = q.u.x; y[7] = q.v.x; y[8] = q.a[0]; y[9] = q.a[1]
}).launch({ size: 1 }, b, c, y)
const out = await y.read()
export const result = out.slice(0, 6).join() + ' ' + out.slice(6).join()`},
	// [6.7] the greatest dimension, and none
	{name: "a dimension too large", want: "invalid-size 1:31", text: `
const b = device('cpu').buffer(u8, [1, 2 ** 31])`},
	{name: "an empty dimension", want: "0 3,0,0", text: `
const b = device('cpu').buffer(f32, [0, 3]), y = device('cpu').buffer(i32, 3)
await kernel((g, m, y) => { for (const i = 0; i < m.length;) y[2] = 1; y[0] = m.shape[1]; y[1] = m.length }).launch({ size: 1 }, b, y)
export const result = b.shape[0] + ' ' + (await y.read()).join()`},
	// [19.3] too many items
	{name: "too many items", want: "invalid-size 2:38", text: `
const b = device('cpu').buffer(f32, 1)
kernel((g, x) => { x[0] = 1 }).launch({ size: 2 ** 31 }, b)`},
	// [20.2] no items
	{name: "no items", want: "0", text: `
const b = device('cpu').buffer(f32, 1)
await kernel((g, x) => { x[0] = 1 }).launch({ size: [0, 5] }, b)
export const result = (await b.read())[0]`},
	// [25.1] an item sees its own writes through a view that overlaps
	{name: "views", want: "0,6,12,0 6,12", text: `
const b = device('cpu').buffer(f32, 4), v = b.view(1, 3), y = device('cpu').buffer(f32, 2)
await kernel((g, x, v, y) => { x[1] = 5; v[0] += 1; y[0] = x[1]; v[1] = 2 * x[1]; y[1] = x[2] }).launch({ size: 1 }, b, v, y)
export const result = (await b.read()).join() + ' ' + (await y.read()).join()`},
	// [25.2] a race
	{name: "a race", want: "race 2:29", text: `
const b = device('cpu').buffer(f32, 1)
await kernel((g, x, l) => { x[0] = g.x }).launch({ size: 2, checks: 'races' }, b, 0)`},
	// [25.3] shared memory that was not written
	{name: "unwritten", want: "uninitialized 2:63", text: `
const b = device('cpu').buffer(f32, 4)
await kernel((g, x) => { const s = g.shared(f32, 4); x[g.x] = s[g.x] }).launch({ size: 4, groupSize: 4, checks: 'races' }, b)`},
	// [26.2] [26.1] contents of a fault
	{name: "a fault", want: "out-of-bounds 2:26", text: `
const b = device('cpu').buffer(f32, 3)
await kernel((g, x) => { x[g.x + 1] = 1 }).launch({ size: 3 }, b)`},
	// [26.2] [6.5] an index of u64 counts by its value
	{name: "a u64 index", want: "18446744073709551615 h[g.x] < x.length,9223372036854775808 h[g.x] < x.length,-1 h[g.x] >= 0 18446744073709551613", text: `
const x = device('cpu').buffer(f32, 4), out = []
const k = kernel((g, x, h) => { x[h[g.x]] = 1 })
for (const h of [BigUint64Array.of(2n ** 64n - 1n), BigUint64Array.of(2n ** 63n), BigInt64Array.of(-1n)]) {
  try { await k.launch({ size: 1 }, x, device('cpu').buffer(h)) } catch (e) { out.push(e.message.match(/index (\S+)/)[1] + ' ' + e.hint.match(/\((h.*?)\)/)[1]) }
}
const { fault } = kernel((g, x) => { x[u64(g.x - 3)] = 1 }).debug({ size: 1, item: 0 }, x)
export const result = out.join() + ' ' + fault.message.match(/index (\S+)/)[1]`},
	// [26.3] buffers survive
	{name: "survivors", want: "out-of-bounds 0 5,5,5", text: `
const b = device('cpu').buffer(f32, 3), k = kernel((g, x, v, o) => { x[g.x + o] = v })
let code = ''
try { await k.launch({ size: 3 }, b, 1.5, 1) } catch (e) { code = e.code }
const [first] = await b.read() // no item writes it
await k.launch({ size: 3 }, b, 5, 0)
export const result = code + ' ' + first + ' ' + (await b.read()).join()`},
	{name: "explain", want: "n is i32 because it is combined with integers only, as in `i < n` at main.js:4:37|`x[i * 3]` at 4:59: the same element for all items along x, checked: `i * 3` against x.length|`y[g.x]` at 4:69: contiguous, checked if the launch is larger than the extent|inexact-conversion", text: `
const x = device('cpu').buffer(f32, 9), y = device('cpu').buffer(f32, 1)
const k = kernel((g, n, x, y) => {
  let s = 0, c = 0; for (let i = 0; i < n; i++, c++) s += x[i * 3]; y[g.x] = s * c })
await k.launch({ size: 1 }, 3, x, y)
const text = k.explain()
export const result = text.split('\n').filter((s) => !s.includes('warning')).map((s) => s.trim()).slice(1, 4).join('|') + '|' + k.warnings.map((w) => w.id).join(' ')`},
	// [2.6] a variable of a for statement is one for each iteration
	{name: "for-let", want: "0,1,2 5,6 refused", text: `
const x = device('cpu').buffer(f32, 1), out = [], second = []
for (let i = 0; i < 3; i++) { await kernel((g, x) => { x[0] = i }).launch({ size: 1 }, x); out.push(...await x.read()) }
for (let i = 5, n = 7; i < n; i += 1) second.push(...await device('cpu').buffer(f32, 1, () => i).read())
let how = 'taken'
for (let i = 0; i < 1; i++) { const k = kernel((g, x) => { x[0] = i }); i += 0; try { await k.launch({ size: 1 }, x) } catch (e) { how = /i cannot be captured: it is assigned/.test(e.message) ? 'refused' : e.message } }
export const result = out.join() + ' ' + second.join() + ' ' + how`},
	// [2.5] an empty table
	{name: "empty", want: "0,0 index 1 is outside of e, which is empty", text: `
const x = device('cpu').buffer(f32, 2).fill(7), e = [], t = new Float32Array(0), c = { list: [] }
await kernel((g, x) => { let s = e.length + t.length; for (let i = 0; i < c.list.length; i++) s += c.list[i] + t[i] + e[i]; x[g.x] = s }).launch({ size: 2 }, x)
let text = ''
try { await kernel((g, x) => { if (g.x === 1) x[0] = e[g.x] }).launch({ size: 2 }, x) } catch (err) { text = err.message.match(/index 1 .* empty/)[0] }
export const result = (await x.read()).join() + ' ' + text`},
	// [16.5] Number(x) and Boolean(x)
	{name: "number", want: "1,0 5,-3 0.5,0 4294967296 1,0 true", text: `
const x = device('cpu').buffer(f64, 2), k = device('cpu').buffer(new Int32Array([5, -3])), f = device('cpu').buffer(new Float32Array([0.5, 0])), n = device('cpu').buffer(new BigInt64Array([4294967296n, 0n]))
const run = async (...a) => { await kernel(...a).launch({ size: 2 }, x, k, f, n); return (await x.read()).join() }
export const result = [await run((g, x, k, f, n) => { x[g.x] = Number(k[g.x] > 0) }), await run((g, x, k, f, n) => { x[g.x] = Number(k[g.x]) }), await run((g, x, k, f, n) => { x[g.x] = Number(f[g.x]) }),
  (await run((g, x, k, f, n) => { x[g.x] = Number(n[g.x]) })).split(',')[0], await run((g, x, k, f, n) => { x[g.x] = Boolean(f[g.x]) }), (await run((g, x, k, f, n) => { x[g.x] = Number.isInteger(0.5) ? 1 : 0 })) === '0,0'].join(' ')`},
	// [2.7] an initialiser reads the buffers that it captures
	{name: "initialisers", want: "0,1,4,9 0,1|2,3 0,1,2,3 0,1,2,3 missing true", text: `
import { random } from 'kernels'
const d = device('cpu'), p = d.buffer(f32, 4, i => i), at = i => p[i]
const squares = d.buffer(f32, p.length, i => at(i) * p[i]), m = d.buffer(f64, [2, 2], (i, j) => p[i * 2 + j]), c = d.buffer(p), e = d.buffer(f32, p)
await p.fill(9)
let text = '', hint = ''
try { d.buffer(f32, i => p[i]) } catch (e) { text = e.message.match(/missing/)[0] }
try { d.buffer(f32, 4, i => Math.random()) } catch (e) { hint = e.hint }
const r = await d.buffer(f32, 4, i => random(1, 0, i)).read()
export const result = [(await squares.read()).join(), (await m.read(0, 2)).join() + '|' + (await m.read(2, 2)).join(), (await c.read()).join(), (await e.read()).join(), text, hint.endsWith('write i => random(seed, 0, i)') && r[0] !== r[1]].join(' ')`},
	{name: "views", want: "4,5,6,7,8,9,10,11 5,6 12,13,14,15 readRect({ origin: [1, 1], extent: [2, 2] })", text: `
const m = device('cpu').buffer(f32, [4, 4], (i, j) => i * 4 + j)
let text = ''
try { m.view([1, 1], [2, 2]) } catch (e) { text = e.hint.match(/readRect\([^)]*\)/)[0] }
export const result = [(await m.view([1, 0], [2, 4]).read()).join(), (await m.view([1, 1], [1, 2]).read()).join(), (await m.view([3, 0]).read()).join(), text].join(' ')`},
	{name: "views of rows in another type", want: "3,16 4,5 1,8 2,4 8,9 2", text: `
const d = device('cpu'), m = d.buffer(f32, [4, 4], (i, j) => i * 4 + j), b = d.buffer(u8, [4, 3])
const bytes = m.view([1, 0], undefined, u8), back = m.view([2, 0], [1, 8], u8), floats = bytes.view([1, 0], undefined, f32)
const first = m.view([1, 0], [1, 8], u8).view(0, 2, f32), both = floats.view([0, 0], [1, 2])
let refused = 0
for (const rows of [() => b.view([0, 0], undefined, f32), () => m.view([1, 0], [1, 3], u8)]) try { rows() } catch (e) { refused += e.message.includes('within an element') }
export const result = [bytes.shape, await first.read(), back.shape, floats.shape, await both.read(), refused].join(' ')`},
	// [28.1] exactness
	{name: "exact", want: "true", text: `
export const result = device('cpu').features.exact`},
}

func TestScripts(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range s.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, _ := newEngine(t, lang.Options{Dir: dir})
			exports, err := e.Run(context.Background(), "main.js", imports+strings.TrimPrefix(s.text, "\n"))
			got := ""
			if err != nil {
				d := diagnosed(t, e, err)
				got = fmt.Sprintf("%s %d:%d", d.ID, d.Line-1, d.Column)
			} else if v := exports.Get("result"); v != nil {
				got = v.String()
			}
			if got != s.want {
				t.Errorf("got %q, expected %q (%v)", got, s.want, err)
			}
		})
	}
}

// TestRaceNamesBothAccesses checks that the error for a race has the positions of both accesses.
//
// [25.2] [26.2]
func TestRaceNamesBothAccesses(t *testing.T) {
	e, _ := newEngine(t, lang.Options{})
	_, err := e.Run(context.Background(), "race.js", imports+`const b = device('cpu').buffer(f32, 4)
await kernel((g, x) => {
  const s = g.shared(f32, 4)
  s[g.local.x] = 1
  x[g.x] = s[3 - g.local.x]
}).launch({ size: 4, groupSize: 4, checks: 'races' }, b)`)
	if err == nil {
		t.Fatal("no race")
	}
	d := diagnosed(t, e, err)
	if d.ID != "race" || d.Line != 6 || d.Column != 12 || len(d.Notes) == 0 {
		t.Fatalf("got %v with %v", d, d.Notes)
	}
	if n := d.Notes[0]; n.Line != 5 || n.Column != 3 || !strings.Contains(n.Message, "the other access, of work-item [3, 0, 0]") {
		t.Errorf("the other access is told as %v: %s", n.Position, n.Message)
	}
}

// TestRaceHints checks the hints of races, which depend on the racing items.
//
// [25.2] [25.3] [21.2]
func TestRaceHints(t *testing.T) {
	for _, s := range []struct{ name, want, text string }{
		{"within a group", "put g.barrier() between", "(g, x) => { const s = g.shared(f32, 8); s[g.local.x] = 1; x[g.x] = s[7 - g.local.x] }"},
		{"between groups", "two launches", "(g, x) => { x[g.x] = g.local.x; g.barrier(); x[(g.x + 8) % 16] = 1 }"},
		{"without groups", "two launches", "(g, x) => { x[0] = g.x }"},
		{"a ragged tile", "no multiple of its groupSize", "(g, x) => { const s = g.shared(f32, 8); s[g.local.x] = 1; g.barrier(); x[g.x] = s[7 - g.local.x] }"},
		{"unwritten", "write it before the barrier", "(g, x) => { const s = g.shared(f32, 8); g.barrier(); x[g.x] = s[g.local.x] }"},
		{"a histogram", "", "(g, x) => { const s = g.shared(i32, 8); Atomics.add(s, g.x % 3, 1); g.barrier(); x[g.x] = s[g.local.x] }"},
	} {
		t.Run(s.name, func(t *testing.T) {
			size := 16
			if s.name == "a ragged tile" {
				size = 12
			}
			e, _ := newEngine(t, lang.Options{})
			_, err := e.Run(context.Background(), "race.js", fmt.Sprintf("%sawait kernel(%s).launch({ size: %d, groupSize: 8, checks: 'races' }, device('cpu').buffer(f32, 16))",
				imports, s.text, size))
			if s.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				t.Fatal("no fault")
			}
			if d := diagnosed(t, e, err); !strings.Contains(d.Hint, s.want) {
				t.Errorf("%v: the hint %q does not say %q", d, d.Hint, s.want)
			}
		})
	}
}
