// Package manual documents the exports of the module 'offload' for the registry of script names.
package manual

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/element"
	"github.com/orepl/orepl/lang/kernel/ir"
	"github.com/orepl/orepl/lang/wording"
)

// Entries returns the documentation of the module's exports.
func Entries() []bindings.Entry {
	list := []bindings.Entry{
		bindings.NewFunction("device", "Returns a device by id, such as 'cpu' or 'cuda:0'. 'gpu' is the best GPU of this machine. A plugin's name, or another prefix such as 'mpi:2', is the first device with that prefix. Without an id the best device is returned. A list of ids returns the first available device and warns of the unavailable ones before it. Throws not-found if no device matches, and permission-denied for a device that the script may not use. Every call for a device returns the same object.",
			"import { device } from 'offload'\nconsole.log(device(['gpu', 'cpu']).id)", "(id?: string | Device | string[]): Device"),
		bindings.NewFunction("devices", "Returns the devices of all plugins that the script may use, best first. It loads every configured plugin, whereas device('cpu') loads only that one.",
			"import { devices } from 'offload'\nfor (const d of devices()) console.log(d.id, d.name)", "(): Device[]"),
		bindings.NewFunction("platforms", "Returns the plugins, each with its vendor and version or the reason why it is unavailable. It loads every configured plugin.",
			"import { platforms } from 'offload'\nconsole.table(platforms())", "(): PlatformStatus[]"),
		bindings.NewFunction("kernel", "Creates a kernel from a function in the kernel language. The first parameter is the item object (see help('g')); the others are buffers, numbers, booleans and BigInts. The first launch compiles the kernel for the types of its arguments; with a signature, kernel() compiles it immediately. The variables of the script that the function uses, such as constants, tables and helper functions, are read when the kernel is made. The fields and elements of these values are read when the kernel is first compiled. A variable that is assigned after its definition is an error.",
			"import { device, kernel, f32 } from 'offload'\nconst scale = kernel((g, a, x) => { x[g.x] *= a })\nconst x = device('cpu').buffer(f32, 4, i => i)\nscale.launch({ size: 4 }, 10, x)\nconsole.log(await x.read())",
			"<A extends any[]>(fn: (g: Item, ...args: A) => void, options?: KernelOptions): Kernel<A>",
			"<const S extends Signature>(signature: S, fn: (g: Item, ...args: ParametersOf<S>) => void, options?: KernelOptions): Kernel<ParametersOf<S>>"),
		bindings.NewFunction("struct", "Creates a record type with C layout, for the elements of buffers and of arrays in kernels. A field is a type, which may be another record, or [type, n, …] for an array with one to three extents. The default name is struct and a number.",
			"import { struct, f32, u32 } from 'offload'\nconst Particle = struct({ position: [f32, 3], id: u32 }, 'Particle')\nconsole.log(Particle.size, Particle.layout)",
			"<const F extends Fields>(fields: F, name?: string): Type<RecordOf<F>>"),
		bindings.NewFunction("register", "Registers a library of device images from the path of a file or from bytes. The format is an offload binary, an ELF shared object, PTX, a cubin, a fat binary, OpenCL C, SPIR-V, LLVM bitcode or kernel IR, or an ar archive of these. Each device loads the image that matches it best.",
			"import { register } from 'offload'\nawait register(new Uint8Array(4)).catch(e => console.log(e.code))", "(source: string | ArrayBufferView | ArrayBuffer, options?: RegisterOptions): Promise<Library>"),
		bindings.NewFunction("live", "Returns the live objects, such as buffers, queues and libraries that have not been freed, each with the position in the script where it was created. In a Go program, an engine returns only its own objects.",
			"import { device, live, f32 } from 'offload'\nusing b = device('cpu').buffer(f32, 8, { label: 'signal' })\nconsole.table(live())", "(): LiveObject[]"),
		bindings.NewFunction("pipeline", "Declares a computation that a host program runs repeatedly: named inputs, outputs and temporaries, and a function run that launches kernels over them. The script exports it as its default export. An input is a type for a number, or [type] or [type, rank] for a buffer. A parameter is a type, or an object whose type, min, max and values restrict the value that a run passes. default is the value of runs that pass none. doc and unit describe the parameter, which is a text without a type. An output or temporary is [type, extents]; the extents may be a function of the inputs and parameters. Buffers are reused while their extents stay equal, so a temporary keeps its contents between runs. At most one of three options selects devices. device requires one device. prefer lists devices, of which the first available one is used. devices lists devices over which the program's instances are spread.",
			"import { pipeline, kernel, f32 } from 'offload'\nconst scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })\nconst p = pipeline({\n  inputs: { a: f32, x: [f32] },\n  outputs: { y: [f32, ({ x }) => x.shape] },\n  run({ a, x, y }) { scale.launch({ size: x.length }, a, x, y) },\n})\nconsole.log(p)",
			"<const I extends Inputs = {}, const P extends Params = {}, O extends Record<string, Type> = {}, T extends Record<string, Type> = {}>(declaration: Declaration<P, I, O, T>): Pipeline"),
		bindings.NewFunction("pool", "Creates a pool that runs tasks on devices, by default on all devices. If a process offers its processor by several plugins, such as cpu and opencl, the default uses one of them. A task is a function of the script that receives a device and a queue of its own. A device runs up to two tasks concurrently unless the option tasks sets another number. A task runs on the device that the option near of run or map names, or on an idle one if that is busy. Without near it runs on any device. The tasks of a lost device run again on another device. Devices of workers that join later are added; if there is a list of devices, only with the option join. While no device is left, tasks wait for a worker, or fail with device-lost if none can join.",
			"import { pool, kernel, f32 } from 'offload'\nconst square = kernel((g, x) => { x[g.x] *= x[g.x] })\nusing p = pool(['cpu'])\nconst sums = await p.map([1, 2, 3], async (n, { device, queue }) => {\n  const x = device.buffer(f32, 4, i => i, { queue })\n  square.launch({ size: 4, queue }, x)\n  return n * (await x.read()).reduce((a, b) => a + b)\n})\nconsole.log(sums)",
			"(devices?: readonly (Device | string)[], options?: PoolOptions): Pool"),
		bindings.NewConstant("rpc", "RPC", "The services of this script, which its kernels call with g.call. Arguments and results are numbers, BigInts and booleans; see docs/rpc.md."),
		bindings.NewConstant("collective", "Collective", "Collective copies and reductions over buffers of several devices, such as the workers of an MPI job."),
		bindings.NewConstant("args", "readonly string[]", "The arguments of the script: those after its name, or after the code of -e, on the command line."),
	}
	for _, t := range element.ScalarTypes {
		list = append(list, bindings.NewConstant(t.String(), typeSignature(t), typeHelp(t)))
	}
	return append(list, classEntries()...)
}

