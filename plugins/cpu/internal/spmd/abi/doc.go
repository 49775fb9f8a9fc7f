// Package abi is the contract of compiled code and the Go code that runs it: the layout of context and frames, and the reserved
// registers.
//
// The context is the memory of one worker; rbp points to it while its code runs. Go stores the launch and the arguments
// there. The code stores its position there, so that it can return to Go at a trap and resume. A frame is the memory of one
// gang of a work-group; r15 points to it. It has spill slots, private arrays, and operands of group operations.
//
// All offsets are in bytes. The sizes that depend on the kernel are in its [Layout].
package abi
