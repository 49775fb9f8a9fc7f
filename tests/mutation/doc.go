// Package mutation measures the test suite of the kernel language. It plants faults in the compiler, the interpreter and the
// passes, one at a time, and counts the faults that tests detect.
//
// # Design
//
// All faults are planted in one program, each behind a number that the environment selects, since a build for each of 200
// faults takes hours.
package mutation
