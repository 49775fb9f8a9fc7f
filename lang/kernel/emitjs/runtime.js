// The runtime of emitted kernels. Values: i32 and u32 are Numbers, i64 and u64 BigInts, f32 and f64 Numbers, bool booleans.

/** A fault of a work-item, thrown at its place. */
class Fault extends Error {
  constructor(kind, site, more = {}) {
    super(kind)
    Object.assign(this, { kind, site }, more)
  }
}

// ---- Rounding ------------------------------------------------------------------------------------------------------

const bytes8 = new DataView(new ArrayBuffer(8))

/** A finite float as an exact m·2^e with a BigInt m. */
function exact(x) {
  bytes8.setFloat64(0, x)
  const b = bytes8.getBigUint64(0)
  const e = Number(b >> 52n & 0x7ffn)
  const m = (b & 0xfffffffffffffn) | (e ? 0x10000000000000n : 0n)
  return [x < 0 ? -m : m, (e || 1) - 1075]
}

function bitLength(m) {
  return m === 0n ? 0 : m.toString(2).length
}

/** m·2^e for a BigInt m that is not 0, rounded once to a float with a precision in bits and a least exponent. */
function roundExact(m, e, precision, least, greatest) {
  const sign = m < 0n ? -1 : 1
  if (m < 0n) m = -m
  const drop = Math.max(bitLength(m) - precision, least - e)
  if (drop > 0) {
    const rest = m & ((1n << BigInt(drop)) - 1n)
    const half = 1n << BigInt(drop - 1)
    m >>= BigInt(drop)
    if (rest > half || (rest === half && (m & 1n))) m += 1n
    e += drop
  }
  if (bitLength(m) + e > greatest) return sign * Infinity
  // Two factors, since 2^e alone may be too small for a float.
  const down = Math.trunc(e / 2)
  return sign * Number(m) * 2 ** down * 2 ** (e - down)
}

const roundF64 = (m, e) => roundExact(m, e, 53, -1074, 1024)
const roundF32 = (m, e) => roundExact(m, e, 24, -149, 128)

function fma(a, b, c, round) {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a * b + c
  if (!Number.isFinite(c)) return c
  if (a === 0 || b === 0) return a * b + c
  const [ma, ea] = exact(a)
  const [mb, eb] = exact(b)
  const [mc, ec] = exact(c)
  const e = Math.min(ea + eb, ec)
  const m = (ma * mb << BigInt(ea + eb - e)) + (mc << BigInt(ec - e))
  if (m === 0n) return 0
  return round(m, e)
}
const fma_f64 = (a, b, c) => fma(a, b, c, roundF64)
const fma_f32 = (a, b, c) => fma(a, b, c, roundF32)

function rint(x) {
  const f = Math.floor(x)
  const d = x - f
  const r = d < 0.5 ? f : d > 0.5 ? f + 1 : f % 2 === 0 ? f : f + 1
  return r === 0 ? x * 0 : Number.isFinite(x) ? r : x
}

/** x rounded to a narrow float: its precision in bits, the least exponent of its unit, and the bound of its values. */
function narrow(x, precision, least, beyond) {
  if (x !== x) return NaN
  if (x === 0 || !Number.isFinite(x)) return x
  const [m, e] = exact(x)
  const unit = 2 ** Math.max(bitLength(m < 0n ? -m : m) + e - precision, least)
  const r = rint(x / unit) * unit
  return Math.abs(r) >= beyond ? Math.sign(r) * Infinity : r
}
/** Any NaN as JavaScript's NaN, which has the canonical bits. */
const quant_f32 = x => x === x ? x : NaN
const quant_f64 = quant_f32
const quant_f16 = x => narrow(x, 11, -24, 65536)
const quant_bf16 = x => narrow(x, 8, -133, 2 ** 128)

function f16FromBits(b) {
  const e = b >> 10 & 31
  const m = b & 1023
  const v = e === 31 ? (m ? NaN : Infinity) : e ? (1024 + m) * 2 ** (e - 25) : m * 2 ** -24
  return b & 0x8000 ? -v : v
}

