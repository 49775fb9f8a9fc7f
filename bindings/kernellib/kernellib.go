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
		Module: lang.Module{Name: "kernels", Source: library.Source()},
		Help: "Functions for kernels, in the kernel language: they have the same bits on every device. Every item of a group calls a group's function; " +
			"the arguments but the item's own value are the same for the group, and scratch is a shared array with an element for each item.",
		Types:   types,
		Entries: slices.Concat(group(), random(), bits(), tiles()),
	}
}

const types = `type Item = import('offload').Item
type Tile = import('offload').KernelMatrix<any>
type Elements = import('offload').KernelArray<any>`

func group() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("groupReduce", "Combines the values of all items of the group by an associative function, in a tree of a fixed order; each item gets the result.", `import { device, kernel, f32 } from 'offload'
import { groupReduce } from 'kernels'
const farthest = kernel((g, x, out) => {
  const scratch = g.shared(f32, 256)
  const most = groupReduce(g, scratch, x[g.x], (a, b) => (Math.abs(b) > Math.abs(a) ? b : a))
  if (g.local.x === 0) out[g.group.x] = most
})
const dev = device('cpu'), out = dev.buffer(f32, 4)
farthest.launch({ size: 1000, groupSize: 256 }, dev.buffer(f32, 1000, i => (i * 37) % 1000 - 600), out)
console.log(await out.read())`, "<T>(g: Item, scratch: Elements, value: T, op: (a: T, b: T) => T): T"),
		function("groupScan", "Combines the values of the items up to this one, its own included, by an associative function.", "", "<T>(g: Item, scratch: Elements, value: T, op: (a: T, b: T) => T): T"),
		function("groupScanExclusive", "Combines the values of the items before this one; the first item gets the identity.", "", "<T>(g: Item, scratch: Elements, value: T, op: (a: T, b: T) => T, identity: T): T"),
		function("groupBroadcast", "Returns the value of one item of the group, by its number in the group.", "", "<T>(g: Item, scratch: Elements, value: T, from: number): T"),
		function("groupAny", "Whether the condition holds for any item of the group.", "", "(g: Item, condition: boolean): boolean"),
		function("groupAll", "Whether the condition holds for every item of the group.", "", "(g: Item, condition: boolean): boolean"),
		function("groupCount", "The number of items of the group for which the condition holds.", "", "(g: Item, condition: boolean): number"),
		function("groupSort", "Sorts the first elements of a shared array by merge exchange; before(a, b) says whether a stands before b. It is not stable.", `import { device, kernel, i32 } from 'offload'
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
		function("groupSortPairs", "Sorts like groupSort, and moves the elements of values as the keys move.", "", "(g: Item, keys: Elements, values: Elements, count: number, before: (a: any, b: any) => boolean): void"),
		function("subgroupReduce", "Combines the values of the lanes of the subgroup; each lane gets the result, which depends on the subgroup's size.", "", "<T>(g: Item, value: T, op: (a: T, b: T) => T): T"),
		function("subgroupScan", "Combines the values of the lanes up to this one, its own included.", "", "<T>(g: Item, value: T, op: (a: T, b: T) => T): T"),
	}
}

func random() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("philox", "Philox 4x32-10: four random u32 of a counter (four u32) and a key (two u32). It runs on the host too.", "", "(c0: number, c1: number, c2: number, c3: number, k0: number, k1: number): [number, number, number, number]"),
		function("random", "A random number from 0 to below 1, in steps of 2⁻²⁴: number index of a stream. Seed, stream and index are integers. It runs on the host too, with the same result.", `import { device, kernel, f32 } from 'offload'
import { random } from 'kernels'
const fill = kernel((g, seed, x) => { x[g.x] = random(seed, 0, g.x) })
const x = device('cpu').buffer(f32, 4)
fill.launch({ size: 4 }, 2026, x)
console.log(await x.read(), random(2026, 0, 3))`, "(seed: number, stream: number, index: number): number"),
		function("randomBits", "A random u32: number index of a stream.", "", "(seed: number, stream: number, index: number): number"),
		function("randomNormal", "A number of the normal distribution, by Box and Muller. The host computes it in f64.", "", "(seed: number, stream: number, index: number): number"),
	}
}

func bits() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("rotateLeft", "The bits of a u32 rotated left.", "", "(x: number, n: number): number"),
		function("rotateRight", "The bits of a u32 rotated right.", "", "(x: number, n: number): number"),
		function("reverseBits", "The bits of a u32 in reverse order.", "", "(x: number): number"),
		function("swapBytes", "The bytes of a u32 in reverse order.", "", "(x: number): number"),
		function("parity", "1 if the count of one bits is odd, else 0.", "", "(x: number): number"),
		function("interleave", "The Morton code of two numbers of 16 bits: x in the even bits, y in the odd ones.", "", "(x: number, y: number): number"),
		function("deinterleave", "The two numbers of a Morton code.", "", "(code: number): [x: number, y: number]"),
		function("nextPowerOfTwo", "The least power of two that is not below x, for x from 1 to 2³¹.", "", "(x: number): number"),
		function("halfBits", "The representation of a number as an f16. In kernels only.", "", "(x: number): number"),
		function("halfFrom", "The number that an f16 represents. In kernels only.", "", "(half: number): number"),
		function("bfloatBits", "The representation of a number as a bf16. In kernels only.", "", "(x: number): number"),
		function("bfloatFrom", "The number that a bf16 represents. In kernels only.", "", "(half: number): number"),
	}
}

func tiles() []bindings.Entry {
	function := bindings.NewFunction
	return []bindings.Entry{
		function("loadTile", "Copies the part of a matrix that begins at (row, column) to a shared tile, together. Outside of the matrix the tile is 0.", `import { device, kernel, f32 } from 'offload'
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
		function("storeTile", "Copies a shared tile to the part of a matrix that begins at (row, column), together, as far as that is inside.", "", "(g: Item, tile: Tile, matrix: Tile, row: number, column: number): void"),
		function("tileProduct", "Sum plus the product of a row of one tile and a column of another.", "", "(left: Tile, right: Tile, row: number, column: number, sum: number): number"),
	}
}
