// Computes a picture in tiles as examples/distributed/tiles.js does, as processes: orepl mpirun --spmd -n 4 tiles.js. Rank r computes every
// size-th tile from the r-th on.
import { device, kernel, u32 } from 'offload'
import { mpi } from 'mpi'
import { report } from '../distributed/report.js'

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

const d = device('cpu'), own = corners.filter((_, i) => i % mpi.size === mpi.rank), most = Math.ceil(corners.length / mpi.size)
const picture = d.buffer(u32, [most, tile * tile])
own.forEach(([left, top], i) => mandelbrot.launch({ size: [tile, tile] }, left, top, picture.view(i * tile * tile, [tile, tile])))
const all = await mpi.gather(picture)
if (all) report('tiles', ...corners.map((_, i) => {
  const at = (i % mpi.size * most + Math.floor(i / mpi.size)) * tile * tile
  return all.slice(at, at + tile * tile)
}))
