// The parts of a number: fraction and exponent.

/** Splits n into [exponent of a factor, remainder]. Negative steps are smaller, so that no subnormal is rounded twice. */
function step(n, up, down) {
  const k = n > up ? up : n < -up ? -down : 0
  return [k, n - k]
}

function power2_32(k) {
  return fromBits(f32, (i32(k) + 127) << 23)
}

function power2_64(k) {
  return fromBits(f64, u64((i32(k) + 1023) >>> 0) << 52)
}

/** x·2ⁿ, rounded once, for an integral n: three factors, the last of which alone can round. */
export function ldexp32(x, n) {
  const [a, rest] = step(n > 378 ? 378 : n < -378 ? -378 : n, 126, 102)
  const [b, last] = step(rest, 126, 102)
  return x * power2_32(a) * power2_32(b) * power2_32(last < -126 ? -126 : last)
}

export function ldexp64(x, n) {
  const [a, rest] = step(n > 3066 ? 3066 : n < -3066 ? -3066 : n, 1022, 969)
  const [b, last] = step(rest, 1022, 969)
  return x * power2_64(a) * power2_64(b) * power2_64(last < -1022 ? -1022 : last)
}

/** The fraction of x = fraction·2^exponent, 1/2 ≤ |fraction| < 1; x itself if it is 0, infinite or NaN. */
export function frexp32(x) {
  const a = Math.abs(x)
  const b = bits(a < 1.1754944e-38 ? x * 16777216 : x)
  return a > 0 && a < Infinity ? fromBits(f32, b & 0x807fffff | 0x3f000000) : x
}

export function frexp64(x) {
  const a = Math.abs(x)
  const b = bits(a < 2.2250738585072014e-308 ? x * 18014398509481984 : x)
  return a > 0 && a < Infinity ? fromBits(f64, b & 0x800fffffffffffffn | 0x3fe0000000000000n) : x
}

/** The exponent of x = fraction·2^exponent; 0 if x is 0, infinite or NaN. */
export function frexp_exponent32(x) {
  const a = Math.abs(x)
  const small = a < 1.1754944e-38
  const e = (bits(small ? a * 16777216 : a) >> 23) - (small ? 150 : 126)
  return a > 0 && a < Infinity ? f32(e) : 0
}

export function frexp_exponent64(x) {
  const a = Math.abs(x)
  const small = a < 2.2250738585072014e-308
  const e = i32(bits(small ? a * 18014398509481984 : a) >> 52) - (small ? 1076 : 1022)
  return a > 0 && a < Infinity ? f64(e) : 0
}
