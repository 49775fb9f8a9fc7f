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
