// Package kernellang documents the names of the kernel language. They comprise the item object, kernel array types, and the
// members of Math and Atomics beyond JavaScript's. Scripts cannot import them.
package kernellang

import (
	"strings"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
)

// Module returns the documentation. Its types are declared within the module 'offload'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "kernel-language", Globals: []string{"Math", "Atomics", "bits", "fromBits"}},
		Help:    "Names inside kernels: the item object g, and what Math and Atomics have there.",
		Within:  "offload",
		Types:   types,
		Entries: entries(),
	}
}

var types = `/** The property that tells arrays of different types apart; it exists in TypeScript only. */
const arrayOf: unique symbol
/** A buffer, or a shared or private array, as a kernel sees it: of an element type, as in KernelArray<'f32'>, or of all whose values have a type, as in KernelArray<number>; of R dimensions. */
type KernelArray<T = number, R extends number = 1> = ArrayView<Named<T>, R>
/** An array of two dimensions: m[row][column]. */
type KernelMatrix<T = number> = KernelArray<T, 2>
/** An array of three dimensions: v[plane][row][column]. */
type KernelVolume<T = number> = KernelArray<T, 3>
/** The element types that a type stands for: 'f32' for itself, number for all whose values are numbers. */
type Named<T> = 0 extends 1 & T ? any : T extends Scalar ? T : [T] extends [number] ? Numeric : [T] extends [bigint] ? 'i64' | 'u64' : [T] extends [boolean] ? 'bool' : T
/** What a kernel sees of an array of elements T and R dimensions. */
interface ArrayView<T, R extends number> { [index: number]: 0 extends 1 & R ? any : R extends 2 ? ArrayView<T, 1> : R extends 3 ? ArrayView<T, 2> : Element<T>; readonly length: number; readonly shape: Readonly<Shape<R>>; readonly flat: { [index: number]: Element<T>; readonly length: number }; readonly [arrayOf]: [T, R] }
/** An element in a kernel. A byte may also be set to a boolean, which TypeScript can say as any only. */
type Element<T> = [T] extends ['u8'] ? any : Value<T>
/** The functions that Math.fast has. */
type FastMath = ` + "'" + strings.Join(lang.FastMath, "' | '") + "'" + `
interface Axes { readonly x: number; readonly y: number; readonly z: number }
/** A prefix sum, minimum or maximum, with or without the item's own value. */
interface Scan { (value: number): number; (value: bigint): bigint; exclusive(value: number): number; exclusive(value: bigint): bigint }`

func entries() []bindings.Entry {
	return []bindings.Entry{
		{Name: "g", Kind: bindings.Object, Signature: "g: Item", Members: item(),
			Help: "The item object, the first parameter of a kernel: where the work-item is, and what it does together with others of its group.",
			Example: `import { device, kernel, i32 } from 'offload'
const sum = kernel((g, x, total) => {
  const t = g.reduce.add(x[g.x])
  if (g.local.x === 0) Atomics.add(total, 0, t)
})
const dev = device('cpu'), total = dev.buffer(i32, 1)
sum.launch({ size: 1000 }, dev.buffer(i32, 1000, i => i), total)
console.log(await total.read())`},
		{Name: "Math", Kind: bindings.Object, Signature: "Math: Math", Members: mathFunctions(),
			Help: "JavaScript's functions, and these, on the host and in kernels, which lack random. They give the same bits on every device, but for Math.fast; those of f64 are the host's."},
		{Name: "Atomics", Kind: bindings.Object, Signature: "Atomics: Atomics", Members: atomics(),
			Help: "In kernels Atomics takes arrays of the kernel language. Each function gives the old value; order between items is not defined, so sums of floats may differ in their last bits."},
		bindings.NewFunction("bits", "In kernels only: the bits of a float as an integer of its size: a BigInt for f64, a number for others. TypeScript takes the one that is wanted, as in const b: bigint = bits(x).", "", "<V extends number | bigint = any>(value: number): V"),
		bindings.NewFunction("fromBits", "In kernels only: the value of a type that has these bits.", "", "<T>(type: import('offload').Type<T>, bits: number | bigint): import('offload').Value<T>"),
	}
}

