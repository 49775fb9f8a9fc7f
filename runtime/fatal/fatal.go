// Package fatal ends the process for reasons that no call can return. They are a thread that native code ended or whose signals it
// blocked, and a device that does not stop. The command line installs a handler that prints the reason and exits with its code.
package fatal

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

// exitCode is the status without a handler: that of a script that fails.
const exitCode = 107

var handler atomic.Pointer[func(error)]

// Handle makes later calls of End call f, which may end the process in its own way. It is for the process's main package.
func Handle(f func(error)) { handler.Store(&f) }

// lastWordTime bounds the time of a last word.
const lastWordTime = time.Second

var lastWord atomic.Pointer[func(error)]

// LastWord makes End call f before the process ends, and wait a second for it at most. A nil f ends that.
func LastWord(f func(error)) {
	if f == nil {
		lastWord.Store(nil)
		return
	}
	lastWord.Store(&f)
}

// End calls the function of LastWord, then the handler. Without a handler, it prints the reason on standard error and ends the process.
// It returns only if the handler does; the caller's resources are then lost.
func End(reason error) {
	if f := lastWord.Load(); f != nil {
		said := make(chan struct{})
		go func() {
			defer close(said)
			(*f)(reason)
		}()
		select {
		case <-said:
		case <-time.After(lastWordTime):
		}
	}
	if f := handler.Load(); f != nil {
		(*f)(reason)
		return
	}
	fmt.Fprintln(os.Stderr, "error:", reason)
	os.Exit(exitCode)
}
