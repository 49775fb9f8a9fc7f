// Tasks of a pool of workers that join and leave. A task waits until the file of its gate exists, in the folder that is the argument.
import { args, kernel, pool, i32 } from 'offload'
import fs from 'fs'
const count = kernel((g, n, x) => { for (let i = 0; i < 1000; i++) x[g.x] += n * (i & 7) })
const gate = async name => {
  for (;;) {
    try { return await fs.readText(args[0] + '/' + name) } catch { await new Promise(r => setTimeout(r, 10)) }
  }
}
using p = pool([], { join: true, tasks: 1 })
const n = 16
const sums = await p.map(Array.from({ length: n }, (_, i) => i), async (i, { device, queue }) => {
  console.log('task', i, 'on', device.id)
  const x = device.buffer(i32, 4, { queue })
  await gate(i < 8 ? '0' : '1')
  count.launch({ size: 4, queue }, i, x)
  return (await x.read()).reduce((a, b) => a + b)
})
console.log('right', sums.every((s, i) => s === 4 * i * 3500), 'of', sums.length)
