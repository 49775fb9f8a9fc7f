// Package kernels is the device library: what every device computes in the same way because it is written once, in the kernel
// language, under common/. It reaches kernels as IR that is compiled beforehand and embedded; a backend that meets [ir.Math]
// calls [Library.Expand], which puts the library's code in place of the calls, and lowers the functions that it implements
// itself.
//
// Since all devices run the same operations in the same order, a function of the library has the same bits on all of
// them. docs/math.md lists the functions with their methods and greatest errors.
package kernels

//go:generate go run ./internal/gen
