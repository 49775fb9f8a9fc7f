package mpijs

import "github.com/orepl/orepl/bindings"

const types = `
type Buffer<T = any, R extends number = any> = import('offload').Buffer<T, R>
type NumberArray = Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array | Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array
/** What ranks exchange: the elements of a typed array, or of a buffer of a device. */
type Elements = NumberArray | Buffer
/** How values are combined; 'sum' by default. The elements are integers of 8 to 64 bits, f32 or f64. */
type Reduction = 'sum' | 'product' | 'min' | 'max'
interface MessageOptions {
  /** Messages with different tags are received independently. A tag is an integer from 0 to 2³² − 1, by default 0. */
  tag?: number
}
interface PlaceOptions {
  /** Receives the result, which is a new typed array otherwise. It must have the result's type and number of elements, and may be the data of the call. */
  into?: Elements
}
interface RootOptions extends PlaceOptions {
  /** The rank that has the result, or for scatter the data; 0 by default. */
  root?: number
}
`

func entries() []bindings.Entry {
	method := bindings.NewMethod
	class := bindings.Entry{Name: "Communicator", Kind: bindings.Class, Signature: "class Communicator",
		Help: "Processes that communicate with each other, by their ranks. All methods except send, recv and recvAny are collective operations, which all processes of the communicator call in the same order. Several operations may run at once.",
		Members: []bindings.Entry{
			bindings.NewProperty("rank", "number", "The number of this process, from 0 on."),
			bindings.NewProperty("size", "number", "The number of processes."),
			method("send", "Sends data to another rank. The array may be changed after the call. The promise settles when the data are on their way, received or not.", "(data: Elements, to: number, options?: MessageOptions): Promise<void>"),
			method("recv", "Returns a promise of the data that another rank sends. Messages of one tag arrive in the order in which they were sent.", "(from: number, options?: MessageOptions & PlaceOptions): Promise<any>"),
			method("recvAny", "Returns a promise of the first data that any rank sends, with the rank. A message goes to the earliest waiting call of recv or recvAny. Messages of one rank and tag keep their order. If there are other ranks and all of them have ended, the promise is rejected with closed.", "(options?: MessageOptions & PlaceOptions): Promise<{ from: number; data: any }>"),
			method("barrier", "Returns a promise that is fulfilled after all ranks have called barrier.", "(): Promise<void>"),
			method("broadcast", "Sends the data of the root, rank 0 by default, to all ranks. Returns a promise of the data. Other ranks pass an array or a buffer of the same type and length, which gets the data, or undefined for a new array.", "(data?: Elements, root?: number): Promise<any>"),
			method("reduce", "Combines the data of all ranks, which have equal lengths, by an operation, by default 'sum'. It combines element by element and in the order of the ranks. The root, by default rank 0, gets the result, and the other ranks undefined.", "(data: Elements, operation?: Reduction, options?: RootOptions): Promise<any>"),
			method("allReduce", "Combines the data of all ranks, which have equal lengths, element by element by an operation, by default 'sum'. All ranks get the result, whose bits are those of ((r0 + r1) + r2) and so on.", "(data: Elements, operation?: Reduction, options?: PlaceOptions): Promise<any>"),
			method("scan", "Combines the data of the ranks from 0 up to and including this one, which have equal lengths. An operation, by default 'sum', combines element by element and in the order of the ranks.", "(data: Elements, operation?: Reduction, options?: PlaceOptions): Promise<any>"),
			method("gather", "Concatenates the data of all ranks, which have equal lengths, in the order of the ranks. The root, by default rank 0, gets the result, and the other ranks undefined.", "(data: Elements, options?: RootOptions): Promise<any>"),
			method("allGather", "Concatenates the data of all ranks, which have equal lengths, in the order of the ranks. All ranks get the result.", "(data: Elements, options?: PlaceOptions): Promise<any>"),
			method("scatter", "Divides the data of the root into as many equal parts as there are ranks, and sends part i to rank i. The root is rank 0 by default; other ranks may pass undefined. Returns a promise of this rank's part.", "(data?: Elements, options?: RootOptions): Promise<any>"),
			method("allToAll", "Divides the data into as many equal parts as there are ranks, and sends part i to rank i. Returns a promise of the parts that the ranks sent to this one, in the order of the ranks.", "(data: Elements, options?: PlaceOptions): Promise<any>"),
			method("split", "Returns a promise of a communicator of the ranks that pass the same color. They are in the order of their keys, by default 0, then of their ranks. Ranks that pass undefined get undefined. A color is an integer from 0 on.", "(color?: number, key?: number): Promise<Communicator | undefined>"),
		}}
	return []bindings.Entry{
		{Name: "mpi", Kind: bindings.Constant, Signature: "mpi: Communicator", Help: "All processes of the job that run a script. Its first use blocks the script until all of them have begun.",
			Example: "import { mpi } from 'mpi'\nconst sums = await mpi.allReduce(Float32Array.of(mpi.rank, 1))\nif (mpi.rank === 0) console.log(`${sums[1]} ranks, whose numbers add up to ${sums[0]}`)"},
		class,
	}
}
