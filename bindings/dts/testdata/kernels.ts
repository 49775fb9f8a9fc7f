// What the declarations know about kernels: element types, ranks, signatures. A line below "@ts-expect-error" must be refused.
import { device, kernel, struct, bool, f32, f64, i32, u8, u32, i64, u64, f16 } from 'offload'
import type { ArrayView, Buffer, Kernel, KernelArray, KernelMatrix, KernelVolume, Item, Type } from 'offload'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>) => {}
const dev = device('cpu')

// A signature gives the parameters their types, in its order, whatever was declared in another order before.
const add = kernel({ x: [f32], n: i32, b: [u64] }, (g, x, n, b) => {
  same<typeof x, KernelArray<'f32'>>(true)
  same<typeof n, number>(true)
  same<typeof b, KernelArray<'u64'>>(true)
  x[g.x] = n * x[g.x]
  b[g.x] = b[g.x] + 1n
  // @ts-expect-error
  x[g.x] = 'text'
  // @ts-expect-error
  b[g.x] = 1
  // @ts-expect-error
  x.foo()
})
const floats = dev.buffer(f32, 16), wide = dev.buffer(u64, 16)
add.launch({ size: 16 }, floats, 3, wide)
add.debug({ size: 16, item: 1 }, floats, 3, wide)
dev.queue.launch(add, { size: 16 }, floats, 3, wide)
// @ts-expect-error
add.launch({ size: 16 }, 1, 2, 3)
// @ts-expect-error
add.launch({ size: 16 }, floats, 3)
// @ts-expect-error
add.launch({ size: 16 }, floats, 3n, wide)
// @ts-expect-error
add.launch({ size: 16 }, wide, 3, floats)
// @ts-expect-error
add.launch({ size: 16 }, dev.buffer(f64, 16), 3, wide)
// @ts-expect-error
add.launch({ size: 16 }, dev.buffer(f32, [4, 4]), 3, wide)
// @ts-expect-error
dev.queue.launch(add, { size: 16 }, floats, wide, 3)

const reversed = kernel({ b: [u64, 2], n: u64, x: [f32, 3], c: bool, z: [i32], a: f64 }, (g, b, n, x, c, z, a) => {
  same<typeof b, KernelMatrix<'u64'>>(true)
  same<typeof n, bigint>(true)
  same<typeof x, KernelVolume<'f32'>>(true)
  same<typeof c, boolean>(true)
  same<typeof z, KernelArray<'i32'>>(true)
  same<typeof a, number>(true)
  b[g.y][g.x] = n
  x[0][1][2] = a + z[0] + x.shape[2]
  // @ts-expect-error
  b[g.x] = n
  // @ts-expect-error
  x[0][1] = a
  // @ts-expect-error
  x[0][1][2][3] = a
})
reversed.launch({ size: [4, 4] }, dev.buffer(u64, [4, 4]), 1n, dev.buffer(f32, [2, 2, 3]), true, dev.buffer(i32, 4), 1.5)
// @ts-expect-error
reversed.launch({ size: [4, 4] }, dev.buffer(u64, [4, 4]), 1n, dev.buffer(f32, [2, 2, 3]), 1, dev.buffer(i32, 4), 1.5)
// @ts-expect-error
reversed.launch({ size: [4, 4] }, dev.buffer(u64, [4, 4]), 1n, dev.buffer(f32, [2, 2]), true, dev.buffer(i32, 4), 1.5)
const many = kernel({ h: i32, a: [f32], g0: i32, f: [f32], e: u64, d: i32, c: [u64], b: i32, i: bool, j: f64, k: [f16], l: i32 }, (g, h, a, g0, f, e, d, c, b, i, j, k, l) => {
  same<typeof e, bigint>(true)
  same<typeof c, KernelArray<'u64'>>(true)
  same<typeof i, boolean>(true)
  same<typeof k, KernelArray<'f16'>>(true)
  same<typeof l, number>(true)
})
same<typeof many extends Kernel<infer A> ? A['length'] : 0, 12>(true)
kernel({}, g => { g.barrier() }).launch({ size: 1 })
// @ts-expect-error
kernel({ x: [f32] }, (g, x, y) => {})
// @ts-expect-error
kernel({ x: [f32, 4] }, (g, x) => {})
// @ts-expect-error
kernel({ x: [f32, 4] }, (g, x) => {}).launch({ size: 1 })
// @ts-expect-error
kernel({ x: 'f32' }, (g, x) => {})
// @ts-expect-error
kernel({ x: u8 }, (g, x) => {})

// Without a signature, declared parameters are checked: the element's type by its name, or only that it is a number.
const scale = kernel((g: Item, a: number, x: KernelArray<'f32'>, m: KernelMatrix<'f64'>, any: KernelArray) => { x[g.x] = a * m[0][g.x] + any[0] })
const matrix = dev.buffer(f64, [4, 4])
scale.launch({ size: 4 }, 2, floats, matrix, dev.buffer(u8, 4))
scale.launch({ size: 4 }, 2, floats, matrix, dev.buffer(i32, 4))
// @ts-expect-error
scale.launch({ size: 4 }, 2, matrix, floats, floats)
// @ts-expect-error
scale.launch({ size: 4 }, 2, floats, floats, floats)
// @ts-expect-error
scale.launch({ size: 4 }, 2, dev.buffer(i32, 4), matrix, floats)
// @ts-expect-error
scale.launch({ size: 4 }, 2, floats, matrix, wide)
// @ts-expect-error
scale.launch({ size: 4 }, 2, floats, matrix, matrix)

