// Scans. A group scans a block of SPAN elements from the result of the blocks before it.

// scanRows adds prefixes of 32 elements in the order of g.scan to the sum before them.
function scanRows(g, x, totals, out) {
  const row = g.group.y, block = g.group.x, base = block * SPAN, l = g.local.x
  const count = Math.min(x.shape[1] - base, SPAN), full = count >> 5
  let carry = block > 0 ? totals[row][Math.max(block - 1, 0)] : value(0)
  for (let k = 0; k < full; k++) {
    const sum = carry + g.scan.add(pre(x[row][base + k * 32 + l]))
    out[row][base + k * 32 + l] = sum
    g.barrier()
    carry = out[row][base + k * 32 + 31]
  }
  const i = full * 32 + l
  const sum = carry + g.scan.add(i < count ? pre(x[row][base + i]) : value(0))
  if (i < count) out[row][base + i] = sum
}

// scanAlone is scanRows by one item, with the same additions in the same order.
function scanAlone(g, x, totals, out) {
  const part = g.private(value, 32)
  const row = g.group.y, block = g.group.x, base = block * SPAN, count = Math.min(x.shape[1] - base, SPAN)
  const full = count >> 5
  let carry = block > 0 ? totals[row][Math.max(block - 1, 0)] : value(0)
  for (let b = 0; b < full; b++) {
    const from = base + b * 32
    for (let l = 0; l < 32; l++) part[l] = pre(x[row][from + l])
    for (let i = 0; i < 31; i++) part[31 - i] = part[30 - i] + part[31 - i]
    for (let i = 0; i < 30; i++) part[31 - i] = part[29 - i] + part[31 - i]
    for (let i = 0; i < 28; i++) part[31 - i] = part[27 - i] + part[31 - i]
    for (let i = 0; i < 24; i++) part[31 - i] = part[23 - i] + part[31 - i]
    for (let i = 0; i < 16; i++) part[31 - i] = part[15 - i] + part[31 - i]
    for (let l = 0; l < 32; l++) out[row][from + l] = carry + part[l]
    carry = out[row][from + 31]
  }
  const k = full * 32, left = count - k
  for (let l = 0; l < left; l++) part[l] = pre(x[row][base + k + l])
  for (let s = 1; s < left; s *= 2) {
    for (let l = left - 1; l >= s; l--) part[l] = part[l - s] + part[l]
  }
  for (let l = 0; l < left; l++) out[row][base + k + l] = carry + part[l]
}

// scanOrdered scans by Hillis and Steele, "Data parallel algorithms", 1986, for any associative function.
function scanOrdered(g, x, totals, out) {
  const scratch = g.shared(value, 256)
  const row = g.group.y, block = g.group.x, base = block * SPAN, l = g.local.x
  const count = Math.min(x.shape[1] - base, SPAN)
  let carry = block > 0 ? totals[row][Math.max(block - 1, 0)] : pre(x[row][base])
  for (let k = 0; k < count; k += 256) {
    const left = Math.min(count - k, 256)
    if (l < left) scratch[l] = pre(x[row][base + k + l])
    g.barrier()
    for (let s = 1; s < left; s <<= 1) {
      let sum = scratch[l]
      if (l >= s && l < left) sum = op(scratch[Math.max(l - s, 0)], sum)
      g.barrier()
      scratch[l] = sum
      g.barrier()
    }
    let sum = scratch[l]
    if (block > 0 || k > 0) sum = op(carry, sum)
    if (l < left) out[row][base + k + l] = sum
    g.barrier()
    if (l === left - 1) scratch[0] = sum
    g.barrier()
    carry = scratch[0]
    g.barrier()
  }
}
