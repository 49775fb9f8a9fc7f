// Package mutation measures the test suite of the kernel language: it plants faults in the compiler, the interpreter and
// the passes, one at a time, in a copy of the tree, and counts how many of them some test notices.
package mutation
