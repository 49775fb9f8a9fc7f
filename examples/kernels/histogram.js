// A histogram of bytes: each work-group counts in shared memory, then adds its counts to the result.
import { device, kernel, i32, u8 } from 'offload'
import { equal, random } from './check.js'

const histogram = kernel((g, data, bins) => {
  const local = g.shared(i32, 256)
  Atomics.add(local, data[g.x], 1)
  g.barrier()
  for (let b = g.local.x; b < 256; b += g.groupSize.x) {
    if (local[b] > 0) Atomics.add(bins, b, local[b])
  }
})

const n = 5000
const next = random(7)
const data = Uint8Array.from({ length: n }, () => Math.floor((next() + next()) * 128))
const dev = device()
const bins = dev.buffer(i32, 256)
// Whole groups take part, so that every work-item reaches the barrier with the others.
histogram.launch({ size: n }, dev.buffer(data), bins)

const want = new Int32Array(256)
for (const x of data) want[x]++
equal('histogram', await bins.read(), want)
