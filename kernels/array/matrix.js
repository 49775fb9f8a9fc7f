// Matrix products. Each element is a sum in the order of the inner index, so tiles do not change its bits.

// multiplyTile computes 8 elements of a column in each item.
function multiplyTile(g, a, b, c) {
  const sum = g.private(value, 8)
  const left = REPEAT_A ? 0 : g.z, right = REPEAT_B ? 0 : g.z
  const x = g.x, y = 8 * g.y
  for (let k = 0; k < a.shape[2]; k++) {
    for (let i = 0; i < 8; i++) sum[i] += a[left][y + i][k] * b[right][k][x]
  }
  for (let i = 0; i < 8; i++) c[g.z][y + i][x] = sum[i]
}

// multiplyRow computes one element in each item, from a row on.
function multiplyRow(g, a, b, c, first) {
  const left = REPEAT_A ? 0 : g.z, right = REPEAT_B ? 0 : g.z
  const x = g.x, y = first + g.y
  let sum = value(0)
  for (let k = 0; k < a.shape[2]; k++) sum += a[left][y][k] * b[right][k][x]
  c[g.z][y][x] = sum
}
