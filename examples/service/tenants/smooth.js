// The mean of each element and its neighbours, times a gain.
import { pipeline, kernel, f32, i32 } from 'offload'

const spread = kernel((g, x, sum) => {
  const left = Math.max(g.x - 1, 0), right = Math.min(g.x + 1, x.length - 1)
  sum[g.x] = (x[left] + x[g.x] + x[right]) / 3
})
const scale = kernel((g, gain, sum, y) => { y[g.x] = gain * sum[g.x] })

export default pipeline({
  params: {
    gain: { type: f32, default: 1, min: 0, max: 100, doc: 'factor of the result' },
    rounds: { type: i32, default: 1, min: 1, max: 8, doc: 'how often the mean is taken' },
  },
  inputs: { x: [f32] },
  outputs: { y: [f32, ({ x }) => x.shape] },
  temporaries: { sum: [f32, ({ x }) => x.shape], next: [f32, ({ x }) => x.shape] },
  run({ x, y, sum, next, gain, rounds }) {
    const size = x.length
    spread.launch({ size }, x, sum)
    let from = sum, to = next
    for (let i = 1; i < rounds; i++) {
      spread.launch({ size }, from, to);
      [from, to] = [to, from]
    }
    scale.launch({ size }, gain, from, y)
  },
})
