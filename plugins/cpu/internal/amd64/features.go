package amd64

import (
	"math/bits"

	"golang.org/x/sys/cpu"
)

// Features is a set of instruction set extensions. An [Assembler] rejects instructions of other extensions.
type Features uint32

// The extensions, one bit each. Baseline amd64 (up to SSE2) needs none.
const (
	SSE41       Features = 1 << iota // up to SSE4.1, in the legacy encodings
	POPCNTISA                        // popcnt
	LZCNTISA                         // lzcnt
	BMI1                             // andn, blsr, tzcnt …
	BMI2                             // shlx, mulx, pdep, pext …
	AVX                              // 256-bit floating point, the VEX encoding
	AVX2                             // 256-bit integers, gathers
	FMA                              // fused multiply-add on AVX registers
	F16C                             // half precision conversions
	AVX512                           // F, CD, BW, DQ and VL together: the level x86-64-v4
	IFMA                             // AVX512_IFMA: 52-bit multiply-add
	VBMI                             // AVX512_VBMI: byte permutes
	VBMI2                            // AVX512_VBMI2: byte and word compress and expand, funnel shifts
	VNNI                             // AVX512_VNNI: 8- and 16-bit dot products
	BITALG                           // AVX512_BITALG: population count of bytes and words
	VPOPCNTDQ                        // AVX512_VPOPCNTDQ: population count of doublewords and quadwords
	BF16                             // AVX512_BF16
	GFNI                             // Galois field instructions on AVX-512 registers: any permutation of bits in bytes
	numFeatures = iota
)

// ForAVX2 is the set of extensions of level x86-64-v3, which has AVX2.
const ForAVX2 = SSE41 | POPCNTISA | LZCNTISA | BMI1 | BMI2 | AVX | AVX2 | FMA | F16C

// ForAVX512 is the set of extensions of level x86-64-v4, which all processors with AVX-512 have except Xeon Phi.
const ForAVX512 = ForAVX2 | AVX512

// AllFeatures is the set of all extensions.
const AllFeatures Features = 1<<numFeatures - 1

// evexFeatures are the extensions that EVEX encodings need besides AVX512. Other extensions of a form apply to its VEX
// encoding.
const evexFeatures = IFMA | VBMI | VBMI2 | VNNI | BITALG | VPOPCNTDQ | BF16 | GFNI

var featureNames = [numFeatures]string{
	"SSE4.1", "POPCNT", "LZCNT", "BMI1", "BMI2", "AVX", "AVX2", "FMA", "F16C", "AVX512", "AVX512_IFMA", "AVX512_VBMI",
	"AVX512_VBMI2", "AVX512_VNNI", "AVX512_BITALG", "AVX512_VPOPCNTDQ", "AVX512_BF16", "GFNI",
}

// String returns the names of the extensions, joined by "+".
func (f Features) String() string {
	s := ""
	for f &= AllFeatures; f != 0; f &= f - 1 {
		if s != "" {
			s += "+"
		}
		s += featureNames[bits.TrailingZeros32(uint32(f))]
	}
	return s
}

// Host returns the extensions that this machine and its operating system support. There are none on other processors than x86.
func Host() Features {
	x := &cpu.X86
	f := Features(0)
	for i, has := range [numFeatures]bool{
		x.HasSSE41, x.HasPOPCNT, x.HasLZCNT, x.HasBMI1, x.HasBMI2, x.HasAVX, x.HasAVX2, x.HasFMA, x.HasF16C,
		x.HasAVX512F && x.HasAVX512CD && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL,
		x.HasAVX512IFMA, x.HasAVX512VBMI, x.HasAVX512VBMI2, x.HasAVX512VNNI, x.HasAVX512BITALG,
		x.HasAVX512VPOPCNTDQ, x.HasAVX512BF16, x.HasAVX512GFNI,
	} {
		if has {
			f |= 1 << i
		}
	}
	if f&AVX512 == 0 {
		f &^= evexFeatures
	}
	return f
}