function f16ToBits(x) {
  if (Number.isNaN(x)) return 0x7e00
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0
  const v = Math.abs(quant_f16(x))
  if (v === Infinity) return sign | 0x7c00
  if (v < 2 ** -14) return sign | v * 2 ** 24
  let e = 15
  while (v < 2 ** (e - 15)) e--
  while (v >= 2 ** (e - 14)) e++
  return sign | e << 10 | (v * 2 ** (25 - e) - 1024)
}

function bf16ToBits(x) {
  if (Number.isNaN(x)) return 0x7fc0
  bytes8.setFloat32(0, quant_bf16(x))
  return bytes8.getUint16(0)
}

function bf16FromBits(b) {
  bytes8.setUint32(0, b << 16 >>> 0)
  return bytes8.getFloat32(0)
}

// ---- Integers and conversions ----------------------------------------------------------------------------------------

const i64 = x => BigInt.asIntN(64, x)
const u64 = x => BigInt.asUintN(64, x)
const div_i32 = (a, b) => b === 0 ? 0 : a / b | 0
const div_u32 = (a, b) => b === 0 ? 0 : a / b >>> 0
const div_i64 = (a, b) => b === 0n ? 0n : i64(a / b)
const div_u64 = (a, b) => b === 0n ? 0n : a / b
const rem_i32 = (a, b) => b === 0 ? 0 : a % b | 0
const rem_u32 = (a, b) => b === 0 ? 0 : a % b
const rem_64 = (a, b) => b === 0n ? 0n : a % b
const mulhi_i32 = (a, b) => Number(BigInt(a) * BigInt(b) >> 32n)
const mulhi_u32 = mulhi_i32
const mulhi_64 = (a, b) => a * b >> 64n
const min_64 = (a, b) => a < b ? a : b
const max_64 = (a, b) => a > b ? a : b
const clz_64 = x => 64 - bitLength(u64(x))
const ctz_32 = x => x === 0 ? 32 : 31 - Math.clz32(x & -x)
const ctz_64 = x => x === 0n ? 64 : bitLength(u64(x & -x)) - 1
const ones = s => s.length - s.replaceAll('1', '').length
const popcnt_32 = x => ones((x >>> 0).toString(2))
const popcnt_64 = x => ones(u64(x).toString(2))

const ranges = {
  i32: [-(2n ** 31n), 2n ** 31n - 1n], u32: [0n, 2n ** 32n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n], u64: [0n, 2n ** 64n - 1n],
}
const wide = type => type === 'i64' || type === 'u64'

/** Converts a float to an integer type, saturating. */
function sat(x, type) {
  const [least, most] = ranges[type]
  let n
  if (Number.isNaN(x)) n = 0n
  else if (!Number.isFinite(x)) n = x > 0 ? most : least
  else n = BigInt(Math.trunc(x))
  n = n < least ? least : n > most ? most : n
  return wide(type) ? n : Number(n)
}

/** Converts an integer or a float to an integer type, modulo its range. */
function wrap(x, type) {
  if (typeof x === 'number') x = Number.isFinite(x) ? BigInt(Math.trunc(x)) : 0n
  switch (type) {
    case 'i32': return Number(BigInt.asIntN(32, x))
    case 'u32': return Number(BigInt.asUintN(32, x))
    case 'i64': return i64(x)
  }
  return u64(x)
}

const f32FromBig = x => x === 0n ? 0 : roundF32(x, 0)

const put = {
  i32: x => bytes8.setInt32(0, x), u32: x => bytes8.setUint32(0, x), f32: x => bytes8.setFloat32(0, x),
  i64: x => bytes8.setBigInt64(0, x), u64: x => bytes8.setBigUint64(0, x), f64: x => bytes8.setFloat64(0, x),
}
const get = {
  i32: () => bytes8.getInt32(0), u32: () => bytes8.getUint32(0), f32: () => bytes8.getFloat32(0),
  i64: () => bytes8.getBigInt64(0), u64: () => bytes8.getBigUint64(0), f64: () => bytes8.getFloat64(0),
}

