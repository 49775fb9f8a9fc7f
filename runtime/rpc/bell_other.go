//go:build !linux

package rpc

import (
	"sync"
	"sync/atomic"
	"time"
)

// bells holds the doorbells of the channels of this process. Clients in other processes or languages need Linux's futexes.
var bells sync.Map // *control → chan struct{}

func bellOf(c *control) chan struct{} {
	b, _ := bells.LoadOrStore(c, make(chan struct{}, 1))
	return b.(chan struct{})
}

// ring wakes the server if it sleeps.
func ring(c *control) {
	if atomic.LoadUint32(&c.bell) != 0 && atomic.CompareAndSwapUint32(&c.bell, 1, 0) {
		select {
		case bellOf(c) <- struct{}{}:
		default:
		}
	}
}

// wake wakes the server unconditionally.
func wake(c *control) {
	atomic.StoreUint32(&c.bell, 0)
	select {
	case bellOf(c) <- struct{}{}:
	default:
	}
}

// sleep returns when the bell was rung, or after a second.
func sleep(c *control) {
	select {
	case <-bellOf(c):
	case <-time.After(time.Second):
	}
}

// forget releases the resources of the bell.
func forget(c *control) { bells.Delete(c) }
