// Package irgen generates kernels for tests. Kernels for each operation and type use operands at the limits of their ranges.
// Random kernels have defined results, so any two implementations must agree. Reduce minimizes a failing random kernel.
package irgen
