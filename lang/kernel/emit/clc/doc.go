// Package clc prints lowered kernels (package lower) as OpenCL C 1.2.
//
// The text requires cl_khr_fp64 only for kernels that compute in f64 or divide f32, and the 64-bit atomics only for kernels
// that use them. Results have the interpreter's bits if the compiler does not contract (the text forbids it), keeps subnormals,
// and rounds conversions to nearest.
//
// A kernel takes its parameters in order. A scalar is passed by value, with bool as uchar. A buffer is passed as a byte pointer, a
// byte offset, and an int per extent. The records with their offset and length follow, and then the launch size on each axis. The
// global work size is the launch size rounded up to whole groups.
//
// # Design
//
// Tests compile the text with clang for this machine, since continuous integration has no GPU. Bits of all operations are
// compared with the interpreter on all combinations of special values.
package clc
