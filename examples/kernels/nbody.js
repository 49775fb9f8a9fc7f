// Gravity between many bodies. The checks are the momentum, which the forces must not change, and a sum in f64.
import { device, kernel, f32 } from 'offload'
import { close, random } from './check.js'

const softening = 0.01
export const forces = kernel((g, x, y, z, m, ax, ay, az) => {
  const i = g.x
  let fx = 0, fy = 0, fz = 0
  for (let j = 0; j < x.length; j++) {
    const dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i]
    const r2 = dx * dx + dy * dy + dz * dz + softening
    const s = m[j] / (r2 * Math.sqrt(r2))
    fx += s * dx
    fy += s * dy
    fz += s * dz
  }
  ax[i] = fx
  ay[i] = fy
  az[i] = fz
})

if (import.meta.main) {
  const n = 80
  const next = random(12)
  const column = () => Float32Array.from({ length: n }, () => next() * 2 - 1)
  const [x, y, z] = [column(), column(), column()], m = Float32Array.from({ length: n }, next)
  const dev = device()
  const a = [dev.buffer(f32, n), dev.buffer(f32, n), dev.buffer(f32, n)]
  forces.launch({ size: n }, dev.buffer(x), dev.buffer(y), dev.buffer(z), dev.buffer(m), a[0], a[1], a[2])
  const [ax, ay, az] = await Promise.all(a.map(b => b.read()))

  const want = []
  for (let i = 0; i < n; i++) {
    let sum = 0
    for (let j = 0; j < n; j++) {
      const r2 = (x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2 + (z[j] - z[i]) ** 2 + softening
      sum += m[j] * (x[j] - x[i]) / r2 ** 1.5
    }
    want.push(sum)
  }
  close('acceleration', ax, want, 1e-4)
  const momentum = [ax, ay, az].map(v => v.reduce((sum, c, i) => sum + c * m[i], 0))
  close('momentum', momentum, [0, 0, 0], 1e-3)
}
