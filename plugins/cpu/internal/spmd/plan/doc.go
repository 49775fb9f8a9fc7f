// Package plan makes the decisions about a kernel that need only its IR and the target: what [Analysis] holds.
//
// [ChooseGang], [ChooseRows] and [OneGangRegs] choose the number of registers of a gang, of a 2-D gang and of a work-group
// that is one gang; each estimates the register pressure of loops. [Unroll] unrolls loops with constant trip counts. [Analyse]
// then finds uniform and affine values, and the uses of values. It chooses row-major or column-major traversal and the
// accesses that are transposed, and finds the buffers that a launch only writes.
//
// The decisions hold for all launches of one variant. Package spmd chooses the variant of a launch by the bits of
// [Options] and by the facts that the launch proves.
package plan
