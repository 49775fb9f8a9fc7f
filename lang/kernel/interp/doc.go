// Package interp interprets portable kernel IR. It is the reference for all back ends, and the engine of the CPU device where
// no SIMD engine exists.
//
// # Execution
//
// A kernel is compiled once to a tree of closures. Each instruction is a loop over the active work-items (lanes) of a row of up
// to 256 items, which share the cost of dispatch. Items run in blocks. A block is a work-group if the kernel observes its group,
// otherwise a run of up to 256 consecutive items. A group of more than 256 items has several rows. Registers are arrays of 256
// lanes in the worker's memory. Divergent control flow splits and rejoins lists of lanes; a loop ends when its mask is empty.
//
// All rows of a group reach a group operation before any of them passes it, so a barrier needs no code.
//
// # Guarantees
//
// Operations have the semantics of docs/kernel-language.md. From Go's math package they use square roots, fused multiply-add,
// rounding to integers and bits. IR that [ir.Module.Verify] accepts never causes a panic, for any arguments. A launch accesses
// no memory outside the arguments. It trusts [ir.Instr.Proved], which only passes of this process set, unless
// Options.IgnoreProofs is set. In the steady state a run allocates no memory, except for prints, faults and the detection of
// races.
package interp
