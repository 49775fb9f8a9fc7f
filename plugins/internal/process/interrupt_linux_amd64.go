//go:build !nonative

package process

import (
	"os"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Interrupt requests that the guard's current call ends with [ErrInterrupted]: while it executes code in [low, high), or
// anywhere outside of Go if anywhere is set. It returns immediately. A call in other code goes on, so callers repeat
// Interrupt until the call has ended. Resume must be called between the end of that call and the guard's next one, not
// concurrently with Interrupt.
//
// A call that is ended anywhere may hold locks, such as those of malloc.
func (g Guard) Interrupt(low, high uintptr, anywhere bool) {
	how := uint64(stopWithin)
	if anywhere {
		how = stopAnywhere
	}
	g.place.low, g.place.high = uint64(low), uint64(high)
	atomic.StoreUint64(&g.place.stop, how)
	signalThreads()
}

// Resume withdraws the request of Interrupt.
func (g Guard) Resume() { atomic.StoreUint64(&g.place.stop, 0) }

// signalThreads sends the signal of Interrupt to all threads, since guarded calls are known only by thread control blocks.
// Threads without such a call ignore it.
func signalThreads() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // the caller repeats the request
	}
	info := struct {
		signal, errno, code, _ int32
		pid, uid               int32
		value                  uintptr
		_                      [96]byte
	}{signal: sigBUS, code: siQueue, pid: int32(os.Getpid()), uid: int32(os.Getuid()), value: uintptr(unsafe.Pointer(&table))}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			// The thread may have ended, or the queue of signals may be full: the caller repeats the request.
			_, _, _ = unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(os.Getpid()), uintptr(id), sigBUS, uintptr(unsafe.Pointer(&info)), 0, 0)
		}
	}
}
