// Inverse trigonometric functions.
//
// asin and acos: with s = |x| up to 1/2 and s = √((1 − |x|)/2) beyond, asin s = s + s·z·A(z), z = s²;
// asin x = π/2 − 2·asin s and acos x = 2·asin s there. A is minimax on [0, 1/4], error of z·A: f32 degree 5, 2^-30.2;
// f64 degree 12, 2^-58.1. The square root carries its rounding error as a second word.
//
// atan and atan2: the quotient of the smaller by the larger leg is brought below tan(π/8) by one more rotation by π/4,
// (a − b)/(a + b), all in double words; atan q = q + q·z·T(z), T minimax on [0, 0.17158], error of z·T: f32 degree 4, 2^-28.6;
// f64 degree 11, 2^-63.7.
import { divWords, fastSum, odd, twoSum } from './word.js'

const PI_HIGH_32 = 3.1415927, PI_LOW_32 = -8.742278e-8
const PI_HIGH_64 = 3.141592653589793, PI_LOW_64 = 1.2246467991473532e-16

function asinPoly32(z) {
  let p = 0.034515806
  p = p * z + 0.016596848
  p = p * z + 0.031234162
  p = p * z + 0.044585444
  p = p * z + 0.07500153
  return p * z + 0.16666666
}

function asinPoly64(z) {
  let p = 0.02905848379957824
  p = p * z - 0.015306036812851961
  p = p * z + 0.017701448831463004
  p = p * z + 0.005343025054619192
  p = p * z + 0.010350533428319457
  p = p * z + 0.011474729573936554
  p = p * z + 0.013971691376003332
  p = p * z + 0.01735235860151994
  p = p * z + 0.022372174502858035
  p = p * z + 0.03038194409553674
  p = p * z + 0.04464285714699303
  p = p * z + 0.07499999999998022
  return p * z + 0.16666666666666669
}

/** For a = |x|: [s, s², rounding error of s]. A number above 1 gives NaN. */
function asinReduce(a) {
  const far = a > 0.5
  const z = far ? 0.5 - 0.5 * a : a * a
  const root = Math.sqrt(z)
  const s = far ? root : a
  const rest = Math.fma(-s, s, z) / (z > 0 ? s + s : 1)
  return [s, z, far ? rest : 0]
}

/** π/2 − 2·(s + w) for a > 1/2, else s + w. */
function asinFinish(a, s, w, high, low) {
  const [h, l] = fastSum(0.5 * high, -2 * s)
  return a > 0.5 ? h + (l + (0.5 * low - 2 * w)) : s + w
}

/** 2·(s + w), π − 2·(s + w), or π/2 ∓ (s + w). */
function acosFinish(x, s, w, high, low) {
  const far = Math.abs(x) > 0.5
  const base = far ? (x > 0 ? 0 : high) : 0.5 * high
  const rest = far ? (x > 0 ? 0 : low) : 0.5 * low
  const factor = far ? (x > 0 ? 2 : -2) : x > 0 ? -1 : 1
  const [h, l] = fastSum(base, factor * s)
  return h + (l + (factor * w + rest))
}

/** Arc sine; NaN outside [−1, 1]. */
export function asin32(x) {
  const a = Math.abs(x)
  const [s, z, sl] = asinReduce(a)
  const w = s * z * asinPoly32(z) + sl
  return odd(asinFinish(a, s, w, PI_HIGH_32, PI_LOW_32), x)
}

export function asin64(x) {
  const a = Math.abs(x)
  const [s, z, sl] = asinReduce(a)
  const w = s * z * asinPoly64(z) + sl
  return odd(asinFinish(a, s, w, PI_HIGH_64, PI_LOW_64), x)
}

/** Arc cosine; NaN outside [−1, 1]. */
export function acos32(x) {
  const [s, z, sl] = asinReduce(Math.abs(x))
  const w = s * z * asinPoly32(z) + sl
  return acosFinish(x, s, w, PI_HIGH_32, PI_LOW_32)
}

export function acos64(x) {
  const [s, z, sl] = asinReduce(Math.abs(x))
  const w = s * z * asinPoly64(z) + sl
  return acosFinish(x, s, w, PI_HIGH_64, PI_LOW_64)
}

function atanPoly32(z) {
  let p = -0.06449571
  p = p * z + 0.10742208
  p = p * z - 0.14263654
  p = p * z + 0.19999519
  return p * z - 0.3333333
}

