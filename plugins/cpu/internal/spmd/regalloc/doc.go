// Package regalloc assigns machine registers and spill slots to the virtual registers of a function.
//
// [Allocate] is a linear scan: it visits live ranges by their start, and assigns each one a free machine register of its
// class for the whole range. When none is free it spills the range with the lowest use density. A spilled register lives
// in its slot, in the gang's frame or in the context; emit reloads it to a scratch register for one instruction. To keep
// values in registers between barriers, passes.SplitRanges copies them to new virtual registers before; in straight code with more
// live values than registers, passes.SplitLocal does, with spill slots of its own.
package regalloc
