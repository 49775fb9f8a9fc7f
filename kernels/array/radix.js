// A pass of the radix sort for GPUs takes a digit of 8 bits. A group of 256 items sorts a tile of PER × 256 keys by the digit in
// shared memory, then stores it: neighbours go to neighbouring places. pre computes the keys of the first pass, and post the
// elements of the last one.

// countTile counts the digits of a tile.
function countTile(g, keys, counts, shift) {
  const own = g.shared(i32, 256), digits = g.private(i32, PER), l = g.local.x & 255, tile = g.group.x, from = tile * (PER * 256) + l
  if (from >= 0 && from < keys.length - (PER - 1) * 256) { // the whole tile, whose keys are on their way at once
    for (let j = 0; j < PER; j++) digits[j] = digitOf(pre(keys[from + j * 256]), shift)
    for (let j = 0; j < PER; j++) Atomics.add(own, digits[j] & 255, 1)
  } else {
    for (let j = 0; j < PER; j++) {
      const i = from + j * 256
      if (i >= 0 && i < keys.length) Atomics.add(own, digitOf(pre(keys[i]), shift) & 255, 1)
    }
  }
  g.barrier()
  if (l < counts.shape[0] && tile < counts.shape[1]) counts[l][tile] = own[l]
}

// addTiles stores the number of keys with a digit in the tiles before each one, and in all of them.
function addTiles(g, counts, sums, totals, per) {
  const digit = g.group.x, l = g.local.x & 255, from = l * per
  let own = 0
  for (let j = 0; j < per; j++) {
    const i = from + j
    if (digit < counts.shape[0] && i >= 0 && i < counts.shape[1]) own += counts[digit][i]
  }
  let sum = g.scan.add(own) - own
  for (let j = 0; j < per; j++) {
    const i = from + j
    if (digit < counts.shape[0] && i >= 0 && i < counts.shape[1]) {
      const count = counts[digit][i]
      if (digit < sums.shape[0] && i < sums.shape[1]) sums[digit][i] = sum
      sum += count
    }
  }
  if (l === 255 && digit < totals.length) totals[digit] = sum
}

// placeTile sorts a tile and stores it. An item ranks PER adjacent keys by 4 bits, then by 4 bits more. columns counts the digits
// of each item, two in a word: those below 8 in the lower half. Gaps spread adjacent keys and words over the banks.
function placeTile(g, keys, places, counts, sums, totals, keysOut, placesOut, shift) {
  const columns = g.shared(u32, 2304), tile = g.shared(type, PER * 256 + 256), at = g.shared(i32, INDEXED ? PER * 256 + 256 : 1), start = g.shared(i32, 256), end = g.shared(u32, 1)
  const own = g.private(type, PER), place = g.private(i32, PER), rank = g.private(i32, PER)
  const l = g.local.x & 255, group = g.group.x, base = group * (PER * 256), count = keys.length - base
  const first = base + l
  if (!INDEXED && first >= 0 && first < keys.length - (PER - 1) * 256) {
    for (let j = 0; j < PER; j++) own[j] = pre(keys[first + j * 256])
    for (let j = 0; j < PER; j++) tile[j * 256 + l + (j * 256 + l >> GAP)] = own[j]
  } else for (let j = 0; j < PER; j++) {
    const p = j * 256 + l, i = base + p
    if (i >= 0 && i < keys.length) {
      tile[p + (p >> GAP)] = pre(keys[i])
      if (INDEXED) {
        if (FIRST) at[p + (p >> GAP)] = i
        else if (i < places.length) at[p + (p >> GAP)] = places[i]
      }
    }
  }
  g.barrier()
  const column = l + (l >> 3)
  for (let low = 0; low < 8; low += 4) {
    for (let k = 0; k < 8; k++) columns[k * 288 + column] = u32(0)
    for (let j = 0; j < PER; j++) {
      const p = l * PER + j
      own[j] = tile[p + (p >> GAP)]
      if (INDEXED) place[j] = at[p + (p >> GAP)]
      const digit = p < count ? (digitOf(by(own[j], place[j]), shift) >> low) & 15 : 15
      const word = (digit & 7) * 288 + column, half = (digit >> 3) * 16, counted = columns[word]
      rank[j] = i32(counted >>> half & 65535) | digit << 16
      columns[word] = u32(counted + (u32(1) << half))
    }
    g.barrier()
    let sum = u32(0)
    for (let k = 0; k < 8; k++) {
      const word = columns[l * 9 + k]
      columns[l * 9 + k] = sum
      sum = u32(sum + word)
    }
    const up = g.scan.add(sum)
    if (l === 255) end[0] = up
    g.barrier()
    const before = u32(up - sum + (end[0] << 16))
    for (let k = 0; k < 8; k++) columns[l * 9 + k] = u32(columns[l * 9 + k] + before)
    g.barrier()
    for (let j = 0; j < PER; j++) {
      const digit = rank[j] >> 16 & 15, word = columns[(digit & 7) * 288 + column]
      const p = (rank[j] & 65535) + i32(word >>> (digit >> 3) * 16 & 65535) & PER * 256 - 1
      tile[p + (p >> GAP)] = own[j]
      if (INDEXED) at[p + (p >> GAP)] = place[j]
    }
    g.barrier()
  }
  let here = 0, earlier = 0, total = 0
  if (l < counts.shape[0] && group < counts.shape[1]) here = counts[l][group]
  if (l < sums.shape[0] && group < sums.shape[1]) earlier = sums[l][group]
  if (l < totals.length) total = totals[l]
  const both = u64(total) << 32n | u64(here), before = g.scan.add(both) - both
  start[l] = i32(before >> 32n) + earlier - i32(before & 0xffffffffn)
  g.barrier()
  for (let j = 0; j < PER; j++) {
    const p = j * 256 + l
    if (p < count) {
      const key = tile[p + (p >> GAP)]
      let from = 0
      if (INDEXED) from = at[p + (p >> GAP)]
      const to = start[digitOf(by(key, from), shift) & 255] + p
      if (to >= 0 && to < keysOut.length) keysOut[to] = post(key)
      if (INDEXED && to >= 0 && to < placesOut.length) placesOut[to] = from
    }
  }
}
