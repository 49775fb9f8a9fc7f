//go:build unix

package app

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ownStandard returns standard input and output under other numbers. Later output of native kernels and drivers goes to
// standard error, and what they read is empty: the protocol has the stream for itself.
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
