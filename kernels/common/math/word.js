// Double words: an unevaluated sum high + low of two floats carries about twice the precision of one. These helpers work
// for f32 and f64 alike. Every fused multiply-add that an algorithm needs is written as Math.fma or in the form
// `a * b + c` of the language's fusing rule; each other operation rounds once.
//
// Sources: T. J. Dekker, "A floating-point technique for extending the available precision" (1971); D. E. Knuth, TAOCP 2,
// section 4.2.2; J.-M. Muller et al., "Handbook of Floating-Point Arithmetic".

/** a + b exactly, for any a and b (Knuth). */
export function twoSum(a, b) {
  const s = a + b
  const c = s - a
  return [s, (a - (s - c)) + (b - c)]
}

/** a + b exactly, if |a| ≥ |b| or a is 0 (Dekker). */
export function fastSum(a, b) {
  const s = a + b
  return [s, (a - s) + b]
}

/** (ah + al) · (bh + bl), with a relative error of a few squares of the unit roundoff. */
export function mulWords(ah, al, bh, bl) {
  const p = ah * bh
  return [p, Math.fma(ah, bh, -p) + (ah * bl + al * bh)]
}

/** (nh + nl) / (dh + dl), with a similar error; the reciprocal of dh must not overflow. */
export function divWords(nh, nl, dh, dl) {
  const r = 1 / dh
  const q = nh * r
  const rest = Math.fma(-q, dh, nh) + (nl - q * dl)
  return [q, rest * r]
}

/** r with the sign of x where x is negative, and x itself where x is ±0: makes f(|x|) the odd function f(x). */
export function odd(r, x) {
  const s = x === 0 ? x : r
  return x < 0 ? -s : s
}
