// Package plan makes the decisions about a kernel that depend only on its IR and the target. The results are in [Analysis].
//
// [ChooseGang], [ChooseRows] and [OneGangRegs] choose the number of registers of a gang, a 2-D gang and a one-gang group;
// each estimates the register pressure of loops. [Unroll] unrolls loops with constant trip counts. [Analyse] then finds
// uniform and affine values, and the uses of values. It chooses row-major or column-major traversal and the transposed
// accesses, and finds the buffers that a launch only writes.
//
// The decisions are valid for all launches of one variant. Package spmd chooses the variant of a launch by [Options] and by
// the facts that the launch proves.
package plan
