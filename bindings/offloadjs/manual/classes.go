package manual

import (
	"slices"

	"github.com/orepl/orepl/bindings"
	"github.com/orepl/orepl/bindings/offloadjs/occupancy"
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
	return bindings.NewMethod("[Symbol.dispose]", "Frees or closes the object when a using declaration goes out of scope.", "(): void")
}

// memoryClassEntries returns the documentation of types, devices and buffers.
func memoryClassEntries() []bindings.Entry {
	return []bindings.Entry{
		class("Type", "Type<T = any>", "An element type: a scalar such as f32, which is a Type<'f32'>, or a record type from struct(), where T is the type of its objects.",
			bindings.NewProperty("name", "string", "The type's name."),
			bindings.NewProperty("size", "number", "The size of an element in bytes."),
			bindings.NewProperty("layout", "Readonly<Record<string, number>> | undefined", "The byte offset of each field of a record; undefined for a scalar."),
		),
		class("Device", "Device", "A processor that runs kernels, with its memory and queues.",
			bindings.NewMethod("buffer", "Creates a buffer. With a type and extents, the elements are zero or the results of an initialiser, which is compiled and runs on the device. An initialiser may read elements of other buffers that it captures, as in buffer(f64, b.length, i => b[i]). With a typed array or a buffer, the values are copied; a type before a typed array converts them, and one before a buffer must be the buffer's type. An ArrayBuffer has the bytes of the elements. With a record type and an array of objects, each object is an element. Extents are one to three counts, outermost first. An array of numbers after a type means extents, like { shape: [rows, columns] }; pass values as a typed array, as in buffer(f32, Float32Array.of(1, 2, 3)).",
				"<T, const E extends Extents>(type: Type<T>, options: BufferOptions & { shape: E }): Buffer<T, Rank<E>>",
				"<T, const E extends Extents>(type: Type<T>, extents: E, options?: BufferOptions): Buffer<T, Rank<E>>",
				"<T, const E extends Extents>(type: Type<T>, extents: E, init: (...index: Shape<Rank<E>>) => Value<T> | number | boolean, options?: BufferOptions): Buffer<T, Rank<E>>",
				"<T extends object, const E extends Extents = number>(type: Type<T>, values: readonly T[], options?: BufferOptions & { shape?: E }): Buffer<T, Rank<E>>",
				"<T, const E extends Extents = number>(type: Type<T>, values: TypedArray | ArrayBuffer, options?: BufferOptions & { shape?: E }): Buffer<T, Rank<E>>",
				"<A extends TypedArray, const E extends Extents = number>(values: A, options?: BufferOptions & { shape?: E }): Buffer<ElementOf<A>, Rank<E>>",
				"<T, R extends number>(source: Buffer<T, R>, options?: BufferOptions): Buffer<T, R>",
				"<T, R extends number>(type: Type<T>, source: Buffer<T, R>, options?: BufferOptions): Buffer<T, R>"),
			bindings.NewMethod("createQueue", "Creates a queue, whose commands may run concurrently with those of other queues.", "(options?: QueueOptions): Queue"),
			bindings.NewMethod("memoryAt", "Returns the memory of a live buffer that contains an address, such as one that native code reports, or null if there is none. The object has the buffer's label and kind, the address and size in bytes of the whole memory, and the address's offset in it. Without the permission for native code it throws permission-denied.", "(address: bigint): { label: string, kind: 'device' | 'host' | 'shared', address: bigint, size: number, offset: number } | null"),
			bindings.NewMethod("pin", "Pins the memory of an array for copies to this device by write and buffer. They then begin without a copy of the array: do not change the array until they have run. An empty array, or one that overlaps memory pinned for the device, is an error. Pinning has no effect on devices to which copies from pinned memory are not faster.", "(array: TypedArray | ArrayBuffer): PinnedMemory"),
			bindings.NewProperty("id", "string", "The device's id, such as 'cpu' or 'cuda:0'."),
			bindings.NewProperty("name", "string", "The name of the product."),
			bindings.NewProperty("type", "string", "The kind of device: 'cpu', 'gpu' or 'accelerator'."),
			bindings.NewProperty("vendor", "string", "The name of the vendor."),
			bindings.NewProperty("arch", "string", "The architecture, such as 'sm_90'. Images with machine code must match it."),
			bindings.NewProperty("platform", "string", "The name of the platform, as its plugin reports it."),
			bindings.NewProperty("computeUnits", "number", "The number of cores or multiprocessors."),
			bindings.NewProperty("limits", "DeviceLimits", "The limits of launches and allocations."),
			bindings.NewProperty("features", "DeviceFeatures", "The optional features of the device."),
			bindings.NewProperty("memory", "MemoryUse", "The memory of the device in bytes: its total, what this process has allocated, and the maximum of that so far."),
			bindings.NewProperty("queue", "Queue", "The default queue, which runs launches and copies that name no queue."),
		),
		class("Buffer", "Buffer<T = any, R extends number = any>", "Typed memory of a device with one to three dimensions, or a view of a part of such memory. T is the element type and R the number of dimensions, as in Buffer<'f32', 2>. Without values the elements are initially zero. Printing a large buffer copies only some of its values. The garbage collector eventually frees a buffer that the script can no longer reach; free() frees it sooner.",
			bindings.NewMethod("read", "Returns a promise of a copy of count elements from element start, after earlier commands on the buffer have completed. The default is start 0 and all elements from there on; elements beyond the end are invalid-size. The copy is one flat array for any shape: row i of a matrix begins at i * shape[1]. The option into is a typed array of the script that receives the elements. Records are converted to objects. The promise is rejected with a pending fault of the queue.", "(start?: number, count?: number, options?: ReadOptions): Promise<Values<T>>"),
			bindings.NewMethod("readSync", "Like read, but blocks the script until the copy is complete, and returns the copy. It throws while a queue waits for a function of the script, or a handler of a service runs.", "(start?: number, count?: number, options?: PlaceOptions): Values<T>"),
			bindings.NewMethod("write", "Copies values into the buffer from element start, by default 0. An integer out of the range of the type, or a fraction in an integer type, is invalid-argument, and elements beyond the end are invalid-size. An ArrayBuffer has the bytes of the elements. The script may modify the array as soon as the call returns, unless its memory is pinned. Returns the buffer.", "(values: readonly Input<T>[] | TypedArray | ArrayBuffer, start?: number, options?: QueueOption): this"),
			bindings.NewMethod("fill", "Sets every element to a value. A float type rounds it; an integer out of the range of the type, or a fraction in an integer type, is invalid-argument. Returns the buffer.", "(value: Input<T>, options?: QueueOption): this"),
			bindings.NewMethod("copyTo", "Copies the bytes to a buffer with as many bytes, on this device or another, whatever its type and shape. Other sizes are invalid-size, and parts of one buffer that overlap are invalid-argument. Returns the destination.", "<B extends Buffer>(destination: B, options?: QueueOption): B"),
			bindings.NewMethod("clone", "Returns a new buffer on the same device with the same type, extents, kind of memory and elements.", "(options?: CloneOptions): Buffer<T, R>"),
			bindings.NewMethod("view", "Returns a buffer that shares a part of this buffer's memory, beginning at element start, in row-major order, or at an index for each dimension, if the elements of the view follow each other in memory. The extents are a count or an array of one to three counts; the default is all remaining elements, or after an index the rest of each dimension. A type reinterprets the memory: start counts elements of this buffer's type, and the extents those of the new type. A view beyond the end is invalid-size.",
				"<const E extends Extents = number>(start: Extents, extents?: E, options?: ViewOptions): Buffer<T, Rank<E>>",
				"<W, const E extends Extents = number>(start: Extents, extents: E | undefined, type: Type<W>, options?: ViewOptions): Buffer<W, Rank<E>>"),
			bindings.NewMethod("readRect", "Returns a promise of a copy of a rectangular region, packed into one flat array. A region beyond the extents is invalid-size.", "(options?: ReadRectOptions): Promise<Values<T>>"),
			bindings.NewMethod("writeRect", "Copies values into a rectangular region, whose elements they have in row-major order. A region beyond the extents, or another number of values, is invalid-size. Returns the buffer.", "(values: readonly Input<T>[] | TypedArray | ArrayBuffer, options?: RectOptions): this"),
			bindings.NewMethod("free", "Frees the memory as soon as the commands that use it have completed. Any later command on the buffer or its views throws closed, and so does a second call. Freeing a view ends only that view and the views of it.", "(): void"),
			bindings.NewProperty("label", "string", "The name in errors and tables."),
			bindings.NewProperty("type", "Type<T>", "The type of the elements."),
			bindings.NewProperty("shape", "Shape<R>", "The extents in elements, outermost first."),
			bindings.NewProperty("length", "number", "The first extent: of a buffer of one dimension, the number of elements."),
			bindings.NewProperty("size", "number", "The size in bytes."),
			bindings.NewProperty("kind", "'device' | 'host' | 'shared'", "The kind of memory: of the device, of the host, or shared by both."),
			bindings.NewProperty("freed", "boolean", "Whether the buffer has been freed."),
			bindings.NewProperty("address", "bigint", "The address of the first element in the device's memory, for pointers in structs that native kernels dereference. A launch that receives only the address neither waits for other commands on the buffer nor keeps the buffer alive. Without the permission for native code the property throws permission-denied."),
			bindings.NewProperty("device", "Device", "The device with the buffer's memory."),
			disposeEntry(),
		),
	}
}

