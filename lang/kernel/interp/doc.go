// Package interp runs portable kernel IR. It is the oracle that every backend is compared with, and the engine of the
// CPU device where no SIMD engine exists.
//
// # How it runs
//
// A kernel is compiled once into a tree of closures. Each instruction is one tight loop over the active work-items
// (lanes) of a block of up to 256 items, so that the cost of dispatch is shared by all of them. A block is a work-group
// if the kernel observes its group, else a run of consecutive items; a group of more than 256 items has several rows of
// 256 lanes, which every group operation brings together. Registers are arrays of 256 lanes in the worker's memory.
// Divergent control flow splits and rejoins lists of lanes; a loop ends when no lane is left in it.
//
// Since lanes move in lockstep from one instruction to the next, a barrier needs no work of its own.
//
// # What it promises
//
// The meaning is that of docs/kernel-language.md, computed without Go's math package but for square roots, fused
// multiply-add, rounding to integers and bits. IR that [ir.Module.Verify] accepts never makes it panic, whatever the
// arguments are, and it touches no memory outside the arguments; a wrong [ir.Instr.Proved], which only a pass of this
// process can make, is trusted unless Options.IgnoreProofs is set. Running allocates nothing in the steady state.
package interp
