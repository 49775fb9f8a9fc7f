// Powers.
//
// xʸ = 2^(y·log2|x|), with log2|x| as a double word: its error is multiplied by y, so it must be about 2^-10 (f32: 2^-7) of
// the unit roundoff. x = 2ᵏ·m as for log, s = (m − 1)/(m + 1) as a double word, z = s², also a double word, and
// log m = 2s·(1 + z/3 + z²·P(z)): z/3 is a double word, P is minimax on [0, 0.02944], with errors of z²·P of
// f32 degree 3, 2^-40.1; f64 degree 8, 2^-70.6. The low word of z counts in z² too: s may be a whole ulp
// from (m − 1)/(m + 1), and twice the product of both words is 2^-62 of the logarithm. Then 2^(…) is the core of exp.
import { divWords, fastSum, mulWords } from './word.js'
import { exp2Words32, exp2Words64 } from './exp.js'
import { logReduce32, logReduce64 } from './log.js'

function log2Words32(x) {
  const [f, k] = logReduce32(x)
  const den = 2 + f
  const [s, sl] = divWords(f, 0, den, f - (den - 2))
  const z = s * s
  const zl = Math.fma(s, s, -z) + 2 * s * sl
  let p = 0.09435845
  p = p * z + 0.111087866
  p = p * z + 0.14285672
  p = p * z + 0.2
  const [t, tl] = mulWords(z, zl, 0.33333334, -9.934108e-9)
  const q = p * z
  const [u, ul] = fastSum(t, q * z + (2 * q * zl + tl))
  const [v, vl] = mulWords(s, sl, u, ul)
  const [h, l] = fastSum(s, v)
  const [b, bl] = mulWords(h, l + (vl + sl), 2.88539, 3.851926e-8)
  const [r, rl] = fastSum(k, b)
  return fastSum(r, rl + bl)
}

function log2Words64(x) {
  const [f, k] = logReduce64(x)
  const den = 2 + f
  const [s, sl] = divWords(f, 0, den, f - (den - 2))
  const z = s * s
  const zl = Math.fma(s, s, -z) + 2 * s * sl
  let p = 0.12968242025542112
  p = p * z + 0.042789204140510115
  p = p * z + 0.05932309212462194
  p = p * z + 0.0666531147428744
  p = p * z + 0.07692328692322457
  p = p * z + 0.09090908906030636
  p = p * z + 0.11111111111974983
  p = p * z + 0.14285714285712472
  p = p * z + 0.2
  const [t, tl] = mulWords(z, zl, 0.3333333333333333, 1.850371707708594e-17)
  const q = p * z
  const [u, ul] = fastSum(t, q * z + (2 * q * zl + tl))
  const [v, vl] = mulWords(s, sl, u, ul)
  const [h, l] = fastSum(s, v)
  const [b, bl] = mulWords(h, l + (vl + sl), 2.8853900817779268, 4.0710547481862066e-17)
  const [r, rl] = fastSum(k, b)
  return fastSum(r, rl + bl)
}

/**
 * Adds the sign and special values to the power of |x|. As in JavaScript, and unlike C, pow(±1, ±Infinity) and
 * pow(1, NaN) are NaN; only pow(x, ±0) is 1 for every x. A square is rounded once, as the language's x ** 2 is.
 */
function powSpecial(r, x, y, negative) {
  const whole = Math.trunc(y) === y
  const half = 0.5 * y
  const isOdd = whole && Math.trunc(half) !== half
  const signed = negative && isOdd ? -r : r
  const complex = x < 0 && x > -Infinity && !whole && y === y
  return y === 0 ? 1 : y === 2 ? x * x : complex ? NaN : signed
}

export function pow32(x, y) {
  const a = Math.abs(x)
  const [h, l] = log2Words32(a)
  const log = a > 0 ? (a < Infinity ? h : a) : a === 0 ? -Infinity : a
  const t = y * log
  const inside = Math.abs(t) < 160
  const tl = inside ? Math.fma(y, log, -t) + y * l : 0
  const r = exp2Words32(t > 160 ? 160 : t < -160 ? -160 : t, tl)
  return powSpecial(r, x, y, (bits(x) >>> 31) === 1)
}

export function pow64(x, y) {
  const a = Math.abs(x)
  const [h, l] = log2Words64(a)
  const log = a > 0 ? (a < Infinity ? h : a) : a === 0 ? -Infinity : a
  const t = y * log
  const inside = Math.abs(t) < 1100
  const tl = inside ? Math.fma(y, log, -t) + y * l : 0
  const r = exp2Words64(t > 1100 ? 1100 : t < -1100 ? -1100 : t, tl)
  return powSpecial(r, x, y, (bits(x) >> 63) === 1)
}
