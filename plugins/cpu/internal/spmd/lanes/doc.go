// Package lanes emits operations on the lanes of a gang: arithmetic, comparisons, conversions and masks of vectors.
//
// A [Gang] knows registers, and neither the values of a kernel nor which lanes are active. A value of 32 bits has a vector for each
// register of the gang, one of 64 bits two. A list with one vector holds the same numbers for all registers, see [vcode.Part].
// Instructions are those of AVX-512; package avx2 replaces the ones that AVX2 lacks. See [vcode.Target] for masks.
package lanes

import "github.com/orepl/orepl/plugins/cpu/internal/spmd/vcode"

// Gang emits operations on the registers of a gang.
type Gang struct {
	*vcode.Func
	Registers int // vector registers that hold a 32-bit value of the gang
}
