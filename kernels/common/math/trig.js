// Sine, cosine and tangent.
//
// After reduction to |r + rl| ≤ π/4: sin r = r + r·z·S(z) and cos r = 1 − z/2 + z²·C(z), z = r², each as a sum of two words with
// rl included to first order. S and C are minimax on z ≤ (π/4 + 0.001)²; errors of z·S and z²·C:
// f32 S degree 3, 2^-31.0, C degree 2, 2^-30.3; f64 S degree 6, 2^-61.0, C degree 5, 2^-60.9.
// The quadrant selects one of them and the sign, so that all lanes of a SIMD unit run the same operations.
import { divWords, fastSum } from './word.js'
import { trigReduce32, trigReduce64 } from './reduce.js'

/** sin(r + rl) as a double word. */
function sinCore32(r, rl) {
  const z = r * r
  let p = 2.9164335e-6
  p = p * z - 0.00019860832
  p = p * z + 0.008333396
  p = p * z - 0.16666667
  return fastSum(r, r * z * p + (rl - 0.5 * z * rl))
}

function sinCore64(r, rl) {
  const z = r * r
  let p = -7.066852068647769e-13
  p = p * z + 1.604808330812955e-10
  p = p * z - 2.5052025461751137e-8
  p = p * z + 2.7557318919617787e-6
  p = p * z - 0.0001984126984072438
  p = p * z + 0.008333333333332913
  p = p * z - 0.16666666666666666
  return fastSum(r, r * z * p + (rl - 0.5 * z * rl))
}

/** cos(r + rl) as a sum of two words that may overlap. */
function cosCore32(r, rl) {
  const z = r * r
  let p = 2.4543597e-5
  p = p * z - 0.0013888271
  p = p * z + 0.041666664
  return cosSum(r, rl, z, z * z * p)
}

function cosCore64(r, rl) {
  const z = r * r
  let p = -1.1381371034943872e-11
  p = p * z + 2.0876125499284307e-9
  p = p * z - 2.7557317147480436e-7
  p = p * z + 2.4801587298440747e-5
  p = p * z - 0.001388888888888705
  p = p * z + 0.041666666666666664
  return cosSum(r, rl, z, z * z * p)
}

/** 1 − (r² + 2·r·rl)/2 + q, where z is r² rounded. */
function cosSum(r, rl, z, q) {
  const zl = Math.fma(r, r, -z)
  const [h, l] = fastSum(1, -0.5 * z)
  return [h, l + (q - (r * rl + 0.5 * zl))]
}

/** sin(n·π/2 + …) from the sums of both cores. */
function quadrant(n, sin, cos) {
  const r = (n & 1) === 0 ? sin : cos
  return (n & 2) === 0 ? r : -r
}

/** Sine; x itself where x³/6 is below half an ulp. */
export function sin32(x) {
  const [n, r, rl] = trigReduce32(x)
  const [s, sl] = sinCore32(r, rl)
  const [c, cl] = cosCore32(r, rl)
  return Math.abs(x) < 0.0002 ? x : quadrant(n, s + sl, c + cl)
}

export function sin64(x) {
  const [n, r, rl] = trigReduce64(x)
  const [s, sl] = sinCore64(r, rl)
  const [c, cl] = cosCore64(r, rl)
  return Math.abs(x) < 1e-8 ? x : quadrant(n, s + sl, c + cl)
}

/** Cosine: the sine in the next quadrant. */
export function cos32(x) {
  const [n, r, rl] = trigReduce32(x)
  const [s, sl] = sinCore32(r, rl)
  const [c, cl] = cosCore32(r, rl)
  return quadrant(n + 1, s + sl, c + cl)
}

export function cos64(x) {
  const [n, r, rl] = trigReduce64(x)
  const [s, sl] = sinCore64(r, rl)
  const [c, cl] = cosCore64(r, rl)
  return quadrant(n + 1, s + sl, c + cl)
}

/** Tangent: sin/cos, or −cos/sin in odd quadrants, in double words with one division. */
export function tan32(x) {
  const [n, r, rl] = trigReduce32(x)
  const [s, sl] = sinCore32(r, rl)
  const [c, cl] = cosCore32(r, rl)
  const t = tangent(n, s, sl, c, cl)
  return Math.abs(x) < 0.0002 ? x : t
}

export function tan64(x) {
  const [n, r, rl] = trigReduce64(x)
  const [s, sl] = sinCore64(r, rl)
  const [c, cl] = cosCore64(r, rl)
  const t = tangent(n, s, sl, c, cl)
  return Math.abs(x) < 1e-8 ? x : t
}

function tangent(n, s, sl, c, cl) {
  const even = (n & 1) === 0
  const [d, dl] = fastSum(c, cl)
  const [q, ql] = divWords(even ? s : -d, even ? sl : -dl, even ? d : s, even ? dl : sl)
  return q + ql
}
