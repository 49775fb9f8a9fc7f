// Philox 4x32-10, the counter-based random generator of Salmon et al. (2011).
import { device, kernel, u32 } from 'offload'
import { equal } from './check.js'

export const philox = kernel((g, counter, key, out) => {
  let c0 = counter[g.x][0], c1 = counter[g.x][1], c2 = counter[g.x][2], c3 = counter[g.x][3]
  let k0 = key[g.x][0], k1 = key[g.x][1]
  for (let round = 0; round < 10; round++) {
    const h0 = Math.mulhi(u32(0xd2511f53), c0), l0 = u32(0xd2511f53) * c0
    const h1 = Math.mulhi(u32(0xcd9e8d57), c2), l1 = u32(0xcd9e8d57) * c2
    c0 = (h1 ^ c1 ^ k0) >>> 0
    c1 = l1
    c2 = (h0 ^ c3 ^ k1) >>> 0
    c3 = l0
    k0 += 0x9e3779b9
    k1 += 0xbb67ae85
  }
  out[g.x][0] = c0
  out[g.x][1] = c1
  out[g.x][2] = c2
  out[g.x][3] = c3
})

if (import.meta.main) {
  // The known answers published with Random123.
  const counters = [0, 0, 0, 0, ...Array(4).fill(0xffffffff), 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344]
  const keys = [0, 0, 0xffffffff, 0xffffffff, 0xa4093822, 0x299f31d0]
  const answers = [
    0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8,
    0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
    0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1,
  ]
  const dev = device()
  const out = dev.buffer(u32, { shape: [3, 4] })
  philox.launch({ size: 3 }, dev.buffer(Uint32Array.from(counters), { shape: [3, 4] }),
    dev.buffer(Uint32Array.from(keys), { shape: [3, 2] }), out)
  equal('philox', await out.read(), answers)
}
