// Kernels that call services of the script: a training loop that reports its loss from inside one long kernel, and a Monte-Carlo
// estimate that ends as soon as the error is small enough.
import { device, kernel, rpc, f32, f64, i32, bool } from 'offload'

const d = device()

// Fits a straight line to points by gradient descent. One work-item runs all steps and reports every 200th to the script.
const n = 64
const xs = d.buffer(f32, n, i => i / n)
const ys = d.buffer(f32, n, i => 3 * i / n + 1)
const line = d.buffer(f32, 2)

/** @type {number[]} */
const losses = []
rpc.on('loss', { args: [i32, f32], oneWay: true }, (step, loss) => {
  losses.push(loss)
  console.log(`step ${step}: loss ${loss.toExponential(2)}`)
})

const train = kernel((g, xs, ys, line, steps) => {
  let a = f32(0), b = f32(0)
  for (let step = 0; step < i32(steps); step++) {
    let da = f32(0), db = f32(0), loss = f32(0)
    for (let i = 0; i < xs.length; i++) {
      const e = a * xs[i] + b - ys[i]
      da += e * xs[i]
      db += e
      loss += e * e
    }
    a -= 0.5 * da / xs.length
    b -= 0.5 * db / xs.length
    if (step % 200 == 0) g.call('loss', step, loss / xs.length)
  }
  line[0] = a
  line[1] = b
})
train.launch({ size: 1 }, xs, ys, line, 1001)
const [a, b] = await line.read()
console.log(`y = ${a.toFixed(3)} x + ${b.toFixed(3)}`)
if (Math.abs(a - 3) > 0.02 || Math.abs(b - 1) > 0.02) throw new Error('the line does not fit')
if (losses.length != 6 || losses[5] >= losses[0]) throw new Error('the losses were not reported')

// Throws random points at a quarter of a circle. After each round the kernel asks the script whether to run another one.
const pi = d.buffer(f64, 1)
let rounds = 0
rpc.on('enough', { args: [f64, f64], result: bool }, (hits, throws) => {
  rounds++
  const p = hits / throws
  return 4 * Math.sqrt(p * (1 - p) / throws) < 0.005 // one standard deviation
})

const darts = kernel((g, pi) => {
  let seed = 1, hits = 0, throws = 0
  for (let round = 0; round < 1000; round++) {
    for (let i = 0; i < 10000; i++) {
      seed = Math.imul(seed, 1664525) + 1013904223
      const x = f64(seed >>> 8) / 16777216
      seed = Math.imul(seed, 1664525) + 1013904223
      const y = f64(seed >>> 8) / 16777216
      if (x * x + y * y < 1) hits++
      throws++
    }
    if (bool(g.call('enough', f64(hits), f64(throws)))) break
  }
  pi[0] = 4 * f64(hits) / f64(throws)
})
darts.launch({ size: 1 }, pi)
const [estimate] = await pi.read()
console.log(`pi is about ${estimate.toFixed(3)}, after ${rounds} rounds`)
if (Math.abs(estimate - Math.PI) > 0.02 || rounds > 100) throw new Error('the estimate is wrong')
console.log(rpc)
