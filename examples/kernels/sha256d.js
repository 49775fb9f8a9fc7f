// Double SHA-256 of the header of Bitcoin's first block, a nonce for each work-item: which of them hash below the target?
// The operators & | ^ ~ and << of u32 are i32, as in JavaScript; u32() makes them u32 again and changes no bit.
import { device, kernel, u32 } from 'offload'
import { equal } from './check.js'

const K = Uint32Array.of(
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2)
const H = Uint32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19)

/** @type {(x: number, n: number) => number} */
const rotr = (x, n) => u32((x >>> n) | (x << (32 - n)))
/** @type {(x: number) => number} */
const swap = x => u32((x << 24) | ((x & 0xff00) << 8) | ((x >>> 8) & 0xff00) | (x >>> 24))

/** @type {(hash: import('offload').KernelArray, w: import('offload').KernelArray) => void} */
const compress = (hash, w) => {
  let a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5], g = hash[6], h = hash[7]
  for (let i = 0; i < 64; i++) {
    if (i >= 16) {
      const x = w[(i + 1) & 15], y = w[(i + 14) & 15]
      const s0 = u32(rotr(x, 7) ^ rotr(x, 18) ^ (x >>> 3))
      const s1 = u32(rotr(y, 17) ^ rotr(y, 19) ^ (y >>> 10))
      w[i & 15] = u32(w[i & 15] + s0 + w[(i + 9) & 15] + s1)
    }
    const S1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)
    const ch = (e & f) ^ (~e & g)
    const t1 = u32(h + S1 + ch + K[i] + w[i & 15])
    const S0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)
    const mj = (a & b) ^ (a & c) ^ (b & c)
    const t2 = u32(S0 + mj)
    h = g; g = f; f = e; e = u32(d + t1)
    d = c; c = b; b = a; a = u32(t1 + t2)
  }
  hash[0] += a; hash[1] += b; hash[2] += c; hash[3] += d; hash[4] += e; hash[5] += f; hash[6] += g; hash[7] += h
}

export const search = kernel((g, header, first, digests) => {
  const w = g.private(u32, 16), hash = g.private(u32, 8)
  // The header is 80 bytes: a block, and a quarter of the next one, in which the nonce stands last.
  for (let i = 0; i < 8; i++) hash[i] = H[i]
  for (let i = 0; i < 16; i++) w[i] = swap(header[i])
  compress(hash, w)
  for (let i = 0; i < 16; i++) w[i] = 0
  for (let i = 0; i < 3; i++) w[i] = swap(header[16 + i])
  w[3] = swap(u32(first + g.x)); w[4] = 0x80000000; w[15] = 640
  compress(hash, w)
  // The digest of the digest.
  for (let i = 0; i < 16; i++) w[i] = 0
  for (let i = 0; i < 8; i++) { w[i] = hash[i]; hash[i] = H[i] }
  w[8] = 0x80000000; w[15] = 256
  compress(hash, w)
  for (let i = 0; i < 8; i++) digests[g.x][i] = swap(hash[7 - i]) // written backwards, as block hashes are
})

if (import.meta.main) {
  // The header's words: version, previous block, Merkle root, time (2009-01-03 18:15:05), target; without the nonce.
  const root = '3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a'
  const header = new Uint32Array(19)
  header[0] = 1
  for (let i = 0; i < 8; i++) {
    const bytes = [0, 1, 2, 3].map(k => parseInt(root.slice(8 * i + 2 * k, 8 * i + 2 * k + 2), 16))
    header[9 + i] = bytes[0] + 256 * (bytes[1] + 256 * (bytes[2] + 256 * bytes[3]))
  }
  header[17] = 1231006505
  header[18] = 0x1d00ffff

  const dev = device()
  const n = 2048, first = 2083236893 - 1000
  const digests = dev.buffer(u32, [n, 8])
  search.launch({ size: n }, dev.buffer(header), first, digests)
  const words = await digests.read()
  const found = []
  for (let i = 0; i < n; i++) {
    if (words[8 * i] === 0 && words[8 * i + 1] < 0xffff0000) found.push(i)
  }
  equal('nonces', found, [1000])
  const hex = [...words.slice(8000, 8008)].map(x => x.toString(16).padStart(8, '0')).join('')
  equal('hash of the block', [hex], ['000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'])
}
