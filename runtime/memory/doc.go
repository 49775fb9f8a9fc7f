// Package memory is host memory off the Go heap: aligned, pooled and pre-faulted blocks, under a limit, and copies
// and fills that use the machine's bandwidth.
//
// A fresh page costs about ten times as much as a copy into it. A [Pool] therefore keeps freed blocks by size class and hands
// them out again; large ones ask for huge pages. The pool enforces its limit before it asks the operating system. An
// allocation that is too large is thus an error and does not end the process.
package memory
