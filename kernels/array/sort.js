// Sorts. A pass of the radix sort takes a digit of the keys, of DIGITS values: a group of one item counts the digits of a chunk,
// and places its elements in their order after those of smaller digits and of earlier chunks, so that the sort is stable. pre
// computes the keys of the first pass, and post the elements of the last one.

function countDigits(g, keys, counts, shift, chunk) {
  const own = g.shared(i32, DIGITS)
  const chunks = g.groups.x, c = g.group.x, from = c * chunk, to = from + Math.min(chunk, keys.length - from)
  let i = from
  for (; i < to - 7; i += 8) {
    for (let j = 0; j < 8; j++) own[digitOf(pre(keys[i + j]), shift)]++
  }
  for (; i < to; i++) own[digitOf(pre(keys[i]), shift)]++
  for (let k = 0; k < DIGITS; k++) counts[k * chunks + c] = own[k]
}

// placeKeys places the keys of a chunk. sums holds the counts and those before them.
function placeKeys(g, keys, counts, sums, keysOut, shift, chunk) {
  const own = g.shared(i32, DIGITS)
  const chunks = g.groups.x, c = g.group.x, from = c * chunk, to = from + Math.min(chunk, keys.length - from)
  for (let k = 0; k < DIGITS; k++) own[k] = sums[k * chunks + c] - counts[k * chunks + c]
  let i = from
  for (; i < to - 7; i += 8) {
    for (let j = 0; j < 8; j++) {
      const key = pre(keys[i + j]), digit = digitOf(key, shift), at = own[digit]
      own[digit] = at + 1
      keysOut[at] = post(key)
    }
  }
  for (; i < to; i++) {
    const key = pre(keys[i]), digit = digitOf(key, shift), at = own[digit]
    own[digit] = at + 1
    keysOut[at] = post(key)
  }
}

// placeDigits places the keys of a chunk, and the indices of their elements.
function placeDigits(g, keys, places, counts, sums, keysOut, placesOut, shift, chunk) {
  const own = g.shared(i32, DIGITS)
  const chunks = g.groups.x, c = g.group.x, from = c * chunk, to = from + Math.min(chunk, keys.length - from)
  for (let k = 0; k < DIGITS; k++) own[k] = sums[k * chunks + c] - counts[k * chunks + c]
  for (let i = from; i < to; i++) {
    const key = pre(keys[i]), place = placeAt(places, i), digit = digitOf(by(key, place), shift), at = own[digit]
    own[digit] = at + 1
    keysOut[at] = post(key)
    placesOut[at] = place
  }
}

// orderOf returns a key whose unsigned order is that of a float with these bits, from 0 for −∞ up to 2 · infinity + 1, and one more
// for every NaN. bit is the number of the sign, infinity has its bits. Masks replace conditions, which no processor predicts here.
function orderOf(v, bit, infinity) {
  const sign = u32(1 << bit), low = u32(sign - u32(1)), negative = i32(v) << (31 - bit) >> 31
  const key = u32(v ^ (negative & low | sign)) - u32(low - u32(infinity))
  return Math.min(u32(key & (low | sign)), u32(infinity) * u32(2) + u32(2))
}

// floatOf returns the bits of the float with a key.
function floatOf(key, bit, infinity, nan) {
  const sign = u32(1 << bit), low = u32(sign - u32(1)), k = u32(key) + u32(low - u32(infinity))
  const positive = u32(k >>> bit) - u32(1), v = u32(k ^ (positive & low | sign))
  return key > u32(infinity) * u32(2) + u32(1) ? u32(nan) : v
}

function orderOf64(v) {
  const negative = 0n - (v >> 63n), key = (v ^ (negative | 0x8000000000000000n)) - 0x000fffffffffffffn
  return Math.min(key, 0xffe0000000000002n)
}

function floatOf64(key) {
  const k = key + 0x000fffffffffffffn, positive = (k >> 63n) - 1n, v = k ^ (positive | 0x8000000000000000n)
  return key > 0xffe0000000000001n ? 0x7ff8000000000000n : v
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
