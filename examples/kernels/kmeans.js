// One step of k-means in the plane: each point finds its nearest centre and adds itself to that cluster.
import { device, kernel, struct, f32, i32, i64 } from 'offload'
import { equal, random } from './check.js'

const Point = struct({ x: f32, y: f32 })
const n = 500, k = 5

export const assign = kernel((g, points, centres, cluster, count, sum) => {
  const p = points[g.x]
  let best = 0, nearest = Infinity
  for (let c = 0; c < centres.length; c++) {
    const dx = p.x - centres[c].x, dy = p.y - centres[c].y
    const d = dx * dx + dy * dy
    if (d < nearest) {
      nearest = d
      best = c
    }
  }
  cluster[g.x] = best
  Atomics.add(count, best, 1)
  Atomics.add(sum[best], 0, i64(p.x * 1000))
  Atomics.add(sum[best], 1, i64(p.y * 1000))
})

if (import.meta.main) {
  const next = random(6)
  const points = Array.from({ length: n }, () => ({ x: Math.fround(next()), y: Math.fround(next()) }))
  const centres = Array.from({ length: k }, () => ({ x: Math.fround(next()), y: Math.fround(next()) }))
  const dev = device()
  const cluster = dev.buffer(i32, n), count = dev.buffer(i32, k), sum = dev.buffer(i64, [k, 2])
  assign.launch({ size: n }, dev.buffer(Point, points), dev.buffer(Point, centres), cluster, count, sum)

  const wantCluster = points.map(p => {
    const d = centres.map(c => (p.x - c.x) ** 2 + (p.y - c.y) ** 2)
    return d.indexOf(Math.min(...d))
  })
  const wantCount = new Int32Array(k), wantSum = new Float64Array(2 * k)
  points.forEach((p, i) => {
    wantCount[wantCluster[i]]++
    wantSum[2 * wantCluster[i]] += Math.trunc(Math.fround(p.x * 1000))
    wantSum[2 * wantCluster[i] + 1] += Math.trunc(Math.fround(p.y * 1000))
  })
  equal('k-means cluster', await cluster.read(), wantCluster)
  equal('k-means count', await count.read(), wantCount)
  equal('k-means sum', Array.from(await sum.read(), Number), Array.from(wantSum))
}
