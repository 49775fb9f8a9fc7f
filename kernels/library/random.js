// Random numbers by Philox 4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. They are functions of
// a seed, a stream and an index, so that items share no state. These functions also run on the host.

export function philox(c0, c1, c2, c3, k0, k1) {
  let a = c0 >>> 0, b = c1 >>> 0, c = c2 >>> 0, d = c3 >>> 0, x = k0 >>> 0, y = k1 >>> 0
  for (let round = 0; round < 10; round++) {
    const highA = upper(0xd2511f53, a), lowA = Math.imul(0xd2511f53, a) >>> 0
    const highC = upper(0xcd9e8d57, c), lowC = Math.imul(0xcd9e8d57, c) >>> 0
    a = (highC ^ b ^ x) >>> 0
    b = lowC
    c = (highA ^ d ^ y) >>> 0
    d = lowA
    x = (x + 0x9e3779b9) >>> 0
    y = (y + 0xbb67ae85) >>> 0
  }
  return [a, b, c, d]
}

export function randomBits(seed, stream, index) {
  return philox(index, 0, stream, 0, seed, 0)[0]
}

export function random(seed, stream, index) {
  return (randomBits(seed, stream, index) >>> 8) * 5.9604644775390625e-8
}

// Box and Muller, "A note on the generation of random normal deviates", 1958.
export function randomNormal(seed, stream, index) {
  const [a, b] = philox(index, 0, stream, 0, seed, 0)
  const radius = Math.sqrt(-2 * Math.log(((a >>> 8) + 1) * 5.9604644775390625e-8))
  return radius * Math.cos(6.283185307179586 * ((b >>> 8) * 5.9604644775390625e-8))
}

// upper returns the upper 32 bits of a product of two u32.
function upper(a, b) {
  const low = (a & 0xffff) >>> 0, high = a >>> 16, below = (b & 0xffff) >>> 0, above = b >>> 16
  const first = Math.imul(high, below) >>> 0
  const carry = ((Math.imul(low, below) >>> 16) + (first & 0xffff) + (Math.imul(low, above) & 0xffff)) >>> 16
  return (Math.imul(high, above) + (first >>> 16) + (Math.imul(low, above) >>> 16) + carry) >>> 0
}
