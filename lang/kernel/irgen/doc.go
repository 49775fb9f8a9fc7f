// Package irgen makes kernels for tests. Kernels for each operation and type use operands at the edges of their ranges.
// Random kernels have defined results, and so any two ways to run them must agree. Reduce returns a small kernel that
// still fails in place of a large random one.
package irgen
