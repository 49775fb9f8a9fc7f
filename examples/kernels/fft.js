// Radix-2 fast Fourier transform: bit reversal, then a launch of butterflies for each stage.
import { device, kernel, f32 } from 'offload'
import { close, random } from './check.js'

const bits = 7, n = 1 << bits

export const reverse = kernel((g, re, im, outRe, outIm) => {
  let r = 0
  for (let b = 0; b < bits; b++) r |= ((g.x >> b) & 1) << (bits - 1 - b)
  outRe[r] = re[g.x]
  outIm[r] = im[g.x]
})

export const butterfly = kernel((g, re, im, half) => {
  const k = g.x & (half - 1)
  const i = (g.x - k) * 2 + k, j = i + half
  const angle = -Math.PI * k / half
  const c = Math.cos(angle), s = Math.sin(angle)
  const tr = c * re[j] - s * im[j]
  const ti = c * im[j] + s * re[j]
  re[j] = re[i] - tr
  im[j] = im[i] - ti
  re[i] += tr
  im[i] += ti
})

if (import.meta.main) {
  const next = random(4)
  const signal = Float32Array.from({ length: n }, () => next() - 0.5)
  const dev = device()
  const re = dev.buffer(f32, n), im = dev.buffer(f32, n)
  reverse.launch({ size: n }, dev.buffer(signal), dev.buffer(f32, n), re, im)
  for (let half = 1; half < n; half *= 2) butterfly.launch({ size: n / 2 }, re, im, half)

  const wantRe = new Float64Array(n), wantIm = new Float64Array(n)
  for (let k = 0; k < n; k++) {
    for (let t = 0; t < n; t++) {
      wantRe[k] += signal[t] * Math.cos(-2 * Math.PI * ((k * t) % n) / n)
      wantIm[k] += signal[t] * Math.sin(-2 * Math.PI * ((k * t) % n) / n)
    }
  }
  close('fft re', await re.read(), wantRe, 1e-5)
  close('fft im', await im.read(), wantIm, 1e-5)
}
