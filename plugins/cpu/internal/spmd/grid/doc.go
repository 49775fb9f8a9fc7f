// Package grid emits the code around the body of a kernel: the prologue, and the loops over the rows, work-groups and gangs
// of a launch.
//
// [Build] chooses one of three shapes. Kernels that do not observe their group run row by row, or down the columns of a
// band. Kernels with barriers run work-group by work-group: a dispatch table resumes each gang at the barrier where it
// waits. A one-gang group needs neither frames nor barriers.
//
// Group operations are computed here if all gangs participate and their lanes are the items of the group in order. Otherwise they
// trap to package exec. An interleaved loop runs some iterations of each gang in turn, so that adjacent gangs load adjacent lines
// at about the same time. A batch is several small work-groups that run such a loop together.
//
// # Design
//
// Gangs at a barrier are frames that are resumed on one goroutine, so atomics on shared memory need no lock prefix.
//
// Loops that carry little run in rounds. Each gang of neighbouring groups does a few iterations before any does the next, so groups
// read pages from end to end. One test with the last counter covers a round of all gangs, and one register has their counters. A
// gang that loaded its own from its frame would touch a fifth cache line for four vectors that it carries.
//
// A sweep over one row on Zen has rounds of two iterations, which fetch the next round. Rounds of eight, left to the processor's own
// prefetches, were 5 to 20 % slower. For two rows it is the reverse while the memory is idle: rounds of two lost 10 % from dot. All 64
// groups at once gained 3 % of dot, for half a megabyte of frames.
//
// Code without loops reads the stop flag once in 16 gangs. The two loads of a poll after each took 4 % of lookups on AVX2, which wait
// for loads. The limit of complete gangs stays in a register there, and positions are indices without an extension.
//
// Scans are computed between gangs, because segments of 32 items are two gangs, half of one, or parts of two rows.
//
// The dispatch table is inserted into the code after the body is known; emitted behind it, each dispatch would need two more
// jumps.
package grid
