package fs_test

import "testing"

// TestReadCSVForms reads tables of unusual forms, and wrong ones.
func TestReadCSVForms(t *testing.T) {
	prints(t, `
const { writeText } = fs
const read = async (text, options) => { await writeText('f.csv', text); const r = await readCSV('f.csv', options); return r.rows + ' ' + r.names.map(n => JSON.stringify(n) + ': ' + JSON.stringify(Array.from(r.columns[n], x => typeof x === 'number' || typeof x === 'bigint' ? String(x) : x))).join(' ') }
const show = (...args) => attempt(async () => { try { return await read(...args) } catch (e) { return e.message + ' | ' + e.hint } })
await show('a\n1\n""\n3\n')
await show('\ufeff"id","x"\n1,2\n')
await show('a,b\r1,2\r3,4\r')
await show('a,b\r\n"p\r\nq","r\rs"\r\n\r\n"t\nu",v')
await show('a,b\nNA,x\nnull,NA\n2.5,y\n')
await show('a,b\n,\nNA,null\n')
await show('a\n1\nN/A\n', { types: { a: 'i32' } })
await show('a\n\n1.0\n2e3\n-0\n', { types: { a: 'i16' } })
await show('a\n1.5\n', { types: { a: 'u64' } })
await show('a,b\n18446744073709551615,-9223372036854775808\n', { types: { a: 'u64', b: 'i64' } })
await show('a\n18446744073709551616\n', { types: { a: 'u64' } })
await show('a\n-1\n', { types: { a: 'u8' } })
await show('a\n1.00000005960464483090178\n16777217\n', { types: { a: 'f32' } })
await show('a,b,c\n1,2,3\n4,5\n')
await show('a\n\n1\n2,3\n')
await show('a;b\n1,5;2\n')
await show('a, b ,c\n1,2,3\n', { types: { b: 'string' } })
await show('a\n"x"y\n')
await show('a,b\nx"y,1\n')
await show('a,b\n1,"x\n2,3\n')
await show('a§b\n1§2\n', { separator: '§' })
await show('a°b\n1§2\n', { separator: '§' })
await show('\ufffe')
await fs.writeBytes('f.csv', Uint8Array.of(255, 254, 97, 0, 10, 0))
await attempt(() => readCSV('f.csv'))
await fs.writeBytes('f.csv', Uint8Array.of(97, 44, 98, 10, 49, 44, 233, 10))
await attempt(() => readCSV('f.csv'))
await attempt(() => fs.readText('f.csv'))
await attempt(() => fs.readJSON('f.csv'))
await show('a\n1e-400\n', { types: { a: 'i32' } })
await show('a\n0.001e-99999999999999999999\n', { types: { a: 'u64' } })
await show('a\n0.000e-99999999999999999999\n-0e400\n', { types: { a: 'u8' } })
await show('a\n0x10\n')
await show('a\n1\n1_000\n')
const { columns } = await readCSV((await writeText('s.csv', 'x, y\n1,2\n'), 's.csv'))
console.log(columns.y[0], Object.keys(columns).join('|'))
const h = dev.buffer(f16, 3), b = dev.buffer(bool, 2), k = dev.buffer(bf16, 1)
await writeText('f.csv', 'h\n1.00048828126\n65519.9999\n1.00048828125\n'); await readCSV('f.csv', { into: { h } })
await writeText('f.csv', 'b\ntrue\n0\n'); await readCSV('f.csv', { into: { b } })
await writeText('f.csv', 'k\n1.00390625000000000000000000000000000001\n'); await readCSV('f.csv', { into: { k } })
console.log((await h.read()).join(), (await b.read()).join(), (await k.read()).join())
await attempt(async () => { await writeText('f.csv', 'b\nyes\n'); await readCSV('f.csv', { into: { b } }) })`,
		`3 "a": ["1","NaN","3"]`,
		`1 "id": ["1"] "x": ["2"]`,
		`2 "a": ["1","3"] "b": ["2","4"]`,
		`2 "a": ["p\r\nq","t\nu"] "b": ["r\rs","v"]`,
		`3 "a": ["NaN","NaN","2.5"] "b": ["x","NA","y"]`,
		`2 "a": ["NaN","NaN"] "b": ["NaN","NaN"]`,
		`read f.csv, line 3: column "a": "N/A" is a missing value, which i32 has not | undefined`,
		`3 "a": ["1","2000","0"]`,
		`read f.csv, line 2: column "a": "1.5" is no integer | undefined`,
		`1 "a": ["18446744073709551615"] "b": ["-9223372036854775808"]`,
		`read f.csv, line 2: column "a": 18446744073709551616 is not between 0 and 18446744073709551615 | undefined`,
		`read f.csv, line 2: column "a": -1 is not between 0 and 255 | undefined`,
		`2 "a": ["1.0000001192092896","16777216"]`,
		`read f.csv, line 3: the row has 2 fields, and line 1 has 3 | give every row the same number of separators, and put fields that contain one in quotes`,
		`read f.csv, line 4: the row has 2 fields, and line 1 has 1 | give every row the same number of separators, and put fields that contain one in quotes`,
		`read f.csv, line 2: the row has 2 fields, and line 1 has 1 | line 1 contains ";": is that the separator? write { separator: ";" }`,
		`1 "a": ["1"] " b ": ["2"] "c": ["3"]`,
		`read f.csv, line 2: text follows the closing quote of a field | double the quotes within a field: "say ""yes"""`,
		`read f.csv, line 2: a quote stands within a field that does not begin with one | put the whole field in quotes, and double those within: "5"" pipe"`,
		`read f.csv, line 2: the quote that begins here is never closed | close it, or double the quotes within a field: "say ""yes"""`,
		`1 "a": ["1"] "b": ["2"]`,
		`read f.csv, line 2: the row has 2 fields, and line 1 has 1 | give every row the same number of separators, and put fields that contain one in quotes`,
		"0 \"\ufffe\": []",
		`read f.csv, line 1: the text is in UTF-16, and UTF-8 is expected`,
		`read f.csv, line 2: the field is not UTF-8`,
		`fs.readText: the text is not UTF-8`,
		`the text is not UTF-8`,
		`read f.csv, line 2: column "a": "1e-400" is no integer | undefined`,
		`read f.csv, line 2: column "a": "0.001e-99999999999999999999" is no integer | undefined`,
		`2 "a": ["0","0"]`,
		`1 "a": ["0x10"]`,
		`read f.csv, line 3: column "a": "1_000" is no number | if it holds text, write readCSV(path, { types: { a: 'string' } })`,
		`2 x| y`,
		`1.0009765625,65504,1 1,0 1.0078125`,
		`read f.csv, line 2: column "b": "yes" is neither true nor false`)
}