/** The unchanged bits of a float, for comparisons. */
function rawBits(x, type) {
  put[type](x)
  return type === 'f32' ? get.u32() : get.u64()
}

/** The bits of a value as another type; every NaN has the canonical bits. */
function bitcast(x, from, to) {
  if (Number.isNaN(x)) {
    if (from === 'f32') bytes8.setUint32(0, 0x7fc00000)
    else bytes8.setBigUint64(0, 0x7ff8000000000000n)
  } else put[from](x)
  return get[to]()
}

// ---- Memory ----------------------------------------------------------------------------------------------------------

/** An array: its bytes, and for a buffer its extents. An address that is NaN is out of bounds with checks off. */
class Memory {
  constructor(name, bytes, dims = []) {
    this.name = name
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.dims = dims
  }
  get count() { return this.dims.reduce((n, d) => n * d, 1) }
  zero() { this.bytes.fill(0) }

  bool(p) { return p === p && this.view.getUint8(p) !== 0 }
  i8(p) { return p === p ? this.view.getInt8(p) : 0 }
  u8(p) { return p === p ? this.view.getUint8(p) : 0 }
  i16(p) { return p === p ? this.view.getInt16(p, true) : 0 }
  u16(p) { return p === p ? this.view.getUint16(p, true) : 0 }
  i32(p) { return p === p ? this.view.getInt32(p, true) : 0 }
  u32(p) { return p === p ? this.view.getUint32(p, true) : 0 }
  i64(p) { return p === p ? this.view.getBigInt64(p, true) : 0n }
  u64(p) { return p === p ? this.view.getBigUint64(p, true) : 0n }
  f16(p) { return f16FromBits(this.u16(p)) }
  bf16(p) { return bf16FromBits(this.u16(p)) }
  f32(p) { return p === p ? this.view.getFloat32(p, true) : 0 }
  f64(p) { return p === p ? this.view.getFloat64(p, true) : 0 }

  set_bool(p, v) { if (p === p) this.view.setUint8(p, v ? 1 : 0) }
  set_i8(p, v) { if (p === p) this.view.setInt8(p, v) }
  set_u8(p, v) { if (p === p) this.view.setUint8(p, v) }
  set_i16(p, v) { if (p === p) this.view.setInt16(p, v, true) }
  set_u16(p, v) { if (p === p) this.view.setUint16(p, v, true) }
  set_i32(p, v) { if (p === p) this.view.setInt32(p, v, true) }
  set_u32(p, v) { if (p === p) this.view.setUint32(p, v, true) }
  set_i64(p, v) { if (p === p) this.view.setBigInt64(p, v, true) }
  set_u64(p, v) { if (p === p) this.view.setBigUint64(p, v, true) }
  set_f16(p, v) { this.set_u16(p, f16ToBits(v)) }
  set_bf16(p, v) { this.set_u16(p, bf16ToBits(v)) }
  set_f32(p, v) { if (p === p) this.view.setFloat32(p, v, true) }
  set_f64(p, v) { if (p === p) this.view.setFloat64(p, v, true) }
}

// ---- Work-items ------------------------------------------------------------------------------------------------------

/** A work-item: its indices, and the operations that can fault, print or call a service. */
class Item {
  constructor(launch, group, order, global, local) {
    this.launch = launch
    this.team = group // state shared by the items of the group
    this.order = order
    this.global = global
    this.local = local
    this.group = group.position
    this.size = launch.size
    this.groupSize = launch.groupSize
    this.groups = launch.groups
    this.subgroupSize = launch.subgroupSize
    this.lane = order % launch.subgroupSize
    this.at = global
  }

  /** An index as a Number, if it is in [0, extent). */
  index(array, site, axis, index, extent) {
    if (index >= 0 && index < extent) return Number(index)
    if (this.launch.unchecked) return NaN
    throw new Fault('out-of-bounds', site, { array: array.name, axis, index: String(i64(BigInt(index))), extent: String(extent) })
  }

