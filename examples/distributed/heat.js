// Solves the heat equation on a plate cut into strips. Each strip holds a row of each neighbour at its edges, the halo, which is
// copied after every step from device to device.
import { kernel, f32 } from 'offload'
import { placeOf } from './devices.js'
import { report } from './report.js'

const width = 128, rows = 16, parts = 8, steps = 20

// The first and last rows of a strip are its halo.
const strips = Array.from({ length: parts }, (_, part) => {
  const d = placeOf(part, parts)
  const now = d.buffer(f32, [rows + 2, width], (y, x) => x === 0 ? 100 : 0)
  return { now, next: d.buffer(f32, [rows + 2, width], (y, x) => x === 0 ? 100 : 0) }
})

const step = kernel((g, now, next) => {
  const x = g.x + 1, y = g.y + 1
  next[y][x] = now[y][x] + 0.2 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1] - 4 * now[y][x])
})

/** @type {(buffer: import('offload').Buffer, y: number) => import('offload').Buffer} */
const row = (buffer, y) => buffer.view(y * width, width)
for (let i = 0; i < steps; i++) {
  for (const s of strips) step.launch({ size: [width - 2, rows] }, s.now, s.next)
  for (const s of strips) [s.now, s.next] = [s.next, s.now]
  for (let p = 1; p < parts; p++) {
    const above = strips[p - 1].now, below = strips[p].now
    row(above, rows).copyTo(row(below, 0))
    row(below, 1).copyTo(row(above, rows + 1))
  }
}
const plate = await Promise.all(strips.map(s => s.now.read(width, rows * width)))
if (!(plate[3][1] > 20 && plate[3][1] < 100)) throw new Error(`beside the hot edge it is ${plate[3][1]}`)
report('heat', ...plate)
