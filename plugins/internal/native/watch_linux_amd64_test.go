//go:build !nonative

package native

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestPausesOfPolls checks that pauses grow with the run time of a call, and shrink when another call begins.
func TestPausesOfPolls(t *testing.T) {
	long, brief := new(Caller), new(Caller)
	at := time.Now()
	wants := func(after, pause time.Duration, running bool) {
		t.Helper()
		if p, r := poll([]*Caller{long, brief}, at.Add(after)); p != pause || r != running {
			t.Errorf("after %v the next poll is in %v (a call runs: %v), want %v and %v", after, p, r, pause, running)
		}
	}
	wants(0, watchSlowest, false)
	long.running.Store(new(atomic.Bool))
	wants(0, watchEvery, true)
	wants(time.Second, time.Second/watchPart, true)
	wants(time.Minute, watchSlowest, true)
	brief.running.Store(new(atomic.Bool))
	wants(time.Minute, watchEvery, true)
	brief.running.Store(nil)
	wants(time.Minute, watchSlowest, true)
	long.running.Store(new(atomic.Bool)) // the next call
	wants(time.Minute, watchEvery, true)
}
