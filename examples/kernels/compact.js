// Compaction: keeps the elements that pass a test, in their order, by a prefix sum within each group.
import { device, kernel, i32 } from 'offload'
import { equal, random } from './check.js'

export const count = kernel((g, x, kept) => {
  const total = g.reduce.add(x[g.x] % 3 === 0 ? 1 : 0)
  if (g.local.x === 0) kept[g.group.x] = total
})
export const place = kernel((g, x, start, out) => {
  const keep = x[g.x] % 3 === 0 ? 1 : 0
  const before = g.scan.add(keep) - keep
  if (keep === 1) out[start[g.group.x] + before] = x[g.x]
})

if (import.meta.main) {
  const n = 1000, groupSize = 128, groups = Math.ceil(n / groupSize)
  const next = random(10)
  const data = Int32Array.from({ length: n }, () => Math.floor(next() * 1000))
  const dev = device()
  const x = dev.buffer(data), kept = dev.buffer(i32, groups), out = dev.buffer(i32, n)
  count.launch({ size: n, groupSize }, x, kept)
  let total = 0
  const starts = Int32Array.from(await kept.read(), k => (total += k) - k)
  place.launch({ size: n, groupSize }, x, dev.buffer(starts), out)
  equal('compact', (await out.read()).slice(0, total), data.filter(v => v % 3 === 0))
}
