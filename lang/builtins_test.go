package lang

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestWideNumbers checks conversions of numbers and BigInts beyond 64 bits.
func TestWideNumbers(t *testing.T) {
	evalTexts(t, [][2]string{
		{`[Number(2n ** 64n), Number(2n ** 64n - 1n), Number(-(2n ** 63n) - 1n), Number(2n ** 1024n), Number(9007199254740993n)]`, `18446744073709552000,18446744073709552000,-9223372036854776000,Infinity,9007199254740992`},
		{`[...BigUint64Array.of(2n ** 64n - 1n)].map(Number)`, `18446744073709552000`},
		{`new Number(2n ** 70n) + Number({ valueOf: () => 2n ** 65n })`, `1.2174851088648304e+21`},
		{`((x, z) => [x | 0, z | 0, x >>> 0, ~x, ~~x, x ^ 0, x & -1, x << 0, 1 << x, x ^ z, x & z])(1e20, -1e20)`, `1661992960,-1661992960,1661992960,-1661992961,1661992960,1661992960,1661992960,1661992960,1,-2097152,1048576`},
		{`(x => { x |= 0; return x })(1e20) + (x => { x >>>= 0; return x })(-1e20)`, `4294967296`},
		{`(o => [o.x | 0, o.x ^ o.x, o[0] >> 1])({ x: 1e20, 0: 2 ** 70 + 2 ** 20 })`, `1661992960,0,524288`},
		{`((a, b) => [a | b, a & b, ~a, a << b, a ^ 1n])(5n, 3n)`, `7,1,-6,40,4`},
		{`[Math.imul(1e20, 1), Math.clz32(2 ** 70 + 2 ** 20), Int32Array.of(1e20), new Int32Array([-1e20]), Uint8Array.from([2 ** 70 + 3 * 2 ** 20]), new Int32Array(Float64Array.of(1e20))]`, `1661992960,11,1661992960,-1661992960,0,1661992960`},
		{`(v => { v.setInt32(0, 1e20); return v.getInt32(0) })(new DataView(new ArrayBuffer(8))) + new Int32Array(1).fill(1e20)[0]`, `3323985920`},
		{`(a => [Reflect.set(a, 0, 1e20), Reflect.set(a, '1', -1e20), Reflect.set(a, 'x', 1e20), Reflect.set(a, '01', 1e20), ...a, a.x, a['01']])(new Int32Array(2))`, `true,true,true,true,1661992960,-1661992960,100000000000000000000,100000000000000000000`},
		{`(a => { Object.assign(a, [1e20], { 1: -1e20, x: 1e20 }, null, 'ab'.slice(2)); return [...a, a.x] })(new Int32Array(2))`, `1661992960,-1661992960,100000000000000000000`},
		{`(a => { Object.defineProperty(a, 0, { value: 1e20, writable: true, enumerable: true, configurable: true }); return [Reflect.defineProperty(a, 1, { value: 2 ** 64 + 2 ** 14 }), ...a] })(new Uint16Array(2))`, `true,0,16384`},
		{`(a => { let n = 0; Object.defineProperty(a, 0, { get value() { n++; return 1e20 } }); return [n, a[0]] })(new Uint32Array(1))`, `1,1661992960`},
		{`(a => [Object.assign(a, { 0: 1e20 })[0], Reflect.set(a, 0, 2e20), a[0]])(new Float64Array(1))`, `100000000000000000000,true,200000000000000000000`},
		{`(a => { try { Object.defineProperty(a, 0, { value: 1, writable: false }) } catch (e) { return e.name } })(new Int8Array(1))`, `TypeError`},
		{`[Uint8ClampedArray.of(1e20), new Uint8ClampedArray(1).fill(-1e20)]`, `255,0`},
		{`[[-0].includes(0), [0].includes(-0), [-0].indexOf(0), [0, -0].lastIndexOf(0), [1, -0].includes(0, -1), [1].includes(0)]`, `true,true,0,1,true,false`},
		{`[Float32Array.of(0.1).indexOf(0.1), Float32Array.of(0.5).indexOf(0.5), Float64Array.of(-0).includes(0), Float32Array.of(NaN).includes(NaN), Float64Array.of(NaN).indexOf(NaN)]`, `-1,0,true,true,-1`},
		{`[Uint8Array.of(255).indexOf(-1), Int32Array.of(1).includes(4294967297), Uint8Array.of(1).includes('1'), BigUint64Array.of(2n ** 64n - 1n).indexOf(-1n), BigUint64Array.of(7n).lastIndexOf(7n)]`, `-1,false,false,-1,0`},
		{`[[0].includes(new Number(0)), [0].indexOf(new Number(0)), [-0].lastIndexOf(Object(0)), Float32Array.of(0).includes(new Number(0)), Float64Array.of(2).indexOf(new Number(2)), Float64Array.of(NaN).includes(Object(NaN)), BigInt64Array.of(1n).includes(Object(1n))]`, `false,-1,-1,false,-1,false,false`},
		{`[(1.5).toLocaleString('de'), new Number(3).toLocaleString(2), (12n).toLocaleString('de', {}), Object(5n).toLocaleString(2), (255).toString(16), (255n).toString(2)]`, `1.5,3,12,5,ff,11111111`},
		{failure(`Number.prototype.toLocaleString.call('x')`), "TypeError"},
		{`[(-0.5).toString(2), (-0.5).toString(36), new Number(-0.999).toString(3).slice(0, 5), (-1.5).toString(2), (0.5).toString(2), (-0.5).toString(10), (-0).toString(2), (-5e-324).toString(16).slice(0, 3)]`, `-0.1,-0.i,-0.22,-1.1,0.1,-0.5,0,-0.`},
		{`(n => { n.valueOf = () => 1; return [n.toString(2), n.toString(undefined), Number.prototype.toString.call(n, 4)] })(new Number(-0.25))`, `-0.01,-0.25,-0.1`},
		{failure(`(-0.5).toString(37)`), "RangeError"}, {failure(`Number.prototype.toString.call('-0.5', 2)`), "TypeError"},
		{`Object.is(parseInt('-0'), -0)`, `true`},
		{`[-0.5, '-0.5', new Number(-0.5), ['-0'], { toString: () => '-0x0' }, -0, -1e-7, 0.5].map(x => 1 / parseInt(x))`, `-Infinity,-Infinity,-Infinity,-Infinity,-Infinity,Infinity,-1,Infinity`},
		{`(log => [parseInt({ toString() { log.push('text'); return '-12345678901234567890' } }, { valueOf() { log.push('radix'); return 10 } }), log])([])`, `-12345678901234567000,text,radix`},
		{`[['9007199254740993'], Object('0x20000000000001'), { valueOf: () => '-9007199254740993' }, { [Symbol.toPrimitive]: hint => hint === 'number' }, Object(2n), new Date(5), []].map(x => BigInt(x))`,
			`9007199254740993,9007199254740993,-9007199254740993,1,2,5,0`},
		{failure(`BigInt({})`), "SyntaxError"}, {failure(`BigInt(['1.5'])`), "SyntaxError"}, {failure(`BigInt(Object(1.5))`), "RangeError"}, {failure(`BigInt({ valueOf: () => null })`), "TypeError"},
		{`[Atomics.store(new BigInt64Array(1), 0, ['9007199254740993']), Atomics.store(new BigUint64Array(1), 0, -(2n ** 70n)), Atomics.store(new BigInt64Array(1), 0, true)]`, `9007199254740993,-1180591620717411303424,1`},
		{failure(`Atomics.store(new BigInt64Array(1), 0, 3)`), "TypeError"}, {failure(`Atomics.store(new BigInt64Array(1), 0, { valueOf: () => 3 })`), "TypeError"}, {failure(`Atomics.store(new BigInt64Array(1), 0, {})`), "SyntaxError"},
		{`[parseInt('\uFEFF9007199254740993'), parseInt('\u2029\u00a0-99999999999999999999'), parseInt('\u0085999999999999999999')]`, `9007199254740992,-100000000000000000000,NaN`},
		{`[parseInt('9'.repeat(25)), parseInt('-0x' + 'f'.repeat(20) + 'g'), parseInt('1'.repeat(60), 2), parseInt('9007199254740993'), parseInt('1'.repeat(1100), 2), Object.is(parseInt('-0x0'), -0), parseInt('0'.repeat(2000) + '12')]`, `1e+25,-1.2089258196146292e+24,1152921504606847000,9007199254740992,Infinity,true,12`},
		{`[BigInt.asUintN(2 ** 53 - 1, 5n), BigInt.asIntN(2 ** 53 - 1, '-77'), BigInt.asUintN(2 ** 50, true), BigInt.asIntN(3, 4n), BigInt.asIntN(64, 2n ** 63n), BigInt.asUintN(65, -1n)]`, `5,-77,1,-4,-9223372036854775808,36893488147419103231`},
		{`[1n >> 2n ** 70n, -7n >> 2n ** 70n, 1n << -(2n ** 70n), 0n << 2n ** 70n, 5n >> -3n, -5n << -1n, (1n << 3000000n) >> 2999999n]`, `0,-1,0,0,40,-3,2`},
		{failure(`BigInt.asUintN(2 ** 53 - 1, -1n)`), "RangeError"}, {failure(`BigInt.asUintN(2 ** 53, 1n)`), "RangeError"}, {failure(`BigInt.asIntN(2 ** 50, 5)`), "TypeError"}, {failure(`BigInt()`), "TypeError"},
		{failure(`1n << 2n ** 40n`), "RangeError"}, {failure(`1n >> -(2n ** 40n)`), "RangeError"}, {failure(`(o => { o.x <<= 2n ** 60n })({ x: 1n })`), "RangeError"},
		{failure(`Math.imul(1n, 1)`), "TypeError"}, {failure(`Number(Symbol())`), "TypeError"}, {failure(`1n | 1`), "TypeError"}, {failure(`[1n][0] >>> 0`), "TypeError"},
	})
}

