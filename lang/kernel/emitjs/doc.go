// Package emitjs prints kernels as plain JavaScript for Node: for reading, and as an oracle that shares no arithmetic with the
// interpreter. Its input is typed IR, so every rounding and wrap is explicit.
//
// A program is the runtime, in the file runtime.js, followed by an expression for each kernel. The runtime's run(kernel,
// launch) runs a launch item by item. Items of a group that cooperate are generators, which yield at each group operation.
package emitjs
