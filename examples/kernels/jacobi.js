// Jacobi iteration for the heat equation on a square plate (as PolyBench's jacobi-2d).
import { device, kernel, f32 } from 'offload'
import { close } from './check.js'

const n = 40, steps = 20
export const step = kernel((g, a, b) => {
  const i = g.y, j = g.x
  if (i > 0 && j > 0 && i < n - 1 && j < n - 1) {
    b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j])
  } else {
    b[i][j] = a[i][j]
  }
})

if (import.meta.main) {
  const start = Float32Array.from({ length: n * n }, (_, k) => (k < n ? 100 : k % n === 0 ? 50 : 0))
  const dev = device()
  let a = dev.buffer(start, { shape: [n, n] })
  let b = dev.buffer(f32, [n, n])
  for (let s = 0; s < steps; s++) {
    step.launch({ size: [n, n] }, a, b)
    ;[a, b] = [b, a]
  }

  let want = Float64Array.from(start)
  for (let s = 0; s < steps; s++) {
    const next = want.slice()
    for (let i = 1; i < n - 1; i++) {
      for (let j = 1; j < n - 1; j++) {
        const k = i * n + j
        next[k] = 0.2 * (want[k] + want[k - 1] + want[k + 1] + want[k + n] + want[k - n])
      }
    }
    want = next
  }
  close('jacobi', await a.read(), want)
}
