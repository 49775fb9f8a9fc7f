package memory

import "unsafe"

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
