// Package emitjs writes kernels as plain JavaScript that node runs: something to read, and an oracle that shares no
// arithmetic with the interpreter. It takes typed IR, so that every rounding and wrap is spelled out.
//
// A program is the runtime, which is the file runtime.js, followed by an expression for each kernel. run(kernel,
// launch) of the runtime runs a launch, item by item; items of a group that cooperate are generators, which yield at
// each group operation.
package emitjs
