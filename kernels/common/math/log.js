// Logarithms.
//
// x = 2ᵏ·m with √½ ≤ m < √2, f = m − 1, and log x = k·ln 2 + log(1 + f). The leading terms f − f²/2 are kept as a double
// word, so that the sum is rounded once and the error of the other terms is below a tenth of an ulp.
//
// f32: log(1 + f) = f − f²/2 + f³·P(f), P minimax of degree 8 on [√½ − 1, √2 − 1], absolute error of f³·P / f 2^-28.0.
// f64: with s = f/(2 + f), log(1 + f) = f − f²/2 + s·(f²/2 + R), R = z·P(z), z = s²: P minimax of degree 7 on [0, 0.02944],
// error of R 2^-64.7. The second form is W. J. Cody's and W. Waite's, as in fdlibm; its division costs less than the
// polynomial of degree 20 that the first would need.
import { fastSum, mulWords, twoSum } from './word.js'

// ln 2 and log10 2 in two words, the first short enough that its product with any exponent is exact.
const LN2_SHORT_32 = 0.69314575, LN2_REST_32 = 1.4286068e-6
const LN2_SHORT_64 = 0.6931471805598903, LN2_REST_64 = 5.497923018708371e-14
const LOG10_2_SHORT_32 = 0.30103302, LOG10_2_REST_32 = -3.0243555e-6
const LOG10_2_SHORT_64 = 0.30102999566395283, LOG10_2_REST_64 = 2.8363394551044964e-14

/** x = 2ᵏ·(1 + f), for x > 0 finite: [f, k]. Subnormals are scaled up first. */
export function logReduce32(x) {
  const small = x < 1.1754944e-38
  const b = bits(small ? x * 8388608 : x) + 0x4afb0d // moves the boundary of exponents from 1 to √½
  const k = (b >> 23) - (small ? 150 : 127)
  return [fromBits(f32, (b & 0x7fffff) + 0x3f3504f3) - 1, f32(k)]
}

export function logReduce64(x) {
  const small = x < 2.2250738585072014e-308
  const b = bits(small ? x * 4503599627370496 : x) + 0x95f619980c433n
  const k = i32(b >> 52) - (small ? 1075 : 1023)
  return [fromBits(f64, (b & 0xfffffffffffffn) + 0x3fe6a09e667f3bcdn) - 1, f64(k)]
}

/** log(1 + f) as a double word and a rest to add to its low word, for √½ ≤ 1 + f < √2. */
function logParts32(f) {
  let p = 0.0734139
  p = p * f - 0.1166256
  p = p * f + 0.11632338
  p = p * f - 0.12396162
  p = p * f + 0.14251375
  p = p * f - 0.16669184
  p = p * f + 0.2000068
  p = p * f - 0.2499998
  p = p * f + 0.3333333
  const square = 0.5 * f * f
  const squareLow = Math.fma(0.5 * f, f, -square)
  const [h, l] = fastSum(f, -square)
  return [h, l, f * f * f * p - squareLow]
}

function logParts64(f) {
  const s = f / (2 + f)
  const z = s * s
  let p = 0.13287100100436702
  p = p * z + 0.13246650596997794
  p = p * z + 0.1538721614414778
  p = p * z + 0.18181773693753592
  p = p * z + 0.22222222655848448
  p = p * z + 0.28571428569171964
  p = p * z + 0.4000000000000532
  p = p * z + 0.6666666666666666
  const square = 0.5 * f * f
  const squareLow = Math.fma(0.5 * f, f, -square)
  const [h, l] = fastSum(f, -square)
  return [h, l, s * (p * z + square) - squareLow]
}

/** log(1 + f) as a double word. */
function logCore32(f) {
  const [h, l, rest] = logParts32(f)
  return [h, l + rest]
}

function logCore64(f) {
  const [h, l, rest] = logParts64(f)
  return [h, l + rest]
}

/** log(1 + f + fl) as a double word, for |fl| below an ulp of 1 + f. */
function logWords32(f, fl) {
  const [h, l, rest] = logParts32(f)
  const slope = 1 - f * (1 - f * (1 - f)) // about 1/(1 + f)
  return [h, l + (rest + fl * slope)]
}