// TestBitOrder checks that operands of bit operations are converted once, after both are evaluated.
func TestBitOrder(t *testing.T) {
	evalTexts(t, [][2]string{
		{`(() => { const log = [], v = n => ({ valueOf() { log.push(n); return 1e20 } }); const f = n => (log.push('f' + n), v(n)); f(1) | f(2); return log })()`, `f1,f2,1,2`},
		{`(() => { let n = 0; const o = { get x() { n++; return 1e20 } }; o.x | 0; o.x ^ o.x; return n })()`, `3`},
	})
}

func TestJSONParse(t *testing.T) {
	evalTexts(t, [][2]string{
		{`[JSON.parse('1e1000'), JSON.parse('[-1e400]')[0], JSON.parse('1e-400'), Object.is(JSON.parse('-0'), -0), JSON.parse('123456789012345678901234567890')]`, `Infinity,-Infinity,0,true,1.2345678901234568e+29`},
		{`['"\\ud83d"', '"\\udE00x"', '"\\ud83da"', '"\\ud83d\\ude00"', '"' + '\ud83d' + '"'].map(s => [...JSON.parse(s)].map(c => c.codePointAt(0).toString(16)).join('.'))`, `d83d,de00.78,d83d.61,1f600,d83d`},
		{`Object.keys(JSON.parse('{"\\ud800":1,"b":2,"1":3}')).map(k => k.charCodeAt(0))`, `49,55296,98`},
		{`JSON.stringify(JSON.parse('{"__proto__":1,"a":[true,null,"\\u0041\\n"]}'))`, `{"__proto__":1,"a":[true,null,"A\n"]}`},
		{`JSON.stringify(JSON.parse('{"a":[1,2],"b":{"c":3}}', function (k, v) { return k === 'c' ? undefined : typeof v === 'number' ? v + 1 : v }))`, `{"a":[2,3],"b":{}}`},
		{`['[1,]', '{"b": }', '{a:1}', '01', '1 2', '"\n"', '\f1', '', '{"a":1,}', "'a'", '[NaN]', '"\\x"', '-', '1.', '{"a" 1}', 'nul', '[1 2]'].map(s => { try { JSON.parse(s) } catch (e) { return e.hint } }).join('; ')`,
			"remove the comma before it: JSON has none behind the last element; a value is missing after the colon; names stand in double quotes; a number does not begin with 0; JSON is one value: put several into [ ], or parse line by line; " +
				`write it as an escape, such as \n or \t; a value is missing before it: an object, an array, a string, a number, true, false or null; the text ends too early: is it whole, and is every bracket and quote closed?; ` +
				"remove the comma before it: JSON has none behind the last element; JSON has double quotes only; JSON has no NaN, Infinity or undefined; null stands for them; " +
				`escapes are \" \\ \/ \b \f \n \r \t and \u with four hexadecimal digits; the text ends too early: is it whole, and is every bracket and quote closed?; the text ends too early: is it whole, and is every bracket and quote closed?; a colon is missing before it; ` +
				"the text ends too early: is it whole, and is every bracket and quote closed?; a comma or a bracket is missing before it"},
	})
}

