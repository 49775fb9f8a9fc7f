//# args: Particle[1], Particle[1], f32
(g, ps, qs, dt) => {
  const p = ps[g.x]
  for (let k = 0; k < 3; k++) p.v[k] *= dt
  p.x += p.v[0] * dt
  const q = { ...p, id: 7 }
  q.x = 2
  qs[g.x] = q
  qs[0] = { x: 1, v: [1, 2, 3], id: 9 }
  const { x, id } = qs[1]
  ps[1].x = x + id
}
---
//# args: f32[1], f32[1]
(g, x, y) => {
  const tile = g.shared(f32, 16, 2)
  const l = g.local.x
  tile[l][0] = x[g.x]
  g.barrier()
  const own = g.private(f32, 4)
  own[1] = tile[15 - l][0]
  y[g.x] = own[1] + tile.length + tile[0].length
}
---
//# args: i32[1], f32[1], i32[2]
(g, h, s, m) => {
  const old = Atomics.add(h, g.x & 7, 1)
  Atomics.max(m[0], 3, old)
  Atomics.add(s, 0, 1.5)
  Atomics.store(h, 1, Atomics.compareExchange(h, 0, old, 5))
}
---
//# args: f32[1], u32[1]
(g, x, y) => {
  const sum = g.reduce.add(x[g.x]), before = g.scan.add.exclusive(x[g.x])
  const lane = g.subgroup.shuffleXor(x[g.x], 1), any = g.subgroup.any(x[g.x] > 0)
  x[g.x] = sum + before + lane + any + g.uniform(g.group.x)
  y[g.x] = bits(x[g.x]) ^ u32(g.subgroup.ballot(true)) + bits(fromBits(f32, y[g.x]))
  g.assert(sum > 0, `sum is ${sum}`, g.x)
  g.print('a', x[g.x])
  y[0] = i32(g.call('next', g.x))
}
---
//# args: f32[1], i32[1]
//# let weights = [1, 2, 1]
//# let fine = [0.5, 0.25]
//# let bytes = u8[1, 2, 255]
(g, y, n) => {
  y[g.x] = weights[g.x % 3] * fine[g.x & 1] + weights[1] * fine[0]
  n[g.x] = bytes[g.x % 3]
}
---
//# args: f32[1]
(g, y) => {
  const x = y[g.x]
  y[g.x] = Math.sin(x) + Math.fast.exp(x) + Math.hypot(x, 3, 4) + x ** 3 + Math.pow(x, 2) + Math.sqrt(2)
  const [m, e] = Math.frexp(x)
  y[g.x] = Math.ldexp(m, e + 1) + Math.mix(1, x, 0.5) + Math.fma(x, x, 1) + Math.atan2(1, x) + Math.round(x) + Math.PI
}
