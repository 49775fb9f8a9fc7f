// Reductions of element(operands, …), an expression of the elements of arrays. A group of 256 items reduces a block of SPAN
// elements: item l takes the elements l, l + 256, l + 512, …, then combine reduces the items' values. The order depends on the
// number of elements alone.

function reduceRows(g, operands, out) {
  const row = g.group.y, base = g.group.x * SPAN, l = g.local.x
  const count = Math.min(extent(operands) - base, SPAN)
  const full = (count / 256) | 0
  let total = identity()
  for (let k = 0; k < full; k++) total = op(total, pre(element(operands, row, base + k * 256 + l)))
  const last = full * 256 + l
  if (last < count) total = op(total, pre(element(operands, row, base + last)))
  const all = combine(g, total)
  if (l === 0) out[row][g.group.x] = post(all)
}

// reduceWide is reduceRows for GPUs: eight elements of an item are on their way at once.
function reduceWide(g, operands, out) {
  const own = g.private(value, 8), row = g.group.y, base = g.group.x * SPAN, l = g.local.x & 255
  let total = identity()
  for (let k = 0; k < SPAN && base + k < extent(operands); k += 2048) {
    const from = base + k + l
    if (from >= 0 && from < extent(operands) - 1792) {
      for (let j = 0; j < 8; j++) own[j] = pre(element(operands, row, from + j * 256))
      for (let j = 0; j < 8; j++) total = op(total, own[j])
    } else {
      for (let j = 0; j < 8; j++) {
        const i = from + j * 256
        if (i >= 0 && i < extent(operands)) total = op(total, pre(element(operands, row, i)))
      }
    }
  }
  const all = combine(g, total)
  if (l === 0) out[row][g.group.x] = post(all)
}

// reduceParts is reduceRows with groups of 256 / PARTS items, which hold PARTS values each and read adjacent elements in turn.
function reduceParts(g, operands, out) {
  const totals = g.private(value, PARTS)
  const row = g.group.y, base = g.group.x * SPAN, l = g.local.x
  const count = Math.min(extent(operands) - base, SPAN)
  const full = (count / 256) | 0
  for (let j = 0; j < PARTS; j++) totals[j] = identity()
  for (let k = 0; k < full; k++) {
    for (let j = 0; j < PARTS; j++) totals[j] = op(totals[j], pre(element(operands, row, base + k * 256 + j * (256 / PARTS) + l)))
  }
  for (let j = 0; j < PARTS; j++) {
    const last = full * 256 + j * (256 / PARTS) + l
    if (last < count) totals[j] = op(totals[j], pre(element(operands, row, base + last)))
  }
  for (let j = 0; j < PARTS >> 1; j++) totals[j] = op(totals[j], totals[j + (PARTS >> 1)])
  for (let j = 0; j < PARTS >> 2; j++) totals[j] = op(totals[j], totals[j + (PARTS >> 2)])
  for (let j = 0; j < PARTS >> 3; j++) totals[j] = op(totals[j], totals[j + (PARTS >> 3)])
  for (let j = 0; j < PARTS >> 4; j++) totals[j] = op(totals[j], totals[j + (PARTS >> 4)])
  for (let j = 0; j < PARTS >> 5; j++) totals[j] = op(totals[j], totals[j + (PARTS >> 5)])
  const all = combine(g, totals[0])
  if (l === 0) out[row][g.group.x] = post(all)
}

// reduceAlone is reduceRows by one item, for devices whose groups cooperate slowly.
function reduceAlone(g, operands, out) {
  const totals = g.private(value, 256)
  const row = g.group.y, base = g.group.x * SPAN
  const count = Math.min(extent(operands) - base, SPAN), full = count >> 8
  for (let l = 0; l < 256; l++) totals[l] = identity()
  for (let k = 0; k < full; k++) {
    for (let l = 0; l < 256; l++) totals[l] = op(totals[l], pre(element(operands, row, base + k * 256 + l)))
  }
  for (let l = 0; l < 256; l++) {
    if (full * 256 + l < count) totals[l] = op(totals[l], pre(element(operands, row, base + full * 256 + l)))
  }
  for (let l = 0; l < 128; l++) totals[l] = op(totals[l], totals[l + 128])
  for (let l = 0; l < 64; l++) totals[l] = op(totals[l], totals[l + 64])
  for (let l = 0; l < 32; l++) totals[l] = op(totals[l], totals[l + 32])
  for (let l = 0; l < 16; l++) totals[l] = op(totals[l], totals[l + 16])
  for (let s = 8; s > 0; s >>= 1) {
    for (let l = 0; l < s; l++) totals[l] = op(totals[l], totals[l + s])
  }
  out[row][g.group.x] = post(totals[0])
}

// reduceShort reduces each row in one item, for rows that are shorter than a group.
function reduceShort(g, operands, out) {
  const row = g.x
  let total = pre(element(operands, row, 0))
  for (let k = 1; k < extent(operands); k++) total = op(total, pre(element(operands, row, k)))
  out[row][0] = post(total)
}

// reduceColumns reduces blocks of SPAN rows of matrices, each column in one item.
function reduceColumns(g, operands, out) {
  const plane = g.z, block = g.y, column = g.x
  const from = block * SPAN, to = Math.min(from + SPAN, extent(operands))
  let total = pre(element(operands, plane, from, column))
  for (let k = from + 1; k < to; k++) total = op(total, pre(element(operands, plane, k, column)))
  out[plane][block][column] = post(total)
}

