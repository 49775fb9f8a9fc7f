//# args: f32[1], f32[1], f32[1], f32[1]
// the left product is fused, else the right one
(g, a, b, c, y) => {
  const i = g.x
  y[i] = a[i] * b[i] + c[i]
  y[i] = c[i] + a[i] * b[i]
  y[i] = a[i] * b[i] + b[i] * c[i]
  y[i] = a[i] * b[i] - c[i]
  y[i] = c[i] - (a[i] * b[i])
  y[i] += a[i] * b[i]
  y[i] -= a[i] * b[i]
}
---
//# args: f32[1], f32[1], f32[1], f64[1], i32[1]
// never through a name, a unary minus, a call, ?: or another type
(g, a, b, y, d, n) => {
  const i = g.x
  const p = a[i] * b[i]
  y[i] = p + 1
  y[i] = -(a[i] * b[i]) + 1
  y[i] = Math.abs(a[i] * b[i]) + 1
  d[i] = a[i] * b[i] + d[i]
  y[i] = n[i] * n[i] + a[i]
  y[i] = a[i] ** 2 + 1
}
---
//# args: f32[1], f32[1]
//# options: contract=false
(g, a, y) => { y[g.x] = a[g.x] * 2 + 1 }
