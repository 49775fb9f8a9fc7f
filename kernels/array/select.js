// Selections keep elements in their order: countKept counts those of each block of SPAN elements, placeKept stores them from
// the sum of the counts before the block on.

function countKept(g, x, counts) {
  const base = g.group.x * SPAN, l = g.local.x
  let kept = 0
  for (let k = 0; k < SPAN; k += 256) {
    const i = base + k + l
    if (i < x.length && keep(x, i)) kept++
  }
  const total = g.reduce.add(kept)
  if (l === 0) counts[g.group.x] = total
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

// edgeOf returns edge k of bins of equal width but the last one, which is high.
function edgeOf(k, low, high, bins) {
  return low + k * ((high - low) / bins)
}

// binOf returns the bin of a value among bins of equal width, corrected by their edges, or −1 for a value outside of them.
function binOf(v, edges, bins) {
  const low = edges[0], high = edges[bins], inside = v >= low && v <= high
  const guess = Math.min(Math.max(i32((v - low) / (high - low) * bins), 0), bins - 1)
  const below = v < edgeOf(guess, low, high, bins), above = v >= edgeOf(guess + 1, low, high, bins)
  const up = above ? Math.min(guess + 1, bins - 1) : guess, down = Math.max(guess - 1, 0)
  const bin = below ? down : up
  return inside ? bin : -1
}

// countBins counts the bins of a chunk of elements in each group, then adds its counts to those of all. An element whose bin is
// outside of them is not counted, or with STRICT a fault.
function countBins(g, x, edges, out, chunk) {
  const own = g.shared(i32, BINS), l = g.local.x
  const from = g.group.x * chunk, to = from + Math.min(chunk, x.length - from)
  for (let i = from + l; i < to; i += 256) {
    const bin = place(x[i], edges, out.length)
    if (bin >= 0 && bin < out.length) Atomics.add(own, bin, 1)
    else if (STRICT) Atomics.add(out, bin, 1)
  }
  g.barrier()
  for (let k = l; k < out.length; k += 256) if (own[k] !== 0) Atomics.add(out, k, own[k])
}

// countFarBins counts more bins than shared memory holds.
function countFarBins(g, x, edges, out) {
  const bin = place(x[g.x], edges, out.length)
  if (STRICT || (bin >= 0 && bin < out.length)) Atomics.add(out, bin, 1)
}
