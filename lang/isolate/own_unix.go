//go:build unix

package isolate

import "syscall"

// own prevents programs started by this process from inheriting a file descriptor.
func own(fd int) { syscall.CloseOnExec(fd) }
