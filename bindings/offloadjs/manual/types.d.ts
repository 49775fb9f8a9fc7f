/** The extents of a buffer: a count, or an array of one to three counts, outermost first. */
type Extents = number | readonly number[]
/** The extents of a launch: a count along x, or an array of counts along x, y and z. */
type Counts = number | readonly number[]
type TypedArray = Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array

/** The JavaScript type of an element, by element type. */
interface Elements { bool: boolean; i8: number; u8: number; i16: number; u16: number; i32: number; u32: number; i64: bigint; u64: bigint; f16: number; bf16: number; f32: number; f64: number }
/** The typed array that a read returns, by element type. */
interface Reads { bool: Uint8Array; i8: Int8Array; u8: Uint8Array; i16: Int16Array; u16: Uint16Array; i32: Int32Array; u32: Uint32Array; i64: BigInt64Array; u64: BigUint64Array; f16: Float32Array; bf16: Float32Array; f32: Float32Array; f64: Float64Array }
/** The name of a scalar element type, as in Buffer<'f32', 2>. */
type Scalar = keyof Elements
/** The element types whose values are numbers. */
type Numeric = Exclude<Scalar, 'bool' | 'i64' | 'u64'>
/** The scalar types in which kernels compute. The smaller types are for elements only. */
type Computed = 'bool' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64'
/** The JavaScript type of an element. T is the name of a scalar type or the object type of a record. */
type Value<T> = 0 extends 1 & T ? any : T extends Scalar ? Elements[T] : T
/** The type of an element that write and fill accept. */
type Input<T> = 0 extends 1 & T ? any : T extends 'i64' | 'u64' ? bigint | number : Value<T>
/** The result of a read: a typed array, or an array of objects for records. */
type Values<T> = 0 extends 1 & T ? any : T extends Scalar ? Reads[T] : T[]
/** The extents of a buffer of R dimensions. */
type Shape<R> = 0 extends 1 & R ? number[] : R extends 1 ? [number] : R extends 2 ? [number, number] : R extends 3 ? [number, number, number] : number[]
/** The number of dimensions of extents; any if TypeScript cannot determine it. */
type Rank<E> = E extends number | readonly [any] ? 1 : E extends readonly [any, any] ? 2 : E extends readonly [any, any, any] ? 3 : any
/** The name of the element type of a buffer created from a typed array. */
type ElementOf<A> = A extends BigInt64Array ? 'i64' : A extends BigUint64Array ? 'u64' : A extends Int8Array ? 'i8' : A extends Uint8Array | Uint8ClampedArray ? 'u8' : A extends Int16Array ? 'i16' : A extends Uint16Array ? 'u16' : A extends Int32Array ? 'i32' : A extends Uint32Array ? 'u32' : A extends Float32Array ? 'f32' : A extends Float64Array ? 'f64' : any

/** An element type. In kernels, a call such as f32(x) or i32(x) converts a value; on the host it throws. */
interface Type<T> { (x: number | bigint | boolean): Value<T> }
/** The fields of a record by name: a type, or [type, n, …] for an array of one to three extents. */
type Fields = Readonly<Record<string, Type | readonly [Type, ...number[]]>>
/** The type of the objects that represent a record. */
type RecordOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Type<infer T> ? Value<T> : F[K] extends readonly [Type<infer T>, ...infer D] ? Nested<Value<T>, D> : never }
type Nested<V, D> = D extends readonly [any, ...infer Rest] ? Nested<V, Rest>[] : V
/** The types of a kernel's parameters in order: f32 for a number, [f32] for a buffer, [f32, 2] for a buffer of two dimensions. */
type Signature = Readonly<Record<string, Type<Computed> | readonly [Type] | readonly [Type, 1 | 2 | 3]>>
/** A parameter of a C function: a scalar type or its name, a record type for a struct by value, 'buffer' for any buffer, or [type] or [type, rank] for a buffer of these elements. */
type NativeParameter = Type | 'buffer' | 'bool' | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f16' | 'bf16' | 'f32' | 'f64' | readonly [Type] | readonly [Type, 1 | 2 | 3]
/** The signature and calling convention of a kernel in an image that does not describe them; see docs/images.md. */
interface NativeSignature {
  /** The parameters after the coordinates or the range, in order. */
  args: readonly NativeParameter[] | Readonly<Record<string, NativeParameter>>
  /** The calling convention. 'item': the device calls f(x, args…) for each work-item. 'range': f(first, last, args…) for ranges of work-items. 'call': f(args…) once for a launch. 'openmp': a target region that clang outlined. 'image': a kernel of an image for GPUs, or in OpenCL C, PTX or SPIR-V. */
  convention: 'item' | 'range' | 'call' | 'openmp' | 'image'
  /** With 'item', the number of coordinates x, y, z that the function takes. Default: 1. */
  axes?: 1 | 2 | 3
}
/** The type of a parameter inside the kernel. */
type ParameterOf<P> = P extends readonly [Type<infer T>] ? KernelArray<T> : P extends readonly [Type<infer T>, infer R extends number] ? KernelArray<T, R> : P extends Type<infer T> ? Value<T> : never
/** A function type whose overloads return the keys of a type in the order of its properties. */
type Keys<S> = { [K in keyof S]: (x: () => K) => void } extends { [K in keyof S]: (x: infer I) => void } ? I : never
/** The parameter types of a kernel with a signature. TypeScript infers from the last overload, so the recursion visits the last key first. */
type ParametersOf<S, Done extends any[] = []> = string extends keyof S ? any[] : [keyof S] extends [never] ? Done : Keys<S> extends () => infer L ? ParametersOf<{ [K in keyof S as K extends L ? never : K]: S[K] }, [ParameterOf<S[L & keyof S]>, ...Done]> : any[]

