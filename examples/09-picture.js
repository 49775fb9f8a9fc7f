// An image pipeline of whole arrays: crops and mirrors a photograph, stretches its contrast by quantiles, and writes picture.png.
import { device, f32, u8 } from 'offload'
import { existsSync, readImage, writeImage } from 'fs'
import process from 'process'

// The photograph is one of the Go installation, whose bin folder is in PATH.
const folders = process.env.PATH.split(process.platform === 'win32' ? ';' : ':')
const file = folders.map(bin => `${bin}/../src/image/testdata/video-001.png`).find(path => existsSync(path))
if (!file) throw new Error('no Go installation is in PATH')

const d = device(), photo = await readImage(file, { channels: 4 })
const image = d.buffer(photo.data, { shape: [photo.height, photo.width, 4] })
const part = image.slice([10, -10], [10, -10], [0, 3]).flip(1)
const weights = d.buffer(Float32Array.of(0.299, 0.587, 0.114))
const gray = part.zip(weights, (v, w) => v * w).sum(2)
const [low, high] = await gray.quantile([0.02, 0.98]).read()
const stretched = gray.zip(low, high, (v, low, high) => (v - low) / Math.max(high - low, 1) * 255).clip(0, 255)
const out = stretched.map(v => Math.round(v), { type: u8 })
const [height, width] = out.shape
await writeImage('picture.png', { width, height, data: await out.read() })
const { counts } = out.histogram(4, { from: 0, to: 256 })
console.log(`${width}×${height} pixels, quarters of the range`, (await counts.read()).join(' '))
if (await counts.sum() !== width * height) throw new Error('pixels are missing')
