// Approximations for Math.fast in f32, with errors up to 4 ulp and without handling of rare cases.
//
// Where the exact result of fastExp is below 2^-126 the result is 0. Arguments below 2^-126 of fastLog and fastRsqrt count
// as 0.
import { erfNear32, erfBeyond32, erfOf } from './erf.js'

const MAGIC = 12582912 // 1.5·2^23: adding it to a small number puts the nearest integer in the low bits
const LOG2E = 1.442695, LN2_HIGH = 0.6931472, LN2_LOW = -1.9046542e-9
const LEAST = 1.1754944e-38 // 2^-126

/**
 * eˣ for −87.3 < x < 88.7: 2ⁿ·eʳ with |r| ≤ 0.347, eʳ = 1 + r + r²·P(r), P minimax of degree 3, relative error 2^-23.2.
 * n is added to the exponent's bits.
 */
function expWithin(x) {
  const t = Math.fma(x, LOG2E, MAGIC)
  const n = t - MAGIC
  const r = Math.fma(n, -LN2_LOW, Math.fma(n, -LN2_HIGH, x))
  let p = 0.0083125075
  p = p * r + 0.04189027
  p = p * r + 0.16667116
  p = p * r + 0.4999923
  p = r * r * p + r
  return fromBits(f32, bits(1 + p) + (bits(t) << 23))
}

export function fastExp32(x) {
  return x < 88.72284 ? (x > -87.33654 ? expWithin(x) : 0) : x * Infinity
}

/** log x = k·ln 2 + log(1 + f), √½ ≤ 1 + f < √2, log(1 + f) = f + f²·P(f), P minimax of degree 8, relative error 2^-27.8. */
export function fastLog32(x) {
  const b = bits(x) + 0x4afb0d // moves the boundary of exponents from 1 to √½
  const k = f32((b >> 23) - 127)
  const f = fromBits(f32, (b & 0x7fffff) + 0x3f3504f3) - 1
  let p = -0.07621778
  p = p * f + 0.12904432
  p = p * f - 0.13242988
  p = p * f + 0.14181826
  p = p * f - 0.16609083
  p = p * f + 0.20001973
  p = p * f - 0.25001583
  p = p * f + 0.33333325
  p = p * f - 0.49999988
  const r = Math.fma(k, LN2_HIGH, f * f * p + f)
  return x >= LEAST ? (x < Infinity ? r : x) : x >= 0 ? -Infinity : NaN
}

/** The same as erf, with a less accurate exponential, whose argument is between −18 and −1. */
export function fastErf32(x) {
  const a = Math.abs(x)
  return erfOf(x, a, erfNear32(a * a), expWithin(erfBeyond32(a)))
}

/**
 * 1/√x: a first value from the bits, within 3.5 %, a step of third order, y·(15 − h·(10 − 3h))/8 with h = x·y², and a
 * Newton step.
 */
export function fastRsqrt32(x) {
  let y = fromBits(f32, 0x5f375a86 - (bits(x) >> 1))
  let h = x * y * y
  y = y * (h * (h * 0.375 - 1.25) + 1.875)
  h = x * y * y
  y = y * (h * -0.5 + 1.5)
  return x >= LEAST ? (x < Infinity ? y : 0) : x >= 0 ? Infinity : NaN
}
