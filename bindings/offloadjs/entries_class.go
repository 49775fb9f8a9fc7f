package offloadjs

import (
	"slices"

	"github.com/orepl/orepl/bindings"
)

// classEntries returns the documentation of the classes. They have no public constructor; scripts use them with instanceof.
func classEntries() []bindings.Entry {
	return slices.Concat(memoryClassEntries(), queueClassEntries(), kernelClassEntries())
}

// class returns the entry of a class.
func class(name, header, help string, members ...bindings.Entry) bindings.Entry {
	return bindings.Entry{Name: name, Kind: bindings.Class, Signature: "class " + header, Help: help, Members: members}
}

// disposeEntry returns the entry of the method that a using declaration calls.
func disposeEntry() bindings.Entry {
	return bindings.NewMethod("[Symbol.dispose]", "Ends the object where a using declaration goes out of scope.", "(): void")
}

// memoryClassEntries returns the documentation of types, devices and buffers.
func memoryClassEntries() []bindings.Entry {
	return []bindings.Entry{
		class("Type", "Type<T = any>", "An element type: a scalar such as f32, which is a Type<'f32'>, or a record made by struct, whose T is the type of its objects.",
			bindings.NewProperty("name", "string", "The type's name."),
			bindings.NewProperty("size", "number", "Bytes of one element."),
			bindings.NewProperty("layout", "Readonly<Record<string, number>> | undefined", "Offsets of a record's fields in bytes; undefined for a scalar."),
		),
		class("Device", "Device", "A device: it owns memory and queues.",
			bindings.NewMethod("buffer", "Makes a buffer: of a type and extents, zero or from an initialiser that runs on the device; or from a typed array, which is copied; or of records from an array of objects. Extents are a count or up to three, outermost first: an array of numbers is always extents, which { shape: [rows, columns] } says more plainly, and values are a typed array, as in buffer(f32, Float32Array.of(1, 2, 3)).",
				"<T, const E extends Extents>(type: Type<T>, options: BufferOptions & { shape: E }): Buffer<T, Rank<E>>",
				"<T, const E extends Extents>(type: Type<T>, extents: E, options?: BufferOptions): Buffer<T, Rank<E>>",
				"<T, const E extends Extents>(type: Type<T>, extents: E, init: (...index: Shape<Rank<E>>) => Value<T> | number | boolean, options?: BufferOptions): Buffer<T, Rank<E>>",
				"<T extends object, const E extends Extents = number>(type: Type<T>, values: readonly T[], options?: BufferOptions & { shape?: E }): Buffer<T, Rank<E>>",
				"<T, const E extends Extents = number>(type: Type<T>, values: TypedArray | ArrayBuffer, options?: BufferOptions & { shape?: E }): Buffer<T, Rank<E>>",
				"<A extends TypedArray, const E extends Extents = number>(values: A, options?: BufferOptions & { shape?: E }): Buffer<ElementOf<A>, Rank<E>>"),
			bindings.NewMethod("createQueue", "Makes a queue of its own order beside the device's default queue.", "(options?: QueueOptions): Queue"),
			bindings.NewProperty("id", "string", "The id, such as 'cpu' or 'cuda:0'."),
			bindings.NewProperty("name", "string", "The product's name."),
			bindings.NewProperty("type", "string", "The kind of device: 'cpu', 'gpu' or 'accelerator'."),
			bindings.NewProperty("vendor", "string", "Who made it."),
			bindings.NewProperty("arch", "string", "The architecture that images are matched with."),
			bindings.NewProperty("platform", "string", "The platform of its plugin."),
			bindings.NewProperty("computeUnits", "number", "Cores or multiprocessors."),
			bindings.NewProperty("limits", "DeviceLimits", "What a launch or an allocation may ask for."),
			bindings.NewProperty("features", "DeviceFeatures", "What the device can do beyond the minimum."),
			bindings.NewProperty("memory", "MemoryUse", "What buffers take of its memory, in bytes."),
			bindings.NewProperty("queue", "Queue", "The default queue, to which everything goes that names no other."),
		),
		class("Buffer", "Buffer<T = any, R extends number = any>", "Typed memory of a device, of one to three dimensions, or a view of a part of it. T is its element type and R its number of dimensions, as in Buffer<'f32', 2>. It is zero when it is made. Printing it copies only the values that are shown.",
			bindings.NewMethod("read", "Gives a copy of the elements from start on, when the commands given before have run. It is one flat array, whatever the shape: row i of a matrix begins at i * shape[1]. Elements of records come as objects.", "(start?: number, count?: number, options?: ReadOptions): Promise<Values<T>>"),
			bindings.NewMethod("readSync", "Does what read does while the script waits.", "(start?: number, count?: number, options?: QueueOption): Values<T>"),
			bindings.NewMethod("write", "Copies values into the buffer from start on. The values may be changed at once.", "(values: readonly Input<T>[] | TypedArray | ArrayBuffer, start?: number, options?: QueueOption): this"),
			bindings.NewMethod("fill", "Sets every element.", "(value: Input<T>, options?: QueueOption): this"),
			bindings.NewMethod("copyTo", "Copies the contents to a buffer of as many bytes, on this device or another, and gives that buffer.", "<B extends Buffer>(destination: B, options?: QueueOption): B"),
			bindings.NewMethod("view", "Gives a buffer on a part of the same memory: count elements from start on, or an array of extents, of another type if one is given.",
				"<const E extends Extents = number>(start: number, extents?: E, options?: ViewOptions): Buffer<T, Rank<E>>",
				"<W, const E extends Extents = number>(start: number, extents: E | undefined, type: Type<W>, options?: ViewOptions): Buffer<W, Rank<E>>"),
			bindings.NewMethod("readRect", "Gives a copy of a box of the elements, without gaps.", "(options?: RectOptions): Promise<Values<T>>"),
			bindings.NewMethod("writeRect", "Copies values, without gaps, into a box of the elements.", "(values: readonly Input<T>[] | TypedArray | ArrayBuffer, options?: RectOptions): this"),
			bindings.NewMethod("free", "Gives the memory back when the commands that use it have run. Every later use is an error.", "(): void"),
			bindings.NewProperty("label", "string", "The name in errors and tables."),
			bindings.NewProperty("type", "Type<T>", "The type of the elements."),
			bindings.NewProperty("shape", "Shape<R>", "The extents, outermost first."),
			bindings.NewProperty("length", "number", "The first extent."),
			bindings.NewProperty("size", "number", "The bytes."),
			bindings.NewProperty("kind", "'device' | 'host' | 'shared'", "Where the memory is."),
			bindings.NewProperty("freed", "boolean", "Whether the buffer can no longer be used."),
			bindings.NewProperty("address", "bigint", "Where the first element is in the device's memory, for pointers in structs that native kernels follow. A launch that is given the address alone neither waits for other commands on the buffer nor keeps it."),
			bindings.NewProperty("device", "Device", "The device that it is on."),
			disposeEntry(),
		),
	}
}

