// Matrix product with tiles in shared memory.
import { device, kernel, f32 } from 'offload'
import { close, random } from './check.js'

const T = 16
export const gemm = kernel((g, a, b, c) => {
  const ta = g.shared(f32, T, T), tb = g.shared(f32, T, T)
  const x = g.local.x, y = g.local.y
  let sum = 0
  for (let t = 0; t < a.shape[1]; t += T) {
    ta[y][x] = g.y < a.length && t + x < a.shape[1] ? a[g.y][t + x] : 0
    tb[y][x] = t + y < b.length && g.x < b.shape[1] ? b[t + y][g.x] : 0
    g.barrier()
    for (let k = 0; k < T; k++) sum += ta[y][k] * tb[k][x]
    g.barrier()
  }
  if (g.y < c.length && g.x < c.shape[1]) c[g.y][g.x] = sum
})

if (import.meta.main) {
  const [m, k, n] = [37, 50, 41]
  const next = random(1)
  const A = Float32Array.from({ length: m * k }, () => next() - 0.5)
  const B = Float32Array.from({ length: k * n }, () => next() - 0.5)
  const dev = device()
  const c = dev.buffer(f32, [m, n])
  // Whole groups, since the items beyond the edge help to load the tiles.
  gemm.launch({ groups: [Math.ceil(n / T), Math.ceil(m / T)], groupSize: [T, T] },
    dev.buffer(A, { shape: [m, k] }), dev.buffer(B, { shape: [k, n] }), c)

  const want = new Float64Array(m * n)
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0
      for (let p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j]
      want[i * n + j] = sum
    }
  }
  close('gemm', await c.read(), want)
}
