package memory

import (
	"runtime"
	"sync"
)

// fallbackAvailable is the assumed number of free bytes on systems that do not report it.
const fallbackAvailable = 4 << 30

const (
	// cachedFrom is the minimum size for copyCached, in bytes; Go's copy is used below.
	cachedFrom = 512 << 10
	// streamFrom is the minimum size for non-temporal stores, in bytes: larger destinations would not stay in the caches.
	streamFrom = 8 << 20
	// splitFrom is the minimum size in bytes for which two goroutines are faster than one.
	splitFrom = 8 << 20
)

// Copy copies src to dst, up to the shorter length, and returns the number of bytes. The slices must not overlap. Large copies
// use two goroutines, and on some processors non-temporal stores.
func Copy(dst, src []byte) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	if n < splitFrom || runtime.GOMAXPROCS(0) == 1 {
		copySized(dst, src, n)
		return n
	}
	half := n / 2 &^ 63
	var wg sync.WaitGroup
	wg.Go(func() { copyPart(dst[half:], src[half:]) })
	copyPart(dst[:half], src[:half])
	wg.Wait()
	return n
}

func copyPart(dst, src []byte) { copySized(dst, src, 2*len(dst)) }

// copySized copies a part of a copy of total bytes. total decides between temporal and non-temporal stores.
func copySized(dst, src []byte, total int) {
	switch {
	case total < cachedFrom || len(dst) < cachedFrom/2:
		copy(dst, src)
	case total < streamFrom:
		copyCached(dst, src)
	default:
		eachPiece(dst, func(piece []byte) {
			copyLarge(piece, src[:len(piece)])
			src = src[len(piece):]
		})
	}
}

// copyPieces copies in pieces below the size from which Go's copy uses non-temporal stores.
func copyPieces(dst, src []byte) {
	for len(dst) > 0 {
		n := copy(dst[:min(len(dst), cachedFrom)], src)
		dst, src = dst[n:], src[n:]
	}
}

// Fill repeats pattern, whose length is a power of two up to 64, over dst; the last repetition may be truncated.
func Fill(dst, pattern []byte) {
	if len(pattern) == 0 || len(dst) == 0 {
		return
	}
	if allZero(pattern) {
		clearAll(dst)
		return
	}
	// Doubling writes one block, which stays in the first-level cache as the source of all other copies.
	const block = 16 << 10
	first := dst[:min(len(dst), block)]
	for n := copy(first, pattern); n < len(first); n *= 2 {
		copy(first[n:], first[:n])
	}
	split(dst[len(first):], block, func(part []byte) {
		for len(part) > 0 {
			part = part[copy(part, first):]
		}
	})
}

// clearAll sets dst to zero.
func clearAll(dst []byte) {
	split(dst, 64, func(part []byte) { eachPiece(part, func(piece []byte) { clear(piece) }) })
}

// split calls fn for dst, or concurrently for two parts of a large dst, whose boundary is a multiple of unit. If GOMAXPROCS is
// 1, it does not divide dst.
func split(dst []byte, unit int, fn func([]byte)) {
	if len(dst) < splitFrom || runtime.GOMAXPROCS(0) == 1 {
		fn(dst)
		return
	}
	half := len(dst) / 2 / unit * unit
	var wg sync.WaitGroup
	wg.Go(func() { fn(dst[half:]) })
	fn(dst[:half])
	wg.Wait()
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
