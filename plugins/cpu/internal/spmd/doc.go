// Package spmd compiles kernel IR to AVX-512 or AVX2 code in which work-items are lanes of vectors.
//
// # Gangs
//
// A gang (the term of ISPC) is a run of work-items along the x axis that one vector body computes together. It has the lanes of a
// vector (16, or 8 with AVX2), times one, two or four registers. A gang that is a whole work-group has up to 256 items. Uniform
// values are scalars or one register. Varying 32-bit values have a register for each vector of lanes, 64-bit values two.
// Conditions have a mask register, on AVX2 a vector. Uniform control flow becomes branches. In divergent control flow a mask has
// the active lanes, and code without active lanes is skipped. The registers of a 2-D gang, up to eight, are rows of items, one below
// the other.
//
// Without group operations the code runs gang after gang, along rows or down the columns of a band. With group operations each
// gang of a work-group has a frame in memory. At a barrier, live values are stored in the frame, and the next gang resumes. Loops
// that stream through buffers are interleaved there: the gangs of a group take turns, with some iterations each.
//
// # Packages
//
// The compiler has one package per stage. A package imports only packages listed below it.
//
//	spmd      chooses the variant for a launch, runs the stages, and keeps the results
//	exec      runs the code: workers, trap services, group operations on the host
//	grid      emits the loops over rows, work-groups and gangs; barriers and group operations
//	isel      emits the control flow of a kernel for one gang
//	memory    emits loads, stores, atomics, their checks, and faults
//	values    keeps the registers of values, and emits pure operations
//	lanes     emits operations on vectors and masks
//	plan      decides on the IR: gang width, 2-D gangs, traversal order, transposes, interleaved loops
//	passes    optimises the instructions; avx2 expands what AVX2 lacks
//	emit      encodes the instructions; regalloc assigns their machine registers
//	vcode     the instructions on virtual registers, their control flow and liveness
//	abi       the memory that code and Go share
//
// # Traps
//
// A trap is a request of the code to Go. The code saves its registers and returns; Go finds operands and results by the
// allocation, and calls the code again. Faults, prints, services, the clock, and some divisions and group operations are traps.
// A fault ends its gang: the language does not specify the other effects of such a launch.
//
// # Design
//
// A package that cannot see the next stage can be read and tested alone; types change at their borders. Package isel
// calls grid through an interface, since a barrier stands in the middle of a body.
//
// Variants are keyed by a struct that can be printed, and kept in a list that is copied, so launches need no lock.
//
// Bounds are proved again at each launch from its sizes and arguments. A check before a loop would have to prove that the
// loop runs at all.
//
// A fault ends the whole gang, because going on would need one more mask for each later instruction.
//
// Compilations share a workspace, since lists made anew for each pass were a quarter megabyte of garbage.
package spmd