// TestDate checks local times around transitions, years of more than four digits, and texts that are no dates.
// TestJSONIndent checks that empty arrays and objects do not move what follows, and that up to ten UTF-16 units indent.
func TestJSONIndent(t *testing.T) {
	evalTexts(t, [][2]string{
		{`JSON.stringify([[], [1], {}, { a: new Map, b: { c: [] }, d: undefined }], null, 1)`, "[\n [],\n [\n  1\n ],\n {},\n {\n  \"a\": {},\n  \"b\": {\n   \"c\": []\n  }\n }\n]"},
		{`JSON.stringify({ 'a"{': '[1,2]\\\\"', é: [{ x: 1 }] }, (k, v) => k === 'x' ? 2 : v, 'é')`, "{\né\"a\\\"{\": \"[1,2]\\\\\\\\\\\"\",\né\"é\": [\néé{\nééé\"x\": 2\néé}\né]\n}"},
		{`[1e20, -1, NaN, '', 'abcdefghijklm', new Number(2.9), new String('ab'), true, {}].map(gap => JSON.stringify([1], null, gap).length)`, "15,3,3,3,15,7,7,3,3"},
		{`[JSON.stringify(undefined, null, 2), JSON.stringify('a:b,{', null, 2), JSON.stringify({ b: 1, a: [] }, ['a'], 2)]`, ",\"a:b,{\",{\n  \"a\": []\n}"},
	})
}

func TestDate(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("no time zones")
	}
	was := time.Local
	time.Local = zone
	defer func() { time.Local = was }()
	evalTexts(t, [][2]string{
		{`[+new Date(2024, 2, 10, 2, 30), +new Date(2024, 10, 3, 1, 30), +new Date('2024-03-10T02:30'), +new Date(2024, 2, 10, 1, 59, 60)]`, `1710055800000,1730611800000,1710055800000,1710054000000`},
		{`(d => [d.setDate(10), d.setHours(2), d.setMonth(10, 3), d.setHours(1, 30), d.setMilliseconds(1e20), d.setFullYear(2024)])(new Date(2024, 2, 9, 2, 30))`, `1710055800000,1710055800000,1730622600000,1730611800000,NaN,1704085200000`},
		{`[new Date(Date.UTC(10000, 0)).toISOString(), new Date(Date.UTC(-1, 0)).toISOString(), new Date(8.64e15).toJSON(), new Date(0).toISOString()]`, `+010000-01-01T00:00:00.000Z,-000001-01-01T00:00:00.000Z,+275760-09-13T00:00:00.000Z,1970-01-01T00:00:00.000Z`},
		{`['2024-00-01', '2024-13-01', '-000000-01-01', '2024-05-06T24:00:01Z', '2024-05-06T07:08:09,5Z', '+275760-09-13T00:00:00.001Z', '2024-05-06T07:60'].map(Date.parse)`, `NaN,NaN,NaN,NaN,NaN,NaN,NaN`},
		{`['2024', '2024-05-06T07:08:09.123456Z', '2024-05-06T24:00Z', '-000001-01-01T00:00:00Z', '2024-05-06T07:08+02:00', 'May 6, 2024 UTC'].map(Date.parse)`, `1704067200000,1714979289123,1715040000000,-62198755200000,1714972080000,1714953600000`},
		{`new Date(1850, 5, 1).getTimezoneOffset()`, `296`},
		{`['Jan 32 2024', '32 Jan 2024', 'Jan 0, 2024', '1/32/2024', '0/1/2024', 'Sat, 36 Jan 2024 10:00:00 GMT', '2024/2/2024'].map(Date.parse)`, `NaN,NaN,NaN,NaN,NaN,NaN,NaN`},
		{`['Tue Mar 05 2024 00:00:00 GMT+0530 (year 2024 of 1900)', '5 Mar 2024 00:00 +05:30', 'Mar 5 2024 00:00:00.045 GMT+0530', '3/5/2024 0:00 UTC+0530', '2024-03-05 00:00:00 +0530', 'Tue, 05 Mar 24 00:00 GMT+0530'].map(Date.parse)`,
			`1709577000000,1709577000000,1709577000045,1709577000000,1709577000000,1709577000000`},
	})
}

// TestLaterBuiltins checks builtins of later editions that this engine defines itself.
func TestLaterBuiltins(t *testing.T) {
	evalTexts(t, [][2]string{
		{`[1, 2, 3].values().map(x => x * 2).filter(x => x > 2).take(1).toArray()`, `4`},
		{`(() => { let closed = 0; const it = { next: () => ({ value: 1 }), return() { closed++; return {} }, __proto__: Iterator.prototype }; it.take(2).toArray(); it.some(x => x === 1); const h = it.map(x => x); h.next(); h.return(); return closed })()`, `3`},
		{`[Iterator.from({ next: () => ({ done: true }) }).toArray().length, new Set([1]).values().drop(1).reduce((a, b) => a + b, 7), 'ab'[Symbol.iterator]().flatMap(c => [c, c]).toArray()]`, `0,7,a,a,b,b`},
		{`[Atomics.add(new Int32Array([5]), 0, 2), Atomics.compareExchange(new Uint8Array([255]), 0, -1, 7), Atomics.or(BigInt64Array.of(4n), 0, 3n), Atomics.isLockFree(4)]`, `5,255,4,true`},
		{`(() => { const b = Uint8Array.of(1, 2, 3).buffer, c = b.transfer(2); return [b.detached, b.byteLength, c.byteLength, new Uint8Array(c), c.resizable] })()`, `true,0,2,1,2,false`},
		{`(() => { const s = Symbol(), m = new WeakMap([[s, 1]]); m.set(Symbol.iterator, 2); return [m.get(s), m.has(Symbol()), m.delete(s), m.has(s), new WeakSet([s]).has(s)] })()`, `1,false,true,false,true`},
		{`new WeakRef({ a: 1 }).deref().a + Object.prototype.toString.call(new FinalizationRegistry(() => 1))`, `1[object FinalizationRegistry]`},
		{`String(Function.prototype.toString.call(ArrayBuffer[Symbol.hasInstance])) + new Uint8Array(1) instanceof Uint8Array`, `false`},
		{failure(`Atomics.wait(new Int32Array(1), 0, 0)`), "TypeError"}, {failure(`Atomics.load(new Float32Array(1), 0)`), "TypeError"}, {failure(`Atomics.load(new Int8Array(1), 1)`), "RangeError"},
		{failure(`new WeakRef(1)`), "TypeError"}, {failure(`new WeakMap().set(Symbol.for('a'), 1)`), "TypeError"}, {failure(`new Iterator()`), "TypeError"}, {failure(`[].values().take(-1)`), "RangeError"},
	})
	e, _ := testEngine(t, Options{})
	v, err := e.Eval(t.Context(), "t.js", `String([await Promise.try(x => x + 1, 2), await Promise.try(() => { throw 3 }).catch(x => x), await Array.fromAsync([1, Promise.resolve(2)], x => x * 2)])`)
	if err != nil || v.String() != "3,3,2,4" {
		t.Error(v, err)
	}
}

