(function (host) {
  'use strict'
  const { rates, caller, ends, fail, kindOf, known, sweepOnly, planOf, subject, partOf, ofWrong, begin, calibrate, level, collect, finish, against, wanted, leaveOut, checkName, checkRows, checkVariants, reason, setting, positive, unknown, warn, results } = host

  // labelOf returns the text of an axis's value in names and tables.
  function labelOf(value) {
    switch (typeof value) {
      case 'string': case 'number': case 'bigint': case 'boolean': return String(value)
      case 'function': return value.name || 'function'
      case 'object': {
        if (value === null) return 'null'
        if (Array.isArray(value)) return value.map(labelOf).join('x')
        if (typeof value.id === 'string') return value.id
        return typeof value.name === 'string' ? value.name : JSON.stringify(value)
      }
    }
    return String(value)
  }

  // axesOf checks the axes and returns them as triples of a name, values and labels.
  function axesOf(axes) {
    const form = 'as in { axes: { n: powers(1024, 65536), device: [\'cpu\'] } }'
    if (typeof axes !== 'object' || axes === null || Array.isArray(axes)) fail(`axes must be an object of arrays, not ${kindOf(axes)}`, form)
    return Object.entries(axes).map(([name, values]) => {
      if (typeof values === 'string' || typeof values?.[Symbol.iterator] !== 'function') fail(`the axis "${name}" must be an array, not ${typeof values}`, form)
      const list = Array.from(values), labels = list.map(labelOf)
      if (list.length === 0) fail(`the axis "${name}" has no values`, form)
      const twice = labels.find((label, i) => labels.indexOf(label) !== i)
      if (twice !== undefined) {
        const plain = list.every(value => value === null || !['object', 'function'].includes(typeof value))
        fail(`the axis "${name}" has the value ${twice} twice`, plain ? 'leave one out, as [...new Set(values)] does' : 'give objects an id or a name of their own')
      }
      return [name, list, labels]
    })
  }

  // pointsOf returns the points of all combinations that the filter lets pass. The last axis varies fastest.
  function pointsOf(axes, filter) {
    let points = [{ point: {}, params: {}, label: '' }]
    for (const [name, values, labels] of axes) {
      points = points.flatMap(p => values.map((value, i) => ({
        point: { ...p.point, [name]: value },
        params: { ...p.params, [name]: typeof value === 'number' && isFinite(value) ? value : labels[i] },
        label: `${p.label}/${name}=${labels[i]}`,
      })))
      if (points.length > 1e5) fail(`the axes have more than 100000 combinations`, 'leave values out')
    }
    return filter === undefined ? points : points.filter(p => {
      const passes = filter(p.point)
      if (typeof passes?.then === 'function') fail('the filter must return true or false, not a promise', 'compute what it needs before the sweep')
      return passes
    })
  }

  // shuffle permutes a list by a seed.
  function shuffle(list, seed) {
    let state = (seed >>> 0) || 1
    for (let i = list.length - 1; i > 0; i--) {
      state ^= state << 13; state ^= state >>> 17; state ^= state << 5; state >>>= 0
      const j = state % (i + 1)
      const held = list[i]
      list[i] = list[j]
      list[j] = held
    }
  }

  // constantOf returns an option that is the same at all points. Thresholds of amounts that functions compute are left out.
  function constantOf(options, name) {
    const computed = key => typeof options[key] === 'function'
    if (computed(name)) return undefined
    return name === 'thresholds' && (computed('bytes') || computed('flops')) ? undefined : options[name]
  }

  const valueAt = (option, point) => typeof option === 'function' ? option(point) : option

  // release frees a state: by the script's function, else by the method free of its members.
  async function release(state, point, teardown) {
    if (teardown !== undefined) return await teardown(state, point)
    if (typeof state !== 'object' || state === null) return
    const list = typeof state.free === 'function' ? [state] : Object.values(state)
    for (const v of list) if (typeof v?.free === 'function' && v.freed !== true) v.free()
  }

  // measurePoint measures the variants of a point. Each one is verified on a state of its own; all are measured on the last.
  async function measurePoint(subjects, { at, point, options, progress }) {
    let state, held = false
    const attempt = async (list, part, work) => {
      try {
        await ends(work(), part)
        return true
      } catch (error) {
        for (const s of list) s.failed ??= reason(error, part()[1])
        return false
      }
    }
    const prepare = async list => attempt(list, () => ['setup', options.setup], async () => {
      state = await options.setup?.(point)
      held = true
    })
    const drop = async () => {
      if (held) await attempt(subjects, () => ['teardown', options.teardown], () => release(state, point, options.teardown))
      held = false
    }
    for (const s of subjects) {
      if (s.refused) continue
      s.source = s.fn.source ?? s.fn
      const { fn, before, verify } = s
      s.fn = () => fn(state, point)
      if (before !== undefined) s.before = () => before(state, point)
      if (verify !== undefined) s.verify = () => verify(state, point, s.place.variant)
      if (await prepare([s])) await attempt([s], () => partOf(s), () => begin(s))
      if (s !== subjects[subjects.length - 1]) await drop()
    }
    const right = subjects.filter(s => s.failed === undefined && s.wrong === '')
    if (right.length > 0 && !held) await prepare(right)
    for (const s of right) if (s.failed === undefined) await attempt([s], () => partOf(s), () => calibrate(s))
    const live = right.filter(s => s.failed === undefined)
    level(live)
    if (live.length > 0) await attempt(live, () => partOf(live[0]), () => collect(live, at, true, progress))
    await drop()
    return subjects.map(finish)
  }

  // warner warns of the rows of a sweep that have no times: of the first one at once, of the others at the end.
  function warner(at, name) {
    const listed = []
    let rows = 0
    return {
      add(r) {
        rows++
        if (r.failed === undefined && r.wrong === undefined) return
        if (listed.push(r.name) > 1) return
        if (r.failed === undefined) warn(at, `sweep: the result of "${r.name}" is wrong: ${r.wrong}`, ofWrong)
        else warn(at, `sweep: "${r.name}" failed: ${r.failed}`)
      },
      end() {
        if (listed.length < 2) return
        const more = listed.length > 5 ? `, and ${listed.length - 4} more` : ''
        const names = listed.slice(0, listed.length > 5 ? 4 : 5).map(n => `"${n}"`).join(', ')
        warn(at, `sweep: ${listed.length} of ${rows} results of "${name}" are wrong or failed: ${names}${more}`, 'the rows say why')
      },
    }
  }

  // variantsOf returns pairs of a variant's name, or undefined, and the function to measure.
  function variantsOf({ run, variants }, form) {
    if (run === undefined) return checkVariants(variants, form)
    if (variants === undefined) return [[undefined, run]]
    if (typeof variants !== 'object' || variants === null) fail('the variants must be an object of values for run', form)
    const pairs = Object.entries(variants)
    if (pairs.length === 0) fail('there are no variants', form)
    return pairs.map(([variant, value]) => {
      const fn = (state, point) => run(state, point, value)
      fn.source = run
      return [variant, fn]
    })
  }

  // arrange puts the rows of a sweep among the results, from the place of the one that was measured first. Other results may be between
  // them: those that its functions measured, and those of calls that ran at the same time.
  function arrange(rows) {
    const own = new Set(rows), at = results.findIndex(r => own.has(r))
    if (at < 0) return
    const others = results.slice(at).filter(r => !own.has(r))
    results.splice(at, Infinity, ...rows, ...others)
  }

  async function sweep(name, options, ...rest) {
    const called = caller()
    if (rest.length > 0) fail('sweep takes a name and options, and nothing else', "write one object, as in sweep('name', { axes: { n: [1, 2] }, run: (state, { n }) => …, repeats: 5 })")
    checkName(name, "sweep('name', { axes: { n: powers(1024, 65536) }, run: (state, { n }) => … })")
    const form = "as in { run: (state, { n }) => k.launch({ size: n }, state.x) }, { variants: { name: (state, { n }) => … } }, or { variants: { a, b }, run: (state, { n }, kernel) => … }"
    const plan = planOf(options, [...known, ...sweepOnly])
    if (options.run === undefined && options.variants === undefined) fail('a sweep needs run or variants', form)
    if (options.run !== undefined && typeof options.run !== 'function') fail(`run must be a function, not ${typeof options.run}`, form)
    const variants = variantsOf(options, form)
    const points = pointsOf('axes' in options ? axesOf(options.axes) : [], options.filter)
    if (points.length === 0) fail(`the filter of "${name}" lets no point pass`)
    const amounts = ['bytes', 'flops', 'thresholds'] // thresholds need the others
    // Constants that are wrong at every point fail the call.
    subject(name, sweep, plan, Object.fromEntries(amounts.map(option => [option, constantOf(options, option)]).filter(([, value]) => value !== undefined)))
    // subjectAt returns the subject of a variant at a point. It has failed if a function of the script computes wrong options for the point.
    const subjectAt = (p, variant, fn) => {
      const at = name + p.label + (variant === undefined ? '' : `/${variant}`)
      const place = { before: options.before, verify: options.verify, group: name, params: p.params, ...(variant === undefined ? {} : { variant }) }
      const given = {}
      let s = subject(at, fn, plan, place)
      for (const option of amounts) {
        try {
          given[option] = valueAt(options[option], p.point)
          s = subject(at, fn, plan, { ...given, ...place })
        } catch (error) {
          return { ...subject(at, fn, plan, place), failed: reason(error, options[option]), refused: true }
        }
      }
      return s
    }
    const subjectsOf = points.map(p => variants.map(([variant, fn]) => subjectAt(p, variant, fn)))
    const rows = new Map(), spoilt = warner(called, name)
    const order = points.map((p, i) => ({ ...p, i }))
    const seed = setting('shuffle', {})
    if (seed !== undefined && seed !== false) shuffle(order, Number(seed))
    for (const [done, p] of order.entries()) {
      const subjects = subjectsOf[p.i]
      const chosen = subjects.filter(s => wanted(s.name))
      const found = chosen.length === 0 ? [] : await measurePoint(chosen, { at: called, point: p.point, options, progress: [done, points.length] })
      for (const r of found) spoilt.add(r)
      if (found.length > 1) against(found, plan.noise)
      rows.set(p.i, subjects.map(s => found[chosen.indexOf(s)] ?? leaveOut(s.name, s.place)))
    }
    spoilt.end()
    const sorted = points.flatMap((_, i) => rows.get(i))
    arrange(sorted.filter(r => !r.skipped))
    return sorted
  }

  // drawn are the numbers of results that curves takes.
  const drawn = ['median', 'low', 'high', 'least', 'most', 'deviation', 'samples', 'batch', ...rates, 'roofline']
  // ofMissing says what gives the rows a number that they lack.
  const ofMissing = {
    gigabytesPerSecond: 'give sweep the option bytes, as in bytes: ({ n }) => 8 * n', gigaflops: 'give sweep the option flops, as in flops: ({ n }) => 2 * n',
    roofline: "give sweep the option roofline, as in roofline: await roofline('cpu'), from 'suites'",
  }

  // powers returns the powers of a base from one value to another, starting with the first.
  function powers(from, to, base = 2) {
    const of = { from, to, base }
    positive(of, 'from', undefined, Number.MIN_VALUE)
    positive(of, 'to', undefined, from)
    positive(of, 'base', undefined, 1.001)
    const list = []
    for (let v = from; v <= to * (1 + 1e-9); v *= base) list.push(Number.isInteger(from) ? Math.round(v) : v)
    return [...new Set(list)]
  }

  // linear returns values from one to another by a step.
  function linear(from, to, step = 1) {
    const of = { from, to, step }
    for (const key of ['from', 'to']) if (typeof of[key] !== 'number' || !isFinite(of[key])) fail(`${key} must be a number, not ${kindOf(of[key])}`)
    positive(of, 'step', undefined, Number.MIN_VALUE)
    if (!(to >= from)) fail(`to must be a number from ${from} on, not ${to}`)
    const count = Math.floor((to - from) / step * (1 + 1e-9)) + 1
    if (count > 1e5) fail('an axis has more than 100000 values', 'take a larger step')
    return Array.from({ length: count }, (_, i) => from + i * step)
  }

  // seriesOf returns the name of a row's series over an axis. taken has the series so far by name, with what tells their rows apart. If
  // the values of two series read alike, the names of the parameters are added.
  function seriesOf(r, axis, taken) {
    const others = Object.entries(r.params).filter(([key]) => key !== axis)
    const identity = JSON.stringify([r.group, others, r.variant])
    const named = list => [r.group, ...list, r.variant].filter(part => part !== undefined).join(' ')
    const plain = named(others.map(([, v]) => String(v))), long = named(others.map(([key, v]) => `${key}=${v}`))
    const name = [plain, long].find(text => (taken.get(text) ?? identity) === identity) ?? identity
    taken.set(name, identity)
    return name
  }

  // curves returns a value of results as series over an axis, for plot: one series per combination of the other parameters.
  function curves(rows, axis, value = 'median') {
    checkRows('curves', rows, "as in curves(await sweep(…), 'n')")
    if (!drawn.includes(value)) unknown('value', String(value), drawn)
    const done = rows.filter(r => r.samples > 0)
    if (done.length > 0 && done.every(r => typeof r[value] !== 'number')) fail(`no row has ${value}`, ofMissing[value])
    if (!rows.some(r => r.params?.[axis] !== undefined)) fail(`no row has the parameter "${axis}"`, `the parameters are ${Object.keys(rows[0]?.params ?? {}).join(', ') || 'none'}`)
    const x = [...new Set(rows.map(r => r.params?.[axis]))].filter(v => v !== undefined)
    const series = {}, error = {}, measured = rows.filter(r => !r.skipped), taken = new Map()
    for (const r of measured.length > 0 ? measured : rows) {
      if (r.params?.[axis] === undefined) continue
      const key = seriesOf(r, axis, taken)
      series[key] ??= x.map(() => NaN)
      error[key] ??= { low: x.map(() => NaN), high: x.map(() => NaN) }
      const i = x.indexOf(r.params[axis])
      series[key][i] = typeof r[value] === 'number' ? r[value] : NaN
      for (const [end, other] of [['low', 'high'], ['high', 'low']]) {
        // A rate is low where the time is high.
        error[key][end][i] = rates.includes(value) ? r[value] * r.median / r[other] : r[end]
      }
    }
    return value === 'median' || rates.includes(value) ? { x, series, error } : { x, series }
  }

  return Object.assign(host, { sweep, powers, linear, curves })
})
