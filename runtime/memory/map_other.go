//go:build !linux

package memory

import "unsafe"

// mapPages gives Go memory, and n bytes of it from the start of a page on: such a block is never moved, and lives as long
// as it is referred to.
func mapPages(n int64) (all, room []byte, err error) {
	all = make([]byte, n+pageSize)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(all))) & (pageSize - 1)
	return all, all[skip : int64(skip)+n : int64(skip)+n], nil
}

func unmapPages([]byte) error { return nil }

// Available is a guess: how much memory is free is not asked for on this system.
func Available() int64 { return fallbackAvailable }
