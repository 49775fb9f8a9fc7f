// Package interp runs portable kernel IR. It is the oracle that every backend is compared with, and the engine of the
// CPU device where no SIMD engine exists.
//
// # How it runs
//
// A kernel is compiled once into a tree of closures. Each instruction is one tight loop over the active work-items
// (lanes) of a block of up to 256 items, which share the cost of dispatch. A block is a work-group
// if the kernel observes its group, else a run of consecutive items. A group of more than 256 items has several rows of
// 256 lanes, which every group operation brings together. Registers are arrays of 256 lanes in the worker's memory.
// Divergent control flow splits and rejoins lists of lanes; a loop ends when no lane is left in it.
//
// Since lanes move in lockstep from one instruction to the next, a barrier needs no work of its own.
//
// # What it promises
//
// Operations mean what docs/kernel-language.md defines. Of Go's math package they use square roots, fused multiply-add,
// rounding to integers and bits. IR that [ir.Module.Verify] accepts never causes a panic, for any arguments. A launch
// accesses no memory outside the arguments. It trusts [ir.Instr.Proved], which only passes of this process set, unless
// Options.IgnoreProofs is set. Running allocates nothing in the steady state.
package interp
