// the absolute value of a BigInt that is a constant
//# z: i64[3] -> 5 5 0
(g, z) => { z[0] = Math.abs(-5n); z[1] = Math.abs(5n); z[2] = Math.abs(0n) }
---
// [8.6] constants that only u64 holds are u64: least, greatest and signs of them
//# z: u64[6] -> 9223372036854775808 18446744073709551615 1 9223372036854775807 9223372036854775808 18446744073709551615
(g, z) => {
  const big = 9223372036854775808n
  z[0] = Math.min(big, 18446744073709551615n)
  z[1] = Math.max(big, 18446744073709551615n)
  z[2] = Math.sign(big)
  z[3] = Math.min(big, 9223372036854775807n)
  z[4] = Math.max(big, -1n)
  z[5] = Math.max(z[4], 18446744073709551615n)
}
---
// [8.6] [9.3] likewise chosen, shifted and assigned
//# z: u64[5] -> 9223372036854775808 4611686018427387904 9223372036854775809 18446744073709551615 9223372036854775808
//# n: i32 = 1
(g, z, n) => {
  z[0] = n > 0 ? 9223372036854775808n : 5n
  z[1] = 9223372036854775808n >> n
  let v = 1n
  if (n > 0) v = 9223372036854775809n
  z[2] = v
  let w = 0n
  w = 18446744073709551615n
  z[3] = w > 1n ? w : 0n
  let m = 3n
  if (n > 0) m = 2 ** 63
  z[4] = m
}
---
// [8.7] the least of an i64 and what only u64 holds
//# z: i64[1]
//# error: mixed-64-bit 1:35
(g, z) => { z[0] = Math.min(z[0], 9223372036854775808n) }
---
// [9.3] a Number that no 64-bit integer holds does not join with one
//# z: i64[1]
//# error: types-do-not-join 2:7
(g, z) => {
  let v = z[0]
  v = 1e30
  z[0] = v
}
---
// an index beyond all integers is an error, not a panic
//# z: i32[1]
//# error: index-out-of-bounds 1:24
(g, z) => { z[0] = [1][1e300] }
---
//# z: i32[2,2]
//# error: index-out-of-bounds 1:20
(g, z) => { z.flat[1e300] = 1 }
