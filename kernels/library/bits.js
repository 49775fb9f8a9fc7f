// Bit operations, on u32 unless noted. Those that do not convert floats also run on the host.

export function rotateLeft(x, n) {
  return ((x << n) | (x >>> (-n & 31))) >>> 0
}

export function rotateRight(x, n) {
  return ((x >>> n) | (x << (-n & 31))) >>> 0
}

export function swapBytes(x) {
  const pairs = ((x >>> 8) & 0x00ff00ff) | ((x & 0x00ff00ff) << 8)
  return ((pairs >>> 16) | (pairs << 16)) >>> 0
}

export function reverseBits(x) {
  let r = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1)
  r = ((r >>> 2) & 0x33333333) | ((r & 0x33333333) << 2)
  r = ((r >>> 4) & 0x0f0f0f0f) | ((r & 0x0f0f0f0f) << 4)
  return swapBytes(r)
}

export function parity(x) {
  let p = x ^ (x >>> 16)
  p ^= p >>> 8
  p ^= p >>> 4
  return (0x6996 >>> (p & 15)) & 1
}

// interleave puts the lower 16 bits of x in the even bits and those of y in the odd bits, which is a Morton code.
export function interleave(x, y) {
  return (spread(x) | (spread(y) << 1)) >>> 0
}

export function deinterleave(code) {
  return [gather(code), gather(code >>> 1)]
}

function spread(x) {
  let r = x & 0xffff
  r = (r | (r << 8)) & 0x00ff00ff
  r = (r | (r << 4)) & 0x0f0f0f0f
  r = (r | (r << 2)) & 0x33333333
  return (r | (r << 1)) & 0x55555555
}

function gather(x) {
  let r = x & 0x55555555
  r = (r | (r >>> 1)) & 0x33333333
  r = (r | (r >>> 2)) & 0x0f0f0f0f
  r = (r | (r >>> 4)) & 0x00ff00ff
  return (r | (r >>> 8)) & 0xffff
}

// nextPowerOfTwo takes numbers from 1 to 2³¹.
export function nextPowerOfTwo(x) {
  return (1 << (32 - Math.clz32(x - 1))) >>> 0
}

// halfBits rounds a float to f16 and returns its representation; halfFrom is its inverse.
export function halfBits(x) {
  const b = bits(f32(f16(x))), sign = (b >>> 16) & 0x8000, exponent = (b >>> 23) & 255, fraction = b & 0x7fffff
  if (exponent === 255) return fraction !== 0 ? 0x7e00 : sign | 0x7c00
  if (exponent > 112) return sign | ((exponent - 112) << 10) | (fraction >>> 13)
  if (exponent > 102) return sign | ((fraction | 0x800000) >>> (126 - exponent))
  return sign
}

export function halfFrom(half) {
  const exponent = (half >>> 10) & 31, fraction = half & 1023
  if (exponent === 0) {
    const small = f32(fraction) * 5.9604644775390625e-8
    return (half & 0x8000) !== 0 ? -small : small
  }
  const scaled = exponent === 31 ? 255 : exponent + 112
  return fromBits(f32, u32(((half & 0x8000) << 16) | (scaled << 23) | (fraction << 13)))
}

export function bfloatBits(x) {
  return bits(f32(bf16(x))) >>> 16
}

export function bfloatFrom(half) {
  return fromBits(f32, u32(half << 16))
}
