// LU factorisation in place, without pivoting: two launches for each column.
import { device, kernel, f64 } from 'offload'
import { close, random } from './check.js'

export const scale = kernel((g, a, k) => {
  const i = k + 1 + g.x
  a[i][k] /= a[k][k]
})
export const update = kernel((g, a, k) => {
  const i = k + 1 + g.y, j = k + 1 + g.x
  a[i][j] -= a[i][k] * a[k][j]
})

if (import.meta.main) {
  const n = 24
  const next = random(9)
  const A = Float64Array.from({ length: n * n }, (_, p) => next() + (p % (n + 1) === 0 ? n : 0))
  const a = device().buffer(A, { shape: [n, n] })
  for (let k = 0; k < n - 1; k++) {
    scale.launch({ size: n - 1 - k }, a, k)
    update.launch({ size: [n - 1 - k, n - 1 - k] }, a, k)
  }

  const lu = await a.read()
  const product = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      for (let k = 0; k <= Math.min(i, j); k++) product[i * n + j] += (k === i ? 1 : lu[i * n + k]) * lu[k * n + j]
    }
  }
  close('L·U', product, A, 1e-12)
}
