// Package memory is host memory off the Go heap: aligned, pooled and pre-faulted blocks, under a limit, and copies
// and fills that use the machine's bandwidth.
//
// A fresh page costs about ten times what a copy into it costs, so a [Pool] keeps freed blocks by size class and hands
// them out again; big ones ask for huge pages. The pool's limit is enforced before the operating system is asked, so
// that too large an allocation is an error and not the end of the process.
package memory
