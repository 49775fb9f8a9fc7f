// The kernels of this example. They are compiled ahead of time, and the program does not contain this file:
//
//   orepl kernel kernels.js -o kernels.offload
//
// A signature makes kernel() compile at once, for these types.
import { kernel, f32, i32 } from 'offload'

export const square = kernel({ x: [f32], y: [f32] }, (g, x, y) => { y[g.x] = x[g.x] * x[g.x] })

export const smooth = kernel({ radius: i32, x: [f32], y: [f32] }, (g, radius, x, y) => {
  let sum = 0, count = 0
  for (let i = g.x - radius; i <= g.x + radius; i++) {
    if (i >= 0 && i < x.length) {
      sum += x[i]
      count++
    }
  }
  y[g.x] = sum / count
})
