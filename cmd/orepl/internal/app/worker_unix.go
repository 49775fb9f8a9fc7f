//go:build unix

package app

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ownStandard returns duplicates of standard input and output for the protocol. It redirects the originals, which native
// kernels and drivers use: output to standard error, input to an empty file.
func ownStandard() (*standard, error) {
	var files [2]*os.File
	for fd, name := range [...]string{"standard input", "standard output"} {
		n, err := unix.Dup(fd)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		unix.CloseOnExec(n)
		files[fd] = os.NewFile(uintptr(n), name)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	if err := unix.Dup2(int(null.Fd()), 0); err != nil {
		return nil, err
	}
	if err := unix.Dup2(2, 1); err != nil {
		return nil, err
	}
	return &standard{files[0], files[1]}, nil
}
