//# args: i32[1], i32[1]
(g, x, y) => {
  const i = g.x
  if (x[i] > 50) y[i] = 1
  else if (x[i] > 20) y[i] = 2
  else y[i] = 3
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let s = 0
  for (let k = 0; k < g.x; k++) {
    if (x[k] % 3 === 0) continue
    if (k > 40) break
    s = (s + x[k]) | 0
  }
  y[g.x] = s
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let n = x[g.x] & 1023, steps = 0
  while (n > 1) {
    n = n & 1 ? (3 * n + 1) & 1023 : n >> 1
    if (++steps >= 100) break
  }
  y[g.x] = steps
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let k = 0, s = 0
  do {
    k++
    if (k % 2) continue
    s += k
  } while (k < g.x)
  y[g.x] = s
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let hits = 0
  outer: for (let a = 0; a < 8; a++) {
    for (let b = 0; b < 8; b++) {
      if (a * b > g.x) continue outer
      if (a + b === 12) break outer
      hits++
    }
  }
  y[g.x] = hits
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let r = 0
  switch (x[g.x] & 7) {
    case 0: r = 10; break
    case 1: r = 11
    case 2: r += 5
      if (g.x & 1) break
    default: r += 100
    case 4: r++; break
    case 5: { r = -1; break }
    case 6:
    case 7: r = 77
  }
  y[g.x] = r
}
---
//# args: f64[1], i32[1]
(g, x, y) => {
  switch (x[g.x]) {
    case 0: y[g.x] = 1; break
    case NaN: y[g.x] = 2; break
    case 0.5: y[g.x] = 3; return
    default: y[g.x] = 4
  }
  y[g.x] = y[g.x] * 10
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  // tests run in order and stop at the first that matches
  let n = 0
  switch (x[g.x] & 3) {
    case (n++, 0): break
    case (n++, 2): n += 10; break
    case (n++, 1): n += 20
  }
  y[g.x] = n
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const i = g.x
  block: {
    if (x[i] < 10) break block
    y[i] = 5
    if (x[i] < 100) break block
    y[i] = 6
  }
  y[i] += 1
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  // short circuit: the right side must not run
  const i = g.x
  let calls = 0
  const t = i > 30 && x[i - 31] > 0 && (calls++, true)
  const f = i < 5 || x[i - 5] > 100 || (calls += 10) > 3
  y[i] = calls + (t ? 1000 : 0) + (f ? 2000 : 0)
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const i = g.x
  const find = (limit) => {
    for (let k = 0; k < 64; k++) if (x[k] > limit) return k
    return -1
  }
  y[i] = find(i * 3) + 1000 * find(1 << 30)
}
---
//# args: i32[1], i32[1]
//# let sq = (v) => Math.imul(v, v)
//# let dist = function (a, b) { if (a > b) { return sq(a - b) } else { return sq(b - a) } }
(g, x, y) => {
  y[g.x] = dist(x[g.x] & 255, g.x)
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let count = 0
  const bump = (n) => { count += n }
  for (let k = 0; k < 5; k++) if (x[(g.x + k) & 63] & 1) bump(k)
  bump(100)
  y[g.x] = count
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let a = x[g.x], b = y[g.x];
  [a, b] = [b, a]
  if (a > b) [a, b] = [b, a]
  y[g.x] = (a & 0xffff) - (b & 0xff)
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  function up(v) { return down(v) + 1 }
  function down(v) { return v >> 1 }
  y[g.x] = up(x[g.x])
}
---
//# args: i32[1], i32[1]
//# let MODE = 2
//# let cfg = {debug: 0, gain: 3}
(g, x, y) => {
  if (MODE === 1) y[g.x] = 1
  else if (MODE === 2) y[g.x] = (x[g.x] & 255) * cfg.gain
  else y[g.x] = 3
  if (cfg.debug) y[g.x] = -1
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  for (;;) {
    if (x[g.x] & 1) return
    y[g.x] = 9
    break
  }
  y[g.x] += 1
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  // assignments inside expressions, in order
  let a = 1
  const r = (a = 2) * 10 + (a = 3) + a
  let b = 5
  b += (b = 7) + b
  y[g.x] = r + b * 100 + (a++ + ++a) * 10000
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const i = g.x
  let k = i & 7
  y[i] = x[k++] & 15
  y[i] += x[k] & 7
  y[i] <<= 1 + (k & 1)
  let z = 0
  z ||= i & 3
  z &&= z + 4
  y[i] += z * 1000
}
---
//# args: i32[2], i32[1]
(g, m, y) => {
  const [h, w] = m.shape
  const r = (g.x / w) | 0, c = g.x % w
  const row = m[r]
  y[g.x] = (row[c] & 255) + m.length + row.length * 10 + (m.flat[g.x] & 3)
}
---
//# args: i32[1], i32[1]
//# let weights = [1, 2, 1]
(g, x, y) => {
  let s = 0
  for (let k = 0; k < weights.length; k++) s += weights[k] * (x[(g.x + k) & 63] & 255)
  y[g.x] = s + weights[1]
}
---
//# args: number, i32[1]
(g, n, y) => {
  n -= 1
  for (let k = 0; k < n; k++) y[g.x] = (y[g.x] + n) | 0
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let v
  if (x[g.x] & 1) v = 3
  else v = 4
  let best = 0, at
  for (let k = 0; k < 8; k++) {
    const c = x[(g.x + k) & 63] & 63
    if (c > best) { best = c; at = k }
  }
  y[g.x] = v + best * 10 + (best > 0 ? at : 9) * 1000
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const acc = g.private(f64, 4)
  for (let k = 0; k < 16; k++) acc[k & 3] += x[(g.x + k) & 63] & 255
  y[g.x] = acc[0] + acc[1] * 2 + acc[2] * 3 + acc[3] * 4
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const divmod = (a, b) => [(a / b) | 0, a % b]
  const [q, r] = divmod(x[g.x] & 1023, 7)
  const { lo, hi } = (v => ({ lo: v & 15, hi: v >> 4 }))(q)
  y[g.x] = q + r * 1000 + lo * 7 + hi
}
---
//# args: i32[1], i32[1]
//# let pick = (a, b) => { if (a > b) return [a & 255, 1]; for (let k = 0; k < 3; k++) if (k === (b & 3)) return [k, 2]; return [0, 0.5] }
//# let box = (v) => { if (v < 0) return {lo: 1, hi: v & 7}; return {lo: v & 3, hi: 2} }
(g, x, y) => {
  const [v, how] = pick(x[g.x], g.x)
  const { lo, hi } = box(x[g.x])
  y[g.x] = v * 100 + how * 10 + lo + hi * 5000
}
---
//# args: i32[1], i32[1]
//# let fold = (f, n) => { let s = 0; for (let k = 0; k < n; k++) s = f(s, k); return s }
(g, x, y) => {
  // helpers as arguments, and a closure over the kernel's variables
  const w = x[g.x] & 15
  y[g.x] = fold((a, b) => a + b * w, 5) - fold((a, b) => a ^ b, g.x & 7)
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const none = () => { if (x[g.x] > 0) return; y[g.x] = 5 }
  none()
  for (;;) {
    const stop = () => { for (;;) { if (x[g.x] & 1) return true; return false } }
    if (stop()) break
    y[g.x] ^= 3
    break
  }
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  // assignments under && || ?: and in loop tests
  let a = 0, b = 0, n = g.x
  while ((a += 2) < n && (b = a, b < 30)) n -= a & 1
  let c = x[g.x] > 5 ? (a = 1) : (b = 2);
  (x[g.x] & 1) && (c += 10) || (c += 20)
  for (let i = 0, j = 10; i < j; i++, j--) c += i * j
  y[g.x] = a + b * 10 + c * 100
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let s = 0
  l1: do {
    s++
    for (let k = 0; ; k++) {
      if (k > 4) continue l1
      if (s > 40) break l1
      switch (k) { case 2: continue; case 3: s += 2; break; default: s++ }
      s++
    }
  } while (s < g.x)
  y[g.x] = s
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let v = x[g.x] & 7
  switch (v) {
    default: v = 100
    case 0: case 1: v++
    case 2: { if (v > 50) break; v += 2 }
    case 7: return
  }
  y[g.x] = v
}