  nonzero(divisor, site) {
    if (divisor == 0 && !this.launch.unchecked) throw new Fault('division-by-zero', site)
  }

  assert(ok, site, message) {
    if (!ok && !this.launch.unchecked) throw new Fault('assertion', site, { text: message() })
  }

  print(site, text) {
    this.team.prints.push({ site, item: this.at, text, order: this.order })
  }

  call(site, name, args) {
    const service = this.launch.services[name]
    if (!service) throw new Fault('call-failed', site, { text: `there is no service ${name}` })
    try {
      return service(...args)
    } catch (e) {
      throw new Fault('call-failed', site, { text: e.message })
    }
  }
}

// ---- Group operations: an item yields a request, all items of the group yield the same one ------------------------------

const add = {
  i32: (a, b) => a + b | 0, u32: (a, b) => a + b >>> 0, i64: (a, b) => i64(a + b), u64: (a, b) => u64(a + b),
  f32: (a, b) => Math.fround(a + b), f64: (a, b) => a + b,
}
const bounds = {
  f32: [-Infinity, Infinity], f64: [-Infinity, Infinity], i64: ranges.i64, u64: ranges.u64,
  i32: ranges.i32.map(Number), u32: ranges.u32.map(Number),
}

/** The operation of a reduction and its identity. */
function combining(name, type) {
  const [least, most] = bounds[type]
  switch (name) {
    case 'add': return [add[type], wide(type) ? 0n : 0]
    case 'min': return [wide(type) ? min_64 : Math.min, most]
  }
  return [wide(type) ? max_64 : Math.max, least]
}

function tree(values, op, identity) {
  let p = 1
  while (p < values.length) p *= 2
  const t = values.concat(Array(p - values.length).fill(identity))
  for (let s = p / 2; s >= 1; s /= 2) {
    for (let l = 0; l < s; l++) t[l] = op(t[l], t[l + s])
  }
  return t[0]
}

/** Hillis and Steele's inclusive scan of at most 32 values, or of a subgroup. */
function scanSteps(values, op) {
  let t = values
  for (let s = 1; s < t.length; s *= 2) t = t.map((x, l) => l >= s ? op(t[l - s], x) : x)
  return t
}

function scan(values, op) {
  const blocks = []
  for (let l = 0; l < values.length; l += 32) blocks.push(scanSteps(values.slice(l, l + 32), op))
  const totals = scanSteps(blocks.map(b => b.at(-1)), op)
  return blocks.flatMap((b, k) => k === 0 ? b : b.map(x => op(totals[k - 1], x)))
}

const perSubgroup = (values, width, work) => {
  const out = []
  for (let l = 0; l < values.length; l += width) out.push(...work(values.slice(l, l + width)))
  return out
}

/** The results of a request for each item of the group. `absent` is the value of items that do not participate. */
function groupResults(requests, launch) {
  const request = requests.find(r => r)
  const { op, name, type } = request
  const values = absent => requests.map(r => r ? r.value : absent)
  const width = launch.subgroupSize
  switch (op) {
    case 'barrier':
      return []
    case 'reduce': {
      const [f, identity] = combining(name, type)
      return Array(requests.length).fill(tree(values(identity), f, identity))
    }
    case 'scan': {
      const [f, identity] = combining(name, type)
      const t = scan(values(identity), f)
      return request.exclusive ? [identity, ...t.slice(0, -1)] : t
    }
  }
  switch (name) { // operations of subgroups
    case 'add': case 'min': case 'max': {
      const [f, identity] = combining(name, type)
      return perSubgroup(values(identity), width, t => Array(t.length).fill(tree(t, f, identity)))
    }
    case 'scan_add': {
      const [f, identity] = combining('add', type)
      return perSubgroup(values(identity), width, t => scanSteps(t, f))
    }
    case 'any': return perSubgroup(values(false), width, t => t.map(() => t.includes(true)))
    case 'all': return perSubgroup(values(true), width, t => t.map(() => !t.includes(false)))
    case 'ballot':
      return perSubgroup(values(false), width, t => {
        const bits = t.reduce((n, yes, lane) => yes ? n | 1n << BigInt(lane) : n, 0n)
        return t.map(() => bits)
      })
  }
  const zero = type === 'bool' ? false : wide(type) ? 0n : 0
  const from = {
    shuffle_xor: (lane, n) => lane ^ n, shuffle_up: (lane, n) => lane - n, shuffle_down: (lane, n) => lane + n,
  }[name] ?? ((lane, n) => n)
  return requests.map((r, l) => {
    if (!r) return undefined
    const lane = l % width
    const to = from(lane, r.lane)
    return to >= 0 && to < width ? requests[l - lane + to]?.value ?? zero : zero
  })
}

