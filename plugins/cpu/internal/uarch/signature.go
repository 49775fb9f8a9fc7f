package uarch

// family returns the processor's family from the eax of CPUID leaf 1.
func family(eax uint32) uint32 {
	f := eax >> 8 & 0xf
	if f == 0xf {
		f += eax >> 20 & 0xff
	}
	return f
}

// model returns the processor's model from the eax of CPUID leaf 1.
func model(eax uint32) uint32 {
	m := eax >> 4 & 0xf
	if f := eax >> 8 & 0xf; f == 6 || f == 0xf {
		m |= eax >> 12 & 0xf0
	}
	return m
}
