// Bitonic sort, one launch for each pair of stride and direction. The length is padded to a power of two.
import { device, kernel } from 'offload'
import { equal, random } from './check.js'

export const exchange = kernel((g, x, k, j) => {
  const i = g.x, other = i ^ j
  if (other > i) {
    const a = x[i], b = x[other]
    const ascending = (i & k) === 0
    if (ascending ? a > b : a < b) {
      x[i] = b
      x[other] = a
    }
  }
})

if (import.meta.main) {
  const n = 500
  const next = random(3)
  const data = Float32Array.from({ length: n }, () => next() * 1000 - 500)
  const room = 2 ** Math.ceil(Math.log2(Math.max(n, 1)))
  const padded = new Float32Array(room).fill(Infinity)
  padded.set(data)
  const x = device().buffer(padded)
  for (let k = 2; k <= room; k *= 2) {
    for (let j = k >> 1; j > 0; j >>= 1) exchange.launch({ size: room }, x, k, j)
  }
  equal('bitonic', await x.read(0, n), data.slice().sort())
}
