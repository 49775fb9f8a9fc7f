// Counts the solutions of the n-queens problem: one work-item for each placement of the first two queens, with its own
// stack for the rest.
import { device, kernel, i32 } from 'offload'
import { equal } from './check.js'

export const queens = kernel((g, count, n) => {
  const all = (1 << n) - 1
  const first = 1 << g.y, second = 1 << g.x
  if (second === first || second === first << 1 || second << 1 === first) return
  const columns = g.private(i32, 16), left = g.private(i32, 16), right = g.private(i32, 16), free = g.private(i32, 16)
  let depth = 2, found = 0
  columns[2] = first | second
  left[2] = (first << 2) | (second << 1)
  right[2] = (first >> 2) | (second >> 1)
  free[2] = all & ~(columns[2] | left[2] | right[2])
  while (depth >= 2) {
    if (columns[depth] === all) {
      found++
      depth--
    } else if (free[depth] === 0) {
      depth--
    } else {
      const place = free[depth] & -free[depth]
      free[depth] ^= place
      columns[depth + 1] = columns[depth] | place
      left[depth + 1] = ((left[depth] | place) << 1) & all
      right[depth + 1] = (right[depth] | place) >> 1
      depth++
      free[depth] = all & ~(columns[depth] | left[depth] | right[depth])
    }
  }
  Atomics.add(count, 0, found)
})

if (import.meta.main) {
  const dev = device()
  const counts = []
  for (const n of [4, 5, 6, 7, 8]) {
    if (n < 2 || n > 15) throw new RangeError(`${n} queens: the stacks hold 2 to 15`)
    const count = dev.buffer(i32, 1)
    queens.launch({ size: [n, n] }, count, n)
    counts.push((await count.read())[0])
  }
  equal('queens', counts, [2, 10, 4, 40, 92])
}
