// Sorts. The radix sort takes 8 bits of the keys in each pass. An item counts and places the elements of one chunk, in their
// order, so that the sort is stable.

function countDigits(g, keys, counts, shift, chunk) {
  const chunks = g.size.x, c = g.x
  const from = c * chunk, to = Math.min(from + chunk, keys.length)
  for (let i = from; i < to; i++) counts[digitOf(keys[i], shift) * chunks + c]++
}

function placeDigits(g, keys, places, starts, keysOut, placesOut, shift, chunk) {
  const chunks = g.size.x, c = g.x
  const from = c * chunk, to = Math.min(from + chunk, keys.length)
  for (let i = from; i < to; i++) {
    const key = keys[i], at = digitOf(key, shift) * chunks + c
    const to = starts[at]
    starts[at] = to + 1
    keysOut[to] = key
    placesOut[to] = places[i]
  }
}

function placeKeys(g, keys, starts, keysOut, shift, chunk) {
  const chunks = g.size.x, c = g.x
  const from = c * chunk, to = Math.min(from + chunk, keys.length)
  for (let i = from; i < to; i++) {
    const key = keys[i], at = digitOf(key, shift) * chunks + c
    const to = starts[at]
    starts[at] = to + 1
    keysOut[to] = key
  }
}

// orderOf returns a key whose unsigned order is that of a float, with NaN last.
function orderOf32(v) {
  if (isNaN(v)) return u32(0xffffffff)
  const b = bits(f32(v))
  return (b >>> 31) === 1 ? u32(~b) : u32(b | 0x80000000)
}

function orderOf64(v) {
  if (isNaN(v)) return 0xffffffffffffffffn
  const b = bits(v)
  return (b >> 63n) === 1n ? ~b : b | 0x8000000000000000n
}

// mergeRuns merges pairs of sorted runs: an item finds the place of one element by its rank in the other run.
function mergeRuns(g, x, places, out, placesOut, run, n) {
  const i = g.x, row = ((i / n) | 0) * n, k = i - row
  const pair = ((k / (2 * run)) | 0) * 2 * run
  const middle = Math.min(pair + run, n), end = Math.min(pair + 2 * run, n)
  const v = x[i], first = k < middle
  let from = first ? middle : pair, to = first ? end : middle
  const other = from
  while (from < to) {
    const m = from + (((to - from) / 2) | 0), w = x[row + m]
    const less = first ? before(w, v) : !before(v, w)
    if (less) from = m + 1
    else to = m
  }
  const at = row + pair + (first ? k - pair : k - middle) + (from - other)
  out[at] = v
  placesOut[at] = places[i]
}
