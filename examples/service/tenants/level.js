// The elements without their mean, divided by their mean distance to it.
import { pipeline, kernel, f32 } from 'offload'

const add = kernel((g, x, sum) => { Atomics.add(sum, 0, x[g.x]) })
const distance = kernel((g, x, sum, d) => { d[g.x] = Math.abs(x[g.x] - sum[0] / x.length) })
const level = kernel((g, strength, x, sum, spread, y) => {
  const mean = sum[0] / x.length, unit = Math.max(spread[0] / x.length, 1e-6)
  y[g.x] = x[g.x] + strength * ((x[g.x] - mean) / unit - x[g.x])
})

export default pipeline({
  params: { strength: { type: f32, default: 1, min: 0, max: 1, doc: 'share of the result' } },
  inputs: { x: [f32] },
  outputs: { y: [f32, ({ x }) => x.shape] },
  temporaries: { d: [f32, ({ x }) => x.shape], sum: [f32, 1], spread: [f32, 1] },
  run({ x, y, d, sum, spread, strength }) {
    const size = x.length
    sum.fill(0)
    spread.fill(0)
    add.launch({ size }, x, sum)
    distance.launch({ size }, x, sum, d)
    add.launch({ size }, d, spread)
    level.launch({ size }, strength, x, sum, spread, y)
  },
})
