// Runs tasks on all workers, and compares every result with that of the script.
import { devices, kernel, pool, i32 } from 'offload'

const workers = devices().filter(d => /^(far|mpi):.*cpu/.test(d.id))
const sums = kernel((g, seed, x) => {
  let v = g.x * 7 + seed
  for (let i = 0; i < 20000; i++) v = (v * 1103515 + 12345) & 0xfffff
  x[g.x] = v & 1023
})
function expected(seed, n) {
  let sum = 0
  for (let g = 0; g < n; g++) {
    let v = g * 7 + seed
    for (let i = 0; i < 20000; i++) v = (Math.imul(v, 1103515) + 12345) & 0xfffff
    sum += v & 1023
  }
  return sum
}
const seeds = [1, 22, 333], want = seeds.map(s => expected(s, 4))
const bytes = Int32Array.from({ length: 250000 }, (_, j) => (j * 31) & 0xffff)
const tasks = pool(workers)
console.log('running on', workers.length)
let wrong = 0, end = 'complete'
try {
  const results = await tasks.map(Array.from({ length: 30 }, (_, i) => i), async (i, { device, queue }) => {
    const data = bytes.slice()
    data[i] = -i
    const room = device.buffer(i32, 8 << 20, { queue }) // which a worker without memory does not have
    const big = device.buffer(i32, data, { queue }), x = device.buffer(i32, 4, { queue })
    try {
      sums.launch({ size: 4, queue }, seeds[i % 3], x)
      const back = await big.read()
      for (let j = 0; j < back.length; j += j < 200 ? 1 : 997) if (back[j] !== data[j]) wrong++
      return (await x.read()).reduce((a, b) => a + b)
    } finally {
      room.free()
      big.free()
      x.free()
    }
  })
  results.forEach((r, i) => { if (r !== want[i % 3]) wrong++ })
} catch (e) {
  end = e.code ?? String(e)
}
console.log('wrong', wrong, 'end', end, 'lost', tasks.devices.filter(d => d.lost).length)