// TestWriteCSVForms writes tables of one column with missing values, and fields that need quotes.
func TestWriteCSVForms(t *testing.T) {
	prints(t, `
const written = async (columns, options) => { await writeCSV('f.csv', columns, options); console.log(JSON.stringify(await readText('f.csv'))) }
await written({ a: Float64Array.of(1, NaN) })
await written([{ a: '' }, {}])
await written({ a: ['p\r\nq', ' x', 'y ', '"', ';'] }, { separator: ';' })
await written({ a: ['\ufeffx', '\ufeff'] }, { header: false })
await written({ a: Float64Array.of(-0, 1e21, 1e-7, 123456789012345680000, -Infinity), b: Float32Array.of(-0, 1e21, 1e-7, 16777216, Infinity), c: [-0, 1e21, 1e-7, 5e-324, -Infinity] })
await written({ h: dev.buffer(f16, Float32Array.of(0.1, 65504, 5.960464477539063e-8, 1 / 3)), b: dev.buffer(bf16, Float32Array.of(0.1, 3e38, 1e-40, 1 / 3)) })
await written({ '': [1] })`,
		`"a\n1\n\"\"\n"`,
		`"a\n\"\"\n\"\"\n"`,
		`"a\n\"p\r\nq\"\n\" x\"\n\"y \"\n\"\"\"\"\n\";\"\n"`,
		"\"\\\"\ufeffx\\\"\\n\ufeff\\n\"",
		`"a,b,c\n-0,-0,-0\n1e+21,1e+21,1e+21\n1e-7,1e-7,1e-7\n123456789012345680000,16777216,5e-324\n-Infinity,Infinity,-Infinity\n"`,
		`"h,b\n0.1,0.1\n65504,3e+38\n6e-8,9e-41\n0.3333,0.334\n"`,
		`"\"\"\n1\n"`)
}

