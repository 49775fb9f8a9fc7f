// Simulates bodies that attract each other, as examples/distributed/bodies.js does, as processes: orepl mpirun --spmd -n 4 bodies.js. Each
// rank moves its share; after every step all ranks receive the new positions.
import { device, kernel, f32 } from 'offload'
import { mpi } from 'mpi'
import { report } from '../distributed/report.js'

const n = 512, steps = 5, share = n / mpi.size
if (n % mpi.size !== 0) throw new RangeError(`${n} bodies are no multiple of ${mpi.size} ranks`)

// Every rank holds the positions of all bodies, as x, y, z and mass.
const d = device('cpu'), first = mpi.rank * share
const bodies = d.buffer(f32, [n, 4], (i, k) => k === 3 ? 1 + i % 7 : (Math.imul(i * 4 + k, 2654435761) >>> 0) / 2 ** 32 - 0.5)
const speed = d.buffer(f32, [share, 3]), moved = d.buffer(f32, [share, 4])

const move = kernel((g, first, bodies, speed, moved) => {
  const i = first + g.x
  const x = bodies[i][0], y = bodies[i][1], z = bodies[i][2]
  let ax = 0, ay = 0, az = 0
  for (let j = 0; j < n; j++) {
    const dx = bodies[j][0] - x, dy = bodies[j][1] - y, dz = bodies[j][2] - z
    const inverse = 1 / Math.sqrt(dx * dx + dy * dy + dz * dz + 0.01)
    const pull = bodies[j][3] * inverse * inverse * inverse
    ax += pull * dx
    ay += pull * dy
    az += pull * dz
  }
  const dt = 0.0001
  speed[g.x][0] += dt * ax
  speed[g.x][1] += dt * ay
  speed[g.x][2] += dt * az
  moved[g.x][0] = x + dt * speed[g.x][0]
  moved[g.x][1] = y + dt * speed[g.x][1]
  moved[g.x][2] = z + dt * speed[g.x][2]
  moved[g.x][3] = bodies[i][3]
})

for (let i = 0; i < steps; i++) {
  move.launch({ size: share }, first, bodies, speed, moved)
  await mpi.allGather(moved, { into: bodies })
}
const ends = await bodies.read()
const sums = await mpi.allReduce(Float32Array.of(ends[0], ends[4 * n - 2]), 'max')
if (sums[0] !== ends[0] || sums[1] !== ends[4 * n - 2]) throw new Error('the ranks differ')
if (mpi.rank === 0) report('bodies', ends)
