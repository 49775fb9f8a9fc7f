/** A count, or one to three counts, outermost first. */
type Extents = number | readonly number[]
/** A count along x, or one to three counts: along x, y and z. */
type Counts = number | readonly number[]
type TypedArray = Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array

/** What a scalar element type is on the host. */
interface Elements { bool: boolean; i8: number; u8: number; i16: number; u16: number; i32: number; u32: number; i64: bigint; u64: bigint; f16: number; bf16: number; f32: number; f64: number }
/** What a read of a scalar element type returns. */
interface Reads { bool: Uint8Array; i8: Int8Array; u8: Uint8Array; i16: Int16Array; u16: Uint16Array; i32: Int32Array; u32: Uint32Array; i64: BigInt64Array; u64: BigUint64Array; f16: Float32Array; bf16: Float32Array; f32: Float32Array; f64: Float64Array }
/** The name of a scalar element type, as in Buffer<'f32', 2>. */
type Scalar = keyof Elements
/** The element types whose values are numbers. */
type Numeric = Exclude<Scalar, 'bool' | 'i64' | 'u64'>
/** The scalar types of values in kernels: smaller ones are types of elements only. */
type Computed = 'bool' | 'i32' | 'u32' | 'i64' | 'u64' | 'f32' | 'f64'
/** The value of an element type, which is the name of a scalar or the object type of a record. */
type Value<T> = 0 extends 1 & T ? any : T extends Scalar ? Elements[T] : T
/** What a write takes for an element. */
type Input<T> = 0 extends 1 & T ? any : T extends 'i64' | 'u64' ? bigint | number : Value<T>
/** What a read returns. */
type Values<T> = 0 extends 1 & T ? any : T extends Scalar ? Reads[T] : T[]
/** The extents of a buffer of R dimensions. */
type Shape<R> = 0 extends 1 & R ? number[] : R extends 1 ? [number] : R extends 2 ? [number, number] : R extends 3 ? [number, number, number] : number[]
/** The number of dimensions of extents; any where TypeScript cannot tell. */
type Rank<E> = E extends number | readonly [any] ? 1 : E extends readonly [any, any] ? 2 : E extends readonly [any, any, any] ? 3 : any
/** The name of the element type that a typed array is copied to. */
type ElementOf<A> = A extends BigInt64Array ? 'i64' : A extends BigUint64Array ? 'u64' : A extends Int8Array ? 'i8' : A extends Uint8Array | Uint8ClampedArray ? 'u8' : A extends Int16Array ? 'i16' : A extends Uint16Array ? 'u16' : A extends Int32Array ? 'i32' : A extends Uint32Array ? 'u32' : A extends Float32Array ? 'f32' : A extends Float64Array ? 'f64' : any

/** In a kernel a scalar type converts: f32(x), i32(x). On the host a call is an error. */
interface Type<T> { (x: number | bigint | boolean): Value<T> }
/** The fields of a record: a type, or [type, n, …] for an array. */
type Fields = Readonly<Record<string, Type | readonly [Type, ...number[]]>>
/** What an object of a record type is. */
type RecordOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Type<infer T> ? Value<T> : F[K] extends readonly [Type<infer T>, ...infer D] ? Nested<Value<T>, D> : never }
type Nested<V, D> = D extends readonly [any, ...infer Rest] ? Nested<V, Rest>[] : V
/** The types of a kernel's parameters, in their order: f32 for a number, [f32] for a buffer, [f32, 2] for one of two dimensions. */
type Signature = Readonly<Record<string, Type<Computed> | readonly [Type] | readonly [Type, 1 | 2 | 3]>>
/** A parameter of a C function: a type or its name, a struct by value, 'buffer' for any buffer, [type] or [type, rank] for one of these elements. */
type NativeParameter = Type | 'buffer' | 'bool' | 'i8' | 'u8' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64' | 'f16' | 'bf16' | 'f32' | 'f64' | readonly [Type] | readonly [Type, 1 | 2 | 3]
/** How the function of a kernel is called, for an image that does not say it; see docs/images.md. */
interface NativeSignature {
  /** The parameters behind the coordinates or the range, in order. */
  args: readonly NativeParameter[] | Readonly<Record<string, NativeParameter>>
  /** 'item': f(x, args…) for each item. 'range': f(first, last, args…) for ranges of items. 'openmp': a target region that clang outlined. */
  convention: 'item' | 'range' | 'openmp'
  /** Of 'item': how many of the coordinates x, y and z the function takes; 1 unless told otherwise. */
  axes?: 1 | 2 | 3
}
/** What a kernel sees of a parameter of a signature. */
type ParameterOf<P> = P extends readonly [Type<infer T>] ? KernelArray<T> : P extends readonly [Type<infer T>, infer R extends number] ? KernelArray<T, R> : P extends Type<infer T> ? Value<T> : never
/** A function type whose overloads return the keys of a type in the order of its properties. */
type Keys<S> = { [K in keyof S]: (x: () => K) => void } extends { [K in keyof S]: (x: infer I) => void } ? I : never
/** The parameters of a kernel with a signature: TypeScript infers from the last overload, so the last key comes first. */
type ParametersOf<S, Done extends any[] = []> = string extends keyof S ? any[] : [keyof S] extends [never] ? Done : Keys<S> extends () => infer L ? ParametersOf<{ [K in keyof S as K extends L ? never : K]: S[K] }, [ParameterOf<S[L & keyof S]>, ...Done]> : any[]

