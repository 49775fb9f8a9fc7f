package image

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the bytes of a file; a regular file is mapped.
func mapFile(f *os.File, info os.FileInfo) ([]byte, func() error, error) {
	size := info.Size()
	if !info.Mode().IsRegular() || size == 0 {
		data, err := io.ReadAll(f)
		return data, func() error { return nil }, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	return data, func() error { return unix.Munmap(data) }, err
}
