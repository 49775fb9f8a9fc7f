package rpc

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations are not process-private, because processes may share a channel's memory.
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

// wake wakes the server unconditionally.
func wake(c *control) {
	atomic.StoreUint32(&c.bell, 0)
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.bell)), futexWake, 1, 0, 0, 0)
}

// sleep returns when the bell is rung, or after a second. The timeout covers clients that died before the wake, or that wrote
// the word without it.
func sleep(c *control) {
	second := unix.Timespec{Sec: 1}
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&c.bell)), futexWait, 1, uintptr(unsafe.Pointer(&second)), 0, 0)
}

// forget releases the resources of the bell.
func forget(*control) {}