// queueClassEntries returns the documentation of queues, events and services.
func queueClassEntries() []bindings.Entry {
	return []bindings.Entry{
		class("Queue", "Queue", "Commands that a device runs in order. A fault sticks to the queue and rejects the next sync, read or awaited event, once.",
			bindings.NewMethod("launch", "Launches a kernel on this queue.", "<A extends any[]>(kernel: Kernel<A>, options: LaunchOptions, ...args: Arguments<A>): Event"),
			bindings.NewMethod("record", "Gives an event that is reached when the commands before it have run.", "(options?: LabelOption): Event"),
			bindings.NewMethod("wait", "Lets later commands wait for an event of any queue.", "(event: Event): void"),
			bindings.NewMethod("host", "Calls a function of the script in order with the commands; the queue waits for it.", "(fn: () => void): Event"),
			bindings.NewMethod("query", "Tells whether all commands have run.", "(): boolean"),
			bindings.NewMethod("sync", "Is fulfilled when all commands have run, and rejected with their first fault. A signal that is aborted cancels the commands given so far.", "(options?: { signal?: AbortSignal }): Promise<void>"),
			bindings.NewMethod("close", "Waits for the commands and ends the queue.", "(): void"),
			bindings.NewProperty("label", "string", "The name in errors and tables."),
			bindings.NewProperty("device", "Device", "The device."),
			disposeEntry(),
		),
		class("Event", "Event", "A point in a queue's commands. Awaiting it waits until it is reached.",
			bindings.NewMethod("then", "Makes the event awaitable.", "<R = void, E = never>(reached?: ((value: void) => R | PromiseLike<R>) | null, failed?: ((reason: any) => E | PromiseLike<E>) | null): Promise<R | E>"),
			bindings.NewMethod("catch", "Calls a function with the failure of the commands, if there is one.", "<E = never>(failed?: ((reason: any) => E | PromiseLike<E>) | null): Promise<void | E>"),
			bindings.NewMethod("elapsedSince", "Gives the nanoseconds between an earlier event and this one on the device's clock. Both must have been reached.", "(earlier: Event): number"),
			bindings.NewProperty("done", "boolean", "Whether it has been reached."),
			bindings.NewProperty("queue", "Queue", "The queue."),
		),
		class("Collective", "Collective", "Operations on buffers of many devices. Bytes go from device to device where the devices can. Nothing needs to be awaited before a read. It is the export collective of offload.",
			bindings.NewMethod("broadcast", "Copies a buffer to others of the same size.", "(source: Buffer, destinations: readonly Buffer[]): void"),
			bindings.NewMethod("scatter", "Copies a buffer to parts, one behind the other.", "<T>(whole: Buffer<T>, parts: readonly Buffer<T>[]): void"),
			bindings.NewMethod("gather", "Copies parts into a buffer, one behind the other.", "<T>(whole: Buffer<T>, parts: readonly Buffer<T>[]): void"),
			bindings.NewMethod("allReduce", "Gives every buffer the sum of all, element by element, or the product, min or max: ((b0 + b1) + b2) and so on, in the order of the array, wherever the buffers are. Types are i32, u32, i64, u64, f32 and f64.", "<T>(buffers: readonly Buffer<T>[], operation?: 'sum' | 'product' | 'min' | 'max'): void"),
		),
		class("RPC", "RPC", "The services that the script offers to its kernels, which call them with g.call. It is the export rpc of offload.",
			bindings.NewMethod("on", "Offers a function of the script as a service. A kernel's g.call waits until the event loop has run the function and has its value, or that of the promise it returns. An exception ends the launch. The function may take one argument more than args says: who calls, with stop(reason) to end the launch. A one-way service has no result, and the kernel does not wait.", "(name: string, options: ServiceOptions, handler: (...args: any[]) => unknown): void", "(name: string, handler: (call: ServiceCall) => unknown): void"),
			bindings.NewMethod("off", "Withdraws a service and tells whether there was one of that name.", "(name: string): boolean"),
			bindings.NewProperty("services", "{ name: string; signature: string; oneWay: boolean; deadline: number; calls: number; failures: number; meanTime: number }[]", "The services by name, with how often kernels called them, how often that failed, and the mean milliseconds from a call to its answer, or to the end of a one-way handler."),
			bindings.NewProperty("ports", "{ device: string; library: string; ports: number; busy: { port: number; operation: string; waits: boolean }[]; calls: Record<string, number> }[]", "The ports through which the code of native libraries calls the host, by library and device of this process: how many there are, those that serve a call now, with the service or built-in operation, and whether the host waits for the code, and the number of calls of each operation."),
		),
	}
}

