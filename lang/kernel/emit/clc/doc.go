// Package clc prints lowered kernels (package lower) as OpenCL C 1.2.
//
// The text needs no extension but cl_khr_fp64, for kernels that compute in f64 or divide f32, and the 64-bit atomics for
// those that have them. Results have the same bits as the interpreter's if the compiler contracts nothing
// (the text forbids it), keeps subnormals, and rounds conversions to nearest.
//
// A kernel takes its parameters in order: a scalar as it is, bool as uchar; a buffer as a byte pointer, an offset in bytes, and
// an int for each extent; then the records, their offset and length; then the launch's size on each axis. The global work size
// is the size rounded up to whole groups.
package clc
