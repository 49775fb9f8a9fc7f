// Operations of the items of a group. Every item of the group must call them, with the same arguments except for value.
// scratch is a shared array with an element for each item of the group.

// inGroup returns the number of the item among the items of its group inside the launch, and their count.
function inGroup(g) {
  const width = Math.min(g.groupSize.x, g.size.x - g.group.x * g.groupSize.x)
  const height = Math.min(g.groupSize.y, g.size.y - g.group.y * g.groupSize.y)
  const depth = Math.min(g.groupSize.z, g.size.z - g.group.z * g.groupSize.z)
  return [g.local.x + width * (g.local.y + height * g.local.z), width * height * depth]
}

// The tree combines neighbours, so op may be any associative function: t[l] = op(t[l], t[l + s]) for s = 1, 2, 4 … and
// every l that is a multiple of 2s.
export function groupReduce(g, scratch, value, op) {
  const [l, count] = inGroup(g)
  g.barrier()
  scratch[l] = value
  g.barrier()
  for (let s = 1; s < count; s <<= 1) {
    if ((l & (s << 1) - 1) === 0 && l + s < count) scratch[l] = op(scratch[l], scratch[l + s])
    g.barrier()
  }
  const result = scratch[0]
  g.barrier()
  return result
}

// Hillis and Steele, "Data parallel algorithms", 1986.
export function groupScan(g, scratch, value, op) {
  const [l, count] = inGroup(g)
  g.barrier()
  scratch[l] = value
  g.barrier()
  for (let s = 1; s < count; s <<= 1) {
    let sum = scratch[l]
    if (l >= s) sum = op(scratch[l - s], sum)
    g.barrier()
    scratch[l] = sum
    g.barrier()
  }
  const result = scratch[l]
  g.barrier()
  return result
}

export function groupScanExclusive(g, scratch, value, op, identity) {
  const l = inGroup(g)[0]
  scratch[l] = groupScan(g, scratch, value, op)
  g.barrier()
  const result = l > 0 ? scratch[l - 1] : identity
  g.barrier()
  return result
}

export function groupBroadcast(g, scratch, value, from) {
  const [l, count] = inGroup(g)
  g.assert(from >= 0 && from < count, `groupBroadcast: the group has ${count} items, and none of number ${from}`)
  g.barrier()
  if (l === from) scratch[0] = value
  g.barrier()
  const result = scratch[0]
  g.barrier()
  return result
}

export function groupAny(g, condition) {
  return g.reduce.max(condition ? 1 : 0) === 1
}

export function groupAll(g, condition) {
  return g.reduce.min(condition ? 1 : 0) === 1
}

export function groupCount(g, condition) {
  return g.reduce.add(condition ? 1 : 0)
}

// Lanes with items outside the launch may lie between others, so lanes are linked to their neighbours: Wyllie, "The
// complexity of parallel computations", 1979.
export function subgroupReduce(g, value, op) {
  const [first, , after] = lanesBeside(g)
  let result = value, next = after
  for (let s = 1; s < g.subgroupSize; s <<= 1) {
    const other = g.subgroup.shuffle(result, next), beyond = g.subgroup.shuffle(next, next)
    if (next >= 0) {
      result = op(result, other)
      next = beyond
    }
  }
  return g.subgroup.shuffle(result, first)
}

export function subgroupScan(g, value, op) {
  let result = value, previous = lanesBeside(g)[1]
  for (let s = 1; s < g.subgroupSize; s <<= 1) {
    const other = g.subgroup.shuffle(result, previous), beyond = g.subgroup.shuffle(previous, previous)
    if (previous >= 0) {
      result = op(other, result)
      previous = beyond
    }
  }
  return result
}

// lanesBeside returns the numbers of the first lane with an item and of such lanes before and after this one, -1 without one.
function lanesBeside(g) {
  const lanes = g.subgroup.ballot(true), low = u32(lanes), high = u32(lanes >> 32n)
  const upper = g.lane > 31, half = upper ? high : low
  const before = half & ~(-1 << (g.lane & 31)), after = half & (-2 << (g.lane & 31))
  const first = low !== 0 ? lowest(low) : 32 + lowest(high)
  let previous = highest(before), next = lowest(after)
  if (upper) previous = before !== 0 ? 32 + previous : highest(low)
  if (upper && after !== 0) next += 32
  if (!upper && after === 0 && high !== 0) next = 32 + lowest(high)
  return [first, previous, next]
}

// highest and lowest return the number of the highest and lowest one bit, -1 for 0.
function highest(x) {
  return 31 - Math.clz32(x)
}

function lowest(x) {
  return highest(x & -x)
}
