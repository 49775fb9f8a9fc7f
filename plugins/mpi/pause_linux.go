package mpi

import (
	"time"

	"golang.org/x/sys/unix"
)

// pause sleeps in the kernel: the timers of the Go runtime are coarser. A signal may end it.
func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil)
}
