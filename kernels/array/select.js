// Selections keep elements in their order: countKept counts those of each block of SPAN elements, placeKept stores them from
// the sum of the counts before the block on.

function countKept(g, x, counts) {
  const from = g.group.x * SPAN, to = from + Math.min(SPAN, x.length - from), l = g.local.x
  let kept = 0
  for (let i = from + l; i < to; i += 256) kept += keep(x, i) ? 1 : 0
  const total = g.reduce.add(kept)
  if (l === 0) counts[g.group.x] = total
}

// countKeptAlone is countKept by one item, for devices whose groups cooperate slowly.
function countKeptAlone(g, x, counts) {
  const from = g.group.x * SPAN, count = Math.min(SPAN, x.length - from)
  let kept = 0
  for (let k = 0; k < count; k++) kept += keep(x, from + k) ? 1 : 0
  counts[g.group.x] = kept
}

function placeKept(g, x, sums, out) {
  const base = g.group.x * SPAN, l = g.local.x
  let start = g.group.x > 0 ? sums[Math.max(g.group.x - 1, 0)] : 0
  for (let k = 0; k < SPAN; k += 256) {
    const i = base + k + l
    let kept = 0
    if (i < x.length && keep(x, i)) kept = 1
    const rank = g.scan.add(kept)
    if (kept === 1) out[start + rank - 1] = result(x, i)
    start += g.reduce.add(kept)
  }
}

// placeKeptAlone is placeKept by one item, for processors. Elements that are not kept are overwritten by the next one that is, since
// no processor predicts which are.
function placeKeptAlone(g, x, sums, out) {
  const end = sums[g.group.x]
  let at = g.group.x > 0 ? sums[Math.max(g.group.x - 1, 0)] : 0
  let i = g.group.x * SPAN
  const to = i + Math.min(SPAN, x.length - i)
  for (; at < end - 7 && i < to - 7; i += 8) {
    for (let j = 0; j < 8; j++) {
      out[at] = result(x, i + j)
      at += keep(x, i + j) ? 1 : 0
    }
  }
  for (; at < end && i < to; i++) {
    out[at] = result(x, i)
    at += keep(x, i) ? 1 : 0
  }
}

// lower returns the number of elements of a sorted row that precede a value, or that do not follow it.
function lower(x, value, after) {
  let from = 0, to = x.length
  while (from < to) {
    const middle = from + (((to - from) / 2) | 0)
    const v = x[middle]
    if (after ? !precedes(value, v) : precedes(v, value)) from = middle + 1
    else to = middle
  }
  return from
}

// precedes orders numbers as sort does: NaN is the last one.
function precedes(a, b) {
  return a < b || (isNaN(b) && !isNaN(a))
}

// edgeOf returns edge k of bins of equal width but the last one, which is high. The product is rounded before the sum, so that
// bins on both sides of 0 have an edge there.
function edgeOf(k, low, high, bins) {
  const distance = k * ((high - low) / bins)
  return low + distance
}

// binOf returns the bin of a value from low to high among bins of equal width, corrected by their edges. Narrow ranges are enlarged,
// since the bins of a unit of theirs may be beyond the type.
function binOf(v, low, high, bins) {
  const enlarged = high - low < 1e-20 ? 2 ** 64 : 1, scale = bins / ((high - low) * enlarged)
  const guess = Math.trunc((v * enlarged - low * enlarged) * scale)
  const below = v < edgeOf(guess, low, high, bins), above = v >= edgeOf(guess + 1, low, high, bins)
  return Math.max(Math.min(i32(above ? guess + 1 : below ? guess - 1 : guess), bins - 1), 0)
}

// countBins counts the bins of a chunk of elements in each group, then adds its counts to those of all. An element has a bin if
// it is counted between ends of the edges, and place returns the bin; with STRICT one that does not exist is a fault. Neighbouring
// items use different copies of the counters, since an addition waits for the last one to the same counter.
function countBins(g, x, edges, out, chunk) {
  const own = g.shared(i32, COPIES * BINS), l = g.local.x, copy = (l % COPIES) * BINS, bins = Math.min(out.length, BINS)
  const from = g.group.x * chunk, to = from + Math.min(chunk, x.length - from), low = end(edges, 0), high = end(edges, out.length)
  for (let i = from + l; i < to; i += 256) {
    const v = x[i], bin = place(v, low, high, bins)
    if (counted(v, low, high)) {
      if (!STRICT || (bin >= 0 && bin < bins)) Atomics.add(own, copy + bin, 1)
      else Atomics.add(out, bin, 1)
    }
  }
  g.barrier()
  for (let k = l; k < bins; k += 256) {
    let sum = 0
    for (let c = 0; c < COPIES; c++) sum += own[c * BINS + k]
    if (sum !== 0) Atomics.add(out, k, sum)
  }
}

// countBinsAlone is countBins by one item, for devices whose groups cooperate slowly: it finds the bins of 64 elements, then counts.
function countBinsAlone(g, x, edges, out, chunk) {
  const own = g.shared(i32, COPIES * BINS), found = g.private(i32, 64), bins = Math.min(out.length, BINS)
  const from = g.group.x * chunk, count = Math.min(chunk, x.length - from), full = count >> 6, low = end(edges, 0), high = end(edges, out.length)
  for (let b = 0; b < full; b++) {
    for (let k = 0; k < 64; k++) {
      const v = x[from + b * 64 + k], bin = place(v, low, high, bins)
      found[k] = counted(v, low, high) ? bin : -1
    }
    for (let k = 0; k < 64; k++) {
      const bin = found[k]
      if (bin >= 0 && (!STRICT || bin < bins)) own[(k % COPIES) * BINS + bin]++
      else if (STRICT) Atomics.add(out, bin, 1)
    }
  }
  for (let k = full * 64; k < count; k++) {
    const v = x[from + k], bin = place(v, low, high, bins)
    if (counted(v, low, high)) {
      if (!STRICT || (bin >= 0 && bin < bins)) own[bin]++
      else Atomics.add(out, bin, 1)
    }
  }
  for (let k = 0; k < bins; k++) {
    let sum = 0
    for (let c = 0; c < COPIES; c++) sum += own[c * BINS + k]
    if (sum !== 0) Atomics.add(out, k, sum)
  }
}

// countFarBins counts more bins than shared memory holds.
function countFarBins(g, x, edges, out) {
  const v = x[g.x], low = end(edges, 0), high = end(edges, out.length)
  if (counted(v, low, high)) Atomics.add(out, place(v, low, high, out.length), 1)
}
