//go:build unix

package status

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder locks a folder until the file is closed or this process ends. It fails if another process has locked it.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
