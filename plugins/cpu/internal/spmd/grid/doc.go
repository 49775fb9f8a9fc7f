// Package grid emits the code around the body of a kernel: the prologue, and the loops over the rows, work-groups and gangs
// of a launch.
//
// [Build] chooses one of three shapes. Kernels that do not observe their group run row by row, or down the columns of a
// band. Other kernels run work-group by work-group: a dispatch table resumes each gang at the barrier where it waits. A one-gang
// group needs neither frames nor barriers.
//
// Group operations are computed here if all gangs participate and their lanes are the items of the group in order. Otherwise they
// trap to package exec. An interleaved loop runs some iterations of each gang in turn, so that adjacent gangs load adjacent lines
// at about the same time. A batch is several small work-groups that run such a loop together.
//
// # Design
//
// Gangs at a barrier are frames that are resumed on one goroutine, so atomics on shared memory need no lock prefix.
//
// Loops that carry few vectors run in rounds. All gangs of neighbouring groups run a few iterations before the first gang runs more,
// so groups read pages from end to end. One test of the greatest counter covers a round of all gangs, whose counters follow from one
// register. Counters in the frames would be a fifth cache line for a gang that carries four vectors.
//
// A loop whose gangs share a counter is a sweep. A short sweep that loads one row on Zen has rounds of two iterations, which prefetch
// the next round. Rounds of eight, with the processor's own prefetches only, were 5 to 20 % slower. With two rows, as in dot products,
// rounds of two were 10 % slower while the memory was idle. Batches of 64 groups made dot products 3 % faster, but needed half a
// megabyte of frames.
//
// Code without loops and calls reads the stop flag once in 16 gangs. On AVX2 the two loads of a poll after each gang took 4 % of the
// time of table look-ups, which wait for loads. In such code the limit of complete gangs stays in a register, and positions are
// indices without an extension.
//
// Scans are computed between gangs, because a segment of 32 items may be several gangs, part of one, or parts of two rows.
//
// The dispatch table is inserted into the code after the body is known. If it were emitted behind the body, each dispatch would need
// two more jumps.
package grid