/** What a launch takes for a kernel's parameter. */
type Argument = Buffer | number | boolean | bigint
type ArgumentOf<P> = P extends ArrayView<infer T, infer R> ? Buffer<T, R> : P
/** What a launch takes for a kernel's parameters: as they were declared, or any argument for one that was not. */
type Arguments<A extends any[]> = { [K in keyof A]: 0 extends 1 & A[K] ? Argument : ArgumentOf<A[K]> }

interface BufferOptions {
  /** The name in errors and tables. */
  label?: string
  /** Where the memory is: 'device' unless told otherwise. */
  kind?: 'device' | 'host' | 'shared'
  /** The extents, for values from a typed array or array. */
  shape?: Extents
  /** The queue that fills the buffer. */
  queue?: Queue
}
interface ViewOptions {
  /** The name in errors and tables. */
  label?: string
}
interface LabelOption {
  /** The name in errors and tables. */
  label?: string
}
interface RegisterOptions {
  /** The name in errors and tables; the file's name unless told otherwise. */
  label?: string
}
interface QueueOption {
  /** The queue whose order counts: the device's default queue unless told otherwise. */
  queue?: Queue
}
interface ReadOptions extends QueueOption {
  /** Ends the wait when it is aborted: the commands given so far are cancelled, and the promise is rejected with its reason. */
  signal?: AbortSignal
}
interface QueueOptions {
  /** The name in errors and tables. */
  label?: string
  /** 'off': commands do not wait by themselves for what other queues do to their buffers. */
  hazards?: 'auto' | 'off'
}
interface RectOptions {
  /** The first index in each dimension: 0 unless told otherwise. */
  origin?: Extents
  /** The elements in each dimension: all unless told otherwise. */
  extent?: Extents
  /** The queue whose order counts: the device's default queue unless told otherwise. */
  queue?: Queue
}
interface KernelOptions {
  /** The type of numbers that are not integers, f32 or f64; the widest float among the parameters unless told otherwise. */
  real?: Type<'f32'> | Type<'f64'>
  /** false: a product and a sum are rounded one by one, never fused. */
  contract?: boolean
  /** The name in errors. */
  name?: string
  /** false: the kernel may run on devices whose arithmetic is not exact. */
  exact?: boolean
  /** false: a launch prints no warning where its result may differ from JavaScript's; .warnings has them all the same. */
  warnings?: boolean
}
interface LaunchOptions {
  /** Work-items on the axes x, y and z, or a buffer: one for each of its elements. */
  size?: Counts | Buffer
  /** Work-groups on each axis, instead of size; needs groupSize. */
  groups?: Counts
  /** Work-items of a group on each axis. */
  groupSize?: Counts
  /** The queue; the default queue of the arguments' device unless told otherwise. */
  queue?: Queue
  /** The device, if no argument is a buffer. */
  device?: Device | string
  /** 'off': accesses are not checked. 'races': accesses of two items to one element are reported. 'overflow': an integer that wraps where JavaScript's number would not is a fault. */
  checks?: 'on' | 'off' | 'races' | 'overflow'
  /** The name of the event. */
  label?: string
  /** Milliseconds that the kernel may run, after which it is stopped with the error 'timeout'. Earlier commands of the queue, such as setting new buffers to zero, do not count. */
  timeout?: number
  /** Bytes of shared memory of each group beyond what the kernel declares; for kernels of other compilers that take it. */
  sharedBytes?: number
  /** Whether all groups run at the same time, for kernels that synchronize across groups. */
  cooperative?: boolean
}