// typeSignature returns the TypeScript type of an element type.
func typeSignature(t ir.Type) string { return fmt.Sprintf("Type<'%s'>", t) }

func typeHelp(t ir.Type) string {
	what := map[ir.Type]string{
		ir.Bool: "A boolean, stored in one byte", ir.F16: "A half-precision float (16 bits)", ir.BF16: "A brain float (16 bits: 8 of exponent, 7 of fraction)",
		ir.F32: "A single-precision float (32 bits)", ir.F64: "A double-precision float (64 bits)",
	}[t]
	if what == "" {
		what = fmt.Sprintf("A signed integer of %d bits", 8*t.Size())
		if strings.HasPrefix(t.String(), "u") {
			what = fmt.Sprintf("An unsigned integer of %d bits", 8*t.Size())
		}
	}
	read := fmt.Sprintf("Reading a buffer of this type returns %s.", wording.WithArticle(element.ArrayClass(t)))
	if t.Size() < 4 {
		wide := "i32"
		if t.IsFloat() {
			wide = "f32"
		}
		if t != ir.Bool {
			return fmt.Sprintf("%s. Kernels convert it to %s when they load it. %s", what, wide, read)
		}
	}
	return fmt.Sprintf("%s. In a kernel, %s(x) converts x to this type. %s", what, t, read)
}
