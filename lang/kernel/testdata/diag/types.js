//# args: i64[1], f32[1], i32[1], u64[1]
(g, n, x, k, u) => {
  n[0] = n[1] + k[0] // ### "^17: i32 does not become i64 by itself: 64-bit integers mix only with themselves and literals \\[mixed-64-bit\\]; convert: `i64\\(k\\[0\\]\\)`$"
  n[1] = k[0] // ### "^10: i32 does not become i64 by itself: 64-bit integers mix only with themselves and literals \\[mixed-64-bit\\]; convert: `i64\\(k\\[0\\]\\)`$"
  k[1] = n[0] // ### "^10: i64 does not become i32 by itself \\[mixed-64-bit\\]; convert: `i32\\(n\\[0\\]\\)`$"
  x[0] = n[0] // ### "^10: i64 does not become f32 by itself \\[mixed-64-bit\\]; convert: `f32\\(n\\[0\\]\\)`$"
  n[2] = n[0] + u[0] // ### "^17: u64 does not become i64 by itself \\[mixed-64-bit\\]; convert: `i64\\(u\\[0\\]\\)`$"
  n[3] = x[0] // ### "^10: f32 does not become i64 by itself: 64-bit integers mix only with themselves and literals \\[mixed-64-bit\\]; convert: `i64\\(x\\[0\\]\\)`$"
  let j = k[0] // ### "^7: j is assigned both 64-bit integers and other numbers \\[types-do-not-join\\]; convert what is assigned: `i64\\(x\\)`$"
  j = n[0]
  x[1] = Math.sqrt(n[0]) // ### "^20: i64 does not become f32 by itself \\[mixed-64-bit\\]; convert: `f32\\(n\\[0\\]\\)`$"
  n[4] = n[0] >>> 1 // ### "^10: `>>>` of a 64-bit integer is not in the language \\[bad-operand\\]; write `u64\\(x\\) >> n`$"
  n[5] = n[0] ** 3 // ### "^10: `\\*\\*` of 64-bit integers takes the exponent 2 only \\[bad-operand\\]; multiply, in a loop if need be$"
  n[6] = n[0] * 1.5 // ### "^10: i64 does not become f32 by itself \\[mixed-64-bit\\]; convert: `f32\\(n\\[0\\]\\)`$"
  n[7] = n[0] | k[0] // ### "^17: i32 does not become i64 by itself: 64-bit integers mix only with themselves and literals \\[mixed-64-bit\\]; convert: `i64\\(k\\[0\\]\\)`$"
  n[8] = 1n << 70n // ### "^10: `1n << 70n` has more than 64 bits \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  n[9] = 0x1ffffffffffffffffn // ### "^10: `0x1ffffffffffffffffn` has more than 64 bits \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  n[10] = 1n / 0n // ### "^11: integer division by zero \\[division-by-zero\\]; $"
  n[11] = 1n + 0.5 // ### "^11: a BigInt does not mix with a fraction \\[mixed-64-bit\\]; write both as BigInt, or both as Number$"
  n[13] = -9223372036854775809n // ### "^11: `-9223372036854775809n` is below the least i64 \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  n[14] = Math.max(n[0], 9223372036854775808n) // ### "^26: `9223372036854775808n` is no i64 \\[mixed-64-bit\\]; convert the other operand: `u64\\(…\\)`$"
  n[15] = n[0] / 9223372036854775808n // ### "^18: `9223372036854775808n` is no i64 \\[mixed-64-bit\\]; convert the other operand: `u64\\(…\\)`$"
  n[16] = n[0] % (2 ** 63) // ### "^19: `2 \\*\\* 63` is no i64 \\[mixed-64-bit\\]; convert the other operand: `u64\\(…\\)`$"
  n[17] = u64(n[0]) / -1n // ### "^23: `-1n` is no u64 \\[mixed-64-bit\\]; convert the other operand: `i64\\(…\\)`$"
  n[20] = i64(n[0] / 9223372036854775808n) // ### "^22: `9223372036854775808n` is no i64 \\[mixed-64-bit\\]; convert the other operand: `u64\\(…\\)`$"
  n[21] = i64(Math.floor(n[0] / 9223372036854775808n)) // ### "^33: `9223372036854775808n` is no i64 \\[mixed-64-bit\\]; convert the other operand: `u64\\(…\\)`$"
  n[22] = Math.trunc(9223372036854775808n / n[0]) // ### "^22: `9223372036854775808n` is no i64 \\[mixed-64-bit\\]; convert the other operand: `u64\\(…\\)`$"
  n[18] = Math.min(1n, 0.5) // ### "^11: a BigInt does not mix with a fraction \\[mixed-64-bit\\]; write both as BigInt, or both as Number$"
  n[19] = g.x > 1 ? n[0] : 9223372036854775808n // ### "^11: one side is i64, the other is u64 \\[types-do-not-join\\]; convert one of them: `i64\\(x\\)`$"
  n[20] = g.x > 1 ? -1n : 9223372036854775808n // ### "^11: one side is i64, the other is u64 \\[types-do-not-join\\]; convert one of them: `i64\\(x\\)`$"
  n[12] = g.x > 1 ? n[0] : k[0] // ### "^11: one side is a 64-bit integer \\(i64\\), the other is not \\(i32\\) \\[types-do-not-join\\]; convert one of them: `i64\\(x\\)`$"
}
---
//# args: f32[1], i32[1], f32[2]
(g, x, k, m) => {
  x[0.5] = 1 // ### "^5: 0\\.5 is no index \\[index-not-integer\\]; write an integer$"
  x[-1] = 1 // ### "^5: index -1 is negative \\[index-out-of-bounds\\]; count from 0$"
  x[x[0]] = 1 // ### "^5: the index `x\\[0\\]` is f32, not an integer \\[index-not-integer\\]; write `x\\[0\\] \\| 0`, or i32\\(…\\)$"
  x[true] = 1 // ### "^5: the index `true` is bool, not an integer \\[index-not-integer\\]; write `true \\| 0`, or i32\\(…\\)$"
  x[4294967296] = 1 // ### "^5: index 4294967296 is larger than any dimension \\[index-out-of-bounds\\]; $"
  m[0] = 1 // ### "^3: a whole array cannot be assigned: the buffer given for m has 2 dimensions \\[too-few-indices\\]; write `m\\[0\\]\\[i\\] = …`, or index m\\.flat, or pass a buffer of 1 dimension$"
  x[0] = m[1] // ### "^10: `m\\[1\\]` is a row, not a number: the buffer given for m has 2 dimensions \\[too-few-indices\\]; write `m\\[1\\]\\[i\\]`, or index m\\.flat, or pass a buffer of 1 dimension$"
  x[1] = m // ### "^10: `m` is an array, not a number \\[too-few-indices\\]; write `m\\[i\\]\\[j\\]`$"
  x[0][1] = 2 // ### "^3: `x\\[0\\]` is a number, which has no elements: the buffer given for x has 1 dimension \\[too-many-indices\\]; leave the last index out, or pass a buffer of 2 dimensions$"
  m[0][0][0] = 1 // ### "^3: `m\\[0\\]\\[0\\]` is a number, which has no elements: the buffer given for m has 2 dimensions \\[too-many-indices\\]; leave the last index out, or pass a buffer of 3 dimensions$"
  x[2] = x.foo // ### "^12: an array has no \\.foo in a kernel \\[unknown-property\\]; an array has \\.length, \\.shape and \\.flat; what is done to its elements is written as a loop$"
  x[3] = x[0].y // ### "^15: `x\\[0\\]` is a number, which has no property in a kernel \\[unknown-property\\]; $"
  x.length = 3 // ### "^3: `x\\.length` cannot be assigned to \\[bad-assignment-target\\]; assign to a variable, or to an element of a buffer, g\\.shared or g\\.private array$"
  x[4] = m[0].flat[1] // ### "^15: a row has no \\.flat \\[unknown-property\\]; take \\.flat of the whole array$"
  k[0] = k[1] / 0 | 0 // ### "^10: integer division by zero \\[division-by-zero\\]; $"
  k[1] = k[1] % 0 // ### "^10: integer division by zero \\[division-by-zero\\]; $"
  x[5] = x() // ### "^10: `x` is no function of a kernel \\[not-callable\\]; elements are written `x\\[i\\]`$"
  x[6] = g.foo // ### "^12: the item object has no \\.foo \\[unknown-property\\]; g has x, y, z, local, group, size, groupSize, groups, lane, subgroupSize, reduce, scan, subgroup, barrier, shared, private, uniform, print, assert, call, fence, clock$"
  x[7] = g.local.w // ### "^18: g\\.local has no \\.w \\[unknown-property\\]; write g\\.local\\.x, \\.y or \\.z$"
  x[8] = Math.foo(1) // ### "^15: Math\\.foo is not in kernels \\[unknown-math-function\\]; write it as a function of your own, which the kernel calls$"
  x[9] = Math.random() // ### "^15: Math\\.random is not in kernels \\[unknown-math-function\\]; import \\{ random \\} from 'kernels', and write random\\(seed, 0, g\\.x\\)$"
  x[10] = Math.sqrt() // ### "^11: `Math\\.sqrt` takes 1 argument; given: 0 \\[call-arguments\\]; $"
  x[11] = Math.fast.floor(1.5) // ### "^21: Math\\.fast\\.floor is not in kernels \\[unknown-math-function\\]; write Math\\.floor$"
  x[12] = g.scan.mul(1) // ### "^18: g\\.scan has no \\.mul \\[unknown-property\\]; write \\.add, \\.min or \\.max$"
  x[13] = g.x(1) // ### "^11: `g\\.x` is no function of a kernel \\[not-callable\\]; it is a number: write `g\\.x` without parentheses$"
  x[14] = Math(1) // ### "^11: Math is no function \\[not-callable\\]; name the function: Math\\.…$"
  x[15] = Math.sin // ### "^11: `Math\\.sin` is no number \\[not-a-number\\]; $"
  x[16] = Atomics.nand(k, 0, 1) // ### "^19: Atomics has no \\.nand in a kernel \\[unknown-property\\]; did you mean Atomics\\.and\\?$"
  x[17] = f32.foo // ### "^15: `f32\\.foo` has no property in a kernel \\[unknown-property\\]; $"
}
---
//# args: f32[1]
(g, x) => {
  const a = g.private(f32, 4)
  a[4] = 1
  x[0] = a
  const b = g.private(3, 4)
  const c = g.private(f32, g.x)
  const d = g.private(f32, 0)
  const e = g.private(f32, 1e6)
  const f = g.shared(f32)
  a = 1 // ### "^3: a is a constant \\[assign-to-const\\]; declare it with `let`$"
  const [p, q] = 3
  const [r, s, t] = [1, 2]
  x[1] = [1, 2][3]
  x[2] = [g.y, 2][g.x]
  const h = (g.x > 1 ? a : x)[0]
}
---
//# args: f32[1]
(g, x) => {
  const a = g.private(f32, 4)
  const b = g.private(3, 4) // ### "^23: `3` is no element type \\[array-type\\]; write f32, i32, … or a struct$"
  const c = g.private(f32, g.x) // ### "^28: a dimension of g\\.private must be a positive integer known when the kernel is compiled \\[array-dimensions\\]; write a number, or capture a constant of the script$"
  const d = g.private(f32, 0) // ### "^28: a dimension of g\\.private must be a positive integer known when the kernel is compiled \\[array-dimensions\\]; write a number, or capture a constant of the script$"
  const e = g.private(f32, 1e6) // ### "^13: the array is larger than 65536 bytes \\[too-big\\]; use a buffer$"
  const f = g.shared(f32) // ### "^13: `g\\.shared` takes 2 to 4 arguments; given: 1 \\[call-arguments\\]; write g\\.shared\\(type, length\\), or give two or three lengths$"
  a[4] = 1 // ### "^5: index 4 is outside of an extent of 4 \\[index-out-of-bounds\\]; $"
  x[0] = a // ### "^10: `a` is an array, not a number \\[too-few-indices\\]; write `a\\[i\\]`$"
  const [p, q] = 3 // ### "^18: this is no array to take apart \\[bad-pattern\\]; $"
  const [r, s, t] = [1, 2] // ### "^9: the pattern takes 3 elements, and there are 2 \\[bad-pattern\\]; $"
  x[1] = [1, 2][3] // ### "^17: index 3 is outside of an array of 2 \\[index-out-of-bounds\\]; use g\\.private\\(type, n\\) for an array that is filled in the kernel$"
  x[2] = [g.y, 2][g.x] // ### "^19: an array of what the kernel computes takes constant indices only \\[not-indexable\\]; use g\\.private\\(type, n\\) for an array that is indexed by a variable$"
  const h = (g.x > 1 ? a : x)[0] // ### "^14: one of two arrays cannot be chosen by a condition of the launch \\[not-a-value\\]; choose the index or the value instead: `c \\? a\\[i\\] : b\\[i\\]`$"
}
---
//# args: Particle[1], f32[1]
(g, ps, x) => {
  const p = ps[0]
  x[0] = p // ### "^10: `p` is a record, not a number \\[not-a-number\\]; name a field of it$"
  x[1] = p.w // ### "^12: Particle has no field w \\[unknown-field\\]; its fields are x, v, id$"
  p.v = 3 // ### "^9: the field is an array of 3 elements \\[whole-record\\]; write an array of 3 elements$"
  p.v = [1, 2] // ### "^9: the field is an array of 3 elements \\[whole-record\\]; write an array of 3 elements$"
  ps[1] = 3 // ### "^11: `3` is no Particle \\[whole-record\\]; name a field: `\\.x = …`$"
  ps[1] = {x: 1} // ### "^11: the field v of Particle is missing \\[field-missing\\]; give every field, or copy: `\\{\\.\\.\\.r, …\\}`$"
  ps[1] = {x: 1, v: [1, 2, 3], id: 1, w: 1} // ### "^11: Particle has no field w \\[unknown-field\\]; $"
  ps[1] = x // ### "^11: `x` is no Particle \\[whole-record\\]; $"
  const q = {...x} // ### "^17: `\\.\\.\\.` copies a record, and this is none \\[no-object\\]; spread an element of a buffer of records$"
  const r = {...p, y: 3} // ### "^20: Particle has no field y \\[unknown-field\\]; its fields are x, v, id$"
  const [a] = p // ### "^15: a record is taken apart by its fields' names \\[bad-pattern\\]; name its fields: `\\{x, y\\}`$"
  x[2] = p[0] // ### "^10: a record is not indexed \\[too-many-indices\\]; name a field: `\\.x`$"
  const {w} = p // ### "^10: Particle has no field w \\[unknown-field\\]; its fields are x, v, id$"
  const o = {a: 1, ...p} // ### "^23: a record is spread at the beginning \\[no-object\\]; write \\.\\.\\.record first, then the fields that differ$"
  x[3] = {a: 1}.b // ### "^17: there is no field b \\[unknown-field\\]; the fields are a$"
}
---
//# args: f32[1], u8[1], i32[1]
(g, x, b, k) => {
  x[0] = i8(x[1]) // ### "^13: values are never i8: they are computed as i32 \\[bad-conversion\\]; store it in a buffer of i8, or write `x << 24 >> 24`$"
  x[1] = Particle(3) // ### "^10: Particle is a record, not a conversion \\[bad-conversion\\]; write \\{…\\} with its fields$"
  x[2] = fromBits(f16, 1) // ### "^19: fromBits needs a type with 32 or 64 bits \\[bad-conversion\\]; write f32, f64, i32, u32, i64 or u64$"
  x[3] = fromBits(f32, x[0]) // ### "^24: the bits must be an integer \\[bad-conversion\\]; write `n \\| 0`$"
  x[4] = f32(1, 2) // ### "^10: `f32` takes 1 argument; given: 2 \\[call-arguments\\]; $"
  Atomics.add(b, 0, 1) // ### "^15: there are no atomics on u8 \\[bad-atomic\\]; use i32, u32, i64, u64, f32 or f64 elements$"
  Atomics.or(x, 0, 1) // ### "^3: Atomics\\.or works on integers, not on f32 \\[bad-atomic\\]; use an integer buffer$"
  Atomics.add(g.private(i32, 2), 0, 1) // ### "^15: atomics work on buffers and g\\.shared arrays; this is the item's own \\[bad-atomic\\]; read and write it as usual$"
  Atomics.add(x[0], 0, 1) // ### "^15: `x\\[0\\]` is a number, which has no elements: the buffer given for x has 1 dimension \\[too-many-indices\\]; leave the last index out, or pass a buffer of 2 dimensions$"
  x[5] = Math.mulhi(x[0], x[1]) // ### "^10: Math\\.mulhi takes integers \\[bad-operand\\]; convert: i32\\(x\\) or u32\\(x\\)$"
  x[6] = Math.ldexp(x[0], 0.5) // ### "^27: the exponent of Math\\.ldexp is an integer \\[bad-operand\\]; write `n \\| 0`$"
  x[7] = g.subgroup.shuffle(x[0], 0.5) // ### "^35: a lane must be an integer \\[index-not-integer\\]; write `… \\| 0`$"
  x[8] = g.call(x[0]) // ### "^17: the name of a host service is a string literal \\[call-arguments\\]; write g\\.call\\('name', …\\)$"
  x[9] = g.uniform(1, 2) // ### "^10: `g\\.uniform` takes 1 argument; given: 2 \\[call-arguments\\]; $"
  x[10] = 3(4) // ### "^11: `3` is no function of a kernel \\[not-callable\\]; it is a number: write `3` without parentheses$"
}
---
//# args: f32[1]
//# let table = [1, 2, 3]
//# let early = (a) => { if (a > 0) return 1 } // ### "^17: early returns a value on some ways only \\[helper-return\\]; return a value at the end$"
//# let some = (a) => { if (a > 0) return; return 2 } // ### "^16: some returns a value on some ways only \\[helper-return\\]; return a value at the end$"
//# let shapes = (a) => { if (a > 0) return [1, 2]; return 2 } // ### "^60: this return has other parts than the first one \\[helper-return\\]; give every return the same parts, in the same order$"
//# let fact = (n) => n <= 1 ? 1 : n * fact(n - 1) // ### "^40: fact calls itself \\(fact ← fact\\): helper functions are inlined \\[no-recursion\\]; write a loop$"
//# let nothing = (a) => { a + 1 }
(g, x) => {
  table[0] = 1 // ### "^3: `table\\[0\\]` is in a constant table: an array that is written out in the kernel, or captured from the script \\[constant-table\\]; copy it into a g\\.private array, or pass a buffer$"
  x[0] = table[3] // ### "^16: index 3 is outside of an extent of 3 \\[index-out-of-bounds\\]; $"
  x[1] = early(x[0])
  x[2] = some(x[0])
  x[3] = nothing(x[0]) // ### "^10: `nothing\\(x\\[0\\]\\)` has no value \\[no-value\\]; $"
  x[4] = early() // ### "^10: `early` takes at least 1 argument; given: 0 \\[call-arguments\\]; write early\\(a\\)$"
  x[5] = shapes(1)[0] + fact(3)
  return 3 // ### "^3: a kernel returns no value \\[helper-return\\]; store it in a buffer: `y\\[g\\.x\\] = …`$"
}
---
//# args: f32[1], number
(g, x) => {} // ### "^1: the number of arguments must be 1 \\(x\\); given: 2 \\[argument-count\\]; $"
---
//# args: void
(g, x) => {} // ### "^5: parameter x has no scalar type \\[argument-type\\]; $"
---
//# args: f32[4]
(g, x) => {} // ### "^5: parameter x has rank 4; a buffer has 1 to 3 dimensions \\[argument-type\\]; $"
---
//# args: f32[1]
(g, x) => {
  if (g.x > 3) g.barrier() // ### "^16: `g\\.barrier\\(\\)` must be reached by all items of a group together, but `g\\.x > 3` may differ between them \\[divergent-barrier\\]; move it out of the condition; or write g\\.uniform\\(g\\.x > 3\\), if it is the same for the whole group$"
  for (let i = 0; i < g.local.x; i++) x[i] = g.reduce.add(1) // ### "^46: `g\\.reduce\\.add\\(1\\)` must be reached by all items of a group together, but `i < g\\.local\\.x` may differ between them \\[divergent-barrier\\]; move it out of the condition; or write g\\.uniform\\(i < g\\.local\\.x\\), if it is the same for the whole group$"
}
---
//# args: f32[1]
//# let sync = (g, n) => { if (n > 0) g.barrier() } // ### "^39: `g\\.barrier\\(\\)` must be reached by all items of a group together, but `n > 0` may differ between them \\[divergent-barrier\\]; move it out of the condition; or write g\\.uniform\\(n > 0\\), if it is the same for the whole group$"
(g, x) => {
  if (x[g.x] > 3) return
  g.barrier() // ### "^3: `g\\.barrier\\(\\)` must be reached by all items of a group together, but `x\\[g\\.x\\] > 3` may differ between them \\[divergent-barrier\\]; move it out of the condition; or write g\\.uniform\\(x\\[g\\.x\\] > 3\\), if it is the same for the whole group$"
  sync(g, g.x)
}
---
//# args: u32[1]
//# options: warnings
(g, x) => {
  x[0] = x[1] >> 3 // ### "^10: `>>` of a u32 is an arithmetic shift of its bits, as in JavaScript \\[signed-shift-of-u32\\]; write `>>>`$"
  return
  x[1] = 2 // ### "^3: this code is never reached \\[unreachable-code\\]; remove it$"
}
---
//# args: i32[2], i32[3]
(g, m, c) => {
  Atomics.add(m, g.x, 1) // ### "^15: `m` with one index is a row, not a number: the buffer given for m has 2 dimensions \\[too-few-indices\\]; write `Atomics\\.add\\(m\\.flat, i, v\\)` or `Atomics\\.add\\(m\\[i\\], x, v\\)`$"
  Atomics.load(c[0], g.x) // ### "^16: `c\\[0\\]` with one index is a row, not a number: the buffer given for c has 3 dimensions \\[too-few-indices\\]; write `Atomics\\.load\\(c\\[0\\]\\[i\\], x\\)`$"
}
