package process

import (
	"bytes"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Foreign is the state of threads that native code made itself, while a call waits for them.
type Foreign struct{ first *guarded }

var (
	foreign = Foreign{&foreignFault}

	// Of the assembly too.
	foreignCalls uint32  // 1 once a call has waited for foreign threads
	foreignTaken uint32  // 1 once one has faulted
	foreignDone  uint32  // 1 once its fault is written
	foreignFault guarded // its fault
)

// WatchForeign starts to catch faults on threads that native code made itself. Such a thread stays stopped for ever, and a
// call that waits for it has to be interrupted. It forgets an earlier fault. Catching never ends, because a thread may
// still run after its call has failed; its fault is reported to the next call. Threads of other libraries are caught, too.
func WatchForeign() *Foreign {
	atomic.StoreUint32(&foreignTaken, 0)
	atomic.StoreUint32(&foreignDone, 0)
	atomic.StoreUint32(&foreignCalls, 1)
	return &foreign
}

// Fault returns the first fault since WatchForeign, or nil; a nil Foreign has none.
func (f *Foreign) Fault() error {
	if f == nil || atomic.LoadUint32(&foreignDone) == 0 {
		return nil
	}
	return f.first.fault()
}

// Settle waits until the other threads of the process sleep, at most for the time, so that their work has ended. The
// caller is locked to its thread.
func Settle(most time.Duration) {
	const enough = 3 // looks in a row, so that a thread which is about to be woken is seen
	for quiet, end := 0, time.Now().Add(most); quiet < enough && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
		if quiet++; othersRun() {
			quiet = 0
		}
	}
}

// othersRun reports whether another thread of the process runs or could run.
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
			continue // it has ended
		}
		// The state follows the name, which is in parentheses and may hold any character.
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] == 'R' {
			return true
		}
	}
	return false
}
