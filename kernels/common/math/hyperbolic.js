// Hyperbolic functions and their inverses.
//
// sinh, cosh and tanh are rational in E = expm1|x|, which keeps full relative accuracy near 0:
// sinh = (E + E/(E + 1))/2, cosh = ((E + 1) + 1/(E + 1))/2, tanh = D/(D + 2) with D = expm1(2|x|).
// They are computed from E/4 as a double word, so that nothing overflows before the result does.
//
// The inverses are logarithms of 1 + v, with v as a double word: asinh: v = |x| + x²/(1 + √(1 + x²)); acosh: v = t + √(t·(t + 2)),
// t = x − 1; atanh: half the logarithm for v = 2|x|/(1 − |x|).
import { divWords, fastSum, mulWords, odd, twoSum } from './word.js'
import { quarterExpm1_32, quarterExpm1_64 } from './exp.js'
import { log1pWords32, log1pWords64 } from './log.js'

/** sinh from E/4. */
function sinhOf(e, el) {
  const [d, dl] = twoSum(e, 0.25)
  const [q, ql] = divWords(e, el, d, dl + el)
  const [h, l] = fastSum(e, 0.25 * q)
  return 2 * (h + (l + (el + 0.25 * ql)))
}

/** cosh from E/4. */
function coshOf(e, el) {
  const [d, dl] = twoSum(e, 0.25)
  const [q, ql] = divWords(0.0625, 0, d, dl + el)
  const [h, l] = fastSum(d, q)
  return 2 * (h + (l + (dl + el + ql)))
}

/** tanh from a quarter of expm1(2|x|). */
function tanhOf(e, el) {
  const [d, dl] = twoSum(e, 0.5)
  const [q, ql] = divWords(e, el, d, dl + el)
  return q + ql
}

/** Hyperbolic sine; x itself where x³/6 is below half an ulp. */
export function sinh32(x) {
  const a = Math.abs(x)
  const [e, el] = quarterExpm1_32(a > 89.5 ? 89.5 : a)
  const r = sinhOf(e, el)
  return a < 0.0002 ? x : odd(r, x)
}

export function sinh64(x) {
  const a = Math.abs(x)
  const [e, el] = quarterExpm1_64(a > 710.6 ? 710.6 : a)
  const r = sinhOf(e, el)
  return a < 1e-8 ? x : odd(r, x)
}

/** Hyperbolic cosine. */
export function cosh32(x) {
  const a = Math.abs(x)
  const [e, el] = quarterExpm1_32(a > 89.5 ? 89.5 : a)
  return coshOf(e, el)
}

export function cosh64(x) {
  const a = Math.abs(x)
  const [e, el] = quarterExpm1_64(a > 710.6 ? 710.6 : a)
  return coshOf(e, el)
}

/** Hyperbolic tangent; ±1 rounded beyond the bound, and x itself where x³/3 is below half an ulp. */
export function tanh32(x) {
  const a = Math.abs(x)
  const [e, el] = quarterExpm1_32(a > 12 ? 24 : 2 * a)
  const r = tanhOf(e, el)
  return a < 0.0002 ? x : odd(r, x)
}

export function tanh64(x) {
  const a = Math.abs(x)
  const [e, el] = quarterExpm1_64(a > 24 ? 48 : 2 * a)
  const r = tanhOf(e, el)
  return a < 1e-8 ? x : odd(r, x)
}

/** √(h + l) as a double word, for h > 0; 0 for 0. */
function sqrtWords(h, l) {
  const s = Math.sqrt(h)
  return [s, (Math.fma(-s, s, h) + l) / (h > 0 ? s + s : 1)]
}

/** |x| + x²/(1 + √(1 + x²)). */
function asinhArgument(a) {
  const z = a * a
  const zl = Math.fma(a, a, -z)
  const [w, wl] = twoSum(1, z)
  const [s, sl] = sqrtWords(w, wl + zl)
  const [d, dl] = twoSum(1, s)
  const [q, ql] = divWords(z, zl, d, dl + sl)
  const [h, l] = twoSum(a, q)
  return [h, l + ql]
}

/** Inverse hyperbolic sine; log 2|x| for large x. */
export function asinh32(x) {
  const a = Math.abs(x)
  const far = a > 1073741824
  const [h, l] = asinhArgument(far ? 1 : a)
  const r = log1pWords32(far ? a : h, far ? 0 : l, far ? 1 : 0)
  return a < 0.0002 || a === Infinity ? x : odd(r, x)
}

export function asinh64(x) {
  const a = Math.abs(x)
  const far = a > 1152921504606846976
  const [h, l] = asinhArgument(far ? 1 : a)
  const r = log1pWords64(far ? a : h, far ? 0 : l, far ? 1 : 0)
  return a < 1e-8 || a === Infinity ? x : odd(r, x)
}

/** t + √(t·(t + 2)) with t = x − 1. */
function acoshArgument(x) {
  const [t, tl] = twoSum(x, -1)
  const [u, ul] = twoSum(t, 2)
  const [z, zl] = mulWords(t, tl, u, ul + tl)
  const [s, sl] = sqrtWords(z, zl)
  const [h, l] = twoSum(t, s)
  return [h, l + (tl + sl)]
}

/** Inverse hyperbolic cosine; NaN below 1, log 2x for large x. */
export function acosh32(x) {
  const far = x > 1073741824
  const [h, l] = acoshArgument(far ? 1 : x)
  const r = log1pWords32(far ? x : h, far ? 0 : l, far ? 1 : 0)
  return x >= 1 ? (x < Infinity ? r : x) : NaN
}

export function acosh64(x) {
  const far = x > 1152921504606846976
  const [h, l] = acoshArgument(far ? 1 : x)
  const r = log1pWords64(far ? x : h, far ? 0 : l, far ? 1 : 0)
  return x >= 1 ? (x < Infinity ? r : x) : NaN
}

/** 2a/(1 − a). */
function atanhArgument(a) {
  const [d, dl] = twoSum(1, -a)
  return divWords(2 * a, 0, d, dl)
}

/** Inverse hyperbolic tangent; ±Infinity at ±1, NaN outside. */
export function atanh32(x) {
  const a = Math.abs(x)
  const [h, l] = atanhArgument(a < 1 ? a : 0)
  const r = 0.5 * log1pWords32(h, l, 0)
  const s = odd(a < 1 ? r : a === 1 ? Infinity : NaN, x)
  return a < 0.0002 ? x : s
}

export function atanh64(x) {
  const a = Math.abs(x)
  const [h, l] = atanhArgument(a < 1 ? a : 0)
  const r = 0.5 * log1pWords64(h, l, 0)
  const s = odd(a < 1 ? r : a === 1 ? Infinity : NaN, x)
  return a < 1e-8 ? x : s
}
