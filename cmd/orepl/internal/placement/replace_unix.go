//go:build unix

package placement

import (
	"os"
	"syscall"
)

// replace replaces this process by itself with another environment.
func replace(env []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: self, Err: syscall.Exec(self, os.Args, env)}
}
