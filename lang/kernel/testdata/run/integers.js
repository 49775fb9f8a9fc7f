//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { y[g.x] = a[g.x] + b[g.x] }
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { y[g.x] = Math.imul(a[g.x], b[g.x]) ^ a[g.x] & b[g.x] | (a[g.x] - b[g.x] | 0) }
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { y[g.x] = (a[g.x] << b[g.x]) + (a[g.x] >> b[g.x]) | 0 }
---
//# args: i32[1], i32[1], u32[1]
(g, a, b, y) => { y[g.x] = a[g.x] >>> b[g.x] }
---
//# args: u32[1], u32[1], u32[1]
(g, a, b, y) => { y[g.x] = (a[g.x] >> 3) + (~b[g.x]) | 0 }
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = (a[g.x] / b[g.x]) | 0 }
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = a[g.x] % b[g.x] }
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = Math.floor(a[g.x] / b[g.x]) }
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = Math.trunc(a[g.x] / b[g.x]) + ~~(a[g.x] / b[g.x]) }
---
//# args: u32[1], u32[1], u32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = (a[g.x] / b[g.x]) >>> 0 }
---
//# args: u32[1], i32[1], i32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = (a[g.x] / b[g.x]) | 0 }
---
//# args: i32[1], u32[1], i32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = a[g.x] % b[g.x] + ((a[g.x] / b[g.x]) >> 0) }
---
//# args: u32[1], i32[1], u32[1]
(g, a, b, y) => { if (b[g.x] !== 0) y[g.x] = a[g.x] % b[g.x] }
---
//# args: u32[1], i32[1], i32[1]
(g, a, b, y) => {
  const u = a[g.x], s = b[g.x]
  y[g.x] = (u < s ? 1 : 0) + (u === s ? 2 : 0) + (s <= u ? 4 : 0) + (u > -1 ? 8 : 0) + (s < 4294967295 ? 16 : 0)
}
---
//# args: u32[1], i32[1], i32[1], u32[1]
(g, a, b, y, z) => {
  y[g.x] = Math.min(a[g.x], b[g.x])
  z[g.x] = Math.max(a[g.x], b[g.x])
}
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => {
  y[g.x] = Math.clz32(a[g.x]) + 100 * Math.mulhi(a[g.x] >> 3, b[g.x] >> 2) | 0
}
---
//# args: i32[1], i32[1], i32[1]
(g, a, b, y) => { y[g.x] = Math.abs(a[g.x] >> 1) + Math.sign(b[g.x]) * 3 + Math.min(a[g.x], b[g.x], 7) + Math.clamp(b[g.x], -5, 5) | 0 }
---
//# args: i32[1], i32[1]
(g, a, y) => {
  let h = 2166136261
  for (let k = 0; k < 4; k++) h = Math.imul(h ^ (a[g.x] >>> (8 * k) & 255), 16777619)
  y[g.x] = h
}
---
//# args: i32[1], f64[1], i32[1]
(g, a, f, y) => {
  const i = a[g.x], x = f[g.x]
  y[g.x] = (i < x ? 1 : 0) + (i == x ? 2 : 0) + (x >= i ? 4 : 0) + (x != x ? 8 : 0) + (!x ? 16 : 0) + (i ? 32 : 0)
}
---
//# args: f64[1], i32[1], u32[1]
(g, f, y, z) => { y[g.x] = f[g.x] | 0; z[g.x] = f[g.x] >>> 0 }
---
//# args: f64[1], i32[1], u32[1], u8[1]
(g, f, y, z, b) => { y[g.x] = f[g.x]; z[g.x] = f[g.x]; b[g.x] = f[g.x] }
---
//# args: f64[1], i32[1], u32[1]
(g, f, y, z) => { y[g.x] = i32(f[g.x]); z[g.x] = u32(f[g.x]) }
---
//# args: u8[1], u8[1]
(g, a, y) => { y[g.x] = a[g.x] * 3 + 200 }
---
//# args: i32[1], i32[1]
(g, a, y) => {
  const b = a[g.x] > 50
  y[g.x] = b + 1 + (b & true) * 10 + (!b | 0) * 100
}
