// Package mutation measures the test suite of the kernel language. It plants faults in the compiler, the interpreter and the
// passes, one at a time, and counts the faults that tests detect.
package mutation
