// k-means on a table: groups the points of a CSV file around three centres, by operations on whole arrays.
import { device, f32, i32 } from 'offload'
import { stack } from 'array'
import { readCSV, writeText } from 'fs'

const d = device(), k = 3, n = 3000
const noise = await d.normal(f32, [n, 2], { seed: 1, deviation: 0.1 }).read()
const lines = Array.from({ length: n }, (_, i) => `${noise[2 * i] + i % 3},${noise[2 * i + 1] + (i % 3) ** 2}`)
await writeText('points.csv', 'x,y\n' + lines.join('\n'))

const { x, y } = (await readCSV('points.csv', { types: { x: 'f32', y: 'f32' } })).columns
const points = stack([d.buffer(x), d.buffer(y)], { axis: 1 })
let centres = points.slice(0, k), nearest = d.zeros(i32, n), moved = 1
for (let step = 0; step < 20 && moved > 1e-5; step++) {
  const squares = points.reshape(n, 1, 2).zip(centres, (p, c) => (p - c) * (p - c)).sum(2)
  nearest = squares.argmin(1)
  const member = nearest.reshape(1, n).zip(d.arange(i32, k).reshape(k, 1), (a, c) => (a === c ? f32(1) : f32(0)))
  const next = member.matmul(points).zip(member.sum({ axis: 1, keepDims: true }), (sum, count) => sum / Math.max(count, 1))
  moved = await next.zip(centres, (a, b) => Math.abs(a - b)).max()
  centres = next
}
const found = Array.from(await centres.read(), v => Math.round(v))
console.log('centres', found.join(' '), 'points of each', (await (await nearest.bincount()).read()).join(' '))
if (found.sort().join(' ') !== '0 0 1 1 2 4') throw new Error('the centres are wrong')
