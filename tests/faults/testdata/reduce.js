// Adds buffers of two workers until one is lost, then uses the other.
import { collective, device, f32 } from 'offload'

const list = [device('mpi:1/cpu:0'), device('mpi:2/cpu:0')]
const sizes = [100, 10000, 1 << 20].map(n => list.map(d => d.buffer(f32, n).fill(0)))
await Promise.all(list.map(d => d.queue.sync()))
console.log('running')
try {
  for (;;) {
    for (const buffers of sizes) collective.allReduce(buffers)
    for (const buffers of sizes) for (const b of buffers) await b.read(0, 1)
  }
} catch (e) {
  console.log(e.code, e.message)
}
for (const d of list) {
  let end
  for (let i = 0; i < 10; i++) { // each failed command is reported once
    try {
      const z = d.buffer(f32, 1000).fill(7)
      end = `goes on ${(await z.read())[999]}`
    } catch (e) {
      end = e.code
    }
  }
  console.log(d.id, end)
}
