// Package plan makes the decisions about a kernel that depend only on its IR and the target. The results are in [Analysis].
//
// [ChooseGang] chooses the number of registers of a gang, [ChooseRows] the rows of a 2-D gang, and [OneGangRegs] the registers
// of a one-gang group. Each estimates the register pressure of loops. [Unroll] unrolls loops with constant trip counts.
// [Analyse] then finds uniform and affine values, and the uses of values. It chooses row-major or column-major traversal and
// the transposed accesses, and finds the buffers that a launch only writes.
//
// The decisions are valid for all launches of one variant. Package spmd chooses the variant of a launch by [Options] and by
// the facts that the launch proves.
//
// # Design
//
// Loops are repeated only where constants bound them, so no remainder is left.
//
// Some gangs have several rows: lanes of a block of 16 × 4 leave a loop at more similar times than 64 in a row. Products of
// matrices have eight rows on AVX2 and four on AVX-512, which share loaded vectors.
//
// Some gangs go down a band of columns, so that a transpose moves whole vectors on both sides.
//
// A gang has four registers if its live values fit the machine registers, else two or one; 2-D gangs on AVX2 may have three. On
// AVX2 four of them may be spilled, since operands in memory cost little. Kernels that only copy have four registers, and end a
// row with gangs of one.
package plan
