// Compares two forms of three kernels over sizes and devices, keeps the results, and fails if one became slower.
//
//   orepl bench examples/bench/kernels.js
import { devices, kernel, f32 } from 'offload'
import { configure, sweep, powers, curves } from 'bench'
import { png } from 'plot'
import { writeBytes } from 'fs'

configure({ save: 'kernels', compare: 'kernels', failIf: 'median > 5%', json: 'kernels.json', report: 'kernels.html' })
const rows = []
for (const [name, factor, variants] of /** @type {const} */ ([
  ['copy', 1, { one: kernel((g, x, y) => { y[g.x] = x[g.x] }), strided: kernel((g, x, y) => { for (let i = g.x; i < x.length; i += g.size.x) y[i] = x[i] }) }],
  ['scale', 3, { one: kernel((g, x, y) => { y[g.x] = 3 * x[g.x] }), strided: kernel((g, x, y) => { for (let i = g.x; i < x.length; i += g.size.x) y[i] = 3 * x[i] }) }],
  ['add', 2, { one: kernel((g, x, y) => { y[g.x] = x[g.x] + x[g.x] }), strided: kernel((g, x, y) => { for (let i = g.x; i < x.length; i += g.size.x) y[i] = x[i] + x[i] }) }],
])) rows.push(...await sweep(name, {
  axes: { n: powers(2 ** 8, 2 ** 18, 4), device: devices().slice(0, 2) }, variants,
  setup: ({ n, device }) => ({ x: device.buffer(f32, n, i => i % 100), y: device.buffer(f32, n) }),
  run: ({ x, y }, { n }, k) => k.launch({ size: k === variants.one ? n : Math.min(n, 4096) }, x, y),
  verify: async ({ y }) => (await y.read()).every((v, i) => v === factor * (i % 100)),
  bytes: ({ n }) => 8 * n, repeats: 10, minTime: 0.2,
}))
const { x, series, error } = curves(rows, 'n', 'gigabytesPerSecond')
if (!rows.some(r => r.skipped)) await writeBytes('kernels.png', png(series, { x, error, log: 'xy', xLabel: 'elements', yLabel: 'GB/s' }))
