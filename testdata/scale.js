import { pipeline, kernel, f32 } from 'offload'

const multiply = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })

export default pipeline({
  inputs: { a: f32, x: [f32] },
  outputs: { y: [f32, ({ x }) => x.shape] },
  run({ a, x, y }) {
    if (a === 0) throw new RangeError('a scale of nothing')
    multiply.launch({ size: x.length }, a, x, y)
  },
})
