// Sorting of shared arrays by Batcher's merge exchange, algorithm M of Knuth, "The Art of Computer Programming", section 5.2.2.
// It accepts any count, is not stable, and compares the same pairs on every device.

// powerBelow returns the greatest power of two below count, at least 1.
function powerBelow(count) {
  return 1 << (31 - Math.clz32(Math.max(count - 1, 1)))
}

export function groupSort(g, keys, count, before) {
  const [l, items] = inGroup(g), n = g.uniform(count), top = powerBelow(n)
  g.barrier()
  for (let p = top; p > 0; p >>= 1) {
    let distance = p, half = 0
    for (let q = top; q >= p; q >>= 1) {
      for (let i = l; i < ((n - distance) | 0); i = (i + items) | 0) {
        if ((i & p) === half && before(keys[i + distance], keys[i])) {
          const key = keys[i]
          keys[i] = keys[i + distance]
          keys[i + distance] = key
        }
      }
      g.barrier()
      distance = q - p
      half = p
    }
  }
}

export function groupSortPairs(g, keys, values, count, before) {
  const [l, items] = inGroup(g), n = g.uniform(count), top = powerBelow(n)
  g.barrier()
  for (let p = top; p > 0; p >>= 1) {
    let distance = p, half = 0
    for (let q = top; q >= p; q >>= 1) {
      for (let i = l; i < ((n - distance) | 0); i = (i + items) | 0) {
        if ((i & p) === half && before(keys[i + distance], keys[i])) {
          const key = keys[i], value = values[i]
          keys[i] = keys[i + distance]
          values[i] = values[i + distance]
          keys[i + distance] = key
          values[i + distance] = value
        }
      }
      g.barrier()
      distance = q - p
      half = p
    }
  }
}