/** A launch argument. */
type Argument = Buffer | number | boolean | bigint
type ArgumentOf<P> = P extends ArrayView<infer T, infer R> ? Buffer<T, R> : P
/** The launch arguments of a kernel: the declared types, or any argument for a parameter without a type. */
type Arguments<A extends any[]> = { [K in keyof A]: 0 extends 1 & A[K] ? Argument : ArgumentOf<A[K]> }

interface BufferOptions {
  /** The buffer's name in errors and tables. Default: the variable that it is assigned to, or else 'buffer' and a number. */
  label?: string
  /** The kind of memory. Default: 'device'. */
  kind?: 'device' | 'host' | 'shared'
  /** The extents of a buffer from an array. Default: one dimension. */
  shape?: Extents
  /** The queue that initializes the buffer. Default: the device's default queue. */
  queue?: Queue
}
interface CloneOptions {
  /** The new buffer's name in errors and tables. Default: the variable that it is assigned to, or else 'buffer' and a number. */
  label?: string
  /** The queue that copies. Default: the device's default queue. */
  queue?: Queue
}
interface ViewOptions {
  /** The view's name in errors and tables. Default: the variable that it is assigned to, or else the buffer's name. */
  label?: string
}
interface LabelOption {
  /** The event's name in errors and tables. */
  label?: string
}
interface RegisterOptions {
  /** The library's name in errors and tables. Default: the name of the file, or 'image' for bytes. */
  label?: string
}
interface QueueOption {
  /** The queue that runs the command. Default: the device's default queue. */
  queue?: Queue
}
interface PlaceOptions extends QueueOption {
  /** Receives the elements and is the result, so that no array is made: a typed array of the class that the result has otherwise, with as many elements. Records cannot be read into it. Until the read has completed, the device may write it at any time; if the read fails, any part of it may have changed. */
  into?: TypedArray
}
interface ReadOptions extends PlaceOptions {
  /** Aborting it cancels the commands issued so far and rejects the promise with its reason. */
  signal?: AbortSignal
}
interface QueueOptions {
  /** The queue's name in errors and tables. */
  label?: string
  /** The treatment of conflicting commands on a buffer. 'auto' (the default): a command waits for those of other queues. 'off': it waits only for events that the script passes to wait. */
  hazards?: 'auto' | 'off'
}
interface RectOptions {
  /** The first index in each dimension. Default: 0. */
  origin?: Extents
  /** The number of elements in each dimension. Default: all from origin to the end. */
  extent?: Extents
  /** The queue that runs the command. Default: the device's default queue. */
  queue?: Queue
}
interface ReadRectOptions extends RectOptions {
  /** Receives the elements and is the result, as for read. */
  into?: TypedArray
}
interface KernelOptions {
  /** The type of numbers that are not integers. Default: f64 if a parameter is f64, or a buffer with elements or fields of f64, else f32. */
  real?: Type<'f32'> | Type<'f64'>
  /** false: a multiplication and an addition are rounded separately, never fused. */
  contract?: boolean
  /** The kernel's name in errors. Default: the name of the function or variable, or else 'kernel'. */
  name?: string
  /** false: the kernel may run on devices whose arithmetic is not exact (see Device.features), where a launch fails otherwise. */
  exact?: boolean
  /** false: launches print no warning of results that may differ from JavaScript's. The property warnings still lists them. */
  warnings?: boolean
}
interface LaunchOptions {
  /** The number of work-items along x, y and z, or a buffer for one work-item per element. Required without groups. */
  size?: Counts | Buffer
  /** The number of work-groups along each axis, instead of size. Requires groupSize. */
  groups?: Counts
  /** The number of work-items of a group along each axis. Default: chosen for the size. */
  groupSize?: Counts
  /** The queue of the launch. Default: the default queue of the device. */
  queue?: Queue
  /** The device of the launch, or its id. Default: the device of the first buffer, or else the best device. It has no effect beside queue. */
  device?: Device | string
  /** The faults that the launch detects. 'on' (the default): an index out of bounds is a fault. 'off': indices and g.uniform are not checked. 'races': a data race between two work-items is a fault too. 'overflow': an integer that wraps where a JavaScript number would not is a fault too. */
  checks?: 'on' | 'off' | 'races' | 'overflow'
  /** The name of the launch's event in errors. */
  label?: string
  /** The time limit of the kernel in milliseconds. A kernel that runs longer is stopped with the error 'timeout'. The time of earlier commands in the queue does not count. Default: no limit. */
  timeout?: number
  /** Bytes of shared memory per group beyond the kernel's own, for library kernels with dynamic shared memory. Default: 0. */
  sharedBytes?: number
  /** true: all groups run at the same time, for library kernels that synchronize across groups. */
  cooperative?: boolean
  /** The maximum number of teams of an OpenMP target region whose teams construct has no clause num_teams. The CPU makes at most one team per core. Default: OpenMP's, which is 1. */
  teams?: number
  /** The maximum number of threads of each team of an OpenMP target region, also if a clause asks for more. Default: no limit. */
  threadLimit?: number
}

