/** A count, or one to three counts, outermost first. */
type Extents = number | readonly number[]
/** A count along x, or one to three counts: along x, y and z. */
type Counts = number | readonly number[]
type TypedArray = Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array

/** In a kernel, a scalar type converts: f32(x), i32(x). */
interface Type<V, A> { (x: number | bigint | boolean): V }
/** The fields of a record: a type, or [type, n, …] for an array. */
type Fields = Readonly<Record<string, Type | readonly [Type, ...number[]]>>
/** What an object of a record type is. */
type RecordOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Type<infer V, any> ? V : F[K] extends readonly [Type<infer V, any>, ...infer D] ? Nested<V, D> : never }
type Nested<V, D> = D extends readonly [any, ...infer Rest] ? Nested<V, Rest>[] : V
/** The types of a kernel's parameters: f32 for a number, [f32] for a buffer, [f32, 2] for one of two dimensions. */
type Signature = Readonly<Record<string, Type | readonly [Type] | readonly [Type, number]>>

/** The buffer that a typed array is copied to. */
type BufferOf<A> = A extends BigInt64Array ? Buffer<bigint, BigInt64Array> : A extends BigUint64Array ? Buffer<bigint, BigUint64Array>
  : A extends Int8Array ? Buffer<number, Int8Array> : A extends Uint8ClampedArray ? Buffer<number, Uint8Array> : A extends Uint8Array ? Buffer<number, Uint8Array>
  : A extends Int16Array ? Buffer<number, Int16Array> : A extends Uint16Array ? Buffer<number, Uint16Array>
  : A extends Int32Array ? Buffer<number, Int32Array> : A extends Uint32Array ? Buffer<number, Uint32Array>
  : A extends Float32Array ? Buffer<number, Float32Array> : A extends Float64Array ? Buffer<number, Float64Array> : Buffer

/** What a launch takes for a kernel's parameter. */
type Argument = Buffer | number | boolean | bigint
type ArgumentOf<P> = P extends KernelArray<infer V, any> ? Buffer<V> : P
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
  real?: Type<number>
  /** false: a product and a sum are rounded one by one, never fused. */
  contract?: boolean
  /** The name in errors. */
  name?: string
  /** false: the kernel may run on devices whose arithmetic is not exact. */
  exact?: boolean
}
interface LaunchOptions {
  /** Work-items on the axes x, y and z. */
  size?: Counts
  /** Work-groups on each axis, instead of size; needs groupSize. */
  groups?: Counts
  /** Work-items of a group on each axis. */
  groupSize?: Counts
  /** The queue; the default queue of the arguments' device unless told otherwise. */
  queue?: Queue
  /** The device, if no argument is a buffer. */
  device?: Device | string
  /** 'off': accesses are not checked. 'races': accesses of two items to one element are reported. */
  checks?: 'on' | 'off' | 'races'
  /** The name of the event. */
  label?: string
  /** Milliseconds after which the kernel is stopped with the error 'timeout'. */
  timeout?: number
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

/** The inputs of a pipeline: a type for a number, [type] or [type, rank] for a buffer. */
type Inputs = Readonly<Record<string, Type | readonly [Type] | readonly [Type, number]>>
/** The outputs or temporaries of a pipeline: [type, extents], or [type, function of the inputs]. */
type Inner<T, I> = { readonly [K in keyof T]: readonly [T[K], Extents | ((inputs: Ports<I>) => Extents)] }
type Buffers<T> = { readonly [K in keyof T]: T[K] extends Type<infer V, infer A> ? Buffer<V, A> : never }
/** What run is given for each name. */
type Ports<P> = { readonly [K in keyof P]: P[K] extends readonly [Type<infer V, infer A>, ...any[]] ? Buffer<V, A> : P[K] extends Type<infer V, any> ? V : never }
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

interface PlatformStatus { name: string; available: boolean; reason?: string; vendor?: string; version?: string }
interface LiveObject { kind: string; label: string; device: string; bytes: number; at: string }
interface DeviceLimits { allocationBytes: number; sharedBytes: number; groupItems: number; groupSize: number[]; groups: number[]; subgroupSizes: number[] }
interface DeviceFeatures { exact: boolean; f16: boolean; f64: boolean; atomics64: boolean; floatAtomics: boolean; unified: boolean; subgroups: boolean }
interface MemoryUse { total: number; allocated: number; peak: number }
interface ImageInfo { kind: string; target: string; arch: string; label: string; size: number; devices: string[]; refusals: Record<string, string> }