// queueClassEntries returns the documentation of queues, events and services.
func queueClassEntries() []bindings.Entry {
	return []bindings.Entry{
		class("Queue", "Queue", "A sequence of commands that a device runs in order. The commands after one that fails still run. A fault stays pending on the queue until a sync, read, close or awaited event reports it, by rejection or exception. Each fault is reported once, but the event of the launch reports it each time that it is awaited.",
			bindings.NewMethod("launch", "Launches a kernel on this queue, as Kernel.launch does with the option queue.", "<A extends any[]>(kernel: Kernel<A>, options: LaunchOptions, ...args: Arguments<A>): Event"),
			bindings.NewMethod("record", "Returns an event that completes after the commands issued so far.", "(options?: LabelOption): Event"),
			bindings.NewMethod("wait", "Makes later commands of this queue wait for an event of any queue. The script does not wait.", "(event: Event): void"),
			bindings.NewMethod("host", "Calls a function of the script in order with the commands. Later commands wait until it has returned and a promise that it returns has settled. An exception, or the rejection of the promise, is the command's failure, which the event or the next sync reports.", "(fn: () => void): Event"),
			bindings.NewMethod("query", "Reports whether all commands issued so far have completed, with or without a fault.", "(): boolean"),
			bindings.NewMethod("sync", "Returns a promise that is fulfilled after all commands issued so far, or rejected with the first fault that has not been reported. Aborting the signal cancels these commands.", "(options?: { signal?: AbortSignal }): Promise<void>"),
			bindings.NewMethod("close", "Blocks until the commands have completed, then closes the queue. A device's default queue cannot be closed.", "(): void"),
			bindings.NewProperty("label", "string", "The name in errors and tables."),
			bindings.NewProperty("device", "Device", "The device that runs the commands."),
			disposeEntry(),
		),
		class("Event", "Event", "A point in a queue. Awaiting an event waits until the commands before it have completed.",
			bindings.NewMethod("then", "Calls the function reached after the commands before the event have completed, or the function failed with their fault. Returns a promise of what that function returns. It makes the event awaitable.", "<R = void, E = never>(reached?: ((value: void) => R | PromiseLike<R>) | null, failed?: ((reason: any) => E | PromiseLike<E>) | null): Promise<R | E>"),
			bindings.NewMethod("catch", "Calls a function with the fault of the commands before the event, if one occurs. Returns a promise of what the function returns, or of undefined without a fault.", "<E = never>(failed?: ((reason: any) => E | PromiseLike<E>) | null): Promise<void | E>"),
			bindings.NewMethod("elapsedSince", "Returns the time in nanoseconds from an earlier event to this one, by the device's clock. Events that are not done, or not on one device, are invalid-event. A device without a clock is unsupported.", "(earlier: Event): number"),
			bindings.NewProperty("done", "boolean", "Whether the commands before the event have completed, with or without a fault."),
			bindings.NewProperty("queue", "Queue", "The queue of the event."),
		),
		class("Collective", "Collective", "Collective operations on buffers of several devices; the class of the export collective. Data is copied directly between devices that support it, else through the host. The calls only issue commands; a read waits for them.",
			bindings.NewMethod("broadcast", "Copies a buffer to each of several buffers with the same number of bytes.", "(source: Buffer, destinations: readonly Buffer[]): void"),
			bindings.NewMethod("scatter", "Copies consecutive pieces of a buffer to the parts, in order. The parts have the buffer's type, and together its number of elements.", "<T>(whole: Buffer<T>, parts: readonly Buffer<T>[]): void"),
			bindings.NewMethod("gather", "Concatenates the parts in a buffer, in order. They have the buffer's type, and together its number of elements.", "<T>(whole: Buffer<T>, parts: readonly Buffer<T>[]): void"),
			bindings.NewMethod("allReduce", "Replaces the contents of every buffer by the element-wise sum of all buffers, or their product, min or max. The buffers have one type and one number of elements. The order of operations is that of the array, ((b0 + b1) + b2) …, on any devices. With order: 'any', each device first combines its own buffers, so that it sends one; the last bits of floats then depend on which buffers share a device. The type is i32, u32, i64, u64, f32 or f64.", "<T>(buffers: readonly Buffer<T>[], operation?: 'sum' | 'product' | 'min' | 'max', options?: { order?: 'array' | 'any' }): void"),
		),
		class("RPC", "RPC", "The services that the script and its host program offer to kernels, which call them with g.call; the class of the export rpc.",
			bindings.NewMethod("on", "Registers a function of the script as a service. A kernel's g.call blocks until the event loop has called the function and its value, or the promise that it returns, is available. After the option deadline, by default 30 seconds, it fails with timeout. An exception fails the launch. If the function has more parameters than args has types, the next one is a ServiceCall. It describes the caller, and its stop(reason) ends the launch. A call of a one-way service has no result, and blocks only while 4096 calls wait. The first exception of a one-way service is reported as an error of the script; later ones are counted in failures. A service of the script with the same name is replaced; one of the host program is an error.", "(name: string, options: ServiceOptions, handler: (...args: any[]) => unknown): void", "(name: string, handler: (call: ServiceCall) => unknown): void"),
			bindings.NewMethod("off", "Removes a service of the script and reports whether it existed. Later calls of the service fail, also those of a running kernel. A service of the host program is an error.", "(name: string): boolean"),
			bindings.NewProperty("services", "{ name: string; signature: string; oneWay: boolean; deadline: number; calls: number; failures: number; meanTime: number }[]", "The services, sorted by name, each with its deadline in milliseconds, 0 for none, its number of calls and failures, and the mean time in milliseconds from a call to its answer or, if one-way, to the end of its handler. Of calls of Go functions every sixteenth is timed."),
			bindings.NewProperty("ports", "{ device: string; library: string; ports: number; busy: { port: number; operation: string; waits: boolean }[]; calls: Record<string, number> }[]", "The ports through which native libraries call the host, one entry per library and device of this process: the number of ports, the busy ports with their service or built-in operation and whether the host waits for device code, and the number of calls per operation."),
		),
	}
}

