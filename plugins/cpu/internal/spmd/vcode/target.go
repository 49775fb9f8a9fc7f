package vcode

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// Target is a vector unit. Instruction selection emits the instructions of AVX-512 on vectors of any length; package avx2
// expands those that AVX2 lacks.
type Target struct {
	Name     string
	Features amd64.Features
	Lanes    int // elements of 32 bits in a vector
	Vectors  int // vector registers for allocation; the scratch registers follow them
	Spare    int // vectors that a loop may spill, since a spill costs less than a stall

	// HasMasks reports whether masks are in mask registers. Otherwise a mask is a vector whose lanes are all ones or zeros,
	// and masks of 64-bit and 32-bit elements differ.
	HasMasks       bool
	wholeConstants bool // the pool holds whole vectors, because instructions cannot broadcast a memory operand
}

// AVX512 is the target with vectors of 512 bits.
var AVX512 = Target{Name: "avx512", Features: amd64.ForAVX512, Lanes: 16, Vectors: 32 - ScratchVectors, HasMasks: true}

// AVX2 is the target with vectors of 256 bits. It has 16 vector registers and no mask registers.
var AVX2 = Target{Name: "avx2", Features: amd64.ForAVX2, Lanes: 8, Vectors: 16 - ScratchVectors, Spare: 4,
	wholeConstants: true}

// Least is the minimum set of extensions for any target.
const Least = amd64.ForAVX2

// ScratchVectors is the number of vector registers for spilled values during one instruction.
const ScratchVectors = 3

// Bytes returns the size of a vector in bytes.
func (t *Target) Bytes() int { return 4 * t.Lanes }

// TargetOf returns the best target for a processor, or nil if there is none.
func TargetOf(features amd64.Features) *Target {
	switch {
	case AVX512.Features&^features == 0:
		return &AVX512
	case AVX2.Features&^features == 0:
		return &AVX2
	}
	return nil
}
