(g, x) => { x[0] = } // ### "^20: unexpected token \\} \\[syntax-error\\]; $"
---
class K {} // ### "^1: a class is no kernel \\[not-a-function\\]; give kernel\\(\\) a function$"
---
42 // ### "^1: this is no function \\[not-a-function\\]; give kernel\\(\\) a function expression, an arrow function or a method$"
---
async (g) => {} // ### "^1: a kernel function is neither async nor a generator \\[async-kernel\\]; write a plain function$"
---
() => {} // ### "^1: a kernel's first parameter is the item object \\[no-item-parameter\\]; write `\\(g, x, y\\) => …`$"
---
({x}) => {} // ### "^2: a kernel's parameters cannot be destructured \\[bad-pattern\\]; give each parameter a plain name$"
---
(g, {a}) => {} // ### "^5: a kernel's parameters cannot be destructured \\[bad-pattern\\]; give each parameter a plain name$"
---
//# args: f32[1]
(g, x) => {
  var i = g.x // ### "^3: `var` is not in kernels \\[no-var\\]; write `let` or `const`$"
  for (var k = 0; k < 3; k++) x[k] = 1 // ### "^12: `var` is not in kernels \\[no-var\\]; write `let`$"
  for (const v of x) x[0] = v // ### "^3: for…of is not in kernels \\[unsupported-statement\\]; write `for \\(let i = 0; i < xs\\.length; i\\+\\+\\)`$"
  for (const k in x) x[0] = 1 // ### "^3: for…in is not in kernels \\[unsupported-statement\\]; write `for \\(let i = 0; i < xs\\.length; i\\+\\+\\)`$"
  throw 1 // ### "^3: exceptions are not in kernels \\[unsupported-statement\\]; write `g\\.assert\\(condition, 'message'\\)`$"
  try { x[0] = 1 } catch (e) { x[0] = 2 } // ### "^3: exceptions are not in kernels \\[unsupported-statement\\]; test for the condition before$"
  class A {} // ### "^3: classes are not in kernels \\[no-object\\]; use struct\\(\\{…\\}\\) for records$"
  debugger // ### "^3: `debugger` is not in kernels \\[unsupported-statement\\]; use g\\.print, or kernel\\.debug from the script$"
}
---
//# args: f32[1]
(g, x) => {
  const a = null // ### "^13: null is not in kernels \\[unsupported-expression\\]; use 0, or a bool beside the value$"
  const b = this // ### "^13: `this` is not in kernels \\[unsupported-expression\\]; name the item object, the first parameter$"
  const c = new Float32Array(3) // ### "^13: `new` is not in kernels \\[no-object\\]; use g\\.private\\(type, n\\) for an array of the item, g\\.shared\\(type, n\\) for one of the group$"
  const d = /re/ // ### "^13: regular expressions are not in kernels \\[no-string\\]; $"
  const e = x?.length // ### "^13: `\\?\\.` is not in kernels \\[unsupported-expression\\]; write `\\.`: nothing is null in a kernel$"
  const f = a ?? 1 // ### "^13: `\\?\\?` is not in kernels \\[unsupported-expression\\]; leave it out: nothing is null in a kernel$"
  const h = typeof g // ### "^13: `typeof` is not in kernels \\[unsupported-expression\\]; types are known without it$"
  x[0] ??= 1 // ### "^3: `\\?\\?=` is not in kernels \\[unsupported-expression\\]; leave it out: nothing is null in a kernel$"
  const j = delete x[0] // ### "^13: `delete` is not in kernels \\[unsupported-expression\\]; types are known without it$"
  const k = class {} // ### "^13: classes are not in kernels \\[no-object\\]; use struct\\(\\{…\\}\\) for records$"
  const [m = 1] = [2] // ### "^10: a pattern in a kernel has no default values \\[bad-pattern\\]; leave it out: every element has a value$"
  const [...rest] = [2] // ### "^13: a pattern in a kernel has no rest element \\[bad-pattern\\]; name each element$"
  const {n = 1} = {n: 2} // ### "^10: a pattern in a kernel has no default values \\[bad-pattern\\]; leave it out: every field has a value$"
  const o = [1, , 2] // ### "^13: an array in a kernel has no holes \\[bad-pattern\\]; write every element$"
  const {[a]: p} = {} // ### "^11: a computed name is not in kernels \\[bad-pattern\\]; name the field$"
  const q = {[a]: 1} // ### "^15: a record has fields with plain names only \\[no-object\\]; write name: value$"
  const r = a`text` // ### "^14: tagged templates are not in kernels \\[no-string\\]; use a plain template string$"
  const s = [...x] // ### "^17: `\\.\\.\\.` copies records only, as in \\{\\.\\.\\.ps\\[i\\]\\} \\[unsupported-expression\\]; write the elements$"
}
---
//# args: f32[1]
(g, x, ...rest) => { // ### "^11: a kernel function has no rest parameter \\[bad-pattern\\]; name each parameter$"
  const f = (a = 1) => a
  const h = async () => 1 // ### "^13: a kernel function is neither async nor a generator \\[async-kernel\\]; write a plain function$"
}
---
//# args: f32[1]
(g, x) => {
  const a = 1, a = 2 // ### "^16: a is declared twice \\[duplicate-name\\]; give one of them another name$"
  let b = 1, [b, c] = [1, 2] // ### "^15: b is declared twice \\[duplicate-name\\]; give one of them another name$"
}
---
//# args: f32[1]
(g, x) => {
  const a = 1
  a = 3 // ### "^3: a is a constant \\[assign-to-const\\]; declare it with `let`$"
  a++ // ### "^3: a is a constant \\[assign-to-const\\]; declare it with `let`$"
  free = 1 // ### "^3: free is captured from the script: a kernel cannot assign it \\[assign-to-const\\]; store results in a buffer; declare variables with `let`$"
  function f() { return 1 }
  f = 2 // ### "^3: f is a constant \\[assign-to-const\\]; declare it with `let`$"
}
---
//# args: f32[1]
(g, x) => {
  baz: { for (;;) continue baz } // ### "^19: baz is the label of no loop \\[misplaced-break\\]; $"
}
---
//# args: f32[1]
(g, x) => {
  1 = 2 // ### "^3: invalid left-hand side in assignment \\[syntax-error\\]; $"
  x[0] = 'text'
  x[0] = `text ${x[0]}`
  const t = 'name'
}
---
//# args: f32[1]
(g, x) => {
  x[0] = 'text' // ### "^10: a string is no value of a kernel \\[no-string\\]; text is for g\\.print and g\\.assert only$"
  x[1] = `text ${x[0]}` // ### "^10: template strings are for g\\.print and g\\.assert only \\[text-only-in-print\\]; write g\\.print\\(`…`\\) or g\\.assert\\(condition, `…`\\)$"
  const t = 'name' // ### "^13: a string is no value of a kernel \\[no-string\\]; text is for g\\.print and g\\.assert only$"
  const u = {a: 1}
  x[2] = u // ### "^10: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
  x[3] = [1, 2] // ### "^10: this is several values, where one is needed \\[not-a-number\\]; take its elements apart: `const \\[a, b\\] = …`$"
  x[4] = g.barrier() // ### "^10: `g\\.barrier\\(\\)` has no value \\[no-value\\]; $"
  x[5] = g // ### "^10: `g` is no number \\[not-a-number\\]; write `g\\.x`, \\.y or \\.z$"
  x[6] = Math // ### "^10: `Math` is no number \\[not-a-number\\]; $"
  x[7] = x // ### "^10: `x` is an array, not a number \\[too-few-indices\\]; write `x\\[i\\]`$"
  x[8] = () => 1 // ### "^10: a function is no value of a kernel \\[no-closure\\]; call it: `f\\(…\\)`$"
}
---
//# args: f32[1]
(g, x) => {
  const f = (n) => n > 0 ? h(n - 1) : 0
  const h = (n) => f(n) // ### "^20: f calls itself \\(f ← h ← f\\): helper functions are inlined \\[no-recursion\\]; write a loop$"
  x[0] = f(3)
}
---
//# args: f32[1]
(g, x) => {
  x[0] = a // ### "^10: a is used before its declaration \\[used-before-declaration\\]; move the declaration up$"
  const a = 1
  let v
  x[1] = v // ### "^10: v has no value here \\[read-before-written\\]; give it a value: `let v = 0`$"
  let w
  if (x[2] > 0) w = 1
  x[2] = w
}
---
//# args: f32[1], f32[1]
(g, x, y) => {
  let row = x // ### "^13: row is assigned again, and an array, record or function cannot be \\[reference-reassigned\\]; use `const`, and choose the index instead of the array$"
  row = y // ### "^9: `y` is an array, not a number \\[too-few-indices\\]; write `y\\[i\\]`$"
  y = x // ### "^3: the buffer y cannot be assigned \\[reference-reassigned\\]; write to its elements, or use `const` for an alias$"
  g = 1 // ### "^3: the item object g cannot be assigned \\[assign-to-const\\]; use another variable$"
}
---
//# args: f32[1]
//# let bad = error it is assigned after its definition
//# let obj = {a: 1}
//# let list = []
//# let typed = u8[]
//# let huge = 99999999999999999999999n
(g, x) => {
  x[0] = nowhere // ### "^10: nowhere is not defined \\[unknown-name\\]; declare it, or pass it as an argument$"
  x[1] = bad // ### "^10: bad cannot be captured: it is assigned after its definition \\[not-capturable\\]; pass it as an argument$"
  x[2] = obj.b // ### "^14: obj has no field b \\[unknown-field\\]; obj has a$"
  x[3] = list[0.5] // ### "^15: 0\\.5 is no index \\[index-not-integer\\]; write an integer$"
  x[4] = typed[true] // ### "^16: the index `true` is bool, not an integer \\[index-not-integer\\]; write `true \\| 0`, or i32\\(…\\)$"
  x[5] = huge // ### "^10: `huge` has more than 64 bits \\[bigint-too-large\\]; compute it in the script, with BigInt\\.asIntN\\(64, …\\) or asUintN$"
  x[6] = obj // ### "^10: `obj` is no number \\[not-a-number\\]; $"
  x[7] = undefined // ### "^10: `undefined` has no value \\[no-value\\]; $"
}
---
//# args: f32[1]
//# let helper = (a) => a + // ### "^28: unexpected token \\) \\[syntax-error\\]; $"
(g, x) => { x[0] = helper(1) }
---
//# args: f32[1]
//# let helper = (a) => { a.foo = 1; return a.length } // ### "^29: `a` is a number, which has no property in a kernel \\[unknown-property\\]; $" "^47: `a` is a number, which has no property in a kernel \\[unknown-property\\]; $"
(g, x) => {
  x[0] = helper(x[1])
}
---
//# args: f32[1]
(g, x) => {
  switch (x[0] | 0) {
    case 1: x[0] = 2; break
    case UNKNOWN: x[0] = y // ### "^10: UNKNOWN is not defined \\[unknown-name\\]; declare it, or pass it as an argument$" "^26: y is not defined \\[unknown-name\\]; declare it, or pass it as an argument$"
    case 'a': x[0] = 3 // ### "^10: a string is no value of a kernel \\[no-string\\]; text is for g\\.print and g\\.assert only$"
  }
}
