// Package grid emits the code around the body of a kernel: the prologue, and the loops over the rows, work-groups and gangs
// of a launch.
//
// [Build] chooses one of three shapes. Kernels that do not observe their group run row by row, or down the columns of a
// band. Kernels with barriers run work-group by work-group: a dispatch table resumes each gang at the barrier where it
// waits. A one-gang group needs neither frames nor barriers.
//
// Group operations are computed here if all gangs participate and their lanes are the items of the group in order; otherwise
// they trap to package exec. An interleaved loop runs some iterations of each gang in turn, so that adjacent gangs load
// adjacent lines at about the same time. A batch is several small work-groups that run such a loop together.
package grid
