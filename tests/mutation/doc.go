// Package mutation plants faults in the compiler, interpreter and passes of the kernel language, one at a time, and counts
// those that tests detect.
//
// # Design
//
// All faults are planted in one program, each behind a number that the environment selects, since a build for each of 200
// faults takes hours.
package mutation
