package memory

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// These choices follow measurements against the C library (tests/peers). REP MOVSB copies blocks that fit the caches, on
// processors with a fast one. For larger blocks AMD uses non-temporal stores and Intel temporal ones.
var (
	fastString = cpu.X86.HasERMS
	streaming  = vendorIsAMD()
)

// copyCached copies a block that fits the caches. Go's copy uses non-temporal stores from 1 MiB, which is slower here.
func copyCached(dst, src []byte) {
	if n := min(len(dst), len(src)); fastString && n > 0 {
		copyString(&dst[0], &src[0], n)
		return
	}
	copyPieces(dst, src)
}

// copyLarge copies a block that exceeds the caches.
func copyLarge(dst, src []byte) {
	if streaming {
		copyStream(dst, src)
		return
	}
	copyPieces(dst, src)
}

// copyStream copies with non-temporal stores, after a few bytes that align dst to 16 bytes.
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

// vendorIsAMD reports whether CPUID names AMD as the vendor.
func vendorIsAMD() bool
