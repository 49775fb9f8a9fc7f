// Package ir is the portable kernel IR: the compiled form of kernels, the content of images of kind "ir", and the input of every
// back end.
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
// docs/kernel-language.md defines the operations: integers wrap, floats round in their own type after each operation, and min, max
// and round follow JavaScript. Only the front end creates the fused multiply-add [FMA]; no pass or back end creates or splits one.
//
// An access names an [Array] and a path of indices and fields. Accesses are bounds-checked: an index outside its extent is a
// fault. A fault records its [Site] and ends the work-item. Integer divisions by zero, failed asserts and calls, and divergent
// uniforms are faults, too. Passes mark proved checks in [Instr.Proved]. No serialized form stores them, so a decoded module is
// always fully checked.
//
// # Design
//
// Control flow is structured: lane masks, OpenCL C and JavaScript need it nested, and PTX is easily made from it. Visibility is
// then a stack of scopes, and the verifier needs no dominance.
//
// Bounds checks are part of accesses. An image may have an unknown author. If checks were instructions, an image without them would
// be valid. A pass that proves a check sets a field that no serialized form has, so decoded modules are fully checked.
//
// A fault ends its work-item, which is then absent like an item beyond a ragged size. That is the cheapest rule on every target.
//
// The binary form of a module is canonical: the decoder encodes again and compares. With a checksum every flipped bit is
// refused, and the hash of the bytes identifies the contents.
//
// Buffers may overlap, so the condition of a barrier may load only from a buffer in a kernel that writes none. For other
// conditions there is g.uniform, which is checked at run time.
//
// A NaN is made canonical by a quant before a store or another use that exposes its bits. Front ends insert the quant before
// any pass runs. A plain copy has none, so kernels that move elements move bits.
//
// Conversions of floats to integers saturate, and those between integers wrap, as hashes of u32 need. wrap of a float is
// what x | 0 needs.
//
// An extension operation is a block with a name. A back end that does not know the name compiles the fallback, so analyses
// and passes need no new case.
//
// A kernel cannot state what it assumes of its launches. Front ends compile for a launch that they see, and back ends choose
// code by facts of each launch.
package ir
