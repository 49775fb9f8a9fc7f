// Exponential functions.
//
// x = n·ln 2 + h + l with n = rint(x / ln 2), so that |h| ≤ 0.35, and eˣ = 2ⁿ·(1 + expm1(h + l)). ln 2 is split into two
// words: fma makes x − n·LN2_HIGH exact, and the low word holds the rounding error of h. expm1(h) = h + h²·P(h), where P is minimax for
// the absolute error of h²·P (Remez exchange, then lattice rounding to the format, on |h| ≤ 0.3467):
// f32 degree 5, 2^-32.1; f64 degree 10, 2^-62.4.
//
// Adding 1.5·2^(p−1) + BIAS to a number below 2^(p−2) leaves rint(x) + BIAS in its low bits (p = 24 or 53): that gives n as a
// float and as an integer in two operations.
import { fastSum, twoSum } from './word.js'

export const MAGIC32 = 12583168 // 1.5·2^23 + 256
export const MAGIC64 = 6755399441057792 // 1.5·2^52 + 2048

const LOG2E_32 = 1.442695, LN2_HIGH_32 = 0.6931472, LN2_LOW_32 = -1.9046542e-9
const LOG2E_64 = 1.4426950408889634, LN2_HIGH_64 = 0.6931471805599453, LN2_LOW_64 = 2.3190468138462996e-17

/** expm1(h + l) as a double word, for |h| ≤ 0.3467 and |l| below an ulp of h. */
export function expCore32(h, l) {
  let p = 0.00019972313
  p = p * h + 0.0013930509
  p = p * h + 0.008333177
  p = p * h + 0.04166651
  p = p * h + 0.16666667
  p = p * h + 0.5
  return fastSum(h, h * h * p + (h * l + l))
}

/** The same as expCore32 for f64. */
export function expCore64(h, l) {
  let p = 2.09203593709702e-9
  p = p * h + 2.510543387557453e-8
  p = p * h + 2.755725698252229e-7
  p = p * h + 2.7557254773906187e-6
  p = p * h + 2.4801587342440195e-5
  p = p * h + 0.00019841269875444726
  p = p * h + 0.001388888888887698
  p = p * h + 0.00833333333332589
  p = p * h + 0.04166666666666668
  p = p * h + 0.1666666666666667
  p = p * h + 0.5
  return fastSum(h, h * h * p + (h * l + l))
}

/** 2^(n − 256), for 0 < n − 128 < 254: n is the low bits of u, a number to which MAGIC32 was added. The shift drops the others. */
export function power32(u) {
  return fromBits(f32, (u - 129) << 23)
}

/** 2^(n − 2048), for 0 < n − 1024 < 2046, in the same way with MAGIC64. */
export function power64(u) {
  return fromBits(f64, (u - 1025) << 52)
}

/** y·2^(u − 256) in two steps, so that only the last rounds and the factors stay in range. */
export function scale32(y, u) {
  const half = u >> 1
  return y * fromBits(f32, (half - 1) << 23) * fromBits(f32, (u - half - 1) << 23)
}

/** y·2^(u − 2048) in two steps, as in f32. */
export function scale64(y, u) {
  const half = u >> 1
  return y * fromBits(f64, (half - 1) << 52) * fromBits(f64, (u - half - 1) << 52)
}

/** x = n·ln 2 + h + l: [h, l, u] with n + 256 in the low bits of u. */
export function expReduce32(x) {
  const t = Math.fma(x, LOG2E_32, MAGIC32)
  const n = t - MAGIC32
  const [h, l] = fastSum(Math.fma(n, -LN2_HIGH_32, x), n * -LN2_LOW_32)
  return [h, l, bits(t)]
}

/** x = n·ln 2 + h + l: [h, l, u] with n + 2048 in the low bits of u. */
export function expReduce64(x) {
  const t = Math.fma(x, LOG2E_64, MAGIC64)
  const n = t - MAGIC64
  const [h, l] = fastSum(Math.fma(n, -LN2_HIGH_64, x), n * -LN2_LOW_64)
  return [h, l, bits(t)]
}

