// A choice between two constants that are equal became the condition negated. progen, seed 1102, 2026-11-21.
//# y: i64 = 180 -> 180
//# n = 3
(g, y, n) => {
  const i = g.x
  let s = false, k = 0
  do { y[i] -= i64(i > n ? s : false) } while (++k < (n & 3))
}
---
// [12.6] A quotient by zero rounded down was −1 for negative dividends with checks off.
//# options: checks=off
//# size: 4
//# x: i32 = -1 -7 0 5
//# z: i32 = 0 2 0 0
//# y: i32[4] -> 0 -4 0 0
(g, x, z, y) => { y[g.x] = Math.floor(x[g.x] / z[g.x]) }
---
// [11.7] A bool modulo a u32 was an internal error.
//# b: bool = 1
//# u: u32 = 4294967295
//# y: i32[1] -> 1
(g, b, u, y) => { y[0] = b[0] % u[0] }
---
// [9.6] The sides of && in a condition had to have one type.
//# n: u64 = 2
//# u: u64[1]
//# y: i32[1] -> 5
(g, n, u, y) => { if (n && g.x === 0 && !(u[0] || g.x > 3)) y[0] = 5 }
---
// [10.1] A BigInt near the end of the range was converted by way of a float.
//# y: u64[1] -> 18446744073709551608
//# z: i64[1] -> 9223372036854775800
//# w: i32[1] -> -2147483648
(g, y, z, w) => { y[0] = u64(18446744073709551608n); z[0] = i64(9223372036854775800n); w[0] = i32(2147483648n) }
