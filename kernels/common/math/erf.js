// The error function.
//
// |x| < 1: erf x = x + x·P(z), z = x², P minimax on [0, 1]: f32 degree 6, 2^-29.5; f64 degree 11, 2^-55.9.
// Beyond: erf x = 1 − exp(−Q(t)), t = |x| − 1, where Q approximates −log erfc(1 + t) with the weight erfc(1 + t) (Remez
// exchange, rounded coefficients), so that the error of the exponential is absolute: f32 degree 7 on [0, 3], 2^-26.9; f64
// degree 18 on [0, 5], 2^-57.5. Above the range of t the result is 1.
import { expWithin32, expWithin64 } from './exp.js'

/** P(z). */
export function erfNear32(z) {
  let p = 7.9241305e-5
  p = p * z - 0.0008031836
  p = p * z + 0.0051908446
  p = p * z - 0.026855174
  p = p * z + 0.11283619
  p = p * z - 0.3761263
  p = p * z + 0.12837917
  return p
}

/** −Q(a − 1). */
export function erfBeyond32(a) {
  const t = (a > 4 ? 4 : a) - 1
  let q = -2.168675e-5
  q = q * t + 0.00028952787
  q = q * t - 0.0020119664
  q = q * t + 0.010046452
  q = q * t - 0.04156348
  q = q * t - 0.8431071
  q = q * t - 2.6389675
  q = q * t - 1.8496056
  return q
}

/** erf x from a = |x|, P(a²) and exp(−Q(a − 1)). */
export function erfOf(x, a, p, e) {
  const far = 1 - e
  return a < 1 ? x * p + x : x < 0 ? -far : far
}

export function erf32(x) {
  const a = Math.abs(x)
  return erfOf(x, a, erfNear32(a * a), expWithin32(erfBeyond32(a)))
}

export function erf64(x) {
  const a = Math.abs(x)
  const z = a * a
  let p = -7.787140262998892e-10
  p = p * z + 1.3714890690730486e-8
  p = p * z - 1.6207152295375514e-7
  p = p * z + 1.6447228937057237e-6
  p = p * z - 1.4924718787982984e-5
  p = p * z + 0.00012055293808155596
  p = p * z - 0.0008548325931727704
  p = p * z + 0.005223977605995373
  p = p * z - 0.02686617064306099
  p = p * z + 0.11283791670943447
  p = p * z - 0.37612638903183476
  p = p * z + 0.12837916709551256
  const t = (a > 6 ? 6 : a) - 1
  let q = 1.039106584600775e-12
  q = q * t - 2.8815646024462594e-11
  q = q * t + 3.6824828937727075e-10
  q = q * t - 2.8640385695770584e-9
  q = q * t + 1.4911437283578654e-8
  q = q * t - 5.2037834069093635e-8
  q = q * t + 9.754731899841966e-8
  q = q * t + 1.4287531593206046e-7
  q = q * t - 2.0597716032075237e-6
  q = q * t + 9.608899484667422e-6
  q = q * t - 2.715911132857907e-5
  q = q * t + 2.6277874545493833e-5
  q = q * t + 0.00023732248165607208
  q = q * t - 0.0019779025679552025
  q = q * t + 0.010033825374414093
  q = q * t - 0.041561098041808825
  q = q * t - 0.8431072563586768
  q = q * t - 2.638967514234788
  q = q * t - 1.8496055099332482
  return erfOf(x, a, p, expWithin64(q))
}
