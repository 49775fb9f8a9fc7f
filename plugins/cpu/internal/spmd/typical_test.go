package spmd

// typicalKernels are typical user kernels, or parts of them. A buffer x, y, z, … has two axes if the text indexes it twice,
// otherwise one.
var typicalKernels = []struct{ name, text string }{
	{"saxpy", `(g, x, y) => { y[g.x] = 0.5 * x[g.x] + y[g.x] }`},
	{"triad", `(g, x, y, z) => { z[g.x] = x[g.x] + 3 * y[g.x] }`},
	{"fill", `(g, x) => { x[g.x] = 1.5 }`},
	{"mandelbrot", `(g, it) => {
  const cx = -2 + 3 * g.x / 1024, cy = -1.5 + 3 * g.y / 1024
  let x = 0, y = 0, n = 0
  while (n < 256 && x * x + y * y < 4) { const t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++ }
  it[g.y][g.x] = n
}`},
	{"mixing", `(g, x) => {
  let a = i32(x[g.x]), b = a ^ 0x9e3779b9
  for (let r = 0; r < 64; r++) { a = (a + b) | 0; b = b ^ a; b = (b << 16) | (b >>> 16) }
  x[g.x] = a ^ b
}`},
	{"attraction", `(g, x, y, m, ax) => {
  let fx = 0, fy = 0
  for (let j = 0; j < x.length; j++) {
    const dx = x[j] - x[g.x], dy = y[j] - y[g.x], r2 = dx * dx + dy * dy + 0.01
    const s = m[j] / (r2 * Math.sqrt(r2))
    fx += s * dx; fy += s * dy
  }
  ax[g.x] = fx + fy
}`},
	{"stencil", `(g, x, y) => {
  const i = g.x, j = g.y
  if (i > 0 && j > 0 && i < 1023 && j < 1023)
    y[j][i] = 0.2 * (x[j][i] + x[j][i - 1] + x[j][i + 1] + x[j - 1][i] + x[j + 1][i])
}`},
	{"transpose", `(g, x, y) => { y[g.x][g.y] = x[g.y][g.x] }`},
	{"roots", `(g, x, y) => { y[g.x] = Math.sqrt(x[g.x]) / (1 + Math.fast.rsqrt(x[g.x] + 2)) }`},
	{"histogram", `(g, data, bins) => {
  const local = g.shared(i32, 256)
  const first = g.group.x * 65536 + g.local.x
  for (let k = 0; k < 256; k++) Atomics.add(local, i32(data[first + 256 * k]) & 255, 1)
  g.barrier()
  Atomics.add(bins, g.local.x, local[g.local.x])
}`},
	{"product", `(g, a, b, c) => {
  let sum = 0
  for (let k = 0; k < 512; k++) sum += a[g.y][k] * b[k][g.x]
  c[g.y][g.x] = sum
}`},
	{"product by register tiles", `(g, a, b, c) => {
  const sum = g.private(f32, 8)
  const x = g.x, y = 8 * g.y
  for (let k = 0; k < 1024; k++)
    for (let i = 0; i < 8; i++) sum[i] += a[y + i][k] * b[k][x]
  for (let i = 0; i < 8; i++) c[y + i][x] = sum[i]
}`},
	{"product by panels", `(g, a, b, c) => {
  const panel = g.shared(f32, 256, 32), sum = g.private(f32, 8)
  const x = g.x, y = 8 * g.y
  for (let p = 0; p < 1024; p += 256) {
    for (let i = g.local.y; i < 256; i += 16) panel[i][g.local.x] = b[p + i][x]
    g.barrier()
    for (let k = 0; k < 256; k++)
      for (let i = 0; i < 8; i++) sum[i] += a[y + i][p + k] * panel[k][g.local.x]
    g.barrier()
  }
  for (let i = 0; i < 8; i++) c[y + i][x] = sum[i]
}`},
	{"product by shared tiles", `(g, a, b, c) => {
  const ta = g.shared(f32, 16, 16), tb = g.shared(f32, 16, 16)
  const x = g.local.x, y = g.local.y
  let sum = 0
  for (let k = 0; k < 512; k += 16) {
    ta[y][x] = a[g.y][k + x]
    tb[y][x] = b[k + y][g.x]
    g.barrier()
    for (let i = 0; i < 16; i++) sum += ta[y][i] * tb[i][x]
    g.barrier()
  }
  c[g.y][g.x] = sum
}`},
	{"sum", `(g, x, out) => {
  let s = 0
  for (let i = g.x; i < x.length; i += g.size.x) s += x[i]
  s = g.reduce.add(s)
  if (g.local.x == 0) Atomics.add(out, 0, s)
}`},
	{"sums of groups", `(g, x, out) => {
  const all = g.reduce.add(x[g.x])
  if (g.local.x === 0) out[g.group.x] = all
}`},
	{"scans of groups", `(g, x, out) => { out[g.x] = g.scan.add(x[g.x]) }`},
	{"transpose by tiles", `(g, x, y) => {
  const tile = g.shared(f32, 32, 33)
  const i = g.local.x, j = g.local.y
  for (let r = 0; r < 32; r += 8) tile[j + r][i] = x[g.group.y * 32 + j + r][g.group.x * 32 + i]
  g.barrier()
  for (let r = 0; r < 32; r += 8) y[g.group.x * 32 + j + r][g.group.y * 32 + i] = tile[i][j + r]
}`},
	{"gather and scatter", `(g, x, y, z) => { z[i32(y[g.x])] = x[i32(y[g.x + 1])] + x[3 * g.x] }`},
	{"a search", `(g, x, y) => {
  let lo = 0, hi = x.length
  while (lo < hi) { const m = (lo + hi) >> 1; if (x[m] < y[g.x]) lo = m + 1; else hi = m }
  y[g.x] = lo
}`},
	{"a switch", `(g, x, y) => {
  let s = 0
  for (let i = 0; i < 20; i++) {
    switch (i32(x[g.x]) + i & 3) {
      case 0: s += 1; break
      case 1: if (s > 50) return; s *= 2; break
      case 2: continue
      default: s -= x[i]
    }
    if (s < -9) break
  }
  y[g.x] = s
}`},
	{"the greatest neighbour", `(g, x, y) => {
  const v = g.subgroup.shuffle(x[g.x], g.local.x + 1 & 31)
  y[g.x] = g.subgroup.max(v) + (g.subgroup.any(v > 3) ? 1 : 0)
}`},
	{"many values", `(g, x, y) => {
  let a = x[g.x], b = a + 1, c = b * a, d = c - b, e = d * 0.5, f = e + a, h = f * b, k = h - c, l = k + d, m = l * e
  for (let i = 0; i < 50; i++) {
    a = a * b + m; b = b * c + l; c = c * d + k; d = d * e + h; e = e * f + a; f = f * h + b; h = h * k + c; k = k * l + d; l = l * m + e
    m = m * a + f
  }
  y[g.x] = a + b + c + d + e + f + h + k + l + m
}`},
	{"private memory that lanes choose from", `(g, x, y) => {
  const t = g.private(f32, 16)
  for (let i = 0; i < 16; i++) t[i] = x[g.x + i]
  let s = 0
  for (let i = 0; i < 16; i++) s += t[i32(x[i]) + g.x & 15]
  y[g.x] = s
}`},
	{"prints and assertions", `(g, x, y) => {
  g.assert(x[g.x] > 0, x[g.x])
  if (g.x % 7 == 3) g.print(g.x, x[g.x])
  y[g.x] = 7 / i32(x[g.x]) + i32(x[g.x]) % i32(y[g.x])
}`},
}
