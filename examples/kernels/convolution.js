// Convolution of a signal with a table of weights that the kernel captures.
import { device, kernel, f32 } from 'offload'
import { close, random } from './check.js'

const weights = [1, 4, 6, 4, 1].map(w => w / 16)
const radius = weights.length >> 1

export const convolve = kernel((g, x, y) => {
  let sum = 0
  for (let k = -radius; k <= radius; k++) {
    const i = Math.min(Math.max(g.x + k, 0), x.length - 1)
    sum += weights[k + radius] * x[i]
  }
  y[g.x] = sum
})

if (import.meta.main) {
  const n = 300
  const next = random(13)
  const signal = Float32Array.from({ length: n }, next)
  const dev = device()
  const y = dev.buffer(f32, n)
  convolve.launch({ size: n }, dev.buffer(signal), y)
  const want = Array.from(signal, (_, i) =>
    weights.reduce((sum, w, k) => sum + w * signal[Math.min(Math.max(i + k - radius, 0), n - 1)], 0))
  close('convolution', await y.read(), want, 1e-6)
}
