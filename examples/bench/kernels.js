// Compares two forms of three kernels over sizes and devices, keeps the results, and fails if one became slower.
//
//   orepl bench examples/bench/kernels.js
import { devices, kernel, f32 } from 'offload'
import { configure, sweep, powers, curves } from 'bench'
import { svg } from 'plot'
import { writeText } from 'fs'

configure({ save: 'kernels', compare: 'kernels', failIf: 'median > 5%', json: 'kernels.json', report: 'kernels.html' })
const copy = kernel((g, x, y) => { y[g.x] = x[g.x] }), copy2 = kernel((g, x, y) => { y[2 * g.x] = x[2 * g.x]; y[2 * g.x + 1] = x[2 * g.x + 1] })
const scale = kernel((g, x, y) => { y[g.x] = 3 * x[g.x] }), scale2 = kernel((g, x, y) => { y[2 * g.x] = 3 * x[2 * g.x]; y[2 * g.x + 1] = 3 * x[2 * g.x + 1] })
const saxpy = kernel((g, x, y) => { y[g.x] = 2 * x[g.x] + y[g.x] }), saxpy2 = kernel((g, x, y) => { for (let i = 2 * g.x; i < 2 * g.x + 2; i++) y[i] = 2 * x[i] + y[i] })
const rows = []
for (const [name, one, two, factor, arrays] of /** @type {const} */ ([['copy', copy, copy2, 1, 2], ['scale', scale, scale2, 3, 2], ['saxpy', saxpy, saxpy2, 2, 3]])) {
  rows.push(...await sweep(name, {
    axes: { n: powers(2 ** 8, 2 ** 18, 4), device: devices().slice(0, 2) },
    setup: ({ n, device }) => ({ x: device.buffer(f32, n, i => i % 100), y: device.buffer(f32, n) }),
    variants: { one: ({ x, y }, { n }) => one.launch({ size: n }, x, y), two: ({ x, y }, { n }) => two.launch({ size: n / 2 }, x, y) },
    verify: async ({ y }) => (await y.read()).every((v, i) => v === factor * (i % 100)),
    bytes: ({ n }) => 4 * arrays * n, repeats: 10, minTime: 0.2,
  }))
}
const { x, series } = curves(rows, 'n', 'gigabytesPerSecond')
await writeText('kernels.svg', svg(series, { x, log: 'x', xLabel: 'elements', yLabel: 'GB/s' }))
