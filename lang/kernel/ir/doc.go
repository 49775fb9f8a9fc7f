// Package ir is the portable kernel IR: the compiled form of kernels in scripts, the content of images of kind "ir", and the
// input of every plugin's back end.
//
// # Shape
//
// A [Module] has records and kernels. A [Kernel] has parameters, arrays (its buffers, shared and private arrays and constant
// tables) and one body. The body is structured SSA: a [Block] is a list of instructions that ends in one terminator, and
// control flow nests. Back ends emit masks, JavaScript, OpenCL C and PTX without rebuilding structure:
//
//	block        a region that break leaves early; its results are the operands of yield or break
//	if           two regions; its results are the values that the regions yield
//	loop         a region with carried values (its block parameters), re-entered by continue and left by break
//	yield        ends a region of if or block normally
//	break T      leaves the enclosing block or loop T with its results
//	continue T   re-enters the enclosing loop T with new carried values
//	return       ends the work-item
//	unreachable  ends a region that control cannot leave
//
// A value is visible only after its definition, in the same block and in blocks nested there.
//
// # Semantics
//
// docs/kernel-language.md defines the operations: integers wrap, floats round in their own type after each operation, and min,
// max and round follow JavaScript. Only the front end creates the fused multiply-add [FMA]; no pass or back end creates or
// splits one.
//
// An access names an [Array] and a path of indices and fields. Accesses are bounds-checked: an index outside its extent is a
// fault. A fault records its [Site] and ends the work-item. Integer divisions by zero, failed asserts and divergent uniforms
// are faults, too. Passes mark proved checks in [Instr.Proved]. No serialized form stores them, so a decoded module is always
// fully checked.
package ir
