package vcode

import "github.com/orepl/orepl/plugins/cpu/internal/amd64"

// AVX2 has vectors of 256 bits without mask registers. Its instructions encode only sixteen registers, and write no
// lanes apart.
var AVX2 = Target{Name: "avx2", Features: amd64.ForAVX2, Lanes: 8, Vectors: 16 - ScratchVectors, Spare: 4,
	wholeConstants: true}

// Target is a vector unit: what the lowering, the allocation and the host side of traps need to know of it. The lowering
// speaks the instructions of AVX-512 on vectors of any length; a target that lacks some expands them.
type Target struct {
	Name     string
	Features amd64.Features
	Lanes    int // elements of 32 bits in a vector
	Vectors  int // registers that are given out; those for scratch come after them
	Spare    int // vectors more that loops may have, as what lies in memory costs less than to wait for results
	// masks says that conditions of lanes live in mask registers. Elsewhere they are vectors with all bits of a lane set
	// or none; those of 64-bit elements then differ from those of 32-bit ones, see half and join.
	HasMasks       bool
	wholeConstants bool // constants lie in the pool as whole vectors, as instructions cannot broadcast them
}

// ScratchVectors is how many vectors hold what lives in memory while one instruction needs it.
const ScratchVectors = 3

// Bytes is the size of a vector.
func (t *Target) Bytes() int { return 4 * t.Lanes }

var AVX512 = Target{Name: "avx512", Features: amd64.ForAVX512, Lanes: 16, Vectors: 32 - ScratchVectors, HasMasks: true}

// Least is what every target needs.
const Least = amd64.ForAVX2

// TargetOf gives the best target for a machine, nil if there is none.
func TargetOf(features amd64.Features) *Target {
	switch {
	case AVX512.Features&^features == 0:
		return &AVX512
	case AVX2.Features&^features == 0:
		return &AVX2
	}
	return nil
}
