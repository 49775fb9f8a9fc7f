// SHA-256 of many short messages, one message of at most 55 bytes for each work-item.
import { device, kernel, u32, u8 } from 'offload'
import { equal } from './check.js'

/** @param {number} n */
const isPrime = n => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false
  return true
}
const primes = []
for (let n = 2; primes.length < 64; n++) if (isPrime(n)) primes.push(n)
// The first 32 bits of the fractions of square and cube roots, computed exactly with BigInt.
/** @type {(p: number, k: number) => number} */
const root = (p, k) => {
  const scaled = BigInt(p) << BigInt(32 * k)
  let x = 1n << 40n
  for (;;) {
    const y = k === 2 ? (x + scaled / x) / 2n : (2n * x + scaled / (x * x)) / 3n
    if (y >= x) return Number(x & 0xffffffffn)
    x = y
  }
}
const K = Uint32Array.from(primes, p => root(p, 3))
const H = Uint32Array.from(primes.slice(0, 8), p => root(p, 2))

/** @type {(x: number, n: number) => number} */
const rotr = (x, n) => (x >>> n) | (x << (32 - n))

export const sha256 = kernel((g, text, length, digest) => {
  const w = g.private(u32, 64)
  const n = length[g.x]
  for (let i = 0; i < n; i++) w[i >> 2] |= text[g.x][i] << (24 - (i & 3) * 8)
  w[n >> 2] |= 0x80 << (24 - (n & 3) * 8)
  w[15] = n * 8
  for (let i = 16; i < 64; i++) {
    const s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >>> 3)
    const s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >>> 10)
    w[i] = w[i - 16] + s0 + w[i - 7] + s1
  }
  let a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], h = H[6], k = H[7]
  for (let i = 0; i < 64; i++) {
    const s1 = rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)
    const t1 = k + s1 + ((e & f) ^ (~e & h)) + K[i] + w[i]
    const s0 = rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c))
    k = h; h = f; f = e; e = d + t1
    d = c; c = b; b = a; a = t1 + t2
  }
  digest[g.x][0] = H[0] + a
  digest[g.x][1] = H[1] + b
  digest[g.x][2] = H[2] + c
  digest[g.x][3] = H[3] + d
  digest[g.x][4] = H[4] + e
  digest[g.x][5] = H[5] + f
  digest[g.x][6] = H[6] + h
  digest[g.x][7] = H[7] + k
})

if (import.meta.main) {
  // Digests published in FIPS 180-4 and its examples.
  const known = {
    '': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    abc: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    'The quick brown fox jumps over the lazy dog': 'd7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592',
  }
  const messages = Object.keys(known).map(m => new TextEncoder().encode(m))
  const bytes = new Uint8Array(messages.length * 55)
  messages.forEach((m, i) => {
    if (m.length > 55) throw new RangeError(`message ${i} has ${m.length} bytes, more than 55`)
    bytes.set(m, i * 55)
  })
  const dev = device()
  const digest = dev.buffer(u32, [messages.length, 8])
  sha256.launch({ size: messages.length }, dev.buffer(bytes, { shape: [messages.length, 55] }),
    dev.buffer(Int32Array.from(messages, m => m.length)), digest)
  const words = await digest.read()
  const hex = messages.map((_, i) => [...words.slice(8 * i, 8 * i + 8)].map(x => x.toString(16).padStart(8, '0')).join(''))
  equal('sha256', hex, Object.values(known))
}
