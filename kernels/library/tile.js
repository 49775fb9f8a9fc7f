// Tiles of matrices in two-dimensional shared arrays.

// loadTile copies the part of the matrix that begins at (row, column). Elements outside the matrix are 0.
export function loadTile(g, tile, matrix, row, column) {
  const [l, items] = inGroup(g)
  const rows = tile.shape[0], columns = tile.shape[1]
  g.barrier()
  for (let i = l; i < rows * columns; i = (i + items) | 0) {
    const r = (i / columns) | 0, c = i % columns
    const from = row + r, at = column + c
    tile[r][c] = from >= 0 && from < matrix.shape[0] && at >= 0 && at < matrix.shape[1] ? matrix[from][at] : 0
  }
  g.barrier()
}

// storeTile copies the tile to the part of the matrix that begins at (row, column), except for elements outside the matrix.
export function storeTile(g, tile, matrix, row, column) {
  const [l, items] = inGroup(g)
  const rows = tile.shape[0], columns = tile.shape[1]
  g.barrier()
  for (let i = l; i < rows * columns; i = (i + items) | 0) {
    const r = (i / columns) | 0, c = i % columns
    const to = row + r, at = column + c
    if (to >= 0 && to < matrix.shape[0] && at >= 0 && at < matrix.shape[1]) matrix[to][at] = tile[r][c]
  }
  g.barrier()
}

// tileProduct returns sum plus the product of a row of one tile and a column of another, added in the order of the elements.
export function tileProduct(left, right, row, column, sum) {
  let total = sum
  for (let k = 0; k < left.shape[1]; k++) total += left[row][k] * right[k][column]
  return total
}
