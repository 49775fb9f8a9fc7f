// Reduction of trigonometric arguments: x = n·π/2 + r + rl with |r| at most slightly above π/4, n modulo 4.
//
// Up to a bound, n = rint(x·2/π) and three words of π/2 are subtracted by fma (W. J. Cody and W. Waite): the first
// difference is exact, the second is kept with its rounding error.
//
// Beyond, x = M·2ᵉ with an integer M, and x·2/π is computed modulo 4 in integers (M. Payne and R. Hanek, 1983): the bits of
// 2/π that give multiples of 4 are skipped, and a window of the next three words is multiplied by M. The window
// leaves 40 (f32) and 77 (f64) correct bits even for the arguments nearest to a multiple of π/2, so the reduction is
// accurate for every x.
import { fastSum, mulWords, twoSum } from './word.js'
import { MAGIC32, MAGIC64 } from './exp.js'

// The fraction bits of 2/π, after a word of zeros.
const TWO_OVER_PI_32 = new Uint32Array([0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561])
const TWO_OVER_PI_64 = new BigUint64Array([0n,
  0xa2f9836e4e441529n, 0xfc2757d1f534ddc0n, 0xdb6295993c439041n, 0xfe5163abdebbc561n, 0xb7246e3a424dd2e0n,
  0x06492eea09d1921cn, 0xfe1deb1cb129a73en, 0xe88235f52ebb4484n, 0xe99c7026b45f7e41n, 0x3991d639835339f4n,
  0x9c845f8bbdf9283bn, 0x1ff897ffde05980fn, 0xef2f118b5a0a6d1fn, 0x6d367ecf27cb09b7n, 0x4f463f669e5fea2dn,
  0x7527bac7ebe5f17bn, 0x3d0739f78a5292ean, 0x6bfb5fb11f8d5d08n, 0x56033046fc7b6babn])

/** [n mod 4, r, rl]; for an infinite or NaN x, r is NaN. */
export function trigReduce32(x) {
  let n, r, rl
  if (Math.abs(x) >= 32768 && Math.abs(x) < Infinity) {
    const b = bits(Math.abs(x))
    const m = b & 0x7fffff | 0x800000
    const skip = (b >>> 23) - 120 // bits of the table before the window
    const i = skip >> 5, s = skip & 31
    const w0 = window32(TWO_OVER_PI_32[i], TWO_OVER_PI_32[i + 1], s)
    const w1 = window32(TWO_OVER_PI_32[i + 1], TWO_OVER_PI_32[i + 2], s)
    const w2 = window32(TWO_OVER_PI_32[i + 2], TWO_OVER_PI_32[i + 3], s)
    const mu = m >>> 0
    const low = mu * w1
    const middle = low + Math.mulhi(mu, w2)
    const high = mu * w0 + Math.mulhi(mu, w1) + (middle < low ? u32(1) : u32(0))
    // high:middle are the first 64 bits of x·2/π / 4 modulo 1.
    const f = high << 2 | middle >>> 30 // the fraction of a quadrant, as a signed number
    n = (high >>> 30) + (f >>> 31) | 0
    const [a, c] = fastSum(f32(f & -256) * 2.3283064365386963e-10, f32(f & 255) * 2.3283064365386963e-10) // exact
    const [h, l] = fastSum(a, f32(middle << 2 >>> 0) * 5.421010862427522e-20 + c)
    const [ph, pl] = mulWords(h, l, 1.5707964, -4.371139e-8)
    r = x < 0 ? -ph : ph
    rl = x < 0 ? -pl : pl
    n = x < 0 ? -n : n
  } else {
    const t = x * 0.63661975 + MAGIC32
    const k = t - MAGIC32
    const w = k * 4.371139e-8
    const [h, l] = twoSum(Math.fma(k, -1.5707964, x), w)
    r = h
    rl = l + (Math.fma(k, 4.371139e-8, -w) + k * 1.7151245e-15)
    n = bits(t) | 0
  }
  return [n, r, rl]
}

function window32(a, b, s) {
  return a << s | b >>> 1 >>> 31 - s
}

/** The same as trigReduce32 for f64. */
export function trigReduce64(x) {
  let n, r, rl
  if (Math.abs(x) >= 1048576 && Math.abs(x) < Infinity) {
    const b = bits(Math.abs(x))
    const m = b & 0xfffffffffffffn | 0x10000000000000n
    const skip = i32(b >> 52) - 1013
    const i = skip >> 6, s = skip & 63
    const w0 = window64(TWO_OVER_PI_64[i], TWO_OVER_PI_64[i + 1], s)
    const w1 = window64(TWO_OVER_PI_64[i + 1], TWO_OVER_PI_64[i + 2], s)
    const w2 = window64(TWO_OVER_PI_64[i + 2], TWO_OVER_PI_64[i + 3], s)
    const low = m * w1
    const middle = low + Math.mulhi(m, w2)
    const high = m * w0 + Math.mulhi(m, w1) + (middle < low ? u64(1) : u64(0))
    const f = fromBits(i64, high << 2 | middle >> 62)
    n = i32(high >> 62) + (f < 0 ? 1 : 0)
    const [a, c] = fastSum(f64(f & -2048n) * 5.421010862427522e-20, f64(f & 2047n) * 5.421010862427522e-20) // exact
    const [h, l] = fastSum(a, f64(middle << 2) * 2.938735877055719e-39 + c)
    const [ph, pl] = mulWords(h, l, 1.5707963267948966, 6.123233995736766e-17)
    r = x < 0 ? -ph : ph
    rl = x < 0 ? -pl : pl
    n = x < 0 ? -n : n
  } else {
    const t = x * 0.6366197723675814 + MAGIC64
    const k = t - MAGIC64
    const w = k * -6.123233995736766e-17
    const [h, l] = twoSum(Math.fma(k, -1.5707963267948966, x), w)
    r = h
    rl = l + (Math.fma(k, -6.123233995736766e-17, -w) + k * 1.4973849048591698e-33)
    n = i32(bits(t) & 3)
  }
  return [n, r, rl]
}

function window64(a, b, s) {
  return a << s | b >> 1 >> 63 - s
}
