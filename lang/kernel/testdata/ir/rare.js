//# args: f32[1], i32[1], Particle[1]
// records: spread objects, fields in another order, choices of them
(g, x, k, ps) => {
  const o = { a: k[0], b: x[0] }, q = { ...o, b: 2, c: 3 }
  const r = k[1] > 0 ? { a: 1, b: 2 } : { b: 3, a: k[2] }
  const p = k[3] > 0 ? ps[0] : ps[k[4]], own = { ...ps[2], id: 3 }
  x[1] = q.a + q.b + q.c + r.a + r.b + p.x + p.v[1] + own.x + own.v[2] + own.id
  ps[3] = own
  ps[4] = k[6] > 0 ? ps[6] : ps[5]
}
---
//# args: i32[1], i32[1]
// helpers that return from the middle, from loops, labelled blocks and switches
(g, x, k) => {
  const pick = (n) => {
    found: { if (n > 3) break found; return 1 }
    switch (n) { case 4: return 2; case 5: { if (x[1]) return 3 } default: n = 7 }
    do { if (x[n] > 2) return n; n-- } while (n > 0)
    return -1
  }
  function effect(n) { if (n < 0) return; x[n] = n }
  x[0] = pick(k[0]) + (k[1] ? pick(4) : 2)
  effect(k[2])
  const twice = (f, v) => f(f(v))
  x[1] = twice((v) => v * 2, k[3])
  x[2] = (function () { return k[4] })()
  k[5] > 0 ? effect(1) : effect(2)
  k[6] && effect(3); k[7] || effect(4)
}
---
//# args: f32[1], i32[1]
// what is known: loops of constants, conditions that are, what no one reaches
(g, x, k) => {
  let i
  for (i = 0; i < 2; i++) x[i] = i
  if (true) x[2] = 1; else x[3] = 2
  if (false) { x[4] = 3 }
  while (false) x[5] = 1
  do { x[6] = 2 } while (false)
  for (;;) { if (k[0] > 3) break; k[0]++ ; continue }
  x[7] = true ? 1 : k[1]
  x[8] = false && k[2]
}
---
//# args: i64[1], u64[1], i32[1], f64[1]
// BigInts that are known
(g, n, u, k, d) => {
  const a = 5n, b = -3n
  n[0] = a + b; n[1] = a * b - 1n; n[2] = a / b; n[3] = a % b; n[4] = a ** 3n; n[5] = a & 6n; n[6] = a | 8n; n[7] = a ^ 1n
  n[8] = a << 4n; n[9] = b >> 1n; n[10] = -a; n[11] = ~a; n[12] = a > b ? 1n : 2n
  k[0] = a < b; k[1] = a <= 5n; k[2] = a === 5n; k[3] = a !== b; k[4] = a >= 5n; k[5] = !a; k[6] = a == 5; k[7] = a > 4.5
  u[0] = 18446744073709551615n; u[1] = u[2] >> 3n; u[3] = u[2] + 1n; k[8] = u[2] > 1n; k[9] = n[0] > 3000000000; k[10] = u[0] < 7
  d[0] = f64(a); d[1] = f64(n[0]); k[11] = i32(a); k[12] = i32(n[1]); n[13] = i64(k[0]); n[14] = i64(2.7); u[4] = u64(-1.5)
  n[15] = Math.abs(b); n[16] = Math.min(a, b, n[0]); n[17] = Math.sign(b); n[18] = Math.max(n[0], n[1])
}
---
//# args: f32[1], f64[1], i32[1], u32[1], number
// what compares, mixes and rounds
(g, x, d, k, u, s) => {
  k[0] = x[0] < d[0]; k[1] = k[1] < u[1]; k[2] = k[1] < 3000000000; k[3] = u[0] >= -1; k[4] = (x[0] < 1) === (x[1] < 2); k[5] = (x[0] > 1) + 1
  k[6] = (x[0] > 1) < k[0]; k[7] = x[1] !== x[1]; k[8] = k[0] == 2.5; k[9] = u[0] === k[0]; k[10] = s < k[0]
  x[2] = Math.floor(x[0] / 2) + Math.round(k[0]) + Math.trunc(u[0] / 3) + Math.floor(k[0] / u[0]) + Math.ceil(k[0] / k[1])
  x[3] = k[0] ** 2 + x[0] ** 2 + x[0] ** 0.5 + 2 ** k[0] + x[1] ** k[0] + Math.hypot(x[0]) + Math.hypot(x[0], x[1], x[2])
  d[1] = x[0] + d[0] * x[1]; d[2] = k[0] / 3 + u[0] * 0.5 - k[1]; d[3] = d[0] % x[0] + k[0] % 7 + u[0] % k[0]
  u[1] = (u[0] / u[2]) >>> 0; u[2] = ~~(k[0] / k[1]); u[3] = u[0] << 35; u[4] = u[0] >> 2; u[5] = k[0] >>> 3; u[6] = x[0] | 0
  x[4] = Math.min(x[0], k[0], 3) + Math.max(u[0], k[0]) + Math.abs(u[0]) + Math.abs(k[0]) + Math.sign(u[0]) + Math.sign(x[0]) + Math.sign(k[0])
}
