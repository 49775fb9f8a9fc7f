// Package analysis contains the analyses of kernel IR that passes and back ends share. They do not modify the kernel.
//
//   - [StructureOf]: nesting, breaks, continues and loop parameters.
//   - [FindAffine]: integers that are affine in the item's identifiers; [Stride] derives the access pattern.
//   - [FindNaNs]: floats that can be NaN.
//   - [EndsEarly], [MayFault], [IsSpeculable]: where an item may end, and which instructions may move.
//
// Uniformity is in package ir, because the verifier needs it: [ir.Kernel.Uniformity]. Proofs of indices are in package opt.
//
// # Design
//
// Passes and back ends ask the same questions of the IR, and plugins may not import one another, so the answers are here.
// Uniformity is in package ir, because the verifier needs it for barriers.
package analysis
