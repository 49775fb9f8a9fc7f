// Conway's game of life on a torus: a glider regains its shape after four steps, moved by one cell.
import { device, kernel, u8 } from 'offload'
import { equal } from './check.js'

const n = 16
export const step = kernel((g, now, next) => {
  let alive = 0
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) {
      if (dx !== 0 || dy !== 0) alive += now[(g.y + dy + n) % n][(g.x + dx + n) % n]
    }
  }
  next[g.y][g.x] = alive === 3 || (alive === 2 && now[g.y][g.x] === 1) ? 1 : 0
})

if (import.meta.main) {
  const glider = [[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]]
  /** @param {number} shift */
  const board = shift => {
    const cells = new Uint8Array(n * n)
    for (const [y, x] of glider) cells[((y + shift) % n) * n + ((x + shift) % n)] = 1
    return cells
  }
  const dev = device()
  let a = dev.buffer(board(0), { shape: [n, n] })
  let b = dev.buffer(u8, [n, n])
  for (let s = 0; s < 4 * n; s++) {
    step.launch({ size: [n, n] }, a, b)
    ;[a, b] = [b, a]
    if (s === 3) equal('one cell on', await a.read(), board(1))
  }
  equal('once around', await a.read(), board(n))
}
