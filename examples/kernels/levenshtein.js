// Edit distance of two words: the table is filled by anti-diagonals, each of which is one launch.
import { device, kernel, i32 } from 'offload'
import { equal } from './check.js'

const diagonal = kernel((g, a, b, table, d) => {
  const i = g.x, j = d - i
  if (j < 0 || j > b.length) return
  if (i === 0 || j === 0) {
    table[i][j] = i + j
  } else {
    const change = table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
    table[i][j] = Math.min(change, table[i - 1][j] + 1, table[i][j - 1] + 1)
  }
})

const dev = device()
/** @type {(s: string, t: string) => Promise<number>} */
async function distance(s, t) {
  /** @param {string} word */
  const codes = word => dev.buffer(Uint8Array.from([...word], c => c.charCodeAt(0)))
  const table = dev.buffer(i32, [s.length + 1, t.length + 1])
  const a = codes(s), b = codes(t)
  for (let d = 0; d <= s.length + t.length; d++) diagonal.launch({ size: s.length + 1 }, a, b, table, d)
  const cells = await table.read()
  return cells[cells.length - 1]
}
equal('levenshtein', [await distance('kitten', 'sitting'), await distance('saturday', 'sunday'),
  await distance('levenshtein', 'meilenstein'), await distance('same', 'same')], [3, 3, 4, 0])
