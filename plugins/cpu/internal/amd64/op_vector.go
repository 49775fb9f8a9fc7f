package amd64

// The operations on vectors, and on scalars in vector registers, in VEX and EVEX encoding.
const (
	VBROADCASTSS Op = firstVector + iota
	VMOVUPS
	VADDPS
	VFMADD231PS
	numOps
)