function logWords64(f, fl) {
  const [h, l, rest] = logParts64(f)
  const slope = 1 - f * (1 - f * (1 - f))
  return [h, l + (rest + fl * slope)]
}

/** k·(short + rest) + h + l, where k·short is exact. */
function addExponent(k, short, rest, h, l) {
  const [s, t] = fastSum(k * short, h)
  return s + (t + (k * rest + l))
}

/** r for positive finite x, else the special value common to all logarithms. */
function logDomain(r, x) {
  return x > 0 ? (x < Infinity ? r : x) : x === 0 ? -Infinity : NaN
}

/** Natural logarithm. */
export function log32(x) {
  const [f, k] = logReduce32(x)
  const [h, l] = logCore32(f)
  return logDomain(addExponent(k, LN2_SHORT_32, LN2_REST_32, h, l), x)
}

export function log64(x) {
  const [f, k] = logReduce64(x)
  const [h, l] = logCore64(f)
  return logDomain(addExponent(k, LN2_SHORT_64, LN2_REST_64, h, l), x)
}

/** Logarithm to base 2: the double word times 1/ln 2; exact for powers of two. */
export function log2_32(x) {
  const [f, k] = logReduce32(x)
  const [h, l] = logCore32(f)
  const [p, q] = mulWords(h, l, 1.442695, 1.925963e-8)
  return logDomain(addExponent(k, 1, 0, p, q), x)
}

export function log2_64(x) {
  const [f, k] = logReduce64(x)
  const [h, l] = logCore64(f)
  const [p, q] = mulWords(h, l, 1.4426950408889634, 2.0355273740931033e-17)
  return logDomain(addExponent(k, 1, 0, p, q), x)
}

/** Logarithm to base 10; exact for powers of ten that are floats. */
export function log10_32(x) {
  const [f, k] = logReduce32(x)
  const [h, l] = logCore32(f)
  const [p, q] = mulWords(h, l, 0.4342945, -1.010305e-8)
  return logDomain(addExponent(k, LOG10_2_SHORT_32, LOG10_2_REST_32, p, q), x)
}

export function log10_64(x) {
  const [f, k] = logReduce64(x)
  const [h, l] = logCore64(f)
  const [p, q] = mulWords(h, l, 0.4342944819032518, 1.098319650216765e-17)
  return logDomain(addExponent(k, LOG10_2_SHORT_64, LOG10_2_REST_64, p, q), x)
}

/**
 * log(2ᵉ·(1 + h + l)) rounded, for 1 + h + l > 0 finite and an integer e. Where 1 + h stays in
 * [√½, √2) the double word itself is the f of the core, so that results near 0 keep their relative accuracy.
 */
export function log1pWords32(h, l, e) {
  const [u, rest] = twoSum(1, h)
  const [g, k] = logReduce32(u)
  const near = k === 0
  const [h2, l2] = logWords32(near ? h : g, near ? l : (rest + l) * inverse32(-k))
  return addExponent(k + e, LN2_SHORT_32, LN2_REST_32, h2, l2)
}

export function log1pWords64(h, l, e) {
  const [u, rest] = twoSum(1, h)
  const [g, k] = logReduce64(u)
  const near = k === 0
  const [h2, l2] = logWords64(near ? h : g, near ? l : (rest + l) * inverse64(-k))
  return addExponent(k + e, LN2_SHORT_64, LN2_REST_64, h2, l2)
}

/** 2ⁿ for an integer n ≤ 1, by which a factor 2^−n is removed; 0 below the normal range. */
function inverse32(n) {
  return fromBits(f32, Math.max(i32(n) + 127, 0) << 23)
}

function inverse64(n) {
  return fromBits(f64, u64(Math.max(i32(n) + 1023, 0) >>> 0) << 52)
}

/** log(1 + x), to full relative accuracy near 0. */
export function log1p32(x) {
  const r = log1pWords32(x, 0, 0)
  return x > -1 ? (x < Infinity && x !== 0 ? r : x) : x === -1 ? -Infinity : NaN
}

export function log1p64(x) {
  const r = log1pWords64(x, 0, 0)
  return x > -1 ? (x < Infinity && x !== 0 ? r : x) : x === -1 ? -Infinity : NaN
}
