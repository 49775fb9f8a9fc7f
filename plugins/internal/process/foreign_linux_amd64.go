//go:build !nonative

package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Foreign has the recorded fault of threads that native code created. Calls of native code that run share it.
type Foreign struct{ first *guarded }

var (
	foreign = Foreign{&foreignFault}

	// The assembly uses these, too.
	foreignCalls uint32  // number of calls that run, plus foreignEver after the first call that waited for foreign threads
	foreignTaken uint32  // 1 after a foreign thread has faulted
	foreignDone  uint32  // 1 after foreignFault has been written
	foreignFault guarded // the recorded fault
)

// WatchForeign clears the recorded fault and starts to catch faults on threads that native code created, for a call that waits for
// them. A faulting thread is stopped forever, and the call must be interrupted. LeaveForeign ends the call. Catching never ends,
// since a thread may outlive its call: its fault is reported to the calls that run then. Threads of other libraries are caught, too.
func WatchForeign() *Foreign {
	if !watchingEver.Swap(true) {
		atomic.AddUint32(&foreignCalls, foreignEver)
	}
	atomic.AddUint32(&foreignCalls, 1)
	clearForeign()
	return &foreign
}

// foreignEver is a power of two that is larger than the number of calls that run.
const foreignEver = 1 << 24

var watchingEver atomic.Bool

func clearForeign() {
	atomic.StoreUint32(&foreignTaken, 0)
	atomic.StoreUint32(&foreignDone, 0)
}

// EnterForeign starts to catch faults on threads that native code created, for a call. A fault belongs to all calls that run, since
// the thread may be of any. It is cleared when a call starts while no other runs. LeaveForeign ends the call.
func EnterForeign() *Foreign {
	if atomic.AddUint32(&foreignCalls, 1)&(foreignEver-1) == 1 {
		clearForeign()
	}
	return &foreign
}

// LeaveForeign ends a call of EnterForeign or WatchForeign.
func LeaveForeign() { atomic.AddUint32(&foreignCalls, ^uint32(0)) }

// Fault returns the first fault after the last time that faults were cleared, or nil. A nil Foreign has no faults.
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

// ThreadsIn reports whether threads that native code created execute code in one of the ranges of addresses, or may return to
// it: a word on their stacks is in it. known is false if a thread runs, or the system does not tell. Threads in code of Go
// count as outside, also those that WatchForeign stopped.
func ThreadsIn(ranges [][2]uintptr) (found, known bool) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false, false
	}
	known = true
	self := strconv.Itoa(unix.Gettid())
	goFirst, goEnd := goText()
	within := func(at uintptr) bool {
		for _, r := range ranges {
			if at >= r[0] && at < r[1] {
				return true
			}
		}
		return false
	}
	for _, t := range tasks {
		if t.Name() == self {
			continue
		}
		text, err := os.ReadFile("/proc/self/task/" + t.Name() + "/syscall")
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 2 { // running
			known = false
			continue
		}
		sp, err1 := strconv.ParseUint(fields[len(fields)-2], 0, 64)
		pc, err2 := strconv.ParseUint(fields[len(fields)-1], 0, 64)
		switch {
		case err1 != nil || err2 != nil:
			known = false
		case uintptr(pc) >= goFirst && uintptr(pc) < goEnd:
		case within(uintptr(pc)):
			return true, known
		default:
			has, read := stackHas(uintptr(sp), within)
			if has {
				return true, known
			}
			known = known && read
		}
	}
	return false, known
}

// stackHas reports whether a word of the stack above sp meets a condition. It reads about 8 MiB at most, up to memory that is not
// mapped. known is false if the system refuses to read.
func stackHas(sp uintptr, meets func(uintptr) bool) (has, known bool) {
	const most = 8 << 20
	var part [4096]uintptr
	for read := 0; read < most; {
		local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&part))}
		size := int(unsafe.Sizeof(part)) - int(sp)%4096 // up to the end of a page, so that the last part is read whole
		local.SetLen(size)
		n, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{{Base: sp, Len: size}}, 0)
		if err != nil {
			return false, err == unix.EFAULT // above the stack
		}
		for _, w := range part[:n/8] {
			if meets(w) {
				return true, true
			}
		}
		if n < size {
			break
		}
		sp, read = sp+uintptr(n), read+n
	}
	return false, true
}

// goText returns the range of addresses of Go's code.
func goText() (first, end uintptr)

// othersRun reports whether another thread of the process is running or runnable, or the system does not tell.
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
