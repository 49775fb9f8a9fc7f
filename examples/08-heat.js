// Heat equation by operations on whole arrays: a hot spot spreads in a plate with cold edges. It writes heat.png and heat.svg.
import { device, f32, u8 } from 'offload'
import { writeImage, writeText } from 'fs'
import { svg } from 'plot'

const d = device(), n = 128, rate = 0.2
let t = d.zeros(f32, [n, n]).map((v, i, j) => ((i - 40) ** 2 + (j - 60) ** 2 < 300 ? f32(1) : f32(0)))
const before = await t.sum()
for (let step = 0; step < 200; step++) {
  const inner = t.slice([1, -1], [1, -1])
  const next = inner.zip(t.slice([null, -2], [1, -1]), t.slice([2], [1, -1]), t.slice([1, -1], [null, -2]), t.slice([1, -1], [2]),
    (c, up, down, left, right) => c + rate * (up + down + left + right - 4 * c))
  t = next.pad(1)
}
const after = await t.sum(), [low, high] = [await t.min(), await t.max()]
const pixels = t.map(v => Math.sqrt(v / high) * 255, { type: u8 })
await writeImage('heat.png', { width: n, height: n, data: await pixels.read() })
await writeText('heat.svg', svg(await t.at(40).read()))
console.log(`heat ${before} spreads to ${low} … ${high.toFixed(3)}, and ${after.toFixed(1)} of it stays`)
if (!(low >= 0 && high < 1 && Math.abs(after - before) < 1)) throw new Error('heat was lost')
