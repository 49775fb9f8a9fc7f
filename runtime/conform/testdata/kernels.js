// The kernels of the conformance suite as they were written. What counts is kernels.ir, whose sites point here.

// args: 
function empty(g) {}

// args: i32[1]
function ids(g, out) { out[g.x] = g.x + 1 }

// args: i32[3]
function grid(g, out) { out[g.z][g.y][g.x] = (g.z * g.size.y + g.y) * g.size.x + g.x + 1 }

// args: i32[2], i32[2]
function transpose(g, src, dst) { dst[g.x][g.y] = src[g.y][g.x] }

// args: i32[1], i32[1], i32[1]
function groups(g, local, group, size) {
  local[g.x] = g.local.x
  group[g.x] = g.group.x
  size[g.x] = g.groupSize.x
}

// args: u32[1], u32[1], u32[1]
function sum(g, a, b, out) { out[g.x] = a[g.x] + b[g.x] }

// args: f32, f32[1], f32[1]
function saxpy(g, a, x, y) { y[g.x] = a * x[g.x] + y[g.x] }

// args: i32[1], i32[1]
function reverse(g, src, dst) {
  const tile = g.shared(i32, 64)
  tile[g.local.x] = src[g.x]
  g.barrier()
  dst[g.x] = tile[g.groupSize.x - 1 - g.local.x]
}

// args: f32[1], f32[1], f32[1]
function reduce(g, src, sums, scans) {
  const v = src[g.x]
  const total = g.reduce.add(v)
  scans[g.x] = g.scan.add(v)
  if (g.local.x === 0) sums[g.group.x] = total
}

// args: i32[1], u32[1]
function atomics(g, signed, unsigned) {
  Atomics.add(signed, 0, 1)
  Atomics.max(signed, 1, g.x)
  Atomics.min(signed, 2, -g.x)
  Atomics.sub(signed, 3, 2)
  Atomics.or(unsigned, 0, u32(1) << (g.x & 31))
  Atomics.and(unsigned, 1, ~(u32(1) << (g.x & 31)))
  Atomics.xor(unsigned, 2, u32(g.x))
  if (Atomics.compareExchange(signed, 4, 0, g.x + 1) === 0) Atomics.add(signed, 5, 1)
  Atomics.exchange(signed, 6, 7)
}

// args: i32[1]
function histogram(g, bins) { Atomics.add(bins, g.x & 15, 1) }

// args: i32[1], i32[1]
function outside(g, x, out) { out[g.x] = x[g.x + 100] }

// args: i32[1]
function scatter(g, out) { out[g.x * 2] = 1 }

// args: i32[1], i32[1], i32[1]
function divide(g, a, b, out) { out[g.x] = (a[g.x] / b[g.x]) | 0 }

// args: i32[1]
function limited(g, x) { g.assert(g.x < 5, `too far: ${g.x}`); x[g.x] = 1 }

// args: i32[1]
function endless(g, x) {
  while (x[0] >= 0) { x[1] = x[1] ^ 1 }
}

// args: i32, u32[1]
function spin(g, n, x) {
  let v = x[g.x]
  for (let i = 0; i < n; i++) v = v * 1664525 + 1013904223
  x[g.x] = v
}

// args: i32[1]
function talk(g, x) {
  g.print(`item ${g.x}`)
  x[g.x] = g.x
}

// args: f32[1], f32[1]
function math(g, x, y) {
  y[g.x] = Math.sqrt(x[g.x]) + Math.floor(x[g.x]) * 2 - 1 / x[g.x]
}

// args: i32, u32, i64, u64, f32, f64, bool, i32[1], u32[1], i64[1], u64[1], f32[1], f64[1], bool[1]
function scalars(g, a, b, c, d, e, f, h, oa, ob, oc, od, oe, of, oh) {
  oa[0] = a; ob[0] = b; oc[0] = c; od[0] = d; oe[0] = e; of[0] = f; oh[0] = h
}

// args: bool[1], i8[1], u8[1], i16[1], u16[1], f16[1], bf16[1], f32[1]
function small(g, a, b, c, d, e, f, h, x) {
  a[g.x] = x[g.x] > 0; b[g.x] = i32(x[g.x]); c[g.x] = i32(x[g.x]); d[g.x] = i32(x[g.x]); e[g.x] = i32(x[g.x])
  f[g.x] = x[g.x]; h[g.x] = x[g.x]
}

// args: bool[1], bool[1]
function copy_bool(g, src, dst) { dst[g.x] = src[g.x] }
// args: i8[1], i8[1]
function copy_i8(g, src, dst) { dst[g.x] = src[g.x] }
// args: u8[1], u8[1]
function copy_u8(g, src, dst) { dst[g.x] = src[g.x] }
// args: i16[1], i16[1]
function copy_i16(g, src, dst) { dst[g.x] = src[g.x] }
// args: u16[1], u16[1]
function copy_u16(g, src, dst) { dst[g.x] = src[g.x] }
// args: i32[1], i32[1]
function copy_i32(g, src, dst) { dst[g.x] = src[g.x] }
// args: u32[1], u32[1]
function copy_u32(g, src, dst) { dst[g.x] = src[g.x] }
// args: i64[1], i64[1]
function copy_i64(g, src, dst) { dst[g.x] = src[g.x] }
// args: u64[1], u64[1]
function copy_u64(g, src, dst) { dst[g.x] = src[g.x] }
// args: f16[1], f16[1]
function copy_f16(g, src, dst) { dst[g.x] = src[g.x] }
// args: bf16[1], bf16[1]
function copy_bf16(g, src, dst) { dst[g.x] = src[g.x] }
// args: f32[1], f32[1]
function copy_f32(g, src, dst) { dst[g.x] = src[g.x] }
// args: f64[1], f64[1]
function copy_f64(g, src, dst) { dst[g.x] = src[g.x] }

// args: i32[1]
function ask(g, x) { x[g.x] = g.call('double', g.x) }

// args: u32[1], u32[1]
function subgroups(g, sums, widths) {
  sums[g.x] = g.subgroup.add(u32(1))
  widths[g.x] = g.subgroupSize
}

// args: Particle[1]
function records(g, ps) {
  ps[g.x].v[1] = ps[g.x].x * 2
  ps[g.x].id = ps[g.x].id + u32(g.x)
}
