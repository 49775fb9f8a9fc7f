// node gen.mjs FROM TO DIRECTORY writes random programs, a module for each seed, to DIRECTORY/node and DIRECTORY/orepl, and
// driver.mjs beside them, which runs those that its arguments name and prints a line of their traces for each. The programs are
// the same, except that node's have try statements where the others have using declarations.
import { mkdirSync, writeFileSync } from 'node:fs'

const [from, to, directory] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4]]
let state, uid, depth, out, level, budget, vars, cx

const rnd = () => { state ^= state << 13; state ^= state >>> 17; state ^= state << 5; return state >>> 0 }
const int = n => rnd() % n, maybe = x => rnd() / 4294967296 < x, pick = list => list[int(list.length)]
const fresh = prefix => prefix + uid++
const line = text => out.push('  '.repeat(level) + text)
const indent = body => { level++; body(); level-- }
const scoped = body => { const n = vars.length; body(); vars.length = n }
const of = kinds => vars.filter(v => kinds.includes(v.kind))
const variable = (kind, otherwise) => { const list = of(kind); return list.length > 0 && maybe(.7) ? pick(list).name : otherwise() }

// Expressions by kind: n number, b boolean, s text, a array of numbers, g BigInt, o anything.
const numbers = ['0', '1', '(-1)', '2', '3', '7', '0.5', '(-0)', '100', '255', '1e21', '(2 ** 31)', '(-(2 ** 33))', '4294967296.5', 'NaN', 'Infinity', '1e400', '5e-324']
const texts = ["''", "'ab'", "'CRLF\\r\\nsecond\\r\\n'", "'k1=v1;k2='", "'Aé😀z'", "'\\ud83d'", "'İıſK'", "'a\\u2028b'", "'ΑΣ'", "'x'.repeat(9)", "'12px'"]
const patterns = ['/^./gm', '/.$/gm', '/(?:(a)|b)+/', '/(\\w)(\\d)?/g', '/\\bsecond\\b/', '/[^\\n]+/g', '/./u', '/./gu', '/\\u{1F600}/u', '/(?<k>k)(?<n>\\d)/', '/a|ab/g', '/(?<=k)\\d/g', '/(?!a)./',
  '/s/i', '/k/iu', '/[a-z]/gi', '/\\s+/g', '/(z)?(a)?/', '/(a*)*/', '/^\\s*$/m', '/x{2,3}?/', '/\\W/g', '/((a)|(b))*/', '/σ/i', '/[\\r\\n]+/', '/\\S/y', '/(?:)/g']
// The last digits of powers and of arcs are left open by the language.
const rounded = (what, text) => ['**', 'atan2'].includes(what) ? `Math.fround(${text})` : text

