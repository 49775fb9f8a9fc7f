package queue

import (
	"sync"
	"testing"
)

func TestStop(t *testing.T) {
	var s Stop
	s.begin(5)
	s.request(6, 9, timedOut)
	s.request(1, 4, timedOut)
	if s.Requested() || s.why() != 0 {
		t.Error("a request for other commands stopped this one")
	}
	s.request(5, 5, timedOut)
	s.request(1, 9, cancelled)
	if !s.Requested() || !s.Flag().Load() || s.why() != timedOut {
		t.Errorf("requested %v, reason %d: the first counts", s.Requested(), s.why())
	}
	s.begin(6)
	if s.Requested() || s.why() != 0 {
		t.Error("the stop reached the next command")
	}
}

// TestStopHitsItsCommandOnly checks that stop requests, many of them late, never reach another command.
func TestStopHitsItsCommandOnly(t *testing.T) {
	var s Stop
	const commands = 20_000
	started := make(chan uint64, 64)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for n := range started {
				s.request(n, n, cancelled)
			}
		})
	}
	for n := uint64(1); n <= commands; n++ {
		s.begin(n)
		if n%2 == 1 { // the others are not stopped
			started <- n
			continue
		}
		if s.Requested() || s.why() != 0 {
			t.Fatalf("command %d was stopped", n)
		}
	}
	close(started)
	wg.Wait()
}
