(function (now, eventClass, fail, nearest, warn) {
  'use strict'
  const known = ['warmup', 'repeats', 'minTime', 'bytes', 'flops', 'before', 'verify', 'clock', 'thresholds']
  const rates = ['gigabytesPerSecond', 'gigaflops'] // higher is better; for times, lower is better
  const limited = ['median', 'low', 'high', 'least', 'most', ...rates]
  const results = []
  let watcher // called with the benchmark's name, the samples done and their total

  const watch = fn => { watcher = fn }

  // positive returns a numeric option that is at least a minimum.
  function positive(options, name, missing, least) {
    const value = options[name] ?? missing
    if (typeof value !== 'number' || !(value >= least) || value === Infinity) fail(`${name} must be a number from ${least} on, not ${value}`)
    return value
  }

  const isEvent = value => eventClass !== undefined && value instanceof eventClass

  // sample returns the mean time of a batch's calls in milliseconds, on the device's clock if there is a queue. It passes
  // the settled value of the last call to keep.
  async function sample(fn, batch, queue, before, keep) {
    await before?.()
    const mark = queue?.record()
    const start = now()
    let last
    for (let i = 0; i < batch; i++) {
      last = fn()
      if (!isEvent(last) && typeof last?.then === 'function') last = await last
    }
    const value = isEvent(last) ? await last : last
    const elapsed = queue === undefined ? now() - start : last.elapsedSince(mark) / 1e6
    keep?.(value)
    return elapsed / batch
  }

  // timeCalls times n calls of a function. Short calls and launches are grouped into 30 samples.
  async function timeCalls(fn, n) {
    let value, queue
    const watched = () => {
      const v = fn()
      if (isEvent(v)) queue = v.queue
      return v
    }
    const keep = v => { value = v }
    const first = await sample(watched, 1, undefined, undefined, keep)
    const batch = queue === undefined && first > 0.1 ? 1 : Math.ceil((n - 1) / 30)
    const times = n === 1 ? [first] : []
    for (let left = n - 1; left > 0; left -= batch) times.push(await sample(fn, Math.min(batch, left), queue, undefined, keep))
    times.sort((a, b) => a - b)
    return { value, times, first, clock: queue === undefined || n === 1 ? 'host' : 'device' }
  }

  // mistake returns the reason for which a function of the script finds a result wrong, or ''.
  async function mistake(verify) {
    try {
      return (await verify()) === false ? 'verify returned false' : ''
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  async function bench(name, fn, options = {}) {
    if (typeof name !== 'string') fail(`the name must be a string, not ${typeof name}`, "write bench('name', () => kernel.launch(…))")
    if (typeof fn !== 'function') fail(`expected a function to measure, not ${typeof fn}`, "write bench('name', () => kernel.launch(…))")
    for (const key of Object.keys(options)) {
      if (known.includes(key)) continue
      const near = nearest(key, ...known)
      fail(`there is no option "${key}"`, `${near && `did you mean ${near}? `}the options are ${known.join(', ')}`)
    }
    const warmup = positive(options, 'warmup', 3, 0), repeats = positive(options, 'repeats', 30, 1), minTime = positive(options, 'minTime', 1, 0)
    const bytes = positive(options, 'bytes', 0, 0), flops = positive(options, 'flops', 0, 0)

    const thresholds = checkThresholds(options.thresholds ?? {}, { gigabytesPerSecond: bytes, gigaflops: flops })

    const before = options.before
    if (before !== undefined && typeof before !== 'function') fail(`before must be a function, not ${typeof before}`)

    watcher?.(name, 0, repeats)
    // The first call determines the kind of result and produces the data for verify.
    await before?.()
    const first = fn()
    if (first === undefined && options.clock !== 'host' && /\.launch\s*\(/.test(String(fn)) && !/Sync\s*\(/.test(String(fn))) {
      fail(`the function of "${name}" launches a kernel and returns nothing, so that only the time to queue it would be measured`,
        "return the event of the launch, as in () => k.launch(…); or write clock: 'host' if that is meant")
    }
    const queue = isEvent(first) ? first.queue : undefined
    await first
    const wrong = options.verify === undefined ? '' : await mistake(options.verify)
    if (wrong !== '') warn(`bench: the result of "${name}" is wrong: ${wrong}`)
    const clock = options.clock ?? (queue === undefined ? 'host' : 'device')
    if (clock !== 'host' && clock !== 'device') fail(`clock must be 'host' or 'device', not ${clock}`)
    if (clock === 'device' && queue === undefined) fail("the device's clock needs a function that returns an event", "return the event of a launch, or write clock: 'host'")

    const timed = clock === 'device' ? queue : undefined
    for (let i = 0; i < warmup; i++) await sample(fn, 1, timed, before)
    // Increase the batch until a sample is long relative to the resolution of the clock and the overhead of waiting.
    let batch = 1
    while (before === undefined && batch < 2 ** 20) {
      const elapsed = (await sample(fn, batch, timed, before)) * batch
      if (elapsed >= minTime) break
      batch = Math.min(2 ** 20, Math.max(2 * batch, Math.ceil(batch * Math.min(10, 1.2 * minTime / Math.max(elapsed, 1e-6)))))
    }
    const samples = []
    for (let i = 0; i < repeats; i++) {
      samples.push(await sample(fn, batch, timed, before))
      watcher?.(name, i + 1, repeats)
    }
    samples.sort((a, b) => a - b)
    const result = summary(samples)
    Object.assign(result, { name, clock, batch, samples: samples.length })
    if (options.verify !== undefined) result.verified = wrong === ''
    if (wrong !== '') result.wrong = wrong
    if (bytes > 0) result.gigabytesPerSecond = bytes / result.median / 1e6
    if (flops > 0) result.gigaflops = flops / result.median / 1e6
    const missed = thresholds.filter(([key, limit]) => rates.includes(key) ? result[key] < limit : result[key] > limit)
    if (thresholds.length > 0) result.missed = missed.map(([key, limit]) => `${key} ${amount(key, result[key])}, threshold ${amount(key, limit)}`)
    Object.defineProperty(result, Symbol.for('nodejs.util.inspect.custom'), { value() { return describe(this) } })
    results.push(result)
    return result
  }

  // describe formats a result with units.
  function describe(r) {
    const facts = [`${r.samples} × ${r.batch} calls`, `${r.clock} clock`]
    if (r.gigabytesPerSecond !== undefined) facts.unshift(`${r.gigabytesPerSecond.toFixed(2)} GB/s`)
    if (r.gigaflops !== undefined) facts.unshift(`${r.gigaflops.toFixed(2)} GFLOP/s`)
    if (r.verified !== undefined) facts.push(r.verified ? 'verified' : 'WRONG')
    if (r.noisy) facts.push('noisy')
    const wrong = r.wrong === undefined ? '' : `\n  the result is wrong: ${r.wrong}`
    const missed = (r.missed ?? []).map(text => `\n  missed a threshold: ${text}`)
    return `${r.name}: median ${time(r.median)}, 95 % in ${time(r.low)} … ${time(r.high)}\n` +
      `  least ${time(r.least)}, most ${time(r.most)}, ${facts.join(', ')}${wrong}${missed.join('')}`
  }

  // checkThresholds returns the thresholds as pairs of a result's name and its limit.
  function checkThresholds(thresholds, given) {
    if (typeof thresholds !== 'object' || thresholds === null) fail('thresholds must be an object', 'as in { thresholds: { median: 2 } }, which is in milliseconds')
    const pairs = Object.entries(thresholds)
    for (const [key, limit] of pairs) {
      if (!limited.includes(key)) {
        const near = nearest(key, ...limited)
        fail(`there is no threshold "${key}"`, `${near && `did you mean ${near}? `}thresholds are of ${limited.join(', ')}`)
      }
      if (typeof limit !== 'number' || !(limit > 0)) fail(`the threshold of ${key} must be a number greater than 0, not ${limit}`)
      if (given[key] === 0) fail(`the threshold of ${key} needs the option ${key === 'gigaflops' ? 'flops' : 'bytes'}`)
    }
    return pairs
  }

  const amount = (key, value) => key === 'gigabytesPerSecond' ? `${value.toFixed(2)} GB/s` : key === 'gigaflops' ? `${value.toFixed(2)} GFLOP/s` : time(value)

  // summary returns the median of sorted samples and its 95 % confidence interval. The bounds are order statistics from a
  // binomial distribution, which makes no assumption about the distribution of the samples.
  function summary(samples) {
    const n = samples.length
    const median = n % 2 ? samples[(n - 1) / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2
    const rank = Math.max(0, Math.floor((n - 1.96 * Math.sqrt(n)) / 2))
    const least = samples[0], most = samples[n - 1]
    return { median, low: samples[rank], high: samples[n - 1 - rank], least, most, noisy: median > 1.2 * least || most > 4 * least }
  }

  // time formats milliseconds with an appropriate unit.
  function time(ms) {
    const [scale, unit] = ms >= 1000 ? [1e-3, 's'] : ms >= 1 ? [1, 'ms'] : ms >= 1e-3 ? [1e3, 'µs'] : [1e6, 'ns']
    return `${(ms * scale).toPrecision(4)} ${unit}`
  }

  function table(list = results) {
    const rows = [['name', 'median', '95 % interval', 'least', 'noise', 'GB/s', 'GFLOP/s', 'samples × calls', 'clock', 'verified', 'thresholds']]
    for (const r of list) {
      rows.push([r.name, time(r.median), `${time(r.low)} … ${time(r.high)}`, time(r.least), r.noisy ? 'noisy' : '', r.gigabytesPerSecond?.toFixed(2) ?? '',
        r.gigaflops?.toFixed(2) ?? '', `${r.samples} × ${r.batch}`, r.clock, r.verified === undefined ? '' : r.verified ? 'yes' : 'WRONG', r.missed ? (r.missed.length > 0 ? 'missed' : 'met') : ''])
    }
    const widths = rows[0].map((_, i) => Math.max(...rows.map(row => row[i].length)))
    const keep = widths.map((_, i) => i === 0 || rows.slice(1).some(row => row[i] !== ''))
    const lines = rows.map(row => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .filter((_, i) => keep[i]).join('  ').trimEnd())
    if (list.some(r => r.noisy)) lines.push('noisy: the median is over 1.2 times, or the most over 4 times, the least; measure again on a quiet machine, or compare the least')
    for (const r of list) if (r.wrong !== undefined) lines.push(`the result of ${r.name} is wrong: ${r.wrong}`)
    for (const r of list) for (const text of r.missed ?? []) lines.push(`${r.name} missed a threshold: ${text}`)
    return lines.join('\n')
  }

  return { bench, table, results, timeCalls, watch }
})
