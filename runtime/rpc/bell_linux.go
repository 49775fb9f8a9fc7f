package rpc

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations are not private to a process: a channel may lie in memory that processes share.
const (
	futexWait = 0
	futexWake = 1
)

// ring wakes the server if it sleeps. The caller has published its request by a sequentially consistent store.
func ring(c *control) {
	if atomic.LoadUint32(&c.bell) != 0 && atomic.CompareAndSwapUint32(&c.bell, 1, 0) {
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.bell)), futexWake, 1, 0, 0, 0)
	}
}

// sleep returns when the bell is no longer armed. A return without reason is possible.
func sleep(c *control) {
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.bell)), futexWait, 1, 0, 0, 0)
}
