//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// atStart has the signal actions from before any library was loaded.
var atStart = func() (list [numSignals + 1]action) {
	for sig := 1; sig <= numSignals; sig++ {
		list[sig], _ = getAction(sig) // the zero action if the signal has none
	}
	return list
}()

// CheckSignals returns an error that names signals with dangerous handlers. These run on a goroutine's stack, or replace a
// handler of the Go runtime or the guard. Tests call it after each stage in which a library may load code; an offending
// stage belongs inside [KeepSignals].
func CheckSignals() error {
	var errs []error
	for sig := 1; sig <= numSignals; sig++ {
		now, err := getAction(sig)
		if err != nil {
			continue
		}
		name := nameOf(sig)
		if now.handler > 1 && now.flags&saOnStack == 0 {
			errs = append(errs, fmt.Errorf("%s: the handler at %#x runs on the stack of the code that it interrupts", name, now.handler))
		}
		if mustKeep(sig) && now.handler != atStart[sig].handler && !guarding(sig, now.handler) {
			errs = append(errs, fmt.Errorf("%s: the handler at %#x is neither Go's nor the guard's", name, now.handler))
		}
	}
	return errors.Join(errs...)
}

// nameOf returns the name of a signal, such as SIGSEGV, or its number if it has none.
func nameOf(sig int) string {
	if name := unix.SignalName(unix.Signal(sig)); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", sig)
}

// mustKeep reports whether libraries must not change the action of a signal.
func mustKeep(sig int) bool {
	for _, k := range kept {
		if int(k) == sig {
			return true
		}
	}
	return false
}
