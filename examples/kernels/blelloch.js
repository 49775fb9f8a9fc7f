// Exclusive prefix sum of blocks by Blelloch's up-sweep and down-sweep in shared memory.
import { device, kernel, i32 } from 'offload'
import { equal, random } from './check.js'

const block = 256
export const scan = kernel((g, x) => {
  const t = g.shared(i32, block)
  const l = g.local.x
  const inside = g.x < x.length
  t[l] = inside ? x[g.x] : 0
  for (let d = 1; d < block; d *= 2) {
    g.barrier()
    const i = (l + 1) * d * 2 - 1
    if (i < block) t[i] += t[i - d]
  }
  g.barrier()
  if (l === 0) t[block - 1] = 0
  for (let d = block >> 1; d > 0; d >>= 1) {
    g.barrier()
    const i = (l + 1) * d * 2 - 1
    if (i < block) {
      const left = t[i - d]
      t[i - d] = t[i]
      t[i] += left
    }
  }
  g.barrier()
  if (inside) x[g.x] = t[l]
})

if (import.meta.main) {
  const next = random(2)
  const n = 1000
  const data = Int32Array.from({ length: n }, () => Math.floor(next() * 100))
  const x = device().buffer(data)
  // Whole groups, since the items beyond the end take part in the sweeps.
  scan.launch({ groups: Math.ceil(n / block), groupSize: block }, x)

  const want = new Int32Array(data.length)
  for (let i = 0; i < data.length; i++) want[i] = i % block === 0 ? 0 : want[i - 1] + data[i - 1]
  equal('blelloch', await x.read(), want)
}
