// What declared types catch, and what they let through. A line below "@ts-expect-error" must be refused.
import offload, { device, kernel, struct, pipeline, Buffer, f32, i32, u8, i64 } from 'offload'
import type { KernelArray, KernelMatrix, Item } from 'offload'
import fs, { readText } from 'fs'
import process from 'process'

const dev = device('cpu')
const x = dev.buffer(f32, 10, i => i * 0.5)
const values: Float32Array = await x.read()
const wide: BigInt64Array = await dev.buffer(i64, 4).read()
const copied: Uint8Array = dev.buffer(new Uint8Array(4), { label: 'bytes' }).readSync()
// @ts-expect-error
const wrong: Int32Array = await x.read()
// @ts-expect-error
dev.buffer(f32, 10, { lable: 'x' })
// @ts-expect-error
dev.buffers(f32, 10)
// @ts-expect-error
new Buffer()
console.log(x instanceof Buffer, x.fill(1).write([1, 2]).shape.length, offload.live().length)

// Parameters that are declared are checked at launches.
const saxpy = kernel((g, a: number, x: KernelArray, y: KernelArray) => {
  const i = g.x
  y[i] = Math.fma(a, x[i], y[i])
})
saxpy.launch({ size: 10 }, 2, x, x)
// @ts-expect-error
saxpy.launch({ size: 10 }, 2, x)
// @ts-expect-error
saxpy.launch({ size: 10 }, x, 2, x)
// @ts-expect-error
saxpy.launch({ sice: 10 }, 2, x, x)
dev.queue.launch(saxpy, { size: 10 }, 2, x, x)

// An array of numbers is the extents; values are typed arrays, and for records objects.
dev.buffer(f32, { shape: [2, 3], label: 'm' })
dev.buffer(f32, Float32Array.of(1, 2, 3), { shape: [3, 1] })
// @ts-expect-error
dev.buffer(i64, [1n, 2n])
// @ts-expect-error
dev.buffer(f32, { label: 'no shape' })
// @ts-expect-error
dev.buffer('f32', 10)
// @ts-expect-error
dev.buffer(f32, '10')
// @ts-expect-error
saxpy({ size: 10 }, 2, x, x)
// @ts-expect-error
saxpy.launch(10, 2, x, x)
// @ts-expect-error
x[0]
// @ts-expect-error
x.reed()
// @ts-expect-error
const first_: number = x.read()[0]

// Parameters that are not declared take any argument, but no typed array; their number counts.
const untyped = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })
untyped.launch({ size: 10 }, 2, x, x)
// @ts-expect-error
untyped.launch({ size: 10 }, 2, x)
// @ts-expect-error
untyped.launch({ size: 10 }, 2, x, x, x)
// @ts-expect-error
untyped.launch({ size: 10 }, 2, [1, 2], x)
// @ts-expect-error
untyped.launch({ size: 10 }, 'a', x, x)
// @ts-expect-error
dev.queue.launch(untyped, { size: 10 }, 2, x)
const list: import('offload').Kernel[] = [untyped, saxpy]
list[0].launch({ size: 1 }, x)
const any = kernel({ m: [f32, 2], n: i32 }, (g, m, n) => { m[g.y][g.x] = n })
any.launch({ size: [2, 2] }, dev.buffer(f32, [2, 2]), 1)
// @ts-expect-error
any.launch({ size: [2, 2] }, new Float32Array(4), 1)

const help = (g: Item, m: KernelMatrix, counts: KernelArray) => {
  const tile = g.shared(f32, 16, 16), mine = g.private(i32, 4)
  tile[g.local.y][g.local.x] = m[g.y][g.x] + m.flat[3]
  g.barrier()
  mine[0] = i32(tile[0][0]) | 0
  const sum = g.reduce.add(mine[0]) + g.scan.add.exclusive(1) + g.subgroup.shuffleXor(1, 2)
  const [fraction, exponent] = Math.frexp(sum)
  if (g.subgroup.any(fraction > 0)) Atomics.add(counts, g.group.x, Math.mulhi(exponent, 3) + Math.popcount(7) + Math.fast.exp(1))
  counts[0] = bits(f32(1)) + fromBits(f32, 0) + Math.erf(0.5) + m.shape[1] + m.length
  g.print(`${sum}`)
  // @ts-expect-error
  g.barriers()
}
kernel(help).launch({ groups: 1, groupSize: [16, 16] }, dev.buffer(f32, [16, 16]), dev.buffer(f32, 4))

const Particle = struct({ position: [f32, 3], id: i32 })
const particles = dev.buffer(Particle, [{ position: [1, 2, 3], id: 7 }])
const first: number = (await particles.read())[0].position[2]
kernel((g, p: KernelArray<{ position: number[]; id: number }>) => { p[g.x].id += 1 }).launch({ size: 1 }, particles)

export default pipeline({
  inputs: { image: [u8, 2], gain: f32 },
  outputs: { out: [u8, ({ image }) => image.shape] },
  temporaries: { rows: [f32, [4, 4]] },
  async run({ image, gain, out, rows, queue }) {
    const n: number = image.length * gain
    saxpy.launch({ size: n, queue }, gain, rows, rows)
    const read: Uint8Array = await out.read()
    // @ts-expect-error
    image.launch()
  },
})

const text: string = await readText('x')
const image = fs.readImageSync(process.argv[0])
const timer = setTimeout(() => {}, 10)
clearTimeout(timer)
const url: URL = new URL('https://example.org')
url.hash = '#a'
using scoped = dev.buffer(f32, 1)
await using library = await offload.register('x')
await dev.queue.record()
const clone: number[] = structuredClone([1])
// @ts-expect-error
fs.readTxet('x')

// Columns whose types are named are known; the others are numbers or text.
const table = await fs.readCSV('t.csv', { types: { price: 'f32', name: 'string', id: 'i64' } })
const prices: Float32Array = table.columns.price
const names: string[] = table.columns.name
const ids: BigInt64Array = table.columns.id
const others: Float64Array | string[] = table.columns.other
// @ts-expect-error
const wrongColumn: Float64Array = table.columns.price
// @ts-expect-error
await fs.readCSV('t.csv', { types: { price: 'f16' } })
await fs.writeCSV('u.csv', { prices, names, b: dev.buffer(f32, 3) }, { separator: ';' })
// @ts-expect-error
await fs.writeCSV('u.csv', { prices: 3 })
await fs.writeImage('a.png', dev.buffer(f32, [2, 3]))
await fs.writeImage('a.png', { width: 2, height: 2, data: dev.buffer(u8, 4) })
// @ts-expect-error
await fs.writeImage('a.png', dev.buffer(i32, [2, 3]))
// @ts-expect-error
await fs.writeImage('a.png', dev.buffer(f32, 3))
const dynamic: string = (await import('fs')).default.readTextSync('x')
