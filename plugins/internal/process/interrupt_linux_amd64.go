package process

import (
	"os"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Interrupt asks the call that the guard runs to end with [ErrInterrupted]: while it is in code from low up to high, or
// anywhere outside of Go if anywhere is set. It returns at once, and may be repeated until the call has ended: a call in
// other code goes on. Resume must be called between the end of that call and the guard's next one, and not at the same
// time as Interrupt.
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

// Resume takes back the request of Interrupt.
func (g Guard) Resume() { atomic.StoreUint64(&g.place.stop, 0) }

// signalThreads sends the signal of Interrupt to all threads, since those of guarded calls are known by their control
// blocks alone. Other threads ignore it.
func signalThreads() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // no list of threads: the caller repeats
	}
	info := struct {
		signal, errno, code, _ int32
		pid, uid               int32
		value                  uintptr
		_                      [96]byte
	}{signal: sigBUS, code: siQueue, pid: int32(os.Getpid()), uid: int32(os.Getuid()), value: uintptr(unsafe.Pointer(&table))}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			// A thread that ended since, or a full queue of signals: the caller repeats.
			_, _, _ = unix.RawSyscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(os.Getpid()), uintptr(id), sigBUS, uintptr(unsafe.Pointer(&info)), 0, 0)
		}
	}
}
