(function (host) {
  'use strict'

  // time formats milliseconds with an appropriate unit.
  function time(ms) {
    if (!(ms >= 0)) return '-'
    const [scale, unit] = ms >= 1000 ? [1e-3, 's'] : ms >= 1 ? [1, 'ms'] : ms >= 1e-3 ? [1e3, 'µs'] : [1e6, 'ns']
    return `${(ms * scale).toPrecision(4)} ${unit}`
  }

  const amount = (key, value) => key === 'gigabytesPerSecond' ? `${value.toFixed(2)} GB/s` : key === 'gigaflops' ? `${value.toFixed(2)} GFLOP/s` : time(value)
  const percent = v => `${v > 0 ? '+' : ''}${(100 * v).toFixed(1)} %`
  const change = a => a === undefined ? '' : a.different ? percent(a.change) : '~'

  // describe formats a result with units.
  function describe(r) {
    if (r.failed !== undefined) return `${r.name}: failed: ${r.failed}`
    const wrong = r.wrong === undefined ? '' : `\n  the result is wrong: ${r.wrong}`
    if (r.samples === 0) return `${r.name}: not measured${wrong}`
    const facts = [`${r.samples} × ${r.batch} calls`, `${r.clock} clock`]
    if (r.gigabytesPerSecond !== undefined) facts.unshift(`${r.gigabytesPerSecond.toFixed(2)} GB/s`)
    if (r.gigaflops !== undefined) facts.unshift(`${r.gigaflops.toFixed(2)} GFLOP/s`)
    if (r.roofline !== undefined) facts.push(`${(100 * r.roofline).toFixed(0)} % of the roofline`)
    if (r.verified !== undefined) facts.push(r.verified ? 'verified' : 'WRONG')
    if (r.noisy) facts.push('noisy')
    if (r.modes) facts.push(`two modes, ${time(r.modes[0])} and ${time(r.modes[1])}`)
    if (r.against) facts.push(`${r.against.different ? percent(r.against.change) : 'no different'} from ${r.against.variant}`)
    const missed = (r.missed ?? []).map(text => `\n  missed a threshold: ${text}`)
    return `${r.name}: median ${time(r.median)}, 95 % in ${time(r.low)} … ${time(r.high)}\n` +
      `  least ${time(r.least)}, most ${time(r.most)}, ${facts.join(', ')}${wrong}${missed.join('')}`
  }

  const columns = [
    ['name', r => r.name],
    ['median', r => time(r.median)],
    ['95 % interval', r => r.samples === 0 ? '-' : `${time(r.low)} … ${time(r.high)}`],
    ['least', r => time(r.least)],
    ['noise', r => [r.noisy ? 'noisy' : '', r.modes ? 'two modes' : '', r.interference ? 'disturbed' : ''].filter(Boolean).join(', ')],
    ['against the first', r => change(r.against)],
    ['GB/s', r => r.gigabytesPerSecond?.toFixed(2) ?? ''],
    ['GFLOP/s', r => r.gigaflops?.toFixed(2) ?? ''],
    ['roofline', r => r.roofline === undefined ? '' : `${(100 * r.roofline).toFixed(0)} %`],
    ['samples × calls', r => `${r.samples} × ${r.batch}`],
    ['clock', r => r.clock],
    ['verified', r => r.failed !== undefined ? 'FAILED' : r.verified === undefined ? '' : r.verified ? 'yes' : 'WRONG'],
    ['thresholds', r => r.missed ? (r.missed.length > 0 ? 'missed' : 'met') : ''],
  ]

  function table(list = host.results) {
    host.checkRows('table', list, "as in table(await sweep(…)), table([await bench(…)]), or table(Object.values(await compare(…)))")
    const rows = [columns.map(([title]) => title), ...list.map(r => columns.map(([, cell]) => cell(r)))]
    const widths = rows[0].map((_, i) => Math.max(...rows.map(row => row[i].length)))
    const keep = widths.map((_, i) => i === 0 || rows.slice(1).some(row => row[i] !== ''))
    const lines = rows.map(row => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
      .filter((_, i) => keep[i]).join('  ').trimEnd())
    if (list.some(r => r.noisy)) lines.push('noisy: the median is over 1.2 times, or the most over 4 times, the least; measure again on a quiet machine, or compare the least')
    if (list.some(r => r.modes)) lines.push('two modes: the samples are in two groups, and the median says which is larger; see modes of the result')
    if (list.some(r => r.interference)) lines.push('disturbed: a fixed piece of work beside the samples took over 1.3 times its least; another program uses the machine')
    if (list.some(r => r.against && !r.against.different)) lines.push('~: the samples show no difference')
    for (const r of list) if (r.failed !== undefined) lines.push(`${r.name} failed: ${r.failed}`)
    for (const r of list) if (r.wrong !== undefined) lines.push(`the result of ${r.name} is wrong: ${r.wrong}`)
    for (const r of list) for (const text of r.missed ?? []) lines.push(`${r.name} missed a threshold: ${text}`)
    return lines.join('\n')
  }

  return Object.assign(host, { table, describe, amount })
})
