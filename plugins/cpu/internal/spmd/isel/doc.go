// Package isel selects instructions: it emits the vcode of a kernel for one gang.
//
// A [Lowerer] walks the structured IR once. Vals has the registers of each value. A uniform integer or condition is in a
// general purpose register, a uniform float in one vector. A varying value is in the vectors of the gang or in masks.
// Constants and conditions that are used once are emitted at their use.
//
// Divergent control flow narrows the mask of active lanes; nil is all lanes. Phi copies at the ends of blocks are merged by
// the mask. An access pattern is broadcast, contiguous or scattered; its index is checked unless it is proved in bounds. The
// lane-0 value of an affine value is computed in general purpose registers, as the address of a contiguous access.
//
// Loops over gangs, barriers and group operations belong to package grid, which isel calls by the interface [Grid].
//
// To add an operation, add it to compute in arith.go if it is pure, else to instr in lower.go.
package isel
