// Sparse matrix times vector, compressed rows.
import { device, kernel, f32 } from 'offload'
import { close, random } from './check.js'

export const spmv = kernel((g, start, column, value, x, y) => {
  let sum = 0
  for (let k = start[g.x]; k < start[g.x + 1]; k++) sum += value[k] * x[column[k]]
  y[g.x] = sum
})

if (import.meta.main) {
  const n = 200
  const next = random(5)
  const start = [0], column = [], value = [], want = []
  const x = Float32Array.from({ length: n }, next)
  for (let row = 0; row < n; row++) {
    let sum = 0
    for (let k = Math.floor(next() * 12); k > 0; k--) {
      const c = Math.floor(next() * n), v = Math.fround(next() - 0.5)
      column.push(c)
      value.push(v)
      sum += v * x[c]
    }
    start.push(column.length)
    want.push(sum)
  }
  const dev = device()
  const y = dev.buffer(f32, n)
  spmv.launch({ size: n }, dev.buffer(Int32Array.from(start)), dev.buffer(Int32Array.from(column)),
    dev.buffer(Float32Array.from(value)), dev.buffer(x), y)
  close('spmv', await y.read(), want)
}
