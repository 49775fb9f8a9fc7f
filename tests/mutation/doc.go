// Package mutation measures the test suite of the kernel language. It plants faults in the compiler, the interpreter
// and the passes, one at a time, in a copy of the tree. It counts the faults that a test notices.
package mutation
