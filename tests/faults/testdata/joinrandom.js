// Tasks of a pool of workers that join and leave at any time.
import { args, kernel, pool, i32 } from 'offload'
const count = kernel((g, n, x) => { for (let i = 0; i < 20000000; i++) x[g.x] += n * (i & 1) })
using p = pool([], { join: true })
console.log('begin')
const n = Number(args[0])
const sums = await p.map(Array.from({ length: n }, (_, i) => i), async (i, { device, queue }) => {
  const x = device.buffer(i32, 64, { queue })
  count.launch({ size: 64, queue }, i % 50, x)
  const all = await x.read()
  return all.every(v => v === (i % 50) * 1e7) ? 1 : 0
})
console.log('right', sums.every(s => s === 1), 'of', sums.length)
