// Roots and lengths. The square root itself is an operation of the IR.
import { odd } from './word.js'

/**
 * x = 8^j·2^i·m with i in {0, 1, 2} and 1 ≤ m < 2, for x > 0 finite: [m, i, j]; the caller scales subnormals.
 * The exponent is divided by 3 with a multiplication by 21846/2^16, which is exact up to 2^15.
 */
function thirds(exponent) {
  const j = exponent * 21846 >> 16
  return [j, exponent - 3 * j]
}

/**
 * A first value for m^(−1/3) of relative error 2^-12.1 (minimax of degree 3 on [1, 2], times 2^(−i/3)), one cubic step
 * r·(1 + e/3 + 2e²/9) with e = 1 − v·r³, and the root y = v·r² with one Newton step on the exact v − y³. v = m·2^i.
 */
function cbrtCore(m, v, i) {
  let r = m * -0.050772365 + 0.32151553
  r = r * m - 0.8154395
  r = r * m + 1.5444692
  r = r * (i === 0 ? 1 : i === 1 ? 0.7937005259840998 : 0.6299605249474366)
  const e = 1 - v * r * (r * r)
  r = r + r * (e * (e * 0.2222222222222222 + 0.3333333333333333))
  const y = v * r * r
  const q = y * y
  const ql = Math.fma(y, y, -q)
  const rest = Math.fma(-q, y, v) - ql * y
  return y + rest * (0.3333333333333333 * r * r)
}

/** Cube root. */
export function cbrt32(x) {
  const a = Math.abs(x)
  const small = a < 1.1754944e-38
  const b = bits(small ? a * 16777216 : a)
  const [j, i] = thirds((b >> 23) + 2)
  const m = fromBits(f32, b & 0x7fffff | 0x3f800000)
  const y = cbrtCore(m, m * (i === 0 ? 1 : i === 1 ? 2 : 4), i)
  const r = y * fromBits(f32, (j + (small ? 76 : 84)) << 23)
  return a > 0 && a < Infinity ? odd(r, x) : x
}

export function cbrt64(x) {
  const a = Math.abs(x)
  const small = a < 2.2250738585072014e-308
  const b = bits(small ? a * 18014398509481984 : a)
  const [j, i] = thirds(i32(b >> 52))
  const m = fromBits(f64, b & 0xfffffffffffffn | 0x3ff0000000000000n)
  const y = cbrtCore(m, m * (i === 0 ? 1 : i === 1 ? 2 : 4), i)
  const r = y * fromBits(f64, u64((j + (small ? 664 : 682)) >>> 0) << 52)
  return a > 0 && a < Infinity ? odd(r, x) : x
}

/** 1/√x: the quotient of the rounded root, corrected by half its residual 1 − x·y². */
function rsqrt(x) {
  const y = 1 / Math.sqrt(x)
  const p = x * y
  const pl = Math.fma(x, y, -p)
  const e = Math.fma(-p, y, 1) - pl * y
  return x > 0 && x < Infinity ? y + 0.5 * y * e : y
}

export function rsqrt32(x) {
  return rsqrt(x)
}

export function rsqrt64(x) {
  return rsqrt(x)
}

/** √(a² + b²) for a ≥ b in a range where squares neither overflow nor lose bits. */
function hypotCore(a, b) {
  const aa = a * a
  const bb = b * b
  const s = aa + bb
  const low = ((aa - s) + bb) + (Math.fma(a, a, -aa) + Math.fma(b, b, -bb))
  const h = Math.sqrt(s)
  return h + (Math.fma(-h, h, s) + low) / (h > 0 ? h + h : 1)
}

/** Length of (x, y). Infinite if either is, even beside NaN. */
export function hypot32(x, y) {
  const a = Math.max(Math.abs(x), Math.abs(y)), b = Math.min(Math.abs(x), Math.abs(y))
  const scale = a > 1e18 ? 8.470329472543003e-22 : a < 1e-12 ? 1.2379400392853803e27 : 1
  const back = a > 1e18 ? 1.1805916207174113e21 : a < 1e-12 ? 8.077935669463161e-28 : 1
  const r = hypotCore(a * scale, b * scale) * back
  return Math.abs(x) === Infinity || Math.abs(y) === Infinity ? Infinity : r
}

export function hypot64(x, y) {
  const a = Math.max(Math.abs(x), Math.abs(y)), b = Math.min(Math.abs(x), Math.abs(y))
  const scale = a > 1e150 ? 2.409919865102884e-181 : a < 1e-140 ? 5.260135901548374e210 : 1
  const back = a > 1e150 ? 4.149515568880993e180 : a < 1e-140 ? 1.90109156629516e-211 : 1
  const r = hypotCore(a * scale, b * scale) * back
  return Math.abs(x) === Infinity || Math.abs(y) === Infinity ? Infinity : r
}

/** The square root itself, for Math.fast.sqrt. */
export function sqrt32(x) {
  return Math.sqrt(x)
}

export function sqrt64(x) {
  return Math.sqrt(x)
}