/** The options of Kernel.debug: those of a launch, and the traced work-item. */
interface DebugOptions extends LaunchOptions {
  /** The coordinates of the work-item: x, or an array of up to three. Required. */
  item?: Counts
  /** true: also prints the trace. */
  print?: boolean
  /** The maximum number of steps and accesses in the trace. Default: 10000. */
  limit?: number
}
/** One execution of a statement or of its condition. */
interface Step {
  file: string
  line: number
  column: number
  /** The source of the statement or condition. */
  text: string
  /** The depth of calls of helper functions. */
  depth: number
  /** The variables that the step assigned. The key return is the value of a return statement. */
  values: Record<string, number | bigint | boolean>
  /** The value of a condition, or of the operand of a switch. */
  value?: number | bigint | boolean
  /** The accesses to elements in order. The value of an atomic is the element's old value. */
  accesses: { kind: 'load' | 'store' | 'atomic'; array: string; index: number[]; text: string; value: number | bigint | boolean }[]
  /** The text that g.print printed. */
  printed?: string
}

/** The options of RPC.on. */
interface ServiceOptions {
  /** The types of the arguments: bool, i32, u32, i64, u64, f32 or f64. Default: none. */
  args?: readonly Type[]
  /** The type of the result. Default: no result. */
  result?: Type
  /** true: calls return immediately, without a result. */
  oneWay?: boolean
  /** The time in milliseconds after which a call fails with the error 'timeout'; 0 for no limit. Default: 30000. */
  deadline?: number
}
/** A call of a service: the calling kernel and work-item. */
interface ServiceCall {
  readonly kernel: string
  readonly device: string
  /** The coordinates of the work-item: x, y, z. */
  readonly item: readonly [number, number, number]
  /** The position of the call in the kernel's source, as file:line:column. */
  readonly at: string
  /** Ends the launch with the error 'cancelled' and a reason. Throws for a one-way service. */
  stop(reason?: string): void
}

