//go:build !linux

package bell

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

func share([16]byte) (*atomic.Uint32, Address, error) { return nil, Address{}, errors.ErrUnsupported }

func find(Address) (*atomic.Uint32, error) { return nil, errors.ErrUnsupported }

// mu guards changed, which the next call of wake closes. One channel suffices, since a process has one word.
var (
	mu      sync.Mutex
	changed = make(chan struct{})
)

func wake(*atomic.Uint32) {
	mu.Lock()
	defer mu.Unlock()
	close(changed)
	changed = make(chan struct{})
}

func wait(word *atomic.Uint32, state uint32, d time.Duration) {
	mu.Lock()
	next := changed
	same := word.Load() == state
	mu.Unlock()
	if !same {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-next:
	case <-timer.C:
	}
}