// TestWriteNPYBuffers writes buffers of each type and reads them again.
func TestWriteNPYBuffers(t *testing.T) {
	prints(t, `
const shown = async (...args) => { await fs.writeNPY('f.npy', ...args); const r = await fs.readNPY('f.npy'); console.log(r.dtype, r.shape.join('x'), r.data.constructor.name, r.data.join()) }
await shown(dev.buffer(f16, [2, 2], (i, j) => i + j / 4))
await shown(dev.buffer(bf16, 2, i => i + 0.5))
await shown(dev.buffer(bool, 3, i => i === 1))
await shown(dev.buffer(i64, [1, 2, 1], () => -7n))
await shown(dev.buffer(u8, 4, i => 250 + i), [2, 2])
for (const t of [i8, i32, f32, f64]) await shown(dev.buffer(t, 2, i => i))
await shown(dev.buffer(f32, 6, i => i).view(2, 3))
const y = dev.buffer(f64, 2)
kernel((g, y) => { y[g.x] = g.x / 4 }).launch({ size: 2 }, y)
const pending = fs.writeNPY('g.npy', y)
y.fill(9)
await pending
console.log((await fs.readNPY('g.npy')).data.join())
await attempt(() => fs.writeNPY('f.npy', dev.buffer(u8, 4), [3]))
await attempt(() => fs.writeNPY('f.npy', [1, 2]))
await attempt(() => fs.writeNPY('f.npy', dev.buffer(struct({ a: f32 }), 2, { label: 'records' })))`,
		"<f2 2x2 Float32Array 0,0.25,1,1.25", "<f4 2 Float32Array 0.5,1.5", "|b1 3 Uint8Array 0,1,0", "<i8 1x2x1 BigInt64Array -7,-7",
		"|u1 2x2 Uint8Array 250,251,252,253", "|i1 2 Int8Array 0,1", "<i4 2 Int32Array 0,1", "<f4 2 Float32Array 0,1", "<f8 2 Float64Array 0,1",
		"<f4 3 Float32Array 2,3,4", "0,0.25",
		"fs.writeNPY: shape [3] is not that of the data, which has 4 elements",
		"fs.writeNPY: data must be a typed array or a buffer, not an array",
		`read "records" on cpu: a buffer of records cannot be written to this file`)
}

// TestReadImageRefuses reads files that are cut short or damaged.
func TestReadImageRefuses(t *testing.T) {
	prints(t, `
const bytes = async (...b) => { await fs.writeBytes('f.png', Uint8Array.from(b)); await attempt(() => readImage('f.png')) }
await writeImage('g.png', { width: 50, height: 50, data: new Uint8Array(2500).map((_, i) => i * 7) })
const png = await fs.readBytes('g.png'), at = (i, b) => png.map((v, k) => k === i ? v ^ b : v)
await bytes(...png.slice(0, 40))
await bytes(...png.slice(0, -12))
await bytes(...at(45, 0x55))
await bytes(...at(24, 0x55))
await bytes(...at(17, 0x55))
for (const text of ['RIFF____WEBPVP8 ', 'RIFF____WAVEfmt ', 'RIFF', 'GIF89a']) await bytes(...new TextEncoder().encode(text))`,
		"read f.png: the file ends before the picture does", "read f.png: the file ends before the picture does", "read f.png: the compressed pixels are damaged",
		"read f.png: the file is damaged, or of an unknown kind: bit depth 93, color type 0", "read f.png: the file is damaged, or of an unknown kind: invalid checksum",
		"read f.png: it is a file of the format WebP", "read f.png: it is no picture that is known here", "read f.png: it is no picture that is known here",
		"read f.png: it is a file of the format GIF")
}

// TestPrintedFloats prints buffers of floats with the fewest digits that their type needs.
func TestPrintedFloats(t *testing.T) {
	prints(t, `
console.log(dev.buffer(f16, Float32Array.of(0.1, 65504, 1 / 3, 6e-8, NaN)))
console.log(dev.buffer(bf16, Float32Array.of(0.1, 65536, 1 / 3, 3e38, -Infinity)))
console.log(dev.buffer(f32, Float32Array.of(0.1, 16777216, 1 / 3)))`,
		"Buffer f16[5] on cpu { 0.1, 65504, 0.3333, 6e-8, NaN }", "Buffer bf16[5] on cpu { 0.1, 65536, 0.334, 3e+38, -Infinity }",
		"Buffer f32[3] on cpu { 0.1, 16777216, 0.33333334 }")
}

// TestSurplusArguments checks that functions refuse what they would ignore, but not what map passes.
func TestSurplusArguments(t *testing.T) {
	prints(t, `
await attempt(() => fs.writeText('a', 'text', { append: true }))
await attempt(() => fs.exists('a'))
await attempt(() => fs.writeText('a', 'text', 'utf8'))
await attempt(async () => (await Promise.all(['a', 'a'].map(readText))).join())
await attempt(() => readText('a', 'latin1'))
await attempt(() => fs.readNPY('a.npy', { into: 1 }))
await attempt(() => fs.mkdir('b/c', { recursive: true }))
await attempt(() => fs.mkdir('b/c', { mode: 7 }))
await attempt(async () => [await fs.exists('b/c'), await fs.exists('')])`,
		"fs.writeText: argument 3 is one too many: { append: true }", "false", "undefined", "text,text", "fs.readText: argument 2 is one too many: 'latin1'",
		"fs.readNPY: argument 2 is one too many: { into: 1 }", "undefined", `fs.mkdir: options have no "mode"`, "true,false")
}