/** The options of Kernel.debug: those of the launch, and which item. */
interface DebugOptions extends LaunchOptions {
  /** The item's coordinates: x, or up to three. */
  item?: Counts
  /** true: the trace is printed at once. */
  print?: boolean
  /** The number of steps and of what happened in them after which the trace ends: 10000 unless told otherwise. */
  limit?: number
}
/** One run of a statement, or of the condition of one. */
interface Step {
  file: string
  line: number
  column: number
  /** The source of the statement or condition. */
  text: string
  /** How many calls of helper functions lead to it. */
  depth: number
  /** The variables that were set; the value of a return is called return. */
  values: Record<string, number | bigint | boolean>
  /** Of a condition, or of what a switch compares. */
  value?: number | bigint | boolean
  /** The elements that were read and written, in order. An atomic has the value that the element had. */
  accesses: { kind: 'load' | 'store' | 'atomic'; array: string; index: number[]; text: string; value: number | bigint | boolean }[]
  /** What g.print printed. */
  printed?: string
}

/** The options of RPC.on. */
interface ServiceOptions {
  /** The types of the values that kernels pass: bool, i32, u32, i64, u64, f32 or f64. */
  args?: readonly Type[]
  /** The type of the value that kernels get; none unless told otherwise. */
  result?: Type
  /** true: kernels go on at once, and there is no result. */
  oneWay?: boolean
  /** Milliseconds after which a call fails with the error 'timeout'; 30000 unless told otherwise, 0 for none. */
  deadline?: number
}
/** Who calls a service. */
interface ServiceCall {
  readonly kernel: string
  readonly device: string
  /** The work-item: x, y, z. */
  readonly item: readonly [number, number, number]
  /** The place of the call in the kernel's source. */
  readonly at: string
  /** Ends the launch with the error 'cancelled' and this reason. */
  stop(reason?: string): void
}

/** The inputs of a pipeline: a type for a number, [type] or [type, rank] for a buffer. */
type Inputs = Readonly<Record<string, Type | readonly [Type] | readonly [Type, 1 | 2 | 3]>>
/** The outputs or temporaries of a pipeline: [type, extents], or [type, function of the inputs]. */
type Inner<T, I> = { readonly [K in keyof T]: readonly [T[K], Extents | ((inputs: Ports<I>) => Extents)] }
type Buffers<T> = { readonly [K in keyof T]: T[K] extends Type<infer E> ? Buffer<E> : never }
/** What run is given for each name. */
type Ports<P> = { readonly [K in keyof P]: P[K] extends Type<infer T> ? Value<T> : ArgumentOf<ParameterOf<P[K]>> }
interface Declaration<I, O, T> {
  /** The id of the device; the best one unless told otherwise. */
  device?: string
  inputs?: I
  outputs?: Inner<O, I>
  /** Buffers that stay inside. */
  temporaries?: Inner<T, I>
  /** Launches kernels. It may be asynchronous; nothing needs to be awaited. */
  run(ports: Ports<I> & Buffers<O> & Buffers<T> & { readonly device: Device; readonly queue: Queue }): unknown
}

interface PoolOptions {
  /** The tasks that a device runs at a time: 2 unless told otherwise, so that one computes while another one copies. */
  tasks?: number
}
/** What a task of a pool runs on. The queue is the task's own while it runs; launches and copies that name no queue go to the device's default queue. */
interface PoolSlot { readonly device: Device; readonly queue: Queue }
/** Where the data of a task is: a device, or the device that has most bytes of buffers. */
type Near = Device | string | Buffer | readonly Buffer[] | undefined

interface PlatformStatus { name: string; available: boolean; reason?: string; vendor?: string; version?: string }
interface LiveObject { kind: string; label: string; device: string; bytes: number; at: string }
interface DeviceLimits { allocationBytes: number; sharedBytes: number; groupItems: number; groupSize: number[]; groups: number[]; subgroupSizes: number[] }
interface DeviceFeatures { exact: boolean; f16: boolean; f64: boolean; atomics64: boolean; floatAtomics: boolean; unified: boolean; subgroups: boolean }
interface MemoryUse { total: number; allocated: number; peak: number }
interface ImageInfo { kind: string; target: string; arch: string; label: string; producer: string; size: number; conflict: string; devices: string[]; decisions: ImageDecision[] }
interface ImageDecision { device: string; decision: 'chosen' | 'loaded' | 'unused' | 'refused'; score: number; reason: string }
interface EntryInfo { name: string; kind: 'kernel' | 'variable' | 'link' | 'indirect'; size: number; flags: number }
