//# args: f32[1], i32[1]
//# options: warnings
(g, x, k) => {
  x[0] = x[1] * k[0] // ### "^17: `k\\[0\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[1] = k[0] + 0.5 // ### "^10: `k\\[0\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
}
---
//# args: f32[1]
(g, x) => {
  const f = (n) => n
  let h = f // ### "^11: h is assigned again, and an array, record or function cannot be \\[reference-reassigned\\]; use `const`, and choose the index instead of the array$"
  h = 3
  let s = 'a' // ### "^11: a string is no value of a kernel \\[no-string\\]; text is for g\\.print and g\\.assert only$"
  const t = f
  x[0] = t(f) // ### "^10: a function is no value of a kernel \\[no-closure\\]; call it: `f\\(…\\)`$"
  x[1] = {a: 1}[0] // ### "^10: `\\{a: 1\\}` has fields, no elements \\[not-indexable\\]; write \\.name$"
  x[2] = -x // ### "^11: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  x[3] = !g // ### "^11: `g` is no number \\[not-a-number\\]; write `g\\.x`, \\.y or \\.z$"
  x[4] = x + 1 // ### "^10: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  x[5] += x // ### "^11: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  if (x) x[6] = 1 // ### "^7: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  while (g.local) x[7] = 1 // ### "^10: `g\\.local` is no number \\[not-a-number\\]; write `g\\.local\\.x`, \\.y or \\.z$"
  switch (x) { case 1: x[0] = 1 } // ### "^11: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  x[8] = f(1, 2)
  x[9] = Math.min(x, 1) // ### "^19: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  x[10] = x ? 1 : 2 // ### "^11: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  x[11] = (x, 1)
  g.print(x) // ### "^11: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  g.assert(x) // ### "^12: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  Atomics.add(x, 0, x) // ### "^21: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  const {a} = x // ### "^10: an array has no \\.a in a kernel \\[unknown-property\\]; an array has \\.length, \\.shape and \\.flat; what is done to its elements is written as a loop$"
  const [b] = g // ### "^15: this is no array to take apart \\[bad-pattern\\]; $"
  x[13] = b
  x[12] = x && 1 // ### "^11: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
}
---
//# args: f32[1]
(g, x) => {
  let a = 0
  for (let i = 0; i < 3; i++) a = b // ### "^35: b is used before its declaration \\[used-before-declaration\\]; move the declaration up$"
  let b = 2
  switch (g.x) {
    case 0: let c = 1
    case 1: x[0] = c // ### "^20: c is used before its declaration \\[used-before-declaration\\]; move the declaration up$"
  }
}
---
//# args: f32[1], i32[1], u8[1]
//# options: warnings
(g, x, k, b) => {
  x[0] = k[0] // ### "^10: `k\\[0\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[1] = k[0] / 3 // ### "^10: `k\\[0\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[2] = Math.sin(k[1]) + k[2] * 0.5 // ### "^19: `k\\[1\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$" "^27: `k\\[2\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[3] = k[0] ** 2.5 // ### "^10: `k\\[0\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  let s = 0.5
  s = k[1] // ### "^7: `k\\[1\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[4] = s + b[0] * 0.5
  x[5] = x[0] * x[1] + k[3] // ### "^24: `k\\[3\\]` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[6] = f32(k[0])
  x[7] = k[0] * k[1] // package overflow warns of it
  const t = k[0] - k[1]
  x[8] = 0.5 * t // package overflow warns of it
  x[9] = (k[0] + k[1] | 0) * 0.5 // ### "^11: `k\\[0\\] \\+ k\\[1\\] \\| 0` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[10] = Math.imul(k[0], k[1]) // ### "^11: `Math\\.imul\\(k\\[0\\], k\\[1\\]\\)` is i32; beyond 2²⁴ it is rounded to become f32 \\[inexact-conversion\\]; write f32\\(…\\), if that is meant$"
  x[11] = g.x * 4 + 1
}
---
//# args: f64[1], i32[1]
//# options: warnings
(g, x, k) => {
  x[0] = k[0] * 0.5
  x[1] = (k[0] + k[1]) * 0.5 // package overflow warns of it
}
