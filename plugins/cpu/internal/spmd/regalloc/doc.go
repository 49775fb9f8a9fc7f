// Package regalloc assigns machine registers and spill slots to the virtual registers of a function.
//
// [Allocate] is a linear scan. It visits live ranges in order of their starts, and assigns each a free machine register of its
// class for the whole range. If none is free, it spills the range with the lowest use density. A spilled register is in its slot,
// in the gang's frame or in the context; emit reloads it to a scratch register for one instruction.
//
// Two passes split live ranges before. The pass passes.SplitRanges keeps values in registers between barriers; passes.SplitLocal splits
// ranges in straight-line code with more live values than registers.
//
// # Design
//
// Code between barriers has registers of its own for values that live across them, and loads and stores only what it uses.
//
// Live ranges are split in straight code by Belady's rule. A run of instructions most of whose values are live before or after it
// is not split: splitting such runs made n-body on AVX-512 40 % slower.
package regalloc
