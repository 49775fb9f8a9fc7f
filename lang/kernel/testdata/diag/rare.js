//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  'use strict'
  const f = function () { return 1 }
  x[0] = f(1)
  with (k) { x[1] = 1 } // ### "^3: `with` is not in kernels \\[unsupported-statement\\]; name the object at each use$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  const [a, ...rest] = [1, 2], { v, ...others } = ps[0] // ### "^16: a pattern in a kernel has no rest element \\[bad-pattern\\]; name each element$" "^40: a pattern in a kernel has no rest element \\[bad-pattern\\]; name each field$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  const { x: px = 3 } = ps[0], [b = 2] = [1] // ### "^14: a pattern in a kernel has no default values \\[bad-pattern\\]; leave it out: every element has a value$" "^33: a pattern in a kernel has no default values \\[bad-pattern\\]; leave it out: every element has a value$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  const { ['v']: w } = ps[0] // ### "^12: a computed name is not in kernels \\[bad-pattern\\]; name the field$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  const o = { [k[0]]: 1 }, q = { get z() { return 1 } } // ### "^16: a record has fields with plain names only \\[no-object\\]; write name: value$" "^38: a record has fields with plain names only \\[no-object\\]; write name: value$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  const [c], d // ### "^12: missing initializer in destructuring declaration \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  f(1) = 2 // ### "^3: invalid left-hand side in assignment \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  for (var i = 0; i < 3; i++) x[0] = i // ### "^12: `var` is not in kernels \\[no-var\\]; write `let`$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  for (a in x) x[1] = 1 // ### "^3: for…in is not in kernels \\[unsupported-statement\\]; write `for \\(let i = 0; i < xs\\.length; i\\+\\+\\)`$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  throw 1 // ### "^3: exceptions are not in kernels \\[unsupported-statement\\]; write `g\\.assert\\(condition, 'message'\\)`$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  try { x[2] = 1 } catch { x[2] = 2 } // ### "^3: exceptions are not in kernels \\[unsupported-statement\\]; test for the condition before$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  class A {} // ### "^3: classes are not in kernels \\[no-object\\]; use struct\\(\\{…\\}\\) for records$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  debugger // ### "^3: `debugger` is not in kernels \\[unsupported-statement\\]; use g\\.print, or kernel\\.debug from the script$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[3] = /a/ + `b` + (() => 1) // ### "^10: regular expressions are not in kernels \\[no-string\\]; $"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[4] = new Array(3) // ### "^10: `new` is not in kernels \\[no-object\\]; use g\\.private\\(type, n\\) for an array of the item, g\\.shared\\(type, n\\) for one of the group$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[5] = this // ### "^10: `this` is not in kernels \\[unsupported-expression\\]; name the item object, the first parameter$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[6] = typeof x // ### "^10: `typeof` is not in kernels \\[unsupported-expression\\]; types are known without it$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[7] = k?.[0] // ### "^10: `\\?\\.` is not in kernels \\[unsupported-expression\\]; write `\\.`: nothing is null in a kernel$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[8] = async () => 1 // ### "^10: a kernel function is neither async nor a generator \\[async-kernel\\]; write a plain function$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[9] = (k[0], null) // ### "^17: null is not in kernels \\[unsupported-expression\\]; use 0, or a bool beside the value$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[10] = delete x[1] // ### "^11: `delete` is not in kernels \\[unsupported-expression\\]; types are known without it$"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[11] = x instanceof k // ### "^11: `instanceof` is not in kernels \\[unsupported-expression\\]; $"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[12] = 'x' in ps[0] // ### "^11: `in` is not in kernels \\[unsupported-expression\\]; $"
}
---
//# args: f32[1], i32[1], Particle[1]
//# options: warnings
(g, x, k, ps) => {
  x[13] = f`a` // ### "^12: tagged templates are not in kernels \\[no-string\\]; use a plain template string$"
}
---
//# args: f32[1], i32[1], Particle[1], f32[2], f32[3]
//# options: warnings
(g, x, k, ps, m, t) => {
  x[0] = m[0] // ### "^10: `m\\[0\\]` is a row, not a number: the buffer given for m has 2 dimensions \\[too-few-indices\\]; write `m\\[0\\]\\[i\\]`, or index m\\.flat, or pass a buffer of 1 dimension$"
  x[1] = m[0][1][2] // ### "^10: `m\\[0\\]\\[1\\]` is a number, which has no elements: the buffer given for m has 2 dimensions \\[too-many-indices\\]; leave the last index out, or pass a buffer of 3 dimensions$"
  x[2] = t[0][1] // ### "^10: `t\\[0\\]\\[1\\]` is a row, not a number: the buffer given for t has 3 dimensions \\[too-few-indices\\]; write `t\\[0\\]\\[1\\]\\[i\\]`, or pass a buffer of 2 dimensions$"
  x[3] = m.length + m.shape + m.shape[2] + m.shape[k[0]] // ### "^21: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$" "^39: index 2 is outside of an array of 2 \\[index-out-of-bounds\\]; use g\\.private\\(type, n\\) for an array that is filled in the kernel$" "^52: an array of what the kernel computes takes constant indices only \\[not-indexable\\]; use g\\.private\\(type, n\\) for an array that is indexed by a variable$"
  x[4] = m.flat // ### "^10: `m\\.flat` is an array, not a number \\[too-few-indices\\]; write `m\\.flat\\[i\\]\\[j\\]`$"
  x[5] = ps[0].y // ### "^16: Particle has no field y \\[unknown-field\\]; its fields are x, v, id$"
  x[6] = ps[0].v // ### "^10: `ps\\[0\\]\\.v` is an array, not a number \\[too-few-indices\\]; write `ps\\[0\\]\\.v\\[i\\]`$"
  x[7] = ps.x // ### "^13: an array has no \\.x in a kernel \\[unknown-property\\]; each element has it: `\\[i\\]\\.x`$"
  x[8] = ps[0].v.x // ### "^18: an array has no \\.x in a kernel \\[unknown-property\\]; an array has \\.length, \\.shape and \\.flat; what is done to its elements is written as a loop$"
  x[9] = ps[0].v[3] // ### "^18: index 3 is outside of an extent of 3 \\[index-out-of-bounds\\]; $"
  x[10] = m.flat[0][1] // ### "^11: `m\\.flat\\[0\\]` is a number, which has no elements \\[too-many-indices\\]; leave the last index out$"
  x[11] = x[0].y // ### "^16: `x\\[0\\]` is a number, which has no property in a kernel \\[unknown-property\\]; $"
  x[12] = x['length']
  x[13] = ps[0]['x']
  x[14] = m.flat.length + m.flat.shape // ### "^27: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
  x[-1] = x[1.5] + x[2147483648] + x[NaN] // ### "^5: index -1 is negative \\[index-out-of-bounds\\]; count from 0$" "^13: 1\\.5 is no index \\[index-not-integer\\]; write an integer$" "^22: index 2147483648 is larger than any dimension \\[index-out-of-bounds\\]; $" "^38: NaN is no index \\[index-not-integer\\]; write an integer$"
  x[-9007199254740993n] = x[18446744073709551615n] + ps[9007199254740993n].x + m.flat[9223372036854775808n] // ### "^5: index -9007199254740993 is negative \\[index-out-of-bounds\\]; count from 0$" "^29: index 18446744073709551615 is larger than any dimension \\[index-out-of-bounds\\]; $" "^57: index 9007199254740993 is larger than any dimension \\[index-out-of-bounds\\]; $" "^87: index 9223372036854775808 is larger than any dimension \\[index-out-of-bounds\\]; $"
  x[15] = ps[0] + 1 // ### "^11: `ps\\[0\\]` is a record, not a number \\[not-a-number\\]; name a field of it$"
  ps[0] = 1 // ### "^11: `1` is no Particle \\[whole-record\\]; name a field: `\\.x = …`$"
  ps[0] = m[0] // ### "^11: `m\\[0\\]` is no Particle \\[whole-record\\]; $"
  ps[0].v = [1, 2, 3]
  ps[0].v = ps[1].v
  ps[0] = { x: 1, v: 2, id: 3 } // ### "^11: the field is an array of 3 elements \\[whole-record\\]; write an array of 3 elements$"
  ps[0] = { x: 1 } // ### "^11: the field v of Particle is missing \\[field-missing\\]; give every field, or copy: `\\{\\.\\.\\.r, …\\}`$"
  ps[0] = { ...ps[1], y: 3 } // ### "^23: Particle has no field y \\[unknown-field\\]; its fields are x, v, id$"
  ps[0] = { id: 1, ...ps[1] } // ### "^23: a record is spread at the beginning \\[no-object\\]; write \\.\\.\\.record first, then the fields that differ$"
  ps[0] = { ...x } // ### "^16: `\\.\\.\\.` copies a record, and this is none \\[no-object\\]; spread an element of a buffer of records$"
  m[0] = x // ### "^3: a whole array cannot be assigned: the buffer given for m has 2 dimensions \\[too-few-indices\\]; write `m\\[0\\]\\[i\\] = …`, or index m\\.flat, or pass a buffer of 1 dimension$"
  x.length = 3 // ### "^3: `x\\.length` cannot be assigned to \\[bad-assignment-target\\]; assign to a variable, or to an element of a buffer, g\\.shared or g\\.private array$"
  m.shape[0] = 1 // ### "^3: `m\\.shape\\[0\\]` cannot be assigned to \\[bad-assignment-target\\]; assign to a variable, or to an element of a buffer, g\\.shared or g\\.private array$"
  g.x = 1 // ### "^3: `g\\.x` cannot be assigned to \\[bad-assignment-target\\]; assign to a variable, or to an element of a buffer, g\\.shared or g\\.private array$"
}
---
//# args: f32[1], i32[1], i64[1], u64[1], u32[1]
//# options: warnings
(g, x, k, n, u, w) => {
  x[0] = n[0] // ### "^10: i64 does not become f32 by itself \\[mixed-64-bit\\]; convert: `f32\\(n\\[0\\]\\)`$"
  n[1] = x[0] // ### "^10: f32 does not become i64 by itself: 64-bit integers mix only with themselves and literals \\[mixed-64-bit\\]; convert: `i64\\(x\\[0\\]\\)`$"
  n[2] = k[0] + n[0] // ### "^10: i32 does not become i64 by itself: 64-bit integers mix only with themselves and literals \\[mixed-64-bit\\]; convert: `i64\\(k\\[0\\]\\)`$"
  n[3] = n[0] + u[0] // ### "^17: u64 does not become i64 by itself \\[mixed-64-bit\\]; convert: `i64\\(u\\[0\\]\\)`$"
  n[4] = n[0] + 1
  n[5] = n[0] < u[0] ? n[0] : u[0] // ### "^10: one side is i64, the other is u64 \\[types-do-not-join\\]; convert one of them: `i64\\(x\\)`$"
  n[6] = n[0] < 0.5 ? 1n : 2
  n[7] = n[0] >>> 1n // ### "^10: `>>>` of a 64-bit integer is not in the language \\[bad-operand\\]; write `u64\\(x\\) >> n`$"
  n[8] = n[0] << k[0]
  n[9] = n[0] ** -1n // ### "^10: `\\*\\*` of 64-bit integers takes the exponent 2 only \\[bad-operand\\]; multiply, in a loop if need be$"
  n[10] = 1n << 200n // ### "^11: the result has more than 64 bits, or is a fraction \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  n[11] = 36893488147419103232n // ### "^11: `36893488147419103232n` has more than 64 bits \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  n[12] = 2n ** 70n // ### "^11: `2n \\*\\* 70n` has more than 64 bits \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  n[13] = -u[0] + ~n[0] // ### "^19: i64 does not become u64 by itself \\[mixed-64-bit\\]; convert: `u64\\(~n\\[0\\]\\)`$"
  u[0] = -1n
  u[1] = n[0] | u[0] // ### "^17: u64 does not become i64 by itself \\[mixed-64-bit\\]; convert: `i64\\(u\\[0\\]\\)`$"
  u[2] = n[0] === u[0] ? 1n : 0n
  k[0] = n[0] // ### "^10: i64 does not become i32 by itself \\[mixed-64-bit\\]; convert: `i32\\(n\\[0\\]\\)`$"
  k[1] = u[0] % n[0] // ### "^17: i64 does not become u64 by itself \\[mixed-64-bit\\]; convert: `u64\\(n\\[0\\]\\)`$"
  k[2] = w[0] >> 1
  k[3] = Math.max(n[0], x[0]) // ### "^19: i64 does not become f32 by itself \\[mixed-64-bit\\]; convert: `f32\\(n\\[0\\]\\)`$"
  k[4] = Math.sqrt(n[0]) // ### "^20: i64 does not become f32 by itself \\[mixed-64-bit\\]; convert: `f32\\(n\\[0\\]\\)`$"
  k[5] = Math.clamp(n[0], 1, 2) // ### "^10: i64 does not become i32 by itself \\[mixed-64-bit\\]; convert: `i32\\(Math\\.clamp\\(n\\[0\\], 1, 2\\)\\)`$"
  k[6] = Math.imul(n[0], 2) // ### "^20: i64 does not become i32 by itself \\[mixed-64-bit\\]; convert: `i32\\(n\\[0\\]\\)`$"
  k[7] = Math.popcount(x[0])
  k[8] = n[n[0]] // ### "^10: i64 does not become i32 by itself \\[mixed-64-bit\\]; convert: `i32\\(n\\[n\\[0\\]\\]\\)`$"
  k[9] = k[5n] + k[u[0]]
  k[10] = n[0] && 1 // ### "^11: i64 does not become i32 by itself \\[mixed-64-bit\\]; convert: `i32\\(n\\[0\\] && 1\\)`$"
  k[11] = n[0] ? n[0] : 1.5 // ### "^11: one side is a 64-bit integer \\(i64\\), the other is not \\(f32\\) \\[types-do-not-join\\]; convert one of them: `i64\\(x\\)`$"
  let s = n[0] // ### "^7: s is assigned both 64-bit integers and other numbers \\[types-do-not-join\\]; convert what is assigned: `i64\\(x\\)`$"
  s = 1.5
  let z = 0
  z = n[0]
  switch (n[0]) { case 1: k[12] = 1; break; case 2n: k[12] = 2 }
  switch (k[0]) { case 1.5: k[13] = 1; break; case k[1]: k[13] = 2; case 1n: k[13] = 3 }
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  const a = g.shared(f32, 0), b = g.shared(f32, -1), c = g.shared(f32, k[0]), d = g.shared(f32), e = g.shared(3, 4) // ### "^27: a dimension of g\\.shared must be a positive integer known when the kernel is compiled \\[array-dimensions\\]; write a number, or capture a constant of the script$" "^49: a dimension of g\\.shared must be a positive integer known when the kernel is compiled \\[array-dimensions\\]; write a number, or capture a constant of the script$" "^72: a dimension of g\\.shared must be a positive integer known when the kernel is compiled \\[array-dimensions\\]; write a number, or capture a constant of the script$" "^83: `g\\.shared` takes 2 to 4 arguments; given: 1 \\[call-arguments\\]; write g\\.shared\\(type, length\\), or give two or three lengths$" "^111: `3` is no element type \\[array-type\\]; write f32, i32, … or a struct$"
  const h = g.private(f32, 1.5), i = g.private(f32, 1e9), j = g.private(k, 2), l = g.shared(f32, 2, 2, 2, 2) // ### "^28: a dimension of g\\.private must be a positive integer known when the kernel is compiled \\[array-dimensions\\]; write a number, or capture a constant of the script$" "^38: the array is larger than 65536 bytes \\[too-big\\]; use a buffer$" "^73: `k` is no element type \\[array-type\\]; write f32, i32, … or a struct$" "^84: `g\\.shared` takes 2 to 4 arguments; given: 5 \\[call-arguments\\]; write g\\.shared\\(type, length\\), or give two or three lengths$"
  if (k[0] > 1) { const z = g.shared(f32, 4) }
  for (let q = 0; q < 3; q++) { const z = g.private(f32, 4) }
  Atomics.add(x, 0) // ### "^3: `Atomics\\.add` takes 3 arguments; given: 2 \\[call-arguments\\]; write Atomics\\.add\\(array, index, value\\)$"
  Atomics.add(x, 1.5, 1) // ### "^18: 1\\.5 is no index \\[index-not-integer\\]; write an integer$"
  Atomics.and(x, 0, 1) // ### "^3: Atomics\\.and works on integers, not on f32 \\[bad-atomic\\]; use an integer buffer$"
  Atomics.add(k[0], 0, 1) // ### "^15: `k\\[0\\]` is a number, which has no elements: the buffer given for k has 1 dimension \\[too-many-indices\\]; leave the last index out, or pass a buffer of 2 dimensions$"
  Atomics.foo(k, 0, 1) // ### "^11: Atomics has no \\.foo in a kernel \\[unknown-property\\]; Atomics has add, and, compareExchange, exchange, load, max, min, or, store, sub, xor$"
  Atomics.compareExchange(k, 0, 1) // ### "^3: `Atomics\\.compareExchange` takes 4 arguments; given: 3 \\[call-arguments\\]; write Atomics\\.compareExchange\\(array, index, value, replacement\\)$"
  g.barrier(1) // ### "^3: `g\\.barrier` takes 0 arguments; given: 1 \\[call-arguments\\]; $"
  g.reduce.mul(1) // ### "^12: g\\.reduce has no \\.mul \\[unknown-property\\]; write \\.add, \\.min or \\.max$"
  g.scan.max(1)
  g.subgroup.rotate(1) // ### "^14: g\\.subgroup has no \\.rotate in a kernel \\[unknown-property\\]; g\\.subgroup has add, all, any, ballot, broadcast, max, min, scanAdd, shuffle, shuffleDown, shuffleUp, shuffleXor$"
  g.subgroup.shuffle(1) // ### "^3: `g\\.subgroup\\.shuffle` takes 2 arguments; given: 1 \\[call-arguments\\]; $"
  g.subgroup.any(k) // ### "^18: `k` is an array, not a number \\[too-few-indices\\]; write `k\\[i\\]`$"
  g.print()
  g.print(`a ${k}`) // ### "^16: `k` is an array, not a number \\[too-few-indices\\]; write `k\\[i\\]`$"
  g.assert() // ### "^3: `g\\.assert` takes at least 1 argument; given: 0 \\[call-arguments\\]; $"
  g.assert(k[0], k[1])
  g.call() // ### "^3: `g\\.call` takes at least 1 argument; given: 0 \\[call-arguments\\]; $"
  g.call(k[0]) // ### "^10: the name of a host service is a string literal \\[call-arguments\\]; write g\\.call\\('name', …\\)$"
  g.call('f', k) // ### "^15: `k` is an array, not a number \\[too-few-indices\\]; write `k\\[i\\]`$"
  x[0] = g.call('f', 1) + g.barrier() // ### "^27: `g\\.barrier\\(\\)` has no value \\[no-value\\]; $"
  x[1] = bits(k) + fromBits(f32) + fromBits(k[0], 1) + bits() // ### "^15: `k` is an array, not a number \\[too-few-indices\\]; write `k\\[i\\]`$" "^20: `fromBits` takes 2 arguments; given: 1 \\[call-arguments\\]; $" "^45: fromBits needs a type with 32 or 64 bits \\[bad-conversion\\]; write f32, f64, i32, u32, i64 or u64$" "^56: `bits` takes 1 argument; given: 0 \\[call-arguments\\]; $"
  x[2] = f32(1, 2) + f32() + bool(k) + i32('a') // ### "^10: `f32` takes 1 argument; given: 2 \\[call-arguments\\]; $" "^22: `f32` takes 1 argument; given: 0 \\[call-arguments\\]; $" "^35: `k` is an array, not a number \\[too-few-indices\\]; write `k\\[i\\]`$" "^44: a string is no value of a kernel \\[no-string\\]; text is for g\\.print and g\\.assert only$"
  x[3] = Math.foo(1) + Math.max() + Math.min + Math + Math.PI(1) // ### "^15: Math\\.foo is not in kernels \\[unknown-math-function\\]; write it as a function of your own, which the kernel calls$" "^37: `Math\\.min` is no number \\[not-a-number\\]; $" "^48: `Math` is no number \\[not-a-number\\]; $" "^55: `Math\\.PI` is no function of a kernel \\[not-callable\\]; it is a number: write `Math\\.PI` without parentheses$"
  x[4] = Math.fma(1, 2) + Math.atan2(1) + Math.hypot() + Math.clamp(1) // ### "^10: `Math\\.fma` takes 3 arguments; given: 2 \\[call-arguments\\]; $" "^27: `Math\\.atan2` takes 2 arguments; given: 1 \\[call-arguments\\]; $" "^58: `Math\\.clamp` takes 3 arguments; given: 1 \\[call-arguments\\]; $"
  x[5] = Math.frexp(x[0]) + Math.ldexp(x[0], 1.5) // ### "^10: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$" "^46: the exponent of Math\\.ldexp is an integer \\[bad-operand\\]; write `n \\| 0`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  const rec = (n) => n > 0 ? rec(n - 1) : 0 // ### "^30: rec calls itself \\(rec ← rec\\): helper functions are inlined \\[no-recursion\\]; write a loop$"
  x[0] = rec(3)
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  const noReturn = (n) => { if (n) return 1 } // ### "^20: noReturn returns a value on some ways only \\[helper-return\\]; return a value at the end$"
  x[1] = noReturn(k[0])
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  const mixed = (n) => { if (n > 3) return 1; return [1, 2] } // ### "^54: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
  x[2] = mixed(k[0])
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  const arity = (a, b) => a + b
  x[3] = arity(1) + arity(1, 2, 3) // ### "^10: `arity` takes at least 2 arguments; given: 1 \\[call-arguments\\]; write arity\\(a, b\\)$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[4] = huge(1) // ### "^10: `huge\\(1\\)` has no value \\[no-value\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[5] = k[0] > 1 ? [1, 2] : [1, 2, 3] // ### "^10: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[6] = (k[0] > 1 ? { a: 1 } : { b: 1 }).a // ### "^11: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[7] = (k[0] > 1 ? { a: 1, b: 2 } : { a: 1 }).a // ### "^11: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[8] = (k[0] > 1 ? x : k)[0] // ### "^11: one of two arrays cannot be chosen by a condition of the launch \\[not-a-value\\]; choose the index or the value instead: `c \\? a\\[i\\] : b\\[i\\]`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[9] = k[0] > 1 ? g.barrier() : 1 // ### "^10: `k\\[0\\] > 1 \\? g\\.barrier\\(\\) : 1` has no value \\[no-value\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[10] = k(1) // ### "^11: `k` is no function of a kernel \\[not-callable\\]; elements are written `k\\[i\\]`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  x[11] = x[0](1) // ### "^11: `x\\[0\\]` is no function of a kernel \\[not-callable\\]; it is a number: write `x\\[0\\]` without parentheses$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
//# let huge = (a) => { while (true) { a = a + 1 } }
(g, x, k) => {
  return 1 // ### "^3: a kernel returns no value \\[helper-return\\]; store it in a buffer: `y\\[g\\.x\\] = …`$"
  x[12] = 1
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  out: for (;;) { break inner } // ### "^19: undefined label 'inner' \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  continue // ### "^3: illegal continue statement \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  break // ### "^3: illegal break statement \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  a: { continue a } // ### "^8: illegal continue statement \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  b: b: { x[0] = 1 } // ### "^6: label 'b' already exists \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  switch (k[0]) { case 1: continue } // ### "^27: illegal continue statement \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  switch (k[0]) { default: x[0] = 1; default: x[1] = 1 } // ### "^38: already saw a default in switch \\[syntax-error\\]; $"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  const q = 1, q = 2 // ### "^16: q is declared twice \\[duplicate-name\\]; give one of them another name$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  let x = 3
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  q = 4 // ### "^3: q is captured from the script: a kernel cannot assign it \\[assign-to-const\\]; store results in a buffer; declare variables with `let`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  undefinedName++ // ### "^3: undefinedName is captured from the script: a kernel cannot assign it \\[assign-to-const\\]; store results in a buffer; declare variables with `let`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  Infinity = 3 // ### "^3: Infinity is captured from the script: a kernel cannot assign it \\[assign-to-const\\]; store results in a buffer; declare variables with `let`$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  const late = early // ### "^16: early is not defined \\[unknown-name\\]; declare it, or pass it as an argument$"
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  const early = 1
}
---
//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  if (k[0]) const inside = 1 // ### "^13: lexical declaration cannot appear in a single-statement context \\[syntax-error\\]; $"
}
---
//# args: f32[1]
//# options: warnings
(g, x) => {
  x[0] = Math.fast.floor(x[1]) // ### "^20: Math\\.fast\\.floor is not in kernels \\[unknown-math-function\\]; write Math\\.floor$"
  x[0] = Math.fast.ceil(x[1]) // ### "^20: Math\\.fast\\.ceil is not in kernels \\[unknown-math-function\\]; write Math\\.ceil$"
  x[0] = Math.fast.trunc(x[1]) // ### "^20: Math\\.fast\\.trunc is not in kernels \\[unknown-math-function\\]; write Math\\.trunc$"
  x[0] = Math.fast.round(x[1]) // ### "^20: Math\\.fast\\.round is not in kernels \\[unknown-math-function\\]; write Math\\.round$"
  x[0] = Math.fast.abs(x[1]) // ### "^20: Math\\.fast\\.abs is not in kernels \\[unknown-math-function\\]; write Math\\.abs$"
  x[0] = Math.fast.sign(x[1]) // ### "^20: Math\\.fast\\.sign is not in kernels \\[unknown-math-function\\]; write Math\\.sign$"
  x[0] = Math.fast.fround(x[1]) // ### "^20: Math\\.fast\\.fround is not in kernels \\[unknown-math-function\\]; write Math\\.fround$"
  x[0] = Math.fast.clz32(x[1]) // ### "^20: Math\\.fast\\.clz32 is not in kernels \\[unknown-math-function\\]; write Math\\.clz32$"
  x[0] = Math.fast.ctz(x[1]) // ### "^20: Math\\.fast\\.ctz is not in kernels \\[unknown-math-function\\]; write Math\\.ctz$"
  x[0] = Math.fast.popcount(x[1]) // ### "^20: Math\\.fast\\.popcount is not in kernels \\[unknown-math-function\\]; write Math\\.popcount$"
  x[0] = Math.fast.frexp(x[1]) // ### "^20: Math\\.fast\\.frexp is not in kernels \\[unknown-math-function\\]; write Math\\.frexp$"
  x[0] = Math.fast.exp(x[1])
  x[0] = Math.fast.sin(x[1])
  x[0] = Math.fast.sqrt(x[1])
  x[1] = Math.fast.min(1, 2) + Math.fast.max(1, 2) + Math.fast.pow(x[0], 2) // ### "^20: Math\\.fast\\.min is not in kernels \\[unknown-math-function\\]; write Math\\.min$" "^42: Math\\.fast\\.max is not in kernels \\[unknown-math-function\\]; write Math\\.max$"
  x[2] = Math.fast.hypot(1, 2) // ### "^20: Math\\.fast\\.hypot is not in kernels \\[unknown-math-function\\]; write Math\\.hypot$"
  x[3] = Math.fast.fma(1, 2, 3) // ### "^20: Math\\.fast\\.fma is not in kernels \\[unknown-math-function\\]; write Math\\.fma$"
  x[4] = Math.fast.clamp(1, 2, 3) // ### "^20: Math\\.fast\\.clamp is not in kernels \\[unknown-math-function\\]; write Math\\.clamp$"
  x[5] = Math.fast.mix(1, 2, 3) // ### "^20: Math\\.fast\\.mix is not in kernels \\[unknown-math-function\\]; write Math\\.mix$"
  x[6] = Math.fast.imul(1, 2) // ### "^20: Math\\.fast\\.imul is not in kernels \\[unknown-math-function\\]; write Math\\.imul$"
  x[7] = Math.fast.mulhi(1, 2) // ### "^20: Math\\.fast\\.mulhi is not in kernels \\[unknown-math-function\\]; write Math\\.mulhi$"
  x[8] = Math.fast.ldexp(x[0], 2) // ### "^20: Math\\.fast\\.ldexp is not in kernels \\[unknown-math-function\\]; write Math\\.ldexp$"
}
