// Compares the functions of 'kernels' with their definitions in JavaScript.
import { device, kernel, f32, f64, i32, u32, i64 } from 'offload'
import * as lib from 'kernels'
import { equal } from './check.js'

const dev = device()
const values = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009 - 500)
/** @type {(a: number, b: number) => number} */
const further = (a, b) => (Math.abs(b) > Math.abs(a) ? b : a)
/** @type {(a: number, b: number) => number} */
const compose = (a, b) => (a * b) % 1009
/** @type {(list: number[], n: number) => number[][]} */
const groups = (list, n) => Array.from({ length: Math.ceil(list.length / n) }, (_, i) => list.slice(i * n, (i + 1) * n))

// Reductions and scans in groups of any size, including a partial last group.
const farthest = kernel((g, x, out) => {
  const scratch = g.shared(f32, 300), far = lib.groupReduce(g, scratch, x[g.x], further)
  if (g.local.x === 0) out[g.group.x] = far
})
const smallest = kernel((g, x, out) => {
  const scratch = g.shared(i64, 300), least = lib.groupReduce(g, scratch, i64(i32(x[g.x])), (a, b) => Math.min(a, b))
  if (g.local.x === 0) out[g.group.x] = least
})
const products = kernel((g, x, out) => {
  const scratch = g.shared(i64, 300)
  out[g.x] = lib.groupScan(g, scratch, i64(i32(x[g.x]) + 501), (a, b) => (a * b) % 1009n)
})
const greatest = kernel((g, x, out) => {
  const scratch = g.shared(f32, 300)
  out[g.x] = lib.groupScanExclusive(g, scratch, x[g.x], (a, b) => Math.max(a, b), -1000)
})
const votes = kernel((g, x, first, flags) => {
  const scratch = g.shared(f32, 1)
  const sixth = lib.groupBroadcast(g, scratch, x[g.x], 5)
  const any = lib.groupAny(g, x[g.x] === 0), all = lib.groupAll(g, x[g.x] > -500), count = lib.groupCount(g, x[g.x] > 0)
  if (g.local.x === 0) {
    first[g.group.x] = sixth
    flags[g.group.x][0] = any ? 1 : 0
    flags[g.group.x][1] = all ? 1 : 0
    flags[g.group.x][2] = count
  }
})
for (const n of [7, 64, 100, 300]) {
  const all = values.slice(0, n === 7 ? 994 : 1000), parts = groups(all, n), size = all.length, m = parts.length
  const x = dev.buffer(Float32Array.from(all)), options = { size, groupSize: n }
  const far = dev.buffer(f32, m), least = dev.buffer(i64, m), first = dev.buffer(f32, m), flags = dev.buffer(i32, [m, 3])
  const before = dev.buffer(f32, size), upTo = dev.buffer(i64, size)
  farthest.launch(options, x, far)
  smallest.launch(options, x, least)
  products.launch(options, x, upTo)
  greatest.launch(options, x, before)
  votes.launch(options, x, first, flags)
  equal(`farthest of ${n}`, await far.read(), parts.map(p => p.reduce(further)))
  equal(`least of ${n}`, Array.from(await least.read(), Number), parts.map(p => Math.min(...p)))
  equal(`first of ${n}`, await first.read(), parts.map(p => p[5]))
  equal(`flags of ${n}`, await flags.read(), parts.flatMap(p => [Number(p.includes(0)), Number(p.every(v => v > -500)), p.filter(v => v > 0).length]))
  equal(`before in ${n}`, await before.read(), parts.flatMap(p => p.map((_, i) => Math.max(-1000, ...p.slice(0, i)))))
  equal(`up to in ${n}`, Array.from(await upTo.read(), Number), parts.flatMap(p => p.map((_, i) => p.slice(0, i + 1).map(v => v + 501).reduce(compose))))
}

// Two-dimensional groups, with partial groups at the edges.
const planes = kernel((g, sums) => {
  const scratch = g.shared(i32, 64)
  const sum = lib.groupReduce(g, scratch, g.x + 100 * g.y, (a, b) => a + b)
  if (g.local.x === 0 && g.local.y === 0) sums[g.group.y][g.group.x] = sum
})
const sums = dev.buffer(i32, { shape: [2, 3] })
await planes.launch({ size: [19, 13], groupSize: [8, 8] }, sums)
const plane = Array(6).fill(0)
for (let y = 0; y < 13; y++) for (let x = 0; x < 19; x++) plane[(y >> 3) * 3 + (x >> 3)] += x + 100 * y
equal('sums of a plane', await sums.read(), plane)

// Sorts any number of keys, with fewer items than keys.
const sortPairs = kernel((g, count, x, order) => {
  const keys = g.shared(f64, 1000), places = g.shared(i32, 1000)
  for (let i = g.local.x; i < count; i += g.groupSize.x) {
    keys[i] = x[i]
    places[i] = i
  }
  lib.groupSortPairs(g, keys, places, count, (a, b) => a < b)
  for (let i = g.local.x; i < count; i += g.groupSize.x) order[i] = places[i]
})
const sort = kernel((g, count, x) => {
  const keys = g.shared(f64, 1000)
  for (let i = g.local.x; i < count; i += g.groupSize.x) keys[i] = x[i]
  lib.groupSort(g, keys, count, (a, b) => a > b)
  for (let i = g.local.x; i < count; i += g.groupSize.x) x[i] = keys[i]
})
for (const count of [1, 2, 3, 31, 100, 777, 1000]) {
  const distinct = Array.from({ length: count }, (_, i) => ((i * 7919) % 10007) / 3)
  const x = dev.buffer(Float64Array.from(distinct)), order = dev.buffer(i32, count)
  sortPairs.launch({ size: 96, groupSize: 96 }, count, x, order)
  sort.launch({ size: 96, groupSize: 96 }, count, x)
  equal(`order of ${count}`, await order.read(), distinct.map((_, i) => i).sort((i, j) => distinct[i] - distinct[j]))
  equal(`descending ${count}`, await x.read(), distinct.toSorted((a, b) => b - a))
}

