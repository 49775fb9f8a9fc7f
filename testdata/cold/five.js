import { pipeline, kernel, f32 } from 'offload'

const scale = kernel((g, gain, x, y) => { y[g.y][g.x] = gain * x[g.y][g.x] })
const across = kernel((g, x, y) => {
  const w = x.shape[1]
  y[g.y][g.x] = (x[g.y][Math.max(g.x - 1, 0)] + 2 * x[g.y][g.x] + x[g.y][Math.min(g.x + 1, w - 1)]) / 4
})
const down = kernel((g, x, y) => {
  const h = x.shape[0]
  y[g.y][g.x] = (x[Math.max(g.y - 1, 0)][g.x] + 2 * x[g.y][g.x] + x[Math.min(g.y + 1, h - 1)][g.x]) / 4
})
const difference = kernel((g, x, y, z) => { z[g.y][g.x] = Math.abs(x[g.y][g.x] - y[g.y][g.x]) })
const steps = kernel((g, x, y) => { y[g.y][g.x] = x[g.y][g.x] < 0.5 ? 0 : Math.sqrt(x[g.y][g.x]) })

export default pipeline({
  device: 'cpu',
  inputs: { x: [f32, 2], gain: f32 },
  outputs: { y: [f32, ({ x }) => x.shape] },
  temporaries: { a: [f32, ({ x }) => x.shape], b: [f32, ({ x }) => x.shape] },
  run({ x, gain, y, a, b }) {
    const size = x.shape.toReversed()
    scale.launch({ size }, gain, x, y)
    across.launch({ size }, y, a)
    down.launch({ size }, a, b)
    difference.launch({ size }, b, y, a)
    steps.launch({ size }, a, y)
  },
})
