//# args: i32[1], i32[1]
// one side, both sides and neither reach the end
(g, x, y) => {
  let v = 1
  if (x[g.x] > 0) v = 2
  else if (x[g.x] < -5) return
  else v += x[g.x]
  y[g.x] = v
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  let s = 0
  for (let k = 0; k < x.length; k++) {
    if (x[k] < 0) continue
    if (x[k] === 7) break
    s += x[k]
  }
  y[g.x] = s
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  switch (x[g.x]) {
    case 1: y[g.x] = 10; break
    case 2: y[g.x] = 20
    default: y[g.x] += 1
  }
}
---
//# args: i32[1], i32[1]
(g, x, y) => {
  const find = (limit) => {
    for (let k = 0; k < 4; k++) if (x[k] > limit) return k
    return -1
  }
  y[g.x] = find(3)
}
---
//# args: f32[1], f32[1]
// cheap sides become a select; a load does not
(g, x, y) => {
  const a = x[g.x]
  y[g.x] = a > 0 ? a : -a
  y[g.x] = g.x > 0 ? x[g.x - 1] : 0
  y[g.x] = g.x > 0 && a > 1 ? 1 : 2
}
---
//# args: f32[1]
//# let DEBUG = false
//# let N = 3
(g, y) => {
  if (DEBUG) g.print(`item ${g.x}: ${y[g.x]}`)
  for (let k = 0; k < N; k++) y[g.x] += k
  while (true) { y[g.x] += 1; if (y[g.x] > 9) break }
}