// Random numbers equal those of the host and have the right distributions.
const draw = kernel((g, uniform, normal, raw) => {
  uniform[g.x] = lib.random(2026, 3, g.x)
  normal[g.x] = lib.randomNormal(2026, 4, g.x)
  raw[g.x] = lib.randomBits(2026, 3, g.x)
})
const n = 20000, uniform = dev.buffer(f32, n), normal = dev.buffer(f32, n), raw = dev.buffer(u32, n)
await draw.launch({ size: n }, uniform, normal, raw)
equal('random', (await uniform.read()).slice(0, 500), Array.from({ length: 500 }, (_, i) => lib.random(2026, 3, i)))
equal('random bits', (await raw.read()).slice(0, 500), Array.from({ length: 500 }, (_, i) => lib.randomBits(2026, 3, i)))
equal('Philox', lib.philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0), [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1])
/** @param {number[]} list */
const moments = list => {
  const mean = list.reduce((a, b) => a + b) / list.length
  return [mean, list.reduce((a, b) => a + (b - mean) ** 2, 0) / list.length]
}
/** @type {(name: string, got: number[], want: number[]) => void} */
const near = (name, got, want) => equal(name, got.map((v, i) => Number(Math.abs(v - want[i]) < 0.02)), want.map(() => 1))
near('moments of random', moments(Array.from(await uniform.read())), [1 / 2, 1 / 12])
near('moments of randomNormal', moments(Array.from(await normal.read())), [0, 1])

// Bit functions. All f16 and bf16 values except NaNs convert to floats and back unchanged.
const words = [0, 1, 0x12345678, 0xdeadbeef, 0xffffffff, 0x80000000]
const twiddle = kernel((g, x, out) => {
  const v = x[g.x], [even, odd] = lib.deinterleave(v)
  out[g.x][0] = lib.rotateLeft(v, 7)
  out[g.x][1] = lib.rotateRight(v, 32)
  out[g.x][2] = lib.reverseBits(v)
  out[g.x][3] = lib.swapBytes(v)
  out[g.x][4] = lib.parity(v)
  out[g.x][5] = lib.interleave(even, odd)
  out[g.x][6] = lib.nextPowerOfTwo((v >>> 3) + 1)
})
const twiddled = dev.buffer(u32, { shape: [words.length, 7] })
await twiddle.launch({ size: words.length }, dev.buffer(Uint32Array.from(words)), twiddled)
/** @param {number} v */
const binary = v => v.toString(2).padStart(32, '0')
equal('bits', await twiddled.read(), words.flatMap(v => [
  parseInt(binary(v).slice(7) + binary(v).slice(0, 7), 2), v, parseInt([...binary(v)].reverse().join(''), 2),
  parseInt((binary(v).match(/.{8}/g) ?? []).reverse().join(''), 2), [...binary(v)].filter(c => c === '1').length % 2, v,
  2 ** Math.ceil(Math.log2((v >>> 3) + 1)),
]))
equal('bits on the host', words.map(v => lib.swapBytes(lib.reverseBits(v))), words.map(v => lib.reverseBits(lib.swapBytes(v))))
const halves = kernel((g, wrong) => {
  const isNaN16 = (g.x & 0x7fff) > 0x7c00, isNaN8 = (g.x & 0x7fff) > 0x7f80
  const half = lib.halfBits(lib.halfFrom(g.x)), short = lib.bfloatBits(lib.bfloatFrom(g.x))
  if (half !== (isNaN16 ? 0x7e00 : g.x)) Atomics.add(wrong, 0, 1)
  if (short !== (isNaN8 ? 0x7fc0 : g.x)) Atomics.add(wrong, 1, 1)
})
const wrong = dev.buffer(i32, 2)
await halves.launch({ size: 65536 }, wrong)
equal('halves', await wrong.read(), [0, 0])

// A matrix product in tiles that extend beyond the edges.
const multiply = kernel((g, a, b, c) => {
  const left = g.shared(f32, 8, 8), right = g.shared(f32, 8, 8), result = g.shared(f32, 8, 8)
  let sum = f32(0)
  for (let k = 0; k < a.shape[1]; k += 8) {
    lib.loadTile(g, left, a, g.group.y * 8, k)
    lib.loadTile(g, right, b, k, g.group.x * 8)
    sum = lib.tileProduct(left, right, g.local.y, g.local.x, sum)
  }
  result[g.local.y][g.local.x] = sum
  lib.storeTile(g, result, c, g.group.y * 8, g.group.x * 8)
})
const rows = 19, inner = 13, columns = 27
/** @type {(i: number, j: number) => number} */
const a = (i, j) => (i * 5 + j) % 7 - 3
/** @type {(i: number, j: number) => number} */
const b = (i, j) => (i + j * 3) % 5 - 2
const product = dev.buffer(f32, [rows, columns])
await multiply.launch({ groups: [4, 3], groupSize: [8, 8] }, dev.buffer(f32, [rows, inner], a), dev.buffer(f32, [inner, columns], b), product)
equal('product by tiles', await product.read(), Array.from({ length: rows * columns }, (_, at) => {
  let sum = 0
  for (let k = 0; k < inner; k++) sum += a(Math.floor(at / columns), k) * b(k, at % columns)
  return sum
}))
