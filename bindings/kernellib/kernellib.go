// Package kernellib documents the script module 'kernels', a library of functions for kernels. Their source is in package
// kernels/library.
package kernellib

import (
	"slices"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/kernels/library"
	"github.com/orepl/orepl/lang"
)

// Module returns the module 'kernels'.
func Module() bindings.Module {
	return bindings.Module{
		Module: lang.Module{Name: "kernels", Source: library.Source},
		Help: "Functions for kernels, written in the kernel language, with the same bits on every device whose feature exact is true, except those of subgroups. All work-items of a group must call a group function; " +
			"except for the work-item's value or condition, the arguments must be equal in the group. scratch is a shared array with at least one element per work-item.",
		Types:   types,
		Entries: func() []bindings.Entry { return slices.Concat(group(), random(), bits(), tiles()) },
	}
}

const types = `type Item = import('offload').Item
type Tile = import('offload').KernelMatrix<any>
type Elements = import('offload').KernelArray<any>`

func group() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("groupReduce", "Reduces the values of the group's work-items with an associative function, in a tree of fixed order. Each work-item receives the result.", `import { device, kernel, f32 } from 'offload'
import { groupReduce } from 'kernels'
const farthest = kernel((g, x, out) => {
  const scratch = g.shared(f32, 256)
  const most = groupReduce(g, scratch, x[g.x], (a, b) => (Math.abs(b) > Math.abs(a) ? b : a))
  if (g.local.x === 0) out[g.group.x] = most
})
const dev = device('cpu'), out = dev.buffer(f32, 4)
farthest.launch({ size: 1000, groupSize: 256 }, dev.buffer(f32, 1000, i => (i * 37) % 1000 - 600), out)
console.log(await out.read())`, "<T>(g: Item, scratch: Elements, value: T, op: (a: T, b: T) => T): T"),
		function("groupScan", "Returns the inclusive scan of the values of the group's work-items, counted along x, then y, then z, with an associative function.", "", "<T>(g: Item, scratch: Elements, value: T, op: (a: T, b: T) => T): T"),
		function("groupScanExclusive", "Returns the exclusive scan of the values of the group's work-items, counted along x, then y, then z, with an associative function. The first work-item receives the identity.", "", "<T>(g: Item, scratch: Elements, value: T, op: (a: T, b: T) => T, identity: T): T"),
		function("groupBroadcast", "Returns the value of one work-item of the group. The parameter from is its index among those that are in the launch, counted along x, then y, then z. Another index is the fault assertion.", "", "<T>(g: Item, scratch: Elements, value: T, from: number): T"),
		function("groupAny", "Reports whether the condition holds in any work-item of the group.", "", "(g: Item, condition: boolean): boolean"),
		function("groupAll", "Reports whether the condition holds in every work-item of the group.", "", "(g: Item, condition: boolean): boolean"),
		function("groupCount", "Returns the number of work-items of the group in which the condition holds.", "", "(g: Item, condition: boolean): number"),
		function("groupSort", "Sorts the first count elements of a shared array by merge exchange. before(a, b) reports whether a precedes b. The sort is not stable.", `import { device, kernel, i32 } from 'offload'
import { groupSort } from 'kernels'
const sort = kernel((g, x) => {
  const keys = g.shared(i32, 100)
  keys[g.x] = x[g.x]
  groupSort(g, keys, 100, (a, b) => a > b)
  x[g.x] = keys[g.x]
})
const x = device('cpu').buffer(i32, 100, i => (i * 37) % 101)
sort.launch({ size: 100, groupSize: 100 }, x)
console.log(await x.read(0, 5))`, "(g: Item, keys: Elements, count: number, before: (a: any, b: any) => boolean): void"),
		function("groupSortPairs", "Like groupSort, and permutes the elements of values in the same way as the keys.", "", "(g: Item, keys: Elements, values: Elements, count: number, before: (a: any, b: any) => boolean): void"),
		function("subgroupReduce", "Reduces the values of the lanes of the subgroup with an associative function. Each lane receives the result, which depends on the subgroup size.", "", "<T>(g: Item, value: T, op: (a: T, b: T) => T): T"),
		function("subgroupScan", "Returns the inclusive scan of the values of the lanes of the subgroup with an associative function.", "", "<T>(g: Item, value: T, op: (a: T, b: T) => T): T"),
	}
}

