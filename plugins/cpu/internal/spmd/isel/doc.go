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
//
// # Design
//
// The block of an If is emitted twice on AVX2: two scalar comparisons select the copy without masks. On AVX-512 the second
// copy costs more than it saves.
//
// An address follows a loop's counter only if no iteration passes the access by, since under a condition the index could
// wrap.
//
// Large outputs are stored in half lines on Intel and past the caches on AMD; no rule other than the vendor tells the two
// apart.
//
// Lines that are stored right after a barrier are fetched before it, because a waiting store delays loads with equal low
// address bits.
//
// Gathers on AVX2 of Zen are eight loads, which take 4 cycles instead of 12.
//
// A fence of a group is no instruction, since gangs of a group run one after the other. A fence of the device is MFENCE.
//
// Lanes go through short loops once more after the last has left, so that only every other iteration tests for it.
package isel
