// Sorts keys on several devices. Each device sorts its parts; then neighbours exchange parts, and one keeps the lower half and the
// other the upper half, once for each part.
import { kernel, u32 } from 'offload'
import { placeOf } from './devices.js'
import { report } from './report.js'

const parts = 8, n = 1024 // n is the number of keys of a part, a power of two
if ((n & (n - 1)) !== 0) throw new RangeError(`${n} keys of a part are not a power of two`)

const sides = Array.from({ length: parts }, (_, part) => {
  const d = placeOf(part, parts)
  return { keys: d.buffer(u32, n, i => Math.imul(part * n + i + 1, 2654435761) >>> 0), other: d.buffer(u32, n), kept: d.buffer(u32, n) }
})

const compare = kernel((g, keys, block, distance) => {
  const i = g.x, j = i ^ distance
  if (j > i && (keys[i] > keys[j]) === ((i & block) === 0)) {
    const a = keys[i]
    keys[i] = keys[j]
    keys[j] = a
  }
})
for (const s of sides)
  for (let block = 2; block <= n; block *= 2)
    for (let distance = block / 2; distance >= 1; distance /= 2) compare.launch({ size: n }, s.keys, block, distance)

// Each key computes its position in both parts: its index plus the number of keys of the other part before it. Of equal keys the
// lower part's keys come first.
const keep = kernel((g, keys, other, kept, lower) => {
  const key = keys[g.x]
  let first = 0, last = other.length
  while (first < last) {
    const middle = (first + last) >> 1
    if (other[middle] < key || (!lower && other[middle] === key)) first = middle + 1
    else last = middle
  }
  const place = g.x + first
  if (lower ? place < keys.length : place >= keys.length) kept[lower ? place : place - keys.length] = key
  // The keys kept of the other part compute their positions in the same way.
  const theirs = other[g.x]
  first = 0
  last = keys.length
  while (first < last) {
    const middle = (first + last) >> 1
    if (keys[middle] < theirs || (lower && keys[middle] === theirs)) first = middle + 1
    else last = middle
  }
  const at = g.x + first
  if (lower ? at < keys.length : at >= keys.length) kept[lower ? at : at - keys.length] = theirs
})
for (let round = 0; round < parts; round++) {
  for (let p = round % 2; p + 1 < parts; p += 2) {
    const a = sides[p], b = sides[p + 1]
    a.keys.copyTo(b.other)
    b.keys.copyTo(a.other)
    keep.launch({ size: n }, a.keys, a.other, a.kept, true)
    keep.launch({ size: n }, b.keys, b.other, b.kept, false)
    for (const s of [a, b]) [s.keys, s.kept] = [s.kept, s.keys]
  }
}
const sorted = await Promise.all(sides.map(s => s.keys.read()))
let before = -1
for (const keys of sorted) {
  for (const key of keys) {
    if (key < before) throw new Error(`${key} comes behind ${before}`)
    before = key
  }
}
report('sort', ...sorted)
