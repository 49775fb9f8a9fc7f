// Package kernels is the device library: functions that all devices compute identically, since they are written once in the
// kernel language, under common/. They are compiled to IR ahead of time and embedded. A back end calls [Library.Expand] to
// inline the functions that [ir.Math] calls, and lowers the remaining ones itself.
//
// All devices run the same operations in the same order, so a library function has the same bits on all of them.
// docs/math.md lists the functions with their methods and maximum errors.
package kernels

//go:generate go run ./internal/gen
