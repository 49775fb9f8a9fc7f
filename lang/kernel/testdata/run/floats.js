//# args: f64[1], f64[1], f64[1]
//# options: contract=false
(g, a, b, y) => { y[g.x] = a[g.x] * b[g.x] + y[g.x] - a[g.x] / b[g.x] }
---
//# args: f64[1], f64[1], f64[1]
//# options: contract=false
(g, a, b, y) => { y[g.x] = a[g.x] % b[g.x] }
---
//# args: f64[1], f64[1]
(g, a, y) => { const x = a[g.x]; y[g.x] = Math.floor(x) + 3 * 0 }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = Math.round(a[g.x]) }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = Math.trunc(a[g.x]) }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = Math.ceil(a[g.x]) }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = Math.sign(a[g.x]) }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = Math.sqrt(Math.abs(a[g.x])) }
---
//# args: f64[1], f64[1], f64[1]
(g, a, b, y) => { y[g.x] = Math.min(a[g.x], b[g.x]) }
---
//# args: f64[1], f64[1], f64[1]
(g, a, b, y) => { y[g.x] = Math.max(a[g.x], b[g.x], -1) }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = a[g.x] ** 2 }
---
//# args: f64[1], f64[1], i32[1]
(g, a, b, y) => {
  const p = a[g.x], q = b[g.x]
  y[g.x] = (p < q ? 1 : 0) + (p <= q ? 2 : 0) + (p > q ? 4 : 0) + (p >= q ? 8 : 0) + (p === q ? 16 : 0) + (p !== q ? 32 : 0)
}
---
//# args: f64[1], f64[1]
//# options: contract=false
(g, a, y) => {
  let s = 0
  for (let k = 0; k < 8; k++) s += a[(g.x + k) & 63] / (k + 1)
  y[g.x] = s
}
---
//# args: i32[1], f64[1]
(g, a, y) => { y[g.x] = a[g.x] / 7 }
---
//# args: f64[1], f64[1]
(g, a, y) => { y[g.x] = -a[g.x] }
---
//# args: f64[1], f64[1], f64[1]
(g, a, b, y) => { y[g.x] = (a[g.x] || b[g.x]) + (a[g.x] && 1) }
---
//# args: f64[1], f64[1]
//# let K = 0.1
//# options: contract=false
(g, a, y) => {
  const third = 1 / 3
  y[g.x] = a[g.x] * third + K * Math.PI - (2 ** 10 >>> 3) + 7 % 4
}
---
//# args: number, f64[1], f64[1]
//# options: contract=false
(g, s, a, y) => { y[g.x] = a[g.x] * s + s / 2 }
