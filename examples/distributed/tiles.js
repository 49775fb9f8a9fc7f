// Computes a picture in tiles: each idle device computes the next one. The other devices compute the tiles of a lost device.
import { kernel, pool, u32 } from 'offload'
import { places } from './devices.js'
import { report } from './report.js'

const size = 256, tile = 64

const mandelbrot = kernel((g, left, top, out) => {
  const cx = (left + g.x) / size * 3 - 2.25, cy = (top + g.y) / size * 3 - 1.5
  let x = 0, y = 0, n = 0
  while (n < 200 && x * x + y * y < 4) {
    const t = x * x - y * y + cx
    y = 2 * x * y + cy
    x = t
    n++
  }
  out[g.y][g.x] = n
})

const corners = []
for (let top = 0; top < size; top += tile) for (let left = 0; left < size; left += tile) corners.push([left, top])

using workers = pool(places)
const tiles = await workers.map(corners, async ([left, top], { device, queue }) => {
  using out = device.buffer(u32, [tile, tile], { queue })
  mandelbrot.launch({ size: [tile, tile], queue }, left, top, out)
  return await out.read()
})
report('tiles', ...tiles)
