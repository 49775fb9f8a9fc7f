//go:build linux && (amd64 || arm64) && !nonative

package cuda

import (
	"runtime"
	"sync"

	"github.com/orepl/orepl/plugins/cuda/internal/driver"
)

// stamp is a timestamp on the device's clock: an event with timing.
type stamp struct{ event driver.Event }

// stamps owns the events of a device's stamps. When the garbage collector finds a stamp unused, its
// event can be reused.
type stamps struct {
	mu   sync.Mutex
	used map[driver.Event]bool
	idle []driver.Event
}

// of returns the stamp of a recorded event, which is not recorded again while the stamp can be reached.
func (s *stamps) of(e driver.Event) *stamp {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[driver.Event]bool{}
	}
	s.used[e] = true
	p := &stamp{e}
	runtime.AddCleanup(p, s.put, e)
	return p
}

// put makes an event available for another stamp.
func (s *stamps) put(e driver.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[e] {
		delete(s.used, e)
		s.idle = append(s.idle, e)
	}
}

// take returns an unused event, if any.
func (s *stamps) take() (driver.Event, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return 0, false
	}
	e := s.idle[n-1]
	s.idle = s.idle[:n-1]
	return e, true
}

// free destroys all events. The context is current.
func (s *stamps) free(d *driver.Driver) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := range s.used {
		d.DestroyEvent(e)
	}
	for _, e := range s.idle {
		d.DestroyEvent(e)
	}
	s.used, s.idle = nil, nil
}
