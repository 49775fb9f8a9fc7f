package image

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the bytes of a file, and the function that frees them. A regular file is mapped; other files are read.
func mapFile(f *os.File, info os.FileInfo) ([]byte, func() error, error) {
	size := info.Size()
	if !info.Mode().IsRegular() || size == 0 {
		data, err := io.ReadAll(f)
		return data, func() error { return nil }, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	return data, func() error { return unix.Munmap(data) }, err
}
