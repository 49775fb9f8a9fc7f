// Selections for GPUs: countChosen counts the elements of each tile of 4096 that keep selects. placeChosen lists them in shared
// memory, then neighbours store them to neighbouring places.

function countChosen(g, x, counts) {
  const l = g.local.x & 255, tile = g.group.x, base = tile * 4096
  const from = base + l
  let kept = 0
  if (from >= 0 && from < x.length - 3840) { // the whole tile, whose elements are on their way at once
    const flags = g.private(i32, 16)
    for (let j = 0; j < 16; j++) flags[j] = keep(x, from + j * 256) ? 1 : 0
    for (let j = 0; j < 16; j++) kept += flags[j]
  } else {
    for (let j = 0; j < 16; j++) {
      const i = from + j * 256
      if (i >= 0 && i < x.length && keep(x, i)) kept++
    }
  }
  const total = g.reduce.add(kept)
  if (l === 0 && counts.shape[0] > 0 && tile < counts.shape[1]) counts[0][tile] = total
}

function placeChosen(g, x, sums, out) {
  const flags = g.shared(i32, 4352), from = g.shared(i32, 4096), end = g.shared(i32, 1)
  const l = g.local.x & 255, tile = g.group.x, base = tile * 4096
  const first = base + l
  if (first >= 0 && first < x.length - 3840) {
    const kept = g.private(i32, 16)
    for (let j = 0; j < 16; j++) kept[j] = keep(x, first + j * 256) ? 1 : 0
    for (let j = 0; j < 16; j++) flags[j * 256 + l + (j * 256 + l >> 4)] = kept[j]
  } else {
    for (let j = 0; j < 16; j++) {
      const p = j * 256 + l, i = base + p
      let kept = 0
      if (i >= 0 && i < x.length && keep(x, i)) kept = 1
      flags[p + (p >> 4)] = kept
    }
  }
  g.barrier()
  let own = 0
  for (let j = 0; j < 16; j++) own += flags[l * 17 + (j & 15)]
  const up = g.scan.add(own)
  if (l === 255) end[0] = up
  let at = up - own
  for (let j = 0; j < 16; j++) {
    if (flags[l * 17 + (j & 15)] === 1) {
      from[at & 4095] = l * 16 + j
      at++
    }
  }
  g.barrier()
  let start = 0
  if (sums.shape[0] > 0 && tile < sums.shape[1]) start = sums[0][tile]
  for (let j = 0; j < 16; j++) {
    const k = j * 256 + l, to = start + k
    if (k < end[0] && to >= 0 && to < out.length) {
      const i = base + from[k]
      if (i >= 0 && i < x.length) out[to] = result(x, i)
    }
  }
}
