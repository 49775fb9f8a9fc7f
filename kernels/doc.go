// Package kernels is the device library: functions that kernels call, written in the kernel language, under common/. They are
// compiled to IR ahead of time and embedded. A back end calls [Library.Expand] to inline the functions that [ir.Math] calls,
// and lowers the remaining ones itself.
//
// All devices run the same operations in the same order, so a library function has the same bits on all exact ones. Only functions
// of Math.fast may differ. docs/math.md lists the functions with their methods and maximum errors.
//
// # Design
//
// Library functions are ordinary kernels with scalar parameters, so every tool works on them, and images call them by name
// and stay small. Each is a module of its own, decoded when it is first needed: to decode all takes longer than to compile a
// kernel.
//
// Their formulas use f32 only where the result is f32, because f64 is slow on GPUs; sums that need more than one word carry
// two. Small conditionals are selections, since both sides run on lanes anyway.
//
// Scripts use the same functions for Math. Those of the interpreter differ between processors, so that a script that compares
// a kernel's results with Math's would fail on some.
package kernels

//go:generate go run ./internal/gen
