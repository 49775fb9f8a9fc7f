// Matrix products. Each element is a sum in the order of the inner index, so tiles do not change its bits.

// multiplyTile computes ROWS elements of a column in each item.
function multiplyTile(g, a, b, c) {
  const sum = g.private(value, ROWS)
  const left = REPEAT_A ? 0 : g.z, right = REPEAT_B ? 0 : g.z
  const x = g.x, y = ROWS * g.y
  for (let k = 0; k < a.shape[2]; k++) {
    for (let i = 0; i < ROWS; i++) sum[i] += a[left][y + i][k] * b[right][k][x]
  }
  for (let i = 0; i < ROWS; i++) c[g.z][y + i][x] = sum[i]
}

// multiplyRow computes one element in each item, from a row on.
function multiplyRow(g, a, b, c, first) {
  const left = REPEAT_A ? 0 : g.z, right = REPEAT_B ? 0 : g.z
  const x = g.x, y = first + g.y
  let sum = value(0)
  for (let k = 0; k < a.shape[2]; k++) sum += a[left][y][k] * b[right][k][x]
  c[g.z][y][x] = sum
}

// packPanels copies a matrix to panels of PANEL columns, whose elements are adjacent in the order in which products take them.
function packPanels(g, b, panels) {
  const x = g.z * PANEL + g.x
  panels[g.z][g.y][g.x] = x < b.shape[1] ? b[g.y][x] : value(0)
}

// multiplyPanels is multiplyTile for one matrix on the left and panels on the right, from a panel on.
function multiplyPanels(g, a, panels, c, first) {
  const sum = g.private(value, ROWS)
  const z = first + g.z, x = z * PANEL + g.x, y = ROWS * g.y
  for (let k = 0; k < a.shape[1]; k++) {
    for (let i = 0; i < ROWS; i++) sum[i] += a[y + i][k] * panels[z][k][g.x]
  }
  for (let i = 0; i < ROWS; i++) c[y + i][x] = sum[i]
}
