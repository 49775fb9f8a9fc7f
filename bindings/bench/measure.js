(function (host) {
  'use strict'
  const { eventClass, caller, ends, fail, nearest, warn, summarize, compareTimes, probe, selected, reason, placed } = host
  const times = ['warmup', 'repeats', 'minTime', 'time', 'precision']
  const known = [...times, 'bytes', 'flops', 'before', 'verify', 'clock', 'caches', 'isolate', 'roofline', 'noise', 'thresholds']
  const sweepOnly = ['axes', 'filter', 'setup', 'teardown', 'run', 'variants']
  const settingTypes = {
    time: 'number', precision: 'number', quick: 'boolean', filter: 'string', shuffle: 'number', noise: 'number', save: 'string', compare: 'string', history: 'string',
    failIf: 'string', unlike: 'boolean', report: 'string', json: 'string', csv: 'string', markdown: 'string', gobench: 'string', junit: 'string',
  }
  const wanting = { boolean: 'true or false', string: 'a string', number: 'a number' }
  const rates = ['gigabytesPerSecond', 'gigaflops'] // higher is better; for times, lower is better
  const limited = ['median', 'low', 'high', 'least', 'most', ...rates]
  const calibrations = 5 // samples of which the least decides whether a batch is long enough
  const tooLong = 8 // the time of a sample relative to minTime up to which its batch is that of other variants
  const ofWrong = 'the time of a wrong result says nothing; verify is called after the first call'
  const results = [] // the results of all measurements
  const skipped = [] // the names of benchmarks that the filter or the list left out
  let watcher // called with the benchmark's name, the samples done, their total, and the point and the number of points
  let checkSettings // called after configure
  let configured = {} // settings of the script
  let overrides = {} // settings of the command line and the environment, which take precedence
  let now = host.now // returns the time in milliseconds

  // control is how the command line reaches the module.
  const control = {
    watch(fn) { watcher = fn },
    override(settings) { overrides = settings },
    check(fn) { checkSettings = fn },
    clock(fn) { now = fn },
    settings: () => configured,
    skipped,
  }

  const isEvent = value => eventClass !== undefined && value instanceof eventClass
  const setting = (name, options) => overrides[name] ?? options[name] ?? configured[name]

  // unknown fails for a name that is not in a list.
  function unknown(what, key, list) {
    const near = nearest(key, ...list)
    fail(`there is no ${what} "${key}"`, `${near && `did you mean ${near}? `}the ${what}s are ${list.join(', ')}`)
  }

  // configure sets defaults for all benchmarks that follow, and what orepl bench does with the results.
  function configure(settings) {
    if (typeof settings !== 'object' || settings === null) fail('configure needs an object', 'as in configure({ time: 500 })')
    for (const key of Object.keys(settings)) {
      if (!Object.hasOwn(settingTypes, key)) unknown('setting', key, Object.keys(settingTypes))
      checkSetting(key, settings[key])
    }
    checkTimes(settings)
    const before = configured
    configured = { ...configured, ...settings }
    try {
      checkSettings?.()
    } catch (error) {
      configured = before
      throw error
    }
  }

  // checkSetting checks the type of a setting. One that is undefined is left out.
  function checkSetting(name, value) {
    const type = settingTypes[name]
    if (value === undefined) return
    if (name === 'failIf' && Array.isArray(value)) {
      for (const one of value) if (typeof one !== 'string') fail(`failIf must be strings, not ${kindOf(one)}`, "as in failIf: ['median > 5%', 'gigabytesPerSecond < 10']")
    } else if (name === 'shuffle' && !(Number.isInteger(value) && value >= 0 && value < 2 ** 32)) {
      fail(`shuffle must be an integer from 0 to ${2 ** 32 - 1}, not ${kindOf(value)}`, 'it is a seed, as in { shuffle: 7 }')
    } else if (typeof value !== type) {
      const form = { time: 'it is in milliseconds, as in { time: 500 }', precision: 'it is a share, as in { precision: 0.01 }', noise: 'it is a share, as in { noise: 0.02 }' }[name]
      fail(`${name} must be ${wanting[type]}, not ${typeof value === 'string' ? JSON.stringify(value) : kindOf(value)}`, form ?? `as in { ${name}: ${{ boolean: 'true', string: name === 'failIf' ? "'median > 5%'" : "'name'" }[type]} }`)
    }
  }

  // positive returns a numeric option that is at least a minimum.
  function positive(options, name, missing, least) {
    const value = options[name] ?? missing
    const bound = least === Number.MIN_VALUE ? 'greater than 0' : `from ${least} on`
    if (typeof value !== 'number' || !(value >= least) || value === Infinity) fail(`${name} must be a number ${bound}, not ${typeof value === 'string' ? JSON.stringify(value) : kindOf(value)}`)
    return value
  }

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
    if (queue !== undefined && !isEvent(last)) {
      fail(`the function returned an event in its first call and ${kindOf(last)} in a later one`, "return the event of a launch in each call, or write clock: 'host'")
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

  // kindOf says what a value is, in a few words.
  function kindOf(value) {
    if (value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint') return String(value)
    if (typeof value === 'object') return Array.isArray(value) ? 'an array' : 'an object'
    return `a ${typeof value}`
  }

  // mistake returns the reason for which a function of the script finds a result wrong, or ''.
  async function mistake({ verify, parts }) {
    try {
      const found = await verify()
      if (found === undefined || found === true) return ''
      return placed(found === false ? 'verify returned false' : `verify returned ${kindOf(found)}, not true or false,`, parts.verify)
    } catch (error) {
      return reason(error, parts.verify)
    }
  }

  // checkTimes checks the options that settings have, too.
  function checkTimes(options) {
    for (const name of ['time', 'precision']) if (options[name] !== undefined) positive(options, name, 0, Number.MIN_VALUE)
    if (options.noise !== undefined) positive(options, 'noise', 0, 0)
    if (options.precision >= 1) fail(`precision must be less than 1, not ${options.precision}`, 'it is a share of the median, as in { precision: 0.01 }')
    if (options.noise >= 1) fail(`noise must be less than 1, not ${options.noise}`, 'it is a share of the median, as in { noise: 0.02 }')
  }

  // planOf checks the options of a measurement and returns them with defaults.
  function planOf(options, list) {
    if (typeof options !== 'object' || options === null) fail('the options must be an object', "as in bench('name', fn, { repeats: 5 })")
    for (const key of Object.keys(options)) if (!list.includes(key)) unknown('option', key, list)
    const plan = {
      warmup: positive(options, 'warmup', 3, 0), repeats: positive(options, 'repeats', 30, 1), minTime: positive(options, 'minTime', 1, 0),
      time: setting('time', options), precision: setting('precision', options), noise: setting('noise', options) ?? 0.01,
      longer: ['repeats', 'time', 'precision', 'quick'].every(name => setting(name, options) === undefined), clock: options.clock, caches: options.caches ?? 'warm', isolate: options.isolate ?? false, roofline: options.roofline,
    }
    if (setting('quick', options)) Object.assign(plan, { warmup: Math.min(plan.warmup, 1), repeats: Math.min(plan.repeats, 9), minTime: Math.min(plan.minTime, 0.2) })
    checkTimes(plan)
    if (plan.clock !== undefined && plan.clock !== 'host' && plan.clock !== 'device') fail(`clock must be 'host' or 'device', not ${plan.clock}`)
    if (plan.caches !== 'warm' && plan.caches !== 'cold') fail(`caches must be 'warm' or 'cold', not ${plan.caches}`)
    if (typeof plan.isolate !== 'boolean') fail(`isolate must be true or false, not ${plan.isolate}`)
    if (plan.roofline !== undefined && (typeof plan.roofline !== 'object' || plan.roofline === null)) {
      fail(`roofline must be an object with the rates of the device, not ${kindOf(plan.roofline)}`, "write { gigabytesPerSecond: 20, gigaflops: 100 }, or await roofline('cpu') from 'suites'")
    }
    if (plan.roofline !== undefined && rates.every(key => Number.isNaN(plan.roofline[key]))) plan.roofline = undefined // the filter left its benchmarks out
    if (plan.roofline !== undefined) for (const key of rates) positive(plan.roofline, key, undefined, Number.MIN_VALUE)
    for (const name of ['before', 'verify', 'filter', 'setup', 'teardown']) {
      if (options[name] !== undefined && typeof options[name] !== 'function') fail(`${name} must be a function, not ${typeof options[name]}`)
    }
    return plan
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

  // traced calls a function and returns its value. If there is a time line, the call is a span of it.
  const traced = host.span ?? ((_, fn) => fn())

  // A subject is a function to measure, with what is known about it.
  function subject(label, fn, plan, { bytes = 0, flops = 0, before, verify, thresholds = {}, ...place }) {
    const name = label.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ') // tables and other programs expect one line
    const amounts = { bytes, flops }
    for (const key of ['bytes', 'flops']) positive(amounts, key, 0, 0)
    return { name, fn, plan, bytes, flops, before, verify, thresholds: checkThresholds(thresholds, { gigabytesPerSecond: bytes, gigaflops: flops }), place, times: [], wrong: '',
      parts: { run: fn.source ?? fn, before, verify }, at: 'run' }
  }

  // partOf returns the name and the function of the part of a subject that runs, for the message of a promise that never settles.
  const partOf = s => [s.at === 'run' && s.place.group === undefined ? 'the function' : s.at, s.parts[s.at]]

  // unlessStuck awaits work on a subject, which fails if it waits for a promise that can no longer settle.
  async function unlessStuck(what, at, s, work) {
    try {
      await ends(work(), () => partOf(s))
    } catch (error) {
      if (error?.code !== 'never-settles') throw error
      s.failed = reason(error, partOf(s)[1])
      warn(at, `${what}: "${s.name}" failed: ${s.failed}`)
    }
  }

  // begin makes the first call of a subject, which determines the clock and produces the data to verify.
  const begin = s => traced(`${s.name}: first call`, () => callFirst(s))

  async function callFirst(s) {
    const { before } = s
    if (before !== undefined) {
      s.before = async () => {
        s.at = 'before'
        await before()
        s.at = 'run'
      }
    }
    await s.before?.()
    const first = s.fn()
    if (first === undefined && s.plan.clock !== 'host' && /\.launch\s*\(/.test(String(s.source ?? s.fn)) && !/Sync\s*\(/.test(String(s.source ?? s.fn))) {
      fail(`the function of "${s.name}" launches a kernel and returns nothing, so that only the time to queue it would be measured`,
        "return the event of the launch, as in () => k.launch(…); or write clock: 'host' if that is meant")
    }
    const queue = isEvent(first) ? first.queue : undefined
    await first
    s.device = queue?.device.id
    s.clock = s.plan.clock ?? (queue === undefined ? 'host' : 'device')
    if (s.clock === 'device' && queue === undefined) fail("the device's clock needs a function that returns an event", "return the event of a launch, or write clock: 'host'")
    s.timed = s.clock === 'device' ? queue : undefined
    if (s.verify !== undefined) {
      s.at = 'verify'
      s.wrong = await mistake(s)
      s.at = 'run'
    }
  }

  // coolDown makes a subject's samples begin with caches that hold other data.
  function coolDown(s) {
    if (s.plan.caches !== 'cold') return
    if (s.timed === undefined) fail(`the caches of "${s.name}" cannot be emptied`, "caches: 'cold' needs a function that returns the event of a launch")
    const bytes = Math.min(2 ** 27, s.timed.device.limits.allocationBytes ?? 2 ** 27)
    s.scratch = s.timed.device.buffer(host.u8, bytes)
    const before = s.before
    let turn = 0
    s.before = async () => {
      await before?.()
      s.scratch.fill(turn = (turn + 1) % 256, { queue: s.timed })
      await s.timed.record()
    }
  }

  // calibrate warms a subject up and chooses the number of calls of a sample: increase the batch until a sample is long relative to the
  // resolution of the clock and the overhead of waiting. A batch is judged by the least of several samples, since another program
  // makes single ones longer, and times of batches of one call and of a hundred differ.
  const calibrate = s => traced(`${s.name}: warm-up`, () => warmUp(s))

  async function warmUp(s) {
    coolDown(s)
    for (let i = 0; i < s.plan.warmup; i++) await sample(s.fn, 1, s.timed, s.before)
    s.batch = 1
    if (s.before !== undefined || s.plan.isolate) return
    while (s.batch < 2 ** 20) {
      let least = Infinity
      for (let i = 0; i < calibrations && least * s.batch >= s.plan.minTime; i++) least = Math.min(least, await sample(s.fn, s.batch, s.timed))
      s.least = least
      const elapsed = least * s.batch
      if (elapsed >= s.plan.minTime) break
      s.batch = Math.min(2 ** 20, Math.max(2 * s.batch, Math.ceil(s.batch * Math.min(10, 1.2 * s.plan.minTime / Math.max(elapsed, 1e-6)))))
    }
  }

  // level makes samples of subjects that are compared equally many calls, where that makes no sample too long: what a wait adds is shared
  // by the calls of a sample.
  function level(subjects) {
    const most = Math.max(...subjects.map(s => s.batch))
    for (const s of subjects) if (s.before === undefined && !s.plan.isolate && most * s.least <= tooLong * s.plan.minTime) s.batch = most
  }

  const precise = (s, precision) => {
    const { median, low, high } = summarize(s.times)
    return high - low <= 2 * precision * median
  }

  // turned returns the order of a round: each subject takes each position equally often, after each neighbour.
  function turned(list, round) {
    const at = round % list.length
    const order = [...list.slice(at), ...list.slice(0, at)]
    return Math.floor(round / list.length) % 2 ? order.reverse() : order
  }

  // vague reports whether the change of a subject against the first one is known too badly to find a few per cent.
  function vague(subjects, plan) {
    const [first, ...others] = subjects
    return others.some(s => {
      const { low, high } = compareTimes(first.times, s.times, plan.noise)
      return high - low > 2 * Math.max(plan.noise, 0.015)
    })
  }

  // collect takes samples of subjects in turn, so that all of them see the same machine. Comparisons on a noisy machine take up to
  // most times as many. A subject that fails is left out from then on, if failures are allowed.
  async function collect(subjects, at, allow, point, most = 4) {
    const plan = { ...subjects[0].plan }
    if (subjects.length > 1) plan.repeats *= host.tries // comparisons use the least of several samples
    const began = now(), disturbed = [probe()], others = host.others()
    for (let round = 0; ; round++) {
      const live = subjects.filter(s => s.failed === undefined)
      if (live.length === 0) return
      const elapsed = now() - began
      const total = plan.time === undefined ? plan.repeats : Math.max(5, Math.ceil(round * plan.time * live.length / Math.max(elapsed, 1e-6)))
      let done = plan.time === undefined ? round >= plan.repeats : round >= 5 && elapsed >= plan.time * live.length
      if (plan.precision !== undefined) {
        const enough = plan.time === undefined ? round >= 20 * plan.repeats : done
        done = enough || round >= Math.min(10, plan.repeats) && round % 5 === 0 && live.every(s => precise(s, plan.precision))
      }
      if (done && plan.longer && live.length > 1 && round < most * plan.repeats) done = round % plan.repeats === 0 && !vague(live, plan)
      if (round > 0) watcher?.(live[0].name, round, done ? round : Math.max(total, round + 1), point[0], point[1])
      if (done) break
      for (const s of turned(live, round)) {
        try {
          s.times.push(await ends(traced(s.name, () => sample(s.fn, s.batch, s.timed, s.before)), () => partOf(s)))
        } catch (error) {
          if (!allow && error?.code !== 'never-settles') throw error
          s.failed = reason(error, partOf(s)[1])
          if (!allow) warn(at, `"${s.name}" failed: ${s.failed}`)
        }
      }
      if (round === Math.floor(plan.repeats / 2)) disturbed.push(probe())
    }
    disturbed.push(probe())
    const share = others()
    for (const s of subjects) Object.assign(s, { interference: Math.max(...disturbed), others: share })
  }

  // finish turns a subject into a result.
  function finish(s) {
    s.scratch?.free()
    const right = s.failed === undefined && s.times.length > 0
    const result = { ...summarize(right ? s.times : []), name: s.name, ...s.place }
    Object.assign(result, { clock: s.clock ?? 'host', batch: s.batch ?? 0, samples: result.median >= 0 ? s.times.length : 0, times: right ? s.times : [] })
    if (s.device !== undefined) result.device = s.device
    if (s.failed !== undefined) result.failed = s.failed
    if (s.verify !== undefined && s.failed === undefined) result.verified = s.wrong === ''
    if (s.wrong !== '') result.wrong = s.wrong
    if (s.interference > 1.3) result.interference = Number(s.interference.toFixed(2))
    if (s.others !== undefined) result.others = Number(s.others.toFixed(3))
    if (right) rate(result, s)
    Object.defineProperty(result, Symbol.for('nodejs.util.inspect.custom'), { value() { return host.describe(this) } })
    results.push(result)
    return result
  }

  // rate adds the rates of a result and its missed thresholds.
  function rate(result, s) {
    if (s.bytes > 0) result.gigabytesPerSecond = s.bytes / result.median / 1e6
    if (s.flops > 0) result.gigaflops = s.flops / result.median / 1e6
    const roof = s.plan.roofline
    if (roof !== undefined) result.roofline = Math.max(s.bytes / roof.gigabytesPerSecond, s.flops / roof.gigaflops) / 1e6 / result.median
    const missed = s.thresholds.filter(([key, limit]) => rates.includes(key) ? result[key] < limit : result[key] > limit)
    if (s.thresholds.length > 0) result.missed = missed.map(([key, limit]) => `${key} ${host.amount(key, result[key])}, threshold ${host.amount(key, limit)}`)
  }

  // against adds the comparison of each result with the first one.
  function against(list, noise) {
    const [first, ...others] = list
    for (const r of others) if (first.times.length > 0 && r.times.length > 0) r.against = { variant: first.variant, ...compareTimes(first.times, r.times, noise) }
  }

  // wanted reports whether a benchmark is to run, and notes it if not.
  function wanted(name) {
    if (!setting('list', {}) && !host.listing() && selected(name, setting('filter', {}) ?? '')) return true
    skipped.push(name)
    return false
  }

  function leaveOut(name, place = {}) {
    return { ...summarize([]), name, ...place, clock: 'host', batch: 0, samples: 0, times: [], skipped: true }
  }

  function checkName(name, form) {
    if (typeof name !== 'string' || name === '') fail(`the name must be a string, not ${name === '' ? 'an empty one' : typeof name}`, `write ${form}`)
  }

  // checkRows checks that a value is an array of results.
  function checkRows(what, rows, form) {
    if (typeof rows?.then === 'function') fail(`${what} needs results, not a promise`, 'write await before the call that returns it')
    if (!Array.isArray(rows)) fail(`${what} needs an array of results, not ${kindOf(rows)}`, form)
    const at = rows.findIndex(r => typeof r?.name !== 'string' || typeof r.samples !== 'number' || !Array.isArray(r.times))
    if (at >= 0) fail(`${what} needs results, but the element ${at} is ${kindOf(rows[at])}${typeof rows[at] === 'object' && rows[at] !== null ? ' without the members of a result' : ''}`, form)
  }

  async function bench(name, fn, options = {}) {
    const at = caller()
    checkName(name, "bench('name', () => kernel.launch(…))")
    if (typeof fn !== 'function') fail(`expected a function to measure, not ${typeof fn}`, fn?.axes === undefined ? "write bench('name', () => kernel.launch(…))" : "axes are for sweep('name', { axes, run })")
    const plan = planOf(options, known)
    const s = subject(name, fn, plan, { bytes: options.bytes, flops: options.flops, before: options.before, verify: options.verify, thresholds: options.thresholds })
    if (!wanted(name)) return leaveOut(name)
    watcher?.(name, 0, plan.repeats, 0, 0)
    await unlessStuck('bench', at, s, () => begin(s))
    if (s.wrong !== '') warn(at, `bench: the result of "${name}" is wrong: ${s.wrong}`, ofWrong)
    if (s.failed === undefined) await unlessStuck('bench', at, s, () => calibrate(s))
    await collect([s], at, false, [0, 0])
    return finish(s)
  }

  // checkVariants returns the variants as pairs of a name and a function.
  function checkVariants(variants, form) {
    if (typeof variants !== 'object' || variants === null) fail('the variants must be an object of functions', form)
    const pairs = Object.entries(variants)
    if (pairs.length === 0) fail('there are no variants', form)
    for (const [variant, fn] of pairs) if (typeof fn !== 'function') fail(`the variant "${variant}" must be a function, not ${typeof fn}`, form)
    return pairs
  }

  async function compare(name, variants, options = {}) {
    const at = caller()
    const form = "write compare('name', { old: () => a.launch(…), fresh: () => b.launch(…) })"
    checkName(name, "compare('name', { old: () => a.launch(…), fresh: () => b.launch(…) })")
    const pairs = checkVariants(variants, form)
    if (pairs.length < 2) fail('one variant cannot be compared', form)
    const plan = planOf(options, known)
    const made = pairs.map(([variant, fn]) => [variant, subject(`${name}/${variant}`, fn, plan,
      { bytes: options.bytes, flops: options.flops, before: options.before, verify: options.verify, thresholds: options.thresholds, group: name, variant })])
    const chosen = made.filter(([, s]) => wanted(s.name)).map(([, s]) => s)
    for (const s of chosen) {
      await unlessStuck('compare', at, s, () => begin(s))
      if (s.wrong !== '') warn(at, `compare: the result of "${s.name}" is wrong: ${s.wrong}`, ofWrong)
    }
    for (const s of chosen) if (s.failed === undefined) await unlessStuck('compare', at, s, () => calibrate(s))
    const live = chosen.filter(s => s.failed === undefined)
    level(live)
    if (live.length > 0) await collect(live, at, false, [0, 0], 16)
    const found = chosen.map(finish)
    if (found.length > 1) against(found, plan.noise)
    return Object.fromEntries(made.map(([variant, s]) => [variant, found[chosen.indexOf(s)] ?? leaveOut(s.name, s.place)]))
  }

  return Object.assign(host, {
    bench, compare, configure, kindOf, results, timeCalls, control, times, known, sweepOnly, rates, isEvent, setting, unknown,
    positive, planOf, subject, partOf, ofWrong, begin, calibrate, level, collect, finish, against, wanted, leaveOut, checkName, checkRows, checkVariants,
  })
})
