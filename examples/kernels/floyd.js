// All shortest paths of a graph by Floyd and Warshall: a launch for each intermediate node.
import { device, kernel, f32 } from 'offload'
import { equal, random } from './check.js'

export const relax = kernel((g, d, k) => {
  const i = g.y, j = g.x
  const detour = d[i][k] + d[k][j]
  if (detour < d[i][j]) d[i][j] = detour
})

if (import.meta.main) {
  const n = 40
  const next = random(11)
  const edges = Float32Array.from({ length: n * n }, (_, p) =>
    p % (n + 1) === 0 ? 0 : next() < 0.15 ? Math.ceil(next() * 20) : Infinity)
  const d = device().buffer(edges, { shape: [n, n] })
  for (let k = 0; k < n; k++) relax.launch({ size: [n, n] }, d, k)

  // The reference is the Bellman-Ford algorithm from each node.
  const want = new Float32Array(n * n)
  for (let s = 0; s < n; s++) {
    const dist = new Float32Array(n).fill(Infinity)
    dist[s] = 0
    for (let round = 0, changed = true; changed && round < n; round++) {
      changed = false
      for (let i = 0; i < n; i++) {
        if (dist[i] === Infinity) continue
        for (let j = 0; j < n; j++) {
          if (dist[i] + edges[i * n + j] < dist[j]) {
            dist[j] = dist[i] + edges[i * n + j]
            changed = true
          }
        }
      }
    }
    want.set(dist, s * n)
  }
  equal('floyd', await d.read(), want)
}
