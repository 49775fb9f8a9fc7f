// Blurs a photograph and finds its edges, on the best device.
//
//   orepl run examples/01-edges.js [photo.png [edges.png]]
//
// Without an argument it takes a photograph from the Go installation.
import { device, kernel, f32, u8, args } from 'offload'
import fs from 'fs'
import process from 'process'

// The go command puts its own bin folder first in PATH.
const folders = process.env.PATH.split(process.platform === 'win32' ? ';' : ':')
const goPhoto = folders.map(bin => `${bin}/../src/image/testdata/video-001.png`).find(path => fs.existsSync(path))
const photo = args[0] ?? goPhoto
if (!photo) throw new Error('no Go installation is in PATH; give a photograph: orepl run 01-edges.js photo.jpg')
const result = args[1] ?? 'edges.png'

// Weights of a Gaussian, computed here and captured by the kernel as constants.
const radius = 2
const weights = Array.from({ length: 2 * radius + 1 }, (_, i) => Math.exp(-((i - radius) ** 2) / 2))
const total = weights.reduce((sum, w) => sum + w)

/** @type {(i: number, n: number) => number} */
const clamp = (i, n) => Math.min(Math.max(i, 0), n - 1)

const toGray = kernel((g, rgba, gray) => {
  gray[g.y][g.x] = (0.299 * rgba[g.y][4 * g.x] + 0.587 * rgba[g.y][4 * g.x + 1] + 0.114 * rgba[g.y][4 * g.x + 2]) / 255
})

const blurRows = kernel((g, from, to) => {
  let sum = 0
  for (let k = -radius; k <= radius; k++) sum += weights[k + radius] * from[g.y][clamp(g.x + k, from.shape[1])]
  to[g.y][g.x] = sum / total
})

const blurColumns = kernel((g, from, to) => {
  let sum = 0
  for (let k = -radius; k <= radius; k++) sum += weights[k + radius] * from[clamp(g.y + k, from.length)][g.x]
  to[g.y][g.x] = sum / total
})

// Sobel's operator: the magnitude of the gradient at a pixel.
const edges = kernel((g, from, to) => {
  const w = from.shape[1], h = from.length
  const l = clamp(g.x - 1, w), r = clamp(g.x + 1, w)
  const above = from[clamp(g.y - 1, h)], here = from[g.y], below = from[clamp(g.y + 1, h)]
  const dx = above[r] + 2 * here[r] + below[r] - above[l] - 2 * here[l] - below[l]
  const dy = below[l] + 2 * below[g.x] + below[r] - above[l] - 2 * above[g.x] - above[r]
  to[g.y][g.x] = Math.min(255, 255 * Math.sqrt(dx * dx + dy * dy))
})

const dev = device()
const { width, height, data } = await fs.readImage(photo, { channels: 4 })
console.log(`${photo}: ${width}×${height} pixels, on ${dev.name}`)

const size = [width, height], shape = [height, width]
const rgba = dev.buffer(data, { shape: [height, 4 * width], label: 'photo' })
const gray = dev.buffer(f32, shape), rows = dev.buffer(f32, shape), blurred = dev.buffer(f32, shape)
const out = dev.buffer(u8, shape, { label: 'edges' })

// Nothing is awaited: a queue runs its commands in order.
const start = dev.queue.record()
const steps = [
  { name: 'gray', event: toGray.launch({ size }, rgba, gray) },
  { name: 'blur rows', event: blurRows.launch({ size }, gray, rows) },
  { name: 'blur columns', event: blurColumns.launch({ size }, rows, blurred) },
  { name: 'edges', event: edges.launch({ size }, blurred, out) },
]
await dev.queue.sync()
let before = start
for (const { name, event } of steps) {
  console.log(`  ${name.padEnd(12)} ${(event.elapsedSince(before) / 1e6).toFixed(3)} ms`)
  before = event
}

await fs.writeImage(result, { width, height, channels: 1, data: out })
console.log(`wrote ${result}`)
