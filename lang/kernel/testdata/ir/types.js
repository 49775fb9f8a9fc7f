//# args: number, number, number, number, i32[1], f32[1]
// n is an index bound, s a shift count, k joins an integer expression, f a factor
(g, n, s, k, f, x, y) => {
  for (let i = 0; i < n; i++) x[i] = x[i] << s
  y[g.x + k * 2] = f * y[g.x]
}
---
//# args: number, number, f32[1]
// nothing needs an integer
(g, a, b, y) => {
  if (a > 2) y[g.x] = a * b
  else y[g.x] = b
}
---
//# args: number, number, i32[1]
// h is an integer because it is combined with w, which is one
(g, w, h, y) => {
  if (g.x < w * h) y[g.y * w + g.x] = 1
}
---
//# args: number, f64[1], f32[1]
// the real type is the widest float
(g, a, d, x) => { d[g.x] = a / 3 + x[g.x] * 0.1 }
---
//# args: f32[1]
// the join of a let
(g, y) => {
  let a = 0, b = 0, c = 0
  a = a + 1
  b = b + 0.5
  c = 4294967295
  let t = a > 3
  t = t && b > 2
  y[g.x] = a + b + c + t
}
---
//# args: i64[1], bigint, u64[1]
(g, x, n, u) => {
  x[g.x] = (x[g.x] * n + 1n) / 3n + (x[g.x] >> 2n) + 5
  u[g.x] = u[g.x] >> 63n ^ 0xffffffffffffffffn
  if (x[g.x] < u[g.x] && n > 0.5) x[g.x] = n % 7n
}
---
//# args: u8[1], f16[1], bf16[1], boolean, bool[1]
(g, b, h, e, flag, t) => {
  b[g.x] = b[g.x] + 1.5
  h[g.x] = h[g.x] + e[g.x]
  t[g.x] = flag && t[g.x]
  e[g.x] = f16(0.1) + bf16(h[g.x])
}
---
//# args: i32, u32, f64, f32[1]
// an explicit signature
(g, i, u, d, y) => { y[g.x] = i + u + d }
---
//# args: f32[1]
// constants are exact until they meet a type
(g, y) => {
  const third = 1 / 3, k = 2, big = 1e10
  y[g.x] = y[g.x] * third + k
  y[g.x] = (g.x + k) * big
}
