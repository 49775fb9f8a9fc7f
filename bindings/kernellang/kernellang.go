// Package kernellang documents the names of the kernel language. They comprise the item object, kernel array types, the members
// of Math and Atomics beyond JavaScript's, and the functions bits and fromBits. Scripts cannot import them.
package kernellang

import (
	"strings"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang"
	"github.com/orepl/orepl/lang/maths"
)

// Module returns the documentation. Its types are declared within the module 'offload'.
func Module() bindings.Module {
	return bindings.Module{
		Module:  lang.Module{Name: "kernel-language", Globals: []string{"Math", "Atomics", "bits", "fromBits"}},
		Help:    "Names of the kernel language: the item object g, and the members of Math and Atomics in kernels.",
		Within:  "offload",
		Types:   types,
		Entries: entries,
	}
}

var types = `/** A property that distinguishes arrays of different types. It exists in TypeScript only. */
const arrayOf: unique symbol
/** A buffer, shared array or private array in a kernel, with R dimensions. T is an element type, as in KernelArray<'f32'>, or the type of its values, as in KernelArray<number>. */
type KernelArray<T = number, R extends number = 1> = ArrayView<Named<T>, R>
/** An array of two dimensions: m[row][column]. */
type KernelMatrix<T = number> = KernelArray<T, 2>
/** An array of three dimensions: v[plane][row][column]. */
type KernelVolume<T = number> = KernelArray<T, 3>
/** The element types that T denotes: 'f32' denotes itself, number all types whose values are numbers. */
type Named<T> = 0 extends 1 & T ? any : T extends Scalar ? T : [T] extends [number] ? Numeric : [T] extends [bigint] ? 'i64' | 'u64' : [T] extends [boolean] ? 'bool' : T
/** An array in a kernel with element type T and R dimensions. */
interface ArrayView<T, R extends number> { [index: number]: 0 extends 1 & R ? any : R extends 2 ? ArrayView<T, 1> : R extends 3 ? ArrayView<T, 2> : Element<T>; readonly length: number; readonly shape: Readonly<Shape<R>>; readonly flat: { [index: number]: Element<T>; readonly length: number }; readonly [arrayOf]: [T, R] }
/** The type of an element in a kernel. A u8 element also accepts a boolean, which TypeScript can express only as any. */
type Element<T> = [T] extends ['u8'] ? any : Value<T>
/** The names of the functions in Math.fast. */
type FastMath = ` + "'" + strings.Join(maths.Fast, "' | '") + "'" + `
interface Axes { readonly x: number; readonly y: number; readonly z: number }
/** An inclusive scan, with the exclusive scan as a member. */
interface Scan { (value: number): number; (value: bigint): bigint; exclusive(value: number): number; exclusive(value: bigint): bigint }`

func entries() []bindings.Entry {
	return []bindings.Entry{
		{Name: "g", Kind: bindings.Object, Signature: "g: Item", Members: item(),
			Help: "The item object, the first parameter of a kernel: the position of the work-item in the launch, and operations with the other work-items of its group.",
			Example: `import { device, kernel, i32 } from 'offload'
const sum = kernel((g, x, total) => {
  const t = g.reduce.add(x[g.x])
  if (g.local.x === 0) Atomics.add(total, 0, t)
})
const dev = device('cpu'), total = dev.buffer(i32, 1)
sum.launch({ size: 1000 }, dev.buffer(i32, 1000, i => i), total)
console.log(await total.read())`},
		{Name: "Math", Kind: bindings.Object, Signature: "Math: Math", Members: mathFunctions(),
			Help: "JavaScript's Math with additional functions, on the host and in kernels, except random, which kernels lack. Results have the same bits on every device whose feature exact is true, except those of Math.fast. Results in f64 there equal those of the host."},
		{Name: "Atomics", Kind: bindings.Object, Signature: "Atomics: Atomics", Members: atomics(),
			Help: "In kernels, Atomics operates on elements of buffers and shared arrays. The elements are of i32, u32, i64, u64, f32 or f64, for and, or and xor only of integers. Each function returns the old value of the element, except store, which returns the stored value. The order of operations between work-items is undefined, so sums of floats may differ in their last bits."},
		bindings.NewFunction("bits", "Returns the bits of a float as an integer of the same size: a u64, which is a BigInt, for f64, and else a u32. TypeScript infers the type from the context, as in const b: bigint = bits(x). Only in kernels.", "", "<V extends number | bigint = any>(value: number): V"),
		bindings.NewFunction("fromBits", "Returns the value of a type with the bits of an integer. Only in kernels.", "", "<T>(type: import('offload').Type<T>, bits: number | bigint): import('offload').Value<T>"),
	}
}

