// What structuredClone copies, and what it refuses.
const attempt = (what, fn) => {
  try { console.log(what, fn()) } catch (e) { console.log(what, e.name, e instanceof DOMException ? e.code : e.constructor.name) }
}
for (const v of [1, -0, NaN, 'a', 1n, true, null, undefined, Object(1), Object('s'), Object(false), new Date(5), new Date(NaN), /a.b/gi]) {
  const c = structuredClone(v)
  console.log(typeof c, Object.prototype.toString.call(c), v instanceof Date ? c.getTime() : String(c), Object.is(c, v))
}
const o = { n: 1, list: [1, , 3], 'a b': { deep: [new Date(0)] } }
o.self = o
const c = structuredClone(o)
console.log(c.self === c, c !== o, c.list.length, 1 in c.list, Object.keys(c).join(), c['a b'].deep[0].getTime(), Object.getPrototypeOf(structuredClone(Object.create({ up: 1 }))) === Object.prototype)
class P { constructor() { this.x = 1 } get y() { return 2 } }
const p = structuredClone(new P())
console.log(p instanceof P, p.x, p.y, JSON.stringify(structuredClone({ get g() { return 7 } })), JSON.stringify(structuredClone(Object.defineProperty({}, 'hidden', { value: 1 }))))
console.log(JSON.stringify(structuredClone(Object.assign([1], { extra: 2 }))), structuredClone(Object.assign([1], { extra: 2 })).extra, Object.keys(structuredClone({ [Symbol('s')]: 1, t: 2 })).join())
const proto = structuredClone(JSON.parse('{"__proto__": {"evil": 1}}'))
console.log(Object.hasOwn(proto, '__proto__'), proto.evil)
const m = new Map([[{ k: 1 }, 'v']]); m.set('me', m)
const cm = structuredClone(m)
console.log(cm instanceof Map, cm.size, cm.get('me') === cm, [...cm.keys()][0].k, structuredClone(new Set([1, 'a', m])).size, structuredClone(new (class extends Map {})([[1, 2]])).constructor.name)
const buffer = new ArrayBuffer(8), views = [new Uint8Array(buffer, 2, 3), new Float32Array(buffer), new DataView(buffer, 1, 4), new BigInt64Array(1)]
views[1][0] = 1.5
const cv = structuredClone({ views, buffer })
console.log(cv.views[0].buffer === cv.buffer, cv.buffer !== buffer, cv.views.map(v => [v.constructor.name, v.byteOffset, v.byteLength].join(' ')).join('; '), cv.views[1][0])
for (const e of [new Error('a'), new TypeError('b', { cause: 'c' }), Object.assign(new RangeError('c'), { extra: 1 }), new (class Mine extends Error { name = 'Mine' })('d'), Object.assign(new Error('e'), { name: 'URIError' }), new Error()]) {
  const copy = structuredClone(e)
  console.log(copy.constructor.name, copy.name, copy.message, copy.extra, Object.hasOwn(copy, 'message'), copy instanceof Error)
}
for (const [what, v] of Object.entries({
  function: () => 1, symbol: Symbol('x'), nested: { a: [() => 1] }, class: class {}, promise: Promise.resolve(), weak: new WeakMap(), weakset: new WeakSet(), proxy: new Proxy({}, {}),
  generator: (function* () {})(), iterator: [].values(), symbolObject: Object(Symbol('y')), method: { f() {} },
})) attempt(what, () => structuredClone(v))
attempt('arguments', () => JSON.stringify(structuredClone((function () { return arguments })(1, 2))))
attempt('getter', () => structuredClone({ get bad() { throw new RangeError('mine') } }))
attempt('nothing', () => structuredClone())
attempt('tag', () => JSON.stringify(structuredClone({ [Symbol.toStringTag]: 'Map', a: 1 })))
// moving
const moving = new Uint8Array([1, 2, 3])
const moved = structuredClone({ moving, n: 1 }, { transfer: [moving.buffer] })
console.log(moved.moving.join(), moving.length, moving.buffer.byteLength)
attempt('twice', () => { const b = new ArrayBuffer(1); return structuredClone(b, { transfer: [b, b] }) })
attempt('detached', () => structuredClone(moving.buffer))
attempt('no list', () => structuredClone(1, { transfer: 5 }))
attempt('not lost', () => { const b = new ArrayBuffer(4); try { structuredClone({ b, f() {} }, { transfer: [b] }) } catch {} return b.byteLength })
attempt('elsewhere', () => { const b = new ArrayBuffer(4); structuredClone(1, { transfer: [b] }); return b.byteLength })
