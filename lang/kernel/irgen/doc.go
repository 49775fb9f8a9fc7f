// Package irgen makes kernels for tests: every operation on every type that it is for, the values at which operations
// show what they are, and random kernels whose results are defined, so that any two ways to run them must agree. Reduce
// returns a small kernel that still fails where a random one does.
package irgen
