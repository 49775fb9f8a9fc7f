// Package avx2 legalises functions of package vcode for AVX2: it expands the instructions of AVX-512 that AVX2 lacks.
//
// Mask registers become vectors whose lanes are all ones or zeros, and merging becomes blending. Comparisons, conversions
// and some arithmetic become sequences with the same results. Vectors have half the length. [Expand] returns an error for an
// instruction without an expansion; the kernel then runs on the interpreter.
//
// # Design
//
// AVX2 code begins as AVX-512 code, so that one lowering is tested by every kernel on every target.
package avx2
