// Package analysis has the analyses of kernel IR that passes and back ends share. They read a kernel and change nothing.
//
//   - [StructureOf]: nesting, breaks, continues and loop parameters.
//   - [FindAffine]: integers that are affine in the item's identifiers; [Stride] is the access pattern that follows.
//   - [FindNaNs]: floats that can be NaN.
//   - [FindOutputs]: buffers that a kernel stores to, and those that it never reads.
//   - [EndsEarly], [MayFault], [IsSpeculable]: where an item may end, and what may move.
//
// Uniformity is in package ir, because the verifier needs it: [ir.Kernel.Uniformity]. Facts that a pass proves of indices are in
// package opt.
package analysis
