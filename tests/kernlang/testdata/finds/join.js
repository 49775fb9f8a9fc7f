// A helper that returns from within was taken for i32 at first, and a u64 that was read after that stayed the i64 that
// the mistaken join had given. progen, seed 10069, 2026-11-21.
//# size: 2
//# u: u64 = 5 6
//# y: u64[2] -> 1 6
(g, u, y) => {
  const h = (x) => { if (x > 5) return x; return u64(1) }
  let s = u[g.x]
  s = s
  s = h(s)
  y[g.x] = s
}
---
// The same of a variable without a first value, in a loop.
//# u: u64 = 5 6 7
//# y: u64[1] -> 8
(g, u, y) => {
  let s = u64(2), t
  for (let k = 0; k < 3; k++) { s += 1; if (k > 1) s = t; t = u[k] }
  y[0] = s + 2
}
