// Package goroutine identifies the running goroutine, to detect that it waits for itself.
//
// # Design
//
// Go prints the number of a goroutine in stack traces only, which takes microseconds and grows with the stack. The address of its
// descriptor in the run time is as good while the goroutine lives, and is in a register or in thread-local storage.
package goroutine

// Current returns a number that no other goroutine has as long as this one lives. It is never 0.
func Current() uint64 { return current() }
