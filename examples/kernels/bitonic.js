// Bitonic sort, one launch for each pair of stride and direction.
import { device, kernel } from 'offload'
import { equal, random } from './check.js'

const exchange = kernel((g, x, k, j) => {
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

const n = 512
const next = random(3)
const data = Float32Array.from({ length: n }, () => next() * 1000 - 500)
const x = device().buffer(data)
for (let k = 2; k <= n; k *= 2) {
  for (let j = k >> 1; j > 0; j >>= 1) exchange.launch({ size: n }, x, k, j)
}
equal('bitonic', await x.read(), data.slice().sort())
