// [4.2] small integers
//# a: i8 = -1 127 -128
//# b: u8 = 255 128 0
//# size: 3
//# y: i16[3] -> 254 255 -128
//# z: i8[3] -> -2 -1 -128
(g, a, b, y, z) => { y[g.x] = a[g.x] + b[g.x]; z[g.x] = a[g.x] + b[g.x] }
---
// [4.3] bool
//# x: f32 = 0 -0 nan 0.5
//# size: 4
//# y: bool[4] -> 0 0 0 1
//# z: u8[4] -> 1 1 1 2
(g, x, y, z) => { y[g.x] = x[g.x]; z[g.x] = y[g.x] + 1 }
---
// [4.4] f16 and bf16
//# x: f32 = 1.00048828125 1.00146484375 65519 65520
//# size: 4
//# y: f16[4] -> 1 1.001953125 65504 inf
//# z: bf16[4] -> 1 1 65536 65536
//# w: f32[4] -> 1 1.001953125 65504 inf
(g, x, y, z, w) => { y[g.x] = x[g.x]; z[g.x] = x[g.x]; w[g.x] = y[g.x] }
---
// [4.4] f16 and bf16 of f64 and integers, rounded once
//# x: f64 = 1.00048828125090949470177292823792 65519.99999904632568359375 1.00390625000090949470177292823792
//# n: i32 = 1077936129 -1077936129 16777217
//# size: 3
//# y: f16[3] -> 1.0009765625 65504 1.00390625
//# z: bf16[3] -> 1 65536 1.0078125
//# w: bf16[3] -> 1082130432 -1082130432 16777216
//# v: bf16[1] -> 1.0078125
(g, x, n, y, z, w, v) => { y[g.x] = x[g.x]; z[g.x] = x[g.x]; w[g.x] = n[g.x]; v[0] = 1.00390625000090949470177292823792 }
---
// [4.1] there is no value of type i8
//# y: i8[1]
//# error: bad-conversion 1:23
(g, y) => { y[0] = i8(3) }
---
// [5.2] a name refers to the element
//# ps: Particle[2]
//# y: f32[2] -> 5 9
(g, ps, y) => { const p = ps[1]; p.x = 5; p.v[2] = 9; y[0] = ps[1].x; y[1] = ps[1].v[2] }
---
// [5.3] a copy
//# ps: Particle[2]
//# y: f32[3] -> 1 7 11
(g, ps, y) => { const q = {...ps[1]}; q.x = 7; y[0] = ps[1].x; y[1] = q.x; const r = {...ps[1], x: 3}; y[2] = r.v[1] }
---
// [5.4] all fields, read before any is written
//# ps: Particle[2]
//# y: f32[3] -> 1 21 0
//# z: u32[2] -> 1 0
(g, ps, y, z) => { const a = {...ps[0]}; ps[0] = ps[1]; ps[1] = a; y[0] = ps[0].x; y[1] = ps[0].v[2]; y[2] = ps[1].x; z[0] = ps[0].id; z[1] = ps[1].id }
---
// [5.4] fields that swap
//# ps: Particle[1]
//# y: f32[2] -> 10 0
(g, ps, y) => { const p = ps[0]; ps[0] = {x: p.v[1], v: [p.x, p.x, 1], id: 4}; y[0] = ps[0].x; y[1] = ps[0].v[0] }
---
// [5.5] a field is missing
//# ps: Particle[1]
//# error: field-missing 1:22
(g, ps) => { ps[0] = {x: 1} }
---
// [5.5] a field too many
//# ps: Particle[1]
//# error: unknown-field 1:22
(g, ps) => { ps[0] = {x: 1, v: [1, 2, 3], id: 1, w: 2} }
---
// [5.6] taken apart
//# ps: Particle[3]
//# y: f32[1] -> 4
(g, ps, y) => { const {x, id} = ps[2]; y[0] = x + id }
---
// [5.1] in shared and private arrays
//# y: f32[2] -> 3 4
//# group: 1
(g, y) => { const s = g.shared(Particle, 2), p = g.private(Particle, 2); s[1].x = 3; p[1].v[0] = 4; y[0] = s[1].x; y[1] = p[1].v[0] }
---
// [6.1] row-major
//# m: i32[2,3] = 1 2 3 4 5 6
//# size: 3,2
//# y: i32[6] -> 1 2 3 4 5 6
(g, m, y) => { y[g.y * 3 + g.x] = m[g.y][g.x] }
---
// [6.1] three dimensions
//# m: i32[2,2,2] = 1 2 3 4 5 6 7 8
//# y: i32[1] -> 7
(g, m, y) => { y[0] = m[1][1][0] }
---
// [6.2] a row
//# m: i32[2,3] = 1 2 3 4 5 6 -> 1 2 3 4 9 6
//# y: i32[1] -> 3
(g, m, y) => { const row = m[1]; row[1] = 9; y[0] = row.length }
---
// [6.3] length and shape
//# m: i32[2,3]
//# y: i32[3] -> 2 2 3
(g, m, y) => { const [h, w] = m.shape; y[0] = m.length; y[1] = h; y[2] = w }
---
// [6.4] flat
//# m: i32[2,3] = 1 2 3 4 5 6
//# y: i32[1] -> 5
//# z: i64[1] -> 6
(g, m, y, z) => { y[0] = m.flat[4]; z[0] = m.flat.length }
---
// [6.5] any integer type
//# x: i32 = 4 5 6
//# n: u64 = 2
//# y: i32[2] -> 6 5
(g, x, n, y) => { y[0] = x[n]; y[1] = x[n - 1] }
---
// [6.5] no bool
//# x: f32[2]
//# error: index-not-integer 1:15
(g, x) => { x[g.x > 0] = 1 }
---
// [6.3] they are i32
//# m: i32[2,3]
//# y: i32[3] -> 1 1 1
(g, m, y) => { y[0] = m.length - 3 < 0 ? 1 : 0; y[1] = m.shape[1] - 4 < 0 ? 1 : 0; y[2] = m[0].length - 4 < 0 ? 1 : 0 }
---
// [6.5] no float
//# x: f32[2]
//# error: index-not-integer 1:15
(g, x) => { x[x[0]] = 1 }
---
// [6.6] negative
//# x: f32[2]
//# error: index-out-of-bounds 1:15
(g, x) => { x[-1] = 1 }
---
// [6.6] outside of a constant extent
//# x: f32[2]
//# error: index-out-of-bounds 1:51
(g, x) => { const a = g.private(f32, 4); x[0] = a[4] }
---
// [7.1] by signature
//# n: f32 = 3
//# x: f32[1] -> 3.5
//# type: n f32 by signature
(g, n, x) => { x[0] = n + 0.5 }
---
// [7.3] an index
//# n = 1
//# x: i32 = 4 5
//# y: i32[1] -> 5
//# type: n i32 used as an index at 1:28
(g, n, x, y) => { y[0] = x[n] }
---
// [7.3] an expression over it
//# n = 1
//# x: i32 = 4 5
//# y: i32[1] -> 5
//# type: n i32 used as an index
(g, n, x, y) => { const k = n * 2 - 1; y[0] = x[k % 2] }
---
// [7.3] a shift
//# n = 3
//# y: f32[1] -> 8
//# type: n i32
(g, n, y) => { y[0] = 1 << n }
---
// [7.3] through ?:, min and a rounded quotient
//# n = 7
//# m = 2
//# x: i32 = 4 5 6 7
//# y: i32[2] -> 7 6
//# type: n i32 used as an index
//# type: m i32 used as an index
(g, n, m, x, y) => { y[0] = x[Math.floor(n / m)]; y[1] = x[g.x > 0 ? n : Math.min(m, n)] }
---
// [7.3] a conversion ends the expression: n is a fraction, and its integer part an index
//# n = 1.5
//# x: i32 = 4 5
//# y: f32[2] -> 5 4.5
//# type: n f32
(g, n, x, y) => { y[0] = x[i32(n)]; y[1] = n * 3.0 * x[0] / 4 }
---
// [7.4] stored in integer elements
//# n = 123456789
//# m = 16777217
//# y: i32[4] -> 123456789 123456789 16777217 16777217
//# type: n i32 stored in elements of i32 at 1:26
//# type: m i32 stored in elements of i32
(g, n, m, y) => { y[0] = n; const w = n; y[1] = w; y[g.x + 2] = g.x < 0 ? w : m; Atomics.max(y, 3, m) }
---
// [7.4] of 8 bits, a field of a record, an array of the group
//# n = 300
//# m = 123456789
//# k = 16777217
//# y: u8[1] -> 44
//# z: i32[1] -> 16777217
//# ps: Particle[1]
//# u: u32[1] -> 123456789
//# type: n i32
//# type: m i32
//# type: k i32
(g, n, m, k, y, z, ps, u) => {
  y[0] = n; ps[0].id = m; u[0] = ps[0].id
  const s = g.shared(i32, 1); s[0] = k
  g.barrier()
  z[0] = s[0]
}
---
// [7.4] through a loop's variable
//# n = 123456789
//# y: i32[3] -> 0 123456789 123456789
//# type: n i32 stored in elements of i32
(g, n, y) => { let v = 0; for (let i = 0; i < 3; i++) { y[i] = v; v = n } }
---
// [7.4] through a helper and g.uniform
//# n = 123456789
//# y: i32[2] -> 123456789 123456790
//# type: n i32 stored in elements of i32
(g, n, y) => { const f = (v) => { if (v < g.x) return 0; return v + 1 }; y[0] = g.uniform(n); y[1] = f(n) }
---
// [7.4] converted, or its quotient
//# n = 16777217
//# m = 123456789
//# k = 16777217
//# y: f64[1] -> 16777217
//# z: i32[2] -> 61728394 65537
//# type: n i32 converted by i32()
//# type: m i32
//# type: k i32
(g, n, m, k, y, z) => { y[0] = i32(n); z[0] = (m / 2) | 0; z[1] = Math.ceil(k / 256) }
---
// [7.4] beside a float it is none
//# n = 0.5
//# y: i32[2] -> 0 1
//# type: n f32 the kernel's real type
(g, n, y) => { y[0] = n; y[1] = n * 2.5 }
---
// [7.4] a store in float elements says nothing
//# n = 2
//# y: f32[1] -> 2
//# z: i32[1] -> 2
//# type: n i32 stored in elements of i32
(g, n, y, z) => { y[0] = n; z[0] = n }
---
// [7.4] compared with integers
//# n = 3
//# y: f32[1] -> 3
//# type: n i32 combined with integers only
(g, n, y) => { for (let i = 0; i < n; i++) y[0] += 1 }
---
// [7.4] a literal does not make it an integer
//# n = 3
//# y: f32[1] -> 4
//# type: n f32
(g, n, y) => { y[0] = n + 1 }
---
// [7.5] the real type
//# n = 0.5
//# y: f32[1] -> 0.5
//# type: n f32 no use needs an integer
(g, n, y) => { y[0] = n }
---
// [7.6] the text, not the value
//# n = 3
//# y: f32[1] -> 4.5
//# type: n f32
(g, n, y) => { y[0] = n * 1.5 }
---
// [7.8] BigInt and boolean
//# n: bigint = 5
//# b: boolean = 1
//# y: i64[1] -> 6
//# type: n i64
//# type: b bool
(g, n, b, y) => { if (b) y[0] = n + 1n }
---
// [8.1] the widest float
//# x: f64[1] -> 0.1
//# y: f32[1] -> 0.1
(g, x, y) => { const v = 1 / (g.x + 10); x[0] = v; y[0] = v }
---
// [8.1] f32 without another
//# y: i32[1] -> 1
(g, y) => { y[0] = 1 / (g.x + 10) === f32(0.1) ? 1 : 0 }
---
// [8.1] real: f64
//# options: real=f64
//# y: i32[1] -> 0
(g, y) => { y[0] = 1 / (g.x + 10) === f64(f32(0.1)) ? 1 : 0 }
---
// [8.2] literals are exact
//# x: f64[1] -> 0.30000000000000004
//# y: i32[1] -> -1
(g, x, y) => { x[0] = 0.1 + 0.2; y[0] = 4294967295 | 0 }
---
// [8.3] a literal takes the other's type
//# n: i64 = 4
//# x: f32 = 0.5
//# y: i64[1] -> 7
//# z: f32[1] -> 3.5
(g, n, x, y, z) => { y[0] = n + 3; z[0] = x[0] + 3 }
---
// [8.4] beside an i32
//# x: i32 = -1
//# y: f64[3] -> 1 0.5 9999999999
(g, x, y) => { y[0] = x[0] + 4294967295 + 3; y[1] = x[0] + 1.5; y[2] = x[0] + 1e10 }
---
// [8.5] 2 and 2.0
//# x: i32 = 7
//# y: i32[2] -> 3 14
(g, x, y) => { y[0] = (x[0] / 2.0) | 0; y[1] = x[0] * 2.0 }
---
// [9.1] a join
//# x: f32 = 0.5
//# y: f32[2] -> 0.5 1
(g, x, y) => { let v = true; y[1] = v; v = 3; v = x[0]; y[0] = v }
---
// [9.2] i32 and u32
//# u: u32 = 5
//# y: f64[1] -> 4294967295
(g, u, y) => { let v = u[0]; v = -1 - g.x; y[0] = v }
---
// [9.3] 64-bit integers do not join
//# n: i64 = 5
//# y: i32[1]
//# error: types-do-not-join 1:20
(g, n, y) => { let v = y[0]; v = n }
---
// [9.4] const
//# y: f64[1] -> -2147483648
(g, y) => { const a = g.x + 2147483647; y[0] = a + 1 }
---
// [9.5] the sides of ?:
//# x: f32 = 0.5
//# size: 2
//# y: f32[2] -> 1 0.5
(g, x, y) => { y[g.x] = g.x === 0 ? 1 : x[0] }
---
// [9.5] a constant that a constant condition chooses
//# let FAST = true
//# x: f32[1] = 0.5
//# k: i32[1] = 7
//# size: 4
//# y: f32[6] -> 28000000000 28000000000 7000000000 3000000000 14000000000 1
(g, x, k, y) => {
  if (g.x > 0) return
  y[0] = (FAST ? 7 : x[0]) * g.size.x * 1000000000
  y[1] = (7 || x[0]) * g.size.x * 1000000000
  y[2] = (FAST ? [k[0], 1] : [x[0], 2])[0] * 1000000000
  y[3] = (FAST ? {a: 3, b: 1} : {b: 2, a: x[0]}).a * 1000000000
  y[4] = (!FAST ? x[0] : k[0]) * 2 * 1000000000
  const a = g.private(f32, FAST ? 2 : k[0])
  a[1] = 1
  y[5] = a[1]
}
---
// [9.5] a constant that a constant condition chooses, of a type without a sign or with 64 bits
//# let FAST = true
//# u: u32[1] = 9
//# n: i64[3] = 5 6 2 -> 12 6 2
//# y: f64[2] -> 4294967293 64
(g, u, n, y) => {
  n[0] = (FAST ? 3 : n[1]) << n[2]
  y[0] = (FAST ? 7 : u[0]) - 10
  y[1] = Math.popcount(FAST ? -1 : n[1])
}
---
// [9.5] a side without a value
//# y: i32[1]
//# error: no-value 1:62
(g, y) => { const f = () => { y[0] = 1 }; y[0] = y[0] > 3 && f() }
---
// [9.5] sides that do not join
//# n: i64 = 5
//# y: i32[1]
//# error: types-do-not-join 1:23
(g, n, y) => { y[0] = g.x > 1 ? n : y[0] }
---
// [10.1] floats saturate
//# x: f64 = 1e10 -1e10 nan -2.9
//# size: 4
//# y: i32[4] -> 2147483647 -2147483648 0 -2
//# z: u32[4] -> 4294967295 0 0 0
(g, x, y, z) => { y[g.x] = i32(x[g.x]); z[g.x] = u32(x[g.x]) }
---
// [10.1] integers wrap
//# x: i32 = -1 -2147483648 5 2147483647
//# w: u64 = 18446744073709551615 4294967297 9223372036854775808 2147483648
//# size: 4
//# a: u32[4] -> 4294967295 2147483648 5 2147483647
//# b: u64[4] -> 18446744073709551615 18446744071562067968 5 2147483647
//# c: i32[4] -> -1 1 0 -2147483648
//# d: i64[4] -> -1 4294967297 -9223372036854775808 2147483648
//# e: i32[4] -> 1 0 1 1
(g, x, w, a, b, c, d, e) => {
  const i = g.x
  a[i] = u32(x[i]); b[i] = u64(x[i]); c[i] = i32(w[i]); d[i] = i64(w[i])
  e[i] = i32(x[i] !== -2147483648)
}
---
// [10.1] what | & and ^ make of u32 is i32, and u32() gives it back
//# x: u32 = 0xdeadbeef 0x80000000 1 0xffffffff
//# size: 4
//# y: u32[4] -> 3735928559 2147483649 1 4294967295
//# z: i32[4] -> 1 1 0 1
(g, x, y, z) => { y[g.x] = u32(x[g.x] | 1); z[g.x] = u32(x[g.x] ^ 1) > 2147483647 }
---
// [10.8] constants
//# y: u32[6] -> 4294967295 3735928559 0 705032704 4294967295 4294967295
//# z: i32[6] -> -559038737 2147483647 -2147483648 2147483647 0 -1
//# w: i64[3] -> -1 4294967296 9223372036854775807
(g, y, z, w) => {
  y[0] = u32(-1); y[1] = u32(0x1deadbeefn); y[2] = u32(-1.5); y[3] = u32(5e9); y[4] = u32(1e30); y[5] = u32(-1n)
  z[0] = i32(0xdeadbeef); z[1] = i32(1e30); z[2] = i32(-Infinity); z[3] = i32(3000000000.5); z[4] = i32(NaN); z[5] = i32(2 ** 32 - 1)
  w[0] = i64(2 ** 64 - 1 === 2 ** 64 ? -1 : 0); w[1] = i64(2 ** 32); w[2] = i64(1e30)
}
---
// [10.2] modulo
//# x: f64 = 4294967297 -1 nan inf
//# size: 4
//# y: i32[4] -> 1 -1 0 0
//# z: u8[4] -> 1 255 0 0
(g, x, y, z) => { y[g.x] = x[g.x] | 0; z[g.x] = x[g.x] }
---
// [10.3] one rounding
//# l: i64 = 9007199791611905
//# y: f32[1] -> 9007200328482816
(g, l, y) => { y[0] = f32(l[0]) }
---
// [10.4] f16() is a value of f32
//# x: f32 = 0.1
//# y: f32[1] -> 0.0999755859375
(g, x, y) => { y[0] = f16(x[0]) }
---
// [10.4] f16() and bf16() of other types are rounded once
//# x: f64 = 1.00048828125090949470177292823792 1.00390625000090949470177292823792
//# l: i64 = 4629700416936869889 -4629700416936869889
//# u: u64 = 13871086852301127681 1
//# size: 2
//# y: f32[2] -> 1.0009765625 1.00390625
//# z: f32[2] -> 4647714815446351872 -4647714815446351872
//# w: f32[2] -> 13907115649320091648 1
//# v: f32[2] -> 1.0078125 9007200328482816
(g, x, l, u, y, z, w, v) => { y[g.x] = f16(x[g.x]); z[g.x] = bf16(l[g.x]); w[g.x] = bf16(u[g.x]); v[0] = bf16(1.00390625000090949470177292823792); v[1] = f32(9007199791611905n) }
---
// [10.5] truth
//# x: f32 = nan -0 2
//# size: 3
//# y: i32[3] -> 0 0 1
(g, x, y) => { y[g.x] = bool(x[g.x]) ? 1 : 0 }
---
// [10.6] bits
//# x: f32 = 1
//# y: u32[1] -> 0x3f800000
//# z: f32[1] -> -1
(g, x, y, z) => { y[0] = bits(x[0]); z[0] = fromBits(f32, bits(x[0]) | 0x80000000) }
---
// [10.7] only what is written
//# n: i64 = 3
//# y: i32[1]
//# error: mixed-64-bit 1:23
(g, n, y) => { y[0] = n }
---
// [10.7] written
//# n: i64 = 3
//# y: i32[1] -> 3
(g, n, y) => { y[0] = i32(n) }
---
// [9.7] a row that a condition of the launch chooses, read and written
//# m: i32[3,2] = 1 2 3 4 5 6 -> 1 20 3 4 5 20
//# y: i32[2] -> 2 6
//# size: 2
(g, m, y) => {
  const r = g.x > 0 ? m[2] : m[g.x]
  y[g.x] = r[1]
  r[1] = 20
}
---
// [9.7] a record, by indices of different types, nested; and one of a record's arrays
//# ps: Particle[4]
//# u: u32 = 3 1
//# y: f32[2] -> 2 33
//# z: f32[2] -> 12 13
//# size: 2
(g, ps, u, y, z) => {
  const p = g.x < 1 ? ps[u[1] > 5 ? 0 : 2] : u[0] > 2 ? ps[u[0]] : ps[g.x]
  y[g.x] = g.x < 1 ? p.x : p.v[2] + 10
  const v = g.x < 1 ? ps[2].v : ps[u[0]].v
  z[g.x] = v[1]
}
---
// [9.7] the side that is not taken neither runs nor faults
//# m: i32[2,2] = 1 2 3 4
//# k: i32 = 100 0
//# y: i32[2] -> 1 3
//# size: 2
(g, m, k, y) => { y[g.x] = (g.x > 0 ? m[1] : m[m[k[1]][0] - 1])[0] }
---
// [9.7] the index that is chosen is checked
//# m: i32[2,2] = 1 2 3 4
//# k: i32 = 7
//# y: i32[2]
//# size: 2
//# fault: out-of-bounds 1:29
(g, m, k, y) => { y[g.x] = (g.x > 0 ? m[1] : m[k[0]])[0] }
---
// [9.8] a copy of one of two records, which changes neither
//# ps: Particle[4]
//# qs: Particle[4]
//# y: f32[4] -> 1 0.5 4 11
//# size: 2
(g, ps, qs, y) => {
  const p = g.x > 0 ? { ...ps[1], x: 4 } : { ...qs[2], x: 1 }
  y[2 * g.x] = p.x
  p.x = 0.5
  y[2 * g.x + 1] = g.x > 0 ? p.v[1] : p.x
  ps[1].x = 9
}
---
// [9.8] a copy, or a record written out
//# ps: Particle[2]
//# y: f32[2] -> 7 11
//# size: 2
(g, ps, y) => {
  const p = g.x > 0 ? { ...ps[1] } : { x: 7, v: [8, 9, 10], id: 3 }
  y[g.x] = g.x > 0 ? p.v[1] : p.x
}
---
// [9.8] part by part
//# y: i32[4] -> 1 2 4 3
//# z: f32[2] -> 2.5 1
//# size: 2
(g, y, z) => {
  const [a, b] = g.x < 1 ? [1, 2] : [4, 3]
  y[2 * g.x] = a
  y[2 * g.x + 1] = b
  const { k, j } = g.x < 1 ? { j: 1, k: 2.5 } : { k: 1, j: 2 }
  z[g.x] = k
}
---
// [9.9] rows of different arrays
//# m: i32[2,2]
//# n: i32[2,2]
//# error: not-a-value 1:27
(g, m, n) => { m[0][0] = (g.x > 0 ? m[1] : n[1])[0] }
---
// [9.9] records of different arrays
//# ps: Particle[2]
//# qs: Particle[2]
//# error: not-a-value 1:28
(g, ps, qs) => { const p = g.x > 0 ? ps[1] : qs[1]; ps[0].x = p.x }
---
// [9.9] a constant condition
//# let FIRST = false
//# ps: Particle[2]
//# qs: Particle[2]
//# y: f32[1] -> 1
(g, ps, qs, y) => { const p = FIRST ? ps[0] : qs[1]; y[0] = p.x }
---
// [17.6] clauses in blocks may declare the same name, and an outer one stays
//# y: i32[4] -> 7 1 2 7
//# size: 4
(g, y) => {
  const v = 7
  switch (g.x) {
    case 1: { const v = 1; y[g.x] = v; break }
    case 2: { const [v, w] = [2, 3]; y[g.x] = v; break }
    default: y[g.x] = v
  }
}
---
// [17.6] a name of another clause
//# y: i32[4]
//# error: used-before-declaration 1:93
(g, y) => { switch (g.x) { case 0: const [v, w] = [g.x, 1]; y[0] = v; break; case 1: y[1] = v } }