// TestArrayLikes checks the methods of arrays on objects that only resemble arrays: with any length, read once, and in the
// order of the specification.
func TestArrayLikes(t *testing.T) {
	far := `{ length: 2 ** 53 + 2, 0: 'a', 9007199254740990: 'z' }`
	evalTexts(t, [][2]string{
		{`((o, { some, every, find, findIndex, findLast, findLastIndex, includes, indexOf, lastIndexOf }) => [
			some.call(o, x => x === 'a'), every.call(o, x => x !== 'a'), find.call(o, x => x), findIndex.call(o, x => x), findLast.call(o, x => x), findLastIndex.call(o, x => x),
			includes.call(o, 'a'), includes.call(o, 'z', -1), indexOf.call(o, 'z', 2 ** 53 - 3), lastIndexOf.call(o, 'z')])(` + far + `, [])`,
			`true,false,a,0,z,9007199254740990,true,true,9007199254740990,9007199254740990`},
		{`((o, { slice, splice, copyWithin, fill }) => [slice.call(o, 2 ** 53 - 3), splice.call(o, 2 ** 53 - 2, 1), o.length, copyWithin.call(o, 3, 0, 1)[3], fill.call(o, 7, -2)[2 ** 53 - 3]])(` + far + `, [])`,
			`,z,z,9007199254740990,a,7`},
		{`[].indexOf.call(Object.assign([], { length: 4294967295, 4294967294: 'x' }), 'x', -2)`, `4294967294`},
		{`((log) => { const p = new Proxy(['a', 'b'], { get: (t, k) => (typeof k === 'string' && log.push(k), t[k]) }); [].map.call(p, x => x); [].includes.call(p, 'b'); [].flat.call(p); return log })([])`,
			`length,constructor,0,1,length,0,1,length,constructor,0,1`},
		{`((n, o) => { for (const name of ['every', 'some', 'forEach', 'map', 'filter', 'find', 'findIndex', 'findLast', 'flatMap', 'includes', 'indexOf', 'reverse', 'slice', 'splice', 'shift', 'unshift', 'fill', 'copyWithin', 'toSorted', 'toReversed', 'toSpliced', 'sort', 'concat', 'flat']) [][name].call(o, name.startsWith('to') || name === 'sort' ? undefined : () => {}); return n.length })(new class extends Array {}, { get length() { return 0 }, set length(v) {} })`, `0`},
		{`[[].sort.call({ length: 3, 0: 3, 2: 1 })].map(o => [o[0], o[1], 2 in o])`, `1,3,false`},
		{`[[].reverse.call({ length: 3, 0: 'x' })].map(o => [0 in o, o[2]])`, `false,x`},
		{`[].reduce.call('abc', (a, x) => x + a) + [].reduceRight.call({ length: 2, 0: 1, 1: 2 }, (a, x) => a + '-' + x)`, `cba2-1`},
		{`[[].concat.call({ [Symbol.isConcatSpreadable]: true, length: 1, 0: 5 }, [6], { [Symbol.isConcatSpreadable]: true, length: 2, 0: 7 }).length, [1].concat({ length: 2 }).length]`, `4,2`},
		{`((a, u = x => x === undefined ? 'u' : x) => [a.toSorted().map(u), a.toReversed().map(u), a.with(0, 1).map(u), a.toSpliced(0, 1, 5).map(u), 1 in a, 1 in a.slice(), 1 in a.concat(1), a.flat().length, [, 1].with(1, 4).map(u), Object.keys([, 1].toReversed()).length])([3, , 1].map(x => x))`,
			`1,3,u,1,u,3,1,u,1,5,u,1,false,false,false,2,u,4,2`},
		{`((b) => { const c = b.map((x, i) => { b.length = 1; return x }); return [Object.keys(c), c.length, 1 in c.toSorted(), String(new Uint16Array([3, , 1].toReversed()))] })([1, 2, 3])`, `0,3,true,1,0,3`},
		{`((a) => [a.indexOf(0), a.lastIndexOf(0), a.includes(-0)])(Object.defineProperty([, 1], 0, { get: () => 0 }))`, `0,0,true`},
		{`((n) => [[].includes(0, { valueOf() { n++ } }), n])(0)`, `false,0`},
		{failure(`[].unshift.call({ length: 2 ** 53 - 1 }, 1)`), "TypeError"}, {failure(`[].slice.call({ length: 2 ** 53 })`), "RangeError"}, {failure(`[].sort.call({ get length() { throw 1 } }, null)`), "TypeError"},
		{failure(`[1].concat({ [Symbol.isConcatSpreadable]: true, length: 2 ** 53 - 1 })`), "TypeError"}, {failure(`[].reduce.call({ length: 3 }, () => {})`), "TypeError"},
	})
}

// TestDisposables checks stacks of resources, their errors, and the methods of iterators that dispose them.
func TestDisposables(t *testing.T) {
	evalTexts(t, [][2]string{
		{`((log) => { const s = new DisposableStack(); s.use({ [Symbol.dispose]() { log.push('a') } }); s.adopt(5, x => log.push(x)); s.defer(() => log.push('c')); const m = s.move(); log.push(s.disposed, m.disposed); m.dispose(); m.dispose(); return [...log, m.disposed, s.use === undefined] })([])`,
			`true,false,c,5,a,true,false`},
		{`((s) => { s.defer(() => { throw 1 }); s.defer(() => { throw 2 }); try { s.dispose() } catch (e) { return [e instanceof SuppressedError, e instanceof Error, e.error, e.suppressed, e.name] } })(new DisposableStack())`, `true,true,1,2,SuppressedError`},
		{`(() => { const e = SuppressedError(1, 2, 'm'); return [e.message, Object.keys(e).length, SuppressedError.length, DisposableStack.prototype[Symbol.dispose] === DisposableStack.prototype.dispose, Object.keys(globalThis).includes('DisposableStack')] })()`, `m,0,3,true,false`},
		{`((n) => { [1].values()[Symbol.dispose](); const it = { __proto__: Iterator.prototype, return() { n++ } }; { using x = it } return n })(0)`, `1`},
		{`((p) => p.constructor === Object && Promise.withResolvers.call(class extends Promise {}).promise instanceof Promise)(Promise.withResolvers())`, `true`},
		{failure(`Promise.withResolvers.call(eval)`), "TypeError"}, {failure(`Promise.withResolvers.call(class { constructor(f) { } })`), "TypeError"},
		{failure(`new DisposableStack().use({})`), "TypeError"}, {failure(`DisposableStack()`), "TypeError"}, {failure(`(s => { s.dispose(); s.defer(() => {}) })(new DisposableStack)`), "ReferenceError"},
		{failure(`[1].values().take(2 ** 53)`), "RangeError"}, {failure(`DisposableStack.prototype.dispose.call({})`), "TypeError"},
	})
	e, _ := testEngine(t, Options{})
	v, err := e.Eval(t.Context(), "t.js", `const s = new AsyncDisposableStack(), log = []; s.use({ async [Symbol.asyncDispose]() { log.push('a') } }); s.use({ [Symbol.dispose]() { log.push('b') } }); s.use(null); s.defer(async () => { throw 1 }); s.adopt(2, async x => { throw x })
const e = await s.disposeAsync().catch(e => e); const g = (async function* () { try { yield 1 } finally { log.push('g') } })(); await g.next(); await g[Symbol.asyncDispose](); String([log, e.error, e.suppressed, s.disposed])`)
	if err != nil || v.String() != "b,a,g,1,2,true" {
		t.Error(v, err)
	}
}

