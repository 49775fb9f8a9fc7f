// The Mandelbrot set, with an early exit from the loop.
import { device, kernel, i32, f64 } from 'offload'
import { equal } from './check.js'

const w = 60, h = 40, limit = 200
export const mandelbrot = kernel((g, image) => {
  const cx = g.x / w * 3 - 2.25, cy = g.y / h * 2.5 - 1.25
  let x = 0, y = 0, n = 0
  while (n < limit && x * x + y * y <= 4) {
    const t = x * x - y * y + cx
    y = 2 * x * y + cy
    x = t
    n++
  }
  image[g.y][g.x] = n
}, { real: f64, contract: false })

if (import.meta.main) {
  const image = device().buffer(i32, [h, w])
  mandelbrot.launch({ size: [w, h] }, image)

  // JavaScript's arithmetic is f64 without fused operations, so all counts must be equal.
  const want = []
  for (let py = 0; py < h; py++) {
    for (let px = 0; px < w; px++) {
      const cx = px / w * 3 - 2.25, cy = py / h * 2.5 - 1.25
      let x = 0, y = 0, n = 0
      while (n < limit && x * x + y * y <= 4) [x, y, n] = [x * x - y * y + cx, 2 * x * y + cy, n + 1]
      want.push(n)
    }
  }
  const got = await image.read()
  equal('mandelbrot', got, want)
  for (let y = 0; y < h; y += 4) {
    let row = ''
    for (let x = 0; x < w; x += 2) row += ' .:-=+*#%@'[Math.min(9, Math.floor(Math.log2(got[y * w + x])))]
    console.log(row)
  }
}
