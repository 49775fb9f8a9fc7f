package mpi

import (
	"time"

	"golang.org/x/sys/unix"
)

// pause sleeps by a system call, since the Go runtime's timers are coarser. A signal may end it early.
func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}

// yield lets other processes run that wait for this core.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// unread returns the number of bytes that the reader of a pipe has not read yet, 0 for other files.
func unread(fd int) int {
	var state unix.Stat_t
	if err := unix.Fstat(fd, &state); err != nil || state.Mode&unix.S_IFMT != unix.S_IFIFO {
		return 0
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}
