// Solves the heat equation as examples/distributed/heat.js does, as processes: orepl mpirun --spmd -n 4 heat.js. Each rank has strips, and
// exchanges the rows at their edges with its neighbours after every step.
import { device, kernel, f32 } from 'offload'
import { mpi } from 'mpi'
import { rankOf, mine, collect } from './parts.js'
import { report } from '../distributed/report.js'

const width = 128, rows = 16, parts = 8, steps = 20
const d = device('cpu')

// The first and last rows of a strip are its halo.
const strips = new Map(mine(parts).map(part => {
  const now = d.buffer(f32, [rows + 2, width], (y, x) => x === 0 ? 100 : 0)
  return [part, { now, next: d.buffer(f32, [rows + 2, width], (y, x) => x === 0 ? 100 : 0) }]
}))

const step = kernel((g, now, next) => {
  const x = g.x + 1, y = g.y + 1
  next[y][x] = now[y][x] + 0.2 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1] - 4 * now[y][x])
})

/** @type {(buffer: import('offload').Buffer, y: number) => import('offload').Buffer} */
const row = (buffer, y) => buffer.view(y * width, width)
for (let i = 0; i < steps; i++) {
  for (const s of strips.values()) {
    step.launch({ size: [width - 2, rows] }, s.now, s.next)
    const last = s.now
    s.now = s.next
    s.next = last
  }
  const exchanges = []
  for (const [part, { now }] of strips) {
    for (const [other, edge, halo] of [[part - 1, 1, 0], [part + 1, rows, rows + 1]]) {
      if (other < 0 || other >= parts) continue
      // The tag is the part whose halo the row becomes, and the side.
      exchanges.push(mpi.send(row(now, edge), rankOf(other, parts), { tag: 2 * other + (other < part ? 1 : 0) }))
      exchanges.push(mpi.recv(rankOf(other, parts), { tag: 2 * part + (other < part ? 0 : 1), into: row(now, halo) }))
    }
  }
  await Promise.all(exchanges)
}
const plate = await collect(parts, part => /** @type {any} */ (strips.get(part)).now.read(width, rows * width))
if (plate) {
  if (!(plate[3][1] > 20 && plate[3][1] < 100)) throw new Error(`beside the hot edge it is ${plate[3][1]}`)
  report('heat', ...plate)
}
