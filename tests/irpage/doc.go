// Package irpage is an evaluator of kernel IR, written only from docs/kernel-ir.md and package ir to show that the page suffices
// for a back end. It is a second oracle beside package interp, with a different design. Each work-item is a coroutine over the tree
// of instructions, and operations work on bits.
//
// Tests compare both on random kernels, on the kernels of tests/kernlang and on those of examples/kernels.
//
// # Design
//
// A page is complete if someone who has only the page can write a back end. The evaluator is that back end, and shares
// neither code nor order of execution with the interpreter.
package irpage
