package fs_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/orepl/orepl"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/diag"
	"github.com/orepl/orepl/plugins/cpu"
	"github.com/orepl/orepl/runtime/offload"
)

// prints runs a script in a temporary folder and compares the lines that it prints. attempt(f) prints the result of f
// or its exception.
func prints(t *testing.T, script string, want ...string) {
	t.Helper()
	var out bytes.Buffer
	rt := orepl.Open(orepl.Options{Plugins: []offload.Plugin{cpu.New(cpu.Options{})}})
	e, err := rt.Engine(orepl.EngineOptions{Policy: lang.AllowAll, Dir: t.TempDir(), Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(t.Context(), "write.js", `import fs, { writeCSV, readCSV, readText, writeImage, readImage } from 'fs'
import { device, kernel, struct, f16, bf16, f32, f64, i8, i32, i64, u8, bool } from 'offload'
const dev = device('cpu')
const attempt = async f => { try { console.log(String(await f())) } catch (e) { console.log(e.message) } }
`+script)
	if err != nil {
		t.Fatal(diag.Format(err, false))
	}
	if got, want := strings.TrimSpace(out.String()), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWriteCSV(t *testing.T) {
	prints(t, `
await writeCSV('t.csv', { 'a,b': Float32Array.of(0.1, NaN, 3e10), name: ['x', 'b, "c"', null], n: [1, 2.5, 10n], b: dev.buffer(i64, 3, i => -7n), h: dev.buffer(f16, 3, i => 0.1), m: dev.buffer(bool, 3, i => i > 1) })
console.log((await readText('t.csv')).trim())
const back = await readCSV('t.csv', { types: { name: 'string', 'a,b': 'f32' } })
console.log(back.columns['a,b'].join(), back.columns.name[1])
fs.writeCSVSync('u.csv', { a: dev.buffer(i8, 2, i => -1), c: new BigUint64Array([1n, 2n ** 64n - 1n]) }, { separator: ';', header: false })
console.log((await readText('u.csv')).trim())
const y = dev.buffer(f64, 3)
kernel((g, y) => { y[g.x] = g.x / 4 }).launch({ size: 3 }, y) // not awaited: the write stands behind it
const pending = writeCSV('v.csv', { y })
y.fill(9)
await pending
console.log((await readText('v.csv')).trim())
await writeCSV('w.csv', [{ device: 'cpu', ms: 0.5 }, { ms: 2, 'two words': true }, {}])
console.log((await readText('w.csv')).trim())`,
		`"a,b",name,n,b,h,m`, `0.1,x,1,-7,0.1,0`, `,"b, ""c""",2.5,-7,0.1,0`, `30000000000,,10,-7,0.1,1`,
		`0.10000000149011612,NaN,30000001024 b, "c"`, "-1;1", "-1;18446744073709551615", "y", "0", "0.25", "0.5",
		"device,ms,two words", "cpu,0.5,", ",2,true", ",,")
}

func TestWriteCSVRefuses(t *testing.T) {
	prints(t, `
await attempt(() => writeCSV('t.csv', { a: [1], b: [1, 2] }))
await attempt(() => writeCSV('t.csv', { a: [{}] }))
await attempt(() => writeCSV('t.csv', { a: 3 }))
await attempt(() => writeCSV('t.csv', {}))
await attempt(() => writeCSV('t.csv', { a: dev.buffer(f32, [2, 2]) }))
await attempt(() => writeCSV('t.csv', { a: dev.buffer(struct({ a: f32 }), 2, { label: 'records' }) }))
await attempt(() => writeCSV('t.csv', { a: [1] }, { separator: ',,' }))
await attempt(() => writeCSV('no/t.csv', { a: [1] }))
await attempt(() => writeCSV('t.csv', [{ a: 1 }, [2]]))
await attempt(() => writeCSV('t.csv', [{ a: 1 }, { b: { c: 1 } }]))
await attempt(() => writeCSV('t.csv', [{}]))
await attempt(() => fs.exists('t.csv'))`,
		`fs.writeCSV: columns has 1 rows for "a" and 2 for "b"`,
		`fs.writeCSV: columns has an object in row 1 of "a"; fields are text, numbers, BigInts, booleans or null`,
		`fs.writeCSV: columns has 3 for "a"; a typed array, an array or a buffer is needed`,
		`fs.writeCSV: columns must be an object with a typed array, array or buffer for each column, as in { price: buffer }, or an array of records`,
		`fs.writeCSV: columns has a buffer of 2 dimensions for "a"; a view has one: buffer.view(0)`,
		`read "records" on cpu: a buffer of records cannot be written to this file`,
		`fs.writeCSV: separator must be one character, not ",,"`,
		`write no/t.csv: there is no such file`,
		`fs.writeCSV: columns has an array as record 2; a record is an object such as { price: 2 }`,
		`fs.writeCSV: columns has an object in record 2 for "b"; fields are text, numbers, BigInts, booleans or null`,
		`fs.writeCSV: columns has no records with properties, so that the names of the columns are not known`,
		"false")
}

func TestWriteImageOfBuffers(t *testing.T) {
	prints(t, `
const shown = async image => { await writeImage('b.png', image); const { width, height, channels, data } = await readImage('b.png'); return [width, height, channels, ...data] }
await attempt(() => shown(dev.buffer(f32, [2, 3], (i, j) => j / 2)))
await attempt(() => shown(dev.buffer(f32, Float32Array.of(NaN, -1, 2, 0.5), { shape: [2, 2] })))
await attempt(() => shown(dev.buffer(bool, [2, 3], (i, j) => j === 1)))
await attempt(() => { const mask = dev.buffer(u8, [2, 3], (i, j) => j === 1); return shown(mask.view(0, mask.shape, bool)) })
await attempt(() => shown(dev.buffer(u8, [1, 2, 3], (i, j, k) => 10 * j + k)))
await attempt(() => shown({ width: 3, height: 2, data: dev.buffer(f64, 6, i => i) }))
await attempt(() => shown(dev.buffer(i32, [2, 2])))
await attempt(() => shown(dev.buffer(u8, [2, 2, 2])))
await attempt(() => shown(dev.buffer(u8, 4)))
await attempt(() => shown({ width: 2, height: 2, data: 'x' }))
const faulty = dev.buffer(u8, [2, 2], { label: 'faulty' })
kernel((g, o) => { o[g.x + 5][0] = 1 }).launch({ size: 2 }, faulty)
await attempt(() => shown(faulty))`,
		"3,2,1,0,128,255,0,128,255", "2,2,1,0,0,255,128", "3,2,1,0,255,0,0,255,0", "3,2,1,0,255,0,0,255,0",
		"2,1,4,0,1,2,255,10,11,12,255", "3,2,1,0,255,255,255,255,255",
		"fs.writeImage: image is a buffer of i32; pixels are u8 from 0 to 255, floats from 0 to 1, or bool",
		"fs.writeImage: image has 8 values; 2×2 pixels with 1, 3 or 4 channels need 4, 12 or 16",
		"fs.writeImage: image is a buffer of one dimension; one of [height, width] or [height, width, channels] is needed, or { width, height, data: buffer }",
		"fs.writeImage: image.data must be a Uint8Array, Uint8ClampedArray, Float32Array or a buffer",
		"launch \"kernel\" on cpu: index 5 is outside o, whose shape[0] is 2 (buffer \"faulty\") in `o[g.x + 5][0]`, kernel kernel, work-item [0, 0, 0]")
}
