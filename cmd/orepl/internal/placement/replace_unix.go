//go:build unix

package placement

import (
	"os"
	"syscall"
)

// replace starts this program anew in this process, with env as environment. It returns only if that fails.
func replace(env []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return &os.PathError{Op: "exec", Path: self, Err: syscall.Exec(self, os.Args, env)}
}
