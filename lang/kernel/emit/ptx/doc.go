// Package ptx prints lowered kernels as PTX, the assembly language of NVIDIA's drivers, version 7.0 for sm_70 and later. Control
// flow of the IR becomes labels and branches, each value a virtual register; the driver's assembler allocates machine registers.
//
// A kernel never traps: faults are records, as package lower describes. Source: PTX ISA, sections on instructions and state
// spaces.
package ptx
