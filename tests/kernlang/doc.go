// Package kernlang tests the kernel language as docs/kernel-language.md defines it: from the source of a kernel to the
// bits that it leaves in memory, by everything that defines those bits.
//
// A [Program] is a kernel's text with a launch. [Runner.Run] compiles it, runs it in the interpreter as it is, in the
// interpreter optimized, and as emitted JavaScript under node, and reports any difference of memory, faults or prints.
//
// The tests are a matrix of all operations on all types at the values where operations show what they are, with results
// from a reference that shares no code with the compiler; a matrix of control flow, compared with the same text run by
// node as plain JavaScript; programs at random; and the rules, one by one: the test files cite the sentences of the
// definition, as [12.3], and a test fails for a sentence that nothing cites.
package kernlang
