// Package kernlang tests the kernel language as docs/kernel-language.md defines it, from the source of a kernel to its
// bits in memory. Each definition of those bits takes part.
//
// A [Program] is a kernel's text with a launch. [Runner.Run] compiles it, and runs it in the interpreter, in the
// interpreter optimized, and as emitted JavaScript under node. It reports any difference of memory, faults or prints.
//
// The tests are a matrix of all operations on all types with operands at the edges of their ranges. Their results come
// from a reference that shares no code with the compiler. A matrix of control flow is compared with the same text run
// by node as plain JavaScript. There are random programs, and tests of the rules, one by one. The test files cite the
// sentences of the definition, as [12.3], and a test fails for a sentence without a citation.
package kernlang
