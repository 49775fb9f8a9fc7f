// Package ptx prints lowered kernels as PTX, NVIDIA's virtual assembly language, version 7.0 for sm_70 and later. Control flow
// of the IR becomes labels and branches, and each value a virtual register; the driver allocates machine registers.
//
// Kernels never trap: they write fault records, as described in package lower. Source: PTX ISA, sections on instructions and
// state spaces.
//
// # Design
//
// On NVIDIA's processors f32 arithmetic that yields NaN yields the bits 0x7fffffff. As a signed integer that is above all
// other floats, so one min.s32 with 0x7fc00000 makes it canonical.
//
// Counted loops are unrolled before lowering, since ptxas cannot unroll across a poll of the stop word.
package ptx