/** Runs the generators of a group's items from one request to the next. */
function runTeam(items, generators, launch, fail) {
  let results = []
  for (;;) {
    const requests = items.map((item, l) => {
      if (!generators[l]) return undefined
      try {
        const step = generators[l].next(results[l])
        if (!step.done) return step.value
      } catch (e) {
        fail(item, e)
      }
      generators[l] = undefined
      return undefined
    })
    const request = requests.find(r => r)
    if (!request) return
    if (requests.some(r => r && r.number !== request.number)) throw new Error('items of a group wait at different places')
    if (request.op === 'uniform') {
      requests.forEach((r, l) => {
        if (r && !Object.is(r.value, request.value) && !launch.unchecked) {
          generators[l] = undefined
          fail(items[l], new Fault('divergent-uniform', r.site))
        }
      })
      results = requests.map(() => request.value)
    } else results = groupResults(requests, launch)
  }
}

/**
 * Runs a launch: {size, groupSize, subgroupSize, unchecked, args, services}, an argument being a Memory or a value.
 * Returns {fault, prints}.
 */
function run(kernel, launch) {
  launch = { subgroupSize: 32, unchecked: false, services: {}, ...launch }
  const prints = []
  let fault
  const end = team => {
    prints.push(...team.prints.sort((a, b) => a.order - b.order))
    if (team.fault && !fault) fault = team.fault
  }
  const failing = team => (item, e) => {
    if (!(e instanceof Fault)) throw e
    if (!team.fault || item.order < team.fault.order) {
      const { kind, site, array, axis, index, extent, text } = e
      team.fault = { kind, site, array, axis, index, extent, text, item: item.at, order: item.order }
    }
  }
  const [sx, sy, sz] = launch.size
  if (!kernel.observesGroup) {
    const team = { prints: [], position: [0, 0, 0] }
    const fail = failing(team)
    let order = 0
    for (let z = 0; z < sz; z++) for (let y = 0; y < sy; y++) for (let x = 0; x < sx; x++) {
      const item = new Item(launch, team, order++, [x, y, z], [0, 0, 0])
      try {
        kernel.item(item, ...launch.args)
      } catch (e) {
        fail(item, e)
      }
    }
    end(team)
    return { fault, prints }
  }
  const [gx, gy, gz] = launch.groupSize
  launch.groups = launch.size.map((n, axis) => Math.ceil(n / launch.groupSize[axis]))
  const [nx, ny, nz] = launch.groups
  for (let k = 0; k < nz; k++) for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) {
    const team = { prints: [], position: [i, j, k], shared: kernel.shared() }
    const fail = failing(team)
    const items = []
    for (let z = 0; z < gz; z++) for (let y = 0; y < gy; y++) for (let x = 0; x < gx; x++) {
      items.push(new Item(launch, team, items.length, [i * gx + x, j * gy + y, k * gz + z], [x, y, z]))
    }
    const present = item => item.global.every((v, axis) => v < launch.size[axis])
    if (kernel.cooperates) {
      runTeam(items, items.map(item => present(item) ? kernel.item(item, ...launch.args) : undefined), launch, fail)
    } else {
      for (const item of items) {
        if (!present(item)) continue
        try {
          kernel.item(item, ...launch.args)
        } catch (e) {
          fail(item, e)
        }
      }
    }
    end(team)
  }
  return { fault, prints }
}
