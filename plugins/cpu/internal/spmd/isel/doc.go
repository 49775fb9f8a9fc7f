// Package isel selects instructions: it emits the vcode of a kernel for one gang.
//
// A [Lowerer] walks the structured IR once. It is built of parts, each with a package of its own. Package lanes emits operations on
// vectors and masks. Package values keeps the registers of values and emits pure operations. Package memory emits accesses and
// faults. This package emits control flow.
//
// Divergent control flow narrows the mask of active lanes; nil is all lanes. Phi copies at the ends of blocks are merged by
// the mask. Loops over gangs, barriers and group operations belong to package grid, which isel calls by the interface [Grid].
//
// To add an operation, add it to package values if it is pure, else to instr in lower.go.
//
// # Design
//
// The block of an If is emitted twice on AVX2: two scalar comparisons select the copy without masks. On AVX-512 the second
// copy costs more than it saves.
//
// A fence of a group is no instruction, since gangs of a group run one after the other. A fence of the device is MFENCE.
//
// Lanes go through short loops once more after the last has left, so that only every other iteration tests for it.
package isel
