// Computes one picture on two devices at once: an OpenCL device computes the upper half, the CPU the lower half. A queue of the CPU
// waits for both and joins the halves. The result equals that of one device bit for bit.
import { device, kernel, u8 } from 'offload'
import fs from 'fs'

const near = device('cpu')
const far = device(['opencl', 'cpu']) // without an OpenCL driver it warns, and the CPU computes both halves
const w = 640, h = 480, half = h >> 1

const mandelbrot = kernel((g, from, out) => {
  const cx = -2.2 + 3 * g.x / w, cy = -1.125 + 2.25 * (g.y + from) / h
  let x = 0, y = 0, n = 0
  while (n < 255 && x * x + y * y < 4) {
    const t = x * x - y * y + cx
    y = 2 * x * y + cy
    x = t
    n++
  }
  out[g.y][g.x] = 255 - n
})

// Both devices start without an await. The CPU's queue waits for the other device before it copies the upper half.
const upper = far.buffer(u8, [half, w], { label: 'upper half' })
const joined = near.buffer(u8, [h, w], { label: 'picture' })
mandelbrot.launch({ size: [w, half] }, 0, upper)
mandelbrot.launch({ size: [w, h - half] }, half, joined.view(w * half, [h - half, w]))
near.queue.wait(far.queue.record())
upper.copyTo(joined.view(0, [half, w]))

const whole = near.buffer(u8, [h, w])
mandelbrot.launch({ size: [w, h] }, 0, whole)
const got = await joined.read(), want = await whole.read()
const wrong = got.findIndex((v, i) => v !== want[i])
if (wrong >= 0) throw new Error(`pixel ${wrong} is ${got[wrong]} in the halves, and ${want[wrong]} in the whole`)
await fs.writeImage('two-devices.png', joined)
console.log(`${w}×${h} pixels on two devices, equal to those of one`)
