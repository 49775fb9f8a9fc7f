// Copies between two workers until one is lost, then uses the other.
import { device, f32 } from 'offload'

const [a, b] = [device('mpi:1/cpu:0'), device('mpi:2/cpu:0')]
const x = a.buffer(f32, 1 << 20), y = b.buffer(f32, 1 << 20)
await Promise.all([a.queue.sync(), b.queue.sync()])
console.log('running')
try {
  for (;;) {
    x.copyTo(y)
    y.copyTo(x)
    await y.read(0, 1)
    await x.read(0, 1)
  }
} catch (e) {
  console.log(e.code, e.message)
}
for (const d of [a, b]) {
  let end
  for (let i = 0; i < 3; i++) { // each failed copy is reported once
    try {
      const z = d.buffer(f32, 1000).fill(7)
      end = `goes on ${(await z.read())[999]}`
    } catch (e) {
      end = e.code
    }
  }
  console.log(d.id, end)
}
