package offloadjs

import (
	"fmt"
	"strings"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/lang/kernel/ir"
)

// entries returns the documentation of the module's exports.
func entries() []bindings.Entry {
	list := []bindings.Entry{
		bindings.NewFunction("device", "Gives a device by its id: the best of all without one, 'gpu' for the best GPU, a plugin's name for its first device. Of a list of ids it is the first that is available, and a warning says why the others are not. A device is one object however often it is asked for.",
			"import { device } from 'offload'\nconsole.log(device(['gpu', 'cpu']).id)", "(id?: string | Device | string[]): Device"),
		bindings.NewFunction("devices", "Lists the devices of all plugins, best first. It opens every plugin; device('cpu') opens only what it must.",
			"import { devices } from 'offload'\nfor (const d of devices()) console.log(d.id, d.name)", "(): Device[]"),
		bindings.NewFunction("platforms", "Lists the plugins, and why one is not available.",
			"import { platforms } from 'offload'\nconsole.table(platforms())", "(): PlatformStatus[]"),
		bindings.NewFunction("kernel", "Makes a kernel of a plain function. Its first parameter is the item object, see help('g'); the others are buffers, numbers, booleans and BigInts. It is compiled when it is launched, for the types of the arguments, or at once if a signature gives them. It reads the script's constants, tables and helper functions once.",
			"import { device, kernel, f32 } from 'offload'\nconst scale = kernel((g, a, x) => { x[g.x] *= a })\nconst x = device('cpu').buffer(f32, 4, i => i)\nscale.launch({ size: 4 }, 10, x)\nconsole.log(await x.read())",
			"<A extends any[]>(fn: (g: Item, ...args: A) => void, options?: KernelOptions): Kernel<A>",
			"<const S extends Signature>(signature: S, fn: (g: Item, ...args: ParametersOf<S>) => void, options?: KernelOptions): Kernel<ParametersOf<S>>"),
		bindings.NewFunction("struct", "Makes a record type in C layout, for elements of buffers and for arrays in kernels. A field is a type, or [type, n, …] for an array.",
			"import { struct, f32, u32 } from 'offload'\nconst Particle = struct({ position: [f32, 3], id: u32 }, 'Particle')\nconsole.log(Particle.size, Particle.layout)",
			"<const F extends Fields>(fields: F, name?: string): Type<RecordOf<F>>"),
		bindings.NewFunction("register", "Registers a library of device images: an offload binary, an ELF shared object, PTX, a cubin, OpenCL C, SPIR-V or kernel IR, from a file or from bytes. Each device takes the image that fits it best.",
			"import { register } from 'offload'\nawait register(new Uint8Array(4)).catch(e => console.log(e.code))", "(source: string | ArrayBufferView | ArrayBuffer, options?: RegisterOptions): Promise<Library>"),
		bindings.NewFunction("live", "Lists what was made and not freed, with the place in the script where it was made.",
			"import { device, live, f32 } from 'offload'\nusing b = device('cpu').buffer(f32, 8, { label: 'signal' })\nconsole.table(live())", "(): LiveObject[]"),
		bindings.NewFunction("pipeline", "Declares what a host program can run again and again: named inputs, outputs and temporaries, and the function that launches kernels over them. A script exports it as its default. An input is a type for a number, [type] or [type, rank] for a buffer; outputs and temporaries are [type, extents], where a function of the inputs may give the extents. Buffers stay from run to run while their extents do, so a temporary keeps what the last run left in it.",
			"import { pipeline, kernel, f32 } from 'offload'\nconst scale = kernel((g, a, x, y) => { y[g.x] = a * x[g.x] })\nconst p = pipeline({\n  inputs: { a: f32, x: [f32] },\n  outputs: { y: [f32, ({ x }) => x.shape] },\n  run({ a, x, y }) { scale.launch({ size: x.length }, a, x, y) },\n})\nconsole.log(p)",
			"<const I extends Inputs, O extends Record<string, Type> = {}, T extends Record<string, Type> = {}>(declaration: Declaration<I, O, T>): Pipeline"),
		bindings.NewFunction("pool", "Makes a pool of devices, all devices unless they are named, that runs tasks: functions of the script that get a device and a queue of their own. A device runs two tasks at a time unless told otherwise. A task runs where its data is, or on a device that has nothing else to do; the tasks of a device that is lost run again on another one.",
			"import { pool, kernel, f32 } from 'offload'\nconst square = kernel((g, x) => { x[g.x] *= x[g.x] })\nusing p = pool(['cpu'])\nconst sums = await p.map([1, 2, 3], async (n, { device, queue }) => {\n  const x = device.buffer(f32, 4, i => i, { queue })\n  square.launch({ size: 4, queue }, x)\n  return n * (await x.read()).reduce((a, b) => a + b)\n})\nconsole.log(sums)",
			"(devices?: readonly (Device | string)[], options?: PoolOptions): Pool"),
		bindings.NewConstant("rpc", "RPC", "The services of this script that its kernels call. A kernel passes numbers and booleans, and gets one back; see docs/rpc.md."),
		bindings.NewConstant("collective", "Collective", "Copies and reductions over buffers of many devices, such as those of the workers of an MPI job."),
		bindings.NewConstant("args", "readonly string[]", "The arguments of the script. They follow its name on the command line, or the code behind -e."),
	}
	for _, t := range scalarTypes {
		list = append(list, bindings.NewConstant(t.String(), typeSignature(t), typeHelp(t)))
	}
	return append(list, classEntries()...)
}

// typeSignature returns the TypeScript type of an element type.
func typeSignature(t ir.Type) string { return fmt.Sprintf("Type<'%s'>", t) }

func typeHelp(t ir.Type) string {
	what := map[ir.Type]string{
		ir.Bool: "A boolean in one byte", ir.F16: "A half-precision float", ir.BF16: "A brain float: 8 bits of exponent, 7 of fraction",
		ir.F32: "A single-precision float", ir.F64: "A double-precision float",
	}[t]
	if what == "" {
		what = fmt.Sprintf("A signed integer of %d bits", 8*t.Size())
		if strings.HasPrefix(t.String(), "u") {
			what = fmt.Sprintf("An unsigned integer of %d bits", 8*t.Size())
		}
	}
	read := fmt.Sprintf("A buffer of it is read as a %s.", arrayClass(t))
	if t.Size() < 4 {
		wide := "i32"
		if t.IsFloat() {
			wide = "f32"
		}
		if t != ir.Bool {
			return fmt.Sprintf("%s. Kernels compute with it as %s. %s", what, wide, read)
		}
	}
	return fmt.Sprintf("%s. In a kernel, %s(x) converts. %s", what, t, read)
}
