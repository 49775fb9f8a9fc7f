// A histogram of bytes: each work-group counts in shared memory, then adds its counts to the result.
import { device, kernel, i32, u8 } from 'offload'
import { equal, random } from './check.js'

export const histogram = kernel((g, data, bins) => {
  const local = g.shared(i32, 256)
  if (g.x < data.length) Atomics.add(local, data[g.x], 1)
  g.barrier()
  for (let b = g.local.x; b < 256; b += g.groupSize.x) {
    if (local[b] > 0) Atomics.add(bins, b, local[b])
  }
})

if (import.meta.main) {
  const n = 5000
  const next = random(7)
  const data = Uint8Array.from({ length: n }, () => Math.floor((next() + next()) * 128))
  const dev = device()
  const bins = dev.buffer(i32, 256)
  // Whole groups, since the items beyond the end help to add the counts up.
  histogram.launch({ groups: Math.ceil(n / 256), groupSize: 256 }, dev.buffer(data), bins)

  const want = new Int32Array(256)
  for (const x of data) want[x]++
  equal('histogram', await bins.read(), want)
}
