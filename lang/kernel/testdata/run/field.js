//# args: u32[1], i32[1]
//# let K = [0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5]
// SHA-256, one block for each item
(g, input, out) => {
  const rotr = (x, n) => (x >>> n) | (x << (32 - n))
  const w = g.private(u32, 64)
  for (let i = 0; i < 16; i++) w[i] = input[(g.x * 16 + i) & 63]
  for (let i = 16; i < 64; i++) {
    const s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >>> 3)
    const s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >>> 10)
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0
  }
  let a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, h = 0x5be0cd19, gg = 0x1f83d9ab
  for (let i = 0; i < 64; i++) {
    const S1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)
    const ch = (e & f) ^ (~e & gg)
    const t1 = (h + S1 + ch + K[i & 7] + w[i]) | 0
    const S0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)
    const maj = (a & b) ^ (a & c) ^ (b & c)
    const t2 = (S0 + maj) | 0
    h = gg; gg = f; f = e; e = (d + t1) | 0
    d = c; c = b; b = a; a = (t1 + t2) | 0
  }
  out[g.x] = a ^ e
}
---
//# args: i32[1]
// N queens below a first row, by bit masks and an explicit stack
(g, counts) => {
  const n = 6
  if (g.x >= n) return
  const full = (1 << n) - 1
  const cols = g.private(f64, 16), left = g.private(f64, 16), right = g.private(f64, 16), free = g.private(f64, 16)
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
