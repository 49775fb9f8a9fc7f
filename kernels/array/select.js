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

// binOf returns the bin of a value among bins of equal width, corrected by the edges.
function binOf(v, edges, bins) {
  const low = edges[0], high = edges[bins]
  let bin = i32((v - low) / (high - low) * bins)
  bin = Math.min(Math.max(bin, 0), bins - 1)
  if (bin > 0 && v < edges[bin]) bin--
  if (bin < bins - 1 && v >= edges[bin + 1]) bin++
  return bin
}