// kernelClassEntries returns the documentation of kernels, libraries and pipelines.
func kernelClassEntries() []bindings.Entry {
	trace := traceClassEntry()
	return []bindings.Entry{
		class("Kernel", "Kernel<A extends any[] = any[]>", "A function that runs once for each work-item of a launch.",
			bindings.NewMethod("launch", "Runs the kernel once for each work-item, on the best device that the arguments are on, and gives the event of its end. Nothing needs to be awaited before a read.", "(options: LaunchOptions, ...args: Arguments<A>): Event"),
			bindings.NewMethod("bind", "Checks the options and the arguments of a launch once, and gives a launch that can be repeated at little cost. It uses the elements that the buffers have then; scalars stay as they are.", "(options: LaunchOptions, ...args: Arguments<A>): BoundLaunch"),
			bindings.NewMethod("explain", "Says for each signature that the kernel was compiled for why its numbers have their types, how it accesses buffers, and shared arrays in loops, and which checks stayed.", "(): string"),
			bindings.NewMethod("debug", "Runs one item of a launch in the interpreter and gives what each of its statements did. The buffers are copied: a launch's effects do not happen.", "(options: DebugOptions, ...args: Arguments<A>): Trace"),
			bindings.NewProperty("warnings", "{ id: string; message: string; hint: string; file: string; line: number; column: number }[]", "What is doubtful or slow in the kernel, for all signatures so far: see the warnings in docs/diagnostics.md. To ask for it optimises the kernel."),
			bindings.NewProperty("name", "string", "The name in errors."),
			bindings.NewProperty("source", "string", "The text of the function."),
		),
		class("BoundLaunch", "BoundLaunch", "A launch with its options and arguments; made by Kernel.bind.",
			bindings.NewMethod("launch", "Runs the kernel and gives the event of its end.", "(): Event"),
			bindings.NewProperty("name", "string", "The kernel's name."),
			bindings.NewProperty("queue", "Queue", "The queue."),
		),
		trace,
		class("Library", "Library", "A registered library of device images.",
			bindings.NewMethod("kernel", "Gives a kernel by name. If the image does not say what the kernel takes, the signature must, in order; for a native image it also says how the function is called.", "(name: string, signature?: Signature | NativeSignature): LibraryKernel"),
			bindings.NewMethod("global", "Gives a global variable of the library as a buffer of bytes on a device, the best one if none is given.", "(name: string, device?: Device): Buffer<'u8', 1>"),
			bindings.NewMethod("address", "Gives the address of a function or variable on a device, the best one if none is given, for pointers in structs.", "(name: string, device?: Device): bigint"),
			bindings.NewMethod("unregister", "Waits for the library's kernels and unloads it.", "(): Promise<void>"),
			bindings.NewProperty("label", "string", "The name in errors and tables."),
			bindings.NewProperty("images", "ImageInfo[]", "Each image, and for each device whether it chose the image, and why not."),
			bindings.NewProperty("entries", "EntryInfo[]", "What the host program's table names: kernels, variables of declare target, and functions of indirect clauses; none of a container alone."),
			bindings.NewProperty("kernels", "string[]", "The names of the kernels."),
			bindings.NewMethod("[Symbol.asyncDispose]", "Unregisters the library where an await using declaration goes out of scope.", "(): Promise<void>"),
		),
		class("LibraryKernel", "LibraryKernel", "A kernel of a library of images.",
			bindings.NewMethod("launch", "Runs the kernel as Kernel.launch does.", "(options: LaunchOptions, ...args: (Argument | object)[]): Event"),
			bindings.NewProperty("name", "string", "The name in the image."),
		),
		class("Pool", "Pool", "Devices that share tasks; made by pool.",
			bindings.NewMethod("run", "Runs a task when a device is free, and gives what it returns. It begins after the call. If the device is lost while it runs it is called again, with another device.", "<T>(task: (slot: PoolSlot) => T | PromiseLike<T>, options?: { near?: Near }): Promise<T>"),
			bindings.NewMethod("map", "Runs a task for each item and gives the results in the order of the items. After a failure no more tasks begin, and the promise is rejected with it when those that run have ended.", "<I, T>(items: Iterable<I>, task: (item: I, slot: PoolSlot, index: number) => T | PromiseLike<T>, options?: { near?: Near | ((item: I, index: number) => Near) }): Promise<T[]>"),
			bindings.NewMethod("close", "Ends the queues of the pool. Its tasks must have ended.", "(): void"),
			bindings.NewProperty("devices", "{ device: string; running: number; done: number; stolen: number; lost: boolean }[]", "What each device did: the tasks that run, that ended well, and those that it took although their data is elsewhere."),
			disposeEntry(),
		),
		class("Pipeline", "Pipeline", "What a host program runs again and again; made by pipeline.",
			bindings.NewProperty("inputs", "string[]", "The names of the inputs."),
			bindings.NewProperty("outputs", "string[]", "The names of the outputs."),
			bindings.NewProperty("device", "Device", "The device that it runs on."),
		),
	}
}

// traceClassEntry returns the documentation of traces, with an example.
func traceClassEntry() bindings.Entry {
	e := class("Trace", "Trace", "What one item of a kernel did, statement by statement; made by Kernel.debug. Printing it shows a line for each step.",
		bindings.NewMethod("toString", "Gives the text that printing shows.", "(): string"),
		bindings.NewProperty("item", "number[]", "The item: x, y, z."),
		bindings.NewProperty("steps", "Step[]", "The statements in the order in which they were done."),
		bindings.NewProperty("ended", "boolean", "Whether the item came to its end: it had no fault, and the limit of steps was not reached."),
		bindings.NewProperty("fault", "{ code: string; message: string; file: string; line: number; column: number; text: string } | undefined", "The item's fault."),
	)
	e.Example = "import { device, kernel, f32 } from 'offload'\nconst scale = kernel((g, a, x) => { x[g.x] *= a })\nconst x = device('cpu').buffer(f32, 4, i => i)\nconst trace = scale.debug({ item: 3, size: 4 }, 10, x)\nconsole.log(trace)\nfor (const step of trace.steps) console.log(step.line, step.accesses)"
	return e
}
