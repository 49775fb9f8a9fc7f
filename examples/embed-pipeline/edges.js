// The pipeline that main.go serves: the edges of a gray picture, by Sobel's operator.
import { pipeline, kernel, u8 } from 'offload'

/** @type {(i: number, n: number) => number} */
const clamp = (i, n) => Math.min(Math.max(i, 0), n - 1)

const sobel = kernel((g, from, to) => {
  const l = clamp(g.x - 1, from.shape[1]), r = clamp(g.x + 1, from.shape[1])
  const above = from[clamp(g.y - 1, from.length)], here = from[g.y], below = from[clamp(g.y + 1, from.length)]
  const dx = above[r] + 2 * here[r] + below[r] - above[l] - 2 * here[l] - below[l]
  const dy = below[l] + 2 * below[g.x] + below[r] - above[l] - 2 * above[g.x] - above[r]
  to[g.y][g.x] = Math.min(255, Math.sqrt(dx * dx + dy * dy))
})

export default pipeline({
  inputs: { image: [u8, 2] },
  outputs: { edges: [u8, ({ image }) => image.shape] },
  run({ image, edges }) {
    sobel.launch({ size: image.shape.toReversed() }, image, edges)
  },
})
