//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// atStart are the actions of all signals before any library was loaded.
var atStart = func() (list [numSignals + 1]action) {
	for sig := 1; sig <= numSignals; sig++ {
		list[sig], _ = getAction(sig) // the zero action for a signal that has none
	}
	return list
}()

// CheckSignals returns an error that names the signals whose actions endanger the process. Such a handler runs on a
// goroutine's stack, or is a library's for a signal that the Go runtime or the guard needs. Tests call it after each stage
// in which a library may load more code; the stage it blames belongs inside [KeepSignals].
func CheckSignals() error {
	var errs []error
	for sig := 1; sig <= numSignals; sig++ {
		now, err := getAction(sig)
		if err != nil {
			continue
		}
		name := unix.SignalName(unix.Signal(sig))
		if name == "" {
			name = fmt.Sprintf("signal %d", sig)
		}
		if now.handler > 1 && now.flags&saOnStack == 0 {
			errs = append(errs, fmt.Errorf("%s: the handler at %#x runs on the stack of the code that it interrupts", name, now.handler))
		}
		if mustKeep(sig) && now.handler != atStart[sig].handler && !guarding(sig, now.handler) {
			errs = append(errs, fmt.Errorf("%s: the handler at %#x is neither Go's nor the guard's", name, now.handler))
		}
	}
	return errors.Join(errs...)
}

// mustKeep reports whether no library may change the action of a signal.
func mustKeep(sig int) bool {
	for _, k := range kept {
		if int(k) == sig {
			return true
		}
	}
	return false
}
