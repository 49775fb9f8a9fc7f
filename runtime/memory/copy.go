package memory

import (
	"runtime"
	"sync"
)

// fallbackAvailable is what is assumed to be available where it cannot be asked.
const fallbackAvailable = 4 << 30

const (
	// cachedFrom is the size from which a copy is more than a call of Go's own.
	cachedFrom = 512 << 10
	// streamFrom is the size from which a copy goes past the caches: what is written is too large to stay there.
	streamFrom = 8 << 20
	// splitFrom is the size from which two goroutines are faster than one.
	splitFrom = 8 << 20
)

// Copy copies src to dst, up to the shorter one, and returns the number of bytes. They must not overlap. Big copies
// are split over two goroutines and written past the caches.
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

// CopySerial is Copy on the calling goroutine alone, for who splits the work himself; total is the size of the whole.
func CopySerial(dst, src []byte, total int) int {
	n := min(len(dst), len(src))
	copySized(dst[:n], src[:n], total)
	return n
}

func copyPart(dst, src []byte) { copySized(dst, src, 2*len(dst)) }

// copySized copies a part of a copy of total bytes, whose size decides whether the caches hold it.
func copySized(dst, src []byte, total int) {
	switch {
	case total < cachedFrom || len(dst) < cachedFrom/2:
		copy(dst, src)
	case total < streamFrom:
		copyCached(dst, src)
	default:
		copyLarge(dst, src)
	}
}

// copyPieces copies in pieces that are small enough for Go's copy to go through the caches.
func copyPieces(dst, src []byte) {
	for len(dst) > 0 {
		n := copy(dst[:min(len(dst), cachedFrom)], src)
		dst, src = dst[n:], src[n:]
	}
}

// Fill repeats pattern, whose length is a power of two up to 64, over dst; the last repetition may be cut.
func Fill(dst, pattern []byte) {
	if len(pattern) == 0 || len(dst) == 0 {
		return
	}
	if allZero(pattern) {
		clearAll(dst)
		return
	}
	// One block is written by doubling and copied from then on: it stays in the first-level cache.
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
	split(dst, 64, func(part []byte) { clear(part) })
}

// split calls fn for one or two parts of dst, which start at multiples of unit.
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
