package process

import (
	"bytes"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Foreign is the state of threads that native code created, during a call that waits for them.
type Foreign struct{ first *guarded }

var (
	foreign = Foreign{&foreignFault}

	// The assembly uses these, too.
	foreignCalls uint32  // 1 after the first call that waited for foreign threads
	foreignTaken uint32  // 1 after a foreign thread has faulted
	foreignDone  uint32  // 1 after foreignFault has been written
	foreignFault guarded // the recorded fault
)

// WatchForeign clears the recorded fault and starts to catch faults on threads that native code created. A faulting thread
// is stopped forever, and a call that waits for it must be interrupted. Catching never ends, since a thread may outlive its
// call; its fault is then reported to the next call. Threads of other libraries are caught, too.
func WatchForeign() *Foreign {
	atomic.StoreUint32(&foreignTaken, 0)
	atomic.StoreUint32(&foreignDone, 0)
	atomic.StoreUint32(&foreignCalls, 1)
	return &foreign
}

// Fault returns the first fault since WatchForeign, or nil. A nil Foreign has no faults.
func (f *Foreign) Fault() error {
	if f == nil || atomic.LoadUint32(&foreignDone) == 0 {
		return nil
	}
	return f.first.fault()
}

// Settle waits until the other threads of the process sleep, so that their work has ended, but at most for a duration. The
// caller must be locked to its thread.
func Settle(most time.Duration) {
	const enough = 3 // consecutive checks, to notice a thread that is about to wake
	for quiet, end := 0, time.Now().Add(most); quiet < enough && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
		if quiet++; othersRun() {
			quiet = 0
		}
	}
}

// othersRun reports whether another thread of the process is running or runnable.
func othersRun() bool {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return true
	}
	self := strconv.Itoa(unix.Gettid())
	for _, t := range tasks {
		if t.Name() == self {
			continue
		}
		stat, err := os.ReadFile("/proc/self/task/" + t.Name() + "/stat")
		if err != nil {
			continue // the thread has ended
		}
		// The state follows the name, which is in parentheses and may contain any character.
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] == 'R' {
			return true
		}
	}
	return false
}
