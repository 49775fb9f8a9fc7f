// Package libm contains the device library's f64 functions in Go. They use the same operations in the same order, so the host
// computes the same bits as kernels. docs/math.md lists them with their methods and maximum errors.
//
// They use math.FMA, which is one instruction on processors since 2013, and a slow routine on older ones.
package libm