function atanPoly64(z) {
  let p = 0.015487905381157786
  p = p * z - 0.03378176842132795
  p = p * z + 0.045176799880734385
  p = p * z - 0.05222141293161081
  p = p * z + 0.058776491784498244
  p = p * z - 0.0666629638432654
  p = p * z + 0.07692287914708246
  p = p * z - 0.09090908395633819
  p = p * z + 0.11111111095902501
  p = p * z - 0.14285714285526824
  p = p * z + 0.19999999999998921
  return p * z - 0.3333333333333333
}

/** The angle of (x, y), x, y ≥ 0 and not both 0, as base + atan(q + ql): [q, ql, base in units of π/4]. */
function atanReduce(y, x) {
  const steep = y > 2.414213562373095 * x
  const middle = y > 0.41421356237309503 * x
  const [d, dl] = twoSum(y, -x)
  const [s, sl] = twoSum(y, x)
  const [q, ql] = divWords(
    steep ? -x : middle ? d : y, middle && !steep ? dl : 0,
    steep ? y : middle ? s : x, middle && !steep ? sl : 0)
  return [q, ql, steep ? 2 : middle ? 1 : 0]
}

/** base·π/4 + q + p, as a double word. */
function atanSum(base, q, p, high, low) {
  const [h, l] = fastSum(0.25 * base * high, q)
  return [h, l + (0.25 * base * low + p)]
}

/** Arc tangent. Beyond the bound the result is ±π/2 rounded. */
export function atan32(x) {
  const a = Math.abs(x)
  const [q, ql, base] = atanReduce(a > 1e18 ? 1e18 : a, f32(1))
  const z = q * q
  const [h, l] = atanSum(base, q, q * z * atanPoly32(z) + ql, PI_HIGH_32, PI_LOW_32)
  return odd(h + l, x)
}

export function atan64(x) {
  const a = Math.abs(x)
  const [q, ql, base] = atanReduce(a > 1e36 ? 1e36 : a, f64(1))
  const z = q * q
  const [h, l] = atanSum(base, q, q * z * atanPoly64(z) + ql, PI_HIGH_64, PI_LOW_64)
  return odd(h + l, x)
}

/** The finite legs that have the angle of (|x|, |y|): infinities become 1 beside 0; (0, 0) becomes (1, 0). */
function legs(y, x) {
  const anyInfinite = x === Infinity || y === Infinity
  const a = anyInfinite ? (y === Infinity ? 1 : 0) : y
  const b = anyInfinite ? (x === Infinity ? 1 : 0) : x
  return [a, a === 0 && b === 0 ? 1 : b]
}

/** Converts an angle in the right half plane to the angle in its quadrant. */
function atan2Finish(h, l, y, x, behind, above, high, low) {
  const [g, gl] = fastSum(high, -h)
  const r = behind ? g + (gl + (low - l)) : h + l
  return x !== x || y !== y ? NaN : above ? r : -r
}

/** Angle of the point (x, y), from −π to π; the sign of a zero selects the side of the axis. */
export function atan2_32(y, x) {
  const [a, b] = legs(Math.abs(y), Math.abs(x))
  const most = Math.max(a, b)
  const scale = most > 1e36 ? 1.52587890625e-5 : most < 1 ? 1152921504606846976 : 1
  const [q, ql, base] = atanReduce(a * scale, b * scale)
  const z = q * q
  const [h, l] = atanSum(base, q, q * z * atanPoly32(z) + ql, PI_HIGH_32, PI_LOW_32)
  return atan2Finish(h, l, y, x, (bits(x) >>> 31) === 1, (bits(y) >>> 31) === 0, PI_HIGH_32, PI_LOW_32)
}

export function atan2_64(y, x) {
  const [a, b] = legs(Math.abs(y), Math.abs(x))
  const most = Math.max(a, b)
  const scale = most > 1e300 ? 5.421010862427522e-20 : most < 1 ? 3.273390607896142e150 : 1
  const [q, ql, base] = atanReduce(a * scale, b * scale)
  const z = q * q
  const [h, l] = atanSum(base, q, q * z * atanPoly64(z) + ql, PI_HIGH_64, PI_LOW_64)
  return atan2Finish(h, l, y, x, (bits(x) >> 63) === 1, (bits(y) >> 63) === 0, PI_HIGH_64, PI_LOW_64)
}
