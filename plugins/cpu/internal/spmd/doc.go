// Package spmd compiles kernel IR to AVX-512 or AVX2 code in which work-items are lanes of vectors.
//
// # Shape of the code
//
// A gang is a run of work-items along the x axis that go through the kernel together: the lanes of a vector (16, or 8 with
// AVX2), and one, two or four registers side by side. Values that are the same in a gang stay scalar, or one register;
// other values of 32 bits take a register for each 16 lanes, values of 64 bits two, and conditions a mask register.
// Where it pays, the registers of a gang are rows of items one below the other instead, three or up to eight (stack.go).
// Uniform control flow is branches; in divergent control flow a mask says which lanes take part, and code that no lane
// takes part in is jumped over.
//
// Without group operations the code runs gang after gang, row after row. With them each gang of a work-group has a frame
// in memory: at a barrier what lives on is in the frame, and the next gang goes on where it had come to. Loops that
// stream through buffers are run in rounds there, an iteration of each gang in turn (rounds.go).
//
// # Targets
//
// The lowering speaks the instructions of AVX-512 on vectors of whatever length: "whole", "half". What else depends on
// the vector unit stands in target.go. AVX2 then replaces each instruction that it lacks by some that do the same
// (avx2*.go), before registers are given out: mask registers become vectors, merging becomes blending, comparisons and
// conversions become sequences with the same bits. An instruction that has no such replacement makes the kernel one for
// the interpreter, which is told as the reason. Scatters, and accesses of some lanes to small elements, go lane by lane.
//
// What depends on the family of the processor, such as how rows are stored that a launch only writes, is decided by its
// cost table (package uarch). On AVX2 an If that all lanes of a gang take runs without masks (whole.go).
//
// # From IR to code
//
// The lowering (lower*.go) makes instructions on virtual registers in the order of the code, the allocation (alloc.go)
// gives each of them a machine register or a place in the frame for its whole life, and the emission (emit.go) writes
// them with [amd64.Assembler]. Before, loops that constants bound get longer bodies (repeat.go), addresses go along with
// the counters of loops (strength.go), loads become operands (fold.go), and what lives across barriers gets registers for
// the code between them (split.go).
//
// What the code does not do by itself it traps for: it saves its registers and returns to Go, which finds operands and
// results where the allocation had put them, and calls it to go on. Faults, prints, services, and the operations of
// whole groups are done so.
//
// A fault ends the gang in which it happens: what other items leave behind then is unspecified by the language.
package spmd
