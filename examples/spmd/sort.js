// Sorts keys as examples/distributed/sort.js does, as processes: orepl mpirun --spmd -n 4 sort.js. Each rank sorts its parts; the ranks agree
// on keys that divide all keys into equal parts, and send each other what lies between two of these.
import { mpi } from 'mpi'
import { rankOf, mine, collect } from './parts.js'
import { report } from '../distributed/report.js'

const parts = 8, n = 1024
const parted = new Map(mine(parts).map(part => [part, Uint32Array.from({ length: n }, (_, i) => Math.imul(part * n + i + 1, 2654435761) >>> 0).sort()]))

/** @type {(keys: Uint32Array, key: number) => number} */
const below = (keys, key) => {
  let first = 0, last = keys.length
  while (first < last) {
    const middle = (first + last) >> 1
    if (keys[middle] < key) first = middle + 1
    else last = middle
  }
  return first
}

// Bisection finds the least key with part * n keys below it; all ranks count theirs.
const first = new Float64Array(parts + 1), last = new Float64Array(parts + 1).fill(2 ** 32)
last[0] = 0
for (let bit = 0; bit < 33; bit++) {
  const middle = first.map((v, i) => Math.floor((v + last[i]) / 2))
  const counts = await mpi.allReduce(Int32Array.from(middle, key => [...parted.values()].reduce((sum, keys) => sum + below(keys, key), 0)))
  for (let i = 1; i <= parts; i++) {
    if (counts[i] < i * n) first[i] = Math.min(middle[i] + 1, last[i])
    else last[i] = middle[i]
  }
}
const sends = []
for (const keys of parted.values())
  for (let to = 0; to < parts; to++)
    sends.push(mpi.send(keys.subarray(below(keys, last[to]), below(keys, last[to + 1])), rankOf(to, parts), { tag: to }))
const sorted = new Map()
for (const part of mine(parts)) {
  const got = []
  for (let from = 0; from < parts; from++) got.push(await mpi.recv(rankOf(from, parts), { tag: part }))
  sorted.set(part, Uint32Array.from(got.flatMap(keys => [...keys])).sort())
}
await Promise.all(sends)
const all = await collect(parts, async part => sorted.get(part))
if (all) {
  let before = -1
  for (const keys of all) {
    if (keys.length !== n) throw new Error(`a part has ${keys.length} keys`)
    for (const key of keys) {
      if (key < before) throw new Error(`${key} comes behind ${before}`)
      before = key
    }
  }
  report('sort', ...all)
}