func random() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("philox", "Returns four random u32 values of the generator Philox 4x32-10 for a counter of four u32 values and a key of two. The script can call it on the host, too.", "", "(c0: number, c1: number, c2: number, c3: number, k0: number, k1: number): [number, number, number, number]"),
		function("random", "Returns the random number with an index in a stream, from [0, 1) in steps of 2⁻²⁴. The seed, stream and index are integers. The script can call it on the host, too, with the same result.", `import { device, kernel, f32 } from 'offload'
import { random } from 'kernels'
const fill = kernel((g, seed, x) => { x[g.x] = random(seed, 0, g.x) })
const x = device('cpu').buffer(f32, 4)
fill.launch({ size: 4 }, 2026, x)
console.log(await x.read(), random(2026, 0, 3))`, "(seed: number, stream: number, index: number): number"),
		function("randomBits", "Returns the random u32 with an index in a stream. The script can call it on the host, too, with the same result.", "", "(seed: number, stream: number, index: number): number"),
		function("randomNormal", "Returns the random number with an index in a stream, of the standard normal distribution, by the Box–Muller transform. On the host it is computed in f64.", "", "(seed: number, stream: number, index: number): number"),
	}
}

func bits() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("rotateLeft", "Returns a u32 with its bits rotated left by n, which is taken modulo 32.", "", "(x: number, n: number): number"),
		function("rotateRight", "Returns a u32 with its bits rotated right by n, which is taken modulo 32.", "", "(x: number, n: number): number"),
		function("reverseBits", "Returns a u32 with its bits in reverse order.", "", "(x: number): number"),
		function("swapBytes", "Returns a u32 with its bytes in reverse order.", "", "(x: number): number"),
		function("parity", "Returns 1 if the number of one bits of a u32 is odd, else 0.", "", "(x: number): number"),
		function("interleave", "Returns the Morton code of two 16-bit numbers, with x in the even bits and y in the odd bits. Higher bits are ignored.", "", "(x: number, y: number): number"),
		function("deinterleave", "Returns the two 16-bit numbers of a Morton code that interleave returned.", "", "(code: number): [x: number, y: number]"),
		function("nextPowerOfTwo", "Returns the least power of two that is at least x, for x from 1 to 2³¹.", "", "(x: number): number"),
		function("halfBits", "Returns the bits of a number rounded to f16. Only in kernels.", "", "(x: number): number"),
		function("halfFrom", "Returns the number with the bits of an f16. Only in kernels.", "", "(half: number): number"),
		function("bfloatBits", "Returns the bits of a number rounded to bf16. Only in kernels.", "", "(x: number): number"),
		function("bfloatFrom", "Returns the number with the bits of a bf16. Only in kernels.", "", "(half: number): number"),
	}
}

func tiles() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("loadTile", "Copies the part of a matrix that begins at (row, column) to a shared tile. The work-items of the group cooperate, with a barrier before and after the copy. Elements of the tile that lie outside of the matrix become 0.", `import { device, kernel, f32 } from 'offload'
import { loadTile, tileProduct } from 'kernels'
const multiply = kernel((g, a, b, c) => {
  const left = g.shared(f32, 16, 16), right = g.shared(f32, 16, 16)
  let sum = f32(0)
  for (let k = 0; k < a.shape[1]; k += 16) {
    loadTile(g, left, a, g.group.y * 16, k)
    loadTile(g, right, b, k, g.group.x * 16)
    sum = tileProduct(left, right, g.local.y, g.local.x, sum)
  }
  if (g.y < c.shape[0] && g.x < c.shape[1]) c[g.y][g.x] = sum
})
const dev = device('cpu'), c = dev.buffer(f32, [30, 30])
const a = dev.buffer(f32, [30, 30], (i, j) => i - j), b = dev.buffer(f32, [30, 30], (i, j) => (i === j ? 1 : 0))
multiply.launch({ groups: [2, 2], groupSize: [16, 16] }, a, b, c)
console.log((await c.read()).every((v, i) => v === Math.floor(i / 30) - i % 30))`, "(g: Item, tile: Tile, matrix: Tile, row: number, column: number): void"),
		function("storeTile", "Copies a shared tile to the part of a matrix that begins at (row, column). The work-items of the group cooperate, with a barrier before and after the copy. Elements of the tile that lie outside of the matrix are skipped.", "", "(g: Item, tile: Tile, matrix: Tile, row: number, column: number): void"),
		function("tileProduct", "Returns sum plus the dot product of a row of the left tile and a column of the right tile.", "", "(left: Tile, right: Tile, row: number, column: number, sum: number): number"),
	}
}
