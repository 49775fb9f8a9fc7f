// [11.1] integers wrap
//# x: i32 = 2147483647
//# y: i32[4] -> -2147483648 -2 2147483647 1
(g, x, y) => { y[0] = x[0] + 1; y[1] = x[0] * 2; let v = x[0] + 1; v--; y[2] = v; y[3] = -(x[0] + 1) - 2147483647 }
---
// [11.3] shifts to the right
//# x: i32 = -8
//# n: u64 = 18446744073709551608
//# y: i32[1] -> -2
//# z: u64[1] -> 4611686018427387902
(g, x, n, y, z) => { y[0] = x[0] >> 2; z[0] = u64(18446744073709551608n) >> 2 }
---
// [11.5] counts modulo the width
//# x: i32 = 1
//# l: i64 = 1 -> 1
//# y: i32[1] -> 2
//# z: i64[1] -> 8589934592
(g, x, l, y, z) => { y[0] = x[0] << 33; z[0] = l[0] << 33 }
---
// [12.1] real division
//# x: i32 = 7
//# y: f32[1] -> 3.5
(g, x, y) => { y[0] = x[0] / 2 }
---
// [12.2] without a float between
//# x: i32 = 2147483647
//# y: i32[3] -> 2147483647 -1073741823 715827882
//# ir: div, not convert
(g, x, y) => { y[0] = (x[0] / (g.x + 1)) | 0; y[1] = Math.trunc(x[0] / (g.x - 2)); y[2] = ~~(x[0] / (g.x + 3)) }
---
// [11.7] of i32 and u32 the mathematical values
//# u: u32 = 5 4294967295
//# x: i32 = -2 2
//# y: i32[5] -> -2 2147483647 -1 1 -2
//# z: u32[3] -> 4294967295 2147483647 1
(g, u, x, y, z) => {
  y[0] = (u[0] / x[0]) | 0; y[1] = (u[1] / x[1]) | 0; y[2] = Math.floor(x[0] / u[0]); y[3] = u[0] % x[0]; y[4] = Math.min(u[1], x[0])
  z[0] = Math.max(u[1], x[0]); z[1] = (u[1] / x[1]) >>> 0; z[2] = x[0] < u[0] ? 1 : 0
}
---
// [12.3] rounded down
//# x: i32 = -7
//# y: i32[2] -> -4 -3
(g, x, y) => { y[0] = Math.floor(x[0] / (g.x + 2)); y[1] = Math.trunc(x[0] / (g.x + 2)) }
---
// [12.3] rounded up, by any divisor, without a float between
//# x: i32 = -7 7 16777217 -2147483648 8
//# u: u32 = 4294967295 16
//# y: i32[6] -> -3 4 65537 -2147483648 -3 2
//# z: u32[2] -> 2147483648 268435456
//# ir: div, not convert, not ceil
(g, x, y, u, z) => {
  y[0] = Math.ceil(x[0] / (g.x + 2)); y[1] = Math.ceil(x[1] / (g.x + 2)); y[2] = Math.ceil(x[2] / 256)
  y[3] = Math.ceil(x[3] / (g.x - 1)); y[4] = Math.ceil(x[1] / (g.x - 2)); y[5] = Math.ceil(x[4] / (g.x + 4))
  z[0] = Math.ceil(u[0] / 2); z[1] = Math.ceil(u[0] / u[1])
}
---
// [12.3] of mixed signs, in the dividend's type
//# x: i32 = -7
//# u: u32 = 7 4294967295
//# y: i32[2] -> -1 0
//# z: u32[1] -> 4294967293
(g, x, y, u, z) => { y[0] = Math.ceil(x[0] / u[0]); y[1] = Math.ceil(x[0] / u[1]); z[0] = Math.ceil(u[0] / (g.x - 2)) }
---
// [12.5] rounded up
//# x: i32 = 3
//# y: i32[1]
//# fault: division-by-zero 1:23
(g, x, y) => { y[0] = Math.ceil(x[0] / g.x) }
---
// [12.4] the dividend's sign
//# x: i32 = -7 7 -2147483648
//# y: i32[4] -> -1 1 0 -2147483648
(g, x, y) => { y[0] = x[0] % 3; y[1] = x[1] % -3; y[2] = x[2] % (g.x - 1); y[3] = (x[2] / (g.x - 1)) | 0 }
---
// [12.5] by zero
//# x: i32 = 3
//# y: i32[1]
//# fault: division-by-zero 1:23
(g, x, y) => { y[0] = x[0] % g.x }
---
// [12.5] a quotient
//# x: i32 = 3
//# y: i32[1]
//# fault: division-by-zero 1:24
(g, x, y) => { y[0] = (x[0] / g.x) | 0 }
---
// [12.2] the other ways to write it
//# x: i32 = 2147483647 -2147483648
//# u: u32[1] -> 2147483648
//# y: i32[5] -> 715827882 715827882 715827882 715827882 -1073741824
//# ir: div, not convert
(g, x, y, u) => {
  y[0] = (x[0] / (g.x + 3)) >> 0; y[1] = i32(x[0] / (g.x + 3)); y[2] = u32(x[0] / (g.x + 3)); y[3] = (x[0] / (g.x + 3)) >>> 0; y[4] = x[1] / (g.x + 2) | 0
  u[0] = (x[1] / (g.x + 1)) >>> 0
}
---
// [12.6] rounded up by zero with checks off
//# options: checks=off
//# x: i32 = 3
//# u: u32 = 3
//# y: i32[2] -> 0 0
(g, x, u, y) => { y[0] = Math.ceil(x[0] / g.x); y[1] = Math.ceil(u[0] / g.x) }
---
// [12.6] by zero with checks off
//# options: checks=off
//# x: i32 = 3
//# y: i32 = 9 9 -> 0 0
(g, x, y) => { y[0] = x[0] % g.x; y[1] = (x[0] / g.x) | 0 }
---
// [12.7] exact
//# x: f32 = 1e30
//# y: f32[2] -> 1 -1
(g, x, y) => { y[0] = x[0] % 7; y[1] = -x[0] % 7 }
---
// [12.8] 64-bit integers
//# l: i64 = -7
//# z: i64[1] -> -3
(g, l, z) => { z[0] = l[0] / 2n }
---
// [12.9] a constant zero
//# y: i32[1]
//# error: division-by-zero 1:20
(g, y) => { y[0] = y[0] % 0 }
---
// [13.1] in its own type
//# x: f32 = 16777216
//# y: f32[1] -> 16777215
(g, x, y) => { const a = x[0] + 1; y[0] = a + 1 - 1 + 1 - 1 }
---
// [13.2] subnormal numbers
//# x: f32 = 1e-38
//# y: f32[1] -> 1e-40
//# options: contract=false
(g, x, y) => { y[0] = x[0] / 100 }
---
// [13.3] correctly rounded
//# x: f32 = 2 1
//# y: f32[2] -> 1.4142135 0.33333334
(g, x, y) => { y[0] = Math.sqrt(x[0]); y[1] = x[1] / 3 }
---
// [14.1] the left product
//# x: f32 = 1.0000001 -1.0000002
//# y: f32[1] -> 1.4210855e-14
//# ir: fma, not mul
(g, x, y) => { y[0] = (x[0] * x[0]) + x[1] }
---
// [14.2] the right product
//# x: f32 = 1.0000001 1.0000002
//# y: f32[2] -> -1.4210855e-14 1.0000001
//# ir: fma, not mul
(g, x, y) => { y[0] = x[1] - x[0] * x[0]; y[1] += x[0] * 1 }
---
// [14.2] of += and −=
//# x: f32 = 1.0000001
//# y: f32 = -1.0000002 1.0000002 -> 1.4210855e-14 -1.4210855e-14
//# ir: fma, not mul
(g, x, y) => { y[0] += x[0] * x[0]; y[1] -= x[0] * x[0] }
---
// [14.1] of two products the left one
//# x: f32 = 1.0000001 -1.0000002
//# y: f32[2] -> 1.4210855e-14 0
(g, x, y) => { y[0] = x[0] * x[0] + x[1] * 1; y[1] = x[1] * 1 + f32(x[0] * x[0]) }
---
// [14.3] not through ?: or a call
//# x: f32 = 1.0000001 -1.0000002
//# y: f32[2] -> 0 0
//# ir: mul, not fma
(g, x, y) => { const sq = (v) => v * v; y[0] = (g.x < 1 ? x[0] * x[0] : 3) + x[1]; y[1] = sq(x[0]) + x[1] }
---
// [14.3] not through a name
//# x: f32 = 1.0000001 -1.0000002
//# y: f32[1] -> 0
//# ir: mul, not fma
(g, x, y) => { const p = x[0] * x[0]; y[0] = p + x[1] }
---
// [14.3] not through a conversion or a unary minus
//# x: f32 = 1.0000001 1.0000002
//# y: f32[2] -> 0 0
//# ir: mul, not fma
(g, x, y) => { y[0] = f32(x[0] * x[0]) - x[1]; y[1] = -(x[0] * x[0]) + x[1] }
---
// [14.3] not where the types differ
//# x: f32 = 1.0000001
//# z: f64 = 1
//# y: f64[1] -> 2.0000002384185791
//# ir: mul, not fma
(g, x, z, y) => { y[0] = x[0] * x[0] + z[0] }
---
// [14.4] contract: false
//# options: contract=false
//# x: f32 = 1.0000001 -1.0000002
//# y: f32[1] -> 0
//# ir: mul, not fma
(g, x, y) => { y[0] = x[0] * x[0] + x[1] }
---
// [15.1] one NaN
//# x: f32 = 0
//# y: u32[2] -> 0x7fc00000 0x7fc00000
//# z: u64[1] -> 0x7ff8000000000000
(g, x, y, z) => { y[0] = bits(x[0] / x[0]); y[1] = bits(f32(NaN)); z[0] = bits(f64(x[0] / x[0])) }
---
// [15.2] NaN
//# x: f32 = 0
//# y: i32[4] -> 2 0 1 0
(g, x, y) => { const n = x[0] / x[0]; y[0] = n ? 1 : 2; y[1] = n === n ? 1 : 0; y[2] = n !== n ? 1 : 0; y[3] = n < 1 ? 1 : 0 }
---
// [15.3] min and max
//# x: f32 = nan 1 -0 0
//# y: f32[4] -> nan nan -0 0
(g, x, y) => { y[0] = Math.min(x[0], x[1]); y[1] = Math.max(x[1], x[0]); y[2] = Math.min(x[3], x[2]); y[3] = Math.max(x[2], x[3]) }
---
// [15.4] round
//# x: f32 = 0.5 -0.5 2.5 -2.5 0.49999997
//# size: 5
//# y: f32[5] -> 1 -0 3 -2 0
(g, x, y) => { y[g.x] = Math.round(x[g.x]) }
---
// [15.5] powers
//# x: f32 = 3
//# y: f32[2] -> 9 27
//# ir: mul, math
(g, x, y) => { y[0] = x[0] ** 2; y[1] = x[0] ** 3 }
---
// [15.5] squares of 64-bit integers
//# l: i64 = -3000000000
//# z: i64[2] -> 9000000000000000000 9000000000000000000
(g, l, z) => { z[0] = l[0] ** 2n; z[1] = l[0] ** 2 }
---
// [15.5] but no other power of them
//# l: i64 = 3
//# error: bad-operand 1:20
(g, l) => { l[0] = l[0] ** 3n }
---
// [15.6] integers have no −0
//# x: i32 = 0
//# y: f32[1] -> 0
(g, x, y) => { y[0] = -x[0] }
---
// [16.3] more functions
//# x: f32 = 8 0.25
//# y: f32[7] -> 7 0.5 2 0.5 32 3 4
(g, x, y) => {
  y[0] = Math.fma(x[0], 1, -1); y[1] = Math.mix(x[1], 0.75, 0.5); y[2] = Math.clamp(x[0], 1, 2); y[3] = Math.rsqrt(x[0] / 2)
  y[4] = Math.ldexp(x[0], 2); y[5] = Math.log2(x[0]); const [f, e] = Math.frexp(x[0]); y[6] = f * e * 2
}
---
// [16.3] Math.random
//# y: f32[1]
//# error: unknown-math-function 1:25
(g, y) => { y[0] = Math.random() }
---
// [16.4] the type of a function
//# x: i32 = 4
//# y: f32[2] -> 2 4
(g, x, y) => { y[0] = Math.sqrt(x[0]); y[1] = Math.floor(x[0]) }
---
// [17.1] == is ===
//# x: i32 = 1
//# y: i32[2] -> 1 1
(g, x, y) => { y[0] = x[0] == 1 ? 1 : 0; y[1] = (x[0] != 1) === (x[0] !== 1) ? 1 : 0 }
---
// [17.2] comparisons by value
//# u: u32 = 4294967295
//# x: i32 = -1
//# z: f32 = 0.1
//# y: i32[4] -> 0 1 1 0
(g, u, x, z, y) => { y[0] = u[0] === x[0] ? 1 : 0; y[1] = x[0] < u[0] ? 1 : 0; y[2] = z[0] === 0.1 ? 1 : 0; y[3] = z[0] === f64(0.1) ? 1 : 0 }
---
// [17.3] the side that is not taken
//# x: i32 = 5
//# y: i32[3] -> 7 0 1
(g, x, y) => { y[0] = g.x === 0 ? 7 : x[g.x + 9]; y[1] = g.x > 0 && x[g.x + 9] > 0 ? 1 : 0; y[2] = g.x === 0 || x[1 / 1 + g.x + 9 | 0] > 0 ? 1 : 0 }
---
// [17.4] from left to right
//# y: i32 = 1 2 0 0 -> 11 2 3 5
(g, y) => { let a = 1; const f = () => { a += 1; return 10 }; y[0] = a + f(); y[2] = a + (a = 1); a = 2; y[3] = a; a += (a = 3); y[3] = a }
---
// [17.5] switch
//# x: f32 = 1 2 3 nan
//# size: 4
//# y: i32[4] -> 12 2 100 100
(g, x, y) => { switch (x[g.x]) { case 1: y[g.x] += 10; case 2: y[g.x] += 2; break; case NaN: y[g.x] = -1; break; default: y[g.x] = 100 } }
---
// [18.1] read before written
//# y: i32[1]
//# error: read-before-written 1:27
(g, y) => { let v; y[0] = v }
---
// [18.2] written on some ways only
//# size: 2
//# y: i32[2] -> 0 5
(g, y) => { let v; if (g.x > 0) v = 5; y[g.x] = v }
---
// [18.3] private arrays are zero in each iteration
//# y: i32[1] -> 3
(g, y) => { for (let i = 0; i < 3; i++) { const a = g.private(i32, 2); a[i & 1]++; y[0] += a[0] + a[1] } }
---
// [8.2] functions of literals are computed as JavaScript computes them
//# y: f32[14] -> 3 -2 2 -2 3 -1 2.5 -1 2 -7 5 2 -0 1.5
(g, y) => {
  y[0] = Math.ceil(2.25); y[1] = Math.floor(-1.5); y[2] = Math.trunc(2.75); y[3] = Math.ceil(-2.5); y[4] = Math.round(2.5); y[5] = Math.round(-1.5)
  y[6] = Math.abs(-2.5); y[7] = Math.sign(-3); y[8] = Math.sqrt(4); y[9] = Math.min(3, -7); y[10] = Math.max(5, -7); y[11] = Math.clamp(9, 1, 2)
  y[12] = Math.round(-0.25); y[13] = Math.fround(1.5)
}
---
// [8.2] operators on literals
//# y: f64[14] -> 8 -2 15 0.6 3 243 2 7 5 20 -3 2147483647 -6 1
(g, y) => {
  y[0] = 3 + 5; y[1] = 3 - 5; y[2] = 3 * 5; y[3] = 3 / 5; y[4] = 3 % 5; y[5] = 3 ** 5; y[6] = 3 & 6; y[7] = 3 | 6; y[8] = 3 ^ 6
  y[9] = 5 << 2; y[10] = -5 >> 1; y[11] = -1 >>> 1; y[12] = ~5; y[13] = !0 && 5 > 3 && 3 < 5 && 3 <= 3 && 5 >= 5 && 3 !== 5 && 3 === 3 ? 1 : 0
}
---
// [8.2] BigInts
//# z: i64[12] -> 8 -2 15 -2 -1 81 2 7 5 20 -3 -6
(g, z) => {
  z[0] = 3n + 5n; z[1] = 3n - 5n; z[2] = 3n * 5n; z[3] = -7n / 3n; z[4] = -7n % 3n; z[5] = 3n ** 4n; z[6] = 3n & 6n; z[7] = 3n | 6n; z[8] = 3n ^ 6n
  z[9] = 5n << 2n; z[10] = -5n >> 1n; z[11] = ~5n
}
---
// [12.10] quotients of mixed signs: by their value in i32(), u32() and i64(), in the dividend's type by Math.trunc
//# a: u32 = 4294967290
//# b: i32 = -2
//# z: i32[3] -> -2147483645 -2147483645 -2147483645
//# w: u32[3] -> 2147483651 2147483651 2147483650
//# v: i64[2] -> -2147483645 2147483651
(g, a, b, z, w, v) => {
  const u = a[0], i = b[0]
  z[0] = i32(u / i)
  z[1] = (u / i) | 0
  z[2] = Math.trunc(u / i)
  w[0] = u32(u / i)
  w[1] = (u / i) >>> 0
  w[2] = Math.floor((u + 1) / i)
  v[0] = i64(u / i)
  v[1] = i64(Math.trunc(u / i))
}
