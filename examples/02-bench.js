// Measures the memory bandwidth of a vector library's kernels on the best device.
//
//   orepl run examples/02-bench.js [elements]
import { device, kernel, f32, args } from 'offload'
import { bench, results, table } from 'bench'
import { plot } from 'plot'

const n = Number(args[0] ?? 1 << 20)
const dev = device()
const x = dev.buffer(f32, n, i => i % 100), y = dev.buffer(f32, n)

const copy = kernel((g, x, y) => { y[g.x] = x[g.x] })
const saxpy = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] + y[g.x] })
const series = kernel((g, x, y) => {
  let sum = 0
  for (let k = 0; k < 64; k++) sum = sum * 0.5 + x[g.x]
  y[g.x] = sum
})

/** @type {(want: (x: number) => number) => () => Promise<boolean>} */
const every = want => async () => (await y.read()).every((v, i) => Math.abs(v - want(i % 100)) <= 1e-3 * (1 + want(i % 100)))

const size = n
await bench('copy', () => copy.launch({ size }, x, y), { bytes: 8 * n, verify: every(x => x) })
y.fill(1)
await bench('saxpy', () => saxpy.launch({ size }, 2, x, y), { bytes: 12 * n, flops: 2 * n, verify: every(x => 2 * x + 1) })
await bench('series', () => series.launch({ size }, x, y), { bytes: 8 * n, flops: 128 * n, verify: every(x => 2 * x) })

console.log(`${n} elements on ${dev.name}`)
console.log(table())
plot(Object.fromEntries(results.map(r => [r.name, r.gigabytesPerSecond ?? 0])), { title: 'GB/s', width: 60 })
