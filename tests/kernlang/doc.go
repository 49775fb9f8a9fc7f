// Package kernlang tests the kernel language of docs/kernel-language.md from a kernel's source to its results in memory,
// with every implementation of the language.
//
// A [Program] is a kernel's text with a launch. [Runner.Run] compiles it and runs it in the interpreter, as written, optimized
// and lowered. It also runs it in the evaluator of package irpage, as PTX, and as emitted JavaScript in node. A device, if
// there is one, runs it too. Run reports differences of memory, faults or prints.
//
// A matrix tests all operations on all types with operands at the limits of their ranges. Its reference shares no code with
// the compiler. Another matrix tests control flow against the same text as plain JavaScript in node. Further tests run
// random programs and check the rules one by one. Tests cite the sentences of the definition, such as [12.3], and a test
// fails for a sentence without a citation.
package kernlang
