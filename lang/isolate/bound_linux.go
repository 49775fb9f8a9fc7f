package isolate

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// BoundMemory limits the process's writable private memory to a number of bytes, unless that is 0, and disables core dumps. The
// address space has no limit, because accelerator drivers reserve much more than they use.
func BoundMemory(memory uint64) error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("core dumps cannot be forbidden: %w", err)
	}
	if memory == 0 {
		return nil
	}
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: memory, Max: memory}); err != nil {
		return fmt.Errorf("the memory of the process cannot be bounded: %w", err)
	}
	return nil
}
