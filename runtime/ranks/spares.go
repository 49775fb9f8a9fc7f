package ranks

import (
	"slices"
	"sync"
)

const (
	spareFrom  = 32 << 10 // minimum size in bytes of a buffer that is kept
	maxSpares  = 8        // maximum number of buffers that are kept
	spareBytes = 96 << 20 // maximum bytes of all buffers that are kept
)

// spares are buffers that are kept for the bytes of further messages and results. New memory costs page faults.
type spares struct {
	mu    sync.Mutex
	list  [][]byte // the oldest first
	bytes int
}

// take returns a buffer of n bytes with undefined contents: the kept one whose size fits best, unless it is more than a quarter too
// large, or a new one. A buffer smaller than spareFrom is new.
func (s *spares) take(n int) []byte {
	if n < spareFrom {
		return make([]byte, n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best := -1
	for i, b := range s.list {
		if size := cap(b); size >= n && size <= n+n/4 && (best < 0 || size < cap(s.list[best])) {
			best = i
		}
	}
	if best < 0 {
		return make([]byte, n)
	}
	b := s.list[best]
	s.list = slices.Delete(s.list, best, best+1)
	s.bytes -= cap(b)
	return b[:n]
}

// put keeps a buffer that is not used any more, if its size is from spareFrom to spareBytes. Beyond maxSpares buffers or spareBytes it
// drops the oldest ones.
func (s *spares) put(b []byte) {
	if cap(b) < spareFrom || cap(b) > spareBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, b)
	for s.bytes += cap(b); len(s.list) > maxSpares || s.bytes > spareBytes; {
		s.bytes -= cap(s.list[0])
		s.list = slices.Delete(s.list, 0, 1)
	}
}