// reduceOrdered reduces adjacent elements only, for functions that are associative but do not commute and have no identity.
function reduceOrdered(g, operands, out) {
  const scratch = g.shared(value, 256)
  const row = g.group.y, base = g.group.x * SPAN, l = g.local.x
  const count = Math.min(extent(operands) - base, SPAN)
  let total = pre(element(operands, row, base))
  for (let k = 0; k < count; k += 256) {
    const left = Math.min(count - k, 256)
    if (l < left) scratch[l] = pre(element(operands, row, base + k + l))
    g.barrier()
    for (let s = 1; s < left; s <<= 1) {
      if ((l & (s << 1) - 1) === 0 && l + s < left) scratch[l] = op(scratch[l], scratch[l + s])
      g.barrier()
    }
    if (k === 0) total = scratch[0]
    else total = op(total, scratch[0])
    g.barrier()
  }
  if (l === 0) out[row][g.group.x] = post(total)
}

// reduceAny reduces elements in an order that suits the device, for functions that are associative and commute.
function reduceAny(g, operands, out) {
  const scratch = g.shared(value, 256)
  const row = g.group.y, base = g.group.x * SPAN, l = g.local.x
  const count = Math.min(extent(operands) - base, SPAN)
  let total = pre(element(operands, row, base + Math.min(l, count - 1)))
  for (let k = l + 256; k < count; k += 256) total = op(total, pre(element(operands, row, base + k)))
  scratch[l] = total
  g.barrier()
  for (let s = 128; s > 0; s >>= 1) {
    if (l < s && l + s < count) scratch[l] = op(scratch[l], scratch[l + s])
    g.barrier()
  }
  if (l === 0) out[row][g.group.x] = post(scratch[0])
}

// treeOf reduces the values of a whole group in the order of g.reduce.
function treeOf(g, own) {
  const scratch = g.shared(value, 256), l = g.local.x
  scratch[l] = own
  g.barrier()
  for (let s = 128; s > 0; s >>= 1) {
    if (l < s) scratch[l] = op(scratch[l], scratch[l + s])
    g.barrier()
  }
  return scratch[0]
}

// placeRows finds the place of the best element of each block of SPAN elements; the first of equal ones wins. A NaN is better
// than any number.
function placeRows(g, x, values, places) {
  const row = g.group.y, base = g.group.x * SPAN, l = g.local.x
  const count = Math.min(x.shape[1] - base, SPAN)
  let best = pre(x[row][base]), place = base
  for (let k = l; k < count; k += 256) {
    const v = pre(x[row][base + k])
    if (beats(v, best)) {
      best = v
      place = base + k
    }
  }
  placeOf(g, best, place, row, values, places)
}

// placeAgain reduces the results of placeRows or of itself.
function placeAgain(g, x, xPlaces, values, places) {
  const row = g.group.y, base = g.group.x * SPAN, l = g.local.x
  const count = Math.min(x.shape[1] - base, SPAN)
  let best = x[row][base], place = xPlaces[row][base]
  for (let k = l; k < count; k += 256) {
    const v = x[row][base + k]
    if (beats(v, best)) {
      best = v
      place = xPlaces[row][base + k]
    }
  }
  placeOf(g, best, place, row, values, places)
}

function placeOf(g, best, place, row, values, places) {
  const scratch = g.shared(value, 256), at = g.shared(i32, 256), l = g.local.x
  scratch[l] = best
  at[l] = place
  g.barrier()
  for (let s = 128; s > 0; s >>= 1) {
    if (l < s) {
      const v = scratch[l + s], p = at[l + s]
      if (beats(v, scratch[l]) || (!beats(scratch[l], v) && p < at[l])) {
        scratch[l] = v
        at[l] = p
      }
    }
    g.barrier()
  }
  if (l === 0) {
    values[row][g.group.x] = scratch[0]
    places[row][g.group.x] = at[0]
  }
}

// findPlace finds the first element of a block that equals the best one of the block.
function findPlace(g, x, best, blocks, out) {
  const row = g.group.y, block = blocks[row][0], base = block * SPAN, l = g.local.x
  const count = Math.min(x.shape[1] - base, SPAN), v = best[row][block]
  let place = 2147483647
  for (let k = l; k < count; k += 256) {
    const w = pre(x[row][base + k])
    if (w === v || (isNaN(w) && isNaN(v))) place = Math.min(place, base + k)
  }
  const first = g.reduce.min(place)
  if (l === 0) out[row][0] = first
}

// findAlone is placeRows and findPlace by one item: it finds the best block first.
function findAlone(g, x, best, out) {
  const row = g.group.y
  let block = 0
  for (let k = 1; k < best.shape[1]; k++) {
    if (beats(best[row][k], best[row][block])) block = k
  }
  const base = block * SPAN, count = Math.min(x.shape[1] - base, SPAN), v = best[row][block]
  let k = 0
  for (; k < count - 1; k++) {
    const w = pre(x[row][base + k])
    if (w === v || (isNaN(w) && isNaN(v))) break
  }
  out[row][0] = base + k
}
