//go:build unix

package cpu

import "golang.org/x/sys/unix"

func allocate(size int64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func release(data []byte) error { return unix.Munmap(data) }
