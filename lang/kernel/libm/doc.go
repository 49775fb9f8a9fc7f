// Package libm has the functions of the device library for f64 as Go: the same operations in the same order, so that
// the host computes the bits that kernels do. docs/math.md lists them with their methods and greatest errors.
//
// They use math.FMA, which is one instruction on processors since 2013, and a slow routine on older ones.
package libm