func item() []bindings.Entry {
	method, property := bindings.NewMethod, bindings.NewProperty
	object := func(name, help string, members ...bindings.Entry) bindings.Entry {
		return bindings.Entry{Name: name, Kind: bindings.Object, Signature: name, Help: help, Members: members}
	}
	return []bindings.Entry{
		property("x", "number", "The work-item's index along x, the innermost axis."),
		property("y", "number", "The work-item's index along y."),
		property("z", "number", "The work-item's index along z, the outermost axis."),
		property("local", "Axes", "The work-item's index in its work-group."),
		property("group", "Axes", "The index of the work-item's group."),
		property("size", "Axes", "The size of the launch in work-items."),
		property("groupSize", "Axes", "The size of a work-group in work-items. The last group along an axis may have fewer of them in the launch."),
		property("groups", "Axes", "The size of the launch in work-groups."),
		property("lane", "number", "The work-item's index in its subgroup."),
		property("subgroupSize", "number", "The number of lanes in a subgroup, which depends on the device. The last subgroup of a group may have fewer work-items."),
		method("barrier", "Waits until all work-items of the group have reached the barrier. After it, each of them sees the earlier writes of the others.", "(): void"),
		method("fence", "Orders the memory accesses of a work-item A. If a work-item B loads what A stored after its fence, and then passes a fence itself, B sees what A stored before its fence. scope states where A and B are: in one group, on the device (the default), or in the system, with the host and other devices.", "(scope?: 'group' | 'device' | 'system'): void"),
		method("clock", "Returns the time of the device's monotonic clock in nanoseconds, as a u64. The start and the resolution depend on the device. OpenCL devices refuse it.", "(): bigint"),
		method("shared", "Declares an array that the work-items of a group share, zero when the group starts. The extents are constants.", arrays...),
		method("private", "Declares an array of this work-item, initially zero. The extents are constants.", arrays...),
		method("uniform", "Returns the value and asserts that it is equal in all work-items of the group, so that barriers may depend on it. Different values are the fault divergence, unless the launch has checks: 'off'.", "<T>(value: T): T"),
		object("reduce", "Reductions over the work-items of the group; each work-item receives the result. The order of operations is the same on every device.",
			method("add", "Returns the sum.", both...),
			method("min", "Returns the minimum.", both...),
			method("max", "Returns the maximum.", both...)),
		object("scan", "Scans: combinations of the values of the group's work-items up to and including this one, counted along x, then y, then z. The order of operations is the same on every device.",
			property("add", "Scan", "The prefix sum. g.scan.add.exclusive excludes the work-item's own value, and is 0 for the first work-item."),
			property("min", "Scan", "The prefix minimum. g.scan.min.exclusive excludes the work-item's own value, and for the first work-item is Infinity, or the greatest integer of the type."),
			property("max", "Scan", "The prefix maximum. g.scan.max.exclusive excludes the work-item's own value, and for the first work-item is -Infinity, or the least integer of the type.")),
		object("subgroup", "Operations of the work-items of a subgroup. Results depend on the device's subgroup size.",
			method("add", "Returns the sum.", both...),
			method("min", "Returns the minimum.", both...),
			method("max", "Returns the maximum.", both...),
			method("any", "Reports whether the condition holds in any lane.", "(condition: boolean): boolean"),
			method("all", "Reports whether the condition holds in every lane.", "(condition: boolean): boolean"),
			method("ballot", "Returns a u64 whose bit i is the condition of the lane with the index i, or 0 if there is no such lane.", "(condition: boolean): bigint"),
			method("broadcast", "Returns the value of the lane with the index lane, or 0 if there is no such lane.", "<T>(value: T, lane: number): T"),
			method("shuffle", "Returns the value of the lane whose index each work-item passes as lane, or 0 if there is no such lane.", "<T>(value: T, lane: number): T"),
			method("shuffleXor", "Returns the value of the lane with the index i XOR mask, where i is this lane's index, or 0 if there is no such lane.", "<T>(value: T, mask: number): T"),
			method("shuffleUp", "Returns the value of the lane with the index i − distance, or 0 if there is no such lane. i is this lane's index.", "<T>(value: T, distance: number): T"),
			method("shuffleDown", "Returns the value of the lane with the index i + distance, or 0 if there is no such lane. i is this lane's index.", "<T>(value: T, distance: number): T"),
			method("scanAdd", "Returns the sum of the values of the lanes up to and including this one.", both...)),
		method("print", "Prints values as one line to the script's standard output.", "(...values: unknown[]): void"),
		method("assert", "Ends the work-item with the fault assertion and a message if the condition is false. The message may be a template.", "(condition: unknown, message?: string): void"),
		method("call", "Calls a service of the host by name; see docs/rpc.md. Scripts register services with rpc.on. A conversion states the type of the result, as in i32(g.call('next')).", "(name: string, ...args: (number | bigint)[]): any"),
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
		Help: "Faster variants of exp, log, sin, sqrt and others in kernels, with errors of at most 4 ulp, except in the rare cases of docs/math.md. Results may differ between devices. On the host they equal the functions of Math."}
	return []bindings.Entry{
		one("erf", "The error function."),
		one("exp2", "2 to the power of x."),
		one("rsqrt", "The reciprocal of the square root."),
		bindings.NewMethod("fma", "a·b + c with one rounding.", "(a: number, b: number, c: number): number"),
		bindings.NewMethod("clamp", "x limited to the range from low to high: Math.min(Math.max(x, low), high).", "(x: number, low: number, high: number): number", "(x: bigint, low: bigint, high: bigint): bigint"),
		bindings.NewMethod("abs", "The absolute value, also of BigInts and 64-bit integers.", "(x: bigint): bigint"),
		bindings.NewMethod("sign", "1 for positive numbers, −1 for negative ones, else x, also of BigInts and 64-bit integers.", "(x: bigint): bigint"),
		bindings.NewMethod("min", "The minimum, also of BigInts and 64-bit integers; NaN if a value is NaN.", "(...values: bigint[]): bigint"),
		bindings.NewMethod("max", "The maximum, also of BigInts and 64-bit integers; NaN if a value is NaN.", "(...values: bigint[]): bigint"),
		bindings.NewMethod("mix", "Linear interpolation: a + (b − a)·t.", "(a: number, b: number, t: number): number"),
		bindings.NewMethod("mulhi", "The upper half of the product of two integers: 32 bits, or 64 bits of BigInts and 64-bit integers.", "(a: number, b: number): number", "(a: bigint, b: bigint): bigint"),
		bindings.NewMethod("ctz", "The number of trailing zero bits of an integer of 32 bits, or of 64 bits for a BigInt or a 64-bit integer. For 0 it is 32 or 64.", "(x: number | bigint): number"),
		bindings.NewMethod("popcount", "The number of one bits of an integer of 32 bits, or of 64 bits for a BigInt or a 64-bit integer.", "(x: number | bigint): number"),
		bindings.NewMethod("ldexp", "x·2ⁿ.", "(x: number, n: number): number"),
		bindings.NewMethod("frexp", "Returns a fraction and an exponent n with x = fraction·2ⁿ. The absolute value of the fraction is in [1/2, 1). For 0, infinities and NaN the fraction is x, and n is 0.", "(x: number): [fraction: number, exponent: number]"),
		fast,
	}
}

func atomics() []bindings.Entry {
	update := func(name, help string) bindings.Entry {
		return bindings.NewMethod(name, help, "<T>(array: import('offload').ArrayView<T, any>, index: number, value: import('offload').Value<T>): import('offload').Value<T>")
	}
	return []bindings.Entry{
		update("add", "Adds the value to the element."), update("sub", "Subtracts the value from the element."), update("min", "Stores the minimum of element and value."), update("max", "Stores the maximum of element and value."),
		update("and", "Stores the bitwise AND of element and value."), update("or", "Stores the bitwise OR of element and value."), update("xor", "Stores the bitwise XOR of element and value."),
		update("exchange", "Replaces the element by the value."),
		bindings.NewMethod("compareExchange", "Replaces the element by the value if its bits equal those of the expected value.", "<T>(array: import('offload').ArrayView<T, any>, index: number, expected: import('offload').Value<T>, value: import('offload').Value<T>): import('offload').Value<T>"),
		bindings.NewMethod("load", "Returns the element.", "<T>(array: import('offload').ArrayView<T, any>, index: number): import('offload').Value<T>"),
		update("store", "Stores the value and returns it."),
	}
}
