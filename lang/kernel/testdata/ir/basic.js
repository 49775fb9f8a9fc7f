//# args: number, f32[1], f32[1]
(g, a, x, y) => {
  const i = g.x
  y[i] = a * x[i] + y[i]
}
---
//# args: f32[2], f32[2], number
(g, src, dst, r) => {
  const [h, w] = src.shape
  if (g.x >= w || g.y >= h) return
  let sum = 0, n = 0
  for (let dy = -r; dy <= r; dy++)
    for (let dx = -r; dx <= r; dx++) {
      const y = g.y + dy, x = g.x + dx
      if (y < 0 || x < 0 || y >= h || x >= w) continue
      sum += src[y][x]
      n++
    }
  dst[g.y][g.x] = sum / n
}
---
//# args: f32[1], f32[1]
// a method
scale(g, x, y) { y[g.x] = 2 * x[g.x] }
---
//# args: f32[1]
function half(g, x) { x[g.x] /= 2 }
