// a falling counter that wraps past a test of its next value is not below its first value: no write is far outside
//# x: i32[2]
//# a = -2147483648
//# fault: out-of-bounds 5:19
(g, x, a) => {
  if (a < x.length) {
    let i = a
    while (true) {
      if (i >= 0) x[i] = 7
      const j = i - 2
      if (j > 2147483646) break
      i = j
    }
  }
}
---
// likewise by a step of half the type
//# x: i32[2]
//# a = -2147483645
//# fault: out-of-bounds 5:19
(g, x, a) => {
  if (a < x.length) {
    let i = a
    while (true) {
      if (i >= 0) x[i] = 7
      const j = i + (-2147483648)
      if (j > 2147483646) break
      i = j
    }
  }
}
---
// a load that could not fail by an outer loop's refuted guess stays behind its loop's test
//# y: i32[1] -> 15
//# n = 0
//# n2 = 4
(g, y, n, n2) => {
  const s = g.shared(i32, 1)
  s[0] = 5
  let i = 0, acc = 0
  for (let t = 0; t < n2; t++) {
    const m = i === 0 ? 3 : 0
    for (let q = 0; q < m; q++) acc += s[i]
    let v1 = 0
    for (let u1 = 0; u1 < n; u1++) {
      v1 = v1 * 3 - 1
      acc += v1
      let v2 = 0
      for (let u2 = 0; u2 < n; u2++) {
        v2 = v2 * 3 - 1
        acc += v2
        let v3 = 0
        for (let u3 = 0; u3 < n; u3++) {
          v3 = v3 * 3 - 1
          acc += v3
          let v4 = 0
          for (let u4 = 0; u4 < n; u4++) {
            v4 = v4 * 3 - 1
            acc += v4
            let v5 = 0
            for (let u5 = 0; u5 < n; u5++) {
              v5 = v5 * 3 - 1
              acc += v5
              let v6 = 0
              for (let u6 = 0; u6 < n; u6++) {
                v6 = v6 * 3 - 1
                acc += v6
                let v7 = 0
                for (let u7 = 0; u7 < n; u7++) {
                  v7 = v7 * 3 - 1
                  acc += v7
                  let v8 = 0
                  for (let u8 = 0; u8 < n; u8++) {
                    v8 = v8 * 3 - 1
                    acc += v8
                    let v9 = 0
                    for (let u9 = 0; u9 < n; u9++) {
                      v9 = v9 * 3 - 1
                      acc += v9
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
    i = (i ^ 1) * 7
  }
  y[0] = acc
}
---
// an f32 that is counted up by 1 stays at 2²⁴, where LLVM would count in integers up to the limit
//# y: i32[2] -> 31 31
(g, y) => {
  let n = 0
  for (let x = f32(16777210); x < 16777220; x++) {
    n++
    if (n > 30) break
  }
  y[0] = n
  n = 0
  for (let x = f32(-16777210); x > -16777220; x -= 1) {
    n++
    if (n > 30) break
  }
  y[1] = n
}
