import { pipeline, kernel, f32 } from 'offload'

const multiply = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })

export default pipeline({
  device: ['cuda', 'opencl', 'cpu'],
  params: {
    gain: { type: f32, default: 1.5, min: 0.1, max: 10, unit: 'dB', doc: 'how much louder' },
    mode: { values: ['once', 'twice'], default: 'once' },
  },
  inputs: { x: [f32] },
  outputs: { y: [f32, ({ x }) => x.shape] },
  run({ gain, mode, x, y }) {
    multiply.launch({ size: x.length }, 10 ** ((mode === 'twice' ? 2 : 1) * gain / 20), x, y)
  },
})
