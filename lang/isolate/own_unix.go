//go:build unix

package isolate

import "syscall"

// own keeps a file from the programs that this process starts.
func own(fd int) { syscall.CloseOnExec(fd) }