/** 1 + expm1(h + l), rounded once more. */
function onePlus(eh, el) {
  const [s, t] = fastSum(1, eh)
  return s + (t + el)
}

/** eˣ. The argument is clamped to bounds at which the result is 0 or infinite. */
export function exp32(x) {
  const [h, l, u] = expReduce32(x > 89 ? 89 : x < -105 ? -105 : x)
  const [eh, el] = expCore32(h, l)
  return scale32(onePlus(eh, el), u & 1023)
}

export function exp64(x) {
  const [h, l, u] = expReduce64(x > 710 ? 710 : x < -746 ? -746 : x)
  const [eh, el] = expCore64(h, l)
  return scale64(onePlus(eh, el), u & 4095)
}

/** eˣ, for −88 < x < 87 and NaN. */
export function expWithin32(x) {
  const [h, l, u] = expReduce32(x)
  const [eh, el] = expCore32(h, l)
  return onePlus(eh, el) * power32(u)
}

/** eˣ, for −708 < x < 708 and NaN. */
export function expWithin64(x) {
  const [h, l, u] = expReduce64(x)
  const [eh, el] = expCore64(h, l)
  return onePlus(eh, el) * power64(u)
}

/** 2^(th + tl), for −151 < th < 129: the fraction times ln 2 as a double word goes into the core of exp. */
export function exp2Words32(th, tl) {
  const t = th + MAGIC32
  const [fh, fl] = fastSum(th - (t - MAGIC32), tl)
  const h = fh * LN2_HIGH_32
  const l = Math.fma(fh, LN2_HIGH_32, -h) + (fh * LN2_LOW_32 + fl * LN2_HIGH_32)
  const [eh, el] = expCore32(h, l)
  return scale32(onePlus(eh, el), bits(t) & 1023)
}

/** 2^(th + tl), for −1076 < th < 1025. */
export function exp2Words64(th, tl) {
  const t = th + MAGIC64
  const [fh, fl] = fastSum(th - (t - MAGIC64), tl)
  const h = fh * LN2_HIGH_64
  const l = Math.fma(fh, LN2_HIGH_64, -h) + (fh * LN2_LOW_64 + fl * LN2_HIGH_64)
  const [eh, el] = expCore64(h, l)
  return scale64(onePlus(eh, el), bits(t) & 4095)
}

/** 2ˣ; exact for integers. */
export function exp2_32(x) {
  return exp2Words32(x > 129 ? 129 : x < -151 ? -151 : x, 0)
}

export function exp2_64(x) {
  return exp2Words64(x > 1025 ? 1025 : x < -1076 ? -1076 : x, 0)
}

/**
 * A quarter of expm1(x) as a double word, for x up to 89.5: 2^(n−2)·expm1(h + l) + (2^(n−2) − 1/4). The quarter keeps the
 * scale in range where expm1(x) is near the largest number.
 */
export function quarterExpm1_32(x) {
  const [h, l, u] = expReduce32(x)
  const [eh, el] = expCore32(h, l)
  const s = power32(u - 2)
  const [b, bl] = twoSum(s, -0.25)
  const [r, rl] = twoSum(b, s * eh)
  return [r, rl + (s * el + bl)]
}

/** The same as quarterExpm1_32 for f64, for x up to 710.6. */
export function quarterExpm1_64(x) {
  const [h, l, u] = expReduce64(x)
  const [eh, el] = expCore64(h, l)
  const s = power64(u - 2)
  const [b, bl] = twoSum(s, -0.25)
  const [r, rl] = twoSum(b, s * eh)
  return [r, rl + (s * el + bl)]
}

/** eˣ − 1, to full relative accuracy near 0; x itself where x² / 2 is below half an ulp. */
export function expm1_32(x) {
  const [r, l] = quarterExpm1_32(x > 89 ? 89 : x < -40 ? -40 : x)
  return Math.abs(x) < 2e-8 ? x : 4 * (r + l)
}

export function expm1_64(x) {
  const [r, l] = quarterExpm1_64(x > 710 ? 710 : x < -80 ? -80 : x)
  return Math.abs(x) < 1e-16 ? x : 4 * (r + l)
}
