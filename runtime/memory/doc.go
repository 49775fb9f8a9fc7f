// Package memory manages host memory outside the Go heap: aligned, pooled and pre-faulted blocks under a limit. Its copies and
// fills use the machine's full bandwidth.
//
// The page faults of fresh memory cost about ten times as much as a copy into it. A [Pool] therefore keeps freed blocks by size
// class for reuse. Large blocks use huge pages. The pool checks its limit before it maps memory, so that an excessive allocation
// is an error and does not end the process.
//
// # Design
//
// Blocks of 64 KiB and more begin at different places in a page, so that loops over several arrays use different cache
// lines.
//
// Copies use three kinds of stores: the processor's string instruction for middling blocks, non-temporal stores for large
// ones on AMD, and two cores for the largest.
package memory
