// Ray casting: a small picture of shaded spheres, with records and a helper function.
import { device, kernel, struct, f32, u8 } from 'offload'
import { close } from './check.js'

const Sphere = struct({ center: [f32, 3], radius: f32, shade: f32 })
const scene = [
  { center: [0, 0, 3], radius: 1, shade: 0.9 },
  { center: [1.2, 0.5, 4], radius: 1, shade: 0.6 },
  { center: [-0.8, -0.6, 2.2], radius: 0.4, shade: 0.3 },
]
const w = 48, h = 32

// The distance along the ray (0, 0, 0) + t·(dx, dy, 1) of its intersection with the sphere, or infinity.
/** @type {(dx: number, dy: number, x: number, y: number, z: number, r: number) => number} */
const meet = (dx, dy, x, y, z, r) => {
  const a = dx * dx + dy * dy + 1
  const b = dx * x + dy * y + z
  const c = x * x + y * y + z * z - r * r
  const d = b * b - a * c
  return d < 0 ? Infinity : (b - Math.sqrt(d)) / a
}

export const render = kernel((g, spheres, image) => {
  const dx = (g.x + 0.5) / w * 2 - 1
  const dy = ((g.y + 0.5) / h * 2 - 1) * (h / w)
  let nearest = Infinity, light = 0
  for (let i = 0; i < spheres.length; i++) {
    const s = spheres[i]
    const t = meet(dx, dy, s.center[0], s.center[1], s.center[2], s.radius)
    if (t < nearest) {
      nearest = t
      const nz = (t - s.center[2]) / s.radius
      light = s.shade * Math.max(0, -nz)
    }
  }
  image[g.y][g.x] = light
})

if (import.meta.main) {
  const dev = device()
  const image = dev.buffer(f32, [h, w])
  render.launch({ size: [w, h] }, dev.buffer(Sphere, scene), image)

  const want = []
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const dx = (x + 0.5) / w * 2 - 1, dy = ((y + 0.5) / h * 2 - 1) * (h / w)
      let nearest = Infinity, light = 0
      for (const { center: [cx, cy, cz], radius, shade } of scene) {
        const t = meet(dx, dy, cx, cy, cz, radius)
        if (t < nearest) [nearest, light] = [t, shade * Math.max(0, (cz - t) / radius)]
      }
      want.push(light)
    }
  }
  close('spheres', await image.read(), want, 1e-4)
}
