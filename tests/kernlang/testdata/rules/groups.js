// [18.4] shared arrays are zero in every group
//# size: 4
//# group: 2
//# y: i32[4] -> 0 0 0 0
(g, y) => { const s = g.shared(i32, 4); y[g.x] = s[g.local.x + 1]; s[g.local.x + 1] = 7 }
---
// [19.1] items
//# size: 5
//# group: 4
//# y: i32[5] -> 10000 10101 10202 10303 11004
//# z: i32[4] -> 5 4 2 1
(g, y, z) => { y[g.x] = g.x + g.local.x * 100 + g.group.x * 1000 + 10000; if (g.x === 0) { z[0] = g.size.x; z[1] = g.groupSize.x; z[2] = g.groups.x; z[3] = g.size.y } }
---
// [19.1] they are i32, on every axis
//# size: 1
//# y: i32[6] -> 3 3 3 3 3 3
(g, y) => {
  y[0] = (g.x - 1 < 0 ? 1 : 0) + (g.y - 1 < 0 ? 1 : 0) + (g.z - 1 < 0 ? 1 : 0)
  y[1] = (g.local.x - 1 < 0 ? 1 : 0) + (g.local.y - 1 < 0 ? 1 : 0) + (g.local.z - 1 < 0 ? 1 : 0)
  y[2] = (g.group.x - 1 < 0 ? 1 : 0) + (g.group.y - 1 < 0 ? 1 : 0) + (g.group.z - 1 < 0 ? 1 : 0)
  y[3] = (g.size.x - 2 < 0 ? 1 : 0) + (g.size.y - 2 < 0 ? 1 : 0) + (g.size.z - 2 < 0 ? 1 : 0)
  y[4] = (g.groupSize.x - 999 < 0 ? 1 : 0) + (g.groupSize.y - 999 < 0 ? 1 : 0) + (g.groupSize.z - 999 < 0 ? 1 : 0)
  y[5] = (g.groups.x - 2 < 0 ? 1 : 0) + (g.groups.y - 2 < 0 ? 1 : 0) + (g.groups.z - 2 < 0 ? 1 : 0)
}
---
// [19.2] they are i32
//# y: i32[2] -> 1 1
(g, y) => { y[0] = g.lane - 1 < 0 ? 1 : 0; y[1] = g.subgroupSize - 999 < 0 ? 1 : 0 }
---
// [19.2] lanes
//# size: 40
//# group: 64
//# y: i32[2] -> 7 32
(g, y) => { if (g.x === 39) { y[0] = g.lane; y[1] = g.subgroupSize } }
---
// [20.1] the default group size
//# size: 3
//# y: i32[1] -> 256
(g, y) => { y[0] = g.groupSize.x }
---
// [20.1] of two axes
//# size: 3,2
//# y: i32[2] -> 16 16
(g, y) => { y[0] = g.groupSize.x; y[1] = g.groupSize.y }
---
// [20.1] of three
//# size: 3,2,2
//# y: i32[3] -> 8 8 4
(g, y) => { y[0] = g.groupSize.x; y[1] = g.groupSize.y; y[2] = g.groupSize.z }
---
// [21.1] items beyond the size are not there
//# size: 5
//# group: 8
//# y: i32[3] -> 5 10 5
(g, y) => { Atomics.add(y, 0, 1); const s = g.reduce.add(g.x); if (g.x === 0) y[1] = s; const n = g.reduce.add(1); if (g.x === 0) y[2] = n }
---
// [21.1] nor for scans and votes
//# size: 5
//# group: 8
//# y: i32[5] -> 11 11 11 11 11
//# z: i32[5] -> 4 3 2 1 0
(g, y, z) => { y[g.x] = (g.subgroup.all(g.x < 5) ? 1 : 0) + (g.subgroup.any(g.x > 4) ? 100 : 10); z[g.x] = g.scan.min(4 - g.x) }
---
// [21.2] they reach barriers
//# size: 5
//# group: 8
//# y: i32[5] -> 4 3 2 1 0
(g, y) => { const s = g.shared(i32, 8); s[g.x] = g.x; g.barrier(); y[g.x] = s[4 - g.x] }
---
// [22.1] a divergent condition
//# y: i32[1]
//# error: divergent-barrier 1:26
(g, y) => { if (g.x > 3) g.barrier(); y[0] = 1 }
---
// [22.1] a uniform one
//# n = 5
//# size: 2
//# group: 2
//# y: i32[2] -> 1 1
(g, n, y) => { if (n > 3) g.barrier(); for (let i = 0; i < (n & 3); i++) g.barrier(); y[g.x] = 1 }
---
// [22.2] a return before a barrier
//# y: i32[1]
//# error: divergent-barrier 1:34
(g, y) => { if (g.x > 3) return; g.barrier(); y[0] = 1 }
---
// [22.3] g.uniform
//# size: 4
//# group: 4
//# y: i32[4] -> 1 1 1 1
(g, y) => { if (g.uniform(g.x < 9)) g.barrier(); y[g.x] = 1 }
---
// [22.3] that is not
//# size: 4
//# group: 4
//# y: i32[4]
//# fault: divergent-uniform 1:17
(g, y) => { if (g.uniform(g.x > 2)) g.barrier(); y[g.x] = 1 }
---
// [23.1] the order of a reduction: (a + c) + (b + 0), where 0 pads; from left to right it is 0
//# size: 3
//# group: 4
//# x: f32 = 1 16777216 -16777216
//# y: f32[3] -> 1 1 1
(g, x, y) => { y[g.x] = g.reduce.add(x[g.x]) }
---
// [23.1] min and max
//# size: 3
//# group: 4
//# x: i32 = 5 -2 9
//# y: i32[2] -> -2 9
(g, x, y) => { const a = g.reduce.min(x[g.x]), b = g.reduce.max(x[g.x]); y[0] = a; y[1] = b }
---
// [23.2] scans
//# size: 4
//# group: 4
//# x: i32 = 3 1 4 1
//# y: i32[4] -> 3 4 8 9
//# z: i32[4] -> 0 3 4 8
(g, x, y, z) => { y[g.x] = g.scan.add(x[g.x]); z[g.x] = g.scan.add.exclusive(x[g.x]) }
---
// [23.2] the order of a scan
//# size: 4
//# group: 4
//# x: f32 = 1 16777216 -16777216 1
//# y: f32[4] -> 1 16777216 1 1
(g, x, y) => { y[g.x] = g.scan.add(x[g.x]) }
---
// [23.3] subgroup operations
//# size: 8
//# group: 8
//# y: i32[8] -> 28 28 28 28 28 28 28 28
//# z: i32[8] -> 1 0 3 2 5 4 7 6
(g, y, z) => { y[g.x] = g.subgroup.add(g.x); z[g.x] = g.subgroup.shuffleXor(g.x, 1) }
---
// [23.4] an absent lane
//# size: 3
//# group: 8
//# y: i32[3] -> 0 0 0
(g, y) => { y[g.x] = g.subgroup.shuffle(g.x + 7, 5) }
---
// [24.1] a barrier
//# size: 64
//# group: 64
//# x: i32[64]
//# y: i32[1] -> 2016
(g, x, y) => { x[g.x] = g.x; g.barrier(); if (g.x === 0) { let s = 0; for (let i = 0; i < 64; i++) s += x[i]; y[0] = s } }
---
// [24.2] the old value
//# y: i32 = 5 0 0 0 -> 8 5 9 5
(g, y) => { y[1] = Atomics.add(y, 0, 3); y[2] = Atomics.store(y, 2, 9); y[3] = Atomics.compareExchange(y, 1, 5, 5) }
---
// [24.2] the value that a store converted
//# y: i32[2]
//# u: u32[2]
//# f: f32[1]
//# v: f64 = 2.75 4294967297.5 nan
//# o: f64[6] -> 2 1 0 4294967291 3 1.25
(g, y, u, f, v, o) => {
  for (let i = 0; i < 3; i++) o[i] = Atomics.store(y, 0, v[i])
  o[3] = Atomics.store(u, 0, -5)
  o[4] = Atomics.store(u, 1, 3.5)
  o[5] = Atomics.store(f, 0, v[0] - 1.5 + 2 ** -30)
}
---
// [24.3] not on small integers
//# b: u8[1]
//# error: bad-atomic 1:25
(g, b) => { Atomics.add(b, 0, 1) }
---
// [24.3] no bits of floats
//# x: f32[1]
//# error: bad-atomic 1:13
(g, x) => { Atomics.or(x, 0, 1) }
---
// [24.3] in shared memory
//# size: 8
//# group: 8
//# y: f64[1] -> 28
(g, y) => { const s = g.shared(f64, 1); Atomics.add(s, 0, g.x); g.barrier(); y[0] = s[0] }
---
// [25.1] program order
//# x: i32 = 1 2 -> 6 4
(g, x) => { x[0] += 1; x[1] = x[0] * 2; x[0] = x[1] + x[0] }
---
// [24.4] a sum of floats that no order rounds
//# size: 100
//# y: f32[1] -> 2475
//# z: f64[1] -> -4950
(g, y, z) => { Atomics.add(y, 0, g.x / 2); Atomics.sub(z, 0, g.x) }
---
// [26.1] later effects are suppressed
//# size: 2
//# y: i32[4] -> 1 9 1 0
//# fault: out-of-bounds 1:29
(g, y) => { y[g.x * 2] = 1; y[g.x * 3 + 1] = 2; y[g.x * 2 + 1] = 9 }
---
// [26.1] a division by zero
//# x: i32 = 3 -> 3
//# y: i32[1] -> 0
//# fault: division-by-zero 1:23
(g, x, y) => { y[0] = x[0] % g.x; x[0] = 9 }
---
// [26.1] assert
//# y: i32[1] -> 0
//# fault: assertion 1:13
(g, y) => { g.assert(g.x > 0, `item ${g.x}`); y[0] = 1 }
---
// [23.3] votes
//# size: 8
//# group: 8
//# z: u64[8] -> 0xaa 0xaa 0xaa 0xaa 0xaa 0xaa 0xaa 0xaa
//# y: i32[8] -> 1 1 1 1 1 1 1 1
(g, z, y) => { z[g.x] = g.subgroup.ballot(g.x % 2); y[g.x] = (g.subgroup.any(g.x > 6) ? 1 : 0) + (g.subgroup.all(g.x > 6) ? 2 : 0) }
---
// [18.4] shared arrays lie apart
//# y: i32[8] -> 301 211 121 31 301 211 121 31
//# size: 8
//# group: 4
(g, y) => {
  const a = g.shared(i32, 4), b = g.shared(f64, 4), c = g.shared(u8, 5), l = g.local.x
  a[l] = l * 100; b[l] = l * 10; c[l] = 1
  g.barrier()
  y[g.x] = a[3 - l] + i32(b[l]) + c[3 - l]
}
---
// [26.4] a call of the host
//# x: i32[10] = 0 2 4 6 8 10 12 14 16 18
//# y: i64[10] -> 0 1 2 3 4 5 6 7 8 9
//# size: 10
//# group: 4
(g, x, y) => { y[g.x] = i64(i32(g.call('half', x[g.x]))); g.barrier(); g.call('first', x[g.x]) }
---
// [26.4] a call that the host refuses
//# x: i32[3] = 0 2 7
//# size: 3
//# fault: call-failed 1:26
(g, x) => { x[g.x] = i32(g.call('half', x[g.x])) }
---
// [24.6] fences
//# x: i32[8] -> 1 2 3 4 5 6 7 8
//# size: 8
//# ir: fence
(g, x) => { x[g.x] = g.x; g.fence(); x[g.x] += 1; g.fence('group'); g.fence('system') }
---
// [24.6] a scope that there is not
//# x: i32[8]
//# error: call-arguments 1:21
(g, x) => { g.fence('warp'); x[g.x] = 1 }
---
// [24.7] a clock never goes back
//# y: i32[8] -> 1 1 1 1 1 1 1 1
//# size: 8
//# ir: clock
(g, y) => { const t = g.clock(); y[g.x] = g.clock() - t < 1000000000000n ? 1 : 0 }
