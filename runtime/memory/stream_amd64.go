package memory

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// How this processor copies best was measured side by side with the C library (tests/peers): blocks that the caches
// hold by the string instruction where it is fast; larger ones past the caches on AMD, through them on Intel.
var (
	fastString = cpu.X86.HasERMS
	streaming  = vendorIsAMD()
)

// copyCached copies a block of middling size. Go's own copy goes past the caches from 1 MiB on, which is too early.
func copyCached(dst, src []byte) {
	if n := min(len(dst), len(src)); fastString && n > 0 {
		copyString(&dst[0], &src[0], n)
		return
	}
	copyPieces(dst, src)
}

// copyLarge copies what no cache holds.
func copyLarge(dst, src []byte) {
	if streaming {
		copyStream(dst, src)
		return
	}
	copyPieces(dst, src)
}

// copyStream copies with stores that go past the caches, after a few bytes that bring dst to a 16-byte boundary.
func copyStream(dst, src []byte) {
	n := min(len(dst), len(src))
	if n < 256 {
		copy(dst, src)
		return
	}
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst))) & 15)
	copy(dst[:head], src)
	body := (n - head) &^ 63
	streamBlocks(&dst[head], &src[head], body/64)
	copy(dst[head+body:n], src[head+body:n])
}

// streamBlocks copies blocks of 64 bytes. dst is aligned to 16 bytes.
//
//go:noescape
func streamBlocks(dst, src *byte, blocks int)

// copyString copies n bytes with REP MOVSB.
//
//go:noescape
func copyString(dst, src *byte, n int)

// vendorIsAMD asks CPUID.
func vendorIsAMD() bool