func item() []bindings.Entry {
	method, property := bindings.NewMethod, bindings.NewProperty
	object := func(name, help string, members ...bindings.Entry) bindings.Entry {
		return bindings.Entry{Name: name, Kind: bindings.Object, Signature: name, Help: help, Members: members}
	}
	return []bindings.Entry{
		property("x", "number", "The item's index on the axis x, which runs fastest."),
		property("y", "number", "The item's index on the axis y."),
		property("z", "number", "The item's index on the axis z."),
		property("local", "Axes", "The item's index in its group."),
		property("group", "Axes", "The index of the item's group."),
		property("size", "Axes", "The size of the launch in items."),
		property("groupSize", "Axes", "The size of a group in items."),
		property("groups", "Axes", "The size of the launch in groups."),
		property("lane", "number", "The item's index in its subgroup."),
		property("subgroupSize", "number", "The items of a subgroup, which depends on the device."),
		method("barrier", "Waits until all items of the group are here; what they wrote before is seen after.", "(): void"),
		method("fence", "Orders the item's accesses to memory: others that see a later store of it see the earlier ones. The scope is the group, the device (the default) or the system.", "(scope?: 'group' | 'device' | 'system'): void"),
		method("clock", "Nanoseconds of the device's clock, which never goes back, as a u64.", "(): bigint"),
		method("shared", "Makes an array that the items of the group share. The dimensions are constants.", arrays...),
		method("private", "Makes an array of the item's own, which is zero. The dimensions are constants.", arrays...),
		method("uniform", "Asserts that the value is the same for all items of the group, so that barriers may depend on it.", "<T>(value: T): T"),
		object("reduce", "Values of all items of the group combined; each item gets the result. The order is the same on every device.",
			method("add", "The sum.", both...),
			method("min", "The smallest.", both...),
			method("max", "The greatest.", both...)),
		object("scan", "Values of the items up to this one combined, in the order of the items. The order of operations is the same on every device.",
			property("add", "Scan", "The sum; g.scan.add.exclusive leaves the item's own value out."),
			property("min", "Scan", "The smallest; g.scan.min.exclusive leaves the item's own value out."),
			property("max", "Scan", "The greatest; g.scan.max.exclusive leaves the item's own value out.")),
		object("subgroup", "What the items of a subgroup do together. Results depend on the device's subgroup size.",
			method("add", "The sum.", both...),
			method("min", "The smallest.", both...),
			method("max", "The greatest.", both...),
			method("any", "Whether any item's condition holds.", "(condition: boolean): boolean"),
			method("all", "Whether every item's condition holds.", "(condition: boolean): boolean"),
			method("ballot", "The conditions of all items as bits of a u64.", "(condition: boolean): bigint"),
			method("broadcast", "The value of one lane.", "<T>(value: T, lane: number): T"),
			method("shuffle", "The value of a lane that each item chooses.", "<T>(value: T, lane: number): T"),
			method("shuffleXor", "The value of the lane whose number differs in these bits.", "<T>(value: T, mask: number): T"),
			method("shuffleUp", "The value of the lane that many before.", "<T>(value: T, distance: number): T"),
			method("shuffleDown", "The value of the lane that many after.", "<T>(value: T, distance: number): T"),
			method("scanAdd", "The sum of the lanes up to this one.", both...)),
		method("print", "Prints values, whole lines at a time, to the script's output.", "(...values: unknown[]): void"),
		method("assert", "Stops the item with a fault if the condition does not hold.", "(condition: unknown, message?: string): void"),
		method("call", "Calls a service of the host by name, see docs/rpc.md. A script offers one with rpc.on. The result has the type that is asked for: i32(g.call('next')).", "(name: string, ...args: (number | bigint)[]): any"),
	}
}

