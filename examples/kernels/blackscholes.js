// European options by the Black-Scholes formula.
import { device, kernel, f32 } from 'offload'
import { close, random } from './check.js'

const rate = 0.02, volatility = 0.3

/** @type {(x: number) => number} */
const normal = x => 0.5 + 0.5 * Math.erf(x * Math.SQRT1_2)

export const price = kernel((g, spot, strike, years, call, put) => {
  const i = g.x
  const spread = volatility * Math.sqrt(years[i])
  const d1 = (Math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility * volatility) * years[i]) / spread
  const d2 = d1 - spread
  const discounted = strike[i] * Math.exp(-rate * years[i])
  call[i] = spot[i] * normal(d1) - discounted * normal(d2)
  put[i] = discounted * normal(-d2) - spot[i] * normal(-d1)
})

if (import.meta.main) {
  const n = 200
  const next = random(8)
  /** @type {(lo: number, hi: number) => Float32Array} */
  const column = (lo, hi) => Float32Array.from({ length: n }, () => lo + (hi - lo) * next())
  const spot = column(5, 30), strike = column(1, 100), years = column(0.25, 10)
  const dev = device()
  const call = dev.buffer(f32, n), put = dev.buffer(f32, n)
  price.launch({ size: n }, dev.buffer(spot), dev.buffer(strike), dev.buffer(years), call, put)

  // The reference integrates the normal density by Simpson's rule.
  /** @type {(x: number) => number} */
  const cdf = x => {
    const steps = 400, h = x / steps
    let sum = 1 + Math.exp(-x * x / 2)
    for (let k = 1; k < steps; k++) sum += (k % 2 ? 4 : 2) * Math.exp(-((k * h) ** 2) / 2)
    return 0.5 + sum * h / 3 / Math.sqrt(2 * Math.PI)
  }
  const wantCall = [], wantPut = []
  for (let i = 0; i < n; i++) {
    const spread = volatility * Math.sqrt(years[i])
    const d1 = (Math.log(spot[i] / strike[i]) + (rate + volatility ** 2 / 2) * years[i]) / spread
    const value = spot[i] * cdf(d1) - strike[i] * Math.exp(-rate * years[i]) * cdf(d1 - spread)
    wantCall.push(value)
    wantPut.push(value - spot[i] + strike[i] * Math.exp(-rate * years[i])) // put-call parity
  }
  close('call', await call.read(), wantCall, 1e-4)
  close('put', await put.read(), wantPut, 1e-4)
}
