//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// action is the kernel's struct sigaction.
type action struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const (
	saSigInfo = 0x4
	saOnStack = 0x08000000
)

func getAction(sig int) (action, error) {
	var a action
	return a, sigaction(sig, nil, &a)
}

func setAction(sig int, a *action) error { return sigaction(sig, a, nil) }

func sigaction(sig int, set, get *action) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(set)),
		uintptr(unsafe.Pointer(get)), unsafe.Sizeof(action{}.mask), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// kept are the signals whose actions libraries must not change: faults, which become panics, stop requests, and signals that
// the Go runtime sends. Libraries may use others (SIGUSR1, SIGUSR2, SIGCHLD, real-time signals).
var kept = [...]unix.Signal{
	unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGILL, unix.SIGTRAP, unix.SIGABRT, unix.SIGBUS, unix.SIGFPE,
	unix.SIGSEGV, unix.SIGPIPE, unix.SIGTERM, unix.SIGTSTP, unix.SIGURG, unix.SIGPROF, unix.SIGSYS,
}

const numSignals = 64

var keeping sync.Mutex

// KeepSignals runs f, which loads or initializes a library, and then restores the actions of signals that the Go runtime
// needs. From then on, a crash of the library ends the process with a message, not a Go trace. Handlers of the library run on the
// signal stack, at the latest a fraction of a millisecond after f installed them. KeepSignals also restores the mode of the thread's
// floating-point unit: loading a library built with -ffast-math changes it, also for threads started later. It returns the error
// of f, joined with its own. It runs one f at a time; f must not call KeepSignals.
func KeepSignals(f func() error) (err error) {
	reportCrashes()
	keeping.Lock()
	defer keeping.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer setFloatMode(floatMode())
	var before [numSignals + 1]action
	for sig := 1; sig <= numSignals; sig++ {
		if before[sig], err = getAction(sig); err != nil && !errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("signal %d: reading the action: %w", sig, err)
		}
	}
	defer func() { err = errors.Join(err, restore(&before)) }()
	defer watchHandlers()()
	return f()
}

// watchInterval is the time between checks of the handlers.
const watchInterval = 200 * time.Microsecond

// watchHandlers makes the handlers that a library installs run on the signal stack, until stop is called. The signal by which
// MPICH reports lost processes can arrive while MPICH starts.
func watchHandlers() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for {
			for sig := 1; sig <= numSignals; sig++ {
				if now, err := getAction(sig); err == nil {
					_ = onSignalStack(sig, &now) // restore reports a lasting error
				}
			}
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// onSignalStack makes a signal's handler run on the signal stack. A goroutine's stack is too small for it.
func onSignalStack(sig int, now *action) error {
	if now.handler <= 1 || now.flags&saOnStack != 0 {
		return nil
	}
	now.flags |= saOnStack
	return setAction(sig, now)
}

func restore(before *[numSignals + 1]action) error {
	var errs []error
	for sig := 1; sig <= numSignals; sig++ {
		now, err := getAction(sig)
		if err != nil || now == before[sig] {
			continue
		}
		if mustKeep(sig) {
			err = setAction(sig, &before[sig])
		} else {
			err = onSignalStack(sig, &now)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("signal %d: restoring the action: %w", sig, err))
		}
	}
	return errors.Join(errs...)
}

// holding has the actions of signals that the native code running now must not change.
var holding struct {
	sync.Mutex
	running int
	before  [numSignals + 1]action
}

// held are the signals whose actions native code must not change.
var held = append(kept[:], unix.SIGCHLD)

// HoldSignals is called before native code that may change actions of signals, and ReleaseSignals after it. It records the actions of
// the signals held, unless other such code runs already.
func HoldSignals() {
	h := &holding
	h.Lock()
	defer h.Unlock()
	if h.running++; h.running > 1 {
		return
	}
	for _, sig := range held {
		h.before[sig], _ = getAction(int(sig)) // exists
	}
}

// ReleaseSignals is called after native code for which HoldSignals was called. It restores the recorded actions of the signals held,
// also while other such code runs.
func ReleaseSignals() {
	h := &holding
	h.Lock()
	defer h.Unlock()
	h.running--
	for _, sig := range held {
		if now, err := getAction(int(sig)); err == nil && now != h.before[sig] {
			_ = setAction(int(sig), &h.before[sig]) // was valid before
		}
	}
}
