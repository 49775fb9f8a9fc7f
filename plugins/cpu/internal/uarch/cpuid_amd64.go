package uarch

import "golang.org/x/sys/cpu"

// cpuid executes the instruction CPUID.
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// identify returns the processor's vendor, family and model, and whether programs may use AVX-512.
func identify() identity {
	_, b, c, d := cpuid(0, 0)
	var vendor []byte
	for _, r := range []uint32{b, d, c} {
		vendor = append(vendor, byte(r), byte(r>>8), byte(r>>16), byte(r>>24))
	}
	a, _, _, _ := cpuid(1, 0)
	return identity{vendor: string(vendor), family: family(a), model: model(a), avx512: cpu.X86.HasAVX512F}
}