function N(d) {
  if (d <= 0 || maybe(.2)) return variable('n', () => pick(numbers))
  switch (int(18)) {
    case 0: case 1: { const x = N(d - 1), op = pick(['+', '-', '*', '/', '%', '**']); return rounded(op, `(${x} ${op} ${N(d - 1)})`) }
    case 2: return `(${N(d - 1)} ${pick(['|', '&', '^', '<<', '>>', '>>>'])} ${N(d - 1)})`
    case 3: return `(${B(d - 1)} ? ${N(d - 1)} : ${N(d - 1)})`
    case 4: { const f = pick(['min', 'max', 'imul', 'atan2']); return rounded(f, `Math.${f}(${N(d - 1)}, ${N(d - 1)})`) }
    case 5: return `Math.${pick(['abs', 'floor', 'trunc', 'sign', 'round', 'ceil', 'clz32', 'fround'])}(${N(d - 1)})`
    case 6: return `${pick([A, S])(d - 1)}.length`
    case 7: return `${A(d - 1)}.reduce((p, q) => ${maybe(.5) ? 'p + q' : 'p - q'}, ${pick(numbers)})`
    case 8: return `(~~${N(d - 1)})`
    case 9: return `${S(d - 1)}.${pick(["indexOf('a')", "codePointAt(0)", "charCodeAt(1)", `search(${pick(patterns)})`, "lastIndexOf('')", 'length'])}`
    case 10: return `Number(${S(d - 1)})`
    case 11: return `parse${pick(['Int', 'Float'])}(${S(d - 1)})`
    case 12: return `new ${pick(['Int8', 'Uint8', 'Uint8Clamped', 'Int16', 'Int32', 'Uint32', 'Float32', 'Float64'])}Array([${N(d - 1)}, ${N(d - 1)}])[${int(3)}]`
    case 13: return `Number(BigInt.${pick(['asIntN', 'asUintN'])}(${pick(['8', '32', '64', '5'])}, ${G(d - 1)}))`
    case 14: return `(() => { try { return ${N(d - 1)} } finally { ${maybe(.3) ? `log('fin')` : ''} } })()`
    case 15: return `(function () { return (() => arguments.length + ${N(d - 1)})() })(${A(d - 1)}, 2)`
    case 16: return `${A(d - 1)}.${pick(['indexOf', 'lastIndexOf', 'findIndex'])}(${maybe(.5) ? N(0) : 'q => q > 1'})`.replace(/(indexOf|lastIndexOf)\(q =>.*\)$/, '$1(1)').replace(/findIndex\((?!q)[^]*$/, 'findIndex(q => q < 2)')
    default: return `[${N(d - 1)}, ${N(d - 1)}].at(${pick(['-1', '0', '5'])})`
  }
}
function B(d) {
  if (d <= 0) return pick(['true', 'false', `(${pick(numbers)} < ${pick(numbers)})`])
  switch (int(9)) {
    case 0: return `(${N(d - 1)} ${pick(['<', '>', '<=', '>=', '===', '!=='])} ${N(d - 1)})`
    case 1: return `(${B(d - 1)} ${pick(['&&', '||'])} ${B(d - 1)})`
    case 2: return `(!${B(d - 1)})`
    case 3: return `${A(d - 1)}.includes(${N(d - 1)})`
    case 4: return `(${O()} ${pick(['==', '!=', '===', '!=='])} ${O()})`
    case 5: return `${pick(patterns)}.test(${S(d - 1)})`
    case 6: return `(${G(d - 1)} ${pick(['<', '==', '>='])} ${N(d - 1)})`
    case 7: return `Object.is(${N(d - 1)}, ${N(d - 1)})`
    default: return `(${pick(["'length'", "'0'", "'x'"])} in ${A(d - 1)})`
  }
}
function S(d) {
  if (d <= 0) return variable('s', () => pick(texts))
  switch (int(15)) {
    case 0: return `(${S(d - 1)} + ${pick([N, S])(d - 1)})`
    case 1: return '`${' + N(d - 1) + '}:${' + S(d - 1) + '}`'
    case 2: return `${S(d - 1)}.replace(${pick(patterns)}, ${pick(["'[$&]'", "'<$1>'", "(...m) => m.length + String(m[1])", "'$`|$\\''"])})`
    case 3: return `String(${N(d - 1)})`
    case 4: return `JSON.stringify(${pick([A, O, S])(d - 1)})`
    case 5: return `[...${S(d - 1)}].join('_')`
    case 6: return `${A(d - 1)}.join('|')`
    case 7: return `${S(d - 1)}.${pick(['toUpperCase()', 'toLowerCase()', 'trim()', 'trimEnd()', 'slice(1)', 'slice(-2)', "padStart(6, 'ab')", "replaceAll('a', '$&$&')", "normalize('NFD')", 'concat(1)', 'substring(2, 0)'])}`
    case 8: return `${S(d - 1)}.split(${pick([...patterns, "''", "';'"])}).map(String).join('~')`
    case 9: return `(${S(d - 1)}.match(${pick(patterns)}) ?? ['none']).map(String).join('+')`
    case 10: return `[...${S(d - 1)}.matchAll(${pick(patterns.filter(p => /\/\w*g\w*$/.test(p)))})].map(m => m.index + ':' + m).join()`
    case 11: return `(${N(d - 1)}).toString(${pick(['', '', '', ''])})`
    case 12: return `String(${G(d - 1)})`
    case 13: return `(x => x.toFixed(${int(4)}) + x.toPrecision(${1 + int(6)}) + x.toExponential(2))(${N(d - 1)})`
    default: return `tag\`a\${${N(d - 1)}}\\n\${${S(d - 1)}}\``
  }
}
function A(d) {
  if (d <= 0) return variable('a', () => pick(['[1, 2, 3]', '[]', '[5, -1, 5]', '[0.5, -0]', '[NaN]', '[3, , 1]']))
  switch (int(14)) {
    case 0: return `[${N(d - 1)}, ...${A(d - 1)}]`
    case 1: return `${A(d - 1)}.map((m, i) => ${maybe(.5) ? 'm + i' : N(d - 1)})`
    case 2: return `${A(d - 1)}.filter(x => x ${pick(['>', '<', '!=='])} ${N(d - 1)})`
    case 3: return `${A(d - 1)}.${pick(['slice(1)', 'toSorted((a, b) => b - a)', 'concat([9])', 'toReversed()', 'flat()', 'toSpliced(1, 1, 8)', 'fill(4, 1)', 'copyWithin(0, 1)', 'sort()'])}`
    case 4: return `Array.from({ length: ${int(4)} }, (_, i) => ${N(d - 1)})`
    case 5: return `Object.values({ b: ${N(d - 1)}, 1: ${N(d - 1)}, a: 2 })`
    case 6: return `[...new Set(${A(d - 1)})]`
    case 7: return `[...(function* () { const x = yield ${N(d - 1)}; yield* ${A(d - 1)}; return x })()]`
    case 8: return `[...new ${pick(['Int8', 'Uint16', 'Float32', 'Uint8Clamped'])}Array(${A(d - 1)}).${pick(['map(x => x * 2)', 'subarray(1)', 'sort()', 'with(0, 3)', 'reverse()'])}]`.replace(/\.with\(0, 3\)/, '.slice(0, 1)')
    case 9: return `[...${A(d - 1)}.entries()].flat()`
    case 10: return `(([x = 7, , ...y]) => [x, ...y])(${A(d - 1)})`
    case 11: return `[...new Map(${A(d - 1)}.map(x => [x, ${N(d - 1)}])).values()]`
    case 12: return `(function (...r) { return [...arguments, ...r] })(${N(d - 1)}, ${N(d - 1)})`
    default: return `new Proxy(${A(d - 1)}, {}).map(x => x)`
  }
}
function G(d) {
  if (d <= 0) return variable('g', () => pick(['0n', '1n', '(-1n)', '7n', '(2n ** 64n)', '(-(2n ** 63n))', '0xffn', '(10n ** 20n)']))
  switch (int(6)) {
    case 0: return `(${G(d - 1)} ${pick(['+', '-', '*', '|', '&', '^'])} ${G(d - 1)})`
    case 1: return `(${G(d - 1)} ${pick(['/', '%'])} ${pick(['3n', '-7n', '2n'])})`
    case 2: return `(${G(d - 1)} ${pick(['<<', '>>'])} ${pick(['1n', '3n', '-2n'])})`
    case 3: return `(-${G(d - 1)})`
    case 4: return `BigInt(Math.trunc(Math.min(1e9, Math.max(-1e9, ${N(d - 1)} || 0))))`
    default: return `new Big${pick(['Int', 'Uint'])}64Array([${G(d - 1)}])[0]`
  }
}
const O = () => pick([() => pick(['null', 'undefined', 'true', "'1'", '1', '0', "''", '1n', '[]', '{}', "'a'", 'NaN', '[1]', '({ toString() { return 1 } })', '({ valueOf: () => 2 })']).replace(/^\{\}$/, '({})'), () => N(1), () => S(1)])()
const kinds = { n: N, s: S, a: A, g: G }
const E = kind => kinds[kind](2)

const kindOf = () => pick(['n', 'n', 's', 'a', 'a', 'g'])
function declare() {
  const kind = kindOf(), name = fresh('v'), mutable = maybe(.6)
  line(`${mutable ? pick(['let', 'let', 'var']) : 'const'} ${name} = ${E(kind)}`)
  vars.push({ name, kind, mutable })
}
function body(n) { indent(() => scoped(() => { for (let i = 0; i < n; i++) statement() })) }

// cx is what surrounds a statement: { async, generator, fn, loops, top, cls }.
function within(change, run) { const outer = cx; cx = { ...cx, ...change }; run(); cx = outer }
const element = () => pick([() => A(1), () => `[Promise.resolve(${N(1)}), ${N(1)}]`, () => `trace('${fresh('t')}', ${A(1)})`, () => `traceAsync('${fresh('t')}', ${A(1)})`,
  () => `(async function* () { try { yield ${N(1)}; yield ${N(1)}; ${maybe(.3) ? "throw new RangeError('r')" : 'return 3'} } finally { log('closed') } })()`,
  () => `[1, rejected()]`])()

function jump() {
  if (cx.loops.length > 0 && maybe(.6)) { const l = pick(cx.loops); return line(`if (${B(1)}) ${pick(['continue', 'break'])}${l ? ' ' + l : ''}`) }
  if (cx.fn && maybe(.7)) return line(`if (${B(1)}) return ${N(1)}`)
  line(`if (${B(1)}) throw new ${pick(['Error', 'RangeError'])}('${fresh('e')}')`)
}
function loop() {
  const label = maybe(.4) ? fresh('L') : '', head = label ? label + ': ' : '', name = fresh('i')
  const go = () => { within({ loops: [...cx.loops, label] }, () => { body(1 + int(3)); if (maybe(.4)) indent(jump) }); line('}') }
  scoped(() => {
    const n = { name, kind: 'n' }
    switch (int(cx.async ? 11 : 8)) {
      case 0: line(`${head}for (let ${name} = 0; ${name} < ${1 + int(3)}; ${name}++) {`); vars.push(n); return go()
      case 1: line(`${head}for (${pick(['const', 'let', 'var'])} ${name} of ${maybe(.5) ? A(1) : `trace('${fresh('t')}', ${A(1)})`}) {`); vars.push(n); return go()
      case 2: line(`${head}for (const ${name} in { a: 1, 2: 2, b: 3 }) {`); vars.push({ name, kind: 's' }); return go()
      case 3: line(`let ${name} = ${int(4)}`); vars.push(n); line(`${head}while (${name}-- > 0) {`); return go()
      case 4: { const fs = fresh('fs'); return line(`const ${fs} = []; for (let ${name} = 0; ${name} < 3; ${name}++) { ${fs}.push(() => ${name}); ${maybe(.3) ? name + '++' : ''} } log(${fs}.map(f => f()))`) }
      case 5: { const x = fresh('x'), y = fresh('y'); line(`${head}for (const [${x}, { z: ${y} = ${x}.length, ...rest } = {}] of Object.entries({ ab: { z: ${N(1)}, w: 1 }, c: {} })) {`); indent(() => line('log(rest)')); vars.push({ name: x, kind: 's' }, { name: y, kind: 'n' }); return go() }
      case 6: line(`let ${name} = 0`); line(`${head}do {`); vars.push(n); within({ loops: [...cx.loops, label] }, () => body(2)); return line(`} while (++${name} < 2)`)
      case 7: { const t = fresh('t'); line(`let ${t} = {}`); line(`${head}for (${pick([`${t}.p`, `[${t}.p]`, `{ length: ${t}.p }`])} of ['ab', 'c']) {`); indent(() => line(`log(${t})`)); return go() }
      default: { const binding = pick([name, name, `[${name} = 1]`]); line(`${head}for await (${pick(['const', 'let', 'var'])} ${binding} of ${binding === name ? element() : '[[1], [2]]'}) {`); vars.push({ name, kind: 'o' }); return go() }
    }
  })
}
function parameters(a, b) {
  return pick([
    { text: `${a}, ${b}`, args: () => `${N(1)}, ${N(1)}` },
    { text: `${a}, ${b} = ${a} + 1`, args: () => maybe(.5) ? N(1) : `${N(1)}, ${N(1)}` },
    { text: `{ x: ${a} = ${N(0)}, ...${fresh('r')} } = {}, [${b} = ${a}] = []`, args: () => pick(['', `{ x: ${N(1)} }, [${N(1)}]`, '{}, []', 'undefined, new Set([4])']) },
    { text: `${a} = arguments.length, ${b} = (() => arguments[0])()`, args: () => pick(['', N(1)]), regular: true },
    { text: `${a}, ...[${b} = 2]`, args: () => `${N(1)}` },
  ])
}
function callable(prefix, gen, isAsync, arrow) { // declares a function with a body and returns the text of its arguments
  const a = fresh('a'), b = fresh('b')
  let p = parameters(a, b)
  while (p.regular && (arrow || cx.cls)) p = parameters(a, b)
  line(prefix(p.text))
  within({ async: isAsync, generator: gen, fn: true, loops: [], top: false }, () => scoped(() => indent(() => {
    vars.push({ name: a, kind: 'n', mutable: true }, { name: b, kind: 'n', mutable: true })
    const n = 1 + int(3)
    for (let i = 0; i < n; i++) statement()
    if (maybe(.7)) line(`return ${N(2)}`)
  })))
  return p.args()
}
const use = (call, gen, isAsync) => {
  if (gen && isAsync) { if (!cx.async) return line(`log(typeof ${call})`); const y = fresh('y'); line(`for await (const ${y} of ${call}) { log('y', ${y}); if (${B(1)}) break }`); return }
  if (gen) return line(`log([...${call}])`)
  if (isAsync) return line(cx.async ? `log(await ${call})` : `${call}.then(() => 0, () => 0)`)
  line(`log(${call})`)
}
function func() {
  const f = fresh('f'), isAsync = maybe(.45), gen = maybe(.35)
  if (maybe(.25) && !gen) { const args = callable(p => `const ${f} = ${isAsync ? 'async ' : ''}(${p}) => {`, false, isAsync, true); line('}'); return use(`${f}(${args})`, false, isAsync) }
  const head = `${isAsync ? 'async ' : ''}function${gen ? '*' : ''} `
  if (maybe(.3)) { line(`const o${f} = {`); level++; const args = callable(p => `${isAsync ? 'async ' : ''}${gen ? '*' : ''}${pick([f, `['${f}']`])}(${p}) {`, gen, isAsync); line('}'); level--; line('}'); return use(`o${f}.${f}(${args})`, gen, isAsync) }
  const args = callable(p => `${head}${f}(${p}) {`, gen, isAsync)
  line('}')
  use(`${f}(${args})`, gen, isAsync)
  if (maybe(.2)) line(`log(${f}.name, ${f}.length)`)
}
function argumentsUse() {
  const f = fresh('f')
  line(`${pick(['function ', 'function ', `const ${f} = function `])}${f}(a, b) {`)
  indent(() => {
    line(pick([`const g = () => arguments.length`, `const g = () => () => arguments[0]`, `const g = (x = arguments.length) => x`, `const g = () => [...arguments].concat(a)`]))
    line(`const h = ${pick(['function () { return arguments.length }', '() => typeof arguments', '({ m() { return (() => arguments.length)() } }).m'])}`)
    line(`return [g(), h(1), ${pick(['typeof this', 'new.target === undefined', 'arguments[1]', 'Array.prototype.slice.call(arguments, 1)'])}]`)
  })
  line('}')
  line(`log(${f}(${N(1)}, ${N(1)}, 3))`)
}
function cls() {
  const c = fresh('C'), isAsync = maybe(.4), gen = maybe(.3), m = pick(['m', 'import', 'get', 'static', 'async', "'a b'", '[`m${1}`]', '#m'])
  line(`class ${c} ${maybe(.3) ? `extends ${pick(['Array', 'Map', 'Error', 'Object'])} ` : ''}{`)
  const access = m.startsWith("'") || m.startsWith('[') ? (m.startsWith('[') ? "['m1']" : "['a b']") : '.' + m
  let args
  indent(() => {
    line(`#h = ${N(1)}; pub = this.#h + 1; static n = ${N(1)}; static { this.n += 1 } [${pick(["'k'", 'Symbol.iterator', '1 + 1'])}] = ${N(0)};`)
    line(`get h() { return this.#h } set h(v) { this.#h = v; log('set', v) } static has(o) { return #h in o }`)
    line(`arrow = () => this.pub; ${maybe(.3) ? "field = eval('1 + 1');" : ''} static s = ${pick(['this.n', '(() => this.n)()', "'s'"])};`)
    within({ cls: true }, () => { args = callable(p => `${isAsync ? 'async ' : ''}${gen ? '*' : ''}${m}(${p}) {`, gen, isAsync) })
    line('}')
    line(`call(...a) { return this${access}(...a) }`)
  })
  line('}')
  const o = fresh('o')
  line(`const ${o} = new ${c}(); ${o}.h += 2; log(${o}.h, ${o}.pub, ${c}.n, ${c}.has(${o}), ${c}.has([]), ${o}.arrow(), ${c}.s)`)
  use(`${o}.call(${args})`, gen, isAsync)
  if (maybe(.5) && !gen) { line(`class ${c}D extends ${c} { call(...a) { const s = super.call(...a); s?.catch?.(() => {}); return typeof s } get h() { return super.h * 2 } set h(v) { super.h = v } static n = super.n + 1 }`); line(`{ const d = new ${c}D(); log(d.call(${args}), d.h, ${c}D.n) }`) }
}
function usingBlock() { // the two texts differ
  const a = fresh('r'), b = fresh('r'), isAsync = cx.async && maybe(.5), mark = isAsync && maybe(.5)
  const R = n => `R('${n}'${isAsync ? ', true' : ''})`
  const key = isAsync ? 'asyncDispose' : 'dispose', word = isAsync ? 'await using' : 'using', wait = isAsync ? 'await ' : ''
  const open = n => `const ${n} = ${R(n)}; let ${n}e; try {`
  const close = n => `} catch (e) { ${n}e = { e }; throw e } finally { try { ${wait}${n}[Symbol.${key}]() } catch (e) { throw ${n}e ? new SuppressedError(e, ${n}e.e) : e } }`
  out.push({ orepl: `{ ${word} ${a} = ${R(a)}, ${b} = ${R(b)}`, node: `{ ${open(a)} ${open(b)}` })
  body(1 + int(2))
  if (maybe(.4)) indent(jump)
  out.push({ orepl: '}', node: `${close(b)} ${close(a)} }` })
}
function proxies() {
  const p = fresh('p')
  line(`const ${p} = new Proxy(${pick(['function (a) { return a }', '(...a) => a.length', 'class { constructor(a) { this.a = a } }', '{ x: 1 }'])}, {`)
  indent(() => {
    line(`get(t, k, r) { log('get', String(k)); return Reflect.get(t, k, r) }, has(t, k) { log('has', String(k)); return k in t }, ownKeys(t) { log('keys'); return Reflect.ownKeys(t) },`)
    line(`set(t, k, v, r) { log('set', String(k), v); return Reflect.set(t, k, v, r) }, deleteProperty(t, k) { log('delete', String(k)); return delete t[k] },`)
    line(`apply(t, self, args) { kept.push(args); log('apply', args); return Reflect.apply(t, self, args) }, construct(t, args, n) { kept.push(args); log('construct', args); return Reflect.construct(t, args, n) },`)
  })
  line('})')
  line(`try { log(${pick([`${p}(${N(1)}, 2)`, `new ${p}(${N(1)})`, `'x' in ${p}`, `${p}.x`, `(${p}.y = ${N(1)}, ${p}.y)`, `delete ${p}.z`, `Object.keys(${p})`, `${p}?.(1)`])}) } catch (e) { log(e.name) }`)
  line(`log(((x, y, z) => x + y + z)(7, 8, 9), kept)`)
}
function promises() {
  const list = `[${pick(['1', 'Promise.resolve(2)', "Promise.reject(new Error('no'))"])}, ${pick(['(async () => 3)()', "(async () => { throw new RangeError('r') })()"])}, { then(f) { f(4) } }]`
  line(`try { log(await Promise.${pick(['all', 'allSettled', 'any', 'race'])}(${list})) } catch (e) { log(e.name, e.errors?.length) }`)
}
function modules(imports) {
  const name = fresh('M')
  const f = pick([
    { text: `export let count = 1; export const bump = () => ++count; export default class { }; export function later() { return typeof bump }`, use: `${name}.bump(), ${name}.count, ${name}.default.name, ${name}.later(), Object.keys(${name})` },
    { text: `export * from './${'%'}b.mjs'; export { one as 'a b', default as d } from './${'%'}b.mjs'; export * as ns from './${'%'}b.mjs'`, extra: `export const one = 1; export default async function* () { yield 1 }; export { one as two }`, use: `Object.keys(${name}), ${name}['a b'], ${name}.ns.two, ${name}.d.name` },
    { text: `await 0; export const v = await Promise.resolve(${N(1)}); export { v as \\u03bc }; export { v as default }`, use: `${name}.v, ${name}.μ, Object.prototype.toString.call(${name})` },
    { text: `import { b, setB } from './${'%'}b.mjs'; export const a = () => typeof b; setB(5); export { b }`, extra: `import { a } from './%.mjs'; export let b = 1; export const setB = v => { b = v }; export const viaA = () => a()`, use: `${name}.a(), ${name}.b` },
  ])
  imports.push(f)
  f.name = name
  line(`log(${f.use})`)
}
function statement() {
  if (--budget < 0) return line(`log(${N(1)})`)
  switch (int(25)) {
    case 0: case 1: case 2: return declare()
    case 3: case 4: return line(`log(${pick([N, S, A, G, B, O])(2)})`)
    case 5: { const list = vars.filter(v => v.mutable); if (list.length === 0) return declare(); const v = pick(list); if (!(v.kind === 'n' && maybe(.5))) return line(`${v.name} = ${E(v.kind)}`); const op = pick(['+=', '-=', '*=', '|=', '??=', '||=', '&&=', '>>>=', '**=']); return line(`${v.name} ${op} ${N(1)}${op === '**=' ? `; ${v.name} = Math.fround(${v.name})` : ''}`) }
    case 6: line(`if (${B(2)}) {`); body(1 + int(2)); if (maybe(.5)) { line('} else {'); body(1) } return line('}')
    case 7: case 8: case 9: case 10: return loop()
    case 11: case 12: if (depth < 3) { depth++; func(); depth--; return } return declare()
    case 13: {
      line('try {'); body(1 + int(2))
      indent(() => line(maybe(.5) ? `if (${B(1)}) throw new ${pick(['Error', 'TypeError', 'RangeError'])}('${fresh('e')}')` : pick(['null.x', 'undefinedName', '(1).toFixed(200)', "JSON.parse('{')", '[].reduce((a, b) => a)', 'new Array(-1)', "Symbol() + ''", '1n + 1', "decodeURIComponent('%')", "BigInt(1.5)", "'a'.repeat(-1)", 'let q = q', 'null[Symbol.iterator]', 'const [z] = 1', "new RegExp('(')", 'structuredClone(() => 1)', "x$y = 1"])))
      const e = fresh('err')
      if (maybe(.85)) { line(`} catch (${pick([e, e, `{ name: ${e} }`])}) {`); indent(() => line(`log('caught', ${e}.name ?? ${e})`)); body(1) } else line('} catch {')
      if (maybe(.4)) { line('} finally {'); indent(() => line("log('finally')")); if (maybe(.2) && cx.fn) indent(jump) }
      return line('}')
    }
    case 14: { line(`switch (${N(1)}) {`); indent(() => { line(`case ${pick(numbers)}:`); body(1); if (maybe(.5)) line('  break'); line('default:'); const f = fresh('sf'); line(`  log(typeof ${f})`); line(`case ${pick(numbers)}:`); line(`  function ${f}() { return ${N(1)} }`); line(`  log(${f}())`) }); return line('}') }
    case 15: { const a = fresh('x'), b = fresh('x'), c = fresh('x'); line(`let [${a}, ${b} = ${N(1)}, ...${c}] = ${A(1)}.concat(${N(1)})`); line(`;[${a}, ${b}] = [${b}, ${a}]`); line(`log(${a}, ${b}, ${c})`); return }
    case 16: if (cx.generator) return line(pick([`log(yield ${N(1)})`, `yield* ${A(1)}`, `yield ${N(1)}`])); return declare()
    case 17: if (cx.async) { const w = fresh('w'); line(`const ${w} = await ${pick([`Promise.resolve(${N(1)})`, `(async () => ${N(1)})()`, N(1), `{ then(f) { f(${N(1)}) } }`])}`); vars.push({ name: w, kind: 'n' }); return } return declare()
    case 18: { line('{'); const f = fresh('bf'); indent(() => { line(`log(${f}(${N(1)}))`); line(`${pick(['function', 'function', 'async function', 'function*'])} ${f}(q) { return q + 1 }`.replace(/^(async function|function\*)( \w+)\(q\).*/, (_, w, n) => `${w}${n}(q) { } log(typeof ${n.trim()})`)); }); body(1); return line('}') }
    case 19: return argumentsUse()
    case 20: if (depth < 2) { depth++; cls(); depth--; return } return declare()
    case 21: return usingBlock()
    case 22: return proxies()
    case 23: if (cx.async) return promises(); return declare()
    default: return line(`log(${O()}, ${S(2)})`)
  }
}
const driver = `globalThis.SuppressedError ??= class SuppressedError extends Error { name = 'SuppressedError'; constructor(error, suppressed) { super(); this.error = error; this.suppressed = suppressed } }
if (Symbol.dispose === undefined) for (const k of ['dispose', 'asyncDispose']) Object.defineProperty(Symbol, k, { value: Symbol(k) })
const fmt = (v, d = 0) => typeof v === 'bigint' ? v + 'n' : Object.is(v, -0) ? '-0' : typeof v === 'string' ? JSON.stringify(v) : typeof v === 'symbol' ? 'symbol' : typeof v === 'function' ? 'function' :
  Array.isArray(v) ? '[' + Array.from(v, (x, i) => i in v ? fmt(x, d + 1) : '').join() + ']' : typeof v === 'object' && v !== null ? d > 3 ? '{…}' : '{' + Object.keys(v).map(k => k + ':' + fmt(v[k], d + 1)).join() + '}' : String(v)
globalThis.rejected = () => { const p = Promise.reject(new TypeError('rejected')); p.catch(() => {}); return p }
globalThis.tag = (s, ...v) => s.raw.join('|') + v.join('&') + s.length
globalThis.R = (n, wait) => ({ [wait ? Symbol.asyncDispose : Symbol.dispose]() { log('dispose', n); if (wait) return Promise.resolve() } })
globalThis.trace = (n, list) => ({ [Symbol.iterator]() { const it = list[Symbol.iterator](); return { next() { return it.next() }, return(v) { log('return', n); return { done: true, value: v } } } } })
globalThis.traceAsync = (n, list) => ({ [Symbol.asyncIterator]() { const it = list[Symbol.iterator](); return { async next() { return it.next() }, async return(v) { log('return', n); return { done: true, value: v } } } } })
export default async (folder, seeds) => {
  for (const seed of seeds) {
    const lines = [], kept = []
    globalThis.kept = kept
    globalThis.log = (...a) => { if (lines.push(a.map(x => fmt(x)).join(' ')) > 600) throw new Error('enough') }
    let end = ''
    try { await import('./' + folder + '/' + seed + '.mjs') } catch (e) { end = 'END ' + e.name }
    for (let i = 0; i < 1000; i++) await 0 // functions that nobody awaits end before the next program begins
    lines.push(end)
    console.log(seed + ' ' + JSON.stringify(lines))
  }
}
`
for (const folder of ['node', 'orepl']) mkdirSync(`${directory}/${folder}`, { recursive: true })
for (let seed = from; seed < to; seed++) {
  state = (Math.imul(seed, 2654435761) ^ 0x9e3779b9) | 0 || 1
  for (let i = 0; i < 8; i++) rnd()
  uid = 0; depth = 0; level = 0; out = []; vars = []; budget = 45
  cx = { async: true, generator: false, fn: false, loops: [], top: true }
  const imports = []
  const whole = maybe(.5)
  if (!whole) { line('try {'); level++ }
  const n = 5 + int(9)
  for (let i = 0; i < n; i++) statement()
  if (whole && maybe(.3)) modules(imports)
  if (!whole) { level--; line("} catch (e) { log('END', e.name) }") }
  for (const folder of ['node', 'orepl']) {
    const text = out.map(x => typeof x === 'string' ? x : x[folder]).join('\n')
    const heads = imports.map((f, i) => {
      const file = `${seed}m${i}`
      const put = (name, text) => writeFileSync(`${directory}/${folder}/${name}.mjs`, text.replaceAll('%', file) + '\n')
      put(file, f.text)
      if (f.extra) put(file + 'b', f.extra)
      return `import * as ${f.name} from './${file}.mjs'\n`
    })
    writeFileSync(`${directory}/${folder}/${seed}.mjs`, heads.join('') + text + '\n')
  }
}
writeFileSync(`${directory}/driver.mjs`, driver)
const seeds = Array.from({ length: to - from }, (_, i) => from + i)
const keep = { node: "process.on('unhandledRejection', () => {}) // functions that nobody awaits\n", orepl: '' }
for (const folder of ['node', 'orepl']) writeFileSync(`${directory}/run-${folder}.mjs`, `import run from './driver.mjs'\n${keep[folder]}await run('${folder}', ${JSON.stringify(seeds)})\n`)
