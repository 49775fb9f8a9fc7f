//# args: u32[1], u32[1], number
//# let K = [0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5]
// SHA-256, one block for each item
(g, input, out, rounds) => {
  const rotr = (x, n) => (x >>> n) | (x << (32 - n))
  const w = g.private(u32, 64)
  for (let i = 0; i < 16; i++) w[i] = input[g.x * 16 + i]
  for (let i = 16; i < 64; i++) {
    const s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >>> 3)
    const s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >>> 10)
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0
  }
  let a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, h = 0x5be0cd19, gg = 0x1f83d9ab
  for (let i = 0; i < rounds; i++) {
    const S1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)
    const ch = (e & f) ^ (~e & gg)
    const t1 = (h + S1 + ch + K[i & 7] + w[i]) | 0
    const S0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)
    const maj = (a & b) ^ (a & c) ^ (b & c)
    const t2 = (S0 + maj) | 0
    h = gg; gg = f; f = e; e = (d + t1) | 0
    d = c; c = b; b = a; a = (t1 + t2) | 0
  }
  out[g.x * 8] = a
  out[g.x * 8 + 1] = e
}
---
//# args: f32[1], f32[1]
//# let N = 256
// Blelloch scan
(g, x, sums) => {
  const t = g.shared(f32, N), l = g.local.x
  t[l] = x[g.x]
  let offset = 1
  for (let d = N >> 1; d > 0; d >>= 1) {
    g.barrier()
    if (l < d) {
      const ai = offset * (2 * l + 1) - 1, bi = offset * (2 * l + 2) - 1
      t[bi] += t[ai]
    }
    offset *= 2
  }
  if (l === 0) { sums[g.group.x] = t[N - 1]; t[N - 1] = 0 }
  for (let d = 1; d < N; d *= 2) {
    offset >>= 1
    g.barrier()
    if (l < d) {
      const ai = offset * (2 * l + 1) - 1, bi = offset * (2 * l + 2) - 1;
      [t[ai], t[bi]] = [t[bi], t[bi] + t[ai]]
    }
  }
  g.barrier()
  x[g.x] = t[l]
}
---
//# args: i32[1], number, number
// one step of a bitonic sort
(g, data, j, k) => {
  const i = g.x, l = i ^ j
  if (l > i) {
    const up = (i & k) === 0
    if (up ? data[i] > data[l] : data[i] < data[l]) [data[i], data[l]] = [data[l], data[i]]
  }
}
---
//# args: f32[1], f32[1], number, number
// FFT butterflies
(g, re, im, half, n) => {
  const k = g.x % half, i = Math.floor(g.x / half) * half * 2 + k, j = i + half
  const angle = -Math.PI * k / half
  const c = Math.cos(angle), s = Math.sin(angle)
  const tr = re[j] * c - im[j] * s, ti = re[j] * s + im[j] * c
  re[j] = re[i] - tr; im[j] = im[i] - ti
  re[i] += tr; im[i] += ti
}
---
//# args: i32[1], i32[1], f32[1], f32[1], f32[1]
// sparse matrix times vector
(g, rows, cols, values, x, y) => {
  if (g.x >= y.length) return
  let sum = 0
  for (let k = rows[g.x]; k < rows[g.x + 1]; k++) sum += values[k] * x[cols[k]]
  y[g.x] = sum
}
---
//# args: i32[2], u8[1], u8[1], number
// Levenshtein, one anti-diagonal
(g, d, a, b, diagonal) => {
  const i = g.x + 1, j = diagonal - i
  if (i > a.length || j < 1 || j > b.length) return
  const cost = a[i - 1] === b[j - 1] ? 0 : 1
  d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
}
---
//# args: i32[1], number
// N queens below a first row, by bit masks and an explicit stack
(g, counts, n) => {
  const full = (1 << n) - 1
  const cols = g.private(i32, 16), left = g.private(i32, 16), right = g.private(i32, 16), free = g.private(i32, 16)
  let depth = 1, found = 0
  const bit = 1 << g.x
  cols[1] = bit; left[1] = bit << 1; right[1] = bit >> 1
  free[1] = full & ~(cols[1] | left[1] | right[1])
  while (depth > 0) {
    if (depth === n) { found++; depth--; continue }
    if (free[depth] === 0) { depth--; continue }
    const place = free[depth] & -free[depth]
    free[depth] ^= place
    cols[depth + 1] = cols[depth] | place
    left[depth + 1] = (left[depth] | place) << 1
    right[depth + 1] = (right[depth] | place) >> 1
    depth++
    free[depth] = full & ~(cols[depth] | left[depth] | right[depth])
  }
  counts[g.x] = found
}
---
//# args: u8[2]
//# let spheres = [0, 0, 5, 1, 2, 1, 6, 1.5]
// rays and spheres
(g, image) => {
  const [height, width] = image.shape
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
  const normalize = (v) => { const k = 1 / Math.sqrt(dot(v, v)); return [v[0] * k, v[1] * k, v[2] * k] }
  const dir = normalize([(g.x - width / 2) / width, (g.y - height / 2) / width, 1])
  let nearest = Infinity, shade = 0
  for (let s = 0; s < spheres.length; s += 4) {
    const centre = [spheres[s], spheres[s + 1], spheres[s + 2]], r = spheres[s + 3]
    const b = dot(dir, centre), disc = b * b - dot(centre, centre) + r * r
    if (disc < 0) continue
    const t = b - Math.sqrt(disc)
    if (t > 0 && t < nearest) {
      nearest = t
      shade = Math.max(0, (centre[2] - dir[2] * t) / r)
    }
  }
  image[g.y][g.x] = Math.round(shade * 255)
}
---
//# args: f32[2], f32[2], i32[1], f32[2], i32[1]
// k-means, one step
(g, points, centres, label, sums, counts) => {
  const p = points[g.x]
  let best = 0, bestDist = Infinity
  for (let c = 0; c < centres.length; c++) {
    let dist = 0
    for (let d = 0; d < p.length; d++) dist += (p[d] - centres[c][d]) ** 2
    if (dist < bestDist) { bestDist = dist; best = c }
  }
  label[g.x] = best
  for (let d = 0; d < p.length; d++) Atomics.add(sums[best], d, p[d])
  Atomics.add(counts, best, 1)
}
---
//# args: u8[1], u32[1]
// histogram with a shared copy
(g, data, bins) => {
  const local = g.shared(u32, 256)
  for (let i = g.local.x; i < 256; i += g.groupSize.x) local[i] = 0
  g.barrier()
  for (let i = g.x; i < data.length; i += g.size.x) Atomics.add(local, data[i], 1)
  g.barrier()
  for (let i = g.local.x; i < 256; i += g.groupSize.x) Atomics.add(bins, i, local[i])
}
---
//# args: u32[1], u32
// Philox 4x32
(g, out, seed) => {
  let c0 = u32(g.x), c1 = u32(0), c2 = u32(0), c3 = u32(0), k0 = seed, k1 = u32(0)
  for (let r = 0; r < 10; r++) {
    const m0 = u32(0xD2511F53), m1 = u32(0xCD9E8D57)
    const hi0 = Math.mulhi(m0, c0), lo0 = m0 * c0, hi1 = Math.mulhi(m1, c2), lo1 = m1 * c2
    c0 = (hi1 ^ c1 ^ k0) >>> 0; c1 = lo1
    c2 = (hi0 ^ c3 ^ k1) >>> 0; c3 = lo0
    k0 += 0x9E3779B9; k1 += 0xBB67AE85
  }
  out[g.x] = c0
}
---
//# args: u8[2], number, number, number, number
// Mandelbrot
(g, image, x0, y0, scale, limit) => {
  const cx = x0 + g.x * scale, cy = y0 + g.y * scale
  let x = 0, y = 0, n = 0
  while (n < limit && x * x + y * y < 4) {
    [x, y] = [x * x - y * y + cx, 2 * x * y + cy]
    n++
  }
  image[g.y][g.x] = n === limit ? 0 : n % 256
}
---
//# args: f32[1], f32[1], f32[1], f32[1], number, number
// Black-Scholes
(g, spot, strike, years, call, rate, sigma) => {
  const i = g.x
  const cdf = (x) => 0.5 * (1 + Math.erf(x / Math.SQRT2))
  const s = spot[i], k = strike[i], t = years[i], root = Math.sqrt(t)
  const d1 = (Math.log(s / k) + (rate + sigma * sigma / 2) * t) / (sigma * root), d2 = d1 - sigma * root
  call[i] = s * cdf(d1) - k * Math.exp(-rate * t) * cdf(d2)
}
---
//# args: f64[2], number
// LU: one step of elimination
(g, a, k) => {
  const i = g.y + k + 1, j = g.x + k + 1
  if (i >= a.length || j >= a[0].length) return
  a[i][j] -= a[i][k] / a[k][k] * a[k][j]
}
---
//# args: u8[2], u8[2]
// game of life on a torus
(g, now, next) => {
  const [h, w] = now.shape, { x, y } = g
  let n = 0
  for (let dy = -1; dy <= 1; dy++)
    for (let dx = -1; dx <= 1; dx++)
      if (dx || dy) n += now[(y + dy + h) % h][(x + dx + w) % w]
  next[y][x] = n === 3 || (n === 2 && now[y][x]) ? 1 : 0
}
---
//# args: i32[1], i32[1], i32[1]
// compaction of the positive elements
(g, x, out, count) => {
  const keep = x[g.x] > 0
  const at = g.scan.add.exclusive(keep), total = g.reduce.add(keep)
  const base = g.shared(i32, 1)
  if (g.local.x === 0) base[0] = Atomics.add(count, 0, total)
  g.barrier()
  if (keep) out[base[0] + at] = x[g.x]
}
---
//# args: f32[2], number
// Floyd and Warshall
(g, d, k) => {
  const row = d[g.y]
  row[g.x] = Math.min(row[g.x], row[k] + d[k][g.x])
}
---
//# args: Particle[1], number, number
// n bodies on a line, with records
(g, ps, dt, eps) => {
  const p = ps[g.x]
  let ax = 0
  for (let j = 0; j < ps.length; j++) {
    const dx = ps[j].x - p.x
    ax += dx / Math.pow(dx * dx + eps, 1.5)
  }
  p.v[0] += ax * dt
  p.x += p.v[0] * dt
}
---
//# args: f32[2], f32[2]
//# let kernel3 = [1, 2, 1, 2, 4, 2, 1, 2, 1]
//# let cfg = {radius: 1, gain: 0.0625}
// convolution with a captured table
(g, src, dst) => {
  const [h, w] = src.shape, r = cfg.radius
  if (g.x >= w || g.y >= h) return
  const clamp = (v, n) => v < 0 ? 0 : v >= n ? n - 1 : v
  let sum = 0
  for (let j = -r; j <= r; j++)
    for (let i = -r; i <= r; i++)
      sum += src[clamp(g.y + j, h)][clamp(g.x + i, w)] * kernel3[(j + r) * 3 + i + r]
  dst[g.y][g.x] = sum * cfg.gain
}
---
//# args: f32[2], f32[2], f32[2], number
//# let T = 16
// matrix product in tiles
(g, a, b, c, n) => {
  const ta = g.shared(f32, T, T), tb = g.shared(f32, T, T)
  const { x: lx, y: ly } = g.local
  let sum = 0
  for (let t = 0; t < n; t += T) {
    ta[ly][lx] = a[g.y][t + lx]
    tb[ly][lx] = b[t + ly][g.x]
    g.barrier()
    for (let k = 0; k < T; k++) sum += ta[ly][k] * tb[k][lx]
    g.barrier()
  }
  c[g.y][g.x] = sum
}