// TestCollected checks that a FinalizationRegistry calls back for an object that was collected, and that a WeakRef forgets it.
func TestCollected(t *testing.T) {
	e, _ := testEngine(t, Options{})
	run := func(text string) string {
		t.Helper()
		v, err := e.Eval(t.Context(), "t.js", text)
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	run(`var held = [], r = new FinalizationRegistry(x => held.push(x)), w; (() => { let o = { big: 1 }; r.register(o, 'a'); r.register(o, 'b', r); w = new WeakRef(o); r.unregister(r) })()`)
	for range 50 {
		run(`for (let i = 0; i < 100; i++) ({}); 0`)
		runtime.GC()
		if run(`held.join() + w.deref()`) == "aundefined" {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("the object is not collected: %s", run(`held.join() + w.deref()`))
}

// TestJumpsOutOfDeadCode runs jumps out of statements that cannot run, across scopes that functions refer to.
func TestJumpsOutOfDeadCode(t *testing.T) {
	const before = `(() => { const out = [], log = x => out.push(x)
	L0: for (const i of [1, 2, 3]) {
		const kept = () => i
		for (const k in { a: 1 }) { `
	const after = `; log(kept() + k) }
		let [a, b = 0, ...c] = [i, kept()].map(q => q + i)
		log([a, b, ...c].map(q => q + a).join(':'))
	}
	return out })()`
	for _, dead := range []string{
		"if (!(3 < 65536)) break L0", "if (false) continue L0", "if (1 < 2) {} else break L0", "while (1 > 2) break L0", "for (; false;) { if (i) continue L0; break L0 }",
		"if (null ?? false) { const z = () => i; if (z()) break L0 }", "if ('' || 0) break L0", "if (true && 0) break L0", "if (void 0) continue L0",
		"switch (i) { case i: break; { const z = () => i; if (z()) continue L0; break L0 } }",
		"for (;;) { break; for (const z of [1]) { const f = () => z; if (f()) break L0; continue L0 } }",
		"do { continue; { const z = () => i; if (z()) break L0 } } while (0)",
	} {
		e, _ := testEngine(t, Options{})
		if _, err := e.Run(t.Context(), "t.js", "globalThis.result = String("+before+dead+after+")"); err != nil {
			t.Errorf("%s: %v", dead, err)
		} else if got := e.VM().Get("result").String(); got != "1a,4:4,2a,8:8,3a,12:12" {
			t.Errorf("%s: %s", dead, got)
		}
	}
}

// TestUnpairedSurrogates checks that texts with unpaired surrogates keep them.
func TestUnpairedSurrogates(t *testing.T) {
	const hex = `(s => Array.from({ length: s.length }, (_, i) => s.charCodeAt(i).toString(16)).join('-'))`
	evalTexts(t, [][2]string{
		{hex + `('aA\ud83dZ\udc00É'.toLowerCase())`, "61-61-d83d-7a-dc00-e9"},
		{hex + `('aA\ud83dz\udc00é😀'.toUpperCase())`, "41-41-d83d-5a-dc00-c9-d83d-de00"},
		{hex + `('\ud83dA'.toLocaleLowerCase() + 'b\udc00'.toLocaleUpperCase())`, "d83d-61-42-dc00"},
		{hex + `('\u0065\u0301\ud83d'.normalize() + '\u00e9\ud83d'.normalize('NFD'))`, "e9-d83d-65-301-d83d"},
		{hex + `(' \ud83d \udc00 '.trim())`, "d83d-20-dc00"}, {hex + `(' \ud83d '.trimStart() + ' \ud83d '.trimEnd())`, "d83d-20-20-d83d"},
		{hex + `('A\ufffd'.toLowerCase())`, "61-fffd"}, {hex + `('\ud83d'.trim())`, "d83d"},
		{failure(`String.prototype.trim.call(null)`), "TypeError"}, {failure(`'\ud83d'.normalize('x')`), "RangeError"},
		{`new ArrayBuffer(8, {}).byteLength + new ArrayBuffer(8, { maxByteLength: undefined }).byteLength`, "16"},
	})
}

// TestMissingElements checks that builtins read missing elements of arrays as undefined.
func TestMissingElements(t *testing.T) {
	evalTexts(t, [][2]string{
		{`[...new Set([3, , 1].map(x => x))].map(x => x === undefined)`, "false,true,false"},
		{`new Set([3, , 1, , 3].filter(() => true).concat([,])).size + new Set([,]).size + new (class extends Set {})([1, , 2].map(x => x)).size`, "7"},
		{`Object.keys(Object.fromEntries([[, 1], ['a']]))`, "undefined,a"},
	})
}

// TestResizableBuffers checks the sizes of views while their buffer changes its own, and methods during which it does.
// TestDetachedKeys checks that a typed array has no elements when its buffer is detached.
func TestDetachedKeys(t *testing.T) {
	evalTexts(t, [][2]string{
		{`(u => { u.x = 1; u.buffer.transfer(); const seen = []; for (const k in u) seen.push(k); return [Object.keys(u), Reflect.ownKeys(u), Object.getOwnPropertyNames(u), seen, Object.isFrozen(u), Object.isFrozen(Object.freeze(u)), u.length] })(new Uint8Array(4))`, `x,x,x,x,false,true,0`},
		{`(u => { u.buffer.transfer(); return [Object.keys(u).length, JSON.stringify(Object.entries(u))] })(new Float64Array(new ArrayBuffer(16, { maxByteLength: 32 })))`, `0,[]`},
		{`[Object.keys(new Uint8Array(2)), Reflect.ownKeys(Object(1)).length, Object.keys('ab')]`, `0,1,0,0,1`},
	})
}

// TestSortStable checks sorting by a function that returns -0, throws, or changes what is sorted.
func TestSortStable(t *testing.T) {
	const digits = `[5, 4, 3, 2, 1, 0, 7, 8, 9, 6, 3, 2]`
	for _, class := range []string{"Array", "Float64Array", "Int8Array"} {
		evalTexts(t, [][2]string{
			{class + `.from(` + digits + `).sort((p, q) => -((p >> 2) - (q >> 2)))`, `8,9,5,4,7,6,3,2,1,0,3,2`},
			{class + `.from(` + digits + `).toSorted((p, q) => -((p >> 2) - (q >> 2)))`, `8,9,5,4,7,6,3,2,1,0,3,2`},
			{class + `.from(` + digits + `).sort(() => -0)`, `5,4,3,2,1,0,7,8,9,6,3,2`},
			{class + `.from(` + digits + `).sort(() => NaN)`, `5,4,3,2,1,0,7,8,9,6,3,2`},
			{class + `.from(` + digits + `).sort((p, q) => ({ valueOf: () => q - p }))`, `9,8,7,6,5,4,3,3,2,2,1,0`},
			{`(x => { let n = 0; try { x.sort((p, q) => { if (++n > 9) throw 1; return p - q }) } catch (e) { return [e, ...x] } })(` + class + `.from(` + digits + `))`, `1,5,4,3,2,1,0,7,8,9,6,3,2`},
			{`(x => x.sort((p, q) => (x.fill(0), p - q)))(` + class + `.from(` + digits + `))`, `0,1,2,2,3,3,4,5,6,7,8,9`},
			{failure(`new ` + class + `(2).fill(1).sort(() => 1n)`), "TypeError"}, {failure(`new ` + class + `(2).fill(1).toSorted(() => Symbol())`), "TypeError"}, {failure(class + `.of(2, 1).sort(null)`), "TypeError"},
		})
	}
	evalTexts(t, [][2]string{
		{`(s => [[...s.keys()].sort((i, j) => -(s[i] - s[j])), Uint32Array.from(s.keys()).sort((i, j) => -(s[i] - s[j]))])([3, 1, 3, 2, 1])`, `0,2,3,1,4,0,2,3,1,4`},
		{`[Array, Uint16Array].map(C => C.from({ length: 3000 }, (_, i) => i).sort((i, j) => -(i * 7919 % 50 - j * 7919 % 50)).every((v, k, s) => k === 0 || (p => p > 0 || p === 0 && s[k - 1] < v)(s[k - 1] * 7919 % 50 - v * 7919 % 50)))`, `true,true`},
		{`[3, undefined, 1, undefined, 2].sort((p, q) => p - q).map(String)`, `1,2,3,undefined,undefined`},
		{`(a => [a.sort((p, q) => -(p - q >> 3)) === a, a.length, 5 in a, 6 in a, ...a.map(String)])([7, , undefined, 3, , 5, 1])`, `true,7,false,false,7,3,5,1,undefined,,`},
		{`(a => { a.sort((p, q) => { a.length = 0; return p - q }); return a })([3, 1, 2])`, `1,2,3`},
		{`(a => { a.sort((p, q) => { a.push(9); return p - q }); return a.slice(0, 3) })([3, 1, 2])`, `1,2,3`},
		{failure(`Object.freeze([2, 1]).sort((p, q) => p - q)`), "TypeError"},
		{`(a => { Object.defineProperty(a, 0, { get: () => 9, set(v) { this.x = v } }); a.sort((p, q) => p - q); return [a.x, a[1], a[2]] })([0, 5, 3])`, `3,5,9`},
		{`(b => { const x = new Uint8Array(b); x.set([4, 3, 2, 1]); x.sort((p, q) => (b.resize(2), p - q)); return x })(new ArrayBuffer(4, { maxByteLength: 4 }))`, `1,2`},
		{`(x => { x.sort((p, q) => (x.buffer.byteLength && x.buffer.transfer(), p - q)); return x.length })(Uint8Array.of(3, 1, 2))`, `0`},
		{`(x => x.toSorted((p, q) => (x.buffer.byteLength && x.buffer.transfer(), p - q)))(Uint8Array.of(3, 1, 2))`, `1,2,3`},
		{`(o => { const a = [{ toString: () => (o.n++, 'x') }, { toString: () => (o.n++, 'y') }]; return [a.toSorted(() => 0).length, o.n] })({ n: 0 })`, `2,0`},
		{`new (class extends Array { })(3, 1, 2).toSorted((p, q) => p - q).constructor.name`, `Array`},
		{`new (class extends Uint8Array { })([3, 1, 2]).toSorted((p, q) => p - q).constructor.name`, `Uint8Array`},
		{`BigInt64Array.of(3n, 1n, 2n).sort((p, q) => -(p > q) || +(p < q))`, `3,2,1`},
	})
}

func TestResizableBuffers(t *testing.T) {
	const four = `const failure = f => { try { f(); return 'no error' } catch (e) { return e.name } }; const b = new ArrayBuffer(4, { maxByteLength: 8 }), t = new Uint8Array(b), f = new Uint8Array(b, 0, 4), h = new Uint16Array(b, 2), d = new DataView(b, 1); t.set([1, 2, 3, 4]);`
	evalTexts(t, [][2]string{
		{`(() => { ` + four + ` const r = []; for (const n of [4, 7, 3, 1, 0, 8]) { b.resize(n); let dl; try { dl = d.byteLength } catch (e) { dl = e.name } r.push([n, b.byteLength, t.length, f.length, h.length, h.byteOffset, dl].join()) } return r.join(' ') + ' ' + t.join() + ' ' + [b.resizable, b.maxByteLength, f.buffer === b] })()`,
			`4,4,4,4,1,2,3 7,7,7,4,2,2,6 3,3,3,0,0,2,2 1,1,1,0,0,0,0 0,0,0,0,0,0,TypeError 8,8,8,4,3,2,7 0,0,0,0,0,0,0,0 true,8,true`},
		{`(() => { ` + four + ` b.resize(2); f[0] = 9; return [f[0], 0 in f, Object.keys(f).length, [...t], failure(() => f.fill(1)), failure(() => f[Symbol.iterator]().next()), failure(() => new Uint8Array(b, 0, 3)), failure(() => new Uint8Array(b, 3)), failure(() => new Uint16Array(b, 1))] })()`,
			`,false,0,1,2,TypeError,TypeError,RangeError,RangeError,RangeError`},
		{`(() => { ` + four + ` const s = t.subarray(1), u = t.subarray(1, 3); b.resize(8); const c = b.slice(2, 5), m = b.transfer(6), n = m.transferToFixedLength(); return [s.length, u.length, c.resizable, c.byteLength, m.resizable, n.resizable, n.byteLength, t.length, b.maxByteLength, new Uint8Array(n).join('')] })()`,
			`0,0,false,3,true,false,6,0,0,123400`},
		{`(() => { ` + four + ` const c = b.slice({ valueOf() { b.resize(2); return 1 } }, 4); return [c.byteLength, new Uint8Array(c).join('')] })()`, `3,200`},
		{`(() => { ` + four + ` const grown = []; for (const x of t) { if (b.byteLength < 8) b.resize(b.byteLength + 2); grown.push(x) } return grown.join('') })()`, `12340000`},
		{`(() => { const r = []; for (const name of ['map', 'forEach', 'every', 'some', 'filter', 'find', 'findIndex', 'findLast', 'findLastIndex']) { ` + four + ` let seen = ''; t[name]((x, i) => { seen += x; b.resize(2); return name === 'every' }); r.push(seen) } return r })()`,
			`12undefinedundefined,12undefinedundefined,12undefinedundefined,12undefinedundefined,12undefinedundefined,12undefinedundefined,12undefinedundefined,4undefined21,4undefined21`},
		{`(() => { const r = []; const evil = (b, v) => ({ valueOf() { b.resize(1); return v }, toString() { b.resize(1); return v } }); for (const run of [(t, e) => t.at(e(1)), (t, e) => t.join(e('-')), (t, e) => t.slice(0, e(3)), (t, e) => t.fill(e(7)), (t, e) => t.copyWithin(0, e(1)), (t, e) => t.with(0, e(9)), (t, e) => t.indexOf(2, e(0)), (t, e) => t.includes(undefined, e(0)), (t, e) => t.lastIndexOf(1, e(3)), (t, e) => t.set([e(5), 6]), (t, e) => t.subarray(e(0)).length, (t, e) => t.sort((x, y) => e(0).valueOf()).length, (t, e) => (t[0] = e(8), t[0])]) { ` + four + ` try { r.push(String(run(t, v => evil(b, v)))) } catch (e) { r.push(e.name) } } return r.join(' ') })()`,
			`undefined 1--- 1,0,0 7 1 9,0,0,0 -1 true 0 undefined 1 1 8`},
		{failure(`new ArrayBuffer(9, { maxByteLength: 8 })`), "RangeError"}, {failure(`new ArrayBuffer(1, { maxByteLength: -1 })`), "RangeError"}, {failure(`new ArrayBuffer(1, { maxByteLength: 2 }).resize(3)`), "RangeError"},
		{failure(`new ArrayBuffer(1).resize(1)`), "TypeError"}, {failure(`(b => { b.transfer(); b.resize(1) })(new ArrayBuffer(1, { maxByteLength: 2 }))`), "TypeError"}, {failure(`new ArrayBuffer(1, { maxByteLength: 2 ** 53 - 1 })`), "RangeError"},
		{failure(`Object.freeze(new Uint8Array(new ArrayBuffer(1, { maxByteLength: 2 })))`), "TypeError"}, {failure(`(b => { b.transfer(); b.slice() })(new ArrayBuffer(1))`), "TypeError"},
	})
}

// TestMessages checks that no message shows data of the interpreter.
func TestMessages(t *testing.T) {
	const message = `(f => { try { f(); return 'no error' } catch (e) { return e.message } })`
	var cases [][2]string
	for _, object := range []string{`{ __proto__: null }`, `{ toString: null, valueOf: null }`, `new Proxy(function () {}, { get: () => () => ({}) })`, `{ toString() { return {} }, valueOf() { return [] } }`, `Object.setPrototypeOf([1], null)`, `Object.setPrototypeOf(() => 1, null)`, `Object.setPrototypeOf(new Date(), null)`} {
		for _, text := range []string{`+x`, `x + 1`, `x * 2`, "`${x}`", `({})[x]`, `x < 1`, `x == 1`, `String(x)`, `[x].join()`, `BigInt(x)`, `Math.max(x)`, `isNaN(x)`, `parseInt(x)`, `'a'.repeat(x)`, `1n + x`, `Symbol(x)`, `new Int8Array(1).fill(x)`, `new Int8Array(1)[0] = x`, `x | 0`, `~x`, `x++`, `Object.defineProperty({}, x, {})`} {
			cases = append(cases, [2]string{message + `(() => { let x = ` + object + `; ` + text + ` })`, `Cannot convert object to primitive value`})
		}
	}
	evalTexts(t, cases)
}

// TestAccessors checks the methods of objects for accessors, and methods named __proto__.
func TestAccessors(t *testing.T) {
	evalTexts(t, [][2]string{
		{`((a) => { a.__defineGetter__('x', () => 5); a.__defineSetter__('x', function (v) { this.y = v }); a.x = 7; return [a.x, a.y, a.__lookupGetter__('x')(), Object.create(a).__lookupSetter__('x').length, a.__lookupGetter__('q'), Object.keys(a), a.__lookupGetter__({ toString: () => 'x' })()] })({})`,
			`5,7,5,1,,x,y,5`},
		{`[Object.prototype.__defineGetter__.length, Object.prototype.__lookupSetter__.name, Object.keys(Object.prototype).length]`, `2,__lookupSetter__,0`},
		{failure(`({}).__defineGetter__('x', 1)`), "TypeError"}, {failure(`Object.prototype.__lookupGetter__.call(null, 'x')`), "TypeError"}, {failure(`Object.freeze({}).__defineSetter__('x', () => 1)`), "TypeError"},
		{`((o) => [typeof o.__proto__, o.__proto__.name, Object.getPrototypeOf(o) === Object.prototype])({ __proto__() {} })`, `function,__proto__,true`},
		{`((o) => [o.__proto__, Object.getPrototypeOf(o)])({ __proto__: null, *__proto__() {}, async __proto__() {}, get __proto__() { return 3 } })`, `3,`},
		{failure(`eval('({ __proto__: null, "__proto__": null })')`), "SyntaxError"},
	})
}

// TestVarsInCatch checks vars that repeat the parameter of a catch clause around them: they assign the parameter.
func TestVarsInCatch(t *testing.T) {
	evalTexts(t, [][2]string{
		{`(() => { try { throw 1 } catch (e) { var e = 5, f = e + 1; var g = () => e } return [e, f, g()] })()`, `,6,5`},
		{`(() => { try { throw 1 } catch (e) { var e; return e } })()`, `1`},
		{`(() => { try { throw 1 } catch (e) { for (var e = 7, i = 0; i < 1; i++) i += e; { var e = e + 1 } return [e, i] } })()`, `8,8`},
		{`(() => { try { throw 1 } catch (e) { for (var e in { a: 1, b: 2 }); return e } })()`, `b`},
		{`(() => { try { throw 1 } catch (e) { return (() => { var e = 2; return e })() + e } })()`, `3`},
		{`(() => { try { throw 1 } catch (e) { var e = () => 1; return e.name } })()`, `e`},
		{failure(`eval('try {} catch (e) { for (var e of []); }')`), "SyntaxError"}, {failure(`eval('try {} catch ([e]) { var e }')`), "SyntaxError"}, {failure(`eval('try {} catch (e) { let e }')`), "SyntaxError"},
	})
}

// TestConversionsOnce checks that builtins with a check in front of them convert their arguments once, in the order of the language.
func TestConversionsOnce(t *testing.T) {
	const o = `(() => { let n = 0; return { valueOf() { return ++n * 2 }, toString() { return 'o' + ++n } } })()`
	evalTexts(t, [][2]string{
		{`'a'.repeat(` + o + `)`, `aa`}, {`'a'.padStart(` + o + `)`, ` a`}, {`'a'.padEnd(` + o + `, '-')`, `a-`}, {`String.prototype.repeat.call(` + o + `, 2)`, `o1o1`}, {`String.prototype.padEnd.call(` + o + `, 3)`, `o1 `},
		{`JSON.stringify([[[[1]]]].flat(` + o + `))`, `[[1]]`}, {`Array.from({ length: ` + o + ` }).length`, `2`}, {`String.raw({ raw: { length: ` + o + `, 0: 'a', 1: 'b', 2: 'c' } }, 1, 2)`, `a1b`},
		{`Math.max.apply(null, { length: ` + o + `, 0: 1, 1: 2, 2: 3 })`, `2`}, {`Reflect.apply(Math.max, null, { length: ` + o + `, 0: 1, 1: 2, 2: 3 })`, `2`}, {`Reflect.construct(Array, { length: ` + o + `, 0: 1, 1: 2, 2: 3 }).length`, `2`},
		{`(function () { return this.length }).apply({ length: [7] })`, `7`},
		{`(log => { const o = (name, value) => ({ toString() { log.push(name); return value }, valueOf() { log.push(name + 'V'); return {} } }); return [String.prototype.padStart.call(o('text', 'x'), o('length', '3'), o('fill', '-')), ...log] })([])`, `--x,text,lengthV,length,fill`},
		{failure(`String.prototype.repeat.call(null, { valueOf() { throw new RangeError() } })`), `TypeError`}, {failure(`Int8Array(Infinity)`), `TypeError`}, {failure(`ArrayBuffer(-1)`), `TypeError`}, {failure(`Map({ length: 2 ** 53 })`), `TypeError`},
		{failure(`Reflect.construct(Uint8Array, [Symbol()], Object.defineProperty(function () {}.bind(), 'prototype', { get() { throw new EvalError() } }))`), `TypeError`},
		{failure(`Reflect.construct(ArrayBuffer, [2 ** 52], Object.defineProperty(function () {}.bind(), 'prototype', { get() { throw new EvalError() } }))`), `EvalError`}, {failure(`new ArrayBuffer(2 ** 52)`), `RangeError`},
		{`[Object.getPrototypeOf(Promise.prototype), Reflect.getPrototypeOf(Promise.prototype), Promise.prototype.__proto__].every(p => p === Object.prototype)`, `true`},
	})
}

// TestOptionalCalls checks that optional chains that end early inside of calls leave the values around them alone.
func TestOptionalCalls(t *testing.T) {
	const names = `const n = null, f = undefined, o = { f(...a) { return this === o ? a.length : 'this?' }, h: x => y => [x, y], u: undefined };`
	for _, c := range [][2]string{
		{`() => [1, n?.(1)?.(3), 3]`, `1,,3`},
		{`() => [1, n?.(1)(3), 3]`, `1,,3`},
		{`() => [1, delete n?.(1).x, delete n?.(1)(2).x, 3]`, `1,true,true,3`},
		{`() => [1, f?.(...[1, 2]), 2]`, `1,,2`},
		{`() => [1, o.f?.(...[1, 2]), o?.f(...[1], 2), o?.['f']?.(...'abc'), 2]`, `1,2,2,3,2`},
		{`() => [1, n?.x(...[1]), n?.x(...[1]).y(...[2]), n?.[0](...[1])(...[2])(3), 2]`, `1,,,,2`},
		{`() => [1, o.h?.(1)(2), o.h?.(1)?.(2), o?.h(1)(2), o.h?.(...[1])(...[2]), 5]`, `1,1,2,1,2,1,2,1,2,5`},
		{`() => [1, o.u?.(1)(2), o.u?.(1)?.(2), o?.u?.(1)(2), o.u?.(...[1])(...[2]), 5]`, `1,,,,,5`},
		{`() => [1, (n?.x)(3)]`, `TypeError`},
		{`() => [1, (n?.x)?.(3), (n?.['x'])?.(...[1]), (o?.f)(1, 2), (o?.['f'])(...[1, 2, 3]), 5]`, `1,,,2,3,5`},
		{`() => { delete n?.(...[1]).x; delete n?.x(1)(2).y; return [delete n?.(...[1]).x, delete n?.x(1)(2)(...[3]).y, 4] }`, `true,true,4`},
		{`() => ((...a) => a)(0, n?.(...[1]), ...[2, n?.(1)(2)], n?.a.b.c(...[1])?.(...[2]), 4)`, `0,,2,,,4`},
		{`() => [1, n?.(...''), n?.(...[], ...''), o.f(...''), o.f?.(...'', ...''), n?.x(...[]), 2]`, `1,,,0,0,,2`},
		{`() => [1, o.h?.(n?.(...[1]))(n?.(1)(2)), [n?.(...[1])] + '', 2]`, `1,,,,2`},
		{`() => [1, new (class { constructor(...a) { this.n = a.length } })(...[1, n?.(...[2])]).n, new Map([[1, 2]]).get?.(...[1]), 3]`, `1,2,2,3`},
		{`() => [eval?.('1 + 1'), eval?.(...['2 + 2']), 3]`, `2,4,3`},
		{`() => { let c = 0; const r = []; for (let i = 0; i < 1000; i++) { r.push(f?.(...[c++]), n?.(c++)(c++)) } return [r.length, c, r.every(x => x === undefined)] }`, `2000,0,true`},
		{`() => { function* gen() { return [1, f?.(...[yield 1]), o.f?.(...[1, yield 2]), o.u?.(yield 3)(yield 4), 9] } const g = gen(), out = []; let r; while (!(r = g.next(5)).done) out.push(r.value); return [...out, ...r.value] }`, `2,1,,2,,9`},
		{`() => { class A { #p = (...a) => b => [a.length, b]; #q; static m(a) { return [1, a?.#p(...[1, 2])(3), a?.#q?.(1)(2), a?.#q?.(...[1]), (a?.#p)(1)(2), 9] } } return A.m(new A()) }`, `1,2,3,,,1,2,9`},
		{`() => { class B extends Object { m() { return [super.toString?.(...[]), super.none?.(...[1]), super.none?.(1)(2), 4] } } return new B().m() }`, `[object Object],,,4`},
		{`async () => [1, f?.(...[await 1]), await n?.(1)(2), o.f?.(...[await 1, 2]), o.u?.(await 1)(await 2), 3]`, `1,,,2,,3`},
	} {
		evalTexts(t, [][2]string{{`await (async () => { ` + names + ` const t = ` + c[0] + `; try { return await t() } catch (e) { return e.name } })()`, c[1]}})
	}
}

// TestDescriptorOfLength checks that Object.getOwnPropertyDescriptors lists the length of an array with its value.
func TestDescriptorOfLength(t *testing.T) {
	for array, want := range map[string]string{
		"[]": "0,true", "[1, 2]": "2,true", "new Array(7)": "7,true", "new Proxy([3], {})": "1,true", "Object.freeze([4])": "1,false",
		"class extends Array {}.of(1, 2, 3)": "3,true",
	} {
		const text = "(({ length: d }) => [Object.keys(d).join(), d.value, d.writable].join())(Object.getOwnPropertyDescriptors(%s))"
		evalTexts(t, [][2]string{{strings.ReplaceAll(text, "%s", array), "value,writable,enumerable,configurable," + want}})
	}
}