var arrays = []string{
	"<T>(type: Type<T>, length: number): KernelArray<T, 1>",
	"<T>(type: Type<T>, rows: number, columns: number): KernelArray<T, 2>",
	"<T>(type: Type<T>, planes: number, rows: number, columns: number): KernelArray<T, 3>",
}

// both holds the signatures of a function of numbers and 64-bit integers.
var both = []string{"(value: number): number", "(value: bigint): bigint"}

func mathFunctions() []bindings.Entry {
	one := func(name, help string) bindings.Entry { return bindings.NewMethod(name, help, "(x: number): number") }
	fast := bindings.Entry{Name: "fast", Kind: bindings.Object, Signature: "readonly fast: Record<import('offload').FastMath, (...x: number[]) => number>",
		Help: "The functions exp, log, sin, sqrt and so on with at most 4 units of error in the last place, which may differ between devices. On the host they are the exact ones."}
	return []bindings.Entry{
		one("erf", "The error function."),
		one("exp2", "Two to the power of x."),
		one("rsqrt", "One divided by the square root."),
		bindings.NewMethod("fma", "a·b + c with one rounding.", "(a: number, b: number, c: number): number"),
		bindings.NewMethod("clamp", "x, but not below low nor above high.", "(x: number, low: number, high: number): number", "(x: bigint, low: bigint, high: bigint): bigint"),
		bindings.NewMethod("abs", "The absolute value; also of BigInts, as of 64-bit integers in kernels.", "(x: bigint): bigint"),
		bindings.NewMethod("sign", "1, 0 or -1; also of BigInts, as of 64-bit integers in kernels.", "(x: bigint): bigint"),
		bindings.NewMethod("min", "The smallest; also of BigInts, as of 64-bit integers in kernels.", "(...values: bigint[]): bigint"),
		bindings.NewMethod("max", "The greatest; also of BigInts, as of 64-bit integers in kernels.", "(...values: bigint[]): bigint"),
		bindings.NewMethod("mix", "a + (b − a)·t.", "(a: number, b: number, t: number): number"),
		bindings.NewMethod("mulhi", "The upper half of the product of two integers.", "(a: number, b: number): number", "(a: bigint, b: bigint): bigint"),
		bindings.NewMethod("ctz", "The zero bits below the lowest one of an integer.", "(x: number | bigint): number"),
		bindings.NewMethod("popcount", "The one bits of an integer.", "(x: number | bigint): number"),
		bindings.NewMethod("ldexp", "x·2ⁿ.", "(x: number, n: number): number"),
		bindings.NewMethod("frexp", "The fraction, from 1/2 to 1, and the power of two whose product is x.", "(x: number): [fraction: number, exponent: number]"),
		fast,
	}
}

func atomics() []bindings.Entry {
	update := func(name, help string) bindings.Entry {
		return bindings.NewMethod(name, help, "<T>(array: import('offload').ArrayView<T, any>, index: number, value: import('offload').Value<T>): import('offload').Value<T>")
	}
	return []bindings.Entry{
		update("add", "Adds."), update("sub", "Subtracts."), update("min", "Keeps the smaller."), update("max", "Keeps the greater."),
		update("and", "Combines bits by and."), update("or", "Combines bits by or."), update("xor", "Combines bits by exclusive or."),
		update("exchange", "Replaces the value."),
		bindings.NewMethod("compareExchange", "Replaces the value if it is the expected one.", "<T>(array: import('offload').ArrayView<T, any>, index: number, expected: import('offload').Value<T>, value: import('offload').Value<T>): import('offload').Value<T>"),
		bindings.NewMethod("load", "Reads.", "<T>(array: import('offload').ArrayView<T, any>, index: number): import('offload').Value<T>"),
		update("store", "Writes."),
	}
}
