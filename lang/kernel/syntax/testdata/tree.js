(g, x, y, n) => {
  const a = 1, b = 0x10, c = 1.5e3, big = 12345678901234567890n, yes = true, no = false
  let s = -x[g.x] + +y[0] * ~n, t = !yes, u, v = 0
  s += a << 2; s -= b >> 1; s *= n >>> 3; s /= c; s %= 7; s &= 1; s |= 2; s ^= 3; s <<= 1; s >>= 1; s >>>= 1; s **= 2
  s++; --s; u = v = s--
  t ||= x.length > 3 && yes; t &&= a < b || a <= b || a > b || a >= b
  t = a == b && a === b || a != b && a !== b
  x[g.x] = (s, v), y[v++] = n ** 2 ** 3
  const [p, , q] = [v, s, a], { k, m: w } = { k: 1, m: v, n, ...g.size }
  ;[x[0], s] = [s, x[0]]
  v = s > 0 ? x.shape[0] : g.group.x
  g.print(`at ${g.x}, ${v}`, 'text')
  g.assert(x.length, "named"); void s
  y.flat[p + q] = Math.max(k, w) + Atomics.add(y, 0, 1)
}
---
function named(g, x) {
  const add = (a, b) => a + b
  const twice = function (a) { return add(a, a) }
  function later(a) { v += a; return v }
  let v = 0, w
  outer: for (let i = 0, j = 1; i < 10; i++, j--) {
    { if (w > i) continue outer; w = i }
    inner: while (i < j) { if (v) break; else if (w) continue; v = i; break inner }
    do { v++; if (v > 3) break outer } while (v < 5)
    for (;;) break
  }
  block: { if (v) break block; v = twice(later(w)) }
  switch (v & 3) {
    case 0: case 1: w = 1; break
    case 2: { const w = 3; v = w }
    default: v = x[w]; return
    case 4:
  }
  if (v) { return } else v = 2
  let late = v, early = () => { late = 1 }
  early();
  {
    let v = 1
    v++
  }
}
---
(g, x) => x[g.x] = (1 + 2) * 3
---
(g, x, i, sum) => {
  const unused = ({ a, b: [c] }, d) => { const inner = () => { x[c] = d; i = 2 }; inner() }
  for (let k = 0; k < 3; k++) { let z = k; const up = () => { z++; i++ }; up() }
  while (i) { i--; { let i = 3; i = 4 } }
}