// kernelClassEntries returns the documentation of kernels, libraries and pipelines.
func kernelClassEntries() []bindings.Entry {
	trace := traceClassEntry()
	return []bindings.Entry{
		class("Kernel", "Kernel<A extends any[] = any[]>", "A function that runs once for each work-item of a launch; created by kernel().",
			bindings.NewMethod("launch", "Launches the kernel, which runs once for each work-item, on the queue or device of the options. The default is the device of its first buffer argument, or without buffers the best device. Returns an event that completes with the launch. A later read waits for it, so the event need not be awaited.", "(options: LaunchOptions, ...args: Arguments<A>): Event"),
			bindings.NewMethod("bind", "Validates the options and arguments of a launch once, starts nothing, and returns a BoundLaunch, which repeats the launch at low cost. Each repetition uses the current contents of the buffers; scalars are fixed.", "(options: LaunchOptions, ...args: Arguments<A>): BoundLaunch"),
			occupancy.OfKernel(),
			bindings.NewMethod("explain", "Returns a report on each compiled signature: the reason for the type of each parameter that is a number, the access patterns of buffers and of shared arrays in loops, the remaining bounds checks, and the warnings. Throws if the kernel has not been compiled.", "(): string"),
			bindings.NewMethod("debug", "Interprets one work-item of a launch and returns a trace of its statements. It blocks the script until earlier commands have run, and works on copies of the buffers, which stay unchanged.", "(options: DebugOptions, ...args: Arguments<A>): Trace"),
			bindings.NewProperty("warnings", "{ id: string; message: string; hint: string; file: string; line: number; column: number }[]", "The warnings about doubtful or slow code for all compiled signatures; see docs/diagnostics.md. There are none before the first compilation. Reading the property runs the optimiser on the kernel."),
			bindings.NewProperty("name", "string", "The kernel's name in errors."),
			bindings.NewProperty("source", "string", "The source text of the function."),
		),
		class("BoundLaunch", "BoundLaunch", "A launch with fixed options and arguments; created by Kernel.bind.",
			bindings.NewMethod("launch", "Launches the kernel. Returns an event that completes with the launch.", "(): Event"),
			bindings.NewProperty("name", "string", "The kernel's name."),
			bindings.NewProperty("queue", "Queue", "The queue of the launches."),
		),
		trace,
		class("Library", "Library", "A library of device images; created by register.",
			bindings.NewMethod("kernel", "Returns a kernel by name. A signature, with the parameters in order, is required if the image does not describe them; for a native image it also states the calling convention.", "(name: string, signature?: Signature | NativeSignature): LibraryKernel"),
			bindings.NewMethod("global", "Returns a global variable of the library as a buffer of bytes on a device, by default the best one that can load the library.", "(name: string, device?: Device): Buffer<'u8', 1>"),
			bindings.NewMethod("address", "Returns the address of a function or variable on a device, by default the best one that can load the library, for pointers in structs. It is valid until the library is unregistered. Without the permission for native code it throws permission-denied.", "(name: string, device?: Device): bigint"),
			bindings.NewMethod("unregister", "Returns a promise that is fulfilled after the library's launches have completed and its images are unloaded.", "(): Promise<void>"),
			bindings.NewProperty("label", "string", "The name in errors and tables."),
			bindings.NewProperty("images", "ImageInfo[]", "The images, each with every device's decision to use it or not, and the reason of a refusal. Reading the property loads every configured plugin."),
			bindings.NewProperty("entries", "EntryInfo[]", "The entries of the host program's offload table: kernels, declare target variables, and functions of indirect clauses. A bare container has none."),
			bindings.NewProperty("kernels", "string[]", "The names of the kernels in the image for the best device that can load the library."),
			bindings.NewMethod("[Symbol.asyncDispose]", "Unregisters the library when an await using declaration goes out of scope.", "(): Promise<void>"),
		),
		class("LibraryKernel", "LibraryKernel", "A kernel of a library of device images; created by Library.kernel.",
			bindings.NewMethod("launch", "Launches the kernel, as Kernel.launch does. Objects are arguments for structs by value. For functions of the conventions 'call' and 'openmp', the size is 1 by default.", "(options: LaunchOptions, ...args: (Argument | object)[]): Event"),
			occupancy.OfLibrary(),
			bindings.NewProperty("name", "string", "The kernel's name in the image."),
		),
		class("PinnedMemory", "PinnedMemory", "The memory of an array that a device was told to pin; created by Device.pin.",
			bindings.NewMethod("release", "Returns a promise that is fulfilled after the earlier commands of the device have run and the memory is no longer pinned.", "(): Promise<void>"),
			bindings.NewProperty("pinned", "boolean", "Whether the device's driver has pinned the memory. Of orepl's own plugins only cuda does so. The value stays the same after release."),
			bindings.NewProperty("size", "number", "The number of bytes."),
			bindings.NewProperty("device", "Device", "The device."),
			bindings.NewMethod("[Symbol.asyncDispose]", "Releases the memory when an await using declaration goes out of scope.", "(): Promise<void>"),
		),
		class("Pool", "Pool", "A set of devices that run tasks; created by pool().",
			bindings.NewMethod("run", "Queues a task and returns a promise of its result. The task starts on the event loop once a device has capacity. If the device is lost during the task, the function is called again with another device. Without one, the promise is rejected with device-lost, unless workers may join.", "<T>(task: (slot: PoolSlot) => T | PromiseLike<T>, options?: { near?: Near }): Promise<T>"),
			bindings.NewMethod("map", "Runs a task for each item and returns a promise of the results, in the order of the items. After a failure no further task of the call starts, and the promise is rejected once the running tasks have ended.", "<I, T>(items: Iterable<I>, task: (item: I, slot: PoolSlot, index: number) => T | PromiseLike<T>, options?: { near?: Near | ((item: I, index: number) => Near) }): Promise<T[]>"),
			bindings.NewMethod("close", "Closes the queues of the pool. Throws while tasks wait or run. Later calls of run and map are errors.", "(): void"),
			bindings.NewProperty("devices", "{ device: string; running: number; done: number; stolen: number; lost: boolean }[]", "The state of each device: its running tasks, its succeeded tasks (done), the tasks that it took from devices with their data (stolen), and whether the device is lost."),
			disposeEntry(),
		),
		class("Pipeline", "Pipeline", "A computation that a host program runs repeatedly; created by pipeline().",
			bindings.NewProperty("params", "string[]", "The names of the parameters."),
			bindings.NewProperty("inputs", "string[]", "The names of the inputs."),
			bindings.NewProperty("outputs", "string[]", "The names of the outputs."),
			bindings.NewProperty("device", "Device", "The device that runs the pipeline."),
		),
	}
}

// traceClassEntry returns the documentation of traces, with an example.
func traceClassEntry() bindings.Entry {
	e := class("Trace", "Trace", "The statements that one work-item executed; created by Kernel.debug. Printing a trace shows one line per step.",
		bindings.NewMethod("toString", "Returns the text that printing shows.", "(): string"),
		bindings.NewProperty("item", "number[]", "The coordinates of the work-item: x, y, z."),
		bindings.NewProperty("steps", "Step[]", "The executed statements in order. Those of a called function precede the statement with the call."),
		bindings.NewProperty("ended", "boolean", "Whether the work-item ran to its end, without a fault and within the limit of steps."),
		bindings.NewProperty("fault", "{ code: string; message: string; file: string; line: number; column: number; text: string } | undefined", "The fault that ended the work-item, if any."),
	)
	e.Example = "import { device, kernel, f32 } from 'offload'\nconst scale = kernel((g, a, x) => { x[g.x] *= a })\nconst x = device('cpu').buffer(f32, 4, i => i)\nconst trace = scale.debug({ item: 3, size: 4 }, 10, x)\nconsole.log(trace)\nfor (const step of trace.steps) console.log(step.line, step.accesses)"
	return e
}
