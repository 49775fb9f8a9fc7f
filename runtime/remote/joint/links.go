package joint

import (
	"maps"
	"slices"
	"sync"
)

// Links are a server's links to others, by address.
type Links struct {
	mu      sync.Mutex
	list    map[string]Link
	all     []Link        // of list; never changed in place
	changed chan struct{} // closed when a link is added
}

// NewLinks returns a set without links.
func NewLinks() *Links { return &Links{list: map[string]Link{}, changed: make(chan struct{})} }

// Add makes l the link to a server.
func (s *Links) Add(peer string, l Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list[peer] = l
	s.all = slices.Collect(maps.Values(s.list))
	close(s.changed)
	s.changed = make(chan struct{})
}

// Remove removes a link that has ended, unless another one has replaced it.
func (s *Links) Remove(peer string, l Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list[peer] == l {
		delete(s.list, peer)
		s.all = slices.Collect(maps.Values(s.list))
	}
}

// To returns the link to a server, or nil.
func (s *Links) To(peer string) Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list[peer]
}

// All returns the links. The caller must not change the list.
func (s *Links) All() []Link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Await waits until there is a link to a server, and returns the link. If the operation fails before, Await returns the reason.
func (s *Links) Await(peer string, o *Operation) (Link, error) {
	for {
		s.mu.Lock()
		l, changed := s.list[peer], s.changed
		s.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-changed:
		case <-o.Failed():
			return nil, o.Err()
		}
	}
}