/** The inputs of a pipeline: a type for a number, [type] or [type, rank] for a buffer. */
type Inputs = Readonly<Record<string, Type | readonly [Type] | readonly [Type, 1 | 2 | 3]>>
/** The outputs or temporaries of a pipeline: [type, extents], or [type, function of the inputs and parameters]. */
type Inner<T, I> = { readonly [K in keyof T]: readonly [T[K], Extents | ((inputs: Ports<I>) => Extents)] }
type Buffers<T> = { readonly [K in keyof T]: T[K] extends Type<infer E> ? Buffer<E> : never }
/** The value that run receives for each input. */
type Ports<P> = { readonly [K in keyof P]: P[K] extends Type<infer T> ? Value<T> : P[K] extends { readonly type: Type<infer T> } ? Value<T> : P[K] extends Param ? string : ArgumentOf<ParameterOf<P[K]>> }
/** The parameters of a pipeline: a type of numbers, or a description; without a type the parameter is a text. */
type Params = Readonly<Record<string, Type | Param>>
interface Param {
  type?: Type
  /** The value in runs that pass none. Without a default each run must pass one. */
  default?: number | bigint | boolean | string
  /** The least and the greatest allowed number. */
  min?: number | bigint
  max?: number | bigint
  /** The allowed values. */
  values?: readonly (number | bigint | boolean | string)[]
  doc?: string
  unit?: string
}
/** The value that run receives for each parameter. */
type Settings<P> = { readonly [K in keyof P]: P[K] extends Type<infer T> ? Value<T> : P[K] extends { readonly type: Type<infer T> } ? Value<T> : string }
interface Declaration<P, I, O, T> {
  /** The id of the device, which is required, or several ids as for prefer. Default: the best device. */
  device?: string | readonly string[]
  /** Ids of devices, of which the first available one is taken. The host program may replace the list. */
  prefer?: readonly string[]
  /** Ids of devices over which the host program's instances of the pipeline are spread. A plugin's name means all of its devices. */
  devices?: readonly string[]
  /** Settings that the host program may change from run to run. */
  params?: P
  inputs?: I
  outputs?: Inner<O, I & P>
  /** Buffers that the host program does not access. */
  temporaries?: Inner<T, I & P>
  /** Launches the kernels. It may be asynchronous; launches need not be awaited. */
  run(ports: Settings<P> & Ports<I> & Buffers<O> & Buffers<T> & { readonly device: Device; readonly queue: Queue }): unknown
}

interface PoolOptions {
  /** The number of tasks that a device runs concurrently. Default: 2, so that one computes while the other copies. */
  tasks?: number
  /** Whether the devices of workers that join the script are added, also while tasks run. Default: true without a list of devices. With true it is an error if no worker can join. */
  join?: boolean
}
/** The device and queue of a task. No other task uses the queue while this one runs. Launches and copies that name no queue use the device's default queue. */
interface PoolSlot { readonly device: Device; readonly queue: Queue }
/** The location of a task's data: a device, its id, a buffer, or buffers, of which the device with the most bytes counts. Devices that are not in the pool do not count. */
type Near = Device | string | Buffer | readonly Buffer[] | undefined

interface PlatformStatus { name: string; available: boolean; reason?: string; vendor?: string; version?: string }
interface LiveObject { kind: string; label: string; device: string; bytes: number; at: string }
/** Limits of a device: the bytes of one allocation; of a work-group, the bytes of its shared arrays, its work-items, and these along x, y and z; the groups along x, y and z; and the possible subgroup sizes. */
interface DeviceLimits { allocationBytes: number; sharedBytes: number; groupItems: number; groupSize: number[]; groups: number[]; subgroupSizes: number[] }
/** Optional features of a device: the exact bits of docs/kernel-language.md; native arithmetic of f16, which elements of f16 do not need; f64; atomics of 64 bits and of floats; memory shared with the host; subgroups. */
interface DeviceFeatures { exact: boolean; f16: boolean; f64: boolean; atomics64: boolean; floatAtomics: boolean; unified: boolean; subgroups: boolean }
interface MemoryUse { total: number; allocated: number; peak: number }
interface ImageInfo { kind: string; target: string; arch: string; label: string; producer: string; size: number; conflict: string; devices: string[]; decisions: ImageDecision[] }
interface ImageDecision { device: string; decision: 'chosen' | 'loaded' | 'unused' | 'refused'; score: number; reason: string }
interface EntryInfo { name: string; kind: 'kernel' | 'variable' | 'link' | 'indirect'; size: number; flags: number }
