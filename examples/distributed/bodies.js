// Simulates bodies that attract each other. Each device moves its share; after every step all devices receive the new positions.
import { kernel, f32 } from 'offload'
import { places, placeOf } from './devices.js'
import { report } from './report.js'

const n = 512, parts = 8, share = n / parts, steps = 5
if (n % parts !== 0) throw new RangeError(`${n} bodies are no multiple of ${parts} parts`)

// Every device holds the positions of all bodies, as x, y, z and mass.
const all = places.map(d => d.buffer(f32, [n, 4], (i, k) => k === 3 ? 1 + i % 7 : (Math.imul(i * 4 + k, 2654435761) >>> 0) / 2 ** 32 - 0.5))
const shares = Array.from({ length: parts }, (_, part) => {
  const d = placeOf(part, parts)
  return { bodies: all[places.indexOf(d)], first: part * share, speed: d.buffer(f32, [share, 3]), moved: d.buffer(f32, [share, 4]) }
})

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
  for (const s of shares) move.launch({ size: share }, s.first, s.bodies, s.speed, s.moved)
  for (const bodies of all)
    for (const s of shares) s.moved.view(0).copyTo(bodies.view(s.first * 4, share * 4))
}
const ends = await Promise.all(all.map(b => b.read()))
if (ends.some(e => e.some((v, i) => v !== ends[0][i]))) throw new Error('the devices differ')
report('bodies', ends[0])
