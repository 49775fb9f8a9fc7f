// [1.1] a function expression
//# y: i32[1] -> 7
function (g, y) { y[0] = 7 }
---
// [1.1] a method
//# y: i32[1] -> 7
fill(g, y) { y[0] = 7 }
---
// [1.1] not async
//# y: i32[1]
//# error: async-kernel 1:1
async (g, y) => { y[0] = 7 }
---
// [1.1] no generator
//# error: async-kernel 1:1
function* (g, y) { y[0] = 7 }
---
// [1.2] the item object is missing
//# error: no-item-parameter 1:1
() => {}
---
// [1.2] a plain name
//# error: bad-pattern 1:5
(g, {a}) => {}
---
// [1.3] the place in the text
//# y: i32[1]
//# error: unknown-name 3:14
(g, y) => {
  const é = 1
  y[0] = é + nowhere
}
---
// [2.2] numbers, BigInts and booleans
//# let K = 2.5
//# let B = 5n
//# let T = true
//# y: f32[1] -> 2.5
//# z: i64[1] -> 5
(g, y, z) => { if (T) { y[0] = K; z[0] = B } }
---
// [2.3] a function that captures
//# let K = 3
//# let twice = (x) => x * K
//# y: f32[1] -> 6
(g, y) => { y[0] = twice(2) }
---
// [2.5] tables
//# let list = [1, -2, 3]
//# let real = [0.5, 1]
//# let large = [4294967295]
//# let bytes = u8[200, 3]
//# size: 3
//# y: f32[3] -> 201.5 201 4.5
//# z: u32[3] -> 0xffffffff 0xffffffff 0xffffffff
(g, y, z) => { y[g.x] = list[g.x] + bytes[g.x % 2] * (g.x === 2 ? 0 : 1) + (g.x === 0 ? real[0] : g.x === 1 ? 0 : 1.5) + (g.x === 1 ? 200 : 0); z[g.x] = large[0] }
---
// [2.5] a table is constant
//# let list = [1, 2]
//# y: i32[1]
//# error: constant-table 1:13
(g, y) => { list[0] = 3; y[0] = list[0] }
---
// [2.9] names of the language
//# y: f32[3] -> inf nan 3
(g, y) => { y[0] = Infinity; y[1] = NaN; y[2] = Math.abs(f32(-3)) }
---
// [3.1] every statement
//# y: i32[6] -> 3 6 2 9 8 1
(g, y) => {
  let s = 0
  for (let i = 0; i < 3; i++) { s += i; y[0]++ }
  while (s > 2) s--
  do { y[1] += 3 } while (y[1] < 6)
  y[2] = s
  switch (s) { case 1: y[3] = 1; break; case 2: y[3] = 4; default: y[3] += 5 }
  if (s === 2) y[4] = 8; else y[4] = 9;
  ;
  { const s = 1; y[5] = s }
  function unused() { return 1 }
}
---
// [3.2] labels
//# y: i32[2] -> 3 7
(g, y) => {
  outer: for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 3) break outer; y[0]++ }
  }
  b: { y[1] = 7; if (y[0] === 3) break b; y[1] = 8 }
}
---
// [3.3] helpers assign what is around them
//# y: i32[2] -> 5 2
(g, y) => {
  let n = 0
  const count = (x) => { n++; return x + 1 }
  y[0] = count(count(3))
  y[1] = n
}
---
// [3.3] through a helper that is declared below, in a loop and behind a condition
//# y: i32[3] -> 3 3 1
(g, y) => {
  let n = 0, m = 0
  const a = () => { b(); if (n === 3) c() }
  const b = () => { n++ }
  const c = () => { m = 1 }
  for (let i = 0; i < 3; i++) a()
  y[0] = n
  if (g.x < 1) y[1] = n
  y[2] = m
}
---
// [3.3] recursion
//# y: i32[1]
//# error: no-recursion 2:32
(g, y) => {
  const f = (n) => n > 0 ? n * f(n - 1) : 1
  y[0] = f(3)
}
---
// [3.4] early returns
//# size: 3
//# y: i32[3] -> -1 0 20
(g, y) => {
  const f = (n) => { if (n === 0) return -1; for (let i = 0; i < 3; i++) if (i === n) return n * 10 - 10 + n * 5 - 5 * n + (n === 2 ? 10 : 0); return 9 }
  y[g.x] = f(g.x)
}
---
// [3.4] several values
//# y: i32[2] -> 2 3
(g, y) => {
  const f = (n) => { if (n > 1) return [n, n + 1]; return [0, 0] }
  const [a, b] = f(2)
  y[0] = a; y[1] = b
}
---
// [3.4] a return of nothing
//# size: 5
//# n: i64[5] -> 0 1 0 0 0
//# y: i32[5] -> 2 3 1 1 4
(g, n, y) => {
  const f = (i) => { if (i > 1) return void (y[i] = 1); y[i] = 2 }
  if (g.x === 1) return void (y[1] = 3, y[1] > 2 && (n[1] = 1n))
  if (g.x === 4) return g.x > 3 ? void (y[4] = 4) : void 0
  f(g.x)
}
---
// [3.4] a return of nothing or of a value
//# y: i32[1]
//# error: helper-return 1:13
(g, y) => { return g.x > 1 ? void 0 : 3 }
---
// [3.4] nothing on one way, and a value on the other
//# y: i32[1]
//# error: helper-return 1:23
(g, y) => { const f = (n) => { if (n > 1) return void 0; return 3 }; y[0] = f(y[0]) }
---
// [3.4] a value on some ways only
//# y: i32[1]
//# error: helper-return 1:23
(g, y) => { const f = (n) => { if (n > 1) return 3 }; y[0] = f(y[0]) }
---
// [3.5] destructuring
//# y: i32[4] -> 2 1 5 6
(g, y) => {
  let a = 1, b = 2;
  [a, b] = [b, a]
  const [c, d] = [a + 3, b + 5]
  y[0] = a; y[1] = b; y[2] = c; y[3] = d
}
---
// [3.5] records, and arrays in records, are swapped
//# ps: Particle[4]
//# y: f32[6] -> 2 12 1 11 11 12
(g, ps, y) => {
  const p = ps[1], q = ps[2];
  [ps[1], ps[2]] = [q, p]
  y[0] = p.x; y[1] = p.v[1]; y[2] = q.x; y[3] = q.v[1];
  [ps[1].v, ps[2].v] = [ps[2].v, ps[1].v]
  y[4] = p.v[1]; y[5] = q.v[1]
}
---
// [3.5] no defaults
//# y: i32[1]
//# error: bad-pattern 1:20
(g, y) => { const [a = 1] = [2]; y[0] = a }
---
// [3.6] text in print
//# y: f32[1] -> 1.5
//# prints: "y is 1.5 and 3" "plain 2 true"
(g, y) => { y[0] = 1.5; g.print(`y is ${y[0]} and ${1 + 2}`); g.print('plain', 2, g.x === 0) }
---
// [3.6] text elsewhere
//# y: f32[1]
//# error: no-string 1:20
(g, y) => { y[0] = 'text' }
---
// [3.6] a template elsewhere
//# y: f32[1]
//# error: text-only-in-print 1:20
(g, y) => { y[0] = `text` }
---
// [3.7] var
//# error: no-var 1:13
(g, y) => { var a = 1; y[0] = a }
---
// [3.7] exceptions
//# error: unsupported-statement 1:13
(g, y) => { throw 1 }
---
// [3.7] new
//# error: no-object 1:20
(g, y) => { y[0] = new Float32Array(1)[0] }
---
// [3.7] this
//# y: f32[1]
//# error: unsupported-expression 1:20
(g, y) => { y[0] = this }
---
// [3.7] null
//# y: f32[1]
//# error: unsupported-expression 1:20
(g, y) => { y[0] = null }
---
// [3.7] typeof
//# y: f32[1]
//# error: unsupported-expression 1:20
(g, y) => { y[0] = typeof y }
---
// [3.7] delete
//# y: f32[1]
//# error: unsupported-expression 1:20
(g, y) => { y[0] = delete y[0] }
---
// [3.7] ?.
//# y: f32[1]
//# error: unsupported-expression 1:20
(g, y) => { y[0] = y?.length }
---
// [3.7] ??
//# y: f32[1]
//# error: unsupported-expression 1:20
(g, y) => { y[0] = y[0] ?? 1 }
---
// [3.7] a regular expression
//# y: f32[1]
//# error: no-string 1:20
(g, y) => { y[0] = /a/ }
---
// [3.7] for…in
//# y: f32[1]
//# error: unsupported-statement 1:13
(g, y) => { for (const k in y) y[k] = 1 }
---
// [3.7] a class
//# y: f32[1]
//# error: no-object 1:13
(g, y) => { class A {} }
---
// [3.7] debugger
//# y: f32[1]
//# error: unsupported-statement 1:13
(g, y) => { debugger }
---
// [3.7] try
//# y: f32[1]
//# error: unsupported-statement 1:13
(g, y) => { try { y[0] = 1 } catch {} }
---
// [3.7] a generator
//# y: f32[1]
//# error: async-kernel 1:13
(g, y) => { function* f() {} }
---
// [3.7] await
//# y: f32[1]
//# error: async-kernel 1:23
(g, y) => { const f = async () => await 1 }
---
// [3.7] for…of
//# error: unsupported-statement 1:13
(g, y) => { for (const v of y) y[0] = v }
---
// [3.8] a function as a value
//# y: f32[1]
//# error: no-closure 1:20
(g, y) => { y[0] = () => 1 }
---
// [3.8] a function that is chosen
//# y: f32[1]
//# error: no-closure 1:61
(g, y) => { const a = (v) => v, b = (v) => v + 1; const c = g.x > 0 ? a : b; y[0] = c(1) }
---
// [3.8] a function in a variable that changes
//# y: f32[1]
//# error: reference-reassigned 1:21
(g, y) => { let f = (a) => a; f = 2; y[0] = f }
---
// [3.9] defaults, which may name parameters before them
//# x: f32 = 3 5
//# y: f32[4] -> 4 10 3 12
(g, x, y) => {
  const f = (a, b = 1, c = a * b) => b === 1 ? a + b : c
  y[0] = f(x[0]); y[1] = f(x[1], 2); y[2] = f(x[0], 7, x[0]); y[3] = f(x[0], 4, undefined)
}
---
// [3.10] constants indexed by a variable
//# x: f32 = 1 2 3 4
//# y: f32[2] -> 2 3
//# z: i32[2] -> 7 -1
(g, x, y, z) => {
  const w = [0.25, 0.5, 0.25], n = [5, 7, -1]
  for (let i = 0; i < 2; i++) {
    let s = 0.0
    for (let k = 0; k < w.length; k++) s += w[k] * x[i + k]
    y[i] = s
    z[i] = n[i + 1]
  }
}
---
// [16.5] tests of floats
//# x: f32 = nan inf 1.5 -2
//# size: 4
//# y: i32[4] -> 21 0 10 46
//# d: f64[2] -> 2.220446049250313e-16 9007199254740991
(g, x, y, d) => {
  const v = x[g.x]
  y[g.x] = i32(isNaN(v)) + 2 * i32(isFinite(v)) + 4 * i32(Number.isNaN(v)) + 8 * i32(Number.isFinite(v)) + 16 * i32(Number.isNaN(NaN) && Number.isNaN(v)) + 36 * i32(Number.isInteger(v)) + 0 * i32(isNaN(g.x))
  if (g.x === 0) { d[0] = Number.EPSILON; d[1] = Number.MAX_SAFE_INTEGER }
}