// Buffers know their element type and rank, also by views, typed arrays and shapes of others.
const ranked: Buffer<'f32', 2> = dev.buffer(f32, [3, 4])
same<typeof floats, Buffer<'f32', 1>>(true)
same<typeof ranked.shape, [number, number]>(true)
const alike: Buffer<'i32', 2> = dev.buffer(i32, ranked.shape)
const shaped: Buffer<'u8', 2> = dev.buffer(new Uint8Array(6), { shape: [2, 3] })
const line: Buffer<'i64', 1> = dev.buffer(new BigInt64Array(6))
const part: Buffer<'u32', 2> = ranked.view(0, [2, 2], u32)
const rows: Buffer<'f32', 1> = ranked.view(4)
const extents: number[] = [2, 3]
const unknown = dev.buffer(f32, extents)
add.launch({ size: 1 }, unknown, 1, wide) // its rank is known when the script runs
const anything: Buffer[] = [ranked, alike, shaped, line, part, rows]
dev.buffer(f32, [3, 4], (i, j) => i + j)
dev.buffer(bool, 4, i => i > 2)
dev.buffer(u8, 4, i => i > 2)
dev.buffer(i64, 4).write([1n, 2, 3n]).fill(4)
// @ts-expect-error
const mixed: Buffer<'f32', 1> = ranked
// @ts-expect-error
const other: Buffer<'f64', 2> = ranked
// @ts-expect-error
dev.buffer(f32, 4, (i, j) => i + j)
// @ts-expect-error
floats.write([1n])
// @ts-expect-error
dev.buffer(bool, 4).fill(1)
// @ts-expect-error
const wrong: Type<'f64'> = f32

// Work with 64 bits, bits of floats, bytes that are set to conditions, sizes that are buffers.
kernel((g: Item, w: KernelArray<'u64'>, x: KernelArray<'f64'>, image: KernelMatrix<'u8'>, mask: KernelArray<'bool'>) => {
  w[g.x] = g.reduce.add(w[g.x]) + g.scan.max(w[0]) + g.scan.add.exclusive(w[1]) + g.subgroup.add(w[2])
  w[g.x] = Math.mulhi(w[g.x], 3n) + Math.min(w[0], w[1]) + Math.clamp(w[0], 1n, 2n)
  x[0] = Math.mulhi(3, 4) + Math.popcount(w[0]) + Math.min(1, 2) + g.reduce.max(x[1])
  w[g.x] = bits(x[g.x])
  const sign: bigint = bits(x[g.x]), low: number = bits(f32(x[0]))
  w[0] = bits(x[1]) >> 52n
  w[1] = u64(low >>> 3) + sign
  const back: number = fromBits(f64, w[0])
  image[g.y][g.x] = x[0] === 3 || mask[0]
  image[g.y][g.x] = image[g.y][g.x] * 2 + Math.round(back)
  mask[g.x] = x[g.x] > 0
  Atomics.add(w, 0, 1n)
  Atomics.max(image[0], 0, 1)
  const tile = g.shared(u64, 4, 4)
  tile[0][1] = w[0]
  // @ts-expect-error
  tile[0] = w[0]
  // @ts-expect-error
  mask[g.x] = 'yes'
  // @ts-expect-error
  w[g.x] = Math.mulhi(w[g.x], 3)
  // @ts-expect-error
  g.reduce.add('a')
  // @ts-expect-error
  Atomics.add(w, 0, 1)
  // @ts-expect-error
  const text: string = bits(x[0])
  // @ts-expect-error
  x.freed
})
add.launch({ size: floats }, floats, 3, wide)
// @ts-expect-error
add.launch({ size: '4' }, floats, 3, wide)

// Helpers take arrays of any element type and rank that they name.
const total = (x: KernelArray, n: number) => { let s = 0; for (let i = 0; i < n; i++) s += x[i]; return s }
kernel({ x: [f32], y: [u8], m: [f64, 2], w: [i64] }, (g, x, y, m, w) => {
  x[0] = total(x, 4) + total(y, 4) + total(m[0], 4)
  // @ts-expect-error
  x[0] = total(w, 4)
  // @ts-expect-error
  x[0] = total(m, 4)
})

// Records keep the types of their fields.
const Particle = struct({ position: [f32, 3], id: u64 })
const particles = dev.buffer(Particle, [{ position: [1, 2, 3], id: 7n }])
const move = kernel({ p: [Particle], dt: f32 }, (g, p, dt) => {
  p[g.x].position[0] += dt
  p[g.x].id += 1n
  // @ts-expect-error
  p[g.x].speed = 1
})
move.launch({ size: 1 }, particles, 0.1)
const id: bigint = (await particles.read())[0].id
// @ts-expect-error
move.launch({ size: 1 }, floats, 0.1)
