// Package abi is the contract between compiled code and the Go code that runs it: the layout of the context and of frames,
// and the reserved registers.
//
// The context is memory of one worker that rbp points to while its code runs. Go writes the launch and the arguments
// there; the code keeps its position there, so that it can return to Go at a trap and resume. A frame is memory of one gang
// of a work-group, which r15 points to: spill slots, private arrays, and operands of group operations.
//
// All offsets are in bytes. The sizes that depend on the kernel are in its [Layout].
package abi
