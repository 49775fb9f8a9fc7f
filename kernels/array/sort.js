// Sorts. A pass of the radix sort takes 8 bits: a group of one item counts the digits of a chunk, and places its elements in
// their order after those of smaller digits and of earlier chunks, so that the sort is stable. pre computes the keys of the first
// pass, and post the elements of the last one.

function countDigits(g, keys, counts, shift, chunk) {
  const own = g.shared(i32, 256)
  const chunks = g.groups.x, c = g.group.x, from = c * chunk, to = from + Math.min(chunk, keys.length - from)
  for (let i = from; i < to; i++) own[digitOf(pre(keys[i]), shift)]++
  for (let k = 0; k < 256; k++) counts[k * chunks + c] = own[k]
}

// placeKeys places the keys of a chunk. sums holds the counts and those before them. Keys of a digit are stored together, a
// cache line at a time.
function placeKeys(g, keys, counts, sums, keysOut, shift, chunk) {
  const own = g.shared(i32, 256), first = g.shared(i32, 256), line = g.shared(type, 256 * LINE)
  const chunks = g.groups.x, c = g.group.x, from = c * chunk, to = from + Math.min(chunk, keys.length - from)
  for (let k = 0; k < 256; k++) {
    own[k] = sums[k * chunks + c] - counts[k * chunks + c]
    first[k] = own[k]
  }
  for (let i = from; i < to; i++) {
    const key = pre(keys[i]), digit = digitOf(key, shift), at = own[digit], slot = at & LINE - 1
    own[digit] = at + 1
    line[digit * LINE + slot] = key
    if (slot === LINE - 1) {
      const start = at - slot
      if (start >= first[digit]) for (let j = 0; j < LINE; j++) keysOut[start + j] = post(line[digit * LINE + j])
      else for (let j = first[digit] - start; j < LINE; j++) keysOut[start + j] = post(line[digit * LINE + j])
    }
  }
  for (let k = 0; k < 256; k++) {
    const start = own[k] & -LINE
    for (let j = Math.max(first[k] - start, 0); j < own[k] - start; j++) keysOut[start + j] = post(line[k * LINE + j])
  }
}

// placeDigits places the keys of a chunk, and the indices of their elements.
function placeDigits(g, keys, places, counts, sums, keysOut, placesOut, shift, chunk) {
  const own = g.shared(i32, 256), first = g.shared(i32, 256), line = g.shared(type, 256 * LINE), placeLine = g.shared(i32, 256 * LINE)
  const chunks = g.groups.x, c = g.group.x, from = c * chunk, to = from + Math.min(chunk, keys.length - from)
  for (let k = 0; k < 256; k++) {
    own[k] = sums[k * chunks + c] - counts[k * chunks + c]
    first[k] = own[k]
  }
  for (let i = from; i < to; i++) {
    const key = pre(keys[i]), place = placeAt(places, i), digit = digitOf(by(key, place), shift), at = own[digit], slot = at & LINE - 1
    own[digit] = at + 1
    line[digit * LINE + slot] = key
    placeLine[digit * LINE + slot] = place
    if (slot === LINE - 1) {
      const start = at - slot
      for (let j = Math.max(first[digit] - start, 0); j < LINE; j++) {
        keysOut[start + j] = post(line[digit * LINE + j])
        placesOut[start + j] = placeLine[digit * LINE + j]
      }
    }
  }
  for (let k = 0; k < 256; k++) {
    const start = own[k] & -LINE
    for (let j = Math.max(first[k] - start, 0); j < own[k] - start; j++) {
      keysOut[start + j] = post(line[k * LINE + j])
      placesOut[start + j] = placeLine[k * LINE + j]
    }
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
