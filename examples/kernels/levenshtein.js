// Edit distance of two words: the table is filled by anti-diagonals, each of which is one launch.
import { device, kernel, i32 } from 'offload'
import { equal } from './check.js'

export const diagonal = kernel((g, a, b, table, d) => {
  const i = g.x, j = d - i
  if (j < 0 || j > b.length) return
  if (i === 0 || j === 0) {
    table[i][j] = i + j
  } else {
    const change = table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
    table[i][j] = Math.min(change, table[i - 1][j] + 1, table[i][j - 1] + 1)
  }
})

if (import.meta.main) {
  const dev = device()
  /** @type {(s: string, t: string) => Promise<number>} */
  async function distance(s, t) {
    /** @param {string} word */
    const codes = word => dev.buffer(Uint32Array.from([...word], c => c.codePointAt(0) ?? 0))
    const a = codes(s), b = codes(t)
    const table = dev.buffer(i32, [a.length + 1, b.length + 1])
    for (let d = 0; d <= a.length + b.length; d++) diagonal.launch({ size: a.length + 1 }, a, b, table, d)
    const cells = await table.read()
    return cells[cells.length - 1]
  }
  equal('levenshtein', [await distance('kitten', 'sitting'), await distance('saturday', 'sunday'),
    await distance('levenshtein', 'meilenstein'), await distance('same', 'same')], [3, 3, 4, 0])
}
