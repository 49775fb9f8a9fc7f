//go:build !linux

package memory

import "unsafe"

// mapPages returns Go memory and n page-aligned bytes of it. The collector neither moves such a block nor frees it while it is
// referenced.
func mapPages(n int64) (all, usable []byte, err error) {
	all = make([]byte, n+pageSize)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (pageSize - 1)
	return all, all[skip : int64(skip)+n : int64(skip)+n], nil
}

func unmapPages([]byte) error { return nil }

// Available returns a constant, because this system's free memory is not queried.
func Available() int64 { return fallbackAvailable }
