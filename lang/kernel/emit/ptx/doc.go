// Package ptx prints lowered kernels as PTX, NVIDIA's virtual assembly language, version 7.0 for sm_70 and later. Control flow
// of the IR becomes labels and branches, and each value a virtual register; the driver allocates machine registers.
//
// Kernels never trap: they write fault records, as described in package lower. Source: PTX ISA, sections on instructions and
// state spaces.
package ptx
