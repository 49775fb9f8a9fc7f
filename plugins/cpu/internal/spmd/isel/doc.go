// Package isel selects instructions: it emits the vcode of a kernel for one gang.
//
// A [Lowerer] walks the structured IR in order. It is built of parts, each with a package of its own. Package lanes emits operations
// on vectors and masks. Package values keeps the registers of values and emits pure operations. Package memory emits accesses and
// faults. This package emits control flow.
//
// Divergent control flow narrows the mask of active lanes; a nil mask means all lanes. Phi copies at the ends of blocks are merged by
// the mask. Loops over gangs, barriers and group operations belong to package grid, which isel calls by the interface [Grid].
//
// To add an operation, add it to package values if it is pure, else to [Lowerer.Instr].
//
// # Design
//
// On AVX2 the block of an If may be emitted twice: scalar comparisons of the first and the last lane select the copy without masks.
// On AVX-512 the second copy costs more than it saves.
//
// A fence of a group needs no instruction, since gangs of a group run one after the other. A fence of the device is MFENCE.
//
// A short divergent loop may run one more iteration after the last lane has left it, so only every other iteration tests for active
// lanes.
package isel
